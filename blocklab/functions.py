"""A small vocabulary of callables, described as data.

A check hands callables to an answer (a sublayer, a norm, a whole block). They are described here
rather than pickled, so that a check can be sent to an answer that lives in another process.
`build` makes the real thing, an `nn.Module`, where the answer lives.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


class Function:
    """A callable described as data."""


@dataclass(frozen=True, eq=False)
class Linear(Function):
    """x W^T + b on the last axis; weight (out, in), bias (out,) or None."""

    weight: Tensor
    bias: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Activation(Function):
    """An elementwise function of torch, by name: "tanh", "relu", "sigmoid", …"""

    name: str


@dataclass(frozen=True, eq=False)
class Scale(Function):
    """x times a number; Scale(0.0) writes nothing, Scale(1.0) is the identity."""

    by: float


@dataclass(frozen=True, eq=False)
class Shift(Function):
    """x plus a fixed tensor."""

    by: Tensor


@dataclass(frozen=True, eq=False)
class RMS(Function):
    """RMSNorm over the last axis with a gain (d,)."""

    gain: Tensor
    eps: float = 1e-6


@dataclass(frozen=True, eq=False)
class Layer(Function):
    """LayerNorm over the last axis with gain and bias (d,)."""

    gain: Tensor
    bias: Tensor
    eps: float = 1e-5


@dataclass(frozen=True, eq=False)
class MixTokens(Function):
    """Mixes positions with fixed weights (T, T), a row for what each position takes.

    Called with a mask (T, T), as attention is, it leaves out what the mask does not allow; called
    with a function `rotate`, it mixes rotate(x).
    """

    weights: Tensor


@dataclass(frozen=True, eq=False)
class Chain(Function):
    """One function after the other, the first listed first."""

    parts: tuple[Function, ...]


@dataclass(frozen=True, eq=False)
class Sum(Function):
    """The sum of several functions of the same input."""

    parts: tuple[Function, ...]


@dataclass(frozen=True, eq=False)
class Record(Function):
    """The same function, which also writes down, under `name`, what it was given.

    A mask that it is called with is written down too, under `name` + ".mask".
    """

    inner: Function
    name: str


@dataclass(frozen=True, eq=False)
class Wired(Function):
    """A block of four parts, and which of them reads what: rightly, or with a wire wrong.

    parts: norm1, attention, norm2 and ffn.
    steps: (part, sources), one after the other: that part reads the sum of its sources, where 0
        is the block's input and n the result of the n-th step.
    output: the sources whose sum the block gives.
    """

    parts: tuple[Function, Function, Function, Function]
    steps: Sequence[tuple[int, Sequence[int]]]
    output: Sequence[int]


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
    _described: Function
    _records: Records

    def __init__(self, described: Function, records: Records) -> None:
        super().__init__()
        self.__dict__.update(_described=described, _records=records)
        parts: Sequence[Function] = getattr(described, "parts", ())
        if isinstance(described, Record):
            parts = (described.inner,)
        if parts:
            self.parts = nn.ModuleList(Built(part, records) for part in parts)
        for name in ("weight", "bias", "gain"):
            if hasattr(described, name):
                value = getattr(described, name)
                self.register_parameter(
                    name, None if value is None else nn.Parameter(value.clone())
                )
        if isinstance(described, Linear):
            self.out_features, self.in_features = described.weight.shape

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        rotate: Callable[[Tensor], Tensor] | None = None,
    ) -> Tensor:
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
                x = x if rotate is None else rotate(x)
                return (f.weights if mask is None else f.weights * mask) @ x
            case Chain():
                for part in self.parts:
                    x = part(x, mask, rotate)
                return x
            case Sum():
                return torch.stack([part(x, mask, rotate) for part in self.parts]).sum(0)
            case Record():
                self._records.setdefault(f.name, []).append(x.detach().clone())
                if mask is not None:
                    self._records.setdefault(f"{f.name}.mask", []).append(mask.detach().clone())
                return self.parts[0](x, mask, rotate)
        raise TypeError(f"no such function: {f!r}")


class WiredBlock(nn.Module):
    """A `Wired` block made real. Any function of one argument may take the place of a part."""

    def __init__(self, described: Wired, records: Records) -> None:
        super().__init__()
        names = ("norm1", "attention", "norm2", "ffn")
        for name, part in zip(names, described.parts, strict=True):
            setattr(self, name, build(part, records))

        def wires(x: Tensor) -> Tensor:
            values = [x]
            for part, sources in described.steps:
                values.append(getattr(self, names[part])(_sum(values, sources)))
            return _sum(values, described.output)

        self._wires = wires

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__.get("_modules", {}).pop(name, None)
        super().__setattr__(name, value)

    def forward(self, x: Tensor) -> Tensor:
        return self._wires(x)


def _sum(values: Sequence[Tensor], sources: Sequence[int]) -> Tensor:
    first, *others = (values[source] for source in sources)
    return sum(others, first)


def build(described: Function, records: Records | None = None) -> nn.Module:
    """The described function as an `nn.Module` from (…, d) to (…, d')."""
    records = {} if records is None else records
    if isinstance(described, Wired):
        return WiredBlock(described, records)
    return Built(described, records)
