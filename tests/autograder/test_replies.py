"""Which replies of a kernel are taken: every honest one, and none beyond the bounds."""

from typing import Any

import pytest
import torch

from autograder.replies import sound
from blocklab import catalogue, probe, wire
from blocklab.checks.property import Draw
from blocklab.plain import BITS, DEEPEST, LONGEST, MOST, Module, Strange, plain
from blocklab.probe import Outcome, Problem
from blocklab.text import Text


@pytest.mark.parametrize("name", catalogue.exercises())
def test_what_a_right_answer_and_every_known_wrong_one_does_is_sound(name):
    others = vars(catalogue.module_of("reference", name))
    probes = [p.steps for p in catalogue.part("checks", name)(Draw(1))]
    known = catalogue.part("misconceptions", name)
    answers = [catalogue.reference(name), *map(known.variant, known.combinations())]
    for answer in answers:
        reply = wire.loads(wire.dumps(probe.run(probes, answer, others)))
        assert all(sound(outcome) for outcomes in reply for outcome in outcomes)


class Key:
    def __str__(self) -> str:
        return "k" * 100_000


def forged(**fields: Any) -> Outcome:
    return Outcome(**fields)


def nested(depth: int) -> list:
    return [nested(depth - 1)] if depth else []


@pytest.mark.parametrize(
    "value",
    [
        *("x" * 10 * LONGEST, list(range(10 * MOST)), nested(20), {Key(): 1}, 1 << 10 * BITS),
        *(type("N" * 10 * LONGEST, (), {})(), {str(i): i for i in range(10 * MOST)}, "\ud800"),
        *(torch.nn.ParameterDict({"p" * 10 * LONGEST: torch.ones(1)}), (1, (2.5, [None, True]))),
    ],
)
def test_whatever_an_answer_gives_is_sound_once_it_is_plain(value):
    (outcome,) = wire.loads(wire.dumps([Outcome(plain(value))]))
    assert sound(outcome)


Forged: Any = Outcome  # what its type forbids
ForgedProblem: Any = Problem


@pytest.mark.parametrize(
    "outcome",
    [
        *("outcome", None, Outcome("x" * (LONGEST + 1)), Outcome([0] * (MOST + 1))),
        *(Outcome(nested(DEEPEST + 1)), Outcome(1 << BITS), Outcome({"k" * (LONGEST + 1): 0})),
        *(Outcome({1: 0}), Outcome(Strange("s" * (LONGEST + 1))), Outcome(Text("a", "b"))),
        *(Outcome(Outcome(1)), Outcome([Outcome(1)]), forged(error="E"), forged(changed=("0",))),
        *(Outcome(Module({"k" * (LONGEST + 1): ()})), forged(error=ForgedProblem("E", "w", 7))),
        *(forged(error=Problem("E", "w" * (LONGEST + 1))), forged(gradients={"0": "x"})),
        *(forged(gradients=[]), forged(records={"r": torch.ones(1)}), forged(marked=(1.5,))),
    ],
)
def test_what_no_honest_kernel_sends_is_not(outcome):
    assert not sound(outcome)
