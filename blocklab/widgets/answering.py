"""A diagram to fill in, or a mask to paint, whose answer is code in the cell."""

import contextlib
import json
from functools import partial
from typing import Any

from IPython.display import display, update_display

from blocklab.text import Text, language
from blocklab.widgets.choice import choice_of
from blocklab.widgets.diagrams import Diagram, diagram
from blocklab.widgets.front import grading, notebook, show_live
from blocklab.widgets.masks import Mask, mask
from blocklab.widgets.picture import Picture
from blocklab.widgets.rewrite import rewrite

NO_KERNEL = Text("Run this cell to choose.", "이 셀을 실행하면 고를 수 있습니다.")

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
    shell = notebook()
    if shell is None:
        if grading():
            display(Picture(asked, answer).still_data(), raw=True)
        return answer
    choice = choice_of(name)
    choice.run(answer)
    if choice.answer != answer:
        _write(shell, name, choice.answer)
    widget = _widget_of(name, asked)
    widget.answer = choice.answer
    display(Picture(asked, choice.answer, widget.still), display_id=widget.still)
    show_live(widget, str(NO_KERNEL))
    return choice.answer


_made: dict[tuple[str, str], tuple[Diagram | Mask, Any]] = {}


def _widget_of(name: str, asked: Diagram | Mask) -> Any:
    """The one widget of a question in the language in use; a new one if the question changed."""
    key = name, language()
    if key not in _made or _made[key][0] != asked:
        _made[key] = asked, _new_widget(name, asked)
    return _made[key][1]


def _new_widget(name: str, asked: Diagram | Mask) -> Any:
    """A widget whose changes are the choice, and show in the still picture."""
    if isinstance(asked, Mask):
        from blocklab.widgets.paint_mask import PaintMask

        make, call = partial(PaintMask, name, asked), f'paint_mask("{name}", T={asked.T}'
    else:
        from blocklab.widgets.fill_in import FillIn

        make, call = partial(FillIn, name, asked), f'fill_in("{name}"'

    def code_of(answer: str) -> str:
        return f"{name} = {call}, answer={json.dumps(answer, ensure_ascii=False)})"

    def chosen(change: Any) -> None:
        choice_of(name).answer = change.new
        update_display(Picture(asked, change.new, widget.still), display_id=widget.still)

    widget = make(choice_of(name).answer, code_of)
    widget.observe(chosen, "answer")
    return widget


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
        payload = {"source": "set_next_input", "text": _draft[1], "replace": True}
        # Notebook 6 would take the picture away otherwise.
        shell.payload_manager.write_payload({**payload, "clear_output": False})
