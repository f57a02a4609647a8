"""The picture of one query at work: a row for each token, from its score to what it gives."""

from typing import NamedTuple

from torch import Tensor

from blocklab.figures.attention_grid import KEY, QUERY, VALUE
from blocklab.figures.colours import GREY
from blocklab.figures.diagram import Drawing, box, drawing, line, text, titled
from blocklab.text import Text, both

TOP, HIGH = 58, 34  # of the rows: where the first begins, and the height of each
WIDE, WORD, SCORE, MASK, WEIGHT, VALUES = 480, 104, 168, 266, 292, 446  # where columns are
ONE, POINT = 82, 3.2  # pixels: of a weight of 1, of a score of 1; of a value of 1, as of a weight
COMPONENTS = (Text("who", "누가"), Text("what", "무엇을"))


class Look(NamedTuple):
    """What the token `asks` sees in a sentence of T tokens.

    names: the tokens as words. scores, allowed, weights: (T,), as that token's query has them;
    unmasked: its weights if nothing were hidden. values: (T, 2).
    """

    names: list[Text]
    asks: int
    scores: Tensor
    allowed: Tensor
    weights: Tensor
    unmasked: Tensor
    values: Tensor


def picture(look: Look, root: bool) -> Drawing:
    """The whole picture; root: whether the scores are divided by it."""
    weights, T = look.weights.tolist(), len(look.names)
    shown = [f"{name} {_number(weight)}" for name, weight in zip(look.names, weights, strict=True)]
    return drawing(
        WIDE,
        TOP + HIGH * T + 116,
        _heads(root),
        *(_row(look, j) for j in range(T)),
        *(_arc(look.asks, j, weight) for j, weight in enumerate(weights) if look.allowed[j]),
        _mix(look.names, look.weights[:, None] * look.values),
        alt=Text("Weights of {query}: {shown}.", "{query}의 weight: {shown}.").fill(
            query=look.names[look.asks], shown=", ".join(shown)
        ),
    )


def _heads(root: bool) -> str:
    score = both("q · k / √d_{head}") if root else both("q · k")
    heads = (
        (SCORE, "start", Text("score", "score"), score),
        (MASK, "middle", Text("mask", "mask"), Text("see?", "보이나")),
        (WEIGHT, "start", both("weight"), Text("softmax of the rest", "남은 것의 softmax")),
        (VALUES, "middle", both("value"), Text("who, what", "누가, 무엇")),
    )
    return "".join(
        text(x, 18, name, bold=True, size=13, anchor=anchor)
        + text(x, 38, more, size=12, anchor=anchor)
        for x, anchor, name, more in heads
    )


def _row(look: Look, j: int) -> str:
    y, allowed, asking = TOP + HIGH * (j + 0.5), bool(look.allowed[j]), j == look.asks
    score, weight = float(look.scores[j]), float(look.weights[j])
    colour = QUERY if asking else KEY if allowed else GREY
    long, wide, shade = POINT * score, ONE * weight, 0.3 if asking else 0.12
    return "".join(
        [
            box(WORD, y, 108, 27, colour=colour, shade=shade, dashed=not allowed),
            text(WORD, y, look.names[j], size=13, bold=asking),
            _bar(SCORE, y, long, KEY if allowed else GREY),
            text(SCORE + 5 + long, y, f"{score:.2f}", size=12, anchor="start"),
            text(MASK, y, "✓" if allowed else "−∞", size=14, bold=not allowed),
            _bar(WEIGHT, y, wide, KEY),
            text(WEIGHT + 5 + wide, y, _number(weight), size=13, anchor="start", bold=True),
            text(VALUES, y, "[{:g}, {:g}]".format(*look.values[j].tolist()), size=13),
        ]
    )


def _number(weight: float) -> str:
    """Two digits, or four where they would be zeros; only what is hidden has weight 0."""
    if 0 < weight < 0.0001:
        return "< 0.0001"
    return f"{weight:.2f}" if weight >= 0.005 else f"{weight:.4f}" if weight else "0"


def _bar(x: float, y: float, width: float, colour: str) -> str:
    return f'<rect x="{x:g}" y="{y - 8:g}" width="{width:.2f}" height="16" fill="{colour}"/>'


def _arc(asks: int, j: int, weight: float) -> str:
    """A bow at the left from the asking row to row j, as thick as the weight; a loop to itself."""
    start, end = (TOP + HIGH * (i + 0.5) for i in (asks, j))
    out = 34 - 0.2 * abs(end - start)
    if asks == j:
        start, end, out = start - 9, end + 9, 6
    return (
        f'<path d="M46 {start:g}C{out:g} {start:g} {out:g} {end:g} 46 {end:g}" fill="none" '
        f'stroke="{KEY}" stroke-width="{0.6 + 9 * weight:.1f}" stroke-opacity="0.8"/>'
    )


def _mix(names: list[Text], taken: Tensor) -> str:
    """The result: each component as a bar, put together from what every token gave to it.

    taken (T, 2): weight times value.
    """
    top = TOP + HIGH * len(names) + 14
    title = Text("the mix: Σ weight × value", "결과: Σ weight × value")
    parts = [line((0, top - 6), (WIDE, top - 6), width=1)]
    parts.append(text(52, top + 12, title, bold=True, size=13, anchor="start"))
    for row, component in enumerate(COMPONENTS):
        y, x = top + 44 + 34 * row, 104.0
        parts.append(text(96, y, component, size=13, anchor="end"))
        for j, amount in enumerate(taken[:, row].tolist()):
            parts.append(_piece(x, y, ONE * amount, names[j], amount, shade=0.25 + 0.25 * (j % 2)))
            x += ONE * amount
        total = float(taken[:, row].sum())
        parts.append(text(x + 8, y, f"{total:.2f}", bold=True, size=13, anchor="start"))
    return "".join(parts)


def _piece(x: float, y: float, wide: float, name: Text, amount: float, shade: float) -> str:
    tip = Text("{amount} from {name}", "{name}에서 {amount}").fill(
        amount=f"{amount:.2f}", name=name
    )
    short = str(name).split(" ")[0]
    inside = text(x + wide / 2, y, short, size=12) if wide > 12 * len(short) else ""
    edge = line((x, y - 13), (x, y + 13), width=1, colour=VALUE) if wide > 1 else ""
    rect = (
        f'<rect x="{x:.2f}" y="{y - 13:g}" width="{wide:.2f}" height="26" fill="{VALUE}" '
        f'fill-opacity="{shade:g}"/>'
    )
    return titled(tip, rect, edge, inside)
