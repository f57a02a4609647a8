"""The picture and the code: which of them wins, and when they differ."""

import pytest

from blocklab.widgets import choice
from blocklab.widgets.choice import Choice, choice_of, picture_differs


@pytest.fixture(autouse=True)
def _new_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_choices", {})


def test_a_new_kernel_shows_the_code() -> None:
    made = Choice()
    made.run("norm add")
    assert made.answer == "norm add"


def test_a_choice_beats_the_code_it_started_from() -> None:
    made = Choice()
    made.run("")
    made.answer = "norm"
    made.run("")
    assert made.answer == "norm"


def test_a_choice_stays_when_the_code_follows_and_when_it_cannot() -> None:
    made = Choice()
    made.run("")
    made.answer = "norm"
    for code in ("", "", "norm", "norm"):
        made.run(code)
        assert made.answer == "norm"


def test_code_edited_by_hand_beats_the_picture() -> None:
    made = Choice()
    made.run("")
    made.answer = "norm"
    made.run("add")
    assert made.answer == "add"
    made.run("")
    assert made.answer == ""


def test_emptying_the_picture_is_a_choice() -> None:
    made = Choice()
    made.run("norm")
    made.answer = ""
    made.run("norm")
    assert made.answer == ""


def test_picture_and_code_differ_only_after_a_new_choice() -> None:
    assert not picture_differs("one", "norm")
    choice_of("one").run("norm")
    assert not picture_differs("one", "norm")
    choice_of("one").answer = "add"
    assert picture_differs("one", "norm")
    assert not picture_differs("two", "norm")


@pytest.mark.parametrize("answer", [None, 3, ["norm"]])
def test_an_answer_that_is_no_text_is_left_to_the_check(answer: object) -> None:
    choice_of("one").run("norm")
    assert not picture_differs("one", answer)
