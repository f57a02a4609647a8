"""Learn the Transformer block by building it: checks, hints, widgets and figures."""

from blocklab.api import check, hint
from blocklab.study.opened import my_answer, self_check, solution
from blocklab.study.progress import progress
from blocklab.study.summary import save_summary
from blocklab.study.transfer import export_progress, import_progress
from blocklab.text import use

__all__ = [
    "check",
    "export_progress",
    "fill_in",
    "hint",
    "import_progress",
    "my_answer",
    "paint_mask",
    "progress",
    "save_summary",
    "self_check",
    "solution",
    "use",
]


def __getattr__(name: str):
    """Widgets are loaded when they are first asked for."""
    if name in ("fill_in", "paint_mask"):
        from blocklab.widgets import answering as widgets

        return getattr(widgets, name)
    raise AttributeError(f"module 'blocklab' has no attribute {name!r}")
