"""Drawings of the FFN: its widths, its numbers by hand, who reads what, and its memories."""

from collections.abc import Sequence

from torch import Tensor

from blocklab.figures.colours import BLUE, DELTA, GREEN, PURPLE, STREAM
from blocklab.figures.diagram import (
    INK,
    Drawing,
    Words,
    arrow,
    bars,
    box,
    drawing,
    line,
    text,
)
from blocklab.text import Text, both

HIDDEN = PURPLE
PALE = 0.16
MODELS = (("GPT-2 small", 768, 3072), ("Llama-3 8B", 4096, 14336))
PIXELS = 330 / 14336  # for each number of a vector
STEPS = (Text("expand", "펼치기"), Text("gate", "거르기"), Text("compress", "압축하기"))
WORDS = (Text("나는 (I)", "나는"), Text("사과를 (apple)", "사과를"), Text("먹었다 (ate)", "먹었다"))
SOURCES = (BLUE, PURPLE, GREEN)
SHARES = ((1.0,), (0.3, 0.7), (0.2, 0.35, 0.45))


def widths() -> Drawing:
    """The FFN of two models, left to right; a vector is as high as it has numbers, to scale."""
    said = ", ".join(f"{name}: {d} → {d_ff} → {d}" for name, d, d_ff in MODELS)
    note = Text("height: how many numbers, on one scale", "높이: 수의 개수, 모두 같은 눈금")
    parts = [_funnel(50 + 385 * i, *model) for i, model in enumerate(MODELS)]
    return drawing(770, 440, *parts, text(385, 426, note, size=12), alt=both(said))


def _funnel(x: float, name: str, d: int, d_ff: int) -> str:
    y, up, gate, down = 216, x + 118, x + 170, x + 288
    return "".join([
        text(x + 144, 18, name, bold=True, size=16),
        _vector(x, y, d, STREAM), _vector(up, y, d_ff, HIDDEN), _vector(down, y, d, DELTA),
        _map((x + 8, d), (up - 8, d_ff), y), _map((gate + 8, d_ff), (down - 8, d), y),
        arrow((up + 11, y), (gate - 11, y)), _gated(gate, y, d_ff * PIXELS),
        *(text(at, 402, step) for at, step in zip((x + 59, x + 144, x + 229), STEPS, strict=True)),
    ])  # fmt: skip


