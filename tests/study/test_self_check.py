"""A model answer opens when the learner has written an answer, wherever it can be seen."""

import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

import blocklab
from blocklab import record, self_check
from blocklab.study.self_check import STUB
from blocklab.widgets import checklist
from course import build

MINE = "A sublayer adds an update to the stream, and what was there before stays in the sum."


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """A function that saves the exercise notebook with an answer in it, as JupyterLab does."""
    path = tmp_path / "mine.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))

    def write(answer: str) -> Path:
        unit = "01_residual_add"
        notebook = nbformat.read(build.ROOT / f"exercises/en/{unit}/{unit}.ipynb", as_version=4)
        cell = next(
            c
            for c in notebook.cells
            if c.metadata.get("nbgrader", {}).get("grade_id") == "what_is_lost"
        )
        assert cell.source == STUB
        cell.source = answer
        nbformat.write(notebook, path)
        return path

    return write


@pytest.mark.parametrize("answer", [STUB, "", f"{STUB}\n\nAn update."])
def test_what_is_not_written_yet_opens_nothing(saved, answer):
    saved(answer)
    assert "The saved notebook has no answer yet" in str(self_check("what_is_lost"))
    assert record.read() == {}


@pytest.mark.parametrize("answer", [MINE, f"{STUB}\n\n{MINE}"])
def test_a_saved_answer_opens_the_model_answer_and_is_recorded(saved, answer, capsys):
    saved(answer)
    assert self_check("what_is_lost") is None
    shown = capsys.readouterr().out
    assert "**Model answer.**" in shown
    assert "☐ What a sublayer writes is an update" in shown
    assert record.read()["what_is_lost"]["written"] == MINE
    assert blocklab.my_answer("what_is_lost") == MINE


def test_once_answered_it_stays_open_in_another_notebook(saved, capsys):
    saved(MINE)
    self_check("what_is_lost")
    saved(STUB)
    capsys.readouterr()
    assert self_check("what_is_lost") is None
    assert "**Model answer.**" in capsys.readouterr().out
    assert record.read()["what_is_lost"]["written"] == MINE


def test_where_no_notebook_is_seen_the_answer_can_be_given(monkeypatch, capsys):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert 'self_check("what_is_lost", written=' in str(self_check("what_is_lost"))
    assert "That is 5 characters" in str(self_check("what_is_lost", written="adds."))
    assert self_check("what_is_lost", written=MINE) is None
    assert "**Model answer.**" in capsys.readouterr().out


def test_in_colab_the_page_is_asked(saved, monkeypatch, capsys):
    notebook = nbformat.read(saved(MINE), as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.splitlines(keepends=True)
    colab = ModuleType("google.colab")
    colab._message = ModuleType("_message")  # type: ignore[attr-defined]
    colab._message.blocking_request = lambda what, **_: {"ipynb": notebook}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "google", ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert self_check("what_is_lost") is None
    assert "**Model answer.**" in capsys.readouterr().out


def test_a_question_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(KeyError, match="there is what_is_lost"):
        self_check("what_is_losd")


def test_while_grading_nothing_is_shown(saved, monkeypatch):
    saved(MINE)
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert "graded" in str(self_check("what_is_lost"))
    assert record.read() == {}


def test_ticks_are_remembered_and_shown_again():
    record.answer("what_is_lost", MINE)
    words = ["`x` is **added**.", "It stays."]
    widget = checklist.Checklist("what_is_lost", words, [], "token")
    assert widget.items[0] == "<code>x</code> is <b>added</b>."
    widget.ticked = [1]
    assert record.read()["what_is_lost"]["ticked"] == [1]
    assert record.read()["what_is_lost"]["written"] == MINE
    assert "☑ It stays." in repr(checklist.Still(words, widget.ticked))
