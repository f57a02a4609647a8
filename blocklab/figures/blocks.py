"""Drawings of whole blocks: a decoder with everything around its block, and a parallel block."""

from blocklab.figures.colours import DELTA, GREEN, GREY, STREAM
from blocklab.figures.diagram import (
    INK,
    Drawing,
    Point,
    Words,
    arrow,
    box,
    drawing,
    line,
    plus,
    text,
)
from blocklab.text import Text, both

NORM = GREEN
INPUT, PROCESSING, HISTORY = STREAM, DELTA, GREY
HALVES = (
    (110, both("Causal Attention"), "attn", "₀", "₁", 1),
    (290, both("FFN (= MLP)"), "ffn", "₁", "₂", 4),
)
READ = Text("read: Norm(x{now})", "읽기: Norm(x{now})")
COMPUTE = Text("compute: Δ_{{{name}}}", "계산: Δ_{{{name}}}")
ADD = Text("add: x{then} = x{now} + Δ_{{{name}}}", "더하기: x{then} = x{now} + Δ_{{{name}}}")
REPEAT = (
    Text("N times,", "N번 반복,"),
    Text("each with weights", "weight는"),
    Text("of its own", "block마다 따로"),
)
KINDS = (
    (INPUT, Text("input: a state of the stream is handed on", "입력: stream의 state를 건네준다")),
    (PROCESSING, Text("processing: what a box has computed", "처리: 상자가 계산한 것이 나온다")),
    (
        HISTORY,
        Text("history: what came later; no vector flows", "역사: 나온 순서. 벡터는 흐르지 않는다"),
    ),
)


def whole_decoder() -> Drawing:
    """A Pre-Norm decoder from ids to logits, each arrow in the colour of its kind."""
    x = 252
    return drawing(
        780, 738,
        text(x, 14, Text("token ids", "token id")),
        arrow((x, 24), (x, 41), colour=INPUT), box(x, 56, 120, 30, "Embedding"),
        line((x, 71), (x, 92), colour=PROCESSING),
        box(x + 157, 287, 500, 374, colour=GREY, dashed=True),
        line((x, 92), (x, 490), colour=STREAM, width=5),
        text(x - 26, 114, "x₀", size=16),
        *(_half(x, *half) for half in HALVES),
        _repeat(x),
        arrow((x, 488), (x, 512), colour=INPUT, width=3),
        box(x, 529, 120, 32, "Final Norm", colour=NORM, shade=0.2),
        arrow((x, 545), (x, 566), colour=PROCESSING), box(x, 582, 120, 30, "LM head"),
        arrow((x, 597), (x, 618), colour=PROCESSING), text(x, 631, "Logits", bold=True),
        text(x + 12, 84, "T × d_{model}", size=12, anchor="start"),
        text(x + 12, 491, "T × d_{model}", size=12, anchor="start"),
        text(x + 32, 632, "T × vocab_size", size=12, anchor="start"),
        _history(490, 562), *_legend(40, 672),
        alt=Text(
            "From top to bottom: token ids, Embedding, x0. In the block: x0 to Norm to Causal "
            "Attention, whose result is added, giving x1; x1 to Norm to FFN, whose result is "
            "added, giving x2. N such blocks, then Final Norm, LM head, Logits. Beside it, with a "
            "dashed arrow: GPT-1 to GPT-2, which is history.",
            "위에서 아래로 token id, Embedding, x0. block 안에서는 x0에서 Norm, Causal Attention을 "
            "거친 결과를 더해 x1이 되고, x1에서 Norm, FFN을 거친 결과를 더해 x2가 된다. 이런 "
            "block이 N개 이어진 뒤 Final Norm, LM head, Logits. 옆에는 점선 화살표로 GPT-1에서 "
            "GPT-2로 이어지는 역사.",
        ),
    )  # fmt: skip


def _half(x: float, top: float, sublayer: Words, name: str, now: str, then: str, step: int) -> str:
    """One sublayer: off the stream, through its norm, and back to a plus; with three steps."""
    side, read, compute, add = x + 130, top + 22, top + 84, top + 138
    values = {"name": name, "now": now, "then": then}
    return "".join((
        arrow((x, read), (side - 60, read), colour=INPUT),
        box(side, read, 120, 30, "Norm", colour=NORM, shade=0.2),
        arrow((side, read + 15), (side, compute - 17), colour=PROCESSING),
        box(side, compute, 140, 34, sublayer, colour=DELTA, shade=0.16),
        arrow((side, compute + 17), (side, add), (x + 14, add), colour=PROCESSING),
        plus(x, add, colour=STREAM, solid=True),
        text(x + 70, add - 14, f"Δ_{{{name}}}"),
        text(x - 26, add + 20, f"x{then}", size=16),
        _numbered(side + 96, read, step, READ.fill(**values)),
        _numbered(side + 96, compute, step + 1, COMPUTE.fill(**values)),
        _numbered(side + 96, add, step + 2, ADD.fill(**values)),
    ))  # fmt: skip


