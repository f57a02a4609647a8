"""The buttons under a diagram: plain ipywidgets, the same in 7.7 (Colab) and 8."""

import json

import ipywidgets
from IPython.display import display, update_display

from blocklab.text import Text, language
from blocklab.widgets.choice import Choice
from blocklab.widgets.diagrams import EMPTY, Diagram
from blocklab.widgets.picture import Picture

PLACE = Text("Place", "칸")
CLEAR = Text("Empty all", "모두 비우기")
PUT = Text("Put {label} in the chosen place", "고른 칸에 {label} 넣기")
CODE = Text("As code", "코드")
NO_KERNEL = Text("Run this cell to choose.", "이 cell을 실행하면 고를 수 있습니다.")
_WIDGET = "application/vnd.jupyter.widget-view+json"


class Controls:
    """The widget of one diagram, with its picture; each cell that shows it shows the same one."""

    def __init__(self, name: str, diagram: Diagram, choice: Choice) -> None:
        self.name, self.diagram, self.choice = name, diagram, choice
        wide = ipywidgets.Layout(width="auto")
        self.place = ipywidgets.Dropdown(description=str(PLACE), layout=wide)
        self.place.options = self._places()
        self.tray = {label: self._button(label) for label in diagram.labels}
        clear = ipywidgets.Button(
            description=str(CLEAR), tooltip=str(CLEAR), icon="trash-o", layout=wide
        )
        clear.on_click(lambda _: self._choose("", 0))
        self.code = ipywidgets.Text(
            description=str(CODE), layout=ipywidgets.Layout(width="100%", max_width="60em")
        )
        row = ipywidgets.Layout(flex_flow="row wrap", align_items="center")
        buttons = [self.place, *self.tray.values(), clear]
        self.widget = ipywidgets.VBox([ipywidgets.HBox(buttons, layout=row), self.code])

    def _button(self, name: str) -> ipywidgets.Button:
        label = self.diagram.label(name)
        button = ipywidgets.Button(
            description=label,
            tooltip=str(PUT.fill(label=label)),
            layout=ipywidgets.Layout(width="auto"),
        )
        button.on_click(lambda _: self._put(name))
        return button

    def _put(self, name: str) -> None:
        """Put a label in the chosen place and go on to the next empty one."""
        here: int = self.place.value
        answer = self.diagram.put(self.choice.answer, here, name)
        words = self.diagram.words(answer)[: self.diagram.slots]
        around = [*range(here, len(words)), *range(here)]
        self._choose(answer, next((n for n in around if words[n] == EMPTY), here))

    def _choose(self, answer: str, place: int) -> None:
        self.choice.answer = answer
        self.refresh(place)

    def _places(self) -> list[tuple[str, int]]:
        words = self.diagram.words(self.choice.answer)[: self.diagram.slots]
        return [(f"{n + 1}: {self.diagram.label(word)}", n) for n, word in enumerate(words)]

    def refresh(self, place: int) -> None:
        """Show the choice, wherever this diagram is on the page."""
        self.place.options = self._places()
        self.place.value = place
        used = self.choice.answer.split()
        for name, button in self.tray.items():
            button.icon = "check" if name in used else ""
        answer = json.dumps(self.choice.answer, ensure_ascii=False)
        self.code.value = f'{self.name} = fill_in("{self.name}", answer={answer})'
        update_display(Picture(self.diagram, self.choice.answer), display_id=self._id())

    def _id(self) -> str:
        return f"blocklab-{self.name}"

    def show(self) -> None:
        """Display the picture and the buttons in the running cell."""
        words = self.diagram.words(self.choice.answer)
        self.refresh(words.index(EMPTY) if EMPTY in words[: self.diagram.slots] else 0)
        display(Picture(self.diagram, self.choice.answer), display_id=self._id())
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        display({_WIDGET: view, "text/plain": str(NO_KERNEL)}, raw=True)


_made: dict[tuple[str, str], Controls] = {}


def controls_of(name: str, diagram: Diagram, choice: Choice) -> Controls:
    """The one widget of a diagram in the language in use."""
    key = name, language()
    if key not in _made:
        _made[key] = Controls(name, diagram, choice)
    return _made[key]
