"""A token, what a sublayer writes, and their sum: what the plus keeps, and "replace" loses."""

import math
from collections.abc import Sequence
from functools import partial

from blocklab.explain.bars import row, ruler, short
from blocklab.explain.knobs import Explained, Menu, Sight, Slider, Switch, sentences
from blocklab.figures.colours import DELTA, STREAM
from blocklab.figures.diagram import Drawing, drawing, text
from blocklab.text import Text, both

X = (1.0, 2.0, -1.0, 0.0)
WRITTEN = (0.2, -0.5, 0.3, 0.1)
STEP, LONGEST = 84, 48  # pixels: from bar to bar, and of a bar
DROPPED = Text("dropped", "버림")
ALT = Text(
    "Three rows of bars: x {x}, Δ {delta}, and the result {result}.",
    "막대 세 줄: x {x}, Δ {delta}, 결과 {result}.",
)

ADDED = Text(
    "By size, {share:.0f} % of the result is still x (blue). {new} is new (orange), and {lost} of "
    "the {whole} in x is gone (dashed). The result has a cosine of {cosine:.2f} with x.",
    "크기로 보면 결과의 {share:.0f} %는 여전히 x입니다(파란색). 새로 들어온 것이 {new}(주황색), "
    "x의 {whole} 중 사라진 것이 {lost}(점선)입니다. 결과와 x의 cosine은 {cosine:.2f}입니다.",
)
ERASED = Text(
    "Component {place} is 0 now: Δ has erased it by writing its negative.",
    "{place}번 성분은 0이 되었습니다. Δ가 그 음수를 써서 지운 것입니다.",
)
UNCHANGED = Text(
    "Nothing is written, so x passes as it was: 100 % of the result is x.",
    "아무것도 쓰지 않았으니 x가 그대로 지나갑니다. 결과의 100 %가 x입니다.",
)
LOST = Text(
    "0 % of the result is x: all of it, the dashed outlines, is lost. Only what was written "
    "travels on.",
    "결과에서 x의 몫은 0 %입니다. 점선만큼이 모두 사라졌고, 써넣은 값만 다음으로 넘어갑니다.",
)
GONE = Text(
    "0 % of the result is x. Nothing was written and nothing was kept: the token is gone.",
    "결과에서 x의 몫은 0 %입니다. 쓴 것도 남긴 것도 없으니 token이 통째로 사라졌습니다.",
)


def draw(component: str, value: float, scale: float, replace: bool) -> Sight:
    """x, what is written, and the result; one component of what is written has another value."""
    delta = list(WRITTEN)
    delta[int(component) - 1] = value
    delta = [scale * d for d in delta]
    result = delta if replace else [a + d for a, d in zip(X, delta, strict=True)]
    kept = [0.0] * len(X) if replace else list(map(_kept, X, result))
    sentence = (LOST if any(delta) else GONE) if replace else _added(delta, result, kept)
    return Sight(_picture(delta, result, kept, replace), sentence)


def _kept(before: float, after: float) -> float:
    """The part of a component that was there before and is there after."""
    return math.copysign(min(abs(before), abs(after)), before) if before * after > 0 else 0.0


def _picture(
    delta: Sequence[float], result: Sequence[float], kept: Sequence[float], replace: bool
) -> Drawing:
    unit = min(22.0, LONGEST / max(map(abs, (*X, *delta, *result))))
    bars = partial(row, 132, unit=unit, step=STEP)
    name = both("Δ" if replace else "x + Δ")
    return drawing(
        430, 400,
        text(34, 76, "x", size=16, bold=True), bars(76, X, colour=STREAM),
        ruler(76, 76, unit),
        text(34, 141, DROPPED if replace else "+", size=14 if replace else 22),
        text(34, 206, "Δ", size=16, bold=True), bars(206, delta, colour=DELTA),
        text(34, 271, "=", size=22),
        text(34, 336, name, size=16, bold=True), bars(336, result, colour=DELTA, outlined=X),
        bars(336, kept, colour=STREAM, numbers=False),
        alt=ALT.fill(x=_list(X), delta=_list(delta), result=_list(result)),
    )  # fmt: skip


def _list(values: Sequence[float]) -> str:
    return f"[{', '.join(map(short, values))}]"


def _added(delta: Sequence[float], result: Sequence[float], kept: Sequence[float]) -> Text:
    if not any(delta):
        return UNCHANGED
    whole, size, still = (sum(map(abs, values)) for values in (X, result, kept))
    along = sum(a * r for a, r in zip(X, result, strict=True))
    said = ADDED.fill(
        share=100 * still / size,
        new=short(size - still),
        lost=short(whole - still),
        whole=short(whole),
        cosine=along / math.hypot(*X) / math.hypot(*result),
    )
    gone = [i for i, (a, r) in enumerate(zip(X, result, strict=True), 1) if a and abs(r) < 1e-9]
    return sentences(said, *(ERASED.fill(place=i) for i in gone))


RESIDUAL_ADD = Explained(
    "residual_add",
    Text("What is added, and what stays", "더한 것과 남은 것"),
    (
        Menu(
            "component",
            Text("Component of Δ to change", "바꿀 Δ의 성분"),
            {str(i): Text(f"component {i}", f"{i}번 성분") for i in range(1, 5)},
            "2",
        ),
        Slider("value", Text("Its value", "그 성분의 값"), -2, 2, 0.1, -0.5),
        Slider("scale", Text("Δ times", "Δ에 곱할 수"), 0, 3, 0.1, 1.0),
        Switch("replace", Text("Replace x instead of adding", "더하지 않고 x를 교체하기"), False),
    ),
    draw,
)
