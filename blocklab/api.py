"""What a learner calls in a notebook: check and hint."""

import contextlib
import dataclasses
import os
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

from blocklab import catalogue, mine, record
from blocklab.text import Said, Text
from blocklab.widgets.choice import DIFFERS, picture_differs
from blocklab.widgets.rewrite import rewrite

ELSEWHERE = Text(
    "While this is graded, checks run elsewhere: what you call yourself counts for nothing.",
    "채점하는 동안 check는 다른 곳에서 실행됩니다. 직접 호출한 check는 점수에 들어가지 않습니다.",
)
NO_MORE = Text(
    'That was the last hint. Once a check has seen an answer of yours, `solution("{name}")` shows '
    "the course's own.",
    "힌트는 여기까지입니다. 답을 써서 check를 한 번 실행한 뒤에는 "
    '`solution("{name}")`로 강좌의 답을 볼 수 있습니다.',
)
PLACEHOLDER = "raise NotImplementedError"
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
            print(_wrapped(str(report)), file=sys.stderr)
        return report
    if answer is None:
        report = _recorded(report, namespace)
    if "ipykernel" not in sys.modules:
        print(report)
    return report


def _wrapped(words: str, width: int = 80) -> str:
    """The words in lines that nbgrader's Validate, which cuts at 83 characters, shows in full."""
    lines = [(line, " " * (len(line) - len(line.lstrip()) + 2)) for line in words.split("\n")]
    return "\n".join(textwrap.fill(line, width, subsequent_indent=more) for line, more in lines)


def _recorded(report, namespace: Mapping[str, Any]):
    """Note the attempt, keep a passed answer for later units, and warn of an unused choice."""
    name = report.name
    source = _source(name, namespace)
    real = report.notice is None and PLACEHOLDER not in source
    record.note(name, report.fraction, source, real)
    if report.passed and callable(catalogue.reference(name)):
        mine.keep(name, source)
    if picture_differs(name, namespace.get(name)):
        return dataclasses.replace(report, remarks=(DIFFERS, *report.remarks))
    return report


def _source(name: str, namespace: Mapping[str, Any]) -> str:
    """The source of the answer; a choice made in a picture is written into it."""
    source = mine.gather(name, namespace.get("In", []))
    with contextlib.suppress(ValueError, SyntaxError):
        return rewrite(source, name, str(namespace.get(name, "")))
    return source


def _notebook(fallback: Mapping[str, Any]) -> Mapping[str, Any]:
    """The names a notebook has defined; outside IPython, those of the calling module."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return fallback if shell is None else shell.user_ns


def hint(name: str) -> Said:
    """One more hint for an exercise each time, from a nudge to nearly the code.

    Raises KeyError if no exercise has that name.
    """
    hints = catalogue.exercise(name).hints
    count = _given.get(name, 0)
    _given[name] = count + 1
    if count >= len(hints):
        return Said(" ".join([*(str(h) for h in hints[-1:]), str(NO_MORE.fill(name=name))]))
    return Said(f"**{count + 1}/{len(hints)}** {hints[count]}")
