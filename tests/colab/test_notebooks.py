"""Every notebook works with Colab's versions, as it does elsewhere."""

import inspect
import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from blocklab.text import LANGUAGES
from course import build, source
from tests.colab import environments
from tests.course.test_notebooks import scores, stderr

KERNEL = Path(__file__).with_name("kernel.py")
WIDGET = "application/vnd.jupyter.widget-view+json"
VERSIONS = dict(line.split("==") for line in environments.VERSIONS if "torch" not in line)


@pytest.fixture(params=["this Python", pytest.param("Python 3.13", marks=pytest.mark.full)])
def python(request: pytest.FixtureRequest) -> Path:
    """A Python with Colab's versions; the second is Colab's own, with its torch."""
    if request.param == "this Python":
        return environments.colab()
    if python := environments.colab_with_its_python():
        return python
    pytest.skip("there is no Python 3.13")


@pytest.fixture
def kernel(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a kernel that is like Colab's."""
    spec = tmp_path / "kernels" / "colab" / "kernel.json"
    spec.parent.mkdir(parents=True)
    command = [python, KERNEL, "-f", "{connection_file}"]
    said = {"argv": [*map(str, command)], "display_name": "Colab", "language": "python"}
    spec.write_text(json.dumps(said))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    return "colab"


def run(notebook: nbformat.NotebookNode, kernel: str, home: Path) -> nbformat.NotebookNode:
    """The notebook, run from top to bottom in a home of its own."""
    resources = {"metadata": {"path": str(home)}}
    client = NotebookClient(notebook, timeout=240, kernel_name=kernel, resources=resources)
    ours = {"BLOCKLAB_HOME": str(home), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(build.ROOT)}
    client.execute(env={**os.environ, **ours})
    return notebook


def committed(path: str) -> nbformat.NotebookNode:
    return nbformat.read(build.ROOT / path, as_version=4)


def widgets(notebook: nbformat.NotebookNode) -> list[dict]:
    """The metadata of every output that is a live widget."""
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    return [o.metadata for o in outputs if WIDGET in o.get("data", {})]


def shown_by_colab(notebook: nbformat.NotebookNode) -> bool:
    """Whether every widget tells Colab where the code that shows it comes from."""
    return all(said[WIDGET]["colab"]["custom_widget_manager"] for said in widgets(notebook))


def share(units: list[str], quick: set[str]) -> list[Any]:
    """Unit and language of every notebook; all but Korean ones of `quick` units are for --full."""
    pairs = [(unit, language) for unit in units for language in LANGUAGES]
    kept = [language == "ko" and unit[:2] in quick for unit, language in pairs]
    marks = [() if keep else pytest.mark.full for keep in kept]
    return [pytest.param(*pair, marks=mark) for pair, mark in zip(pairs, marks, strict=True)]


def test_the_kernel_is_like_colabs(kernel: str, tmp_path: Path):
    code = f"""
        import importlib.metadata, importlib.util, json, sys
        versions = {{name: importlib.metadata.version(name) for name in {[*VERSIONS]}}}
        print(json.dumps([versions, "google.colab" in sys.modules, sys.modules["comm"]]))
    """
    cell = nbformat.v4.new_code_cell(inspect.cleandoc(code))
    (ran,) = run(nbformat.v4.new_notebook(cells=[cell]), kernel, tmp_path).cells
    assert json.loads(ran.outputs[0].text) == [VERSIONS, True, None]


@pytest.mark.parametrize(("unit", "language"), share(source.units(), {"00", "03"}))
def test_a_lecture_runs(unit: str, language: str, kernel: str, tmp_path: Path):
    notebook = run(committed(f"lectures/{language}/{unit}.ipynb"), kernel, tmp_path)
    assert stderr(notebook) == []
    assert shown_by_colab(notebook)


@pytest.mark.parametrize(("unit", "language"), share(build.graded(source.units()), {"02", "05"}))
def test_a_solution_earns_every_point(unit: str, language: str, kernel: str, tmp_path: Path):
    path = f"solutions/{language}/{unit}/{unit}.ipynb"
    notebook = run(committed(path), kernel, tmp_path)
    assert stderr(notebook) == []
    assert shown_by_colab(notebook)
    for name, (score, points) in scores(notebook).items():
        assert score == points, name
