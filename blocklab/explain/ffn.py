"""One token on its way through a small FFN: expand, gate, compress."""

import math
from collections.abc import Sequence

from blocklab.explain.bars import row, ruler, short
from blocklab.explain.ffn_pass import D_MODEL, WIDEST, Pass, through
from blocklab.explain.knobs import Explained, Menu, Sight, Slider, Switch, sentences
from blocklab.figures.colours import DELTA, GREEN, GREY, STREAM
from blocklab.figures.diagram import INK, Drawing, drawing, text
from blocklab.text import Text, both

TOKEN = [x / math.sqrt(5) for x in (1, -1, 3, 3)]  # as the norm of unit 02 hands it over
NAMES = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU", "identity": ""}
MIDDLE, STEP, LONGEST = 240, 26, 36  # pixels: of the picture, from bar to bar, of a bar

OPEN = Text(
    "{on} of {all} hidden units are on: there {what} is above 0.",
    "hidden unit {all}개 중 {on}개가 켜져 있습니다({what}의 값이 0보다 큽니다).",
)
SHUT = Text("The other {off} write nothing.", "나머지 {off}개는 아무것도 쓰지 않습니다.")
DAMPED = Text(
    "The other {off} are not shut but damped, to {left:.0f} % of what they were.",
    "나머지 {off}개는 막히는 대신 크기가 {left:.0f} %로 줄어듭니다.",
)
MULTIPLIED = Text(
    "Each gate is multiplied by its unit's number from x W_up, which gives size and sign.",
    "gate마다 x W_up의 값이 곱해져 크기와 부호가 정해집니다.",
)
LINEAR = Text(
    "All {all} hidden units pass as they are, so both maps together are one linear map, however "
    "wide the middle is: −x writes exactly −Δ.",
    "hidden unit {all}개가 모두 그대로 통과합니다. 그러면 가운데가 아무리 넓어도 두 변환은 합쳐서 "
    "선형 변환 하나이고, −x를 넣으면 정확히 −Δ를 씁니다.",
)
SQUARE = Text(
    "All {all} gates pass as they are, and still this is not linear: each hidden number is a "
    "product, so twice x writes four times Δ.",
    "gate {all}개가 모두 그대로 통과하는데도 선형이 아닙니다. hidden 값이 두 수의 곱이라서, x를 "
    "두 배로 하면 Δ는 네 배가 됩니다.",
)
WRITTEN = Text("Written to the stream: Δ = {delta}.", "stream에 쓰는 값은 Δ = {delta}입니다.")
ALT = Text(
    "Bars: {d} numbers become {d_ff}, are gated, and become {d} again: {delta}.",
    "막대: 수 {d}개가 {d_ff}개로 늘어나고, 걸러진 뒤, 다시 {d}개가 된다: {delta}.",
)
EXPAND, COMPRESS = Text("expand", "펼치기"), Text("compress", "압축하기")


def draw(d_ff: int, activation: str, gated: bool, scale: float) -> Sight:
    """The example token, scaled, through an FFN of that width, plain or gated."""
    way = through([scale * x for x in TOKEN], d_ff, activation, gated)
    return Sight(_picture(way, activation), _sentence(way, activation))


def _picture(way: Pass, activation: str) -> Drawing:
    d_ff, wide = len(way.hidden), _wide_rows(way, activation)
    shut = _shut(way, activation)
    unit = _unit(*(values for _, values in wide))
    narrow = _unit(way.x, way.delta)
    first, last = 148, 148 + 96 * (len(wide) - 1)
    parts = [
        _narrow_row(40, "x", way.x, narrow, STREAM),
        _funnel(78, D_MODEL, first - 54, d_ff, EXPAND),
        ruler(MIDDLE - STEP * (d_ff / 2 + 0.4), first, unit),
        *(_wide_row(first + 96 * i, *named, shut, unit) for i, named in enumerate(wide)),
        _funnel(last + 42, d_ff, last + 62, D_MODEL, COMPRESS),
        _narrow_row(last + 104, "Δ", way.delta, narrow, DELTA),
    ]
    alt = ALT.fill(d=D_MODEL, d_ff=d_ff, delta=_list(way.delta))
    return drawing(2 * MIDDLE, last + 146, *parts, alt=alt)


