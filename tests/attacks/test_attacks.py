"""Every attack in the tables, written to win, against the judge; none gains anything."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.judge import sandbox
from tests.attacks.arena import UNIT, Attack, Outside, cases, fight, outside
from tests.attacks.deceiving import DECEIVING
from tests.attacks.earning import EARNING
from tests.attacks.forging import FORGING
from tests.attacks.reaching import REACHING
from tests.attacks.stopping import STOPPING
from tests.autograder.kernels import need_sandbox

pytestmark = pytest.mark.xdist_group("kernel")
ATTACKS = {**EARNING, **FORGING, **REACHING, **STOPPING, **DECEIVING}


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Outside]:
    need_sandbox()
    sandbox(UNIT, "bwrap")  # once for all: no attack is charged for it
    with outside(tmp_path) as made:
        yield made
    gc.collect()  # what a judge that broke off has left open is closed now, not at some later time


@pytest.mark.parametrize("attack", cases(ATTACKS))
def test_an_attack_gains_nothing(attack: Attack, there: Outside):
    fight(attack, there)


def test_there_are_enough_of_them():
    assert len(ATTACKS) > 180
