"""A record of its own for every test, and English after each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import blocklab


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a learner's record."""
    folder = tmp_path / "home"
    monkeypatch.setenv("BLOCKLAB_HOME", str(folder))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.chdir(tmp_path)
    yield folder
    blocklab.use("en")
