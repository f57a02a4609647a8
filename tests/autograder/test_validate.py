"""nbgrader's Validate button, which runs a learner's notebook and says what would not count."""

import os
import subprocess
import sys

import pytest

from course.build import ROOT

UNIT = "01_residual_add"


def validate(folder: str, tmp_path, language: str = "en") -> str:
    """What `nbgrader validate` prints about a notebook of the course."""
    path = ROOT / folder / language / UNIT / f"{UNIT}.ipynb"
    mine = tmp_path / path.name
    mine.write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "nbgrader", "validate", mine.name]
    settings = {"BLOCKLAB_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **settings}, capture_output=True, text=True
    )
    return done.stdout


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "residual_add, which this one uses, does not pass its own check yet. Look there"),
        ("ko", "아직 비어 있습니다. 그 자리에 답을 적으세요."),
    ],
)
def test_a_release_fails_and_every_check_says_why(language, words, tmp_path):
    said = validate("exercises", tmp_path, language)
    assert "VALIDATION FAILED" in said
    assert words in said
    assert "..." not in said
    assert said.count("The following cell failed:") == 9
    assert not (tmp_path / "progress.json").exists()


def test_a_solution_succeeds(tmp_path):
    assert "Success! Your notebook passes all the tests." in validate("solutions", tmp_path)
