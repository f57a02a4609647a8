"""What is chosen in each diagram, and which wins, the picture or the code. No front end needed."""

from dataclasses import dataclass, field

from blocklab.text import Text

DIFFERS = Text(
    "The picture shows another choice than the code: run the cell with the picture again, "
    "and the choice moves into the code.",
    "그림에서 고른 답과 코드의 답이 다릅니다. 그림이 있는 셀을 다시 실행하면 "
    "고른 답이 코드로 옮겨집니다.",
)


@dataclass
class Choice:
    """The choice in one diagram.

    answer: what the picture shows.
    known: answers the code had at the last run, before and after it was rewritten.
    """

    answer: str = ""
    known: set[str] = field(default_factory=set)

    def run(self, code: str) -> None:
        """The cell ran with this answer in its code, which wins if a hand has changed it."""
        if code not in self.known:
            self.answer = code
        self.known = {code, self.answer}


_choices: dict[str, Choice] = {}


def choice_of(name: str) -> Choice:
    """The one choice of that name; every cell that asks for the name shares it."""
    return _choices.setdefault(name, Choice())


def picture_differs(name: str, answer: object) -> bool:
    """Whether a picture of that name is shown, with another choice than this answer."""
    choice = _choices.get(name)
    return choice is not None and isinstance(answer, str) and choice.answer != answer
