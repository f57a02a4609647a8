"""Grading a class, and the table of what came out."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.arrivals import UNKNOWN
from autograder.classroom import ClassError, language_of
from autograder.kernel import Sandbox
from autograder.received import ABOUT


@dataclass(frozen=True)
class Mark:
    """One student's result for one unit."""

    student: str
    language: str
    score: float
    maximum: float
    late_seconds: float
    to_read: bool


def settings(folder: Path) -> Config:
    """nbgrader's settings in a class folder.

    Raises ClassError if the folder has no nbgrader_config.py.
    """
    if not (folder / "nbgrader_config.py").exists():
        raise ClassError(
            f"{folder} is no class folder; make one with: python run.py class {folder}"
        )
    return PyFileConfigLoader("nbgrader_config.py", path=str(folder.resolve())).load_config()


def gradebook(folder: Path) -> Any:
    """The gradebook of a class folder, open, as a context manager (nbgrader's own `Gradebook`)."""
    course = settings(folder).CourseDirectory
    return Gradebook(course.db_url, course.course_id)


def grade(
    folder: Path, unit: str, isolation: Literal["bwrap", "none"] | None = None
) -> Iterator[tuple[str, str]]:
    """Release (if need be), grade and write feedback for every submission of a unit.

    isolation: what walls students' code in; as the class folder has it, or bwrap, where None.
    Yields (student, trouble) as each is done; trouble is "" where nothing went wrong, else the
    end of nbgrader's log. One student's trouble does not stop the others; an interrupt does, and
    the marks of those that were done stay.
    Raises ClassError where there is no submission, or students' code cannot be walled in and
    isolation is not "none".
    """
    config = settings(folder)
    if not (students := submitted(folder, unit)):
        words = refusals(folder, unit)
        raise ClassError(
            f"There is no submission of {unit} in {folder / 'submitted'}. Bring them in with: "
            f"python run.py collect {folder} SOURCE" + (f"\n{words}" if words else "")
        )
    if isolation:
        config.Judge.isolation = isolation
    if config.Judge.get("isolation") != "none" and (reason := Sandbox.available()):
        raise ClassError(str(reason))
    api: Any = NbGraderAPI(CourseDirectory(config=config), config=config)
    if not (folder / "release" / unit).exists():
        _done(api.generate_assignment(unit), f"generate_assignment {unit}")
    for student in students:
        result = api.autograde(unit, student)
        if result["success"]:
            result = api.generate_feedback(unit, student, force=True)
        if "KeyboardInterrupt" in result.get("error", ""):
            raise KeyboardInterrupt
        lines = result.get("log", "").splitlines()[-8:]
        yield student, "" if result["success"] else "\n".join(lines)


def submitted(folder: Path, unit: str) -> list[str]:
    """The students who have handed in a unit, in order."""
    return sorted(path.parent.name for path in (folder / "submitted").glob(f"*/{unit}"))


def refusals(folder: Path, unit: str) -> str:
    """Who sent only what was refused, in words; "" where there is nobody.

    A file of no unit that is known may be of this one, so its sender is named too.
    """
    graded = {*submitted(folder, unit)}
    refused = _senders(folder, unit) - graded
    unclear = _senders(folder, UNKNOWN) - graded - refused
    who = [*sorted(refused), *(f"{student} (unit not known)" for student in sorted(unclear))]
    words = f"Refused when collected, so not graded: {', '.join(who)}"
    return f"{words} (the reports in received/ say why)" if who else ""


def _senders(folder: Path, unit: str) -> set[str]:
    """The students of whom received/ has something for a unit."""
    return {path.parents[2].name for path in (folder / "received").glob(f"*/{unit}/*/{ABOUT}")}


def _done(result: dict, what: str) -> None:
    if not result["success"]:
        raise ClassError(f"nbgrader {what} failed:\n{result.get('log', '')[-2000:]}")


def marks(folder: Path, unit: str) -> list[Mark]:
    """What the gradebook says of a unit, by student."""
    with gradebook(folder) as book:
        return [
            Mark(
                s.student.id,
                language_of(folder / "submitted" / s.student.id / unit / f"{unit}.ipynb"),
                s.score,
                s.max_score,
                s.total_seconds_late,
                s.needs_manual_grade,
            )
            for s in sorted(
                book.assignment_submissions(unit), key=lambda submission: submission.student.id
            )
        ]
