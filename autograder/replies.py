"""What a kernel may reply: outcomes as `probe.run` makes them, of data within the same bounds."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from blocklab.plain import BITS, DEEPEST, LONGEST, MOST, Module, Strange
from blocklab.probe import Outcome, Problem


def sound(outcome: Any) -> bool:
    """Whether it is an outcome that an honest kernel could have sent."""
    return (
        isinstance(outcome, Outcome)
        and _data(outcome.value)
        and (outcome.error is None or _problem(outcome.error))
        and all(type(position) is int for position in (*outcome.changed, *outcome.marked))
        and _named(outcome.gradients)
        and all(isinstance(g, Tensor | None) for g in outcome.gradients.values())
        and _named(outcome.records)
        and all(_tensors(seen) for seen in outcome.records.values())
    )


def _data(value: Any, depth: int = 0) -> bool:
    match value:
        case None | bool() | float() | Tensor():
            return True
        case int():
            return value.bit_length() <= BITS
        case str():
            return _words(value)
        case Strange():
            return _words(value.kind)
        case Module():
            return _named(value.parameters)
    if depth >= DEEPEST or not isinstance(value, list | dict) or len(value) > MOST:
        return False
    inside = value if isinstance(value, list) else value.values()
    return all(_data(v, depth + 1) for v in inside) and (value is inside or _named(value))


def _problem(error: Any) -> bool:
    return isinstance(error, Problem) and all(map(_words, (error.kind, error.words, error.line)))


def _words(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST


def _named(values: Any) -> bool:
    """Whether it is a mapping with names of a bearable length, and not too many."""
    return isinstance(values, Mapping) and len(values) <= MOST and all(map(_words, values))


def _tensors(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(v, Tensor) for v in values)
