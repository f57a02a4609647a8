"""What an answer gave, as data: no object of the answer's can speak for itself in it."""

import itertools
import types
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import _IncompatibleKeys
from torch.nn.parameter import UninitializedParameter

LONGEST, NAME = 2000, 200  # characters of a string, and of a name that a learner chose
MOST, DEEPEST = 1000, 4  # elements of a list or dict, and how deep they may be nested
BITS = 1024  # of a whole number; every float is below


@dataclass(frozen=True)
class Strange:
    """A value that is not data: the name of its type stands for it."""

    kind: str


@dataclass(frozen=True)
class Module:
    """A module that the answer built: the shape of each parameter, by dotted name."""

    parameters: Mapping[str, tuple[int, ...]]

    def __post_init__(self) -> None:
        shapes = {name: tuple(shape) for name, shape in self.parameters.items()}
        object.__setattr__(self, "parameters", shapes)  # lists, where they came over the wire


def parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    """A module's parameters by dotted name, whatever its class says of them; shared ones once.

    A module whose __init__ never came to nn.Module's has none.
    """
    try:
        return dict(nn.Module.named_parameters(module))
    except AttributeError:
        return {}


def words(value: str, most: int | None = LONGEST) -> str:
    """A string that can be written down: not too long, and without half characters.

    most: characters that are kept; all of them where it is None.
    """
    return value[:most].encode("utf-8", "replace").decode()


def _shape(parameter: nn.Parameter) -> tuple[int, ...]:
    """A lazy parameter, which has no shape before the first call, counts as empty."""
    return () if isinstance(parameter, UninitializedParameter) else tuple(parameter.shape)


def plain(value: Any, depth: int = 0) -> Any:
    """A value as data: exact types only, so that no object can answer for itself."""
    kind = type(value)
    if kind in (Tensor, nn.Parameter):
        odd = _odd(value)
        return Strange(f"Tensor ({odd})") if odd else value.detach().clone()
    if kind is str:
        return words(value)
    if kind is int and value.bit_length() > BITS:
        return Strange(f"int ({value.bit_length():,} bits)")
    if value is None or kind in (bool, int, float):
        return value
    if kind is Fraction:
        return float(value)
    if kind is _IncompatibleKeys:  # what load_state_dict says of keys that it left alone
        return None
    for base in (list, tuple):
        if issubclass(kind, base) and depth < DEEPEST:  # its own way to be looped over is not asked
            return [plain(v, depth + 1) for v in itertools.islice(base.__iter__(value), MOST)]
    if kind is dict and depth < DEEPEST:
        items = itertools.islice(value.items(), MOST)
        return {words(str(k), NAME): plain(v, depth + 1) for k, v in items}
    if isinstance(value, nn.Module):
        own = itertools.islice(parameters(value).items(), MOST)
        return Module({words(name): _shape(p) for name, p in own})
    if kind.__module__ == "numpy" and kind.__name__ in _NUMPY:
        return plain(value.tolist(), depth)
    return Strange("generator" if kind is types.GeneratorType else words(kind.__name__, NAME))


def _odd(tensor: Tensor) -> str:
    """What keeps a tensor from being compared with, or sent as, a plain one on the CPU."""
    if tensor.device.type != "cpu":
        return str(tensor.device)
    if tensor.is_nested:
        return "nested"
    if tensor.layout != torch.strided:
        return str(tensor.layout).removeprefix("torch.")
    return "" if tensor.dtype in _DTYPES else str(tensor.dtype).removeprefix("torch.")


_DTYPES = {
    torch.bool,
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
}
_NUMPY = {"bool", "bool_", "ndarray"} | {
    f"{kind}{bits}" for kind in ("float", "int", "uint") for bits in (8, 16, 32, 64)
}
