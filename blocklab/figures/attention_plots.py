"""Plots for unit 03: what a nudge moves, what the root is for, how far rotary sees, cache sizes."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor

from blocklab.figures.colours import BLUE, GREEN, GREY, ORANGE
from blocklab.figures.style import figure

GIB = 2**30


def plot_moved(moved: Mapping[str, Tensor]) -> Figure:
    """How far each output (row) moves when one input (column) is nudged, one grid a name.

    moved: (T, T) each. Exact zeros are white, with a 0; everything else is blue by its logarithm.
    """
    fig, axes = figure(columns=len(moved), width=2.3 * len(moved), height=2.8)
    for ax, (name, values) in zip(axes, moved.items(), strict=True):
        places, ordinals = range(len(values)), range(1, len(values) + 1)
        shown = values.log10().where(values > 0, torch.nan)
        ax.imshow(shown.numpy(), cmap="Blues", vmin=-3, vmax=1.5)
        for i, j in (values == 0).nonzero().tolist():
            ax.text(j, i, "0", ha="center", va="center", color="#444444")
        ax.grid(False)
        ax.set(title=name, xlabel="nudged input", xticks=places, xticklabels=ordinals)
        ax.set(yticks=places, yticklabels=ordinals)
    axes[0].set_ylabel("output")
    return fig


def plot_scale(
    sizes: Sequence[int],
    spread: Mapping[str, Sequence[float]],
    slope: Mapping[str, Sequence[float]],
) -> Figure:
    """By d_head: how far scores spread (left), and how far their softmax still reacts (right)."""
    fig, (left, right) = figure(columns=2, width=9)
    for name, colour in zip(spread, (ORANGE, BLUE), strict=True):
        left.plot(sizes, spread[name], "o", color=colour, label=name)
        right.plot(sizes, slope[name], "o-", color=colour, label=name)
    left.plot(sizes, [d**0.5 for d in sizes], "--", color=GREY, label=r"$\sqrt{d_{head}}$")
    left.set(
        xscale="log",
        yscale="log",
        xlabel=r"$d_{head}$",
        ylabel="standard deviation",
        title="how far the scores spread",
    )
    right.set(
        xscale="log",
        ylim=(0, 1),
        xlabel=r"$d_{head}$",
        ylabel=r"$\sum_j w_j (1 - w_j)$",
        title="how far the weights still react",
    )
    left.legend()
    return fig


def plot_distance(distances: Tensor, pairs: Mapping[str, Tensor], together: Tensor) -> Figure:
    """What single pairs add to a rotary score at each distance (left), and all of them (right)."""
    fig, (left, right) = figure(columns=2, width=9, sharey=True)
    for name, values in pairs.items():
        left.plot(distances, values, label=name)
    right.plot(distances, together, color=BLUE)
    left.set(
        xlabel="distance in tokens", ylabel="cosine of the angle between", title="single pairs"
    )
    right.set(xlabel="distance in tokens", title="mean over all pairs")
    left.set_ylim(-1.5, 1.1)
    left.legend(loc="lower center", ncols=len(pairs), fontsize=9, columnspacing=1)
    return fig


def plot_cache(lengths: Sequence[int], sizes: Mapping[str, Sequence[int]], weights: int) -> Figure:
    """Bytes of a KV cache by the number of tokens, beside the bytes of the model's weights."""
    fig, ax = figure()
    for (name, values), colour in zip(sizes.items(), (ORANGE, BLUE, GREEN), strict=True):
        ax.plot(lengths, [value / GIB for value in values], "o-", color=colour, label=name)
    ax.axhline(weights / GIB, color=GREY, linestyle="--", label="the model's weights")
    ax.set(xscale="log", yscale="log", xlabel="tokens in the cache", ylabel="GiB")
    ax.set_xticks(lengths, [f"{length // 1024}k" for length in lengths])
    ax.set_yticks([1 / 16, 1 / 4, 1, 4, 16, 64], ["1/16", "1/4", "1", "4", "16", "64"])
    ax.minorticks_off()
    ax.legend()
    return fig
