"""The picture of an addition shows what the plus keeps, and what a replacement loses."""

import math

import pytest

from blocklab.explain.residual_add import RESIDUAL_ADD, WRITTEN, X
from blocklab.figures.colours import DELTA, STREAM
from tests.explain.seen import heights, see, words


def test_it_starts_with_the_lecture_s_two_vectors_and_their_sum() -> None:
    numbers = [word for word in words(see(RESIDUAL_ADD)) if word[-1].isdigit()]
    unit, *rows = "1", "1 2 −1 0", "0.2 −0.5 0.3 0.1", "1.2 1.5 −0.7 0.1"
    assert sorted(numbers) == sorted([unit, *" ".join(rows).split()])


def test_the_sentence_says_which_share_of_the_result_is_still_x() -> None:
    total = [a + b for a, b in zip(X, WRITTEN, strict=True)]
    cosine = sum(a * b for a, b in zip(X, total, strict=True)) / math.hypot(*X) / math.hypot(*total)
    still, size = 1 + 1.5 + 0.7, 1.2 + 1.5 + 0.7 + 0.1
    said = see(RESIDUAL_ADD).sentence
    assert f"{100 * still / size:.0f} % of the result is still x" in said.en
    assert "0.3 is new" in said.en
    assert "0.8 of the 4 in x is gone" in said.en
    assert f"cosine of {cosine:.2f}" in said.en
    assert f"{100 * still / size:.0f} %" in said.ko


def test_the_bars_of_a_sum_show_the_same_share() -> None:
    sight = see(RESIDUAL_ADD)
    (*x, a, b, c, d), delta = heights(sight, STREAM), heights(sight, DELTA)
    unit = x[0]
    assert [h / unit for h in x] == pytest.approx([1, 2, 1, 0], abs=0.01)
    assert [h / unit for h in (a, b, c, d)] == pytest.approx([1, 1.5, 0.7, 0], abs=0.01)
    assert [h / unit for h in delta[4:]] == pytest.approx([1.2, 1.5, 0.7, 0.1], abs=0.01)


def test_a_component_is_erased_by_its_negative() -> None:
    assert (
        "Component 1 is 0 now" in see(RESIDUAL_ADD, component="1", value=-0.5, scale=2).sentence.en
    )
    assert "is 0 now" not in see(RESIDUAL_ADD, component="1", value=-0.5, scale=1.9).sentence.en


def test_a_replacement_keeps_nothing_of_x() -> None:
    sight = see(RESIDUAL_ADD, replace=True)
    assert sight.sentence.en.startswith("0 % of the result is x")
    assert sum(heights(sight, STREAM)[4:]) == 0
    assert "x + Δ" not in words(sight)
    assert "the token is gone" in see(RESIDUAL_ADD, replace=True, scale=0).sentence.en


def test_nothing_written_changes_nothing() -> None:
    sight = see(RESIDUAL_ADD, scale=0)
    assert "100 %" in sight.sentence.en
    assert words(sight).count("2") == 2
