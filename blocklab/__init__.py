"""Learn the Transformer block by building it: checks, hints, widgets and figures."""

from blocklab.api import check, hint
from blocklab.record import progress
from blocklab.text import use

__all__ = ["check", "fill_in", "hint", "paint_mask", "progress", "use"]


def __getattr__(name: str):
    """Widgets are loaded when they are first asked for."""
    if name in ("fill_in", "paint_mask"):
        from blocklab.widgets import answering as widgets

        return getattr(widgets, name)
    raise AttributeError(f"module 'blocklab' has no attribute {name!r}")
