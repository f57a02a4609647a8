"""The masks a learner paints: what is asked, of which tokens, and how an answer is read."""

from typing import NamedTuple

from blocklab.text import Text, both
from blocklab.widgets.diagrams import EMPTY, named

SENTENCE = Text(
    "the black cat sat down near my door", "검은 고양이가 창가에 앉아 가만히 밖을 내다보고 있다"
)


class Mask(NamedTuple):
    """A T by T grid. An answer is its rows of 0 and 1, from the top, with a space between them.

    sentence: example tokens, with a space between them; a mask of more tokens has numbers only.
    """

    title: Text
    question: Text
    T: int
    sentence: Text = SENTENCE

    def tokens(self) -> list[str]:
        """The example token of each row, in the language in use; none if they do not suffice."""
        words = str(self.sentence).split()
        return words[: self.T] if len(words) >= self.T else []

    def rows(self, answer: str) -> list[str]:
        """The answer's rows, at least T of at least T characters: a space where one is missing."""
        given = answer.split()
        return [row.ljust(self.T) for row in given + [""] * (self.T - len(given))]

    def text(self, answer: str) -> str:
        """The answer in one line."""
        return answer or EMPTY


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
    "painted_window": Text(
        "As in the first Mistral 7B, but with a window of three tokens: each token sees itself "
        "and the two before it, as far as there are any.",
        "첫 Mistral 7B와 같은 방식이지만 window의 폭은 3입니다. token마다 자기 자신과 바로 앞의 "
        "두 token을 봅니다. 앞에 그만큼 없으면 있는 만큼만 봅니다.",
    ),
}
SENTENCES = {"painted_prefix": Text("chat noir the black cat", "검은 고양이 the black cat")}


def mask(name: str, T: int) -> Mask:
    """The mask of that name, for T tokens.

    Raises KeyError, with the nearest names, if there is none.
    """
    question = named(QUESTIONS, name, "mask")
    title = both(f"{name.removeprefix('painted_').capitalize()} mask")
    return Mask(title, question, T, SENTENCES.get(name, SENTENCE))
