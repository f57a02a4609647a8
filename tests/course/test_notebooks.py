"""The committed notebooks do what they promise when somebody runs them."""

import os
import time

import nbformat
import pytest
from nbclient import NotebookClient

from course import build, source

UNITS = source.units()
GRADED = build.graded(UNITS)


def run(path: str, tmp_path, allow_errors: bool = False) -> nbformat.NotebookNode:
    """The committed notebook, run from top to bottom in a home of its own."""
    notebook = nbformat.read(build.ROOT / path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    client = NotebookClient(notebook, timeout=120, allow_errors=allow_errors, resources=resources)
    client.execute(env={**os.environ, "BLOCKLAB_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"})
    return notebook


def scores(notebook: nbformat.NotebookNode) -> dict[str, tuple[float, float]]:
    """Score and points of every check cell, as nbgrader reads them."""
    found = {}
    for cell in notebook.cells:
        graded = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and graded.get("grade"):
            found[graded.grade_id] = (float(cell.outputs[-1].data["text/plain"]), graded.points)
    return found


def stderr(notebook: nbformat.NotebookNode) -> list[str]:
    return [
        o.text for c in notebook.cells for o in c.get("outputs", []) if o.get("name") == "stderr"
    ]


@pytest.mark.parametrize("unit", UNITS)
def test_a_lecture_runs_in_under_a_minute(unit, tmp_path):
    start = time.perf_counter()
    notebook = run(f"lectures/en/{unit}.ipynb", tmp_path)
    assert time.perf_counter() - start < 60
    assert stderr(notebook) == []


@pytest.mark.parametrize("unit", GRADED)
def test_a_solution_notebook_earns_every_point_that_a_check_gives(unit, tmp_path):
    notebook = run(f"solutions/ko/{unit}/{unit}.ipynb", tmp_path)
    for name, (score, points) in scores(notebook).items():
        assert score == points, name
    assert stderr(notebook) == []


@pytest.mark.parametrize("unit", GRADED)
def test_a_release_as_handed_out_earns_nothing_and_does_not_crash(unit, tmp_path):
    notebook = run(f"exercises/en/{unit}/{unit}.ipynb", tmp_path, allow_errors=True)
    assert {score for score, _ in scores(notebook).values()} == {0.0}
    errors = [o for c in notebook.cells for o in c.get("outputs", []) if o.output_type == "error"]
    assert {o.ename for o in errors} <= {"NotImplementedError"}
    assert stderr(notebook) == []


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_committed_lecture_has_its_outputs(unit, language):
    notebook = nbformat.read(build.ROOT / f"lectures/{language}/{unit}.ipynb", as_version=4)
    code = [c for c in notebook.cells if c.cell_type == "code"]
    assert any(c.outputs for c in code)
    assert not any(o.output_type == "error" for c in code for o in c.outputs)
