"""A small FFN in plain numbers: what one token is on its way through it."""

import math
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

D_MODEL, WIDEST = 4, 16
SHARES: dict[str, Callable[[float], float]] = {  # how much of a number each activation lets pass
    "relu": lambda z: float(z > 0),
    "gelu": lambda z: 0.5 * (1 + math.erf(z / math.sqrt(2))),
    "silu": lambda z: 1 / (1 + math.exp(-z)),
    "identity": lambda z: 1.0,
}


class Pass(NamedTuple):
    """A token on its way.

    x, delta (d_model): what is read and written. expanded (d_ff): what the activation sees; ups:
    what its result is multiplied by in a gated FFN, empty in a plain one; hidden: what comes of it.
    """

    x: list[float]
    expanded: list[float]
    ups: list[float]
    hidden: list[float]
    delta: list[float]


def _rows(seed: int) -> list[list[float]]:
    """Four normally distributed numbers for each hidden unit, with standard deviation 1/2."""
    draws = random.Random(seed)
    return [[draws.gauss(0, 0.5) for _ in range(D_MODEL)] for _ in range(WIDEST)]


W_IN, W_UP, W_OUT = _rows(4), _rows(5), _rows(6)


def through(x: list[float], d_ff: int, activation: str, gated: bool) -> Pass:
    """x through the first d_ff hidden units, without biases; activation: a key of SHARES."""
    share = SHARES[activation]
    expanded = [_dot(x, weights) for weights in W_IN[:d_ff]]
    ups = [_dot(x, weights) for weights in W_UP[:d_ff]] if gated else []
    hidden = [z * share(z) * up for z, up in zip(expanded, ups or [1.0] * d_ff, strict=True)]
    delta = [_dot(hidden, weights) for weights in zip(*W_OUT[:d_ff], strict=True)]
    return Pass(x, expanded, ups, hidden, delta)


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(p * q for p, q in zip(a, b, strict=True))
