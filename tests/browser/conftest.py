"""JupyterLab with folders of its own, and Chromium to use it as a learner does."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import run

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-for-tests"
QUIET = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def output() -> Path:
    """Where the tests leave screenshots for people to look at."""
    folder = ROOT / "test-output"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that JupyterLab shows."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="session")
def lab(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running JupyterLab, without its token."""
    home, port = tmp_path_factory.mktemp("home"), free_port()
    command = [sys.executable, "-m", "jupyterlab", *options(port)]
    with serving([*command, f"--ServerApp.root_dir={folder}"], home, port) as address:
        yield address


@contextmanager
def serving(command: list[str], home: Path, port: int, folder: Path | None = None) -> Iterator[str]:
    """Run JupyterLab in a folder, or in `home`, where all that it writes goes; its address."""
    (home / "config" / "labconfig").mkdir(parents=True)
    overrides = home / "config" / "labconfig" / "default_setting_overrides.json"
    overrides.write_text(json.dumps(QUIET))
    with open(home / "lab.log", "wb") as log:
        server = subprocess.Popen(
            command, env=_environment(home), cwd=folder or home, stdout=log, stderr=log
        )
    try:
        wait_for(server, f"http://127.0.0.1:{port}/api?token={TOKEN}", home / "lab.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()  # JupyterLab stops its kernels and then itself
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()


def options(port: int) -> list[str]:
    """JupyterLab's arguments for a test."""
    values = {
        "IdentityProvider.token": TOKEN,
        "ServerApp.allow_root": True,
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.kernel_websocket_connection_class": run.CONNECTION,
        "ServerApp.open_browser": False,
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "LabApp.expose_app_in_browser": True,
        "LabApp.news_url": "None",
    }
    return [f"--{name}={value}" for name, value in values.items()]


def _environment(home: Path) -> dict[str, str]:
    """The tests' own environment, but with every folder that Jupyter and we write to in `home`."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "NBGRADER"))}
    folders = {
        "BLOCKLAB_HOME": "blocklab",
        "IPYTHONDIR": "ipython",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
    }
    ours = {variable: str(home / name) for variable, name in folders.items()}
    return {**inherited, **ours, "PYTHONPATH": str(ROOT)}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(server: subprocess.Popen, url: str, log: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-3000:]}")


@pytest.fixture(scope="session")
def chromium(need: Callable[[str, str], str]) -> Iterator[Any]:
    """A browser without a window."""
    path = need("chromium", "the browser tests drive it")
    playwright = _playwright()
    with playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


def _playwright() -> Any:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        message = f"playwright is not installed: {error}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return sync_playwright


@pytest.fixture
def errors() -> list[str]:
    """What the browser's console called an error; a test takes out what it expects."""
    return []


@pytest.fixture
def page(chromium: Any, lab: str, errors: list[str]) -> Iterator[Any]:
    """A page that has the token; the test fails if the console has an error at its end."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(40_000)
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    context.request.get(f"{lab}/lab?token={TOKEN}")
    yield page
    context.close()
    assert errors == []
