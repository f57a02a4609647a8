"""The course's own answers, with what the authors say about their lines.

`solutions.json` is built from the course's source. While submissions are graded it is not there,
and what reads it raises FileNotFoundError.
"""

import ast
import functools
import importlib
import inspect
from typing import Any, NamedTuple

from blocklab import catalogue
from blocklab.text import Text


class Note(NamedTuple):
    """What is to be said of a fragment of the source."""

    fragment: str
    says: Text


class Explanation(NamedTuple):
    """What is to be said of an exercise's answer: as a whole, and of some of its lines."""

    opening: Text
    notes: tuple[Note, ...]


class Written(NamedTuple):
    """A written question: its model answer in Markdown, and what a good answer says."""

    answer: Text
    checklist: tuple[Text, ...]


@functools.cache
def _built() -> dict[str, Any]:
    return catalogue.built("solutions")


def explanation(name: str) -> Explanation:
    """What is said of an exercise; empty where its authors have said nothing."""
    entry = _built()["exercises"].get(name, {"opening": ["", ""], "notes": []})
    notes = tuple(Note(fragment, Text(*says)) for fragment, *says in entry["notes"])
    return Explanation(Text(*entry["opening"]), notes)


def written(name: str) -> Written:
    """The model answer to a written question. Raises KeyError if there is no such question."""
    entry = _built()["written"][name]
    return Written(Text(*entry["answer"]), tuple(Text(*item) for item in entry["checklist"]))


def source_of(name: str, unit: str) -> str:
    """The source of the course's own answer, without docstrings: they stand in the exercise.

    Raises KeyError if the unit's reference has nothing of that name.
    """
    module = importlib.import_module(f"blocklab.reference.{catalogue.MODULES[unit]}")
    source = inspect.getsource(module)
    node = next((node for node in ast.parse(source).body if name in _defined(node)), None)
    if node is None:
        raise KeyError(name)
    lines = source.split("\n")
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(inner):
            doc = inner.body[0]
            lines[doc.lineno - 1 : doc.end_lineno] = [""] * (
                (doc.end_lineno or doc.lineno) - doc.lineno + 1
            )
    return "\n".join(_tight(lines[_first(node) - 1 : node.end_lineno]))


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    return [t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)]


def _first(node: ast.stmt) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def _tight(lines: list[str]) -> list[str]:
    """The lines with no empty one after another, nor after the head of a definition."""
    return [
        line
        for before, line in zip(["", *lines], lines, strict=False)
        if line.strip() or (before.strip() and not before.endswith(":"))
    ]


def places(fragments: list[str], source: str) -> list[int]:
    """The line, from 0, on which each fragment stands; -1 where there is none.

    Fragments come in the order of the source: each is looked for from the line of the one before,
    and if it is not there, from the start.
    """
    lines, found, at = source.split("\n"), list[int](), 0
    for fragment in fragments:
        order = [*range(at, len(lines)), *range(at)]
        line = next((i for i in order if fragment in lines[i]), -1)
        found.append(line)
        at = max(line, 0)
    return found
