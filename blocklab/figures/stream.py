"""Drawings of the residual stream: a block in two ways, an addition, all updates of a model."""

from collections.abc import Sequence

from blocklab.figures.colours import DELTA, STREAM
from blocklab.figures.diagram import (
    Drawing,
    arrow,
    bars,
    box,
    drawing,
    line,
    plus,
    text,
    titled,
)
from blocklab.text import Text, both

PALE = 0.16
SUBLAYERS = ((72, "Attention", "+ Δ_{attn}", "x₁"), (282, "FFN (= MLP)", "+ Δ_{ffn}", "x₂"))
COPY = Text("the input goes round, unchanged", "입력이 그대로 지나가는 우회로")
PATH = Text(
    "the residual stream: nothing stands in its way", "residual stream: 가는 길을 막는 것이 없음"
)


def two_drawings() -> Drawing:
    """One Pre-Norm block twice: sublayers in the middle, and the stream in the middle."""
    left = Text("Sublayers in the middle", "sublayer를 가운데에 둔 그림")
    right = Text("The stream in the middle", "stream을 가운데에 둔 그림")
    return drawing(
        680, 520,
        text(150, 22, left, size=16, bold=True), _sublayers_in_the_middle(150),
        text(500, 22, right, size=16, bold=True), _stream_in_the_middle(420),
        alt=Text(
            "Two drawings of the same block. Left: a column x0, Norm, Attention, plus, Norm, FFN, "
            "plus, x2, with a line round each pair. Right: a straight line from x0 to x2; at two "
            "places a copy turns off through Norm and a sublayer, and its result is added.",
            "같은 block을 그린 두 그림. 왼쪽: x0, Norm, Attention, 더하기, Norm, FFN, 더하기, x2가 "
            "한 줄로 있고 바깥으로 우회하는 선이 둘 있다. 오른쪽: x0에서 x2까지 곧은 선이 있고, "
            "두 곳에서 복사본이 갈라져 Norm과 sublayer를 거친 뒤 그 결과가 더해진다.",
        ),
    )  # fmt: skip


def _sublayers_in_the_middle(x: float) -> str:
    parts = [text(x, 55, "x₀", size=16)]
    for top, sublayer, _, name in SUBLAYERS:
        add = top + 170
        parts += [
            arrow((x, top), (x, top + 42)),
            box(x, top + 58, 120, 32, "Norm"),
            arrow((x, top + 74), (x, top + 94)),
            box(x, top + 110, 120, 32, sublayer, colour=DELTA, shade=PALE),
            arrow((x, top + 126), (x, add - 12), colour=DELTA),
            plus(x, add),
            titled(COPY, arrow((x, top + 16), (x - 100, top + 16), (x - 100, add), (x - 12, add))),
            line((x, add + 12), (x, add + 40)),
            text(x + 22, add + 26, name, size=16),
        ]
    return "".join([*parts, arrow((x, 464), (x, 500))])


def _stream_in_the_middle(x: float) -> str:
    side = x + 145
    parts = [
        text(x, 55, "x₀", size=16),
        titled(PATH, arrow((x, 72), (x, 500), colour=STREAM, width=7)),
    ]
    for top, sublayer, delta, name in SUBLAYERS:
        add = top + 170
        parts += [
            arrow((x + 4, top + 16), (side, top + 16), (side, top + 42)),
            box(side, top + 58, 120, 32, "Norm"),
            arrow((side, top + 74), (side, top + 94)),
            box(side, top + 110, 120, 32, sublayer, colour=DELTA, shade=PALE),
            arrow((side, top + 126), (side, add), (x + 14, add), colour=DELTA),
            plus(x, add, colour=STREAM, solid=True),
            text(x + 76, add - 14, delta),
            text(x - 26, add + 27, name, size=16),
        ]
    return "".join(parts)


def addition(x: Sequence[float], delta: Sequence[float]) -> Drawing:
    """x, delta and their sum as three groups of bars on one scale."""
    total = [round(a + b, 6) for a, b in zip(x, delta, strict=True)]
    groups = (
        ("x", x, STREAM),
        ("Δ", delta, DELTA),
        ("x + Δ", total, STREAM),
    )
    heights = [*x, *delta, *total]
    step, unit = 42, 70 / max(map(abs, heights))
    wide, low = step * len(x), -min(0, *heights) * unit
    parts = []
    for i, (name, values, colour) in enumerate(groups):
        start = 20 + i * (wide + 60)
        parts.append(text(start + wide / 2, 20, name, size=17, bold=True))
        parts.append(bars(start + step / 2, 135, values, unit=unit, colour=colour, step=step))
        if i:
            parts.append(text(start - 30, 135, "+" if i == 1 else "=", size=24))
    said = f"{list(x)} + {list(delta)} = {total}"
    return drawing(3 * wide + 160, 165 + low, *parts, alt=both(said))


def all_updates(n_blocks: int, d_model: int) -> Drawing:
    """A whole decoder along its stream: two updates a block, from the embedding to the LM head."""
    step, y, start = 48, 105, 118
    end = start + step * n_blocks
    parts = [
        box(56, y, 92, 34, "Embedding"),
        titled(PATH, arrow((103, y), (end + 30, y), colour=STREAM, width=7)),
    ]
    for i in range(n_blocks):
        parts.append(_block_on_the_stream(start + i * step, y, step, i + 1))
    parts += [
        box(end + 80, y, 92, 34, "Final Norm"),
        arrow((end + 126, y), (end + 146, y)),
        box(end + 186, y, 78, 34, "LM head"),
        text(start - 8, 28, "Δ_{attn}", anchor="end"),
        text(start - 8, 182, "Δ_{ffn}", anchor="end"),
        text((start + end) / 2, 236, _width_note(n_blocks, d_model), size=15),
    ]
    return drawing(end + 232, 255, *parts, alt=_width_note(n_blocks, d_model))


def _width_note(n_blocks: int, d_model: int) -> Text:
    return Text(
        "{n} blocks, {updates} updates, {d} numbers a token all the way",
        "block {n}개, update {updates}번, token마다 수 {d}개인 폭은 끝까지 그대로",
    ).fill(n=n_blocks, updates=2 * n_blocks, d=d_model)


def _block_on_the_stream(x: float, y: float, step: float, number: int) -> str:
    """One block's two updates: attention writes from above, the FFN from below."""
    attention, ffn = x + step * 0.28, x + step * 0.72
    tip = Text("block {n}", "block {n}").fill(n=number)
    return titled(
        tip,
        box(x + step / 2, y, step - 5, 180, dashed=True),
        box(attention, 38, 14, 26, colour=DELTA, shade=0.8),
        arrow((attention, 51), (attention, y - 5), colour=DELTA),
        box(ffn, 172, 14, 26, colour=DELTA, shade=0.25),
        arrow((ffn, 159), (ffn, y + 5), colour=DELTA),
        text(x + step / 2, 206, str(number), size=12),
    )
