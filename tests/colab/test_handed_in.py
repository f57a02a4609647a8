"""A notebook that was worked on in Colab earns what it would have earned elsewhere."""

import json
from pathlib import Path
from typing import Any

from autograder.classroom import make_class
from autograder.grade import grade, gradebook
from autograder.intake import collect
from tests.autograder.repairing import UNIT, submission
from tests.autograder.test_parse import saved_by_colab


def installed(sent: dict[str, Any]) -> dict[str, Any]:
    """The same, with what the set-up cell shows where it has installed the course."""
    (cell,) = (c for c in sent["cells"] if c["metadata"].get("id") == "install")
    said = ["Successfully installed blocklab-0.1.0\n"]
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": said}]
    cell["execution_count"] = 1
    return sent


def scores(folder: Path, student: str) -> dict[str, float]:
    with gradebook(folder) as book:
        grades = book.find_submission_notebook(UNIT, UNIT, student).grades
        return {str(one.name): float(one.score) for one in grades}


def test_s08_it_is_graded_as_any_other(tmp_path: Path):
    folder, sent = tmp_path / "class", tmp_path / "sent"
    make_class(folder)
    for student, notebook in {"ada": submission(), "kim": installed(saved_by_colab())}.items():
        (sent / student).mkdir(parents=True)
        (sent / student / f"{UNIT}.ipynb").write_text(json.dumps(notebook), "utf-8")
    collect(folder, [sent])
    assert sorted(grade(folder, UNIT)) == [("ada", ""), ("kim", "")]
    assert scores(folder, "kim") == scores(folder, "ada")
    assert sum(scores(folder, "kim").values()) > 0
