"""Notebooks spoilt by chance, all the way: each ends in a mark or in a reason, and harms no other.

The file of a student named after the seed is `spoil` of an exercise that is all done, or half.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.classroom import make_class
from autograder.demo import Student, hand_in
from autograder.grade import Mark, grade, marks
from autograder.intake import collect
from autograder.rows import COLLECTED, Row
from blocklab import catalogue
from tests.autograder.kernels import need_sandbox
from tests.autograder.mutate import spoil
from tests.autograder.sending import NOW, lay

UNITS = ("01_residual_add", "02_rms_norm")
SIZE = 50  # students of one class
DONE = {"whole": 1.0, "half": 0.5}  # the share that a student did before chance came
PARTS = [pytest.param(i, marks=[pytest.mark.full] if i > 1 else []) for i in range(2000 // SIZE)]


@dataclass(frozen=True)
class Class:
    """What became of a class, by student: rows of the table, troubles of grading, marks, pages."""

    rows: dict[str, Row]
    troubles: dict[str, str]
    marks: dict[str, Mark]
    pages: set[str]


def kind_of(seed: int) -> str:
    return "half" if seed % 3 == 0 else "whole"


def unspoilt(unit: str, language: str, kind: str) -> dict[str, Any]:
    return hand_in(unit, Student(kind, language, only=DONE[kind]))


def checked(unit: str) -> float:
    """The points of a unit that no person has to give."""
    return sum(
        exercise.points for exercise in catalogue.exercises().values() if exercise.unit == unit
    )


def files(unit: str, seeds: range) -> dict[str, bytes]:
    """By place: the spoilt notebooks, and an unspoilt one of each kind."""
    made = {}
    for seed in seeds:
        sent = unspoilt(unit, "ko" if seed % 2 else "en", kind_of(seed))
        made[f"s{seed}/{unit}.ipynb"] = spoil(sent, seed)[1]
    for kind in DONE:
        made[f"{kind}/{unit}.ipynb"] = json.dumps(unspoilt(unit, "en", kind)).encode()
    return made


def taught(folder: Path, unit: str, seeds: range) -> Class:
    """A class of these seeds, collected and graded."""
    make_class(folder / "class")
    with open(folder / "class" / "nbgrader_config.py", "a") as config:
        config.write("c.Execute.timeout = 10\n")
    rows = collect(folder / "class", [lay(folder / "sent", files(unit, seeds))], unit, now=NOW)
    troubles = dict(grade(folder / "class", unit))
    return Class(
        {row.student: row for row in rows},
        {student: said for student, said in troubles.items() if said},
        {mark.student: mark for mark in marks(folder / "class", unit)},
        {path.parent.parent.name for path in (folder / "class" / "feedback").glob("*/*/*.html")},
    )


@pytest.mark.parametrize("part", PARTS)
def test_a_spoilt_notebook_ends_in_a_mark_or_a_reason_and_harms_no_other(tmp_path, part):
    need_sandbox()
    unit, seeds = UNITS[part % 2], range(SIZE * part, SIZE * (part + 1))
    seen = taught(tmp_path, unit, seeds)
    collected = {s for s, row in seen.rows.items() if row.status == COLLECTED}
    assert {*seen.rows} == {f"s{seed}" for seed in seeds} | {*DONE}
    assert all(seen.rows[s].notes for s in {*seen.rows} - collected)
    assert seen.troubles == {}
    assert {*seen.marks} == seen.pages == collected
    assert {mark.maximum for mark in seen.marks.values()} == {20}
    full = {kind: seen.marks[kind].score for kind in DONE}
    assert 0 < full["half"] < full["whole"] == checked(unit)
    best = {f"s{seed}": full[kind_of(seed)] for seed in seeds}
    assert {s: m.score for s, m in seen.marks.items() if m.score > best.get(s, 20)} == {}
