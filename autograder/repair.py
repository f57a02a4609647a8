"""A notebook as sent, made into one that nbgrader can grade, by the release it started from.

The release says which cells count. Each is found in what was sent by its grade_id, else by its cell
id, else by what is in it. Tests and locked cells come from the release; solutions and written
answers are the student's, to the letter. What is missing is put back empty. Every change is said.
"""

import copy
import re
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from autograder.archives import Refused
from autograder.match import Release, Slot, find, mark, words
from autograder.parse import clean, distinct_ids, parse, said_of_file

LANGUAGES = ("en", "ko")
USES = re.compile(r"""blocklab\.use\(["'](en|ko)["']\)""")


@dataclass(frozen=True)
class Repaired:
    """A notebook that nbgrader can grade, and what was done to it, a sentence each."""

    notebook: NotebookNode
    notes: list[str]

    def written(self) -> bytes:
        return (nbformat.writes(self.notebook) + "\n").encode()


def repair(data: bytes, release: Release, unit: str) -> Repaired:
    """What a student sent as a notebook that nbgrader can grade.

    Raises Refused with the reason where there is no notebook in it.
    """
    notebook, notes = clean(parse(data))
    notes = said_of_file(data) + notes
    slots = [Slot(cell) for cell in notebook.cells]
    notes += find(slots, release)
    slots, doubled = _without_doubles(slots, release)
    notes += doubled + _put_back(slots, release) + _restore(slots, release)
    notes += _reorder(slots, release)
    _give_ids(slots, release)
    notebook.cells = [slot.cell for slot in slots]
    notebook.metadata["blocklab"] = {"language": _language(notebook), "unit": unit}
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise Refused(f"cannot be made a valid notebook: {error.message[:200]}") from error
    return Repaired(notebook, notes)


def _language(notebook: NotebookNode) -> str:
    """The language the student worked in: the metadata, else the cell that sets it."""
    said = notebook.metadata.get("blocklab")
    if isinstance(said, dict) and said.get("language") in LANGUAGES:
        return said["language"]
    found = (USES.search(cell["source"]) for cell in notebook.cells if cell.cell_type == "code")
    return next((match[1] for match in found if match), "en")


# ---------------------------------------------------------------- doubles


def _without_doubles(slots: list[Slot], release: Release) -> tuple[list[Slot], list[str]]:
    """Leave one cell for each that counts: of answers the last edited one, of tests the last.

    Other edited copies become ordinary cells; untouched ones go, since they would undo the answer.
    """
    notes, gone = [], set()
    for place in release.graded:
        same = [slot for slot in slots if slot.place == place]
        if len(same) < 2:
            continue
        edited = [slot for slot in same if words(slot.cell) != words(release.cells[place])]
        counts = edited[-1] if edited and release.is_answer(place) else same[-1]
        untouched = [slot for slot in same if slot is not counts and slot not in edited]
        if release.is_answer(place):
            _move_up(slots, counts, untouched, place, release)
        gone |= {id(slot) for slot in untouched}
        for slot in same:
            slot.place = place if slot is counts else None
        notes.append(_double_note(release, place, len(same), len(edited)))
    return [slot for slot in slots if id(slot) not in gone], notes


def _move_up(
    slots: list[Slot], counts: Slot, untouched: list[Slot], place: int, release: Release
) -> None:
    """Put an answer that stands below its test where the untouched copy of it stood."""
    tests = [
        i for i, s in enumerate(slots) if s.place is not None and _tests(release, s.place, place)
    ]
    below = _at(slots, counts)
    for slot in untouched:
        here = _at(slots, slot)
        if any(here < test < below for test in tests):
            slots.insert(here, slots.pop(below))
            return


def _tests(release: Release, test: int, answer: int) -> bool:
    return release.is_locked(test) and release.answer_of(test) == answer


def _at(slots: list[Slot], slot: Slot) -> int:
    return next(i for i, other in enumerate(slots) if other is slot)


def _double_note(release: Release, place: int, number: int, edited: int) -> str:
    if not release.is_answer(place):
        return f"{release.name(place)}: found {number} times, one counts"
    which = {0: "all untouched", 1: "the edited one counts"}
    return (
        f"{release.name(place)}: found {number} times, {which.get(edited, 'the last one counts')}"
    )


