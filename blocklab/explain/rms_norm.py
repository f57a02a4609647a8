"""One token before and after its norm: what a norm takes away, and what it lets through."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from blocklab.explain.bars import level, row, ruler, short
from blocklab.explain.knobs import Explained, Menu, Sight, Slider, Stops, Switch, sentences
from blocklab.figures.colours import GREEN, STREAM
from blocklab.figures.diagram import Drawing, Words, arrow, drawing, text
from blocklab.text import Text, both

X = (1.0, -1.0, 3.0, 3.0)
GAINED = 3  # the component whose gain a knob sets, counted from 1
SCALES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
EPS = {"0": "0", "1e-6": "10⁻⁶", "1e-5": "10⁻⁵", "1e-2": "10⁻²", "1": "1"}
LONGEST = 56  # pixels

SIZES = Text(
    "The RMS is {before} before the norm and {after} after it.",
    "norm을 지나기 전의 RMS는 {before}, 지난 뒤는 {after}입니다.",
)
DIVIDED = Text(
    "Every component is divided by √(RMS² + ε) = {divisor}, so the proportions stay.",
    "모든 성분을 √(RMS² + ε) = {divisor} 하나로 나누므로 성분 사이의 비율은 그대로입니다.",
)
CENTRED = Text(
    "LayerNorm subtracts the mean ({mean}) and divides by √(variance + ε) = {divisor}.",
    "LayerNorm은 평균({mean})을 빼고 √(분산 + ε) = {divisor}로 나눕니다.",
)
SCALED = Text(
    "x is {scale} times what it was, the result is what it was: the scale of a token does not "
    "pass a norm.",
    "x를 {scale}배로 바꾸었지만 결과는 그대로입니다. token의 크기는 norm을 통과하지 못합니다.",
)
SHIFTED = Text(
    "The shift by {shift} changes the result: RMSNorm does not subtract the mean ({mean}).",
    "모든 성분을 {shift}만큼 옮기면 결과가 달라집니다. RMSNorm은 평균({mean})을 빼지 않습니다.",
)
UNSHIFTED = Text(
    "The shift by {shift} leaves no trace: LayerNorm subtracts the mean ({mean}) first.",
    "모든 성분을 {shift}만큼 옮겨도 흔적이 없습니다. LayerNorm은 평균({mean})부터 빼기 때문입니다.",
)
HELD_DOWN = Text(
    "ε is not negligible beside the {what} ({square}): before any gain, the result has RMS {rms} "
    "in place of 1.",
    "{what}({square})에 비해 ε을 무시할 수 없습니다. gain을 곱하기 전의 RMS가 "
    "1이 아니라 {rms}입니다.",
)
WHAT = {False: Text("mean square", "제곱의 평균"), True: Text("variance", "분산")}
GAIN = Text(
    "At the end, component {place} is multiplied by its gain, {gain}.",
    "마지막으로 {place}번 성분은 gain을 곱해 {gain}배가 됩니다.",
)
TOLD = {
    (False, False): DIVIDED,
    (False, True): CENTRED,
    (True, False): SHIFTED,
    (True, True): UNSHIFTED,
}  # by whether there is a shift, and whether it is LayerNorm
MEAN = Text("mean {mean}", "평균 {mean}")
ALT = Text(
    "Two rows of bars: {before} before the norm, {after} after it.",
    "막대 두 줄: norm 전 {before}, norm 후 {after}.",
)


class Normed(NamedTuple):
    """A token on its way through a norm.

    mean: what is subtracted first, 0 in RMSNorm; square: the mean square of what is left;
    divided: before the gain.
    """

    token: list[float]
    mean: float
    square: float
    divisor: float
    divided: list[float]
    after: list[float]


def normed(token: list[float], gain: float, eps: float, layer_norm: bool) -> Normed:
    """A token through RMSNorm or LayerNorm; gain is that of one component, the others have 1."""
    mean = _mean(token) if layer_norm else 0.0
    square = _mean([(t - mean) ** 2 for t in token])
    divisor = math.sqrt(square + eps)
    divided = [(t - mean) / divisor for t in token]
    after = [d * (gain if i == GAINED else 1) for i, d in enumerate(divided, 1)]
    return Normed(token, mean, square, divisor, divided, after)


def draw(scale: float, shift: float, gain: float, eps: str, layer_norm: bool) -> Sight:
    """The example token, scaled and then shifted, before and after a norm."""
    way = normed([scale * x + shift for x in X], gain, float(eps), layer_norm)
    return Sight(_picture(way, layer_norm), _sentence(way, scale, shift, gain, layer_norm))


def _picture(way: Normed, layer_norm: bool) -> Drawing:
    mean = f"− {short(way.mean)},  ".replace("− −", "+ ") if layer_norm else ""
    rms = _rms(way.token)
    line = (MEAN.fill(mean=short(way.mean)), way.mean) if layer_norm else (_named(rms), rms)
    rms = _rms(way.after)
    return drawing(
        430, 352,
        _row(84, "x", way.token, STREAM, *line),
        arrow((190, 162), (190, 198)),
        text(206, 180, f"{mean}÷ {short(way.divisor)},  × gain", anchor="start"),
        _row(278, "y", way.after, GREEN, _named(rms), rms),
        alt=ALT.fill(before=_list(way.token), after=_list(way.after)),
    )  # fmt: skip


def _row(
    y: float, name: str, values: Sequence[float], colour: str, words: Words, height: float
) -> str:
    """Bars with their name, and a dashed line at that height, which has those words."""
    unit = min(20.0, LONGEST / max(map(abs, values)))
    at = y - height * unit
    return (
        text(18, y, name, size=16, bold=True)
        + ruler(54, y, unit)
        + level(64, 340, at, words)
        + row(94, y, values, unit=unit, step=72, colour=colour, avoid=at)
    )


def _sentence(way: Normed, scale: float, shift: float, gain: float, layer_norm: bool) -> Text:
    rms = _rms(way.divided)
    parts = [SIZES, TOLD[bool(shift), layer_norm]]
    if short(rms) != "1":
        parts.append(HELD_DOWN)
    elif scale != 1 and (layer_norm or not shift):
        parts.append(SCALED)
    if gain != 1:
        parts.append(GAIN)
    return sentences(*parts).fill(
        before=short(_rms(way.token)), after=short(_rms(way.after)), mean=short(_mean(way.token)),
        divisor=short(way.divisor), what=WHAT[layer_norm], square=short(way.square),
        rms=short(rms), scale=short(scale), shift=short(shift), gain=short(gain), place=GAINED,
    )  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _rms(values: Sequence[float]) -> float:
    return math.sqrt(_mean([v * v for v in values]))


def _named(rms: float) -> Text:
    return both(f"RMS {short(rms)}")


def _list(values: Sequence[float]) -> str:
    return f"[{', '.join(map(short, values))}]"


RMS_NORM = Explained(
    "rms_norm",
    Text("A token before and after its norm", "norm을 지나기 전과 지난 뒤의 token"),
    (
        Stops("scale", Text("x times", "x에 곱할 수"), SCALES, 1.0),
        Slider("shift", Text("Added to every component", "모든 성분에 더할 수"), -3, 3, 0.1, 0.0),
        Slider("gain", Text("Gain of component 3", "3번 성분의 gain"), 0, 2, 0.1, 1.0),
        Menu(
            "eps", Text("Epsilon", "Epsilon"), {k: both(f"ε = {v}") for k, v in EPS.items()}, "1e-6"
        ),
        Switch("layer_norm", Text("LayerNorm instead of RMSNorm", "RMSNorm 대신 LayerNorm"), False),
    ),
    draw,
)
