"""What stands in the notebook that is running, as far as it has been saved."""

import json
import os
import sys
from pathlib import Path
from typing import Any


def written_answer(name: str) -> str | None:
    """The learner's text under a written question; None if the notebook cannot be found."""
    try:
        cells = _colab_cells() if "google.colab" in sys.modules else _saved_cells()
        found = [cell for cell in cells if _grade_id(cell) == name]
        source = found[0]["source"]
    except Exception:  # a front end of another kind, or a notebook of another make
        return None
    return source if isinstance(source, str) else "".join(source)


def _saved_cells() -> list[dict[str, Any]]:
    """The cells on the disk: jupyter_server tells its kernels the notebook's path."""
    path = Path(os.environ["JPY_SESSION_NAME"])
    path = path if path.exists() else Path(path.name)
    return json.loads(path.read_text("utf-8"))["cells"]


def _colab_cells() -> list[dict[str, Any]]:
    """The cells as Colab's page has them, saved or not."""
    from google.colab import _message  # type: ignore[import-not-found]

    return _message.blocking_request("get_ipynb", timeout_sec=10)["ipynb"]["cells"]


def _grade_id(cell: dict[str, Any]) -> str | None:
    return cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
