"""What every widget needs of the front end: its JavaScript and style, and how it is displayed.

A cell shows two things: a still picture, which is what the file keeps and is readable without a
kernel, and the live widget, which hides the still one as long as it is there.
"""

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython import get_ipython
from IPython.display import display

from blocklab.grading import graded
from blocklab.text import language

if TYPE_CHECKING:  # a kernel without a front end, as in grading, may lack it
    import anywidget

FOLDER = Path(__file__).parent
STYLE = FOLDER / "widgets.css"
# JupyterLab says "model not found" where a live widget was, once its kernel has gone.
NO_ERROR = (
    "<style>.jp-OutputArea-child:has([data-blocklab-still]) + .jp-OutputArea-child"
    " > .jp-OutputArea-output:not(:has(*)) { display: none }</style>"
)


def module(name: str) -> str:
    """The JavaScript module of that name in this folder, as anywidget takes it."""
    return "\n".join((FOLDER / f"{part}.js").read_text("utf-8") for part in ("common", name))


def as_still(token: str, inside: str, kind: str = "") -> str:
    """HTML that shows while no live widget knows it by its token; kind: its class, if any."""
    own = f'class="{kind}" ' if kind else ""
    place = f'data-blocklab-still="{escape(token)}" lang="{language()}"'
    return f"{NO_ERROR}<div {own}{place}>{inside}</div>"


def notebook() -> Any:
    """IPython's shell where there is a front end to show things in, else None."""
    shell = get_ipython()
    return shell if hasattr(shell, "kernel") and not graded() else None


def grading() -> bool:
    """Whether a grader's kernel runs this: pictures go into a page, and nothing is live."""
    return hasattr(get_ipython(), "kernel") and graded()


def show_live(widget: "anywidget.AnyWidget", otherwise: str) -> None:
    """Display a widget in the running cell; where it cannot be, words say what to do."""
    data, metadata = widget._repr_mimebundle_() or ({}, {})
    display({**data, "text/plain": otherwise}, metadata=metadata, raw=True)
