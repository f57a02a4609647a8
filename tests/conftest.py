"""What every test can count on: one thread, the same seeds, and tools that are really there."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # read once, when numpy and torch load
    os.environ[variable] = "1"

import pytest  # noqa: E402
import torch  # noqa: E402

from tests.colab import environments  # noqa: E402

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
    without(f"{tool} is not installed: {reason}")


def without(message: str) -> NoReturn:
    """Skip a test with what it lacks; on CI, fail."""
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
    """A Python with Colab's versions of what notebooks and widgets are made of."""
    return environments.colab()
