"""A class to try things on: submissions made from the real release notebooks of unit 02."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder import demo_answers
from autograder.classroom import make_class
from autograder.grade import gradebook
from autograder.nbgrader_config import REPOSITORY

UNIT = "02_rms_norm"
DUE = datetime.datetime(2026, 3, 10, 14, 59)  # UTC: one minute to midnight in Seoul
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
IN_TIME, LATE = DUE - datetime.timedelta(hours=5), DUE + datetime.timedelta(hours=36)


@dataclass(frozen=True)
class Student:
    """One student of the demo class.

    only: the share of the items that are done, first ones first; own: answers that differ from
    the course's, by exercise; late: by a day and a half; writes: answers the written question.
    """

    name: str
    language: str = "en"
    only: float = 1.0
    own: Mapping[str, str] = field(default_factory=dict)
    late: bool = False
    writes: bool = True


STUDENTS = (
    Student("ada"),
    Student("bora", "ko"),
    Student("chen", own=demo_answers.DIFFERENT),
    Student("dahye", "ko", own=demo_answers.DIFFERENT),
    Student("emil", only=0.5),
    Student("garam", "ko", only=0.25),
    Student("hana", own=demo_answers.EPS_AFTER_ROOT),
    Student("ines", own=demo_answers.OVER_TIME),
    Student("jun", "ko", own=demo_answers.SAMPLE_VARIANCE),
    Student("kofi", own=demo_answers.POST_FOR_PRE),
    Student("lena", own=demo_answers.BROKEN),
    Student("minji", "ko", own=demo_answers.IN_PLACE),
    Student("noah", own=demo_answers.NOISY),
    Student("omar", only=0.0, writes=False),
    Student("pil", "ko", only=0.0, writes=False),
    Student("quinn", late=True),
    Student("rok", "ko", own=demo_answers.EPS_AFTER_ROOT | demo_answers.SAMPLE_VARIANCE, late=True),
)


def solution_cells(unit: str) -> dict[str, str]:
    """The course's own answers to a unit, as the source of each answer cell, by exercise."""
    notebook = nbformat.read(REPOSITORY / "solutions" / "en" / unit / f"{unit}.ipynb", as_version=4)
    return {
        c.metadata.nbgrader.grade_id.removesuffix("-answer"): "\n".join(
            line for line in c.source.split("\n") if line.strip() not in (BEGIN, END)
        )
        for c in notebook.cells
        if c.metadata.get("nbgrader", {}).get("solution") and c.cell_type == "code"
    }


def hand_in(unit: str, student: Student) -> NotebookNode:
    """A submission: the release notebook in the student's language, with answers in it."""
    path = REPOSITORY / "exercises" / student.language / unit / f"{unit}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    answers = solution_cells(unit)
    done = list(answers)[: round(student.only * len(answers))]
    filled = {name: answers[name] for name in done} | dict(student.own)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id.removesuffix("-answer") in filled and cell.metadata.nbgrader.solution:
            cell.source = filled[grade_id.removesuffix("-answer")]
        elif cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "markdown":
            cell.source = f"I am {student.name}, and I think so." if student.writes else cell.source
    return notebook


def submit(folder: Path, unit: str, student: Student) -> None:
    """Put a student's submission where nbgrader looks for it, with its time."""
    place = folder / "submitted" / student.name / unit
    place.mkdir(parents=True)
    nbformat.write(hand_in(unit, student), place / f"{unit}.ipynb")
    when = LATE if student.late else IN_TIME
    (place / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S} UTC", "utf-8")


def make_demo(folder: Path, unit: str = UNIT) -> None:
    """A class folder with seventeen submissions of unit 02 and a deadline."""
    make_class(folder)
    with gradebook(folder) as book:
        book.add_assignment(unit, duedate=DUE)
    for student in STUDENTS:
        submit(folder, unit, student)
