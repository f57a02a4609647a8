"""The buttons under a picture: plain ipywidgets, the same in 7.7 (Colab) and 8.

Buttons only, since JupyterLab takes the arrow keys of a list for its own.
"""

import json
from collections.abc import Callable, Collection
from functools import partial

import ipywidgets
from IPython.display import display, update_display

from blocklab.text import Text, language
from blocklab.widgets.choice import Choice
from blocklab.widgets.diagrams import EMPTY, Diagram
from blocklab.widgets.masks import Mask
from blocklab.widgets.picture import SIGNS, Picture

PLACE = Text("Place", "칸")
HERE = Text("Place {number}: {label}", "{number}번 칸: {label}")
CHOSEN = Text("Place {number}, chosen: {label}", "고른 칸 {number}번: {label}")
PUT = Text("Put {label} in the chosen place", "고른 칸에 {label} 넣기")
CLEAR = Text("Empty all places", "모든 칸 비우기")
LOOKS = Text("looks ↓  at →", "보는 쪽 ↓  보이는 쪽 →")
MAY = Text("Row {row}, column {column}: may look", "{row}번 행 {column}번 열: 볼 수 있음")
MAY_NOT = Text("Row {row}, column {column}: may not look", "{row}번 행 {column}번 열: 볼 수 없음")
WHOLE = Text("Whole row {row}", "{row}번 행 전체")
CLEAR_MASK = Text("Clear the mask", "mask 비우기")
CODE = Text("As code", "코드")
NO_KERNEL = Text("Run this cell to choose.", "이 셀을 실행하면 고를 수 있습니다.")
_WIDGET = "application/vnd.jupyter.widget-view+json"


class Controls:
    """The widget of one question, with its picture; each cell that shows it shows the same one.

    call: how the code asks it, up to its answer.
    """

    def __init__(
        self, name: str, asked: Diagram | Mask, choice: Choice, call: str, *boxes: ipywidgets.Box
    ) -> None:
        self.name, self.asked, self.choice, self.call = name, asked, choice, call
        self.shown = f"blocklab-{name}"
        self.code = ipywidgets.Text(
            description=str(CODE),
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(width="60em", max_width="100%"),
        )
        self.widget = ipywidgets.VBox([*boxes, self.code])

    def choose(self, answer: str) -> None:
        self.choice.answer = answer
        self.refresh()

    def refresh(self) -> None:
        """Show the choice, wherever this question is on the page."""
        answer = json.dumps(self.choice.answer, ensure_ascii=False)
        self.code.value = f"{self.name} = {self.call}, answer={answer})"
        update_display(Picture(self.asked, self.choice.answer), display_id=self.shown)

    def show(self) -> None:
        """Display the picture and the buttons in the running cell."""
        self.refresh()
        display(Picture(self.asked, self.choice.answer), display_id=self.shown)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        display({_WIDGET: view, "text/plain": str(NO_KERNEL)}, raw=True)


class Places(Controls):
    """A button for each place of a diagram, and a tray of labels for the chosen place."""

    def __init__(self, name: str, diagram: Diagram, choice: Choice) -> None:
        self.diagram, self.place = diagram, 0
        self.places = [
            _button(str(n + 1), "", lambda n=n: self._choose(choice.answer, n))
            for n in range(diagram.slots)
        ]
        self.tray = {
            word: _button(str(label), str(PUT.fill(label=label)), lambda word=word: self._put(word))
            for word, label in diagram.labels.items()
        }
        clear = _button(str(CLEAR), str(CLEAR), lambda: self._choose("", 0))
        wrapped = ipywidgets.Layout(flex_flow="row wrap")
        rows = [ipywidgets.Label(str(PLACE)), *self.places, clear], self.tray.values()
        boxes = [ipywidgets.HBox(list(row), layout=wrapped) for row in rows]
        super().__init__(name, diagram, choice, f'fill_in("{name}"', *boxes)

    def _put(self, word: str) -> None:
        """Put a label in the chosen place and go on to the next empty one."""
        answer = self.diagram.put(self.choice.answer, self.place, word)
        self._choose(answer, self._empty(answer, self.place))

    def _choose(self, answer: str, place: int) -> None:
        self.place = place
        self.choose(answer)

    def _empty(self, answer: str, start: int) -> int:
        """The first empty place from there on, else before it, else the same."""
        words = self.diagram.words(answer)
        around = [*range(start, self.diagram.slots), *range(start)]
        return next((n for n in around if words[n] == EMPTY), start)

    def refresh(self) -> None:
        words = self.diagram.words(self.choice.answer)
        for n, button in enumerate(self.places):
            says = CHOSEN if n == self.place else HERE
            button.tooltip = str(says.fill(number=n + 1, label=self.diagram.label(words[n])))
            button.button_style = "primary" if n == self.place else ""
            button.icon = "caret-right" if n == self.place else ""
        for word, button in self.tray.items() if self.diagram.once else ():
            button.icon = "check-circle" if word in words else "circle-o"
        super().refresh()

    def show(self) -> None:
        self.place = self._empty(self.choice.answer, 0)
        super().show()


class Painter(Controls):
    """A button for each pair of tokens, in a grid, and one for the whole row at its end."""

    def __init__(self, name: str, mask: Mask, choice: Choice) -> None:
        def button(words: str, row: int, columns: Collection[int]) -> ipywidgets.Button:
            turn = partial(mask.turn, row=row, columns=columns)
            return _button(words, words, lambda: self.choose(turn(choice.answer)))

        self.mask, tokens = mask, range(mask.T)
        self.cells = [[button("", i, [j]) for j in tokens] for i in tokens]
        self.whole = [button(str(WHOLE.fill(row=i)), i, tokens) for i in tokens]
        grid = [_heading(w) for w in (LOOKS, *tokens, "")]
        for i in tokens:
            grid += [_heading(i), *self.cells[i], self.whole[i]]
        columns = ipywidgets.Layout(grid_template_columns=f"repeat({mask.T + 2}, max-content)")
        clear = _button(str(CLEAR_MASK), str(CLEAR_MASK), lambda: self.choose(""))
        boxes = ipywidgets.GridBox(grid, layout=columns), ipywidgets.HBox([clear])
        super().__init__(name, mask, choice, f'paint_mask("{name}", T={mask.T}', *boxes)

    def refresh(self) -> None:
        rows = self.mask.rows(self.choice.answer)
        for i, buttons in enumerate(self.cells):
            for j, button in enumerate(buttons):
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


_made: dict[tuple[str, str], Controls] = {}


def controls_of(name: str, asked: Diagram | Mask, choice: Choice) -> Controls:
    """The one widget of a question in the language in use; a new one if the question changed."""
    key = name, language()
    if key not in _made or _made[key].asked != asked:
        is_mask = isinstance(asked, Mask)
        _made[key] = Painter(name, asked, choice) if is_mask else Places(name, asked, choice)
    return _made[key]
