"""Your own answers to earlier exercises: `from blocklab.mine import rms_norm`.

An answer is kept when its check passes. Where there is none yet, the course's own takes its
place, with a note, so that a mistake in one unit stops nobody in the next. While notebooks are
graded it is always the course's own.
"""

import ast
import builtins
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from blocklab import catalogue, record
from blocklab.grading import graded
from blocklab.text import Text

PRELUDE = """import math
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
"""
INSTEAD = Text(
    "{name}: the course's own, since yours has not passed its check here yet.",
    "{name}: 아직 check를 통과한 답이 없어서, 강좌의 구현을 씁니다.",
)


def __getattr__(name: str) -> Any:
    """The learner's answer of that name, or the reference.

    Raises AttributeError if no exercise has that name.
    """
    if name.startswith("__") or name not in catalogue.exercises():
        raise AttributeError(f"no exercise is called {name!r}")
    if graded():
        return catalogue.reference(name)
    try:
        return load(file(name).read_text("utf-8"))[name]
    except Exception:
        print(INSTEAD.fill(name=name))
        return catalogue.reference(name)


def file(name: str) -> Path:
    """Where the answer to an exercise is kept, if there is one."""
    return record.folder() / "mine" / f"{name}.py"


def put(name: str, source: str) -> None:
    """Keep this source as the answer to an exercise. Raises OSError where it cannot be written."""
    file(name).parent.mkdir(parents=True, exist_ok=True)
    file(name).write_text(source, "utf-8")


def load(source: str) -> dict[str, Any]:
    """Run the source of an answer in a namespace of its own and return that namespace."""
    namespace: dict[str, Any] = {"__name__": "mine"}
    exec(compile(PRELUDE, "<mine>", "exec"), namespace)
    exec(compile(source, "<mine>", "exec"), namespace)
    return namespace


def keep(name: str, source: str) -> bool:
    """Keep the answer of that name; its source is what `gather` gives.

    Returns whether it was kept: it must pass its check on its own, away from the notebook.
    """
    from blocklab.checks.candidate import LocalCandidate
    from blocklab.checks.examine import examine

    try:
        with contextlib.redirect_stdout(None):
            alone = load(source)
        if not examine(name, LocalCandidate(alone)).passed:
            return False
        put(name, source)
    except Exception:
        return False
    record.write({name: {**record.read().get(name, {}), "kept": record.now()}})
    return True


def gather(name: str, cells: Sequence[str]) -> str:
    """The source of a definition and of everything it needs, from the cells that have run.

    The latest definition counts; another exercise's answer is imported from here. It is "" where no
    cell defines the name.
    """
    defined = dict(pair for cell in cells for pair in _definitions(cell))
    wanted, parts = [name], dict[str, str]()
    while wanted:
        this = wanted.pop()
        if this in parts or this not in defined:
            continue
        parts[this] = defined[this]
        wanted += sorted(_globals_in(compile(defined[this], "<cell>", "exec")) - set(dir(builtins)))
    return "\n\n".join(reversed(parts.values())) + "\n" if parts else ""


def _definitions(cell: str) -> Iterator[tuple[str, str]]:
    """Top-level functions, classes, assignments and imports of a cell, each by its name."""
    try:
        body = ast.parse(cell).body
    except SyntaxError:  # a cell with %magic or !shell in it
        return
    for node in body:
        source = ast.get_source_segment(cell, node) or ""
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                above = [f"@{ast.unparse(d)}" for d in node.decorator_list]
                yield name, "\n".join([*above, source])
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name, source
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    yield (alias.asname or alias.name).split(".")[0], source


def _globals_in(code: CodeType) -> set[str]:
    """Every name that a piece of code, or a function inside it, may look up outside itself."""
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*map(_globals_in, inner))
