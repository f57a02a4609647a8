"""The buttons under a diagram: plain ipywidgets, the same in 7.7 (Colab) and 8.

Buttons only, since JupyterLab takes the arrow keys of a list for its own.
"""

import json
from collections.abc import Callable

import ipywidgets
from IPython.display import display, update_display

from blocklab.text import Text, language
from blocklab.widgets.choice import Choice
from blocklab.widgets.diagrams import EMPTY, Diagram
from blocklab.widgets.picture import Picture

PLACE = Text("Place", "칸")
HERE = Text("Place {number}: {label}", "{number}번 칸: {label}")
CHOSEN = Text("Place {number}, chosen: {label}", "고른 칸 {number}번: {label}")
PUT = Text("Put {label} in the chosen place", "고른 칸에 {label} 넣기")
CLEAR = Text("Empty all places", "모든 칸 비우기")
CODE = Text("As code", "코드")
NO_KERNEL = Text("Run this cell to choose.", "이 셀을 실행하면 고를 수 있습니다.")
_WIDGET = "application/vnd.jupyter.widget-view+json"


class Controls:
    """The widget of one diagram, with its picture; each cell that shows it shows the same one."""

    def __init__(self, name: str, diagram: Diagram, choice: Choice) -> None:
        self.name, self.diagram, self.choice, self.place = name, diagram, choice, 0
        self.places = [
            _button(str(n + 1), "", lambda n=n: self.refresh(n)) for n in range(diagram.slots)
        ]
        self.tray = {
            word: _button(str(label), str(PUT.fill(label=label)), lambda word=word: self._put(word))
            for word, label in diagram.labels.items()
        }
        clear = _button(str(CLEAR), str(CLEAR), lambda: self._choose("", 0))
        self.code = ipywidgets.Text(
            description=str(CODE),
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(width="60em", max_width="100%"),
        )
        wrapped = ipywidgets.Layout(flex_flow="row wrap")
        rows = [ipywidgets.Label(str(PLACE)), *self.places, clear], self.tray.values()
        boxes = [ipywidgets.HBox(list(row), layout=wrapped) for row in rows]
        self.widget = ipywidgets.VBox([*boxes, self.code])

    def _put(self, word: str) -> None:
        """Put a label in the chosen place and go on to the next empty one."""
        answer = self.diagram.put(self.choice.answer, self.place, word)
        self._choose(answer, self._empty(answer, self.place))

    def _choose(self, answer: str, place: int) -> None:
        self.choice.answer = answer
        self.refresh(place)

    def _empty(self, answer: str, start: int) -> int:
        """The first empty place from there on, else before it, else the same."""
        words = self.diagram.words(answer)
        around = [*range(start, self.diagram.slots), *range(start)]
        return next((n for n in around if words[n] == EMPTY), start)

    def refresh(self, place: int) -> None:
        """Show the choice and the chosen place, wherever this diagram is on the page."""
        self.place = place
        words = self.diagram.words(self.choice.answer)
        for n, button in enumerate(self.places):
            says = CHOSEN if n == place else HERE
            button.tooltip = str(says.fill(number=n + 1, label=self.diagram.label(words[n])))
            button.button_style = "primary" if n == place else ""
            button.icon = "caret-right" if n == place else ""
        for word, button in self.tray.items() if self.diagram.once else ():
            button.icon = "check-circle" if word in words else "circle-o"
        answer = json.dumps(self.choice.answer, ensure_ascii=False)
        self.code.value = f'{self.name} = fill_in("{self.name}", answer={answer})'
        update_display(Picture(self.diagram, self.choice.answer), display_id=self._id())

    def _id(self) -> str:
        return f"blocklab-{self.name}"

    def show(self) -> None:
        """Display the picture and the buttons in the running cell."""
        self.refresh(self._empty(self.choice.answer, 0))
        display(Picture(self.diagram, self.choice.answer), display_id=self._id())
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        display({_WIDGET: view, "text/plain": str(NO_KERNEL)}, raw=True)


def _button(words: str, tooltip: str, press: Callable[[], None]) -> ipywidgets.Button:
    layout = ipywidgets.Layout(width="auto", min_width="3.2em")
    button = ipywidgets.Button(description=words, tooltip=tooltip, layout=layout)
    button.on_click(lambda _: press())
    return button


_made: dict[tuple[str, str], Controls] = {}


def controls_of(name: str, diagram: Diagram, choice: Choice) -> Controls:
    """The one widget of a diagram in the language in use."""
    key = name, language()
    if key not in _made:
        _made[key] = Controls(name, diagram, choice)
    return _made[key]
