"""The running cell: whether it can show a widget, and its answer, written back into its code."""

import contextlib
import os
import sys
from typing import Any

from blocklab.widgets.choice import choice_of
from blocklab.widgets.diagrams import Diagram
from blocklab.widgets.masks import Mask
from blocklab.widgets.rewrite import rewrite

_draft: tuple[str, str] = "", ""  # the run of a cell, and the cell as it shall read after it


def run(name: str, asked: Diagram | Mask, answer: str) -> str:
    """Show what is asked where there is a front end, and return the answer that counts now.

    answer: what stands in the code; without a front end it counts, and nothing is shown.
    """
    shell = _notebook()
    if shell is None:
        return answer
    from blocklab.widgets.controls import controls_of

    choice = choice_of(name)
    choice.run(answer)
    if choice.answer != answer:
        _write(shell, name, choice.answer)
    controls_of(name, asked, choice).show()
    return choice.answer


def _notebook() -> Any:
    """IPython's shell where there is a front end to show things in, else None."""
    if os.environ.get("NBGRADER_EXECUTION"):
        return None
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell if hasattr(shell, "kernel") else None


def _write(shell: Any, name: str, answer: str) -> None:
    """Ask the front end to write the answer into the running cell; other calls in it may follow.

    A kernel that does not tell its cell, or a cell that has no such call, stays as it is: the
    line to copy stands under the picture.
    """
    global _draft
    with contextlib.suppress(AttributeError, KeyError, SyntaxError, ValueError):
        parent = shell.kernel.get_parent("shell")
        run = parent["header"]["msg_id"]
        source = _draft[1] if _draft[0] == run else parent["content"]["code"]
        _draft = run, rewrite(source, name, answer)
        shell.set_next_input(_draft[1], replace=True)
