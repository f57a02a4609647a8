"""A plain test's result is read as what it means, and its warnings cost nothing."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from nbformat.v4 import new_code_cell, new_output
from nbgrader.utils import determine_grade

from autograder.plain_tests import LONGEST, is_plain_test, score, settle


def cell(*outputs: Any, **marks: Any) -> Any:
    made = new_code_cell("f()", outputs=list(outputs))
    made.metadata["nbgrader"] = {"grade": True, "solution": False, "points": 2} | marks
    return made


def mark(text: str) -> float | None:
    made = cell(new_output("execute_result", {"text/plain": text}))
    settle(made)
    return determine_grade(made)[0]


NOTHING = [
    0, 0.0, -0.0, "0", "0.0", -1.0, np.float64(0.0), np.int64(0), np.float32(-3), np.array(0.0),
    np.array([0.0]), torch.tensor(0.0), torch.tensor(0), torch.tensor([0.0], dtype=torch.float64),
    torch.tensor(-1.0, requires_grad=True), False, np.False_, torch.tensor(False), math.nan,
    np.float64(math.nan), torch.tensor(math.nan), -math.inf,
]  # fmt: skip


@pytest.mark.parametrize("value", NOTHING, ids=repr)
def test_c05_a_result_that_means_nothing_earns_nothing(value):
    assert mark(repr(value)) == 0


@pytest.mark.parametrize("value", [1.5, "1.5", np.float64(1.5), torch.tensor(1.5), [1.5]], ids=repr)
def test_c05_a_part_is_a_part_in_whatever_type(value):
    assert mark(repr(value)) == 1.5


@pytest.mark.parametrize("value", [3, np.float64(2.5), torch.tensor(math.inf)], ids=repr)
def test_c05_more_than_there_is_to_earn_is_all_of_it(value):
    assert mark(repr(value)) == 2


@pytest.mark.parametrize(
    "text", ["True", "np.True_", "tensor(True)", "<Figure size 1x1>", "[1, 2]", "'done'", "None"]
)
def test_a_result_that_is_no_score_means_that_nothing_was_raised(text):
    assert mark(text) == 2


@pytest.mark.parametrize("text", ["", "(", "\0", "1 +", "9" * LONGEST, "-" * 150 + "1"])
def test_any_text_is_read_without_an_error(text):
    assert score(text) in (None, 1.0)


def test_c04_what_a_plain_test_or_its_answer_writes_to_stderr_costs_nothing():
    made = cell(new_output("stream", name="stderr", text="UserWarning: slow"))
    settle(made)
    assert determine_grade(made) == (2, 2)
    assert made.outputs[0].text == "UserWarning: slow"


def test_an_exception_still_costs_all():
    made = cell(new_output("error", ename="AssertionError", evalue="", traceback=[]))
    settle(made)
    assert determine_grade(made) == (0, 2)


def test_an_answer_that_a_person_marks_is_no_test():
    assert is_plain_test(cell())
    assert not is_plain_test(cell(solution=True))
    assert not is_plain_test(new_code_cell("1"))
