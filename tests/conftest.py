"""What every test can count on: one thread, the same seeds, and tools that are really there."""

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # read once, when numpy and torch load
    os.environ[variable] = "1"

import pytest  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(1)
ROOT = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="also run what takes large numbers")


LOOK_INTO_TMP = {  # they expect to find nothing of the course there
    "test_tmp_is_private_and_small",
    "test_a_repository_inside_a_folder_that_is_shown_is_emptied_first",
    "test_siblings_cannot_see_or_touch_each_other",
    "test_an_attack_gains_nothing[searches for other classes]",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.name in LOOK_INTO_TMP and ROOT.is_relative_to("/tmp"):
            item.add_marker(pytest.mark.skip(reason="the course itself lies in /tmp"))
    if config.getoption("--full"):
        return
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="large: runs with --full"))


def need_tool(tool: str, reason: str) -> str:
    """The path of a program; without it the test skips with the reason, and on CI fails."""
    path = shutil.which(tool)
    if path:
        return path
    message = f"{tool} is not installed: {reason}"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def need() -> Callable[[str, str], str]:
    """`need("bwrap", "builds the sandbox")` gives the program's path, or skips the test."""
    return need_tool


@pytest.fixture(scope="session")
def seeds(request: pytest.FixtureRequest) -> range:
    """Seeds for properties that must hold whatever the numbers: 20, and 200 with --full."""
    return range(200 if request.config.getoption("--full") else 20)


@pytest.fixture(scope="session")
def few_seeds(request: pytest.FixtureRequest) -> range:
    """Seeds where each costs more: 2, and 5 with --full."""
    return range(5 if request.config.getoption("--full") else 2)


@pytest.fixture(scope="session")
def colab_python() -> Path:
    """A Python with Colab's versions of what notebooks and widgets are made of.

    What else it needs, such as torch, comes from the environment of the tests. It is made once,
    in .venv-colab, and anew when the list of versions changes.
    """
    folder, wanted = ROOT / ".venv-colab", ROOT / "tests" / "colab.txt"
    with open(ROOT / ".venv-colab.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several workers may want it at once
        made = folder / "made-from.txt"
        if not made.exists() or made.read_text() != wanted.read_text():
            _make_colab(folder, wanted)
            shutil.copy(wanted, made)
    return folder / "bin" / "python"


def _make_colab(folder: Path, wanted: Path) -> None:
    python = str(folder / "bin" / "python")
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "-r", wanted], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "zz_the_rest.pth").write_text(sysconfig.get_path("purelib"))
