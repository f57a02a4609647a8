"""Drawings and plots for norms: what one does to a token, where a block has it, what follows."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from blocklab.figures.colours import BLUE, DELTA, GREEN, GREY, ORANGE, PURPLE, STREAM
from blocklab.figures.diagram import (
    INK,
    Drawing,
    Words,
    arrow,
    bars,
    box,
    drawing,
    line,
    plus,
    text,
)
from blocklab.figures.style import figure
from blocklab.lab.gradients import Measured, exponent
from blocklab.reference.norm import rms_norm
from blocklab.text import Text

NORM = GREEN
LOOK = {
    "pre": ("Pre-Norm", BLUE, "o"),
    "post": ("Post-Norm", ORANGE, "s"),
    "alpha": (r"$\alpha$ without $\beta$", PURPLE, "v"),
    "deep": ("DeepNorm", GREEN, "D"),
    "none": ("no norm", GREY, "x"),
}


def rms_bars(token: Tensor) -> Drawing:
    """A token before and after RMSNorm with gain 1, as bars on one scale."""
    rms = float(token.square().mean().sqrt())
    after = rms_norm(token, torch.ones_like(token), 0.0)
    base, unit, left, right = 180, 36, 110, 530
    return drawing(
        740, 250,
        text(left + 69, 24, "x", bold=True),
        text(right + 69, 24, "x / RMS", bold=True),
        _level(left, base - rms * unit, f"RMS {rms:.2f}"),
        _level(right, base - unit, "RMS 1"),
        bars(left, base, [round(float(v), 2) for v in token], unit=unit, colour=STREAM),
        arrow((310, base - 40), (424, base - 40)),
        text(362, base - 60, f"÷ {rms:.2f}"),
        text(362, base - 20, "× gain [1, 1, 1, 1]", size=12),
        bars(right, base, [round(float(v), 2) for v in after], unit=unit, colour=NORM),
        alt=Text("Four bars, divided by their root mean square, on the same scale.",
                 "네 성분의 막대와, RMS로 나눈 뒤의 막대. 눈금은 같다."),
    )  # fmt: skip


def _level(x: float, y: float, words: str) -> str:
    return line((x - 28, y), (x + 170, y), width=1.2, dashed=True) + text(
        x - 34, y, words, size=12, anchor="end"
    )


def token_grid(tokens: Tensor, gain: Tensor) -> Drawing:
    """RMSNorm on several tokens: each row has its own RMS, all rows share the gain.

    tokens (T, d_model), gain (d_model,).
    """
    rms = tokens.square().mean(-1, keepdim=True).sqrt()
    divided = tokens / rms
    top, low = 96, 96 + 34 * len(tokens) + 26
    return drawing(
        860, low + 30,
        text(116, 30, "x", bold=True),
        text(116, 52, Text("T tokens × d", "token T개 × d"), size=12),
        _grid(20, top, tokens, STREAM),
        text(268, 30, "RMS", bold=True),
        text(268, 52, Text("one per token", "token마다 하나"), size=12),
        text(226, top + 34, "÷", size=18), _grid(240, top, rms, NORM, 56),
        text(316, top + 34, "=", size=18),
        text(432, 30, "x / RMS", bold=True),
        _grid(336, top, divided, INK),
        text(316, low, "×", size=18), _grid(336, low, gain[None], PURPLE),
        text(540, low, Text("gain: the same for all tokens", "gain: 모든 token이 함께 쓴다"),
             size=13, anchor="start"),
        arrow((536, top + 34), (596, top + 34)), text(566, top + 20, "× gain", size=12),
        text(704, 30, Text("result", "결과"), bold=True),
        text(704, 52, Text("T tokens × d", "token T개 × d"), size=12),
        _grid(608, top, divided * gain, INK),
        alt=Text("Three tokens divided by three different numbers, then multiplied by one gain.",
                 "세 token을 서로 다른 세 수로 나눈 다음 같은 gain을 곱한다."),
    )  # fmt: skip


def _grid(x: float, y: float, values: Tensor, colour: str, width: float = 48) -> str:
    return "".join(
        box(x + width * (c + 0.5), y + 34 * r, width - 4, 28, _short(v), colour=colour, shade=0.1,
            size=12)
        for r, row in enumerate(values.tolist()) for c, v in enumerate(row)
    )  # fmt: skip


def _short(value: float) -> str:
    return f"{round(value, 2) + 0.0:g}".replace("-", "−")


def norms_in_a_model() -> Drawing:
    """A Pre-Norm decoder from tokens to scores, with every norm in it."""
    y = 170
    return drawing(
        880, 240,
        text(36, y, "token ids"), arrow((74, y), (98, y)),
        box(146, y, 92, 44, "embedding"),
        arrow((192, y), (650, y), colour=STREAM, width=3), text(622, y + 24, "T × d", size=12),
        box(405, 124, 370, 200, colour=GREY, dashed=True),
        text(582, 40, "× n_{layers}", anchor="end", bold=True),
        _detour(240, 395, y, "attention"), _detour(420, 575, y, "FFN"),
        text(405, 208, Text("inside a block the stream itself meets no norm",
                            "block 안에서 stream 자체는 norm을 지나지 않는다"), size=12),
        box(700, y, 100, 44, "final norm", colour=NORM, shade=0.2),
        arrow((750, y), (776, y)), box(820, y, 84, 44, "LM head"),
        arrow((820, 148), (820, 106)),
        text(820, 90, Text("scores", "점수"), size=13),
        alt=Text("Embedding, blocks with a norm before each sublayer, a final norm, the LM head.",
                 "Embedding, sublayer 앞마다 norm이 있는 block들, 마지막 norm, LM head."),
    )  # fmt: skip


def _detour(start: float, end: float, y: float, sublayer: Words) -> str:
    """A branch off a horizontal stream: norm, sublayer, and back to a plus."""
    high = y - 90
    return (
        arrow((start, y), (start, high), (start + 12, high))
        + box(start + 40, high, 56, 34, "norm", colour=NORM, shade=0.2, size=13)
        + arrow((start + 68, high), (start + 80, high))
        + box(start + 118, high, 76, 34, sublayer, colour=DELTA, shade=0.15, size=13)
        + arrow((end, high + 17), (end, y - 12), colour=DELTA)
        + plus(end, y, colour=STREAM)
    )


def pre_and_post() -> Drawing:
    """One block with its norms before the sublayers, and one with them after the additions."""
    return drawing(
        800, 520,
        text(200, 24, "Pre-Norm", size=16, bold=True),
        text(200, 48, "GPT-2, GPT-3, Llama", size=13),
        _pre_half(120, 110, "attention"), _pre_half(120, 280, "FFN"),
        arrow((120, 450), (120, 480), colour=STREAM, width=3), text(120, 78, "x"),
        text(96, 276, "x′"), text(96, 470, "y"),
        text(200, 506, Text("blue path: no norm on it", "파란 경로: norm이 없다"), size=13),
        line((400, 20), (400, 500), colour=GREY, width=1),
        text(600, 24, "Post-Norm", size=16, bold=True),
        text(600, 48, Text("original Transformer, GPT-1, BERT", "원래의 Transformer, GPT-1, BERT"),
             size=13),
        _post_half(520, 110, "attention"), _post_half(520, 280, "FFN"),
        arrow((520, 450), (520, 480), colour=STREAM, width=3), text(520, 78, "x"),
        text(496, 276, "x′"), text(496, 470, "y"),
        text(600, 506, Text("blue path: through two norms a block",
                            "파란 경로: block마다 norm을 두 번 지난다"), size=13),
        alt=Text("Pre-Norm: norm, sublayer, then add. Post-Norm: sublayer, add, then norm.",
                 "Pre-Norm: norm, sublayer, 덧셈. Post-Norm: sublayer, 덧셈, norm."),
    )  # fmt: skip


def _pre_half(x: float, y: float, sublayer: Words) -> str:
    side = x + 150
    return (
        line((x, y - 20), (x, y + 170), colour=STREAM, width=3)
        + arrow((x, y), (side, y), (side, y + 22))
        + box(side, y + 38, 110, 32, "norm", colour=NORM, shade=0.2)
        + arrow((side, y + 54), (side, y + 74))
        + box(side, y + 92, 110, 36, sublayer, colour=DELTA, shade=0.15)
        + arrow((side, y + 110), (side, y + 138), (x + 13, y + 138), colour=DELTA)
        + plus(x, y + 138, colour=STREAM)
    )


def _post_half(x: float, y: float, sublayer: Words) -> str:
    side = x + 150
    return (
        line((x, y - 20), (x, y + 112), colour=STREAM, width=3)
        + line((x, y + 144), (x, y + 170), colour=STREAM, width=3)
        + arrow((x, y), (side, y), (side, y + 22))
        + box(side, y + 40, 110, 36, sublayer, colour=DELTA, shade=0.15)
        + arrow((side, y + 58), (side, y + 88), (x + 13, y + 88), colour=DELTA)
        + plus(x, y + 88, colour=STREAM)
        + box(x, y + 128, 110, 32, "norm", colour=NORM, shade=0.2)
    )


def plot_eps(eps: float) -> None:
    """The RMS that comes out against the RMS that goes in, epsilon inside the root and after it."""
    size = torch.logspace(-7, 0, 200)
    _, axis = figure(width=6.5)
    inside, after = size / (size.square() + eps).sqrt(), size / (size + eps)
    axis.loglog(size, inside, label=r"inside: $x\,/\sqrt{\mathrm{RMS}^2+\varepsilon}$")
    axis.loglog(size, after, "--", label=r"after: $x\,/\,(\mathrm{RMS}+\varepsilon)$")
    axis.axvline(eps**0.5, color=BLUE, lw=1, ls=":")
    axis.axvline(eps, color=ORANGE, lw=1, ls=":")
    axis.text(eps**0.5 * 1.15, 3, r"$\sqrt{\varepsilon}$", color=BLUE)
    axis.text(eps * 1.15, 3, r"$\varepsilon$", color=ORANGE)
    axis.set(xlabel="RMS of the token", ylabel="RMS of the result", ylim=(1e-5, 10))
    axis.set_title(rf"$\varepsilon$ = {eps:g}")
    axis.legend(loc="lower right")


def plot_growth(
    stream: Sequence[float], updates: Sequence[float], depths: Sequence[int], ratios: Tensor
) -> None:
    """How a Pre-Norm stream and its gradient grow.

    stream: RMS after 0, 1, … updates; updates: RMS of each; ratios (len(depths), seeds): the
    gradient at the input over the one at the last state, for numbers of updates in depths.
    """
    _, (left, right) = figure(2, width=9.5, height=3.6)
    after = range(1, len(stream))
    left.loglog(after, stream[1:], color=STREAM, label="the stream")
    left.loglog(after, updates, ".", color=DELTA, label="each update")
    share = (stream[-1] ** 2 - 1) / (len(stream) - 1)
    left.loglog(after, [(1 + share * n) ** 0.5 for n in after], "k:", lw=1,
                label=rf"$\sqrt{{1+{share:.2f}\,l}}$")  # fmt: skip
    left.set(xlabel="updates so far, l", ylabel="RMS")
    _plain_ticks(left, [1, 3, 10, 30, 100], [0.5, 1, 2, 4, 8])
    left.legend()
    mean = ratios.mean(1)
    right.loglog(depths, ratios, ".", color=STREAM, alpha=0.4)
    right.loglog(depths, mean, "o-", color=STREAM,
                 label=f"measured: like $L^{{{exponent(depths, mean):.2f}}}$")  # fmt: skip
    right.loglog(depths, [(1 + n) ** 0.5 for n in depths], "k:", lw=1, label=r"$\sqrt{1+L}$")
    right.set(xlabel="updates in all, L", ylabel="gradient at the input / at the end")
    _plain_ticks(right, depths, [2, 4, 8, 16])
    right.legend()


def _plain_ticks(axis: Axes, x: Sequence[float], y: Sequence[float]) -> None:
    axis.set_xticks(x, [f"{value:g}" for value in x])
    axis.set_yticks(y, [f"{value:g}" for value in y])
    axis.minorticks_off()


def plot_state_gradients(profiles: Mapping[str, Tensor]) -> None:
    """Gradient at each state, by place; a profile is (seeds, states), its range is shaded."""
    _, axis = figure(width=7.5, height=4)
    for place, profile in profiles.items():
        name, colour, mark = LOOK[place]
        steps = range(profile.shape[1])
        axis.semilogy(steps, profile.median(0).values, mark + "-", color=colour, ms=4,
                      markevery=4, label=name)  # fmt: skip
        axis.fill_between(steps, profile.amin(0), profile.amax(0), color=colour, alpha=0.12, lw=0)
    axis.set(
        xlabel="state of the stream (0: the input)",
        ylabel="gradient at that state",
        ylim=(0.05, 300),
    )
    axis.legend()


def plot_by_depth(measured: Mapping[str, Measured], depths: Sequence[int]) -> None:
    """Input gradient, last FFN's gradient and the first step against depth, every seed a dot."""
    _, axes = figure(3, width=11, height=4)
    titles = (
        "gradient at the input",
        "gradient of the last FFN weight",
        "output moved by one step",
    )
    for axis, title, quantity in zip(axes, titles, Measured._fields, strict=True):
        for place, numbers in measured.items():
            name, colour, mark = LOOK[place]
            values: Tensor = getattr(numbers, quantity)
            power = exponent(depths, values.mean(1))
            axis.loglog(depths, values.mean(1), mark + "-", color=colour, ms=5,
                        label=f"{name}: {power:+.2f}")  # fmt: skip
            axis.loglog(depths, values, ".", color=colour, alpha=0.25, ms=4)
        axis.set(title=title, xlabel="blocks")
        if quantity == "entry":
            axis.set_ylim(0.04, 4)
        axis.set_xticks(depths, [str(n) for n in depths])
        axis.xaxis.minorticks_off()
        axis.legend(title="exponent of depth", fontsize=8, title_fontsize=8)
