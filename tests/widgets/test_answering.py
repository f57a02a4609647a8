"""What fill_in and paint_mask return, show and write, with a notebook and without."""

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from blocklab.widgets import answering, choice
from blocklab.widgets.fill_in import FillIn
from blocklab.widgets.paint_mask import PaintMask

CELL = 'nine_nodes = fill_in("nine_nodes", answer="")\npre = fill_in("pre_norm_places")\n'


class Notebook:
    """Stands for IPython's shell in a kernel: tells its cell, and takes the next one."""

    def __init__(self) -> None:
        self.cell, self.runs = CELL, 0
        self.kernel = SimpleNamespace(get_parent=self._parent)
        self.payload_manager = SimpleNamespace(write_payload=self._take)

    def _parent(self, channel: str) -> dict[str, Any]:
        assert channel == "shell"
        return {"header": {"msg_id": str(self.runs)}, "content": {"code": self.cell}}

    def _take(self, payload: dict[str, Any]) -> None:
        self.next = payload.pop("text")
        assert payload == {"source": "set_next_input", "replace": True, "clear_output": False}

    def run(self) -> dict[str, str]:
        """Run the cell, and put in its place what it asked for."""
        self.runs, self.next = self.runs + 1, self.cell
        names: dict[str, Any] = {"fill_in": answering.fill_in, "paint_mask": answering.paint_mask}
        exec(self.cell, names)
        self.cell = self.next
        return names


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    shell = Notebook()
    monkeypatch.setattr(choice, "_choices", {})
    monkeypatch.setattr(answering, "_made", {})
    monkeypatch.setattr(answering, "_draft", ("", ""))
    monkeypatch.setattr(answering, "notebook", lambda: shell)
    return shell


def widget(name: str) -> FillIn:
    made = answering._made[name, "en"][1]
    assert isinstance(made, FillIn)
    return made


def painter(name: str) -> PaintMask:
    made = answering._made[name, "en"][1]
    assert isinstance(made, PaintMask)
    return made


def press(name: str, *labels: str) -> None:
    """Put labels in as the page does."""
    for label in labels:
        widget(name)._received(None, {"put": [label, None]}, [])


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
    assert widget("nine_nodes").view["code"].endswith('answer="my own")')


def test_without_a_front_end_that_replaces_there_is_a_line_to_copy(notebook: Notebook) -> None:
    notebook.run()
    press("nine_nodes", "x0")
    notebook.run()
    notebook.cell = CELL
    press("nine_nodes", "x1")
    line = 'nine_nodes = fill_in("nine_nodes", answer="x0 x1")'
    assert widget("nine_nodes").view["code"] == line
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
    widget("pre_norm_places").place = 0
    press("pre_norm_places", "ffn", "add")
    assert choice.choice_of("pre_norm_places").answer == "ffn attention add"


def test_every_label_and_node_says_what_it_does(notebook: Notebook) -> None:
    notebook.run()
    press("nine_nodes", "x0")
    view = widget("nine_nodes").view
    says = {label["name"]: label["says"] for label in view["tray"]}
    assert says["x1"] == "x₁: put it in place 2"
    assert says["x0"] == "x₀, in use: put it in place 2"
    assert 'aria-label="Place 1: x₀"' in view["drawing"]
    assert 'aria-label="Place 2, chosen: empty"' in view["drawing"]


def test_what_the_diagram_computes_is_said_on_request(notebook: Notebook) -> None:
    notebook.cell = 'pre = fill_in("pre_norm_places", answer="norm attention replace norm")'
    notebook.run()
    assert widget("pre_norm_places").view["reading"] == ""
    widget("pre_norm_places").asked = True
    reading = widget("pre_norm_places").view["reading"]
    assert "x₁ = Attention(Norm(x₀)) = " in reading
    assert "x₀ is lost at place 3" in reading


def test_each_diagram_has_one_widget_however_often_it_is_shown(notebook: Notebook) -> None:
    notebook.run()
    first = widget("nine_nodes")
    notebook.run()
    assert widget("nine_nodes") is first
    assert widget("pre_norm_places") is not first


MASK = 'two = paint_mask("painted_causal", T=2, answer="")\n'


def test_a_mask_is_painted_and_written_into_the_code(notebook: Notebook) -> None:
    notebook.cell = MASK
    assert notebook.run()["two"] == ""
    made = painter("painted_causal")
    made.answer = "10 11"
    assert made.code == 'painted_causal = paint_mask("painted_causal", T=2, answer="10 11")'
    assert choice.picture_differs("painted_causal", "")
    assert notebook.run()["two"] == "10 11"
    assert notebook.cell == MASK.replace('""', '"10 11"')
    assert not choice.picture_differs("painted_causal", "10 11")


def test_a_mask_edited_by_hand_beats_the_picture(notebook: Notebook) -> None:
    notebook.cell = MASK
    notebook.run()
    painter("painted_causal").answer = "10 00"
    notebook.cell = MASK.replace('""', '"01 10"')
    assert notebook.run()["two"] == "01 10"
    assert painter("painted_causal").answer == "01 10"


def test_a_diagram_and_a_mask_in_one_cell_are_both_written(notebook: Notebook) -> None:
    notebook.cell = MASK + 'pre = fill_in("pre_norm_places")'
    notebook.run()
    painter("painted_causal").answer = "00 10"
    press("pre_norm_places", "norm")
    notebook.run()
    written = 'pre = fill_in("pre_norm_places", answer="norm")'
    assert notebook.cell == MASK.replace('""', '"00 10"') + written


@pytest.mark.parametrize("answer", ["1 0011 1", "x0 <b>", "10,11", "1" * 9, "가 나 다", "\n"])
@pytest.mark.parametrize("T", [0, 1, 2, 3])
def test_no_answer_is_too_strange_for_a_mask(notebook: Notebook, answer: str, T: int) -> None:
    notebook.cell = f'two = paint_mask("painted_causal", {T}, answer={answer!r})'
    assert notebook.run()["two"] == answer
    assert painter("painted_causal").answer == answer


def test_another_size_has_another_grid_and_the_same_choice(notebook: Notebook) -> None:
    notebook.cell = MASK
    notebook.run()
    before = painter("painted_causal")
    before.answer = "00 01"
    notebook.cell = MASK.replace("T=2", "T=3")
    assert notebook.run()["two"] == "00 01"
    assert painter("painted_causal") is not before


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


def outside(start: str, execution: str = "") -> str:
    """What a process without a front end prints for all of that."""
    environment = {**os.environ, "NBGRADER_EXECUTION": execution}
    done = subprocess.run(
        [sys.executable, "-c", start + OUTSIDE], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("start", ["", INSIDE.format("")], ids=["plain Python", "a terminal"])
def test_without_a_front_end_only_the_code_counts(start: str) -> None:
    assert outside(start) == ""


def test_in_a_graders_kernel_the_code_counts_and_the_answer_is_shown_once() -> None:
    kernel = INSIDE.format("InteractiveShell.kernel = 1\n")
    shown = outside(kernel, "autograde").splitlines()
    assert shown[0] == "Causal mask: 1 nonsense"
    assert len(shown) == 4


def test_an_unknown_diagram_or_mask_is_an_error_everywhere() -> None:
    with pytest.raises(KeyError, match="no mask is called 'painted'; there is painted_"):
        answering.paint_mask("painted", 5)
    with pytest.raises(KeyError, match="nine_nodes"):
        answering.fill_in("nine_noodles", answer="x0")
