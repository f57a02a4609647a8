"""What one sees in a picture at one setting of its knobs."""

from collections.abc import Iterator
from itertools import product
from typing import Any
from xml.etree import ElementTree

from blocklab.explain.knobs import Explained, Menu, Sight, Switch, Value

SVG = "{http://www.w3.org/2000/svg}"


def see(explained: Explained, **values: Any) -> Sight:
    return explained.draw(**explained.values(**values))


def words(sight: Sight) -> list[str]:
    """Everything that is written in the drawing."""
    root = ElementTree.fromstring(sight.drawing.svg)
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def heights(sight: Sight, colour: str) -> list[float]:
    """How long the bars of a colour are, in pixels."""
    root = ElementTree.fromstring(sight.drawing.svg)
    return [float(r.attrib["height"]) for r in root.iter(f"{SVG}rect") if r.get("fill") == colour]


def extremes(explained: Explained) -> Iterator[dict[str, Value]]:
    """Every combination of the first and last value of sliders, and of all that menus offer."""
    choices: list[list[Value]] = []
    for knob in explained.knobs:
        if isinstance(knob, Switch):
            choices.append([False, True])
        elif isinstance(knob, Menu):
            choices.append(list(knob.options))
        else:
            choices.append([knob.stops[0], knob.start, knob.stops[-1]])
    names = [knob.name for knob in explained.knobs]
    return (dict(zip(names, values, strict=True)) for values in product(*choices))
