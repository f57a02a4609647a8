"""The buttons under a picture: plain ipywidgets, the same in 7.7 (Colab) and 8.

Buttons only, since JupyterLab takes the arrow keys of a list for its own.
"""

import json
from collections.abc import Callable, Collection
from typing import Generic, TypeVar

import ipywidgets
from IPython.display import display, update_display

from blocklab.text import Text, language
from blocklab.widgets.choice import Choice
from blocklab.widgets.diagrams import EMPTY, Diagram
from blocklab.widgets.masks import Mask
from blocklab.widgets.picture import SIGNS, PaintedMask, Picture

PLACE = Text("Place", "칸")
HERE = Text("Place {number}: {label}", "{number}번 칸: {label}")
CHOSEN = Text("Place {number}, chosen: {label}", "고른 칸 {number}번: {label}")
PUT = Text("Put {label} in the chosen place", "고른 칸에 {label} 넣기")
CLEAR = Text("Empty all places", "모든 칸 비우기")
LOOKS = Text("looks ↓  at →", "보는 쪽 ↓  보이는 쪽 →")
MAY = Text("Row {row}, column {column}: may look", "{row}번 행 {column}번 열: 볼 수 있음")
MAY_NOT = Text("Row {row}, column {column}: may not look", "{row}번 행 {column}번 열: 볼 수 없음")
FILL = Text("Fill row {row}", "{row}번 행 채우기")
WIPE = Text("Clear the mask", "mask 비우기")
CODE = Text("As code", "코드")
NO_KERNEL = Text("Run this cell to choose.", "이 셀을 실행하면 고를 수 있습니다.")
_WIDGET = "application/vnd.jupyter.widget-view+json"
Asked = TypeVar("Asked", Diagram, Mask)


class Controls(Generic[Asked]):
    """The widget of one question, with its picture; each cell that shows it shows the same one."""

    def __init__(self, name: str, asked: Asked, choice: Choice) -> None:
        self.name, self.asked, self.choice = name, asked, choice
        self.code = ipywidgets.Text(
            description=str(CODE),
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(width="60em", max_width="100%"),
        )
        self.widget = ipywidgets.VBox([*self.boxes(), self.code])

    def boxes(self) -> list[ipywidgets.Box]:
        """The buttons, made once."""
        raise NotImplementedError

    def call(self) -> str:
        """How the code asks this, up to the answer."""
        raise NotImplementedError

    def picture(self) -> object:
        """The choice as it is kept in the notebook's file."""
        raise NotImplementedError

    def choose(self, answer: str) -> None:
        """Take the answer for the choice, and show it."""
        self.choice.answer = answer
        self.refresh()

    def refresh(self) -> None:
        """Show the choice, wherever this question is on the page."""
        answer = json.dumps(self.choice.answer, ensure_ascii=False)
        self.code.value = f"{self.name} = {self.call()}, answer={answer})"
        update_display(self.picture(), display_id=f"blocklab-{self.name}")

    def show(self) -> None:
        """Display the picture and the buttons in the running cell."""
        self.refresh()
        display(self.picture(), display_id=f"blocklab-{self.name}")
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        display({_WIDGET: view, "text/plain": str(NO_KERNEL)}, raw=True)


