"""Probes and outcomes as bytes, so that an answer can live in another process.

A message is one safetensors file: the tensors, and in its metadata the rest as JSON. Nothing in
it is code: only the types listed here are made from what comes in.
"""

import dataclasses
import json
import math
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

from blocklab import functions, probe
from blocklab.config import BlockConfig
from blocklab.plain import Module, Strange
from blocklab.text import Text

_TYPES: dict[str, type] = {
    t.__name__: t
    for t in (
        *functions.Function.__subclasses__(),
        BlockConfig,
        *(probe.Result, probe.Other, probe.Read, probe.Call),
        *(probe.Problem, Strange, Module, probe.Outcome),
    )
}
_KEPT_AS_TUPLE = {"changed", "marked", "args", "parts"}


class WireError(ValueError):
    """Bytes that are no message."""


def dumps(value: Any) -> bytes:
    """A value of numbers, strings, lists, dicts, tensors and described calls as bytes.

    Raises TypeError for anything else.
    """
    tensors: dict[str, Tensor] = {}
    tree = _tree(value, tensors)
    return save(tensors or {"none": torch.zeros(1)}, {"tree": json.dumps(tree)})


def loads(message: bytes) -> Any:
    """The value that `dumps` was given; tuples come back as lists except where a call has them.

    Raises WireError if the bytes are not such a message.
    """
    try:
        size = int.from_bytes(message[:8], "little")
        header = json.loads(message[8 : 8 + size])
        return _value(json.loads(header["__metadata__"]["tree"]), load(message))
    except Exception as error:
        raise WireError(f"not a message of this course: {type(error).__name__}") from error


def _tree(value: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, Tensor):
        key = str(len(tensors))
        tensors[key] = value.detach().contiguous().clone()
        return {"tensor": key}
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else {"int": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, Text):
        return {"text": [value.en, value.ko]}
    if isinstance(value, list | tuple):
        return [_tree(v, tensors) for v in value]
    if isinstance(value, dict):
        return {"dict": [[k, _tree(v, tensors)] for k, v in value.items()]}
    name = type(value).__name__
    if _TYPES.get(name) is type(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {"type": name, "fields": {k: _tree(v, tensors) for k, v in fields.items()}}
    raise TypeError(f"{type(value)} cannot be sent")


def _value(tree: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(tree, list):
        return [_value(v, tensors) for v in tree]
    if not isinstance(tree, dict):
        return tree
    if "type" in tree:
        fields = {k: _value(v, tensors) for k, v in tree["fields"].items()}
        tuples = {k: tuple(v) for k, v in fields.items() if k in _KEPT_AS_TUPLE}
        return _TYPES[tree["type"]](**{**fields, **tuples})
    (kind, inner), *rest = tree.items()
    if rest:
        raise WireError("a tree with more than one kind")
    match kind:
        case "tensor":
            return tensors[inner]
        case "int" | "float":
            return (int if kind == "int" else float)(inner)
        case "text":
            return Text(*inner)
        case "dict":
            return {k: _value(v, tensors) for k, v in inner}
    raise WireError(f"no such kind: {kind}")
