"""What the tests of repair share: submissions, where things are in them, nbgrader's own checks."""

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    OverwriteCells,
    OverwriteKernelspec,
    SaveCells,
)

from autograder.demo import Student, hand_in
from autograder.intake import releases
from autograder.match import mark
from autograder.repair import Repaired, repair

UNIT = "02_rms_norm"
STUB = "def rms_norm(x, gain, eps):\n    return x  # mine"
WRITTEN = "norm_is_not_residual"


@cache
def release():
    return releases(Path("no class"))[UNIT]


@cache
def _submission(language: str) -> str:
    return json.dumps(hand_in(UNIT, Student("kim", language)))


def submission(language: str = "en") -> dict[str, Any]:
    return json.loads(_submission(language))


def fixed(notebook: dict[str, Any] | bytes) -> Repaired:
    data = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
    return repair(data, release(), UNIT)


def find(notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
    cells = notebook["cells"]
    return next(c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


def answers(notebook: dict[str, Any]) -> dict[str, str]:
    """The text of every cell in which a student's work counts, by grade_id."""
    marks = [(mark(nbformat.from_dict(c)), c["source"]) for c in notebook["cells"]]  # type: ignore
    return {found["grade_id"]: source for found, source in marks if found.get("solution")}


def sources(notebook: dict[str, Any]) -> list[str]:
    return [cell["source"] for cell in notebook["cells"]]


def place(repaired: Repaired, grade_id: str) -> int:
    return next(
        i
        for i, cell in enumerate(repaired.notebook.cells)
        if mark(cell).get("grade_id") == grade_id
    )


class Nbgrader:
    """nbgrader's own checks on a submission, all that it does before a cell is run."""

    def __init__(self, folder: Path) -> None:
        self.resources: Any = {
            "nbgrader": {
                "notebook": UNIT, "assignment": UNIT, "student": "kim",
                "db_url": f"sqlite:///{folder / 'gradebook.db'}",
            }
        }  # fmt: skip
        with Gradebook(self.resources["nbgrader"]["db_url"]) as book:
            book.add_assignment(UNIT)
        handed_out: Any = nbformat.from_dict({"cells": release().cells, "metadata": {}})
        SaveCells().preprocess(copy.deepcopy(handed_out), self.resources)

    def takes(self, repaired: Repaired) -> None:
        """Assert that it is graded as what was handed out, and nothing in it has to be changed."""
        notebook: Any = nbformat.reads(repaired.written().decode(), as_version=4)
        nbformat.validate(notebook)
        locked = [c["source"] for c in notebook.cells if mark(c).get("locked")]
        for step in (ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells):
            notebook, _ = step().preprocess(notebook, copy.deepcopy(self.resources))
        CheckCellMetadata().preprocess(notebook, self.resources)
        marks = [mark(cell) for cell in notebook.cells if mark(cell)]
        expected = {mark(release().cells[i])["grade_id"]: i for i in release().graded}
        assert sorted(m["grade_id"] for m in marks) == sorted(expected)
        assert [c["source"] for c in notebook.cells if mark(c).get("locked")] == locked
        assert sum(m.get("points", 0) for m in marks) == 20
