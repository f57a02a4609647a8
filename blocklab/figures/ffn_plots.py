"""Plots of the FFN: its activations, what its width is good for, its share, its memories."""

from collections.abc import Callable, Mapping, Sequence

import torch
from matplotlib import colormaps
from matplotlib.colors import ListedColormap
from torch import Tensor
from torch.nn import functional as F

from blocklab.figures.colours import DELTA, GREY, ORANGE, STREAM
from blocklab.figures.style import figure


def plot_activations(gates: Mapping[str, Callable[[Tensor], Tensor]]) -> None:
    """Gates, each times its own input, and what GPT-2's form of GELU differs by.

    gates: from a number to how far it is let through, by the name of the activation.
    """
    _, (left, middle, right) = figure(3, width=11, height=3.4)
    x = torch.linspace(-4, 4, 801)
    for (name, gate), style in zip(gates.items(), ("-", "-", "--"), strict=False):
        left.plot(x, gate(x), style, label=name)
        middle.plot(x, x * gate(x), style, label=name)
    wide = torch.linspace(-6, 6, 1201, dtype=torch.float64)
    right.plot(wide, F.gelu(wide, approximate="tanh") - F.gelu(wide))
    left.set(title="the gate", xlabel="x", ylabel="share let through")
    middle.set(title="activation = x · gate", xlabel="x", ylim=(-0.6, 3))
    right.set(title="GELU: tanh form − exact form", xlabel="x")
    right.ticklabel_format(axis="y", scilimits=(0, 0))
    middle.legend()


def plot_fits(x: Tensor, target: Tensor, fits: Mapping[str, Tensor]) -> None:
    """A curve, and what several networks make of it, each in a panel of its own."""
    _, axes = figure(len(fits), width=11, height=2.9, sharey=True)
    for axis, (name, fit) in zip(axes, fits.items(), strict=True):
        axis.plot(x, target, color=GREY, lw=4, alpha=0.4, label="target")
        axis.plot(x, fit, color=ORANGE, label="best fit")
        axis.set(title=name, xlabel="x")
    axes[0].legend(loc="lower right")


def plot_shares(parts: Mapping[str, Mapping[str, int]]) -> None:
    """How a model's parameters divide, one bar a model; parts: name of model, of part, number."""
    _, axis = figure(width=9, height=1.2 + 0.55 * len(parts))
    colours = dict(zip(next(iter(parts.values())), (GREY, STREAM, DELTA), strict=True))
    for row, counts in enumerate(parts.values()):
        total, start = sum(counts.values()), 0.0
        for name, count in counts.items():
            share = 100 * count / total
            axis.barh(row, share, left=start, color=colours[name], label=name if not row else None)
            label = f"{share:.1f} %" if share > 5 else ""
            axis.text(start + share / 2, row, label, ha="center", va="center", color="white")
            start += share
    axis.set(xlabel="share of all parameters (%)", xlim=(0, 100), yticks=range(len(parts)))
    axis.set_yticklabels(parts)
    axis.invert_yaxis()
    axis.grid(visible=False)
    axis.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def plot_recall(
    widths: Sequence[int], recalled: Mapping[str, Sequence[float]], coefficients: Tensor
) -> None:
    """How many facts an FFN keeps by its width, and which memories some of the facts fire.

    recalled: a share for each width, by activation; coefficients (facts, d_ff).
    """
    _, (left, right) = figure(2, width=11, height=3.6, width_ratios=(2, 3))
    for (name, shares), mark in zip(recalled.items(), "os", strict=True):
        left.plot(widths, [100 * share for share in shares], mark + "-", label=name)
    left.set(xscale="log", xlabel="memories, $d_{ff}$", ylabel="facts recalled (%)", ylim=(0, 105))
    left.set_xticks(widths, [str(width) for width in widths])
    left.minorticks_off()
    left.legend()
    fired = coefficients.where(coefficients > 0, torch.nan).numpy()
    blues = ListedColormap(colormaps["Blues"](torch.linspace(0.2, 1, 256).numpy()))
    shown = right.imshow(fired, cmap=blues, vmin=0, aspect="auto", interpolation="nearest")
    right.figure.colorbar(shown, ax=right, label="coefficient")
    right.set(xlabel="memory", ylabel="fact", title="white: the memory does not fire")
    right.grid(visible=False)
