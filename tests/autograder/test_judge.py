"""What the judge makes of a submission, whatever its code does to its kernel."""

import copy
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.judge import Judge, check_name
from autograder.nbgrader_config import REPOSITORY

pytestmark = pytest.mark.xdist_group("kernel")
UNIT = "02_rms_norm"
SOLVED = nbformat.read(REPOSITORY / "solutions" / "en" / UNIT / f"{UNIT}.ipynb", 4)


def submission(answers: dict[str, str], upto: str = "layer_norm") -> NotebookNode:
    """A solved notebook up to a check, with other answers in it."""
    notebook = copy.deepcopy(SOLVED)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id.endswith("-answer"):
            cell.source = answers.get(grade_id.removesuffix("-answer"), cell.source)
    last = next(i for i, c in enumerate(notebook.cells) if check_name(c) == upto)
    notebook.cells = [c for c in notebook.cells[: last + 1] if c.cell_type == "code"]
    return notebook


def graded(notebook: NotebookNode, tmp_path: Path, student: str = "ada", **settings: Any) -> Judge:
    """The judge, after it has graded a notebook in place."""
    judge = Judge(shutdown_kernel="immediate", timeout=5, **settings)
    resources = {"metadata": {"path": str(tmp_path)}, "nbgrader": {"student": student}}
    judge.preprocess(notebook, resources)
    return judge


def scores(notebook: NotebookNode) -> dict[str, float]:
    return {
        name: float(cell.outputs[-1].data["text/plain"])
        for cell in notebook.cells
        if (name := check_name(cell))
    }


def words(notebook: NotebookNode, name: str) -> str:
    (cell,) = (c for c in notebook.cells if check_name(c) == name)
    return cell.outputs[-1].data["text/html"]


FULL = {"rms_by_hand": 1.0, "rms_norm": 3.0, "RMSNorm": 2.0, "layer_norm": 2.0}
BROKEN = {**FULL, "rms_norm": 0.0, "RMSNorm": 0.0}  # RMSNorm calls rms_norm
DOES = "def rms_norm(x, gain, eps):\n    {}"


def test_a_solved_notebook_gets_all_points(tmp_path):
    notebook = submission({})
    graded(notebook, tmp_path)
    assert scores(notebook) == FULL
    assert all(c.execution_count is None for c in notebook.cells if check_name(c))


def test_a_call_for_help_is_not_run_and_a_learners_own_code_is(tmp_path):
    notebook = submission({})
    call = new_code_cell('hint("rms_norm")')
    own = new_code_cell('said = hint("rms_norm")\nprint(type(said).__name__)')
    notebook.cells += [call, own]
    graded(notebook, tmp_path)
    assert call.outputs == [] and call.execution_count is None
    assert own.outputs[0].text == "Said\n"


@pytest.mark.parametrize(
    "code",
    ["import os; os._exit(0)", "import ctypes; ctypes.string_at(0)"],
    ids=["exit", "segfault"],
)
def test_an_answer_that_kills_its_kernel_loses_its_own_points_only(tmp_path, code):
    notebook = submission({"rms_norm": DOES.format(code)})
    graded(notebook, tmp_path)
    assert scores(notebook) == BROKEN
    assert "The kernel died" in words(notebook, "rms_norm")


def test_an_answer_that_never_ends_loses_its_own_points_only(tmp_path):
    notebook = submission({"rms_norm": DOES.format("while True: pass")})
    graded(notebook, tmp_path, check_timeout=2.0)
    assert scores(notebook) == BROKEN
    assert "no answer within 2 seconds" in words(notebook, "rms_norm")


@pytest.mark.parametrize(
    ("code", "cause"),
    [("1 / 0", "ended with ZeroDivisionError"), ("while True: pass", "did not end in time")],
)
def test_the_report_says_why_an_answer_is_not_there(tmp_path, code, cause):
    notebook = submission({"rms_by_hand": code})
    graded(notebook, tmp_path)
    assert scores(notebook) == {**FULL, "rms_by_hand": 0.0}
    assert cause in words(notebook, "rms_by_hand")


SWALLOWS = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"


@pytest.mark.parametrize(
    "code",
    ["import os; os._exit(0)", "while True: pass", SWALLOWS, "input()"],
    ids=["exits", "loops", "swallows interrupts", "asks"],
)
def test_a_cell_of_the_learners_that_ends_badly_costs_nothing_after_it(tmp_path, code):
    notebook = submission({})
    at = next(i for i, c in enumerate(notebook.cells) if check_name(c) == "rms_norm")
    notebook.cells.insert(at, new_code_cell(code))
    graded(notebook, tmp_path)
    assert scores(notebook) == FULL
    assert any(output.output_type == "error" for output in notebook.cells[at].outputs)


