"""The diagrams a learner fills in: what is asked, the slots, and the labels that may go there."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from blocklab.text import Text, both
from blocklab.widgets.arrow_readings import read_arrows
from blocklab.widgets.arrows import ARROWS, Arrow
from blocklab.widgets.readings import Reading, read_block, read_heads, read_widths

EMPTY = "?"
T = TypeVar("T")
COMPUTES = Text("What does this compute?", "이 그림은 무엇을 계산합니까?")


class Diagram(NamedTuple):
    """A row of slots. An answer is its labels' names in order, with a space between them.

    labels: by name, the words on the button; the wrong ones among the right.
    once: a label has one place only, and leaves it when it is put elsewhere.
    read: what the row computes with these words in its slots.
    parts: names of equal parts of the row, where one does not go on into the next.
    heads: what each place of a part is for, where that is told.
    flows: whether what stands in a slot goes on into the next one.
    arrows: where the slots are arrows, what these are between.
    asks: what a learner asks to have it read.
    """

    title: Text
    question: Text
    slots: int
    labels: dict[str, Text]
    once: bool
    read: Callable[[Sequence[str]], Reading] = read_block
    parts: tuple[Text, ...] = (both(""),)
    heads: tuple[Text, ...] = ()
    flows: bool = True
    arrows: tuple[Arrow, ...] = ()
    asks: Text = COMPUTES

    def words(self, answer: str) -> list[str]:
        """The answer's words, one a slot, with `?` where one is missing; more words stay."""
        given = answer.split()
        return given + [EMPTY] * (self.slots - len(given))

    def put(self, answer: str, slot: int, name: str) -> str:
        """The answer with that label in that slot; EMPTY empties it."""
        taken = self.once and name != EMPTY
        words = [EMPTY if taken and w == name else w for w in self.words(answer)]
        words[slot] = name
        while words and words[-1] == EMPTY:
            words.pop()
        return " ".join(words)

    def label(self, word: str) -> str:
        """How a word of an answer reads; one that is no label reads as it is."""
        return str(self.labels.get(word, word))

    def lead(self, slot: int) -> str:
        """What stands before a slot: what it is called or the part that begins there, or a sign."""
        if slot < len(self.arrows):
            start, end, _ = self.arrows[slot]
            return f"{'· ' if slot else ''}{start.name} → {end.name}:"
        part, inside = divmod(slot, self.slots // len(self.parts))
        between = "→" if self.flows else "·"
        return between if inside or part >= len(self.parts) else str(self.parts[part])

    def text(self, answer: str) -> str:
        """The answer in one line."""
        steps = ((self.lead(n), self.label(w)) for n, w in enumerate(self.words(answer)))
        return " ".join(part for step in steps for part in step if part)


REUSE = Text("A label may be used more than once.", "같은 label을 여러 번 써도 됩니다.")
LABELS = {
    "add": Text("+ add to the stream", "+ stream에 더하기"),
    "add_attention": both("+ Δ attention"),
    "add_ffn": both("+ Δ FFN"),
    "attention": both("Attention"),
    "causal_attention": both("Causal attention"),
    "ffn": both("FFN"),
    "final_norm": both("Final Norm"),
    "full_attention": Text("Attention without a mask", "mask 없는 attention"),
    "lm_head": both("LM head"),
    "norm": both("Norm"),
    "norm_after_add": Text("Norm after the add", "더한 뒤 Norm"),
    "norm_attention": both("Norm → Attention"),
    "norm_ffn": both("Norm → FFN"),
    "repeat": Text("repeat N times", "N번 반복"),
    "replace": Text("replace the stream", "stream을 교체"),
    "replace_attention": Text("Δ attention replaces x", "x를 Δ attention으로 교체"),
    "x0": both("x₀"),
    "x1": both("x₁"),
    "x2": both("x₂"),
}


def _tray(names: str) -> dict[str, Text]:
    """The labels of those names; a name that has no label of its own reads as it is."""
    return {name: LABELS.get(name, both(name)) for name in names.split()}


def _six_steps(kind: str) -> Diagram:
    return Diagram(
        both(kind),
        Text(
            "Put the six steps of one {kind} block in order. {reuse}",
            "{kind} block 하나의 여섯 단계를 순서대로 채워 봅시다. {reuse}",
        ).fill(kind=kind, reuse=REUSE),
        6,
        _tray("add attention ffn norm replace"),
        once=False,
        read=partial(read_block, norm_on_stream=kind == "Post-Norm"),
    )


MODELS = both("GPT-2 small"), both("Llama-3 8B")


DIAGRAMS = {
    "nine_nodes": Diagram(
        Text("One block on the residual stream", "Residual stream에서 본 block 하나"),
        Text(
            "Which nine nodes does the stream pass, and in which order? Two labels are left over.",
            "stream은 어떤 node 아홉 개를 어떤 순서로 지나갑니까? label 두 개는 남습니다.",
        ),
        9,
        _tray(
            "add_attention add_ffn final_norm norm_after_add norm_attention norm_ffn repeat "
            "replace_attention x0 x1 x2"
        ),
        once=True,
    ),
    "pre_norm_places": _six_steps("Pre-Norm"),
    "post_norm_places": _six_steps("Post-Norm"),
    "ffn_widths": Diagram(
        Text("The widths of two FFNs", "두 FFN의 폭"),
        Text(
            "How wide is a token when it enters the FFN, inside it, and when it leaves? {reuse}",
            "token의 폭은 FFN에 들어올 때, 가운데에서, 나갈 때 각각 얼마입니까? {reuse}",
        ).fill(reuse=REUSE),
        6,
        _tray("768 1536 2304 3072 4096 8192 11008 14336 16384"),
        once=False,
        read=partial(read_widths, models=MODELS),
        parts=MODELS,
        heads=(Text("in", "들어올 때"), Text("inside", "가운데"), Text("out", "나갈 때")),
    ),
    "head_counts": Diagram(
        Text("Heads and KV heads", "Head와 KV head"),
        Text(
            "How many query heads and how many KV heads has one attention layer, and how wide is "
            "a head? {reuse}",
            "attention layer 하나에 query head와 KV head가 각각 몇 개이고, head 하나의 폭은 "
            "얼마입니까? {reuse}",
        ).fill(reuse=REUSE),
        6,
        _tray("4 8 12 16 32 64 128 768 4096"),
        once=False,
        read=partial(read_heads, models=MODELS),
        parts=MODELS,
        heads=(both("query heads"), both("KV heads"), both("d_head")),
        flows=False,
    ),
    "block_nodes": Diagram(
        Text("A whole decoder", "Decoder 전체"),
        Text(
            "Put the thirteen nodes of a decoder such as GPT-2 or Llama in order, from x₀ to the "
            "logits. {reuse} Some are left over.",
            "GPT-2나 Llama 같은 decoder의 node 열세 개를 x₀부터 logits까지 순서대로 놓아 봅시다. "
            "{reuse} 쓰지 않고 남는 label도 있습니다.",
        ).fill(reuse=REUSE),
        13,
        _tray(
            "add_attention add_ffn causal_attention ffn final_norm full_attention lm_head logits "
            "norm repeat replace softmax x0 x1 x2"
        ),
        once=False,
    ),
    "arrows": Diagram(
        Text("Kinds of arrow", "화살표의 종류"),
        Text(
            "What does each of the ten arrows stand for? {reuse} One is left over.",
            "화살표 열 개는 각각 무엇을 뜻합니까? {reuse} label 하나는 남습니다.",
        ).fill(reuse=REUSE),
        len(ARROWS),
        _tray("history input processing recurrence"),
        once=False,
        read=read_arrows,
        flows=False,
        arrows=ARROWS,
        asks=Text("What would this mean?", "이 그림은 무엇을 뜻합니까?"),
    ),
}


def diagram(name: str) -> Diagram:
    """The diagram of that name.

    Raises KeyError, with the nearest names, if there is none.
    """
    return named(DIAGRAMS, name, "diagram")


def named(things: Mapping[str, T], name: str, kind: str) -> T:
    """The one of that name; raises KeyError, with the nearest names, if there is none."""
    if name not in things:
        near = difflib.get_close_matches(str(name), things, 3, 0.5) or list(things)
        raise KeyError(f"no {kind} is called {name!r}; there is {', '.join(near)}")
    return things[name]
