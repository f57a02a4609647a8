"""One look for all plots: a white card that reads well in a light and in a dark notebook."""

from typing import Any

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.figure import Figure

from blocklab.figures.colours import BLUE, GREEN, GREY, ORANGE, PURPLE

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, GREY)
LOOK: dict[Any, Any] = {
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#444444",
    "axes.titlesize": 12,
    "axes.labelsize": 11,
    "grid.color": "#DDDDDD",
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
}


def figure(
    columns: int = 1, rows: int = 1, *, width: float = 7.5, height: float = 3.6, **subplots: Any
) -> tuple[Figure, Any]:
    """A figure and its axes, as `plt.subplots` would give them, in the look of the course.

    width, height: of the whole figure, in inches. subplots: passed on to `Figure.subplots`.
    Nothing is changed for figures made in another way.
    """
    fig = plt.figure(figsize=(width, height), dpi=110, facecolor="white", layout="constrained")
    with plt.rc_context(LOOK):
        return fig, fig.subplots(rows, columns, **subplots)
