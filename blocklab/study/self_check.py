"""Written questions for somebody who learns alone: first the own answer, then the model answer."""

from blocklab import catalogue, record
from blocklab.study import notebook_file
from blocklab.study.solutions import Written
from blocklab.study.solutions import written as model_answer
from blocklab.text import Text

STUB = "*Your answer here · 여기에 답을 쓰세요*"
ENOUGH = 20  # characters: less is no sentence in either language
WRITE_FIRST = Text(
    "The saved notebook has no answer yet. Write a few sentences into the cell above, save "
    "(Ctrl+S), and run this cell again: it shows a model answer, and a list to compare yours with.",
    "저장된 notebook에 아직 답이 없습니다. 위의 셀에 답을 몇 문장 쓰고 저장한 다음(Ctrl+S) 이 셀을 "
    "다시 실행하면 모범 답안과, 여러분의 답과 견주어 볼 목록이 나옵니다.",
)
NOT_SEEN = Text(
    "Your notebook cannot be read from here, so give your answer, or its main sentence, yourself: "
    'self_check("{name}", written="…"). Then a model answer and a list to compare with follow.',
    "여기서는 notebook을 읽을 수 없습니다. 답이나 핵심 문장을 직접 넣어 주세요: "
    'self_check("{name}", written="…"). 그러면 모범 답안과 견주어 볼 목록이 나옵니다.',
)
TOO_SHORT = Text(
    "That is {count} characters; a sentence or two is meant, at least {enough} characters.",
    "{count}자입니다. 한두 문장, 적어도 {enough}자는 써 주세요.",
)


def open_answer(name: str, written: str = "") -> Written | Text:
    """The model answer to a written question, or what has to be done first.

    written: the learner's answer, where the notebook cannot be read.
    Once given, an answer is in the record, and the model answer stays open.
    Raises KeyError, with the nearest names, if there is no such question.
    """
    _known(name)
    found = written or notebook_file.written_answer(name)
    text = (found or "").replace(STUB, "").strip()
    if len(text) >= ENOUGH:
        record.answer(name, text)
    elif "answered" not in record.read().get(name, {}):
        if written:
            return TOO_SHORT.fill(count=len(text), enough=ENOUGH)
        return NOT_SEEN.fill(name=name) if found is None else WRITE_FIRST
    return model_answer(name)


def show(name: str, found: Written) -> None:
    """Show a model answer and the checklist that goes with it."""
    from IPython.display import Markdown, display

    from blocklab.widgets import checklist
    from blocklab.widgets.front import notebook

    if notebook() is None:
        print(found.answer)
    else:
        display(Markdown(str(found.answer)))
    if found.checklist:
        checklist.show(name, found.checklist)


def _known(name: str) -> None:
    questions = [question for unit in catalogue.units().values() for question in unit.written]
    if name not in questions:
        near = catalogue.nearest(name, questions) or questions
        raise KeyError(f"no written question is called {name!r}; there is {', '.join(near)}")
