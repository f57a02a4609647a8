"""Grids of cells, the form of masks, weights and small matrices in unit 03, and their colours."""

from collections.abc import Sequence

from torch import Tensor

from blocklab.figures.colours import BLUE, GREEN, ORANGE
from blocklab.figures.diagram import INK, Words, box, text, titled

Cells = Sequence[Sequence[Words]]
QUERY, KEY, VALUE = BLUE, ORANGE, GREEN
SOURCE, TARGET, ACROSS = GREEN, BLUE, ORANGE
SEEN = 0.42  # how strongly a cell is filled that a mask allows


def grid(
    x: float,
    y: float,
    cells: Cells,
    *,
    colour: str = INK,
    shades: Tensor | None = None,
    cell: tuple[float, float] = (26, 26),
    size: float = 13,
    tips: Cells | None = None,
) -> str:
    """Cells with their words; (x, y) is the upper left corner.

    shades: how strongly each cell is filled, 0 to 1; 0.1 everywhere if not given.
    tips: what appears under the pointer.
    """
    wide, high = cell
    parts = []
    for i, row in enumerate(cells):
        for j, words in enumerate(row):
            shade = 0.1 if shades is None else float(shades[i, j])
            at = (x + wide * (j + 0.5), y + high * (i + 0.5))
            shown = box(*at, wide - 3, high - 3, words, colour=colour, shade=shade, size=size)
            parts.append(titled(tips[i][j], shown) if tips else shown)
    return "".join(parts)


def numbers(values: Tensor) -> list[list[str]]:
    """The values of a matrix as words, to two digits: .24 for 0.24, −∞ for minus infinity."""
    return [[_short(value) for value in row] for row in values.tolist()]


def _short(value: float) -> str:
    if value == float("-inf"):
        return "−∞"
    words = f"{round(value, 2) + 0.0:g}".replace("-", "−")
    return words.removeprefix("0") if words.startswith("0.") else words


def row_names(x: float, y: float, names: Sequence[Words], high: float = 26) -> str:
    """Names to the left of a grid whose upper left corner is (x, y)."""
    return "".join(
        text(x - 6, y + high * (i + 0.5), name, anchor="end", size=13)
        for i, name in enumerate(names)
    )


def column_names(x: float, y: float, names: Sequence[Words], wide: float = 26) -> str:
    """Names above a grid whose upper left corner is (x, y)."""
    return "".join(
        text(x + wide * (j + 0.5), y - 10, name, size=13) for j, name in enumerate(names)
    )
