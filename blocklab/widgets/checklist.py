"""A list of statements to tick; what is ticked stays in the learner's record."""

from collections.abc import Sequence
from uuid import uuid4

import anywidget
from IPython.display import display, update_display
from traitlets import Int, List, Unicode, observe

from blocklab import record
from blocklab.study import prose
from blocklab.text import Text, language
from blocklab.widgets.front import STYLE, as_still, module, notebook, show_live

TITLE = Text("My answer says:", "내 답에는 이런 내용이 있습니다.")
RUN = Text("Run this cell to tick them.", "이 셀을 실행하면 표시할 수 있습니다.")


def show(name: str, items: Sequence[Text]) -> None:
    """Show the checklist of a written question, with the ticks that are recorded.

    Where there is no front end it can be read, not ticked.
    """
    words = [str(item) for item in items]
    ticked = [i for i in record.read().get(name, {}).get("ticked", []) if i in range(len(words))]
    still = Still(words, ticked)
    if notebook() is None:
        print(still)
        return
    display(still, display_id=still.token)
    show_live(Checklist(name, words, ticked, still.token), str(RUN))


class Still:
    """The list as it was ticked, readable without a kernel; not shown while a live one is."""

    def __init__(self, words: Sequence[str], ticked: Sequence[int], token: str = "") -> None:
        self.words, self.ticked, self.token = words, ticked, token or uuid4().hex

    def _lines(self) -> list[str]:
        return [f"{'☑' if i in self.ticked else '☐'} {w}" for i, w in enumerate(self.words)]

    def __repr__(self) -> str:
        return "\n".join([str(TITLE), *self._lines()])

    def _repr_html_(self) -> str:
        lines = "<br>".join(map(prose.html, self._lines()))
        return as_still(self.token, f"<strong>{TITLE}</strong><br>{lines}")


class Checklist(anywidget.AnyWidget):
    """The list in a front end. `ticked` comes from there, and goes into the record."""

    _esm = module("checklist")
    _css = STYLE
    still = Unicode().tag(sync=True)
    language = Unicode().tag(sync=True)
    title = Unicode().tag(sync=True)
    items = List(Unicode()).tag(sync=True)
    ticked = List(Int()).tag(sync=True)

    def __init__(self, name: str, words: Sequence[str], ticked: list[int], still: str) -> None:
        self._name, self._words = name, words
        super().__init__(
            still=still,
            language=language(),
            title=str(TITLE),
            items=[prose.html(word) for word in words],
            ticked=ticked,
        )

    @observe("ticked")
    def _remember(self, _: object) -> None:
        record.tick(self._name, self.ticked)
        seen = Still(self._words, self.ticked, self.still)
        update_display(seen, display_id=self.still)
