"""The wheel that a notebook installs in Colab: whole, small, and moving nothing that is there."""

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.utils import canonicalize_name

from course import colab
from tests.colab import environments
from tests.conftest import without


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return colab.wheel(tmp_path_factory.mktemp("wheel"))


def test_it_holds_all_of_blocklab_and_nothing_else(wheel: Path):
    packed = {n for n in ZipFile(wheel).namelist() if ".dist-info/" not in n}
    files = [f for f in (colab.ROOT / "blocklab").rglob("*") if f.is_file() and f.suffix != ".pyc"]
    assert packed == {f.relative_to(colab.ROOT).as_posix() for f in files}


def test_it_is_light_to_upload(wheel: Path):
    assert wheel.stat().st_size < 5e6


@pytest.fixture(params=["this Python", "Python 3.13"])
def colab_as_listed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A Python in which each package of Colab's list seems to be installed, in its version."""
    python = sys.executable
    if request.param == "Python 3.13" and not (python := environments.python_3_13() or ""):
        pytest.skip("there is no Python 3.13")
    subprocess.run([python, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    for line in environments.VERSIONS:
        name, version = line.split("==")
        listed = packages / f"{name}-{version}.dist-info"
        listed.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (listed / "METADATA").write_text(text)
        (listed / "INSTALLER").write_text("pip\n")
    return tmp_path / "venv" / "bin" / "python"


def test_only_blocklab_and_what_colab_lacks_would_be_installed(
    wheel: Path, colab_as_listed: Path, tmp_path: Path
):
    report = tmp_path / "report.json"
    pip = [sys.executable, "-m", "pip", "--python", colab_as_listed, "install", "-q", "--dry-run"]
    done = subprocess.run([*pip, "--report", report, wheel], capture_output=True, text=True)
    if done.returncode and "No matching distribution" in done.stderr:
        without(f"the package index could not be reached: {done.stderr[-500:]}")
    assert done.returncode == 0, done.stderr
    names = {item["metadata"]["name"] for item in json.loads(report.read_text())["install"]}
    assert {canonicalize_name(name) for name in names} == {
        "blocklab",
        *map(canonicalize_name, environments.LACKS),
    }
