"""Drawings of what a pile of blocks holds: its weights, an update to one of them, its guesses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from blocklab.figures.colours import BLUE, DELTA, GREEN, GREY, ORANGE, PURPLE, STREAM
from blocklab.figures.diagram import Drawing, arrow, box, drawing, line, text
from blocklab.text import Text

SETS = (BLUE, ORANGE, GREEN, PURPLE)
RIGHT = GREEN


def own_and_shared() -> Drawing:
    """Four blocks with four sets of weights, and four that use one set in turn."""
    ys = [100 + 72 * i for i in range(4)]
    parts = []
    for x, title, model, sets in (
        (100, Text("a set of weights for each", "weight가 block마다 한 벌"), "GPT-2, Llama", ys),
        (470, Text("one set, used four times", "한 벌을 네 번 사용"), "ALBERT", [208]),
    ):
        parts += [
            text(x + 70, 20, title, size=15, bold=True),
            text(x + 70, 44, model, size=13),
            arrow((x, 62), (x, 366), colour=STREAM, width=5),
        ]
        for i, y in enumerate(ys):
            parts.append(line((x + 52, y), (x + 140, sets[i % len(sets)]), colour=GREY))
            parts.append(box(x, y, 104, 40, colour=STREAM, shade=1))
            parts.append(text(x, y, f"block {i + 1}", colour="#fff"))
        parts += [_set_of_weights(x + 140, y, i) for i, y in enumerate(sets)]
    return drawing(
        720, 376, *parts,
        alt=Text("Left: four blocks, each with its own weights. Right: four blocks, one set.",
                 "왼쪽: block 네 개가 저마다 다른 weight를 갖는다. 오른쪽: block 네 개가 weight 한 "
                 "벌을 함께 쓴다."),
    )  # fmt: skip


def _set_of_weights(x: float, y: float, which: int) -> str:
    """A patch of 3 x 5 numbers, from x on to the right, that looks different for every set."""
    strength = torch.rand(15, generator=torch.Generator().manual_seed(which)).tolist()
    cells = "".join(
        f'<rect x="{x + 13 * (i % 5):g}" y="{y - 19.5 + 13 * (i // 5):g}" width="12" height="12" '
        f'fill="{SETS[which]}" fill-opacity="{0.2 + 0.8 * s:.2f}"/>'
        for i, s in enumerate(strength)
    )
    return cells + text(x + 76, y, f"W_{{{which + 1}}}", anchor="start")


def low_rank() -> Drawing:
    """A frozen weight with an update B A beside it, and the sum, of the same shape as before."""
    y, high, wide, rank = 112, 120, 120, 16
    return drawing(
        760, 230,
        box(90, y, wide, high, "W", colour=GREY, shade=0.15, size=18),
        text(90, y + 78, "d_{out} × d_{in}", size=12),
        text(90, 26, Text("frozen", "고정"), size=13),
        text(186, y, "+", size=24), text(228, y, "α / r ·", size=16),
        box(282, y, rank, high, colour=DELTA, shade=0.5), text(282, y + 78, "d_{out} × r", size=12),
        text(282, 26, "B", size=16),
        text(312, y, "·", size=24),
        box(392, y, wide, rank, colour=DELTA, shade=0.5), text(392, y + 26, "r × d_{in}", size=12),
        text(392, y - 26, "A", size=16),
        text(336, 208, Text("learned", "학습"), size=13, colour=DELTA),
        text(488, y, "=", size=24),
        box(580, y, wide, high, "W + ΔW", colour=GREY, shade=0.15, size=18),
        text(580, y + 78, "d_{out} × d_{in}", size=12),
        text(580, 26, Text("the same shape", "같은 shape"), size=13),
        alt=Text("W plus alpha over r times B times A gives a matrix of the shape of W.",
                 "W에 alpha / r 곱하기 B 곱하기 A를 더하면 W와 같은 shape의 행렬이 된다."),
    )  # fmt: skip


@dataclass(frozen=True)
class Guess:
    """What a state favours at one position, how likely it finds it, and whether it is right."""

    word: str
    probability: float
    right: bool


def guesses(logits: Tensor, following: Sequence[int], words: Sequence[str]) -> list[list[Guess]]:
    """The favourites of every state at every position.

    logits (states, T, vocab_size); following: the T ids that really come next.
    """

    def guess(probabilities: Tensor, true: int) -> Guess:
        best = int(probabilities.argmax())
        return Guess(_visible(words[best]), float(probabilities[best]), best == true)

    return [
        [guess(position, true) for position, true in zip(state, following, strict=True)]
        for state in logits.softmax(dim=-1)
    ]


def _visible(character: str) -> str:
    return {" ": "␣", "\n": "⏎"}.get(character, character)


def lens_table(read: Sequence[str], rows: Sequence[Sequence[Guess]]) -> Drawing:
    """A logit lens: under every token read, the favourite next token after each state.

    read: T tokens; rows: one a state, the embedding's first. Green is right; strong is sure.
    """
    left, top, wide, high = 128, 62, 21, 27
    names = [Text("embedding", "embedding"), *(
        Text("block {n}", "block {n}").fill(n=n) for n in range(1, len(rows))
    )]  # fmt: skip
    parts = [
        text(left - 12, 34, Text("reads", "읽은 글자"), size=13, anchor="end", bold=True),
        *(text(left + wide * (t + 0.5), 34, _visible(w), size=15) for t, w in enumerate(read)),
        line((16, 50), (left + wide * len(read), 50), width=1),
    ]
    for i, (name, row) in enumerate(zip(names, rows, strict=True)):
        y = top + high * (i + 0.3)
        parts.append(text(left - 12, y, name, size=13, anchor="end"))
        parts += _row(left, y, wide, high, row)
    right = sum(guess.right for guess in rows[-1])
    said = Text(
        "After the last block {right} of {T} favourites are right.",
        "마지막 block 뒤에는 {T}개 가운데 {right}개가 맞는다.",
    ).fill(right=right, T=len(read))
    return drawing(left + wide * len(read) + 12, top + high * len(rows), *parts, alt=said)


def _row(left: float, y: float, wide: float, high: float, row: Sequence[Guess]) -> Iterator[str]:
    for t, guess in enumerate(row):
        colour = RIGHT if guess.right else GREY
        yield (
            f'<rect x="{left + wide * t + 1:g}" y="{y - high / 2 + 1:g}" width="{wide - 2:g}" '
            f'height="{high - 2:g}" rx="3" fill="{colour}" '
            f'fill-opacity="{0.08 + 0.72 * guess.probability:.2f}"/>'
        )
        yield text(left + wide * (t + 0.5), y, guess.word, size=14, bold=guess.right)
