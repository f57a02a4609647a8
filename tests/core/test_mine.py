"""A learner's own answers come back in later units, or the course's own with a note."""

import pytest
import torch

from blocklab import catalogue, mine

OWN = """def rms_norm(x, gain, eps):
    h = x.float()
    return (h * root(h, eps) * gain.float()).to(x.dtype)
"""
HELPER = "import torch as t\n\ndef root(h, eps):\n    return t.rsqrt(h.pow(2).mean(-1, True) + eps)"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BLOCKLAB_HOME", str(tmp_path))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def kept(*cells: str) -> bool:
    return mine.keep("rms_norm", mine.gather("rms_norm", cells))


def test_a_passed_answer_comes_back_with_the_helpers_it_needs(capsys):
    assert kept("x = 1", HELPER, "%matplotlib inline", OWN)
    own = mine.rms_norm
    assert own is not catalogue.reference("rms_norm")
    assert torch.allclose(
        own(torch.tensor([3.0, 4.0]), torch.ones(2), 0.0)[0], torch.tensor(0.8485), 1e-3
    )
    assert capsys.readouterr().out == ""


def test_the_latest_definition_counts():
    cells = [HELPER, OWN, "def rms_norm(x, gain, eps):\n    return x"]
    assert "return x" in mine.gather("rms_norm", cells)
    assert "root" not in mine.gather("rms_norm", cells)


@pytest.mark.parametrize(
    "cells",
    [[OWN], [HELPER.replace("+ eps", ""), OWN], [], ["rms_norm = 3"], ["def rms_norm(:"]],
    ids=["helper gone", "wrong", "nothing", "a number", "no Python"],
)
def test_what_does_not_pass_on_its_own_is_not_kept_and_the_course_steps_in(cells, capsys):
    assert not kept(*cells)
    assert mine.rms_norm is catalogue.reference("rms_norm")
    assert "rms_norm: the course's own" in capsys.readouterr().out


def test_while_grading_it_is_always_the_courses_own(monkeypatch, capsys):
    assert kept(HELPER, OWN)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert mine.rms_norm is catalogue.reference("rms_norm")
    assert capsys.readouterr().out == ""


def test_a_name_that_is_no_exercise_is_an_error():
    with pytest.raises(ImportError):
        from blocklab.mine import rms_nrom  # type: ignore[attr-defined]  # noqa: F401
