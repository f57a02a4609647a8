"""What every test can count on: one thread, the same seeds, and tools that are really there."""

import os
import shutil
from collections.abc import Callable

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # read once, when numpy and torch load
    os.environ[variable] = "1"

import pytest  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="also run what takes large numbers")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
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
