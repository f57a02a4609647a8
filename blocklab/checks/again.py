"""The last call of a check's essence once more, so that a remembered answer does not pass."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from blocklab.checks.property import Property
from blocklab.probe import Call, Step
from blocklab.text import Text

LABEL = Text("once more, with other numbers", "수만 바꾸어 한 번 더")


def once_more(properties: Sequence[Property]) -> list[Property]:
    """The properties, with one more call in the first: equal shapes, other numbers, eval mode.

    What was kept from the call before, such as a mask by its shape, shows there, and so does a
    module that computes something else once it is not training.
    """
    first, *rest = properties
    last = next((s for s in reversed(first.steps) if isinstance(s, Call) and _numbers(s)), None)
    if not first.again or first.judge or last is None:
        return list(properties)
    again = replace(last, args=_other(last.args), backward=None, keep=None, label=LABEL)
    steps: list[Step] = [*first.steps, again]
    if isinstance(last.of, str) and last.method is None:
        steps.insert(-1, Call((), of=last.of, method="eval"))
    return [replace(first, steps=steps), *rest]


def _numbers(call: Call) -> bool:
    """Whether a call takes tensors and makes nothing that later calls use."""
    inside = [x for a in call.args for x in (a if isinstance(a, list) else [a])]
    return not call.load and any(isinstance(x, torch.Tensor) for x in inside)


def _other(value: Any) -> Any:
    """Arguments of the same shapes with other numbers in them; a mask is turned round."""
    match value:
        case torch.Tensor() if value.is_floating_point():
            return -0.7 * value
        case torch.Tensor() if value.dtype == torch.bool:
            return value.flip(-1)
        case list() | tuple():
            return type(value)(_other(v) for v in value)
        case Mapping():
            return {key: _other(v) for key, v in value.items()}
    return value
