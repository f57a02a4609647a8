"""Plots for unit 03: what a nudge moves, what the root is for, how far rotary sees, cache sizes."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor

from blocklab.figures.colours import BLUE, GREY, ORANGE
from blocklab.figures.style import figure


def plot_moved(moved: Mapping[str, Tensor]) -> Figure:
    """How far each output (row) moves when one input (column) is nudged, one grid a name.

    moved: (T, T) each. Exact zeros are white, with a 0; everything else is blue by its logarithm.
    """
    fig, axes = figure(columns=len(moved), width=2.3 * len(moved), height=2.8)
    for ax, (name, values) in zip(axes, moved.items(), strict=True):
        places, ordinals = range(len(values)), range(1, len(values) + 1)
        ax.imshow(values.log10().where(values > 0, torch.nan), cmap="Blues", vmin=-3, vmax=1.5)
        for i, j in (values == 0).nonzero().tolist():
            ax.text(j, i, "0", ha="center", va="center", color="#444444")
        ax.grid(False)
        ax.set(title=name, xlabel="nudged input", xticks=places, xticklabels=ordinals)
        ax.set(yticks=places, yticklabels=ordinals)
    axes[0].set_ylabel("output")
    return fig


def plot_scale(sizes: Sequence[int], spread: Mapping[str, Tensor], slope: Mapping[str, Tensor]):
    """Left: how far scores spread, by d_head; right: how strongly a softmax of them still reacts."""
    fig, (left, right) = figure(columns=2, width=9)
    left.plot(sizes, [d**0.5 for d in sizes], color=GREY, linestyle="--", label=r"$\sqrt{d_{head}}$")
    for (name, values), colour in zip(spread.items(), (ORANGE, BLUE), strict=True):
        left.plot(sizes, values, "o-" , color=colour, label=name)
        right.plot(sizes, slope[name], "o-", color=colour, label=name)
    left.set(xscale="log", yscale="log", xlabel=r"$d_{head}$", ylabel="standard deviation of scores")
    right.set(xscale="log", ylim=(0, 1), xlabel=r"$d_{head}$", ylabel=r"$\sum_j w_j (1 - w_j)$",
              title="how far the weights still react")
    left.set(title="how far the scores spread")
    left.legend()
    return fig
