"""A picture with knobs: Python draws it, the front end turns the knobs."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any
from uuid import uuid4

import anywidget
from IPython.display import display
from traitlets import Dict, List, Unicode, observe

from blocklab import text
from blocklab.explain.knobs import Explained, Knob, Menu, Sight, Switch, Value
from blocklab.text import Text, language
from blocklab.widgets.front import STYLE, as_still, module, notebook, show_live

AGAIN = Text("Start again", "처음으로")
RUN = Text("Run this cell to turn the knobs.", "이 셀을 실행하면 값을 바꿔 볼 수 있습니다.")


def show(explained: Explained, **start: Value) -> None:
    """Show a picture, and its knobs where there is a front end that can turn them.

    start: values of knobs by name, in place of those that they start with.
    Raises ValueError for a knob that is not there or a value out of its range.
    """
    values = explained.values(**start)
    still = Still(explained, explained.draw(**values))
    display(still)
    if notebook():
        show_live(Live(explained, values, still.token), str(RUN))


class Still:
    """One setting of the knobs, readable without a kernel; not shown while a live one is.

    token: what the live one finds it by.
    """

    def __init__(self, explained: Explained, sight: Sight) -> None:
        self.title, self.sight, self.token = explained.title, sight, uuid4().hex

    def __repr__(self) -> str:
        return f"{self.title}: {self.sight.sentence}"

    def _repr_html_(self) -> str:
        return as_still(
            self.token,
            f"<strong>{escape(str(self.title))}</strong>{self.sight.drawing._repr_html_()}"
            f"<p>{escape(str(self.sight.sentence))}</p>",
        )


class Live(anywidget.AnyWidget):
    """The picture in a front end: `values` of the knobs come from there, the rest goes there."""

    _esm = module("explain")
    _css = STYLE
    still = Unicode().tag(sync=True)
    language = Unicode().tag(sync=True)
    title = Unicode().tag(sync=True)
    again = Unicode().tag(sync=True)
    knobs = List(Dict()).tag(sync=True)
    values = Dict().tag(sync=True)
    drawing = Unicode().tag(sync=True)
    sentence = Unicode().tag(sync=True)

    def __init__(self, explained: Explained, values: dict[str, Value], still: str) -> None:
        self._explained = explained
        super().__init__(
            still=still,
            language=language(),
            title=str(explained.title),
            again=str(AGAIN),
            knobs=[_described(knob, values[knob.name]) for knob in explained.knobs],
            values=values,
        )

    @observe("values")
    def _draw(self, _: Any) -> None:
        with _speaking(self.language), self.hold_sync():
            sight = self._explained.draw(**self._explained.values(**self.values))
            self.drawing, self.sentence = sight.drawing.svg, str(sight.sentence)


def _described(knob: Knob, start: Value) -> dict[str, Any]:
    """A knob as the front end takes it, its words in the language in use."""
    named = {"name": knob.name, "label": str(knob.label), "start": start}
    if isinstance(knob, Switch):
        return {**named, "kind": "switch"}
    if isinstance(knob, Menu):
        return {**named, "kind": "menu", "options": [[k, str(t)] for k, t in knob.options.items()]}
    return {**named, "kind": "slider", "stops": [[stop, knob.words(stop)] for stop in knob.stops]}


@contextmanager
def _speaking(lang: str) -> Iterator[None]:
    """Speak a language for a while: a widget keeps the one it was made in."""
    before = language()
    text.use(lang)
    try:
        yield
    finally:
        text.use(before)
