"""What a learner calls in a notebook: check and hint."""

import dataclasses
import os
import sys
from collections.abc import Mapping
from typing import Any

from blocklab import catalogue, mine, record
from blocklab.text import Text, language
from blocklab.widgets.choice import DIFFERS, picture_differs

ELSEWHERE = Text(
    "While this is graded, checks run elsewhere: what you call yourself counts for nothing.",
    "채점하는 동안 check는 다른 곳에서 실행됩니다. 직접 호출한 check는 점수에 들어가지 않습니다.",
)
NO_MORE = Text("That was the last hint.", "힌트는 여기까지입니다.")
_given: dict[str, int] = {}


def check(name: str, *, answer: Any = None, seed: int | None = None):
    """Check an answer and say what is right and what is not.

    name: of the exercise; the object of that name in the notebook is the answer.
    answer: another object to check instead, as a try that is not recorded.
    seed: draws the same inputs again.
    Returns a `Report`: `.score`, `.points`, `.passed`, `.properties`, `.diagnosis`.
    Raises KeyError if no exercise has that name.
    """
    try:
        from blocklab.checks.candidate import LocalCandidate
        from blocklab.checks.examine import examine
        from blocklab.checks.report import UNJUDGED
    except ModuleNotFoundError:  # in a grader's sandbox
        print(ELSEWHERE)
        return None

    namespace = _notebook(sys._getframe(1).f_globals)
    if answer is not None:
        namespace = {**namespace, name: answer}
    report = examine(name, LocalCandidate(namespace), seed)
    mode = os.environ.get("NBGRADER_EXECUTION", "")
    if mode == "autograde":
        return dataclasses.replace(report, remarks=(UNJUDGED, *report.remarks))
    if mode == "validate":
        if not report.passed:
            print(report, file=sys.stderr)
        return report
    if answer is None:
        report = _recorded(report, namespace)
    if "ipykernel" not in sys.modules:
        print(report)
    return report


def _recorded(report, namespace: Mapping[str, Any]):
    """Note the attempt, keep a passed answer for later units, and warn of an unused choice."""
    name = report.name
    record.note(name, report.fraction)
    if report.passed and callable(catalogue.reference(name)):
        mine.keep(name, namespace.get("In", []))
    if picture_differs(name, namespace.get(name)):
        return dataclasses.replace(report, remarks=(DIFFERS, *report.remarks))
    return report


def _notebook(fallback: Mapping[str, Any]) -> Mapping[str, Any]:
    """The names a notebook has defined; outside IPython, those of the calling module."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return fallback if shell is None else shell.user_ns


class Hint(str):
    """A hint that shows as Markdown in a notebook."""

    def _repr_markdown_(self) -> str:
        return f"> {self}"


def hint(name: str) -> Hint:
    """One more hint for an exercise each time, from a nudge to nearly the code.

    Raises KeyError if no exercise has that name.
    """
    hints = catalogue.exercise(name).hints
    count = _given.get(name, 0)
    _given[name] = count + 1
    if count >= len(hints):
        return Hint(" ".join([*(str(h) for h in hints[-1:]), str(NO_MORE)]))
    return Hint(f"**{count + 1}/{len(hints)}** {hints[count].to(language())}")
