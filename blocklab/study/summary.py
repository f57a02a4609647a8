"""A page to print: which units somebody has done, when, and how far that can be trusted."""

from html import escape
from pathlib import Path

from blocklab import record
from blocklab.study.state import State, states
from blocklab.text import Text, language

TITLE = Text(
    "The Transformer block, built piece by piece", "조각조각 직접 만드는 Transformer block"
)
BY = Text("Self-study by {name}", "자습: {name}")
SELF = Text("Self-study", "자습 기록")
HEAD = (
    Text("Unit", "단원"),
    Text("Exercises passed", "통과한 연습문제"),
    Text("Points", "점수"),
    Text("Questions answered", "답한 서술형 질문"),
    Text("Completed", "마친 날"),
)
WORDS = Text(
    "Written on {day} from the record that the course's own checks keep on the learner's computer. "
    "Answers were checked by programs that run them on random inputs; written ones were compared "
    "with a model answer by the learner alone. Nobody supervised, and no institution stands behind "
    "this page: it says what was done, not who says so.",
    "강좌의 check가 학습자의 컴퓨터에 남긴 기록을 바탕으로 {day}에 만든 페이지입니다. 코드로 쓴 "
    "답은 무작위 입력으로 실행해 확인했고, 서술형 답은 학습자가 스스로 모범 답안과 비교했습니다. "
    "감독한 사람이 없고 어떤 기관도 보증하지 않습니다. 무엇을 했는지를 알릴 뿐, 자격을 증명하지는 "
    "않습니다.",
)
NONE_YET = Text(
    "No unit is complete yet, so there is nothing to print. Nearest to it: {title}, with {passed} "
    "of {all} exercises passed and {answered} of {questions} questions answered.",
    "아직 다 마친 단원이 없어 인쇄할 내용이 없습니다. 가장 가까운 것은 {title}입니다. 연습문제 "
    "{all}개 중 {passed}개를 통과했고, 서술형 질문 {questions}개 중 {answered}개에 답했습니다.",
)
SAVED = Text(
    "Saved as {path}. Open it in a browser and print it there.",
    "{path}에 저장했습니다. 브라우저에서 열어 인쇄하세요.",
)
PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans CJK KR",
  sans-serif; margin: 2em auto; max-width: 46em; overflow-wrap: anywhere; padding: 0 1em; }}
h1 {{ font-size: 1.5em; margin: 0; }}
table {{ border-collapse: collapse; margin: 1.5em 0; width: 100%; }}
th, td {{ border-bottom: 1px solid; padding: 6px 10px 6px 0; text-align: left; }}
.who {{ font-size: 1.15em; }}
.small {{ font-size: 0.85em; }}
@media (max-width: 32em) {{
  thead {{ display: none; }}
  tr, td {{ display: block; }}
  tr {{ border-bottom: 1px solid; padding: 8px 0; }}
  td {{ border: 0; padding: 0; }}
  td:first-child {{ font-weight: bold; }}
  td[data-head]::before {{ content: attr(data-head) ": "; }}
}}
@media print {{
  :root {{ color-scheme: light; }}
  @page {{ margin: 2.5cm; }}
  body {{ margin: 0; }}
}}
</style>
</head>
<body>
<h1>{title}</h1>
<p class="who">{who}</p>
<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>
<p class="small">{words}</p>
</body>
</html>
"""


def save_summary(path: str = "summary.html", name: str = "") -> None:
    """Write a page to print that says which units are complete, and since when.

    path: of the HTML file, relative to the notebook; name: of the learner, as it shall stand there.
    While no unit is complete nothing is written, and what is missing is said.
    """
    found = states(record.read())
    if not any(state.done for state in found):
        print(_nearest(found))
        return
    file = Path(path)
    file.write_text(page([state for state in found if state.done], name), "utf-8")
    print(SAVED.fill(path=file.resolve()))


def page(done: list[State], name: str) -> str:
    """The page as HTML, in the language in use."""
    who = BY.fill(name=name) if name else SELF
    return PAGE.format(
        language=language(),
        title=escape(str(TITLE)),
        who=escape(str(who)),
        head="".join(f"<th>{escape(str(title))}</th>" for title in HEAD),
        rows="".join(map(_row, done)),
        words=escape(str(WORDS.fill(day=record.now()[:10]))),
    )


def _row(state: State) -> str:
    cells = (
        str(state.title),
        f"{state.passed} / {len(state.exercises)}",
        f"{state.earned:g} / {state.points:g}",
        f"{sum(bool(q.answered) for q in state.written)} / {len(state.written)}",
        state.last,
    )
    first, *others = (escape(cell) for cell in cells)
    named = zip(HEAD[1:], others, strict=True)
    rest = (f'<td data-head="{escape(str(title))}">{cell}</td>' for title, cell in named)
    return f"<tr><td>{first}</td>{''.join(rest)}</tr>"


def _nearest(found: list[State]) -> Text:
    state = max(found, key=lambda s: s.passed / len(s.exercises))
    return NONE_YET.fill(
        title=state.title,
        passed=state.passed,
        all=len(state.exercises),
        answered=sum(bool(q.answered) for q in state.written),
        questions=len(state.written),
    )