class Places(Controls[Diagram]):
    """A button for each place of a diagram, and a tray of labels for the chosen place."""

    def boxes(self) -> list[ipywidgets.Box]:
        self.place = 0
        self.places = [
            _button(str(n + 1), "", lambda n=n: self._go(n)) for n in range(self.asked.slots)
        ]
        self.tray = {
            word: _button(str(label), str(PUT.fill(label=label)), lambda word=word: self._put(word))
            for word, label in self.asked.labels.items()
        }
        clear = _button(str(CLEAR), str(CLEAR), self._clear)
        wrapped = ipywidgets.Layout(flex_flow="row wrap")
        rows = [ipywidgets.Label(str(PLACE)), *self.places, clear], self.tray.values()
        return [ipywidgets.HBox(list(row), layout=wrapped) for row in rows]

    def call(self) -> str:
        return f'fill_in("{self.name}"'

    def picture(self) -> Picture:
        return Picture(self.asked, self.choice.answer)

    def _go(self, place: int) -> None:
        self.place = place
        self.refresh()

    def _put(self, word: str) -> None:
        """Put a label in the chosen place and go on to the next empty one."""
        answer = self.asked.put(self.choice.answer, self.place, word)
        self.place = self._empty(answer, self.place)
        self.choose(answer)

    def _clear(self) -> None:
        self.place = 0
        self.choose("")

    def _empty(self, answer: str, start: int) -> int:
        """The first empty place from there on, else before it, else the same."""
        words = self.asked.words(answer)
        around = [*range(start, self.asked.slots), *range(start)]
        return next((n for n in around if words[n] == EMPTY), start)

    def refresh(self) -> None:
        words = self.asked.words(self.choice.answer)
        for n, button in enumerate(self.places):
            chosen = n == self.place
            says = CHOSEN if chosen else HERE
            button.tooltip = str(says.fill(number=n + 1, label=self.asked.label(words[n])))
            button.button_style = "primary" if chosen else ""
            button.icon = "caret-right" if chosen else ""
        for word, button in self.tray.items() if self.asked.once else ():
            button.icon = "check-circle" if word in words else "circle-o"
        super().refresh()

    def show(self) -> None:
        self.place = self._empty(self.choice.answer, 0)
        super().show()


class Painter(Controls[Mask]):
    """A button for each pair of tokens, in a grid; one at the end of a row fills the row."""

    def boxes(self) -> list[ipywidgets.Box]:
        tokens, clear = range(self.asked.T), _button(str(WIPE), str(WIPE), lambda: self.choose(""))
        self.cells = {
            (i, j): _button("", "", lambda i=i, j=j: self._turn(i, j))
            for i in tokens
            for j in tokens
        }
        self.fills = [self._fill(i) for i in tokens]
        grid = [_heading(LOOKS), *map(_heading, tokens), clear]
        for i in tokens:
            grid += [_heading(i), *(self.cells[i, j] for j in tokens), self.fills[i]]
        columns = f"repeat({self.asked.T + 2}, max-content)"
        return [ipywidgets.GridBox(grid, layout=ipywidgets.Layout(grid_template_columns=columns))]

    def _fill(self, row: int) -> ipywidgets.Button:
        words = str(FILL.fill(row=row))
        return _button(words, words, lambda: self._paint(row, range(self.asked.T), "1"))

    def call(self) -> str:
        return f'paint_mask("{self.name}", T={self.asked.T}'

    def picture(self) -> PaintedMask:
        return PaintedMask(self.asked, self.choice.answer)

    def _turn(self, row: int, column: int) -> None:
        seen = self.asked.rows(self.choice.answer)[row][column] == "1"
        self._paint(row, [column], "0" if seen else "1")

    def _paint(self, row: int, columns: Collection[int], sign: str) -> None:
        self.choose(self.asked.paint(self.choice.answer, row, columns, sign))

    def refresh(self) -> None:
        rows = self.asked.rows(self.choice.answer)
        for (i, j), button in self.cells.items():
            seen = rows[i][j] == "1"
            button.description = SIGNS["1" if seen else "0"]
            button.tooltip = str((MAY if seen else MAY_NOT).fill(row=i, column=j))
            button.button_style = "primary" if seen else ""
        super().refresh()


def _heading(words: object) -> ipywidgets.Label:
    layout = ipywidgets.Layout(display="flex", justify_content="center")
    return ipywidgets.Label(str(words), layout=layout)


def _button(words: str, tooltip: str, press: Callable[[], None]) -> ipywidgets.Button:
    layout = ipywidgets.Layout(width="auto", min_width="3.2em")
    button = ipywidgets.Button(description=words, tooltip=tooltip, layout=layout)
    button.on_click(lambda _: press())
    return button


_made: dict[tuple[str, str], Places | Painter] = {}


def controls_of(name: str, asked: Diagram | Mask, choice: Choice) -> Places | Painter:
    """The one widget of a question in the language in use; a new one if the question changed."""
    key = name, language()
    if key not in _made or _made[key].asked != asked:
        made = Painter if isinstance(asked, Mask) else Places
        _made[key] = made(name, asked, choice)
    return _made[key]
