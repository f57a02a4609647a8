"""A kernel as Colab starts one: google.colab is loaded, and what Colab has not is out of reach."""

import sys
from pathlib import Path

for name in ("comm", "jupyterlab", "nbgrader"):
    sys.modules[name] = None  # pyright: ignore[reportArgumentType]  # importing it fails now
sys.path[0] = str(Path(__file__).parent)

import google.colab  # noqa: E402, F401  # pyright: ignore[reportMissingImports]
from ipykernel import kernelapp  # noqa: E402

kernelapp.launch_new_instance()
