"""What a learner calls to see answers: solution, self_check and my_answer."""

from blocklab import catalogue, record
from blocklab.grading import graded
from blocklab.study import self_check as questions
from blocklab.study.shown import Solution
from blocklab.text import Said, Text, both

ELSEWHERE = Text(
    "While this is graded, solutions are not here.", "채점하는 동안에는 solution이 없습니다."
)
NOT_HERE = Text(
    "The solutions are not part of this installation of blocklab.",
    "설치된 blocklab에 solution이 들어 있지 않습니다.",
)
TRY_FIRST = Text(
    'Try it yourself first: write an answer, right or wrong, and run `check("{name}")`. After that '
    "`solution` shows how the course does it, and why, line by line. Stuck at the start? "
    '`hint("{name}")` helps a little further each time.',
    '먼저 직접 해 보세요. 맞든 틀리든 답을 써 보고 `check("{name}")`를 실행하면, 그다음부터 '
    "`solution`이 강좌의 답을 한 줄씩 이유와 함께 보여 줍니다. 시작이 막막하다면 "
    '`hint("{name}")`를 실행해 보세요. 실행할 때마다 조금씩 더 알려 줍니다.',
)
NOTHING_YET = Text(
    "There is no answer to {name} in your record yet: `check` puts each one there, and "
    "`self_check` what you wrote to a question.",
    "아직 {name}의 답이 기록에 없습니다. `check`를 실행할 때마다 기록되고, 서술형 답은 "
    "`self_check`를 실행할 때 기록됩니다.",
)


class Source(str):
    """The source of an answer, which shows as code in a notebook."""

    def _repr_markdown_(self) -> str:
        return f"```python\n{self}\n```"

    def __repr__(self) -> str:
        return str(self)


def solution(name: str) -> Solution | Said:
    """The course's own answer to an exercise, line by line, once you have tried it yourself.

    Raises KeyError if no exercise has that name.
    """
    catalogue.exercise(name)
    if graded():
        return Said(ELSEWHERE)
    if not record.read().get(name, {}).get("attempts"):
        return Said(TRY_FIRST.fill(name=name))
    try:
        return Solution(name)
    except FileNotFoundError:
        return Said(NOT_HERE)


def self_check(name: str, written: str = "") -> Said | None:
    """Show the model answer to a written question, and a checklist, once you have written yours.

    written: your answer, where the notebook cannot be read from here.
    Raises KeyError if there is no such question.
    """
    if graded():
        return Said(ELSEWHERE)
    try:
        found = questions.open_answer(name, written)
    except FileNotFoundError:
        return Said(NOT_HERE)
    return Said(found) if isinstance(found, Text) else questions.show(name, found)


def my_answer(name: str) -> Source | Said:
    """Your last answer that a check has seen, passed or not, or what you wrote to a question."""
    entry = record.read().get(name, {})
    if source := entry.get("source"):
        return Source(source.strip())
    said = both(entry["written"]) if "written" in entry else NOTHING_YET.fill(name=name)
    return Said(said)
