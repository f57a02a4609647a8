"""The set-up cell, where blocklab is missing and where it is not."""

import os
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path
from zipfile import ZipFile

import pytest

from blocklab.text import LANGUAGES
from course import colab
from course.opening import FAILED, set_up

SAYS = "import blocklab; print(blocklab.__file__); print(blocklab.text.language())"
ARCHIVE = "https://github.com/ada/course/archive/HEAD.zip"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return colab.wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A fresh environment with pip, torch and all, but without blocklab."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("blocklab", "__editable__")):
            (packages / entry.name).symlink_to(entry)
    return tmp_path / "venv" / "bin" / "python"


def run(python: Path | str, code: str, folder: Path, **environment: str):
    """Run code as a cell is run, in a folder and with no way to a package index."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    offline = {"PIP_NO_INDEX": "1", "PIP_RETRIES": "0", "HTTPS_PROXY": "http://127.0.0.1:9"}
    env = {**kept, **offline, **environment}
    return subprocess.run([python, "-c", code], cwd=folder, env=env, capture_output=True, text=True)


@pytest.mark.parametrize("place", [".", "../..", "../../.."])
@pytest.mark.parametrize("address", ["", "ada/course"])
def test_it_installs_the_wheel_that_lies_beside(
    address: str, place: str, python: Path, wheel: Path, tmp_path: Path
):
    here = tmp_path / "exercises" / "ko" / "02_rms_norm"
    here.mkdir(parents=True)
    (here / place / wheel.name).write_bytes(wheel.read_bytes())
    done = run(python, f"{set_up('ko', address)}\n{SAYS}", here)
    assert done.returncode == 0, done.stderr
    where, language = done.stdout.splitlines()
    assert Path(where).is_relative_to(tmp_path / "venv")
    assert language == "ko"


def test_it_installs_from_the_repository(python: Path, tmp_path: Path):
    archive = tmp_path / "HEAD.zip"
    with ZipFile(archive, "w") as packed:
        for name in (*colab.PROJECT, "blocklab"):
            path = colab.ROOT / name
            for file in [path] if path.is_file() else path.rglob("*"):
                if "__pycache__" not in file.parts:
                    packed.write(file, Path("course-main", file.relative_to(colab.ROOT)))
    code = set_up("en", "ada/course").replace(ARCHIVE, archive.as_uri())
    # Without a network, what builds it has to come from here.
    done = run(python, f"{code}\n{SAYS}", tmp_path / "here", PIP_NO_BUILD_ISOLATION="0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\nen\n")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("address", ["", "ada/course"])
def test_without_wheel_and_network_it_says_what_to_do(
    address: str, language: str, python: Path, tmp_path: Path
):
    done = run(python, set_up(language, address), tmp_path / "here", PYTHONUTF8="1")
    none = {"en": "none", "ko": "없음"}[language]
    said = FAILED.to(language).replace(f"{{wheels or '{none}'}}", none)
    assert done.stderr.splitlines()[-1] == f"RuntimeError: {said}"
    assert "During handling" not in done.stderr


def test_a_wheel_that_cannot_be_installed_is_named(python: Path, tmp_path: Path):
    here = tmp_path / "here"
    here.mkdir()
    (here / "blocklab-0.1.0-py3-none-any.whl").write_bytes(b"half of it")
    done = run(python, set_up("en", ""), here)
    assert "(wheels found: ['./blocklab-0.1.0-py3-none-any.whl'])" in done.stderr


@pytest.mark.parametrize("address", ["", "ada/course"])
def test_where_blocklab_is_installed_it_is_silent_and_takes_no_time(address: str, tmp_path: Path):
    cell = textwrap.indent(set_up("en", address), "    ")
    code = f"""
import time, json, inspect, importlib.resources  # as a kernel has
def cell():
{cell}
start = time.process_time()  # whatever else the machine does
cell()
print(time.process_time() - start)"""
    done = [run(sys.executable, code, tmp_path) for _ in range(3)]
    assert [d.stderr for d in done] == ["", "", ""]
    assert min(float(d.stdout) for d in done) < 0.05
