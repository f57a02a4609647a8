"""Plots of what blocks cost and what they do: parameters, time, the lens, the stream."""

from collections.abc import Mapping, Sequence

from blocklab.figures.colours import BLUE, DELTA, GREEN, GREY, ORANGE, PURPLE, STREAM
from blocklab.figures.style import figure
from blocklab.lab.lens import Lines
from blocklab.lab.stack import Timed

PIECES = {
    "embeddings": BLUE,
    "attention": ORANGE,
    "FFN": GREEN,
    "norms": "black",
    "LM head": PURPLE,
}


def plot_shares(models: Mapping[str, Mapping[str, int]]) -> None:
    """The share of each piece in each model's parameters, as one bar a model.

    models: by name, the parameters of every piece in PIECES.
    """
    _, axis = figure(width=8.5, height=2.6)
    for row, pieces in enumerate(models.values()):
        total, start = sum(pieces.values()), 0.0
        for piece, colour in PIECES.items():
            share = 100 * pieces[piece] / total
            axis.barh(row, share, left=start, color=colour, label=None if row else piece)
            if share > 3:
                axis.text(start + share / 2, row, f"{share:.1f} %", ha="center", va="center",
                          color="white", fontsize=10)  # fmt: skip
            start += share
    axis.set_yticks(range(len(models)), list(models))
    axis.invert_yaxis()
    axis.set(xlabel="% of all parameters", xlim=(0, 100))
    axis.grid(visible=False)
    axis.legend(loc="upper center", bbox_to_anchor=(0.45, 1.28), ncols=5, frameon=False)


def plot_times(
    depths: Sequence[int],
    deeper: Sequence[Timed],
    shapes: Sequence[tuple[int, int]],
    reshaped: Sequence[Timed],
) -> None:
    """One token's way through blocks: ever more of one width, and one size in several shapes."""
    _, (left, right) = figure(2, width=10, height=3.6)
    left.plot(depths, [timed.ms for timed in deeper], "o-", color=STREAM)
    left.set(xlabel="blocks", ylabel="ms for one token", title="one width, more blocks")
    left.set(xlim=(0, None), ylim=(0, None))
    names = [f"{n} × {d}" for n, d in shapes]
    shown = right.bar(names, [timed.ms for timed in reshaped], color=STREAM)
    right.bar_label(shown, fmt="%.1f")
    millions = reshaped[0].parameters / 1e6
    right.set(xlabel="blocks × width", title=f"{millions:.1f} million parameters each")
    right.grid(visible=False, axis="x")


def plot_lens(losses: Mapping[str, Sequence[float]], lines: Lines) -> None:
    """Loss after every state, for models by name, with what three simple guessers lose."""
    _, axis = figure(width=7.5, height=3.8)
    for (name, values), colour, mark in zip(losses.items(), (BLUE, ORANGE), "os", strict=False):
        axis.plot(range(len(values)), values, mark + "-", color=colour, label=name)
    labels = (r"all alike, $\ln V$", "letter frequencies", "the letter before")
    states = len(next(iter(losses.values())))
    for value, label in zip(lines, labels, strict=True):
        axis.hlines(value, -0.2, states - 0.8, color=GREY, lw=1, ls="--", zorder=0)
        axis.text(states - 0.75, value, f"{label}: {value:.3f}", va="center", fontsize=9)
    axis.set_xticks(range(states), ["embedding", *(f"block {n}" for n in range(1, states))])
    axis.set(ylabel="loss through the lens, nats", xlim=(-0.2, states + 1))
    axis.grid(visible=False)
    axis.legend(loc="lower left")


def plot_stream(sizes: Sequence[float], updates: Sequence[float]) -> None:
    """The stream before every update, the updates, and their shares of it.

    sizes: RMS of the stream, n + 1 numbers; updates: RMS of the n updates, attention's first.
    """
    _, (left, right) = figure(2, width=10, height=3.6)
    at = range(1, len(updates) + 1)
    left.plot(range(len(sizes)), sizes, "o-", color=STREAM, label="the stream")
    for first, mark, name in ((0, "^", "attention"), (1, "s", "FFN")):
        written, steps = updates[first::2], at[first::2]
        shares = [size / sizes[n - 1] for n, size in zip(steps, written, strict=True)]
        left.plot(steps, written, mark, color=DELTA, mfc="white" if first else DELTA, label=name)
        right.plot(steps, shares, mark, color=DELTA, mfc="white" if first else DELTA, label=name)
    left.set(xlabel="updates so far", ylabel="RMS")
    right.set(xlabel="update", ylabel="update / stream it is added to", yscale="log")
    left.legend()
    right.legend()
