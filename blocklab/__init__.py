"""Learn the Transformer block by building it: checks, hints, widgets and figures."""

from blocklab.api import check, hint
from blocklab.record import progress
from blocklab.text import use

__all__ = ["check", "fill_in", "hint", "paint_mask", "progress", "use"]


def __getattr__(name: str):
    """Widgets are loaded when they are first asked for."""
    if name == "fill_in":
        from blocklab.widgets.fill_in import fill_in

        return fill_in
    if name == "paint_mask":
        from blocklab.widgets.paint_mask import paint_mask

        return paint_mask
    raise AttributeError(f"module 'blocklab' has no attribute {name!r}")
