"""The drawing of a diagram whose places are arrows: each has its label in its middle."""

from collections.abc import Sequence

from blocklab.figures.blocks import HISTORY, INPUT, PROCESSING
from blocklab.figures.colours import GREY, PURPLE
from blocklab.figures.diagram import INK, Point, arrow, box, line, plus, text
from blocklab.text import Text
from blocklab.widgets.arrows import (
    ADD1,
    ADD2,
    ARROWS,
    GIVEN,
    LAST,
    LEFT,
    NORMS,
    RIGHT,
    X0,
    Arrow,
    Node,
)
from blocklab.widgets.diagrams import EMPTY, Diagram
from blocklab.widgets.places import node, shown

COLOURS = {"input": INPUT, "processing": PROCESSING, "history": HISTORY, "recurrence": PURPLE}
WIDE, HIGH = 102, 26  # a label on its arrow
MIDDLE = (LEFT + RIGHT) / 2
HALF = {  # half of the width and of the height that arrows leave to a node
    "state": (15, 15),
    "add": (12, 12),
    "part": (46, 15),
    "output": (28, 12),
    "design": (47, 12),
}
BLOCK = Text("one block of N", "block N개 중 하나")
AFTER = Text("after the last block", "마지막 block 다음")


def draw_arrows(
    diagram: Diagram, words: Sequence[str], chosen: int | None
) -> tuple[int, Sequence[str]]:
    """A decoder from top to bottom with its stream at the left, and two pairs of designs below.

    Words beyond the last arrow stand in rows under it.
    """
    nodes = dict.fromkeys(end for one in (*ARROWS, *GIVEN) for end in (one.start, one.end))
    parts = [*_words(), *map(_node, nodes), *(arrow(*_ends(one)) for one in GIVEN)]
    for place, word in enumerate(words):
        drawn = _labelled(diagram, word, place, place == chosen)
        parts.append(node(diagram, word, place, chosen, *drawn))
    rows = -(-(len(words) - len(ARROWS)) // 3)
    return NORMS + 20 + rows * (HIGH + 6), parts


def _words() -> list[str]:
    """What is written beside the arrows."""
    high = ADD2 - X0 + 48
    return [
        box(MIDDLE, (X0 + ADD2) / 2, 2 * MIDDLE - 2, high, colour=GREY, dashed=True),
        text(MIDDLE, (X0 + ADD1) / 2, BLOCK, size=12),
        text(LEFT + 10, LAST - 35, AFTER, size=12, anchor="start"),
    ]


def _node(end: Node) -> str:
    (x, y), (half, _) = end.at, HALF[end.kind]
    match end.kind:
        case "add":
            return plus(x, y)
        case "part":
            return box(x, y, 2 * half, 30, end.short, size=13)
        case "state":
            ring = f'<circle cx="{x}" cy="{y}" r="{half}" fill="none" stroke="{INK}"/>'
            return ring + text(x, y, end.short, size=15)
    return text(x, y, end.short, bold=True)


def _ends(one: Arrow) -> tuple[Point, Point]:
    """Where an arrow leaves its first node, and where it meets the other."""
    (x, y), (to_x, to_y) = one.start.at, one.end.at
    (wide, high), (to_wide, to_high) = HALF[one.start.kind], HALF[one.end.kind]
    if x == to_x:
        return (x, y + high), (x, to_y - to_high)
    side = 1 if to_x > x else -1
    return (x + side * wide, y), (to_x - side * to_wide, y)


def _labelled(diagram: Diagram, word: str, place: int, chosen: bool) -> list[str]:
    """The label of a place in its box, and the arrow that it stands on."""
    (x, y), colour = _middle(place), COLOURS.get(word, INK)
    shade = (0.14 if chosen else 0.0) + (0.0 if word == EMPTY else 0.1)
    return [
        *(_around(place, colour, word == "history") if place < len(ARROWS) else ()),
        box(x, y, WIDE, HIGH, colour=colour, shade=shade, dashed=word == EMPTY),
        text(x - WIDE / 2 + 7, y, str(place + 1), size=11, anchor="start"),
        text(x + 10, y, shown(diagram, word), size=13),
    ]


def _middle(place: int) -> Point:
    """Where a label stands: on its arrow, or, if there are too many of them, under all arrows."""
    if place >= len(ARROWS):
        row, column = divmod(place - len(ARROWS), 3)
        return MIDDLE + (column - 1) * (WIDE + 12), NORMS + 36 + row * (HIGH + 6)
    (x, y), (to_x, to_y) = _ends(ARROWS[place])
    return (x, (y + to_y) / 2) if x == to_x else (MIDDLE, y)


def _around(place: int, colour: str, dashed: bool) -> list[str]:
    """An arrow that makes room for its label."""
    (x, y), (start, end) = _middle(place), _ends(ARROWS[place])
    if start[0] == end[0]:
        before, after = (x, y - HIGH / 2), (x, y + HIGH / 2)
    else:
        half = WIDE / 2 if start[0] < end[0] else -WIDE / 2
        before, after = (x - half, y), (x + half, y)
    into = line(start, before, colour=colour, dashed=dashed)
    return [into, arrow(after, end, colour=colour, dashed=dashed)]
