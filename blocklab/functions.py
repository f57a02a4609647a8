"""A small vocabulary of callables, described as data.

A check hands callables to an answer (a sublayer, a norm, a whole block). They are described here
rather than pickled, so that a check can be sent to an answer that lives in another process.
`build` makes the real thing, an `nn.Module`, where the answer lives.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Linear:
    """x W^T + b on the last axis; weight (out, in), bias (out,) or None."""

    weight: Tensor
    bias: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Activation:
    """An elementwise function of torch, by name: "tanh", "relu", "sigmoid", …"""

    name: str


@dataclass(frozen=True, eq=False)
class Scale:
    """x times a number; Scale(0.0) writes nothing, Scale(1.0) is the identity."""

    by: float


@dataclass(frozen=True, eq=False)
class Shift:
    """x plus a fixed tensor."""

    by: Tensor


@dataclass(frozen=True, eq=False)
class RMS:
    """RMSNorm over the last axis with a gain (d,)."""

    gain: Tensor
    eps: float = 1e-6


@dataclass(frozen=True, eq=False)
class Layer:
    """LayerNorm over the last axis with gain and bias (d,)."""

    gain: Tensor
    bias: Tensor
    eps: float = 1e-5


@dataclass(frozen=True, eq=False)
class MixTokens:
    """Mixes positions with fixed weights (T, T), a row for what each position takes."""

    weights: Tensor


@dataclass(frozen=True, eq=False)
class Chain:
    """One function after the other, the first listed first."""

    parts: tuple["Function", ...]


@dataclass(frozen=True, eq=False)
class Sum:
    """The sum of several functions of the same input."""

    parts: tuple["Function", ...]


@dataclass(frozen=True, eq=False)
class Record:
    """The same function, which also writes down, under `name`, what it was given."""

    inner: "Function"
    name: str


Function = Linear | Activation | Scale | Shift | RMS | Layer | MixTokens | Chain | Sum | Record
Records = dict[str, list[Tensor]]
IDENTITY = Scale(1.0)
NOTHING = Scale(0.0)


def chain(*parts: Function) -> Chain:
    return Chain(parts)


def residual(inner: Function) -> Sum:
    """x + inner(x)."""
    return Sum((IDENTITY, inner))


class Built(nn.Module):
    """A described function made real. Its parameters are those of its description."""

    weight: Tensor
    bias: Tensor
    gain: Tensor

    def __init__(self, described: Function, records: Records) -> None:
        super().__init__()
        self._described = described
        self._records = records
        parts: Sequence[Function] = getattr(described, "parts", ())
        if isinstance(described, Record):
            parts = (described.inner,)
        self.parts = nn.ModuleList(Built(part, records) for part in parts)
        for name in ("weight", "bias", "gain"):
            value = getattr(described, name, None)
            self.register_parameter(name, None if value is None else nn.Parameter(value.clone()))

    def forward(self, x: Tensor) -> Tensor:
        f = self._described
        match f:
            case Linear():
                return nn.functional.linear(x, self.weight, self.bias)
            case Activation():
                return getattr(torch, f.name)(x)
            case Scale():
                return x * f.by
            case Shift():
                return x + f.by
            case RMS():
                return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + f.eps) * self.gain
            case Layer():
                return nn.functional.layer_norm(x, x.shape[-1:], self.gain, self.bias, f.eps)
            case MixTokens():
                return f.weights @ x
            case Chain():
                for part in self.parts:
                    x = part(x)
                return x
            case Sum():
                return torch.stack([part(x) for part in self.parts]).sum(0)
            case Record():
                self._records.setdefault(f.name, []).append(x.detach().clone())
                return self.parts[0](x)
        raise TypeError(f"no such function: {f!r}")


def build(described: Function, records: Records | None = None) -> nn.Module:
    """The described function as an `nn.Module` from (…, d) to (…, d')."""
    return Built(described, {} if records is None else records)
