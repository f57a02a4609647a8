"""The diagrams a learner fills in: what is asked, the slots, and the labels that may go there."""

import difflib
from typing import NamedTuple

from blocklab.text import Text, both

EMPTY = "?"


class Diagram(NamedTuple):
    """A row of slots. An answer is its labels' names in order, with a space between them.

    labels: by name, the words on the button; the wrong ones among the right.
    once: a label has one place only, and leaves it when it is put elsewhere.
    """

    title: Text
    question: Text
    slots: int
    labels: dict[str, Text]
    once: bool

    def words(self, answer: str) -> list[str]:
        """The answer's words, one a slot, with `?` where one is missing; more words stay."""
        given = answer.split()
        return given + [EMPTY] * (self.slots - len(given))

    def put(self, answer: str, slot: int, name: str) -> str:
        """The answer with that label in that slot."""
        words = [EMPTY if self.once and w == name else w for w in self.words(answer)]
        words[slot] = name
        while words and words[-1] == EMPTY:
            words.pop()
        return " ".join(words)

    def label(self, word: str) -> str:
        """How a word of an answer reads; one that is no label reads as it is."""
        return str(self.labels.get(word, word))


STEPS = {
    "add": Text("+ add to the stream", "+ stream에 더하기"),
    "attention": both("Attention"),
    "ffn": both("FFN"),
    "norm": both("Norm"),
    "replace": Text("replace the stream", "stream을 교체"),
}
REUSE = Text("A label may be used more than once.", "같은 label을 여러 번 써도 됩니다.")

DIAGRAMS = {
    "nine_nodes": Diagram(
        Text("One block on the residual stream", "Residual stream에서 본 block 하나"),
        Text(
            "Which nine nodes does the stream pass, and in which order? Two labels are left over.",
            "stream은 어떤 node 아홉 개를 어떤 순서로 지나갑니까? label 두 개는 남습니다.",
        ),
        9,
        {
            "add_attention": both("+ Δ attention"),
            "add_ffn": both("+ Δ FFN"),
            "final_norm": both("Final Norm"),
            "norm_after_add": Text("Norm after the add", "더한 뒤 Norm"),
            "norm_attention": both("Norm → Attention"),
            "norm_ffn": both("Norm → FFN"),
            "repeat": Text("repeat N times", "N번 반복"),
            "replace_attention": Text("Δ attention replaces x", "x를 Δ attention으로 교체"),
            "x0": both("x₀"),
            "x1": both("x₁"),
            "x2": both("x₂"),
        },
        once=True,
    ),
    "pre_norm_places": Diagram(
        both("Pre-Norm"),
        Text(
            "Put the six steps of one Pre-Norm block in order. {reuse}",
            "Pre-Norm block 하나의 여섯 단계를 순서대로 채워 봅시다. {reuse}",
        ).fill(reuse=REUSE),
        6,
        STEPS,
        once=False,
    ),
    "post_norm_places": Diagram(
        both("Post-Norm"),
        Text(
            "Put the six steps of one Post-Norm block in order. {reuse}",
            "Post-Norm block 하나의 여섯 단계를 순서대로 채워 봅시다. {reuse}",
        ).fill(reuse=REUSE),
        6,
        STEPS,
        once=False,
    ),
}


def diagram(name: str) -> Diagram:
    """The diagram of that name.

    Raises KeyError, with the nearest names, if there is none.
    """
    if name not in DIAGRAMS:
        near = difflib.get_close_matches(str(name), DIAGRAMS, 3, 0.5) or list(DIAGRAMS)
        raise KeyError(f"no diagram is called {name!r}; there is {', '.join(near)}")
    return DIAGRAMS[name]
