"""Small pictures of arrays for reports: inline SVG that every front end and GitHub can show."""

import math

from torch import Tensor

from blocklab.checks.compare import close_to
from blocklab.checks.property import DEFAULT

CELL, ROWS, COLUMNS = 18, 12, 16
_INK = "currentColor"


def grid(values: Tensor) -> Tensor:
    """An array as a matrix that fits a picture: leading axes folded, the corner cut out."""
    values = values.detach().double()
    if values.dim() == 0:
        values = values.reshape(1, 1)
    return values.reshape(-1, values.shape[-1])[:ROWS, :COLUMNS]


def heat(got: Tensor, want: Tensor, against: Tensor) -> str:
    """`got` as coloured cells, on the scale of `want`; a cross where it differs from `against`.

    The three have one shape. Blue is negative, orange positive; each cell's tooltip has the
    number, so colour is not the only carrier.
    """
    shown, scale = grid(got), float(grid(want).abs().nan_to_num(0, 0, 0).max()) or 1.0
    wrong = ~grid(close_to(got, against, DEFAULT).double()).bool()
    rows, columns = shown.shape
    cells = [
        _cell(r, c, float(shown[r, c]), scale, bool(wrong[r, c]))
        for r in range(rows)
        for c in range(columns)
    ]
    width, height = columns * CELL + 2, rows * CELL + 2
    return (
        f'<svg width="{width}" height="{height}" viewBox="-1 -1 {width} {height}" role="img" '
        f'aria-label="{rows} x {columns} values">{"".join(cells)}</svg>'
    )


def _cell(row: int, column: int, value: float, scale: float, wrong: bool) -> str:
    x, y = column * CELL, row * CELL
    strength = min(abs(value) / scale, 1.0) if math.isfinite(value) else 1.0
    colour = "#d9700f" if value > 0 else "#2f6fc4"
    tip = f"<title>[{row}, {column}] {value:.5g}</title>"
    box = (
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{colour}" '
        f'fill-opacity="{strength:.2f}" stroke="{_INK}" stroke-opacity="0.35">{tip}</rect>'
    )
    if not wrong:
        return box
    a, b = 5, CELL - 5
    return box + (
        f'<path d="M{x + a} {y + a}L{x + b} {y + b}M{x + b} {y + a}L{x + a} {y + b}" '
        f'stroke="{_INK}" stroke-width="1.6"/>'
    )


def numbers(value: Tensor) -> str:
    """A tensor in figures of four digits, cut where it is long."""
    shown = grid(value)[:4, :5]
    words = [[f"{float(v):.4g}" for v in row] for row in shown]
    width = max(len(word) for row in words for word in row)
    lines = [" ".join(word.rjust(width) for word in row) for row in words]
    return "\n".join(lines) + (" …" if value.numel() > shown.numel() else "")