def _numbered(x: float, y: float, number: int, words: Words) -> str:
    ring = f'<circle cx="{x:g}" cy="{y:g}" r="10" fill="none" stroke="{INK}" stroke-width="1.3"/>'
    return ring + text(x, y, str(number), size=12) + text(x + 20, y, words, size=13, anchor="start")


def _repeat(x: float) -> str:
    """The way back from x2 to x0, where the next block begins."""
    left = x - 80
    loop = arrow((x, 464), (left, 464), (left, 102), (x - 4, 102), colour=INPUT, width=1.4)
    words = (text(left - 22, 264 + 20 * i, w, size=13, anchor="end") for i, w in enumerate(REPEAT))
    return loop + "".join(words)


def _history(x: float, y: float) -> str:
    """Two models in the order of their years."""
    models = ((x, "GPT-1", "2018, Post-Norm"), (x + 180, "GPT-2", "2019, Pre-Norm"))
    return _dashed_arrow((x + 36, y), (x + 144, y)) + "".join(
        text(at, y, name) + text(at, y + 21, norm, size=12) for at, name, norm in models
    )


def _dashed_arrow(start: Point, end: Point) -> str:
    head = arrow((end[0] - 10, end[1]), end, colour=HISTORY)
    return line(start, (end[0] - 8, end[1]), colour=HISTORY, dashed=True) + head


def _legend(x: float, y: float) -> list[str]:
    """One line for each kind of arrow."""
    parts = []
    for i, (colour, words) in enumerate(KINDS):
        start, end = (x, y + 25 * i), (x + 56, y + 25 * i)
        kind = _dashed_arrow(start, end) if colour == HISTORY else arrow(start, end, colour=colour)
        parts += [kind, text(x + 70, y + 25 * i, words, size=13, anchor="start")]
    return parts


def serial_and_parallel() -> Drawing:
    """A Pre-Norm block, and a parallel one in which both sublayers read the same state."""
    y = 300
    return drawing(
        780, 390,
        text(190, 20, Text("serial: the FFN waits", "직렬: FFN이 기다린다"), size=15, bold=True),
        text(190, 43, "GPT-2, Llama", size=13),
        _serial(60), line((385, 10), (385, 380), colour=GREY, width=1),
        text(585, 20, Text("parallel: both at once", "병렬: 둘이 동시에"), size=15, bold=True),
        text(585, 43, "GPT-J, PaLM", size=13),
        _parallel(470, y),
        alt=Text(
            "Serial: Norm, attention, add, then Norm, FFN, add. Parallel: one Norm, attention and "
            "FFN side by side, both added to the same state.",
            "직렬: Norm, attention, 더하기, 이어서 Norm, FFN, 더하기. 병렬: Norm 하나 뒤에 "
            "attention과 FFN이 나란히 있고 둘 다 같은 state에 더한다.",
        ),
    )  # fmt: skip


def _serial(x: float) -> str:
    """Two branches one below the other."""
    parts = [text(x - 24, 72, "x₀", size=16), arrow((x, 66), (x, 384), colour=STREAM, width=5)]
    for top, name, state in ((84, "Attention", "x₁"), (234, "FFN", "x₂")):
        add = top + 96
        parts += [
            arrow((x, top), (x + 70, top), colour=INPUT),
            box(x + 105, top, 70, 28, "Norm", colour=NORM, shade=0.2, size=13),
            arrow((x + 140, top), (x + 170, top), colour=PROCESSING),
            box(x + 220, top, 100, 32, name, colour=DELTA, shade=0.16),
            arrow((x + 220, top + 16), (x + 220, add), (x + 14, add), colour=PROCESSING),
            plus(x, add, colour=STREAM, solid=True),
            text(x - 26, add + 26, state, size=16),
        ]
    return "".join(parts)


def _parallel(x: float, add: float) -> str:
    """One branch with both sublayers on it."""
    top = 84
    parts = [
        text(x - 24, 72, "x₀", size=16),
        arrow((x, 66), (x, 384), colour=STREAM, width=5),
        arrow((x, top), (x + 130, top), (x + 130, top + 22), colour=INPUT),
        box(x + 130, top + 38, 70, 28, "Norm", colour=NORM, shade=0.2, size=13),
        plus(x, add, colour=STREAM, solid=True),
        text(x - 26, add + 26, "x₂", size=16),
    ]
    for side, name in ((x + 74, "Attention"), (x + 186, "FFN")):
        low = add - 20 if side < x + 130 else add
        parts += [
            arrow((x + 130, top + 52), (side, top + 88), colour=PROCESSING),
            box(side, top + 106, 100, 32, name, colour=DELTA, shade=0.16),
            line((side, top + 122), (side, low), colour=PROCESSING),
        ]
    parts += [
        arrow((x + 74, add - 20), (x + 74, add), (x + 14, add), colour=PROCESSING),
        line((x + 186, add), (x + 74, add), colour=PROCESSING),
    ]
    return "".join(parts)
