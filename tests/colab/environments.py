"""Environments with Colab's versions, as tests/colab.txt lists them; made once and kept."""

import fcntl
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LINES = (ROOT / "tests" / "colab.txt").read_text("utf-8").splitlines()
VERSIONS = [line for line in LINES if not line.startswith("#")]
LACKS = ("jaxtyping", "wadler_lindig")  # what blocklab needs, and Colab has not


def colab() -> Path:
    """The Python of .venv-colab: this Python's version, and Colab's versions of all but torch.

    What else it needs comes from the environment of the tests.
    """
    versions = [line for line in VERSIONS if Requirement(line).name != "torch"]
    return _environment(".venv-colab", sys.executable, versions, sysconfig.get_path("purelib"))


def colab_with_its_python() -> Path | None:
    """The Python of .venv-colab-3.13, with torch and all: 5 GB. None if there is no Python 3.13."""
    python = python_3_13()
    return _environment(".venv-colab-3.13", python, [*VERSIONS, *LACKS], "") if python else None


def python_3_13() -> str | None:
    """A Python 3.13 that starts, on the path or among pyenv's."""
    pyenv = Path.home().glob(".pyenv/versions/3.13*/bin/python")
    for python in (shutil.which("python3.13"), *map(str, pyenv)):
        if python and not subprocess.run([python, "-c", ""], capture_output=True).returncode:
            return python
    return None


def _environment(name: str, python: str, wanted: list[str], rest: str) -> Path:
    """The Python of an environment, which is made anew when the list of versions has changed.

    rest: a folder of packages that are seen where the environment has none of its own.
    """
    folder = ROOT / name
    inside, note = folder / "bin" / "python", folder / "made-from.txt"
    with open(ROOT / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several workers may want it at once
        if not note.exists() or note.read_text() != "\n".join(wanted):
            subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
            subprocess.run([inside, "-m", "pip", "install", "-q", *wanted], check=True)
            (packages,) = folder.glob("lib/python*/site-packages")
            (packages / "zz_the_rest.pth").write_text(rest)
            note.write_text("\n".join(wanted))
    return inside
