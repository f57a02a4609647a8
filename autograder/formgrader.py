"""JupyterLab in a class folder, where a person reads and grades what the checks cannot."""

import subprocess
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from autograder.grade import settings

MENU = "The formgrader is in JupyterLab's menu: Nbgrader, Formgrader."


def command(folder: Path, rest: Sequence[str] = (), browser: bool = True) -> list[str]:
    """The command line of JupyterLab, to be run in the class folder; rest: more of its arguments.

    nbgrader reads the nbgrader_config.py of the folder that JupyterLab is started in.
    Raises ClassError if it is no class folder.
    """
    settings(folder)
    # Jupyter Server prints an address with a query wrongly, so only a browser gets this one.
    first = ["--LabApp.default_url=/lab?formgrader=true"] if browser else ["--no-browser"]
    root = f"--ServerApp.root_dir={folder.resolve()}"
    return [sys.executable, "-m", "jupyterlab", root, *first, *rest]


def serve(folder: Path, rest: Sequence[str] = (), browser: bool = True) -> int:
    """Run JupyterLab until it is stopped; its exit code."""
    browser = browser and _has_browser()
    line = command(folder, rest, browser)
    if not browser:
        print(MENU, flush=True)
    with subprocess.Popen(line, cwd=folder) as server:
        while True:
            try:
                return server.wait()
            except KeyboardInterrupt:  # JupyterLab got it too, and asks before it stops
                continue


def _has_browser() -> bool:
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True
