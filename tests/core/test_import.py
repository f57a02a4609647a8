"""`import blocklab` is light."""

import statistics
import subprocess
import sys

TIMED = (
    "import time, torch; t = time.perf_counter(); import blocklab; print(time.perf_counter() - t)"
)
LOADED = "import sys, blocklab; print(*sys.modules)"


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_importing_blocklab_adds_little_to_importing_torch():
    times = [float(python(TIMED)) for _ in range(3)]
    assert statistics.median(times) < 0.3


def test_importing_blocklab_loads_neither_widgets_nor_plots_nor_a_grader():
    loaded = set(python(LOADED).split())
    assert not loaded & {"torch", "ipywidgets", "matplotlib", "nbgrader", "autograder", "numpy"}
