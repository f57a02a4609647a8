"""What fill_in returns, shows and writes, with a notebook and without."""

import importlib
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from blocklab.widgets import choice, controls
from blocklab.widgets.controls import Controls

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
        names: dict[str, Any] = {"fill_in": module.fill_in}
        exec(self.cell, names)
        self.cell = self.next
        return names


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    shell = Notebook()
    monkeypatch.setattr(choice, "_choices", {})
    monkeypatch.setattr(controls, "_made", {})
    monkeypatch.setattr(module, "_notebook", lambda: shell)
    return shell


def widget(name: str) -> Controls:
    return controls._made[name, "en"]


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


OUTSIDE = """
import sys
from blocklab import fill_in
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


def test_an_unknown_diagram_is_an_error_everywhere() -> None:
    with pytest.raises(KeyError, match="nine_nodes"):
        module.fill_in("nine_noodles", answer="x0")
