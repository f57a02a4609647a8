"""Grading a class: what it says when there is nothing to grade, and when it is interrupted."""

from pathlib import Path

import pytest
from nbgrader.apps import NbGraderAPI
from typer.testing import CliRunner

from autograder import grade as grading
from autograder.classroom import ClassError, make_class
from autograder.cli import app
from autograder.demo import Student, submit

UNIT = "01_residual_add"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_class(tmp_path / "class")
    monkeypatch.setattr(grading.Sandbox, "available", lambda: None)
    return tmp_path / "class"


def test_without_a_submission_nothing_is_graded_or_released(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    with pytest.raises(ClassError, match="no submission of 01_residual_add"):
        list(grading.grade(folder, UNIT))
    assert sorted(folder.rglob("*")) == before


def test_an_interrupt_ends_it_and_says_who_is_not_graded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ada", "bora", "chul"):
        submit(folder, UNIT, Student(name))

    def autograde(api: object, unit: str, student: str) -> dict:
        error = "Traceback …\nKeyboardInterrupt" if student == "bora" else ""
        return {"success": not error, "error": error, "log": "Canceled"}

    monkeypatch.setattr(NbGraderAPI, "autograde", autograde)
    monkeypatch.setattr(NbGraderAPI, "generate_feedback", lambda *_, **__: {"success": True})
    monkeypatch.setattr(NbGraderAPI, "generate_assignment", lambda *_: {"success": True})
    done = CliRunner().invoke(app, ["grade", str(folder), UNIT])
    assert done.exit_code == 130
    assert "Stopped: 1 of 3 are graded" in done.stdout
    assert "Not graded in this run: bora, chul" in done.stdout
