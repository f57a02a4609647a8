"""What an explaining picture is made of: its knobs, and what one sees at each setting of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from blocklab.figures.diagram import Drawing
from blocklab.text import Text, both

Value = float | str | bool
NO_UNIT = both("")


class Slider(NamedTuple):
    """A number from low to high in steps of `step`; whole where `start` is an int.

    unit: what stands behind the number.
    """

    name: str
    label: Text
    low: float
    high: float
    step: float
    start: float
    unit: Text = NO_UNIT

    @property
    def stops(self) -> list[float]:
        """The numbers it moves through."""
        steps = round((self.high - self.low) / self.step)
        return [type(self.start)(round(self.low + i * self.step, 9) + 0) for i in range(steps + 1)]

    def words(self, value: float) -> str:
        """A number as it is written beside the slider."""
        digits = len(f"{self.step:.9g}".partition(".")[2])
        return _with_unit(f"{value:,.{digits}f}", self.unit)

    def take(self, value: Any) -> float:
        """The nearest step, as `draw` gets it; raises ValueError unless it is in the range."""
        if not _is_number(value) or not self.low <= value <= self.high:
            raise ValueError(f"{self.name}={value!r}: a number from {self.low:g} to {self.high:g}")
        return min(self.stops, key=lambda stop: abs(stop - value))


class Stops(NamedTuple):
    """A slider through numbers that are not evenly spaced, such as 0.01, 0.1, 1, 10."""

    name: str
    label: Text
    stops: Sequence[float]
    start: float
    unit: Text = NO_UNIT

    def words(self, value: float) -> str:
        """A number as it is written beside the slider."""
        return _with_unit(f"{value:,.9g}", self.unit)

    def take(self, value: Any) -> float:
        """The value as `draw` gets it; raises ValueError unless it is one of the stops."""
        if not _is_number(value) or value not in self.stops:
            raise ValueError(f"{self.name}={value!r}: one of {', '.join(map(str, self.stops))}")
        return type(self.start)(value)


class Menu(NamedTuple):
    """One of several options; `options` has what each is called."""

    name: str
    label: Text
    options: Mapping[str, Text]
    start: str

    def take(self, value: Any) -> str:
        """The value as `draw` gets it; raises ValueError unless it is one of the options."""
        if not isinstance(value, str) or value not in self.options:
            raise ValueError(f"{self.name}={value!r}: one of {', '.join(self.options)}")
        return value


class Switch(NamedTuple):
    """On or off."""

    name: str
    label: Text
    start: bool

    def take(self, value: Any) -> bool:
        """The value as `draw` gets it; raises ValueError unless it is True or False."""
        if not isinstance(value, bool):
            raise ValueError(f"{self.name}={value!r}: True or False")
        return value


Knob = Slider | Stops | Menu | Switch


class Sight(NamedTuple):
    """What one setting of the knobs gives: a drawing, and a sentence on what one sees in it.

    A drawing up to 480 wide has its knobs at its side, and words that read on a phone.
    """

    drawing: Drawing
    sentence: Text


class Explained(NamedTuple):
    """A picture with knobs; `draw` takes the value of each knob by its name."""

    name: str
    title: Text
    knobs: Sequence[Knob]
    draw: Callable[..., Sight]

    def values(self, **chosen: Any) -> dict[str, Value]:
        """Every knob's value: the one chosen, or the one it starts with.

        Raises ValueError for a knob that is not there, and for a value out of its range.
        """
        known = {knob.name: knob for knob in self.knobs}
        if strange := [name for name in chosen if name not in known]:
            raise ValueError(f"{self.name} has no {strange[0]!r}: its knobs are {', '.join(known)}")
        return {name: knob.take(chosen.get(name, knob.start)) for name, knob in known.items()}


def sentences(*texts: Text) -> Text:
    """Several sentences as one text."""
    return Text(" ".join(t.en for t in texts), " ".join(t.ko for t in texts))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _with_unit(number: str, unit: Text) -> str:
    return f"{number} {unit}".strip().replace("-", "−")
