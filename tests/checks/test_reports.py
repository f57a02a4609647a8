"""What a report shows of what a learner wrote: bounded, and nothing that cannot be seen."""

import re

import pytest
import torch

from blocklab import catalogue
from blocklab.checks.candidate import LocalCandidate
from blocklab.checks.examine import examine
from blocklab.text import visible

UNSEEN = "\u202e\u2066\u200b\x1b[2K\x07\u3164"


def gives(value: object):
    return lambda *args, **kwargs: value


def raises(error: BaseException):
    def answer(*args: object, **kwargs: object) -> object:
        raise error

    return answer


ANSWERS = {
    "a long string": gives("x" * 1_000_000),
    "a long list": gives(list(range(100_000))),
    "long strings in a list": gives(["<&'" * 1000] * 1000),
    "lists in lists": gives([[["<&'" * 1000] * 4] * 4] * 4),
    "a number of 10,000 digits": gives(10**10_000),
    "a long name": gives(type("N" * 100_000, (), {})()),
    "a long error": raises(ValueError("<&'" * 1_000_000)),
    "an error with a long name": raises(type("E" * 100_000, (Exception,), {})()),
    "unseen words": gives(UNSEEN),
    "unseen words in a list": gives([UNSEEN]),
    "an unseen name": gives(type(UNSEEN, (), {})()),
    "an unseen error": raises(type(UNSEEN, (Exception,), {})(UNSEEN)),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("name", ["rms_norm", "rms_by_hand", "layer_norm"])
def test_whatever_an_answer_does_its_report_is_short_and_can_be_read(name, answer):
    value = catalogue.reference(name)
    given = answer if callable(value) else _value(answer)
    report = examine(name, LocalCandidate({name: given}), 1)
    assert not report.passed
    for shown in (report.html("en"), report.html("ko"), str(report)):
        assert len(shown) < 100_000
        assert visible(shown) == shown


def _value(answer) -> object:
    try:
        return answer()
    except Exception as error:
        return error


def test_what_is_unseen_is_written_out_and_the_rest_is_left_alone():
    assert visible("a\u202eb\x1bc\ud800\n\t") == "a\\u202eb\\x1bc\\ud800\n\t"
    for words in ("값이 None입니다.", "√(x² + ε) — “it” ✓", "𝒙 👍🏽", "é"):
        assert visible(words) == words


def test_of_long_arrays_the_row_that_differs_most_is_shown_with_its_input() -> None:
    def answer(x: torch.Tensor, gain: torch.Tensor, eps: float) -> torch.Tensor:
        right = catalogue.reference("rms_norm")(x, gain, eps)
        if right.numel() > 64:
            right[-1, -1] += 7
        return right

    reports = [examine("rms_norm", LocalCandidate({"rms_norm": answer}), n) for n in range(20)]
    found = [re.findall(r"(x|expected|yours)(\[[^]]*\])<pre>", r.html("en")) for r in reports]
    shown = next(names for names in found if names)
    assert [name for name, _ in shown] == ["x", "expected", "yours"]
    assert len({place for _, place in shown}) == 1


def test_an_answer_that_gives_back_its_input_is_told_so() -> None:
    report = examine("rms_norm", LocalCandidate({"rms_norm": lambda x, gain, eps: x}), 1)
    words = {str(p.message) for p in report.properties}
    assert words == {"What comes out is x, just as it went in."}


def test_nor_where_its_input_is_what_was_asked_for() -> None:
    class Cut(catalogue.reference("ResidualBlock")):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.detach()

    found = examine("ResidualBlock", LocalCandidate({"ResidualBlock": Cut}), 1).properties
    words = {p.name: str(p.message) for p in found}
    assert words["formula"] == "What comes out is x, just as it went in."
    assert words["identity"].startswith("The values are right, but no gradient flows back to x")
