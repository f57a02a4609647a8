"""Rows of bars, one under the other, so that the same component stands in the same column."""

from collections.abc import Sequence

from blocklab.figures.colours import GREY
from blocklab.figures.diagram import Words, line, text

DASHED = 'fill="none" stroke="currentColor" stroke-width="1.3" stroke-dasharray="4 3"'


def row(
    x: float, y: float, values: Sequence[float], *, unit: float, step: float, colour: str,
    outlined: Sequence[float] = (), numbers: bool = True, avoid: float | None = None,
) -> str:  # fmt: skip
    """Bars from the line y, the first centred on x, `step` apart; unit: pixels for the value 1.

    outlined: other values, as dashed bars behind them. numbers: each bar has its value at its end,
    or at its foot if the end is near the height `avoid`.
    """
    parts = [line((x - step * 0.38, y), (x + step * (len(values) - 0.62), y), width=1)]
    parts += [_bar(x + i * step, y, v * unit, step, DASHED) for i, v in enumerate(outlined)]
    parts += [
        _bar(x + i * step, y, v * unit, step, f'fill="{colour}"') for i, v in enumerate(values)
    ]
    behind = outlined or [0.0] * len(values)
    for i, (value, other) in enumerate(zip(values, behind, strict=True) if numbers else ()):
        above, below = y - max(value, other, 0) * unit - 10, y - min(value, other, 0) * unit + 11
        up = value > 0 or (value == 0 and other >= 0)
        end, foot = (above, below) if up else (below, above)
        near = avoid is not None and abs(end - avoid) < 9
        parts.append(text(x + i * step, foot if near else end, short(value)))
    return "".join(parts)


def ruler(x: float, y: float, unit: float) -> str:
    """How high the value 1 is in a row."""
    mark = line((x, y), (x, y - unit), width=1.2)
    ends = (line((x - 3, at), (x + 3, at), width=1.2) for at in (y, y - unit))
    return "".join([mark, *ends, text(x - 9, y - unit / 2, "1", size=12)])


def _bar(x: float, y: float, high: float, step: float, look: str) -> str:
    wide = step * 0.6
    return (
        f'<rect x="{x - wide / 2:.1f}" y="{min(y, y - high):.1f}" width="{wide:.1f}" '
        f'height="{abs(high):.1f}" {look}/>'
    )


def level(x: float, end: float, y: float, words: Words, *, colour: str = GREY) -> str:
    """A dashed line across a row, from x to `end`, with what it stands for behind it."""
    name = text(end + 6, y, words, size=13, anchor="start")
    return line((x, y), (end, y), colour=colour, width=1.4, dashed=True) + name


def short(value: float) -> str:
    """A number to three digits, with the sign of mathematics."""
    return f"{round(value, 6) + 0.0:.3g}".replace("-", "−")
