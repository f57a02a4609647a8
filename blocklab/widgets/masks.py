"""The masks a learner paints: what is asked, and how an answer is read and painted over."""

from collections.abc import Collection
from typing import NamedTuple

from blocklab.text import Text, both
from blocklab.widgets.diagrams import named


class Mask(NamedTuple):
    """A T by T grid. An answer is its rows of 0 and 1, from the top, with a space between them."""

    title: Text
    question: Text
    T: int

    def rows(self, answer: str) -> list[str]:
        """The answer's rows, at least T of at least T characters: a space where one is missing."""
        given = answer.split()
        return [row.ljust(self.T) for row in given + [""] * (self.T - len(given))]

    def paint(self, answer: str, row: int, columns: Collection[int], sign: str) -> str:
        """The answer with that sign in those columns of a row, and 0 wherever one is missing."""
        rows = [given.replace(" ", "0") for given in self.rows(answer)]
        rows[row] = "".join(sign if j in columns else c for j, c in enumerate(rows[row]))
        return " ".join(rows)


_ASKED = {
    "painted_causal": (
        both("Causal mask"),
        Text(
            "As in GPT: each token sees itself and all that came before it.",
            "GPT처럼, token마다 자기 자신과 앞에 온 모든 token을 봅니다.",
        ),
    ),
    "painted_bidirectional": (
        both("Bidirectional mask"),
        Text(
            "As in BERT: every token sees every token.",
            "BERT처럼, 모든 token이 모든 token을 봅니다.",
        ),
    ),
    "painted_prefix": (
        both("Prefix mask"),
        Text(
            "The first two tokens are a source, the rest a target. Source tokens see one another "
            "but never the target; a target token sees the whole source, itself, and the target "
            "tokens before it.",
            "처음 두 token은 source, 나머지는 target입니다. source token들은 서로를 보지만 target은 "
            "보지 못하고, target token은 source 전체와 자기 자신, 그리고 자기보다 앞선 target "
            "token을 봅니다.",
        ),
    ),
}


def mask(name: str, T: int) -> Mask:
    """The mask of that name, for T tokens.

    Raises KeyError, with the nearest names, if there is none.
    """
    return Mask(*named(_ASKED, name, "mask"), T)
