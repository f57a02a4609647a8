"""Drawings for the second sitting of unit 03: heads split, shared, and turned by their position."""

import math
from collections.abc import Sequence

import torch

from blocklab.figures.attention_grid import grid, row_names
from blocklab.figures.colours import BLUE, GREEN, GREY, ORANGE
from blocklab.figures.diagram import Drawing, arrow, box, drawing, line, text
from blocklab.text import Text, both

COLOURS = (BLUE, ORANGE, GREEN)


def split_and_merge() -> Drawing:
    """Three tokens of six components through three heads of two, and back to six."""
    titles = (
        "q   (T, d_{model})",
        "(n_{heads}, T, d_{head})",
        "softmax(q kᵀ ÷ √d_{head}) v",
        "(T, d_{model})",
    )
    steps = (
        both(""),
        Text("split", "split"),
        Text("each head alone", "head마다 따로"),
        both("merge"),
    )
    parts = []
    for x, title, step in zip((107, 292, 474, 658), titles, steps, strict=True):
        parts += [text(x, 16, step, bold=True), text(x, 38, title, size=13)]
    for h in range(3):
        parts += _one_head(h)
    parts.append(row_names(30, 158, ["1", "2", "3"]))
    said = Text(
        "Each head gets two of the six components of every token and does attention with "
        "them; its result takes the same two places.",
        "head마다 모든 token의 성분 여섯 개 중 두 개로 attention을 계산하고, 결과는 같은 두 "
        "자리에 놓인다.",
    )
    return drawing(750, 350, *parts, alt=said)


def _one_head(h: int) -> list[str]:
    """Head h's columns of the six, the same on their own, and the columns it writes."""
    colour, y = COLOURS[h], 58 + 100 * h
    mine = [[f"{t}{'abcdef'[c]}" for c in (2 * h, 2 * h + 1)] for t in (1, 2, 3)]
    pale, full = torch.full((3, 2), 0.16), torch.full((3, 2), 0.5)
    return [
        grid(30 + 52 * h, 158, mine, colour=colour, shades=pale),
        arrow((192, 197), (258, y + 39), colour=colour),
        grid(266, y, mine, colour=colour, shades=pale),
        arrow((324, y + 39), (402, y + 39), colour=colour),
        box(474, y + 39, 140, 56, f"head {h}", colour=colour, shade=0.1),
        arrow((546, y + 39), (574, 197), colour=colour),
        grid(580 + 52 * h, 158, [["", ""]] * 3, colour=colour, shades=full),
    ]


def sharing(n_heads: int, n_kv_heads: int) -> Drawing:
    """Which query head reads which KV head: one each, in groups, and one for all."""
    rows = (
        (Text("MHA: one KV head for each query head", "MHA: query head마다 KV head 하나"), n_heads),
        (
            Text("GQA: {n} query heads share one", "GQA: query head {n}개가 하나를 함께 쓴다").fill(
                n=n_heads // n_kv_heads
            ),
            n_kv_heads,
        ),
        (Text("MQA: all share one", "MQA: 모두가 하나를 함께 쓴다"), 1),
    )
    parts = [_shared(30 + 118 * i, *row, n_heads) for i, row in enumerate(rows)]
    said = Text(
        "{q} query heads over {q}, {kv} and 1 KV heads.",
        "query head {q}개가 KV head {q}개, {kv}개, 1개를 읽는 세 그림.",
    ).fill(q=n_heads, kv=n_kv_heads)
    return drawing(770, 360, *parts, alt=said)


def _shared(y: float, name: Text, n_kv: int, n_heads: int) -> str:
    step, left = 22, 70
    group = n_heads // n_kv
    parts = [
        text(left - 10, y - 12, name, anchor="start", bold=True),
        text(50, y + 16, "q", anchor="end", size=15),
        text(50, y + 66, "k, v", anchor="end", size=15),
    ]
    for kv in range(n_kv):
        middle = left + step * (kv * group + (group - 1) / 2)
        for head in range(kv * group, (kv + 1) * group):
            x = left + step * head
            parts.append(line((x, y + 22), (middle, y + 58), colour=GREY, width=1))
            parts.append(_dot(x, y + 16, BLUE))
        parts.append(_dot(middle, y + 66, ORANGE))
    return "".join(parts)


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="7" fill="{colour}"/>'


def clocks(turns: Sequence[float] = (1.0, 0.1), positions: int = 5) -> Drawing:
    """One pair of components at several positions, turned by so many radians a token."""
    parts = []
    for row, turn in enumerate(turns):
        y = 74 + 112 * row
        name = Text("{turn} rad a token", "token마다 {turn} rad").fill(turn=f"{turn:g}")
        parts.append(text(20, y, name, anchor="start", size=14))
        parts += [_clock(220 + 104 * p, y, p * turn) for p in range(positions)]
    parts += [
        text(220 + 104 * p, 16, Text("position {p}", "위치 {p}").fill(p=p), size=13)
        for p in range(positions)
    ]
    said = Text(
        "The same vector, turned further at every position: fast above, slowly below.",
        "같은 벡터가 위치마다 조금씩 더 돌아간다. 위는 빠르게, 아래는 천천히.",
    )
    return drawing(700, 240, *parts, alt=said)


def _clock(x: float, y: float, angle: float) -> str:
    tip = (x + 36 * math.cos(angle), y - 36 * math.sin(angle))
    face = (
        f'<circle cx="{x:g}" cy="{y:g}" r="40" fill="none" stroke="{GREY}" stroke-opacity="0.6"/>'
    )
    return face + arrow((x, y), tip, colour=BLUE, width=2.2)
