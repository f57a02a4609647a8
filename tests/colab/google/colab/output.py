"""The part of Colab's `google.colab.output` that widgets use."""

from types import SimpleNamespace

_widgets = SimpleNamespace(_installed_url=None)


def enable_custom_widget_manager() -> None:
    """From now on Colab would show widgets that are not its own."""
    _widgets._installed_url = "https://ssl.gstatic.com/colaboratory-static/widgets/manager.min.js"


def eval_js(script: str) -> bool:
    """What the page answers: it is in the dark theme, and nothing else is so."""
    return "dark" in script
