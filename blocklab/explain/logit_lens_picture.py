"""The picture of a logit lens: favourites by state and position, and one of them more closely."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from blocklab.figures.colours import BLUE, GREEN, GREY
from blocklab.figures.diagram import INK, Drawing, drawing, line, text, titled
from blocklab.text import Text, both

LEFT, TOP, WIDE, HIGH = 92, 52, 22, 36  # of the table: where its cells begin, and their size
GAP, BARS, COLUMNS = 20, 44, 276  # of what is below: space above, where each half has its bars
LONGEST, STEP, HIGHEST = 130, 29, 88  # of those bars: along, from one to the next, and upwards


class Place(NamedTuple):
    """What one state says at one position.

    best: the likeliest characters, and their chances. final: the chance of the last state's answer.
    """

    best: str
    chances: list[float]
    final: float


@dataclass(frozen=True)
class Lens:
    """A recorded logit lens. read, following: T characters; states: by state, T places."""

    read: str
    following: str
    states: list[list[Place]]

    def says(self, state: int, t: int) -> str:
        return self.states[state][t].best[0]

    def answer(self, t: int) -> str:
        return self.says(-1, t)


def visible(characters: str) -> str:
    """Characters as they are shown, blanks and ends of lines as well."""
    return characters.replace(" ", "␣").replace("\n", "⏎")


def state_name(state: int) -> Text:
    if state == 0:
        return both("embedding")
    return Text("block {n}", "block {n}").fill(n=state)


def picture(lens: Lens, t: int, state: int, settled: bool) -> Drawing:
    """The table with one place marked, and that place in detail.

    settled: colour is for the last state's answers; otherwise for what really comes next.
    """
    said = Text(
        "Favourite next character by state and position; marked: {read}, {state}, {word}.",
        "state와 위치마다 가장 유력한 다음 글자. 표시한 칸: {read}, {state}, {word}.",
    ).fill(read=visible(lens.read[t]), state=state_name(state), word=visible(lens.says(state, t)))
    below = TOP + HIGH * len(lens.states) + GAP
    return drawing(
        LEFT + WIDE * len(lens.read) + 4,
        below + 180,
        *_table(lens, settled),
        _frame(t, 0, len(lens.states), width=1.2),
        _frame(t, state, 1, width=3),
        *_favourites(lens.states[state][t], state, below),
        *_rise(lens, t, state, below),
        alt=said,
    )


def _table(lens: Lens, settled: bool) -> Iterator[str]:
    end = LEFT + WIDE * len(lens.read)
    yield text(LEFT - 10, 24, Text("reads", "읽은 글자"), size=13, anchor="end", bold=True)
    yield line((6, TOP - 8), (end, TOP - 8), width=1)
    for t, word in enumerate(lens.read):
        yield text(LEFT + WIDE * (t + 0.5), 24, visible(word), size=16)
    for state, places in enumerate(lens.states):
        y = TOP + HIGH * state
        yield text(LEFT - 10, y + HIGH / 2, state_name(state), size=13, anchor="end")
        for t, place in enumerate(places):
            wanted = lens.answer(t) if settled else lens.following[t]
            colour = (BLUE if settled else GREEN) if place.best[0] == wanted else GREY
            yield _cell(LEFT + WIDE * t, y, place, colour)


def _cell(x: float, y: float, place: Place, colour: str) -> str:
    chance = place.chances[0]
    return (
        f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{WIDE - 2}" height="{HIGH - 2}" rx="3" '
        f'fill="{colour}" fill-opacity="{0.06 + 0.6 * chance:.2f}"/>'
        + text(x + WIDE / 2, y + 13, visible(place.best[0]), size=15, bold=colour != GREY)
        + text(x + WIDE / 2, y + 27, f"{chance:.2f}".removeprefix("0"), size=10)
    )


def _frame(t: int, state: int, states: int, width: float) -> str:
    return (
        f'<rect x="{LEFT + WIDE * t}" y="{TOP + HIGH * state}" width="{WIDE}" '
        f'height="{HIGH * states}" rx="4" fill="none" stroke="{INK}" stroke-width="{width:g}"/>'
    )


def _favourites(place: Place, state: int, y: float) -> Iterator[str]:
    title = Text("{state}: favourites", "{state}: 유력한 글자").fill(state=state_name(state))
    yield text(BARS - 24, y + 8, title, size=13, anchor="start", bold=True)
    for row, (word, chance) in enumerate(zip(place.best, place.chances, strict=True)):
        middle = y + 40 + 26 * row
        yield text(BARS - 14, middle, visible(word), size=15)
        yield _bar(BARS, middle - 8, LONGEST * chance, 16, BLUE)
        percent = f"{100 * chance:.1f} %"
        yield text(BARS + LONGEST * chance + 7, middle, percent, size=13, anchor="start")


def _rise(lens: Lens, t: int, state: int, y: float) -> Iterator[str]:
    """The chance of the last state's answer, after each state."""
    title = Text("‘{word}’, the last state’s answer", "마지막 state의 답 ‘{word}’").fill(
        word=visible(lens.answer(t))
    )
    left, ground = COLUMNS - 16, y + 138
    yield text(left, y + 8, title, size=13, anchor="start", bold=True)
    yield line((left, ground), (left + STEP * len(lens.states), ground), width=1)
    for n, places in enumerate(lens.states):
        x, chance = COLUMNS + STEP * n, places[t].final
        tall = HIGHEST * chance
        bar = _bar(x - 11, ground - tall, 22, tall, BLUE)
        percent = text(x, ground - tall - 10, f"{100 * chance:.0f}", size=12)
        name = text(x, ground + 14, str(n), size=13, bold=n == state)
        yield titled(state_name(n), bar, percent, name)
    note = Text("%, by block (0: embedding)", "block마다, % (0: embedding)")
    yield text(left, ground + 33, note, size=12, anchor="start")


def _bar(x: float, y: float, wide: float, tall: float, colour: str) -> str:
    return f'<rect x="{x:g}" y="{y:.2f}" width="{wide:.2f}" height="{tall:.2f}" fill="{colour}"/>'
