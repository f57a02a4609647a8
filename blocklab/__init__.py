"""Learn the Transformer block by building it: checks, hints, widgets and figures."""

from blocklab.api import check, hint
from blocklab.record import progress
from blocklab.text import use

__all__ = ["check", "fill_in", "hint", "progress", "use"]


def __getattr__(name: str):
    """Widgets are loaded when they are first asked for."""
    if name == "fill_in":
        from blocklab.widgets.fill_in import fill_in

        return fill_in
    raise AttributeError(f"module 'blocklab' has no attribute {name!r}")
