"""The sentences of lecture 02 that rest on a measurement at initialisation."""

import itertools

import pytest
import torch

from blocklab.lab import gradients
from blocklab.lab.depth import tokens
from blocklab.lab.gradients import Place, Stack, by_depth, exponent, sizes, state_gradients

DEPTHS = (3, 6, 12, 24)


def test_an_exponent_is_read_off_exactly_from_a_power_law():
    assert exponent(DEPTHS, [5 * n**0.3 for n in DEPTHS]) == pytest.approx(0.3)


def test_a_pre_norm_stream_grows_like_the_root_of_the_number_of_updates():
    stream = sizes(Stack("pre", 48).states(tokens()))
    assert exponent(range(8, 97), stream[8:]) == pytest.approx(0.55, abs=0.1)


def test_the_share_of_a_pre_norm_update_falls_below_a_tenth_by_block_48():
    states = Stack("pre", 48).states(tokens())
    updates = sizes(after - before for before, after in itertools.pairwise(states))
    share = updates / sizes(states)[:-1]
    assert share[:2].mean() > 0.4
    assert share[-2:].mean() < 0.1


def test_the_gradient_along_a_pre_norm_stream_grows_like_a_root_not_exponentially():
    ratios = [state_gradients("pre", n, final=False)[0] for n in DEPTHS]
    assert exponent(DEPTHS, ratios) == pytest.approx(0.55, abs=0.15)


def test_without_norms_the_gradient_is_over_100_000_times_larger_at_the_input():
    assert state_gradients("none", 24)[0] > 50_000  # the median of six seeds is above 100,000


def test_every_state_of_a_deepnorm_stack_has_the_same_gradient():
    assert state_gradients("deep", 24) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(("place", "power"), [("pre", -0.5), ("post", 0), ("deep", -0.5)])
def test_the_last_ffn_gradient_depends_on_depth_as_the_lecture_says(place: Place, power: float):
    found = exponent(DEPTHS, by_depth(place, DEPTHS, seeds=3).last_ffn.mean(1))
    assert found == pytest.approx(power, abs=0.12)


def test_one_step_moves_a_stack_equally_far_at_every_depth_only_with_alpha_and_beta():
    moved = {place: by_depth(place, DEPTHS, seeds=2).step.mean(1) for place in ("alpha", "deep")}
    assert abs(exponent(DEPTHS, moved["deep"])) < 0.15
    assert exponent(DEPTHS, moved["alpha"]) > 0.8


def test_the_input_gradient_of_post_norm_is_far_from_proportional_to_depth():
    assert exponent(DEPTHS, by_depth("post", DEPTHS, seeds=4).entry.mean(1)) < 0.5


def test_without_a_final_norm_the_loss_grows_with_the_stream(monkeypatch: pytest.MonkeyPatch):
    stack, x = Stack("pre", 24), tokens()
    with_norm, _ = gradients.random_loss(stack, x, seed=0)
    monkeypatch.setattr(stack, "read", lambda last: last)
    without, _ = gradients.random_loss(stack, x, seed=0)
    chance = torch.tensor(float(gradients.VOCAB_SIZE)).log()
    assert with_norm < chance + 1 < without
