"""A diagram to fill in, or a mask to paint, whose answer is code in the cell."""

import contextlib
import os
import sys
from typing import Any

from blocklab.widgets.choice import choice_of
from blocklab.widgets.diagrams import Diagram, diagram
from blocklab.widgets.masks import Mask, mask
from blocklab.widgets.rewrite import rewrite

_draft: tuple[str, str] = "", ""  # the run of a cell, and the cell as it shall read after it


def fill_in(name: str, *, answer: str = "") -> str:
    """Show a diagram to fill in, and return the answer: names of labels in order, by spaces.

    answer: what stands in the code. In a notebook a choice made in the picture replaces it when
    the cell runs again, unless the code has been changed by hand since. Elsewhere it is returned.
    Raises KeyError if no diagram has that name.
    """
    return _run(name, diagram(name), str(answer))


def paint_mask(name: str, T: int, *, answer: str = "") -> str:
    """Show a T by T mask to paint, and return the answer: T rows of 0 and 1, by spaces.

    A row is the token that looks, a column the token it looks at; 1 means that it may.
    answer: as in `fill_in`; empty if nothing is painted yet.
    Raises KeyError if no mask has that name.
    """
    return _run(name, mask(name, T), str(answer))


def _run(name: str, asked: Diagram | Mask, answer: str) -> str:
    """The answer that counts now; where there is a front end, shown and written into the code."""
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
