"""A diagram as a drawing: a column of nodes with the stream beside it, rows of numbers, or arrows.

Only what is drawn depends on the answer, so an empty diagram gives nothing away: the additions
and the stream they add to appear with the labels that make them.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

from blocklab.figures.colours import STREAM
from blocklab.figures.diagram import FONT, arrow, box, line, plus, text
from blocklab.widgets.arrow_drawing import draw_arrows
from blocklab.widgets.diagrams import EMPTY, Diagram
from blocklab.widgets.places import node, shown

WIDTH = 340
STEP, HIGH, WIDE = 44, 30, 210  # from node to node; one node
MIDDLE, RAIL = 210, 34


def draw(diagram: Diagram, answer: str, chosen: int | None = None) -> str:
    """The diagram with this answer, as SVG.

    chosen: the place that is being filled; the nodes are buttons then. None: a still picture.
    """
    words = diagram.words(answer)
    nodes = draw_arrows if diagram.arrows else _rows if len(diagram.parts) > 1 else _column
    height, parts = nodes(diagram, words, chosen)
    said = escape(f"{diagram.title}: {diagram.text(answer)}")
    role = "img" if chosen is None else "group"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" style="max-width:100%;height:auto;{FONT}" role="{role}" '
        f'aria-label="{said}">{"".join(parts)}</svg>'
    )


def _column(
    diagram: Diagram, words: Sequence[str], chosen: int | None
) -> tuple[int, Sequence[str]]:
    """Nodes from top to bottom; a line round the side for every addition."""
    parts = [text(MIDDLE, 12, "x", size=15), arrow((MIDDLE, 22), (MIDDLE, _top(0)))]
    for place in range(1, len(words)):
        parts.append(arrow((MIDDLE, _top(place) - STEP + HIGH), (MIDDLE, _top(place))))
    for start, end in diagram.read(words).skips:
        parts.append(_skip(start, end))
    for place, word in enumerate(words):
        frame = box(MIDDLE, _top(place) + HIGH / 2, WIDE, HIGH, **_look(word, place == chosen))
        name = text(MIDDLE, _top(place) + HIGH / 2, shown(diagram, word), size=13.5)
        number = text(MIDDLE - WIDE / 2 + 14, _top(place) + HIGH / 2, str(place + 1), size=11)
        parts.append(node(diagram, word, place, chosen, frame, number, name))
    return _top(len(words)) + 4, parts


def _top(place: int) -> int:
    return 40 + place * STEP


def _skip(start: int, end: int) -> str:
    """The stream on its way round what has been computed, to the node that adds it."""
    leave, side = _top(start) + HIGH + 6, MIDDLE - WIDE / 2
    at = _top(end) + HIGH / 2
    points = ((MIDDLE, leave), (RAIL, leave), (RAIL, at), (side - 12, at))
    return arrow(*points, colour=STREAM, width=3) + plus(side - 16, at, colour=STREAM, solid=True)


def _rows(diagram: Diagram, words: Sequence[str], chosen: int | None) -> tuple[int, Sequence[str]]:
    """One row of numbers a part; where they are widths on a way, with arrows and bars."""
    columns = len(words) // len(diagram.parts)
    wide, high = WIDTH / columns, 112
    largest = max((int(label) for label in diagram.labels if label.isdigit()), default=1)
    parts: list[str] = []
    for place, word in enumerate(words):
        row, column = divmod(place, columns)
        x, y = (column + 0.5) * wide, row * high
        if column == 0:
            name = str(diagram.parts[row]) if row < len(diagram.parts) else ""
            parts.append(text(6, y + 12, name, size=14, anchor="start", bold=True))
        elif diagram.flows:
            parts.append(arrow((x - wide / 2 - 9, y + 62), (x - wide / 2 + 9, y + 62)))
        head = diagram.heads[column] if diagram.heads else ""
        parts.append(text(x, y + 35, head, size=12))
        frame = box(x, y + 62, wide - 22, HIGH, **_look(word, place == chosen))
        number = text(x, y + 62, shown(diagram, word), size=14)
        parts.append(node(diagram, word, place, chosen, frame, number))
        if word.isdigit() and diagram.flows:
            half = min(1.0, int(word) / largest) * (wide - 22) / 2
            parts.append(line((x - half, y + 86), (x + half, y + 86), colour=STREAM, width=6))
    return high * -(-len(words) // columns) - 8, parts


def _look(word: str, chosen: bool) -> dict[str, Any]:
    return {"dashed": word == EMPTY, "shade": 0.14 if chosen else 0.0}
