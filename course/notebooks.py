"""From the blocks of a source file to the cells of a notebook in one language."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from blocklab.catalogue import MODULES
from course.cut import solution
from course.opening import opening, repository
from course.source import Block, Code, Paragraph, SourceError

ELSEWHERE = {"hint", "explain", "checklist"}  # what a notebook does not show, and blocklab gives
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def lecture(unit: str, blocks: Iterable[Block], language: str) -> NotebookNode:
    """A lecture notebook, not executed yet."""
    cells = [_ordinary(block, language) for block in blocks]
    first = opening("lectures", unit, language, repository())
    return _notebook(unit, [*first, *cells], language)


def front_page(blocks: Iterable[Block]) -> NotebookNode:
    """The start notebook, which speaks both languages at once."""
    return _notebook("start", [_ordinary(block, "en") for block in blocks], "en")


def exercise(unit: str, blocks: Iterable[Block], language: str) -> NotebookNode:
    """A solution notebook with nbgrader's metadata: what its release is generated from."""
    cells = [cell for block in blocks for cell in _exercise_cells(unit, block, language)]
    first = opening("exercises", unit, language, repository())
    return _notebook(unit, [*first, *_joined(cells)], language)


def _notebook(unit: str, cells: list[NotebookNode], language: str) -> NotebookNode:
    _distinct(cells)
    metadata = {
        "blocklab": {"language": language, "unit": unit},
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
    }
    notebook = new_notebook(cells=cells, metadata=metadata, nbformat_minor=5)
    nbformat.validate(notebook)
    return notebook


def _distinct(cells: list[NotebookNode]) -> None:
    """Number the ids of cells that say the same thing twice."""
    seen: dict[str, int] = {}
    for cell in cells:
        seen[cell.id] = seen.get(cell.id, 0) + 1
        if seen[cell.id] > 1:
            cell.id = f"{cell.id}-{seen[cell.id]}"


def _ordinary(block: Block, language: str) -> NotebookNode:
    if isinstance(block, Paragraph):
        return new_markdown_cell(block.to(language), id=_id("text", block.en))
    metadata = {"run": "learner"} if block.options.get("run") == "learner" else {}
    return new_code_cell(block.source, id=_id("code", block.source), metadata=metadata)


def _id(kind: str, words: str) -> str:
    return f"{kind}-{hashlib.sha1(words.encode()).hexdigest()[:10]}"


def _exercise_cells(unit: str, block: Block, language: str) -> Iterator[NotebookNode]:
    o = block.options
    if isinstance(block, Code) and "solution" in o:
        yield _solution(unit, block)
    elif isinstance(block, Code) and "test" in o:
        yield _test(block)
    elif isinstance(block, Code) and "puzzle" in o:
        yield from _puzzle(unit, block)
    elif isinstance(block, Code) and "locked" in o:
        yield _graded(new_code_cell(block.source), o["locked"], locked=True)
    elif isinstance(block, Paragraph) and "answer" in o:
        yield _answer(block)
        yield _call("self_check", o["answer"])
    elif not ELSEWHERE & o.keys():
        cell = _ordinary(block, language)
        if "written" in o:
            cell.metadata["written"] = {"name": o["written"], "points": o["points"]}
        yield cell


def _solution(unit: str, block: Code) -> NotebookNode:
    name = block.options["solution"]
    blank = tuple(str(block.options.get("blank", "")).split())
    source = solution(name, MODULES[unit], block.source, blank)
    cell = _graded(new_code_cell(source), f"{name}-answer", solution=True)
    if block.source:
        cell.metadata["blocklab"] = {"stub": block.source}
    return cell


def _puzzle(unit: str, block: Code) -> Iterator[NotebookNode]:
    """A puzzle's answer, check and hints: cells that nbgrader does not record."""
    name = block.options["puzzle"]
    solved = _solution(unit, Code(block.source, {**block.options, "solution": name}))
    del solved.metadata["nbgrader"]
    solved.id = f"puzzle-{name}"
    solved.metadata["blocklab"] = {"stub": block.source} if block.source else {"puzzle": True}
    yield from (solved, _call("check", name), _call("hint", name))


def _call(function: str, name: str) -> NotebookNode:
    return new_code_cell(f'{function}("{name}")', id=f"{function}-{name}")


def _test(block: Code) -> NotebookNode:
    name, points = block.options["test"], block.options.get("points")
    if points is None:
        raise SourceError(f"{name}: its check has no points")
    cell = new_code_cell(f'check("{name}")')
    return _graded(cell, name, grade=True, locked=True, points=float(points))


def _answer(block: Paragraph) -> NotebookNode:
    """The written answer: the model answer and the rubric, in both languages."""
    cell = new_markdown_cell(f"{block.en}\n\n---\n\n{block.ko}")
    return _graded(cell, block.options["answer"], grade=True, solution=True)


def _joined(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Each written answer takes its points from its question, where they stand."""
    asked = {}
    for cell in cells:
        if question := cell.metadata.pop("written", None):
            asked[question["name"]] = float(question["points"])
        graded = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown" and graded.get("grade"):
            if graded["grade_id"] not in asked:
                raise SourceError(f"{graded['grade_id']}: an answer without its question")
            graded["points"] = asked.pop(graded["grade_id"])
    if asked:
        raise SourceError(f"{', '.join(asked)}: a written question without an answer")
    return cells


def _graded(cell: NotebookNode, grade_id: str, **flags: Any) -> NotebookNode:
    """The cell with nbgrader's complete metadata."""
    metadata = {
        "cell_type": cell.cell_type,
        "grade": False,
        "grade_id": grade_id,
        "locked": False,
        "schema_version": 3,
        "solution": False,
        "task": False,
        **flags,
    }
    cell.metadata["nbgrader"] = metadata
    cell.id = re.sub(r"[^a-zA-Z0-9_-]", "-", grade_id)
    return cell


def entries(unit: str, blocks: Iterable[Block]) -> dict[str, dict[str, Any]]:
    """What the catalogue says of a unit's exercises: points, what they use, hints."""
    found: dict[str, dict[str, Any]] = {}
    hints: dict[str, list[list[str]]] = {}
    for block in blocks:
        o = block.options
        uses = str(o.get("uses", "")).split()
        if isinstance(block, Code) and "test" in o:
            found[o["test"]] = {"unit": unit, "points": o.get("points"), "uses": uses}
        elif isinstance(block, Code) and "puzzle" in o:
            found[o["puzzle"]] = {"unit": unit, "points": 0, "uses": uses, "puzzle": True}
        elif isinstance(block, Paragraph) and "hint" in o:
            hints.setdefault(o["hint"], []).append([block.en, block.ko])
    if stray := hints.keys() - found.keys():
        raise SourceError(f"{unit}: hints for {', '.join(sorted(stray))}, which has no check")
    return {name: {**entry, "hints": hints.get(name, [])} for name, entry in found.items()}
