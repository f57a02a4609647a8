"""The masks a learner paints: what is asked, and how an answer is read and changed."""

from collections.abc import Collection
from typing import NamedTuple

from blocklab.text import Text, both
from blocklab.widgets.diagrams import EMPTY, named


class Mask(NamedTuple):
    """A T by T grid. An answer is its rows of 0 and 1, from the top, with a space between them."""

    title: Text
    question: Text
    T: int

    def rows(self, answer: str) -> list[str]:
        """The answer's rows, at least T of at least T characters: a space where one is missing."""
        given = answer.split()
        return [row.ljust(self.T) for row in given + [""] * (self.T - len(given))]

    def text(self, answer: str) -> str:
        """The answer in one line."""
        return answer or EMPTY

    def turn(self, answer: str, row: int, columns: Collection[int]) -> str:
        """The answer with 1 in those columns of a row, or with 0 if all of them had 1."""
        rows = [old.replace(" ", "0") for old in self.rows(answer)]
        sign = "0" if all(rows[row][j] == "1" for j in columns) else "1"
        rows[row] = "".join(sign if j in columns else old for j, old in enumerate(rows[row]))
        return " ".join(rows)


QUESTIONS = {
    "painted_causal": Text(
        "As in GPT: each token sees itself and all that came before it.",
        "GPT처럼, token마다 자기 자신과 앞에 온 모든 token을 봅니다.",
    ),
    "painted_bidirectional": Text(
        "As in BERT: every token sees every token.",
        "BERT처럼, 모든 token이 모든 token을 봅니다.",
    ),
    "painted_prefix": Text(
        "The first two tokens are a source, the rest a target. Source tokens see one another but "
        "never the target; a target token sees the source, itself, and the target before it.",
        "처음 두 token은 source, 나머지는 target입니다. source token들은 서로를 보지만 target은 "
        "보지 못합니다. target token은 source 전체와 자기 자신, 자기보다 앞선 target token을 "
        "봅니다.",
    ),
}


def mask(name: str, T: int) -> Mask:
    """The mask of that name, for T tokens.

    Raises KeyError, with the nearest names, if there is none.
    """
    question = named(QUESTIONS, name, "mask")
    return Mask(both(f"{name.removeprefix('painted_').capitalize()} mask"), question, T)