def _rectangle(x: float, y: float, wide: float, high: float, colour: str, shade: float = 1) -> str:
    """A filled rectangle; (x, y) is the upper left corner."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{colour}" '
        f'fill-opacity="{shade}"/>'
    )


def _vector(x: float, y: float, n: int, colour: str) -> str:
    high = n * PIXELS
    return _rectangle(x - 8, y - high / 2, 16, high, colour) + text(
        x, y - high / 2 - 11, str(n), size=13
    )


def _map(start: tuple[float, int], end: tuple[float, int], y: float) -> str:
    """A linear map as the shape between two vectors; of each the x and how many numbers."""
    (x0, n0), (x1, n1) = start, end
    h0, h1 = n0 * PIXELS / 2, n1 * PIXELS / 2
    corners = f"{x0},{y - h0:.1f} {x1},{y - h1:.1f} {x1},{y + h1:.1f} {x0},{y + h0:.1f}"
    return f'<polygon points="{corners}" fill="{INK}" fill-opacity="0.1"/>'


def _gated(x: float, y: float, high: float) -> str:
    """A hidden vector behind the gate: some numbers loud, most of them faint."""
    loud = (0.1, 0.95, 0.1, 0.1, 0.55, 0.1, 0.1) * 3
    step = high / len(loud)
    return "".join(
        _rectangle(x - 8, y - high / 2 + i * step, 16, step, HIDDEN, shade)
        for i, shade in enumerate(loud)
    )


def by_hand(x: Tensor, scores: Tensor, kept: Tensor, delta: Tensor) -> Drawing:
    """A small token on its way through the FFN, as bars on one scale."""
    groups = (
        (both("x"), x, STREAM, "W_{in}"),
        (Text("expanded", "펼친 뒤"), scores, HIDDEN, "ReLU"),
        (Text("gated", "거른 뒤"), kept, HIDDEN, "W_{out}"),
        (both("Δ"), delta, DELTA, ""),
    )
    step, base, at, parts = 42, 150, 20.0, []
    for name, values, colour, onward in groups:
        wide = step * len(values)
        parts.append(text(at + wide / 2, 18, name, bold=True, size=15))
        parts.append(bars(at + step / 2, base, _numbers(values), unit=26, colour=colour, step=step))
        if onward:
            parts.append(arrow((at + wide + 8, base), (at + wide + 62, base)))
            parts.append(text(at + wide + 35, base - 18, onward))
        at += wide + 70
    said = " → ".join(str(_numbers(values)) for _, values, _, _ in groups)
    return drawing(at - 50, 215, *parts, alt=both(said))


def _numbers(values: Tensor) -> list[float]:
    return [round(value, 2) + 0.0 for value in values.tolist()]


def sentence() -> Drawing:
    """나는 사과를 먹었다: attention gathers, then one FFN transforms each token by itself."""
    columns, start, state, ffn, end = (262, 452, 642), 34, 158, 240, 316
    captions = {
        (start + state) / 2: Text("attention gathers", "attention이 모은다"),
        state: Text("what the token holds", "token이 지닌 것"),
        ffn: Text("the FFN transforms", "FFN이 변환한다"),
        end + 28: Text("one network, used three times", "network 하나를 세 번 쓴다"),
    }
    parts = [text(8, y, words, anchor="start") for y, words in captions.items()]
    parts.append(line((columns[0], end + 28), (columns[-1], end + 28), dashed=True))
    for t, x in enumerate(columns):
        for s in range(t + 1):
            way = (columns[s] + 14 * (t - s), start + 18), (x - 18 * (t - s), state - 14)
            parts.append(arrow(*way, colour=SOURCES[s], width=1.5 + 3 * SHARES[t][s]))
        parts += [
            box(x, start, 152, 32, WORDS[t], colour=SOURCES[t], shade=PALE),
            _stacked(x, state, SHARES[t]),
            arrow((x, state + 13), (x, ffn - 18)),
            box(x, ffn, 110, 34, "FFN", colour=DELTA, shade=PALE),
            arrow((x, ffn + 18), (x, end - 12), colour=DELTA),
            text(x, end, "Δ", size=16),
        ]
    return drawing(
        740, 368, *parts,
        alt=Text(
            "Three tokens. Attention brings parts of earlier tokens into later ones, so 먹었다 "
            "holds parts of all three. Then the same FFN transforms each token by itself.",
            "token 세 개. attention이 앞 token의 일부를 뒤 token으로 가져와, 먹었다는 셋 모두의 "
            "일부를 지닌다. 그다음 같은 FFN이 token을 하나씩 따로 변환한다.",
        ),
    )  # fmt: skip


def _stacked(x: float, y: float, shares: Sequence[float], wide: float = 152) -> str:
    """A bar made of parts, each in the colour of the token it comes from."""
    starts = [x - wide / 2 + wide * sum(shares[:s]) for s in range(len(shares))]
    return "".join(
        _rectangle(start, y - 11, wide * share, 22, colour, 0.75)
        for start, share, colour in zip(starts, shares, SOURCES, strict=False)
    )


def plain_and_gated() -> Drawing:
    """The plain FFN beside SwiGLU, with the width of each vector."""
    plain, gated = 110, 530
    return drawing(
        740, 350,
        text(plain, 16, Text("Plain", "기본형"), bold=True, size=16),
        _stage(plain, 56, "W_{in}", "d"), _stage(plain, 116, "GELU", "d_{ff}", HIDDEN),
        arrow((plain, 178), (plain, 246)), _ends(plain, "W_{out}"),
        text(plain + 76, 162, Text("signal and gate", "신호이자 게이트"), anchor="start", size=13),
        text(gated, 16, "SwiGLU", bold=True, size=16),
        _gate_and_up(gated), _ends(gated, "W_{down}"),
        alt=Text(
            "Left: x, W_in, GELU, W_out, Δ in one line. Right: x goes through W_gate and SiLU, "
            "beside it through W_up; the two are multiplied; then W_down and Δ.",
            "왼쪽: x, W_in, GELU, W_out, Δ가 한 줄이다. 오른쪽: x가 W_gate와 SiLU를 지나고, "
            "나란히 W_up을 지난다. 둘을 곱한 다음 W_down을 지나 Δ가 된다.",
        ),
    )  # fmt: skip


def _stage(x: float, y: float, name: str, width: str, colour: str = INK) -> str:
    """An arrow down from y into a box; width: of the vector on the arrow."""
    shade = PALE if colour == HIDDEN else 0.06
    return "".join([
        arrow((x, y), (x, y + 28)), text(x + 10, y + 11, width, anchor="start", size=12),
        box(x, y + 46, 120, 32, name, colour=colour, shade=shade),
    ])  # fmt: skip


def _ends(x: float, last: str) -> str:
    """x above, the last map and Δ below."""
    return "".join([
        text(x, 44, "x", size=16), text(x + 10, 234, "d_{ff}", anchor="start", size=12),
        box(x, 262, 120, 32, last, shade=0.06), arrow((x, 278), (x, 312), colour=DELTA),
        text(x + 10, 294, "d", anchor="start", size=12), text(x, 326, "Δ", size=16),
    ])  # fmt: skip


def _gate_and_up(x: float) -> str:
    gate, up, times = x - 76, x + 76, 206
    return "".join([
        line((x, 54), (x, 60)), line((gate, 60), (up, 60)),
        _stage(gate, 60, "W_{gate}", "d"), _stage(up, 60, "W_{up}", "d"),
        _stage(gate, 122, "SiLU", "d_{ff}", HIDDEN),
        arrow((gate, 184), (gate, times), (x - 13, times)),
        arrow((up, 122), (up, times), (x + 13, times)),
        text(up + 10, 133, "d_{ff}", anchor="start", size=12),
        text(gate - 70, 168, Text("gate", "게이트"), anchor="end", size=13),
        text(up + 70, 106, Text("signal", "신호"), anchor="start", size=13),
        f'<circle cx="{x}" cy="{times}" r="12" fill="{HIDDEN}" fill-opacity="{PALE}" '
        f'stroke="{HIDDEN}" stroke-width="2"/>',
        text(x, times, "×", size=18),
        arrow((x, times + 13), (x, 246)),
    ])  # fmt: skip


def memories(x: Tensor, keys: Tensor, values: Tensor) -> Drawing:
    """Every hidden unit as a memory: its key, its match with x under ReLU, and what it adds.

    x (d_model,); row i of keys and row i of values, both (d_ff, d_model), are memory i.
    """
    columns, top, step = (40, 150, 270, 380, 500, 640), 84, 40
    heads = (
        Text("memory", "기억"), both("key"), Text("match: x · key", "일치: x · key"),
        both("ReLU"), both("value"), Text("adds", "더하는 값"),
    )  # fmt: skip
    parts = [text(360, 16, f"x = {_row(x)}", bold=True, size=15)]
    parts += [text(at, 50, head, size=13) for at, head in zip(columns, heads, strict=True)]
    scores = keys @ x
    for i, score in enumerate(scores.tolist()):
        y, fires = top + step * i, score > 0
        colour, kept = (HIDDEN if fires else INK), max(score, 0.0)
        cells = (str(i + 1), _row(keys[i]), f"{score:g}", f"{kept:g}", _row(values[i]))
        parts.append(
            box(360, y, 712, step - 8, colour=colour, shade=PALE * fires, dashed=not fires)
        )
        added: Words = _row(kept * values[i]) if fires else Text("nothing", "없음")
        parts += [
            text(at, y, cell.replace("-", "−")) for at, cell in zip(columns, cells, strict=False)
        ]
        parts.append(text(columns[-1], y, added, colour=DELTA if fires else INK, bold=fires))
    total = _row(scores.clamp(min=0) @ values)
    y = top + step * len(keys)
    parts.append(line((572, y - 20), (708, y - 20)))
    parts.append(text(columns[-1], y + 2, f"Δ = {total}", colour=DELTA, bold=True, size=15))
    return drawing(720, y + 24, *parts, alt=both(f"x = {_row(x)}, Δ = {total}"))


def _row(vector: Tensor) -> str:
    return f"[{', '.join(f'{v:g}' for v in _numbers(vector))}]".replace("-", "−")


def two_axes(T: int = 5, d_model: int = 9) -> Drawing:
    """A stream as a grid, T x d_model: the FFN works along a row, token mixing along a column."""
    cell, left, top, row, column = 34, 170, 62, 3, 6
    right, low = left + cell * d_model, top + cell * T
    down, across = left + cell * (column + 0.5), top + cell * (row + 0.5)
    cells = [
        _cell(left + cell * (j + 0.5), top + cell * (t + 0.5), cell - 3, t == row, j == column)
        for t in range(T)
        for j in range(d_model)
    ]
    return drawing(
        720, low + 36, *cells,
        text(left - 12, (top + low) / 2, Text("T tokens", "token T개"), anchor="end"),
        text((left + right) / 2, low + 18, Text("d features", "feature d개")),
        arrow((right + 40, across), (right + 6, across), colour=DELTA),
        text(right + 48, across, Text("FFN: within one token", "FFN: token 하나 안에서"),
             anchor="start"),
        arrow((down, top - 26), (down, top - 6), colour=STREAM),
        text(down, top - 38,
             Text("token mixing: within one feature", "token mixing: feature 하나 안에서")),
        alt=Text(
            "A grid of tokens and features. The FFN reads and writes one row, token mixing one "
            "column.",
            "token과 feature의 격자. FFN은 한 행을, token mixing은 한 열을 읽고 쓴다.",
        ),
    )  # fmt: skip


def _cell(x: float, y: float, size: float, in_row: bool, in_column: bool) -> str:
    if in_row and in_column:
        return box(x, y, size, size, colour=PURPLE, shade=0.7)
    if in_row or in_column:
        return box(x, y, size, size, colour=DELTA if in_row else STREAM, shade=0.45)
    return box(x, y, size, size, shade=0.05)