def test_a_kernel_that_a_cell_has_brought_down_costs_the_next_check_nothing(tmp_path, monkeypatch):
    notebook = submission({}, upto="rms_by_hand")
    dies = "import os, threading\nthreading.Timer(0.2, os._exit, [0]).start()"
    notebook.cells.insert(-1, new_code_cell(dies))
    judged = Judge._judged
    monkeypatch.setattr(Judge, "_judged", lambda *args: (time.sleep(1), judged(*args))[1])
    graded(notebook, tmp_path)
    assert scores(notebook) == {"rms_by_hand": 1.0}


CHEATS = {
    "blanks later cells": "get_ipython().input_transformers_cleanup.append(lambda lines: [])",
    "a check of its own": "def check(name): return 100.0",
    "another comparison": "import torch; torch.allclose = lambda *a, **k: True",
    "another examine": "import blocklab.checks.examine as e; e.examine = lambda *a, **k: None",
    "a number from a formatter": (
        "f = get_ipython().display_formatter.formatters['text/plain']\n"
        "f.for_type(str, lambda s, p, c: p.text('100'))"
    ),
}
WRONG = DOES.format("return x")


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS)
def test_no_trick_in_the_kernel_earns_a_mark(tmp_path, cheat):
    notebook = submission({"rms_norm": f"{cheat}\n{WRONG}", "RMSNorm": "class RMSNorm: pass"})
    graded(notebook, tmp_path)
    assert scores(notebook)["rms_norm"] == scores(notebook)["RMSNorm"] == 0.0


def test_an_answer_that_is_equal_to_everything_is_not_right(tmp_path):
    liar = "class Liar:\n    __eq__ = lambda *a: True\n    __gt__ = __lt__ = __ge__ = __eq__\n"
    notebook = submission({"rms_norm": f"{liar}{DOES.format('return Liar()')}"})
    graded(notebook, tmp_path)
    assert scores(notebook)["rms_norm"] == 0.0


def test_the_inputs_are_the_same_for_the_same_work_and_other_for_another(tmp_path):
    (tmp_path / "secret").write_text("s")

    def seed(student: str, answers: dict[str, str], secret: str = "secret") -> int:
        judge = Judge(secret_file=str(tmp_path / secret))
        judge._student, judge._submission = student, repr(answers)
        return judge._seed("rms_norm")

    (tmp_path / "other").write_text("t")
    same = [seed("ada", {"rms_norm": WRONG}) for _ in range(2)]
    others = [seed("bea", {"rms_norm": WRONG}), seed("ada", {}), seed("ada", {}, "other")]
    assert same[0] == same[1]
    assert len({same[0], *others}) == 4


def test_a_notebook_keeps_only_so_much_of_what_its_cells_show(tmp_path):
    notebook = submission({}, upto="rms_by_hand")
    notebook.cells += [new_code_cell("print('x' * 1_000_000)") for _ in range(20)]
    graded(notebook, tmp_path)
    sizes = [len(str(cell.outputs)) for cell in notebook.cells]
    assert 15_000_000 < sum(sizes) < 17_000_000
    assert "left out" in notebook.cells[-1].outputs[0].text
    assert scores(notebook) == {"rms_by_hand": 1.0}


def test_a_display_is_updated_after_the_kernel_that_made_it_has_died(tmp_path):
    sources = [
        "from IPython.display import display, update_display\ndisplay('old', display_id='d');",
        "import os; os._exit(0)",
        "update_display('new', display_id='d')",
    ]
    notebook = submission({}, upto="rms_by_hand")
    notebook.cells += map(new_code_cell, sources)
    graded(notebook, tmp_path)
    (output,) = notebook.cells[-3].outputs
    assert output.data["text/plain"] == "'new'"


def test_a_plain_test_of_an_instructors_still_runs_and_says_where(tmp_path):
    notebook = submission({})
    test = new_code_cell("assert rms_norm is not None")
    test.metadata["nbgrader"] = {"grade": True, "solution": False, "grade_id": "plain", "points": 1}
    notebook.cells.append(test)
    graded(notebook, tmp_path)
    (output,) = test.outputs
    assert "learner's own kernel" in output.data["text/plain"]
