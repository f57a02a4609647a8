"""Grading a class: what it says when there is nothing to grade, and when it is interrupted."""

import re
from pathlib import Path

import pytest
from nbgrader.apps import NbGraderAPI
from typer.testing import CliRunner

from autograder import grade as grading
from autograder.classroom import ClassError, make_class
from autograder.cli import app
from autograder.demo import Student, submit
from autograder.intake import collect
from tests.autograder.sending import lay

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


def test_who_sent_only_what_was_refused_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = {f"jonescarl/{UNIT}.ipynb": b"{", f"박지훈/{UNIT}.ipynb": b"", "han/report.pdf": b"%PDF"}
    collect(folder, [lay(tmp_path / "sent", sent)])
    words = "Refused when collected, so not graded: jonescarl, 박지훈, han (unit not known)"
    with pytest.raises(ClassError, match=re.escape(words)):
        list(grading.grade(folder, UNIT))
    submit(folder, UNIT, Student("jonescarl"))
    words = "Refused when collected, so not graded: 박지훈, han (unit not known)"
    assert grading.refusals(folder, UNIT).startswith(words)
    monkeypatch.setattr(grading, "grade", lambda *_: iter(()))
    done = CliRunner().invoke(app, ["grade", str(folder), UNIT], env={"COLUMNS": "200"})
    assert words in done.stdout


def test_where_nothing_was_refused_nobody_is_named(folder: Path) -> None:
    submit(folder, UNIT, Student("ada"))
    assert grading.refusals(folder, UNIT) == ""


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
