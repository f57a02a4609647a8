"""How long every check takes: a right answer, and a wrong one with its diagnosis and report.

`python benchmarks/check_latency.py [NAME …]` prints milliseconds and exits with 1
where one is over its bound. What builds modules, loads and runs them may take longer.
"""

import os
import sys

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import statistics  # noqa: E402
import time  # noqa: E402

import torch  # noqa: E402

from blocklab import catalogue  # noqa: E402
from blocklab.checks.candidate import LocalCandidate  # noqa: E402
from blocklab.checks.examine import examine  # noqa: E402

BOUNDS = {False: (15.0, 120.0), True: (40.0, 250.0)}  # builds modules or not: right, wrong
FILLS_MODULES = {"load_gpt2"}  # a function whose every call needs a new decoder
SEEDS, REPEATS = 5, 3


def milliseconds(name: str, answer: object) -> float:
    """The time of a check with its HTML report: the median over seeds of the best of repeats.

    What makes one of the repeats slower than another is the machine, not the check.
    """
    candidate = LocalCandidate({**vars(catalogue.module_of("reference", name)), name: answer})

    def once(seed: int) -> float:
        start = time.perf_counter()
        examine(name, candidate, seed).html("en")
        return time.perf_counter() - start

    times = [min(once(seed) for _ in range(REPEATS)) for seed in range(SEEDS)]
    return 1000 * statistics.median(times)


def slowest_wrong(name: str) -> float:
    """The slowest of: every single misconception, and an answer that none explains."""
    known = catalogue.part("misconceptions", name)
    answers = [known.variant(frozenset({flag})) for flag in known.flags]
    return max(milliseconds(name, answer) for answer in [*answers, unexplained(name)])


def unexplained(name: str) -> object:
    """An answer with the right shapes that is off by what no misconception gives."""
    reference = catalogue.reference(name)
    if isinstance(reference, type):
        return _off_module(reference)
    return _off_function(reference) if callable(reference) else "something else"


def _off_module(reference):
    class Off(reference):
        def forward(self, *args, **kwargs):
            return _off(super().forward(*args, **kwargs))

    return Off


def _off_function(reference):
    return lambda *args, **kwargs: _off(reference(*args, **kwargs))


def _off(value):
    if isinstance(value, list | tuple):
        return [_off(v) for v in value]
    return value * 1.0123 if isinstance(value, torch.Tensor | float) else value


def main(names: list[str]) -> int:
    torch.set_num_threads(1)
    late = 0
    print(f"{'check':24} {'right ms':>9} {'wrong ms':>9}")
    for name in names or catalogue.exercises():
        builds = isinstance(catalogue.reference(name), type) or name in FILLS_MODULES
        right_bound, wrong_bound = BOUNDS[builds]
        right, wrong = milliseconds(name, catalogue.reference(name)), slowest_wrong(name)
        over = right > right_bound or wrong > wrong_bound
        late += over
        print(f"{name:24} {right:9.1f} {wrong:9.1f}{'  over its bound' if over else ''}")
    return int(late > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
