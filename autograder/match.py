"""Which cell of a release is which of what was sent: by grade_id, by cell id, by what is in it."""

import ast
import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode


class Release:
    """The cells of a unit as it was handed out, by all that they can be found by."""

    def __init__(self, notebook: NotebookNode, translations: Iterable[NotebookNode] = ()) -> None:
        """translations: the same release in other languages, whose prose differs."""
        self.cells: list[NotebookNode] = notebook.cells
        self.graded = [i for i, cell in enumerate(self.cells) if mark(cell)]
        self.by_grade_id = {mark(self.cells[i])["grade_id"]: i for i in self.graded}
        self.by_id = {cell["id"]: i for i, cell in enumerate(self.cells) if "id" in cell}
        self.by_source = {words(cell): i for i, cell in enumerate(self.cells)}
        for other in translations:
            for cell in other.cells:
                place = self.by_id.get(cell.get("id"))
                if place is not None and not mark(self.cells[place]):
                    self.by_source.setdefault(words(cell), place)

    def is_answer(self, place: int) -> bool:
        return bool(mark(self.cells[place]).get("solution"))

    def is_locked(self, place: int) -> bool:
        """Whether the student's text of a cell does not count (nbgrader's `is_locked`)."""
        found = mark(self.cells[place])
        return bool(found.get("grade") or found.get("locked")) and not found.get("solution")

    def name(self, place: int) -> str:
        return mark(self.cells[place])["grade_id"]

    def answer_of(self, place: int) -> int | None:
        """The place of the answer that a test looks at: the nearest before it."""
        return next((i for i in range(place, -1, -1) if self.is_answer(i)), None)


@dataclass
class Slot:
    """A cell of what was sent; place: which cell of the release it is, None if it is their own."""

    cell: NotebookNode
    place: int | None = None


def mark(cell: NotebookNode) -> dict[str, Any]:
    """What nbgrader's metadata says of a cell that counts; {} for any other."""
    found = cell["metadata"].get("nbgrader")
    if not isinstance(found, dict) or not isinstance(found.get("grade_id"), str):
        return {}
    return found


def words(cell: NotebookNode) -> str:
    """The text of a cell, without the space around it."""
    return cell["source"].strip()


def find(slots: list[Slot], release: Release) -> list[str]:
    """Say of each cell which one of the release it is; an id of ours says more than a grade_id."""
    for slot in slots:
        slot.place = release.by_grade_id.get(mark(slot.cell).get("grade_id", ""))
        if slot.place is not None:
            slot.place = release.by_id.get(slot.cell["id"], slot.place)
    by_id = _find_missing(slots, release, _same_id)
    by_content = _find_missing(slots, release, _same_source)
    by_content += _find_missing(slots, release, _same_names)
    by_content += _written_answers(slots, release)
    ways = {"id": by_id, "content": by_content}
    return [_found_note(way, names) for way, names in ways.items() if names]


def _found_note(way: str, names: list[str]) -> str:
    which = ", ".join(names) if len(names) <= 3 else f"{len(names)} cells"
    return f"nbgrader's mark was gone; found again by {way}: {which}"


def _find_missing(slots: list[Slot], release: Release, look: Any) -> list[str]:
    """Place the cells that `look` recognises as one that is still missing; which ones count."""
    have = {slot.place for slot in slots}
    found = []
    for slot in slots:
        place = look(slot.cell, release, have) if slot.place is None else None
        if place is not None and place not in have:
            slot.place = place
            found.append(place)
    return [release.name(place) for place in dict.fromkeys(found) if place in release.graded]


def _same_id(cell: NotebookNode, release: Release, _: set) -> int | None:
    return release.by_id.get(cell["id"])


def _same_source(cell: NotebookNode, release: Release, _: set) -> int | None:
    return release.by_source.get(words(cell)) if words(cell) else None


def _same_names(cell: NotebookNode, release: Release, have: set) -> int | None:
    """The answer whose names a code cell defines, by text, since it need not be valid Python."""
    if cell.cell_type != "code":
        return None
    for place in release.graded:
        answer = release.cells[place]
        if place in have or not release.is_answer(place) or answer.cell_type != "code":
            continue
        names = _defined(answer["source"])
        if names and all(_defines(cell["source"], name) for name in names):
            return place
    return None


def _defined(stub: str) -> list[str]:
    """The names that a stub defines at its top level."""
    try:
        body = ast.parse(stub).body
    except SyntaxError:
        return []
    named = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    targets = [t for node in body if isinstance(node, ast.Assign) for t in node.targets]
    targets += [node.target for node in body if isinstance(node, ast.AnnAssign)]
    return named + [t.id for t in targets if isinstance(t, ast.Name)]


def _defines(source: str, name: str) -> bool:
    start = rf"^(?:(?:async\s+)?def|class)\s+{name}\b|^{name}\s*(?::[^=\n]+)?=(?!=)"
    return re.search(start, source, re.MULTILINE) is not None


def _written_answers(slots: list[Slot], release: Release) -> list[str]:
    """Find changed written answers by their neighbours: right after the question, or before what
    follows it."""
    have, found = {slot.place for slot in slots}, []
    for step, row in ((1, slots), (-1, slots[::-1])):
        for neighbour, slot in itertools.pairwise(row):
            place = None if neighbour.place is None else neighbour.place + step
            if slot.place is None and _is_written(slot, place, release) and place not in have:
                slot.place = place
                have.add(place)
                found.append(release.name(slot.place or 0))
    return found


def _is_written(slot: Slot, place: int | None, release: Release) -> bool:
    if place not in release.graded or not release.is_answer(place):
        return False
    return release.cells[place].cell_type == slot.cell.cell_type == "markdown"
