"""Small helpers for drawings in SVG.

A part is a string of SVG; `drawing` puts parts together. Ink is `currentColor`, the notebook's own
colour of text, so a drawing reads in light and dark themes. Words are a `str`, or a `Text` that
speaks the language in use; `Δ_{attn}` in them sets a subscript. Positions and sizes are in pixels,
y downwards; a box stands around its centre.
"""

import base64
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from blocklab.text import Text

Words = str | Text
Point = tuple[float, float]

INK = "currentColor"
SHAPE = "max-width:100%;height:auto"
FONT = "font-family:system-ui,'Apple SD Gothic Neo','Malgun Gothic','Noto Sans CJK KR',sans-serif"
# Where a notebook is not trusted yet, inline SVG and styles are dropped from outputs, but `hidden`
# and images stay: a still image on white is left. Everywhere else the style swaps the two.
SWAP = (
    "<style>.blocklab-drawing:has(svg)+.blocklab-still{display:none}"
    ".blocklab-drawing[hidden]:has(svg){display:block!important}</style>"
)


@dataclass(frozen=True)
class Drawing:
    """A finished drawing, which shows in a notebook; `alt` says it in words."""

    svg: str
    alt: str

    def __repr__(self) -> str:
        return self.alt

    def _repr_html_(self) -> str:
        still = base64.b64encode(self.svg.encode()).decode()
        return (
            f'{SWAP}<div class="blocklab-drawing" hidden="hidden">{self.svg}</div>'
            f'<div class="blocklab-still"><img alt="{escape(self.alt)}" '
            f'style="background:#fff;{SHAPE}" '
            f'src="data:image/svg+xml;base64,{still}"></div>'
        )


def drawing(width: float, height: float, *parts: str, alt: Words) -> Drawing:
    """Parts on a canvas of that size; `alt` describes it for those who do not see it."""
    said = escape(str(alt))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" style="{SHAPE};{FONT}" role="img" aria-label="{said}">'
        f"{''.join(parts)}</svg>"
    )
    return Drawing(svg, str(alt))


def text(
    x: float, y: float, words: Words, *, size: float = 14, anchor: str = "middle",
    bold: bool = False, colour: str = INK,
) -> str:  # fmt: skip
    """Words centred on y; anchor: which part of them stands at x, "start", "middle" or "end"."""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y + 0.35 * size:g}" font-size="{size:g}" text-anchor="{anchor}" '
        f'fill="{colour}"{weight}>{_with_subscripts(str(words), size)}</text>'
    )


def _with_subscripts(words: str, size: float) -> str:
    drop = 0.25 * size
    low = f'<tspan dy="{drop:g}" font-size="{0.72 * size:g}">\\1</tspan><tspan dy="{-drop:g}">\\2'
    return re.sub(r"_\{(.+?)\}(.?)", low + "</tspan>", escape(words))


def box(
    x: float, y: float, width: float, height: float, words: Words = "", *, colour: str = INK,
    shade: float = 0.0, size: float = 14, dashed: bool = False,
) -> str:  # fmt: skip
    """A rounded box around (x, y) with words in it; shade: how strongly it is filled, 0 to 1."""
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    frame = (
        f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" '
        f'height="{height:g}" rx="6" fill="{colour}" fill-opacity="{shade:g}" stroke="{colour}" '
        f'stroke-width="1.5"{dash}/>'
    )
    return frame + (text(x, y, words, size=size) if words else "")


def line(*points: Point, colour: str = INK, width: float = 1.8, dashed: bool = False) -> str:
    """A line through the points."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
        f'stroke-linejoin="round"{dash}/>'
    )


def arrow(*points: Point, colour: str = INK, width: float = 1.8, dashed: bool = False) -> str:
    """A line through the points with a head at the last one."""
    (x0, y0), (x, y) = points[-2:]
    length, wide = 5 + 2.5 * width, 3 + 1.5 * width
    angle = math.atan2(y - y0, x - x0)
    ux, uy = math.cos(angle), math.sin(angle)
    back = (x - length * ux, y - length * uy)
    left = (back[0] - wide * uy, back[1] + wide * ux)
    right = (back[0] + wide * uy, back[1] - wide * ux)
    corners = " ".join(f"{px:.1f},{py:.1f}" for px, py in ((x, y), left, right))
    head = f'<polygon points="{corners}" fill="{colour}"/>'
    return line(*points[:-1], back, colour=colour, width=width, dashed=dashed) + head


def plus(x: float, y: float, *, colour: str = INK, solid: bool = False) -> str:
    """A circled plus, where two paths are added; solid: white on the colour."""
    shade, cross = (1, "#fff") if solid else (0.15, colour)
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="12" fill="{colour}" fill-opacity="{shade}" '
        f'stroke="{colour}" stroke-width="2"/>'
        f'<path d="M{x - 6.5:g} {y:g}h13M{x:g} {y - 6.5:g}v13" stroke="{cross}" '
        f'stroke-width="2"/>'
    )


def bars(
    x: float, y: float, values: Sequence[float], *, unit: float, colour: str, step: float = 46
) -> str:
    """Upright bars from the line y, the first centred on x, with their values written at them.

    unit: pixels for the value 1; negative values hang down.
    """
    parts = [line((x - step / 2, y), (x + (len(values) - 0.5) * step, y), width=1)]
    for i, value in enumerate(values):
        at, high = x + i * step, abs(value) * unit
        top = y - high if value > 0 else y
        parts.append(
            f'<rect x="{at - step * 0.3:g}" y="{top:g}" width="{step * 0.6:g}" height="{high:g}" '
            f'fill="{colour}"/>'
        )
        label = y - high - 11 if value >= 0 else y + high + 11
        parts.append(text(at, label, f"{value:g}".replace("-", "−"), size=13))
    return "".join(parts)


def titled(tip: Words, *parts: str) -> str:
    """Parts with a tip that appears under the pointer."""
    return f"<g><title>{escape(str(tip))}</title>{''.join(parts)}</g>"
