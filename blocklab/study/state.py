"""How far a learner is: what is passed, tried and written, unit by unit."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from blocklab import catalogue
from blocklab.catalogue import Exercise
from blocklab.record import Entry
from blocklab.text import Text, language


class Tried(NamedTuple):
    """An exercise, and the best share of its points so far after that many attempts."""

    exercise: Exercise
    best: float = 0.0
    attempts: int = 0
    passed: str = ""

    @property
    def done(self) -> bool:
        return self.best >= 1


class Question(NamedTuple):
    """A written question: when it was answered, and how much of the checklist was ticked."""

    name: str
    answered: str = ""
    ticked: int = 0


class State(NamedTuple):
    """How far a learner is in one unit."""

    unit: str
    title: Text
    exercises: tuple[Tried, ...]
    puzzles: tuple[Tried, ...]
    written: tuple[Question, ...]

    @property
    def passed(self) -> int:
        return sum(tried.done for tried in self.exercises)

    @property
    def earned(self) -> float:
        return sum(tried.best * tried.exercise.points for tried in self.exercises)

    @property
    def points(self) -> float:
        return sum(tried.exercise.points for tried in self.exercises)

    @property
    def done(self) -> bool:
        """Whether every exercise is passed and every written question answered."""
        return self.passed == len(self.exercises) and all(q.answered for q in self.written)

    @property
    def next(self) -> str | None:
        """The first exercise or question that is not done."""
        open_ones = [tried.exercise.name for tried in self.exercises if not tried.done]
        return next(iter([*open_ones, *(q.name for q in self.written if not q.answered)]), None)

    @property
    def last(self) -> str:
        """The day on which the last thing of the unit was done; "" if none was."""
        days = [t.passed for t in self.exercises] + [q.answered for q in self.written]
        return max(days, default="")[:10]


def states(record: Mapping[str, Entry]) -> list[State]:
    """The units of the course in order, as they stand in a learner's record."""
    return [_state(unit, record) for unit in catalogue.units()]


def _state(unit: str, record: Mapping[str, Entry]) -> State:
    title, questions = catalogue.units()[unit]
    tried = [_tried(e, record.get(e.name, {})) for e in _exercises(unit)]
    return State(
        unit,
        title,
        tuple(t for t in tried if not t.exercise.puzzle),
        tuple(t for t in tried if t.exercise.puzzle),
        tuple(_question(name, record.get(name, {})) for name in questions),
    )


def _exercises(unit: str) -> list[Exercise]:
    return [e for e in catalogue.exercises().values() if e.unit == unit]


def _tried(exercise: Exercise, entry: Entry) -> Tried:
    best, attempts = float(entry.get("best", 0)), int(entry.get("attempts", 0))
    return Tried(exercise, best, attempts, str(entry.get("passed", "")))


def _question(name: str, entry: Entry) -> Question:
    return Question(name, str(entry.get("answered", "")), len(entry.get("ticked", ())))


def notebook(unit: str) -> str | None:
    """The exercise notebook of a unit, as seen from here; None where this is not the course."""
    root = Path(catalogue.__file__).resolve().parents[1]
    target = root / "exercises" / language() / unit / f"{unit}.ipynb"
    here = Path.cwd().resolve()
    if not target.exists() or not here.is_relative_to(root):
        return None
    return Path(os.path.relpath(target, here)).as_posix()
