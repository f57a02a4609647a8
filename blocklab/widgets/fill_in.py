"""The widget of a diagram: nodes to fill, a tray of labels, and what the drawn block computes."""

from collections.abc import Callable
from html import escape
from typing import Any

import anywidget
import traitlets

from blocklab.text import Text, language
from blocklab.widgets.diagrams import EMPTY, Diagram
from blocklab.widgets.drawing import draw
from blocklab.widgets.front import STYLE, module

WORDS = {
    "tray": Text("Labels", "Label"),
    "hide": Text("Hide this", "설명 숨기기"),
    "clear": Text("Empty all places", "모든 칸 비우기"),
    "how": Text(
        "Drag a label to a place, or choose a place and then a label. By keyboard: the arrow keys "
        "choose, Enter goes from the place to the labels and puts one in, Delete empties a place.",
        "label을 칸으로 끌어 놓거나, 칸을 고른 다음 label을 고르세요. 키보드로는 화살표 키로 "
        "고르고, Enter로 칸에서 label로 옮겨 가 하나를 넣고, Delete로 칸을 비웁니다.",
    ),
    "code": Text(
        "Run this cell again, and the answer moves into the code:",
        "이 셀을 다시 실행하면 답이 코드로 옮겨집니다:",
    ),
}
PUT = Text("{label}: put it in place {place}", "{label}: {place}번 칸에 넣기")
IN_USE = Text("{label}, in use", "{label}, 놓았음")


class FillIn(anywidget.AnyWidget):
    """A diagram to fill in.

    answer: the labels' names in order, with a space between them; place: the node that is being
    filled, from 0; asked: whether what the diagram computes is shown.
    view: all that the page shows of these, made here.
    """

    _esm = module("fill_in")
    _css = STYLE
    language = traitlets.Unicode().tag(sync=True)
    still = traitlets.Unicode().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    answer = traitlets.Unicode().tag(sync=True)
    place = traitlets.Int().tag(sync=True)
    asked = traitlets.Bool().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)

    def __init__(
        self, name: str, diagram: Diagram, answer: str, code_of: Callable[[str], str]
    ) -> None:
        """code_of: the line of code that gives an answer."""
        self.diagram, self.code_of = diagram, code_of
        words = {key: str(said) for key, said in WORDS.items()}
        words |= {"title": str(diagram.title), "question": str(diagram.question)}
        words["ask"] = str(diagram.asks)
        super().__init__(
            language=language(), still=f"blocklab-{name}-{language()}", words=words, answer=answer
        )
        self.place = self._empty_from(0)
        self._refresh()
        self.observe(self._refresh, ["answer", "place", "asked"])
        self.on_msg(self._received)

    def put(self, place: int, label: str) -> None:
        """Put a label in a place and go on to the next empty one; EMPTY empties the place."""
        with self.hold_trait_notifications():
            self.answer = self.diagram.put(self.answer, place, label)
            self.place = place if label == EMPTY else self._empty_from(place)

    def _received(self, _: Any, content: dict[str, Any], buffers: Any) -> None:
        label, place = content["put"]
        self.put(self.place if place is None else place, label)

    def _empty_from(self, start: int) -> int:
        """The first empty place from there on, else before it, else the same."""
        words = self.diagram.words(self.answer)[: self.diagram.slots]
        around = [*range(start, self.diagram.slots), *range(start)]
        return next((n for n in around if words[n] == EMPTY), start)

    def _refresh(self, _: Any = None) -> None:
        used = self.diagram.words(self.answer) if self.diagram.once else ()
        self.view = {
            "drawing": draw(self.diagram, self.answer, self.place),
            "tray": [self._label(word, word in used) for word in self.diagram.labels],
            "reading": self._reading() if self.asked else "",
            "code": self.code_of(self.answer),
        }

    def _label(self, word: str, used: bool) -> dict[str, Any]:
        label = self.diagram.label(word)
        says = PUT.fill(label=IN_USE.fill(label=label) if used else label, place=self.place + 1)
        return {"name": word, "label": label, "used": used, "says": str(says)}

    def _reading(self) -> str:
        """What the diagram computes, as HTML."""
        read = self.diagram.read(self.diagram.words(self.answer))
        lines = "".join(f"<div>{escape(line)}</div>" for line in read.lines)
        paragraphs = "".join(f"<p>{escape(str(text))}</p>" for text in (read.says, *read.notes))
        return f'<div class="blocklab-equations">{lines}</div>{paragraphs}'