# ---------------------------------------------------------------- restoring


def _put_back(slots: list[Slot], release: Release) -> list[str]:
    """Put each missing cell that counts after its nearest neighbour above that is there."""
    have = {slot.place for slot in slots}
    missing = [place for place in release.graded if place not in have]
    for place in missing:
        at = {slot.place: i for i, slot in enumerate(slots) if slot.place is not None}
        above = next((at[i] for i in range(place, -1, -1) if i in at), -1)
        slots.insert(above + 1, Slot(copy.deepcopy(release.cells[place]), place))
    empty = [release.name(place) for place in missing if release.is_answer(place)]
    others = [release.name(place) for place in missing if not release.is_answer(place)]
    ways = {"put back": others, "put back as an empty answer": empty}
    return [f"{', '.join(found)}: not there; {way}" for way, found in ways.items() if found]


def _restore(slots: list[Slot], release: Release) -> list[str]:
    """Give every cell that counts the release's metadata, and locked ones its text.

    What a student wrote into a locked cell, such as an import, stays as a cell of its own above it.
    """
    notes = []
    for slot in list(slots):
        changed = copy.deepcopy(slot.cell)
        changed["metadata"].pop("nbgrader", None)
        if slot.place in release.graded:
            notes += _restore_cell(slot.cell, release, slot.place)
            if words(slot.cell) != words(changed) and words(changed) not in release.by_source:
                changed["id"] = "none"
                slots.insert(_at(slots, slot), Slot(changed))
        else:
            slot.cell["metadata"] = changed["metadata"]
            _mark_long_training(slot, release)
    return notes


def _give_ids(slots: list[Slot], release: Release) -> None:
    """Cells of the release get its ids, and no other cell has one of those."""
    ids = {id(s): release.cells[s.place].get("id") for s in slots if s.place is not None}
    for slot in slots:
        if slot.cell["id"] in ids.values() or id(slot) in ids:
            slot.cell["id"] = ids.get(id(slot)) or "none"
    distinct_ids([slot.cell for slot in slots])


def _mark_long_training(slot: Slot, release: Release) -> None:
    """Say again of a cell that grading does not run it, where an editor took that off."""
    said = {} if slot.place is None else release.cells[slot.place]["metadata"]
    if "run" in said:
        slot.cell["metadata"]["run"] = said["run"]


def _restore_cell(cell: NotebookNode, release: Release, place: int) -> list[str]:
    original, name, notes = release.cells[place], release.name(place), []
    if cell.cell_type != original.cell_type:
        notes.append(f"{name}: was turned into {cell.cell_type}; restored")
        _turn_into(cell, original.cell_type)
    if release.is_locked(place) and cell["source"] != original["source"]:
        notes += [] if notes else [f"{name}: was changed; restored"]
        cell["source"] = original["source"]
    version = mark(cell).get("schema_version")
    if version is not None and version != mark(original).get("schema_version"):
        notes.append(f"{name}: nbgrader schema {str(version)[:20]} read")
    cell["metadata"] = copy.deepcopy(original["metadata"])
    return notes


def _turn_into(cell: NotebookNode, kind: str) -> None:
    cell["cell_type"] = kind
    for key in ("attachments", "outputs", "execution_count"):
        cell.pop(key, None)
    if kind == "code":
        cell.update(outputs=[], execution_count=None)


def _reorder(slots: list[Slot], release: Release) -> list[str]:
    """Move locked cells, never others: a test below its answer, imports above all answers."""
    notes = []
    for place in filter(release.is_locked, release.graded):
        have = {slot.place: i for i, slot in enumerate(slots) if slot.place is not None}
        here, answer = have[place], release.answer_of(place)
        first = min((have[i] for i in release.graded if i > place), default=len(slots))
        if answer is not None and here < have[answer]:
            slots.insert(have[answer], slots.pop(here))
        elif answer is None and first < here:
            slots.insert(first, slots.pop(here))
        else:
            continue
        notes.append(f"{release.name(place)}: stood in the wrong place; moved")
    return notes
