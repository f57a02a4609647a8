"""What fill_in and paint_mask return, show and write, with a notebook and without."""

import importlib
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from blocklab.widgets import choice, controls
from blocklab.widgets.controls import Painter, Places

module = importlib.import_module("blocklab.widgets.fill_in")
CELL = 'nine_nodes = fill_in("nine_nodes", answer="")\npre = fill_in("pre_norm_places")\n'


class Notebook:
    """Stands for IPython's shell in a kernel: tells its cell, and takes the next one."""

    def __init__(self) -> None:
        self.cell, self.runs = CELL, 0
        self.kernel = SimpleNamespace(get_parent=self._parent)

    def _parent(self, channel: str) -> dict[str, Any]:
        assert channel == "shell"
        return {"header": {"msg_id": str(self.runs)}, "content": {"code": self.cell}}

    def set_next_input(self, source: str, replace: bool) -> None:
        assert replace
        self.next = source

    def run(self) -> dict[str, str]:
        """Run the cell, and put in its place what it asked for."""
        self.runs, self.next = self.runs + 1, self.cell
        names: dict[str, Any] = {"fill_in": module.fill_in, "paint_mask": module.paint_mask}
        exec(self.cell, names)
        self.cell = self.next
        return names


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    shell = Notebook()
    monkeypatch.setattr(choice, "_choices", {})
    monkeypatch.setattr(controls, "_made", {})
    monkeypatch.setattr(module, "_draft", ("", ""))
    monkeypatch.setattr(module, "_notebook", lambda: shell)
    return shell


def widget(name: str) -> Places:
    made = controls._made[name, "en"]
    assert isinstance(made, Places)
    return made


def painter(name: str) -> Painter:
    made = controls._made[name, "en"]
    assert isinstance(made, Painter)
    return made


def press(name: str, *labels: str) -> None:
    for label in labels:
        widget(name).tray[label].click()


def test_the_code_is_the_answer_until_something_is_chosen(notebook: Notebook) -> None:
    notebook.cell = CELL.replace('answer=""', "answer='x0  x1'")
    before = notebook.cell
    assert notebook.run()["nine_nodes"] == "x0  x1"
    assert notebook.cell == before


def test_running_the_cell_again_writes_the_choice_into_the_code(notebook: Notebook) -> None:
    notebook.run()
    press("nine_nodes", "x0", "norm_attention")
    names = notebook.run()
    assert names["nine_nodes"] == "x0 norm_attention"
    assert notebook.cell == CELL.replace('answer=""', 'answer="x0 norm_attention"')
    assert notebook.run()["nine_nodes"] == "x0 norm_attention"


def test_two_calls_in_one_cell_are_both_written(notebook: Notebook) -> None:
    notebook.run()
    press("nine_nodes", "x0")
    press("pre_norm_places", "norm", "norm")
    names = notebook.run()
    assert (names["nine_nodes"], names["pre"]) == ("x0", "norm norm")
    assert 'answer="x0")\n' in notebook.cell
    assert 'fill_in("pre_norm_places", answer="norm norm")\n' in notebook.cell


def test_code_edited_by_hand_beats_the_picture(notebook: Notebook) -> None:
    notebook.run()
    press("nine_nodes", "x0")
    notebook.cell = CELL.replace('answer=""', 'answer="my own"')
    assert notebook.run()["nine_nodes"] == "my own"
    assert widget("nine_nodes").code.value.endswith('answer="my own")')


def test_without_a_front_end_that_replaces_there_is_a_line_to_copy(notebook: Notebook) -> None:
    notebook.run()
    press("nine_nodes", "x0")
    notebook.run()
    notebook.cell = CELL
    press("nine_nodes", "x1")
    line = 'nine_nodes = fill_in("nine_nodes", answer="x0 x1")'
    assert widget("nine_nodes").code.value == line
    assert notebook.run()["nine_nodes"] == "x0 x1"


def test_a_kernel_that_does_not_tell_its_cell_costs_nothing(notebook: Notebook) -> None:
    notebook.run()
    press("nine_nodes", "x0")
    del notebook.kernel.get_parent
    assert notebook.run()["nine_nodes"] == "x0"
    assert notebook.cell == CELL


def test_a_label_goes_to_the_chosen_place_then_to_the_next_empty_one(notebook: Notebook) -> None:
    notebook.run()
    press("pre_norm_places", "norm", "attention")
    widget("pre_norm_places").places[0].click()
    press("pre_norm_places", "ffn", "add")
    assert choice.choice_of("pre_norm_places").answer == "ffn attention add"


def test_every_control_has_a_name_and_every_button_a_tooltip(notebook: Notebook) -> None:
    notebook.run()
    shown = widget("nine_nodes")
    *rows, code = shown.widget.children
    (label, *places), tray = (row.children for row in rows)
    assert all(control.description for control in (*places, *tray, code))
    assert all(button.tooltip for button in (*places, *tray))
    assert label.value
    press("nine_nodes", "x0")
    assert shown.places[0].tooltip == "Place 1: x₀"
    assert shown.places[1].tooltip == "Place 2, chosen: ?"


def test_each_diagram_has_one_widget_however_often_it_is_shown(notebook: Notebook) -> None:
    notebook.run()
    first = widget("nine_nodes")
    notebook.run()
    assert widget("nine_nodes") is first
    assert widget("pre_norm_places") is not first


