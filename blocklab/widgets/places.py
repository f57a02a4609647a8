"""A place of a diagram in its drawing: a button with a name for those who do not see it."""

from html import escape

from blocklab.text import Text
from blocklab.widgets.diagrams import EMPTY, Diagram

FREE = Text("empty", "비어 있음")
PLACE = Text("Place {number}{where}: {label}", "{number}번 칸{where}: {label}")
CHOSEN = Text("Place {number}{where}, chosen: {label}", "고른 칸 {number}번{where}: {label}")
WHERE = Text(", from {start} to {end}", ", {start}에서 {end}(으)로")


def shown(diagram: Diagram, word: str) -> str:
    """What a place reads."""
    return "" if word == EMPTY else diagram.label(word)


def node(diagram: Diagram, word: str, place: int, chosen: int | None, *parts: str) -> str:
    """The parts of one place, as a button; in a still picture (chosen: None) they are just drawn.

    chosen: the place that is being filled.
    """
    if chosen is None:
        return "".join(parts)
    says = CHOSEN if place == chosen else PLACE
    said = says.fill(
        number=place + 1,
        where=_where(diagram, place),
        label=FREE if word == EMPTY else diagram.label(word),
    )
    return (
        f'<g class="blocklab-node" role="button" tabindex="{0 if place == chosen else -1}" '
        f'data-place="{place}" aria-label="{escape(str(said))}" '
        f'aria-pressed="{"true" if place == chosen else "false"}">{"".join(parts)}</g>'
    )


def _where(diagram: Diagram, place: int) -> Text | str:
    """Between what an arrow stands; nothing of a place that is no arrow, or is one too many."""
    if place >= len(diagram.arrows):
        return ""
    arrow = diagram.arrows[place]
    return WHERE.fill(start=arrow.start.name, end=arrow.end.name)
