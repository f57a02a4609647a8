"""How long one submission of unit 02 takes, from file to mark, once the sandbox is warm.

`python benchmarks/one_submission.py [--students N]` prints "warm submission: S s" and its parts:
the kernel's fork, the learner's cells, the checks, nbgrader's own work; and the floor, which is
the cells and the checks alone.
"""

import argparse
import logging
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from nbgrader.apps import NbGraderAPI  # noqa: E402
from nbgrader.coursedir import CourseDirectory  # noqa: E402

from autograder.classroom import make_class  # noqa: E402
from autograder.demo import Student, submit  # noqa: E402
from autograder.grade import settings  # noqa: E402
from autograder.judge import Judge  # noqa: E402

UNIT = "02_rms_norm"
spent: dict[str, float] = defaultdict(float)


def timed(part: str, method: Any) -> Any:
    """The same method, whose time counts for a part."""

    def run(self: Judge, *args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return method(self, *args, **kwargs)
        finally:
            spent[part] += time.perf_counter() - start

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=8)
    number = parser.parse_args().students
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    for part in ("start_new_kernel", "start_new_kernel_client"):
        setattr(Judge, part, timed("fork", getattr(Judge, part)))
    for part, method in (("cells", "_run"), ("checks", "_judged")):
        setattr(Judge, method, timed(part, getattr(Judge, method)))
    with tempfile.TemporaryDirectory() as place:
        rows = grade(Path(place) / "class", number)
    report(rows[1:])  # the first one waits for the sandbox to warm up


def grade(folder: Path, number: int) -> list[dict[str, float]]:
    """The parts of every submission's time, in order."""
    make_class(folder)
    for n in range(number):
        submit(folder, UNIT, Student(f"student{n}"))
    config = settings(folder)
    api: Any = NbGraderAPI(CourseDirectory(config=config), config=config)
    assert api.generate_assignment(UNIT)["success"]
    rows = []
    for student in sorted(api.get_submitted_students(UNIT)):
        spent.clear()
        start = time.perf_counter()
        assert api.autograde(UNIT, student)["success"]
        rows.append({**spent, "whole": time.perf_counter() - start})
    return rows


def report(rows: list[dict[str, float]]) -> None:
    median = {part: statistics.median(row[part] for row in rows) for part in rows[0]}
    walled = sum(median[part] for part in ("fork", "cells", "checks"))
    print(f"warm submission: {median['whole']:.2f} s (median of {len(rows)})")
    for part in ("fork", "cells", "checks"):
        print(f"  {part:9} {median[part]:.2f} s")
    print(f"  nbgrader  {median['whole'] - walled:.2f} s")
    print(f"  floor, cells and checks alone: {median['cells'] + median['checks']:.2f} s")


if __name__ == "__main__":
    main()