def _wide_rows(way: Pass, activation: str) -> list[tuple[str, list[float]]]:
    """Name and numbers of each row that has d_ff of them."""
    name = NAMES[activation]
    if not way.ups:
        after = f"{name}(x W_{{in}})" if name else "x W_{in}"
        return [("x W_{in}", way.expanded), (after, way.hidden)]
    after = f"{name}(x W_{{gate}})" if name else "(x W_{gate})"
    return [
        ("x W_{gate}", way.expanded),
        ("x W_{up}", way.ups),
        (f"{after} · (x W_{{up}})", way.hidden),
    ]


def _unit(*rows: Sequence[float]) -> float:
    return min(20.0, LONGEST / max(1e-9, *(abs(value) for values in rows for value in values)))


def _wide_row(y: float, name: str, values: list[float], shut: set[int], unit: float) -> str:
    """Hidden units; those that are shut are grey, and have a ring at their foot."""
    x = MIDDLE - STEP * (len(values) - 1) / 2
    on = [0.0 if i in shut else value for i, value in enumerate(values)]
    off = [value if i in shut else 0.0 for i, value in enumerate(values)]
    rings = "".join(
        f'<circle cx="{x + i * STEP:g}" cy="{y}" r="3.5" fill="none" stroke="{INK}"/>'
        for i in sorted(shut)
    )
    return (
        row(x, y, off, unit=unit, step=STEP, colour=GREY, numbers=False)
        + row(x, y, on, unit=unit, step=STEP, colour=GREEN, numbers=False)
        + rings
        + text(4, y - 44, name, size=14, anchor="start")
    )


def _narrow_row(y: float, name: str, values: list[float], unit: float, colour: str) -> str:
    x = MIDDLE - STEP * (D_MODEL - 1) / 2
    return (
        text(x - 34, y, name, size=16, bold=True)
        + row(x, y, values, unit=unit, step=STEP, colour=colour, numbers=False)
        + text(x + STEP * D_MODEL - 8, y, _list(values), size=12, anchor="start")
    )


def _funnel(top: float, before: int, low: float, after: int, words: Text) -> str:
    """From a row of `before` numbers to one of `after`."""
    upper, lower = before * STEP / 2, after * STEP / 2
    corners = ((-upper, top), (upper, top), (lower, low), (-lower, low))
    points = " ".join(f"{MIDDLE + x:g},{y:g}" for x, y in corners)
    shape = f'<polygon points="{points}" fill="{INK}" fill-opacity="0.12"/>'
    return shape + text(MIDDLE, (top + low) / 2, words)


def _list(values: Sequence[float]) -> str:
    return f"[{', '.join(short(round(value, 2)) for value in values)}]"


def _shut(way: Pass, activation: str) -> set[int]:
    """The hidden units whose gate is less than half open."""
    return {i for i, z in enumerate(way.expanded) if z <= 0 and activation != "identity"}


def _sentence(way: Pass, activation: str) -> Text:
    shut = _shut(way, activation)
    left = _left(way, shut)
    parts = [OPEN]
    if shut:
        parts.append(DAMPED if left else SHUT)
    if way.ups:
        parts.append(MULTIPLIED)
    if activation == "identity":
        parts = [SQUARE if way.ups else LINEAR]
    return sentences(*parts, WRITTEN).fill(
        all=len(way.hidden), on=len(way.hidden) - len(shut), off=len(shut),
        what="x W_gate" if way.ups else "x W_in", left=left, delta=_list(way.delta),
    )  # fmt: skip


def _left(way: Pass, units: set[int]) -> float:
    """How much those units let through, in percent of what a fully open gate would."""
    ups = way.ups or [1.0] * len(way.hidden)
    whole = sum(abs(way.expanded[i] * ups[i]) for i in units)
    return 100 * sum(abs(way.hidden[i]) for i in units) / whole if whole else 0.0


FFN = Explained(
    "ffn",
    Text("One token on its way through the FFN", "FFN을 지나는 token 하나"),
    (
        Slider(
            "d_ff", Text("Hidden units, d_ff", "hidden unit의 수, d_ff"), D_MODEL, WIDEST, 1, WIDEST
        ),
        Menu(
            "activation",
            Text("Activation", "Activation"),
            {
                **{key: both(name) for key, name in NAMES.items() if name},
                "identity": Text("none (identity)", "없음 (identity)"),
            },
            "relu",
        ),
        Switch("gated", Text("Gated, as in SwiGLU", "SwiGLU처럼 gate를 따로 두기"), False),
        Slider("scale", Text("x times", "x에 곱할 수"), -3, 3, 0.1, 1.0),
    ),
    draw,
)
