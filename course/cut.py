"""Cutting an exercise's solution out of blocklab/reference, so that it is never typed twice."""

import ast
import importlib
import inspect

from blocklab.widgets.rewrite import rewrite
from course.source import SourceError

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def solution(name: str, module: str, stub: str, blank: tuple[str, ...] = ()) -> str:
    """The source of a solution cell.

    name: of the exercise; module: of blocklab.reference; stub: what the learner sees in place of
    a value, "" for a function or a class; blank: the methods whose body is the solution.
    Raises SourceError if the reference has nothing of that name.
    """
    source = inspect.getsource(importlib.import_module(f"blocklab.reference.{module}"))
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return _function(source, node)
        if isinstance(node, ast.ClassDef) and node.name == name:
            return _class(source, node, blank)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return _value(source, node, name, stub)
    raise SourceError(f"{name}: blocklab/reference/{module}.py has nothing of that name")


def _value(source: str, node: ast.Assign, name: str, stub: str) -> str:
    if not stub:
        raise SourceError(f"{name}: a value needs a stub in its solution cell")
    if "fill_in(" in stub or "paint_mask(" in stub:
        return rewrite(stub, name, ast.literal_eval(node.value))
    return "\n".join(source.split("\n")[node.lineno - 1 : node.end_lineno])


def _function(source: str, node: ast.FunctionDef) -> str:
    lines = _marked(source.split("\n"), [node])
    return "\n".join(lines[_first(node) - 1 : (node.end_lineno or 0) + 2])


def _class(source: str, node: ast.ClassDef, blank: tuple[str, ...]) -> str:
    methods = [n for n in node.body if isinstance(n, ast.FunctionDef)]
    chosen = [m for m in methods if (m.name in blank if blank else m.name != "__init__")]
    lines = _marked(source.split("\n"), chosen)
    return "\n".join(lines[_first(node) - 1 : (node.end_lineno or 0) + 2 * len(chosen)])


def _first(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _marked(lines: list[str], functions: list[ast.FunctionDef]) -> list[str]:
    """The lines with the body of each function, after its docstring, between the markers."""
    for node in sorted(functions, key=lambda n: -n.lineno):
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        indent = " " * body[0].col_offset
        start, end = body[0].lineno - 1, node.end_lineno or 0
        lines = [*lines[:start], indent + BEGIN, *lines[start:end], indent + END, *lines[end:]]
    return lines
