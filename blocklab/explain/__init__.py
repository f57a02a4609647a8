"""Pictures with knobs: `explain.rms_norm()` shows one under its cell.

Each call takes the knobs' first values by name, `explain.rms_norm(scale=10)`, and raises ValueError
for a knob that is not there or a value that it does not have.
"""

# The functions have their modules' names. Python binds a module's name here when it is first
# imported, so the imports stand first.
from blocklab.explain.attention import ATTENTION
from blocklab.explain.ffn import FFN
from blocklab.explain.knobs import Explained, Value
from blocklab.explain.logit_lens import LOGIT_LENS
from blocklab.explain.residual_add import RESIDUAL_ADD
from blocklab.explain.rms_norm import RMS_NORM
from blocklab.explain.stack import STACK

__all__ = ["attention", "ffn", "logit_lens", "residual_add", "rms_norm", "stack"]


def residual_add(**start: Value) -> None:
    """A token, what is added to it, and their sum."""
    _show(RESIDUAL_ADD, **start)


def rms_norm(**start: Value) -> None:
    """A token before and after its norm."""
    _show(RMS_NORM, **start)


def attention(**start: Value) -> None:
    """What one token takes from the others."""
    _show(ATTENTION, **start)


def ffn(**start: Value) -> None:
    """One token on its way through an FFN: expand, gate, compress."""
    _show(FFN, **start)


def stack(**start: Value) -> None:
    """What a whole model costs in parameters and in KV cache."""
    _show(STACK, **start)


def logit_lens(**start: Value) -> None:
    """The favourite next token after each state of the stream."""
    _show(LOGIT_LENS, **start)


def _show(explained: Explained, **start: Value) -> None:
    from blocklab.widgets.explain import show  # loads ipywidgets

    show(explained, **start)
