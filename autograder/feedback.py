"""What a student may see of an instructor's hidden tests: that there are some, and no more."""

import ast
import re
from textwrap import dedent
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests
from traitlets import List

from autograder.judge import mapped

CUT = "…"
FAILED = "{name} in a hidden test · 숨겨진 테스트에서 {name}"


class HideTests(ClearHiddenTests):
    """Takes hidden tests out of a graded notebook, and what they say out of every output.

    Their lines and the strings in them go literally. What a student's code has made of them, such
    as a string reversed, cannot be known: a check is judged elsewhere, a plain test is not.
    """

    display_data_priority = List(config=True)  # nbgrader sets it for all that it runs here

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        before = [cell.source for cell in nb.cells]
        hiding = [cell for cell in nb.cells if self._remove_hidden_test_region(cell)]
        pairs = zip(before, nb.cells, strict=True)
        secrets = {secret for old, cell in pairs for secret in _secrets(old, cell)}
        for cell in hiding:
            cell.outputs = [_without_traceback(output) for output in cell.get("outputs", [])]
        if secrets:
            pattern = re.compile("|".join(map(re.escape, sorted(secrets, key=len, reverse=True))))
            for cell in nb.cells:
                if "outputs" in cell:
                    cell.outputs = mapped(cell.outputs, lambda words: pattern.sub(CUT, words))
        return nb, resources


def _secrets(before: str, cell: NotebookNode) -> set[str]:
    """The lines that were taken out of a cell, and the longer strings in them."""
    left = cell.source.splitlines()
    lines = [line for line in before.splitlines() if line not in left]
    try:
        tree: ast.AST = ast.parse(dedent("\n".join(lines)))
    except SyntaxError:
        tree = ast.Module([], [])
    strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    found = [line.strip() for line in lines] + [s for s in strings if isinstance(s, str)]
    return {s for s in found if len(s) > 3}


def _without_traceback(output: NotebookNode) -> NotebookNode:
    if output.output_type != "error":
        return output
    words = FAILED.format(name=output.ename)
    return NotebookNode(output, evalue="", traceback=[words])
