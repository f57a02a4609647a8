"""A puzzle has a stub, a check and hints, and nobody grades it."""

import nbformat
import pytest

from autograder.judge import check_name
from blocklab import catalogue
from course import build

PUZZLES = [e for e in catalogue.exercises().values() if e.puzzle]


def cells(folder: str, unit: str) -> dict[str, nbformat.NotebookNode]:
    notebook = nbformat.read(build.ROOT / folder / "en" / unit / f"{unit}.ipynb", as_version=4)
    return {cell.id: cell for cell in notebook.cells}


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
def test_its_cells_are_there_and_not_recorded(puzzle):
    released, solved = (cells(folder, puzzle.unit) for folder in ("exercises", "solutions"))
    ids = [f"{part}-{puzzle.name}" for part in ("puzzle", "check", "hint")]
    assert [i for i in released if i in ids] == ids
    for found in (released, solved):
        assert not any("nbgrader" in found[i].metadata for i in ids)
        assert check_name(found[ids[1]]) is None
    assert released[ids[0]].source != solved[ids[0]].source
    assert "SOLUTION" not in released[ids[0]].source


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
def test_it_has_no_points(puzzle):
    assert puzzle.points == 0