MASK = 'two = paint_mask("painted_causal", T=2, answer="")\n'


def signs(made: Painter) -> list[str]:
    return ["".join(button.description for button in row) for row in made.cells]


def test_a_mask_is_painted_and_written_into_the_code(notebook: Notebook) -> None:
    notebook.cell = MASK
    assert notebook.run()["two"] == ""
    made = painter("painted_causal")
    assert signs(made) == ["··", "··"]
    made.cells[0][0].click()
    made.whole[1].click()
    assert signs(made) == ["■·", "■■"]
    assert made.code.value == 'painted_causal = paint_mask("painted_causal", T=2, answer="10 11")'
    assert choice.picture_differs("painted_causal", "")
    assert notebook.run()["two"] == "10 11"
    assert notebook.cell == MASK.replace('""', '"10 11"')
    assert not choice.picture_differs("painted_causal", "10 11")


def test_a_cell_a_row_and_the_mask_can_be_taken_back(notebook: Notebook) -> None:
    notebook.cell = MASK.replace('""', '"11 10"')
    notebook.run()
    made = painter("painted_causal")
    for button, after in (
        (made.cells[0][1], "10 10"),
        (made.whole[1], "10 11"),
        (made.whole[1], "10 00"),
        (made.widget.children[1].children[0], ""),
    ):
        button.click()
        assert choice.choice_of("painted_causal").answer == after


def test_a_mask_edited_by_hand_beats_the_picture(notebook: Notebook) -> None:
    notebook.cell = MASK
    notebook.run()
    painter("painted_causal").cells[0][0].click()
    notebook.cell = MASK.replace('""', '"01 10"')
    assert notebook.run()["two"] == "01 10"
    assert signs(painter("painted_causal")) == ["·■", "■·"]


def test_a_diagram_and_a_mask_in_one_cell_are_both_written(notebook: Notebook) -> None:
    notebook.cell = MASK + 'pre = fill_in("pre_norm_places")'
    notebook.run()
    painter("painted_causal").cells[1][0].click()
    press("pre_norm_places", "norm")
    notebook.run()
    written = 'pre = fill_in("pre_norm_places", answer="norm")'
    assert notebook.cell == MASK.replace('""', '"00 10"') + written


@pytest.mark.parametrize("answer", ["1 0011 1", "x0 <b>", "10,11", "1" * 9, "가 나 다", "\n"])
@pytest.mark.parametrize("T", [0, 1, 2, 3])
def test_no_answer_is_too_strange_for_a_mask(notebook: Notebook, answer: str, T: int) -> None:
    notebook.cell = f'two = paint_mask("painted_causal", {T}, answer={answer!r})'
    assert notebook.run()["two"] == answer
    made = painter("painted_causal")
    assert len(made.cells) == T
    for row in made.cells:
        row[-1].click()
    assert all(row[-1] in "■·" and len(row) == T for row in signs(made))


def test_another_size_has_another_grid_and_the_same_choice(notebook: Notebook) -> None:
    notebook.cell = MASK
    notebook.run()
    painter("painted_causal").cells[1][1].click()
    notebook.cell = MASK.replace("T=2", "T=3")
    assert notebook.run()["two"] == "00 01"
    assert signs(painter("painted_causal")) == ["···", "·■·", "···"]


def test_every_button_of_a_mask_says_what_it_stands_for(notebook: Notebook) -> None:
    notebook.cell = MASK
    notebook.run()
    made = painter("painted_causal")
    made.cells[1][0].click()
    tips = [button.tooltip for row in made.cells for button in row]
    assert tips[1:3] == ["Row 0, column 1: may not look", "Row 1, column 0: may look"]
    grid = made.widget.children[0].children
    assert [child.description or child.tooltip for child in grid if child not in labels(grid)]
    assert [label.value for label in labels(grid)] == ["looks ↓  at →", "0", "1", "", "0", "1"]


def labels(widgets: tuple[Any, ...]) -> list[Any]:
    return [widget for widget in widgets if hasattr(widget, "value")]


OUTSIDE = """
import sys
from blocklab import fill_in, paint_mask
assert paint_mask("painted_causal", 5, answer="1 nonsense") == "1 nonsense"
assert paint_mask("painted_prefix", T=5) == ""
assert fill_in("nine_nodes", answer="x0 nonsense") == "x0 nonsense"
assert fill_in("nine_nodes") == ""
assert "ipywidgets" not in sys.modules
"""
INSIDE = "from IPython.core.interactiveshell import InteractiveShell\n{}InteractiveShell.instance()"


@pytest.mark.parametrize(
    "start",
    ["", INSIDE.format(""), INSIDE.format("InteractiveShell.kernel = 1\n")],
    ids=["plain Python", "a terminal", "grading in a kernel"],
)
def test_without_a_front_end_only_the_code_counts(start: str) -> None:
    environment = {**os.environ, "NBGRADER_EXECUTION": "autograde" if "kernel" in start else ""}
    done = subprocess.run(
        [sys.executable, "-c", start + OUTSIDE], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_unknown_diagram_or_mask_is_an_error_everywhere() -> None:
    with pytest.raises(KeyError, match="no mask is called 'painted'; there is painted_"):
        module.paint_mask("painted", 5)
    with pytest.raises(KeyError, match="nine_nodes"):
        module.fill_in("nine_noodles", answer="x0")
