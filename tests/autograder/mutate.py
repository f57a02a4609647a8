"""Notebooks spoilt by chance: their bytes, their JSON, their metadata, the order of their cells."""

import copy
import json
import random
from collections.abc import Callable
from typing import Any

ODD: list[Any] = [
    None, True, -1, 4, 10**30, 1.5, float("nan"), float("inf"), "", "x", "rms_norm", "\ud800",
    "한글", [], {}, [[]], ["a", 1], {"a": {"b": []}}, {"grade_id": "rms_norm"}, "\x00", [None],
    " " * 9,
]  # fmt: skip


def spoil(notebook: dict[str, Any], seed: int) -> tuple[str, bytes]:
    """One spoilt notebook and how it was spoilt; the same seed gives the same."""
    chance = random.Random(seed)
    kind = chance.choice([*KINDS])
    made = KINDS[kind](copy.deepcopy(notebook), chance)
    return kind, made if isinstance(made, bytes) else _written(made)


def _written(notebook: Any) -> bytes:
    return json.dumps(notebook, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _bytes(notebook: dict[str, Any], chance: random.Random) -> bytes:
    data = bytearray(_written(notebook))
    for _ in range(chance.randint(1, 8)):
        start = chance.randrange(len(data))
        end = start + chance.choice([1, 1, 1, 10, 1000])
        with_what = chance.choice([b"", b"\xff", b"\0", b'"', b"}", data[start:end] * 2])
        data[start:end] = with_what
    cut = chance.choice([None, None, None, chance.randrange(len(data)), 0])
    return bytes(data[:cut])


def _nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, item in pairs:
        found.append((value, key))
        if isinstance(item, dict | list):
            found += _nodes(item)
    return found


def _json(notebook: Any, chance: random.Random, root: Any = None) -> Any:
    for _ in range(chance.randint(1, 6)):
        nodes = _nodes(notebook if root is None else root)
        if not nodes:
            break
        container, key = chance.choice(nodes)
        action = chance.choice(["replace", "replace", "delete", "double"])
        if action == "replace":
            container[key] = copy.deepcopy(chance.choice(ODD))
        elif action == "delete":
            del container[key]
        elif isinstance(container, list):
            container.insert(key, copy.deepcopy(container[key]))
    return notebook


def _metadata(notebook: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    for cell in chance.sample(notebook["cells"], chance.randint(1, len(notebook["cells"]))):
        action = chance.choice(["strip", "spoil", "swap", "id", "colab", "nothing"])
        if action == "strip":
            cell["metadata"] = {}
        elif action == "spoil" and cell["metadata"]:
            _json(None, chance, cell["metadata"])
        elif action == "swap":
            other = chance.choice(notebook["cells"])
            cell["metadata"], other["metadata"] = other["metadata"], cell["metadata"]
        elif action == "id":
            cell["id"] = chance.choice([None, "", "twice", "not valid!", 7, "x" * 90])
        elif action == "colab":
            cell["metadata"] |= {"id": cell.pop("id", "x"), "executionInfo": {"user": {"a": 1}}}
    return notebook


def _order(notebook: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    cells = notebook["cells"]
    for _ in range(chance.randint(1, 10)):
        action = chance.choice(["move", "copy", "shuffle"])
        if action == "move":
            cells.insert(chance.randrange(len(cells)), cells.pop(chance.randrange(len(cells))))
        elif action == "copy":
            doubled = copy.deepcopy(chance.choice(cells))
            cells.insert(chance.randrange(len(cells)), doubled)
        elif chance.random() < 0.1:
            chance.shuffle(cells)
    return notebook


KINDS: dict[str, Callable[..., Any]] = {
    "bytes": _bytes, "json": _json, "metadata": _metadata, "order": _order,
}  # fmt: skip
