"""What the checks catch: `python benchmarks/misconceptions.py [--seeds N] [NAME …]`.

Per exercise: misconceptions (single ones and pairs), how many fail the check, how many are named
rightly, correct variants, and how many of those are wrongly rejected. The last column is zero.
"""

import argparse
import importlib
import os
import sys
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch  # noqa: E402

from blocklab import catalogue  # noqa: E402
from blocklab.checks.candidate import LocalCandidate  # noqa: E402
from blocklab.checks.examine import examine  # noqa: E402


def row(name: str, seeds: range) -> tuple[int, int, int, int, int]:
    """Misconceptions, caught, named, correct variants, wrongly rejected, over all seeds."""

    others = vars(catalogue.module_of("reference", name))

    def report(answer, seed):
        return examine(name, LocalCandidate({**others, name: answer}), seed)

    known = catalogue.part("misconceptions", name)
    caught = named = count = 0
    for wrong in known.combinations():
        reports = [report(known.variant(wrong), seed) for seed in seeds]
        count += 1
        caught += all(not r.passed for r in reports)
        named += all({m.name for m in r.diagnosis} & wrong for r in reports)
    module = catalogue.MODULES[catalogue.exercise(name).unit]
    correct = importlib.import_module(f"tests.variants.{module}").CORRECT[name]
    rejected = sum(any(not report(a, seed).passed for seed in seeds) for a in correct)
    return count, caught, named, len(correct), rejected


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    print(f"{'exercise':24} {'wrong':>6} {'caught':>7} {'named':>6} {'right':>6} {'rejected':>9}")
    total = [0] * 5
    for name in options.name or catalogue.exercises():
        found = row(name, range(options.seeds))
        total = [a + b for a, b in zip(total, found, strict=True)]
        print("{:24} {:6} {:7} {:6} {:6} {:9}".format(name, *found), flush=True)
    print("{:24} {:6} {:7} {:6} {:6} {:9}".format("total", *total))
    return int(total[0] != total[1] or total[4] > 0)


if __name__ == "__main__":
    sys.exit(main())
