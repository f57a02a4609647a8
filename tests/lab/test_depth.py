"""What lecture 01 says about depth, measured."""

import pytest
import torch

from blocklab.lab import depth


def likeness(residual: bool, **how) -> float:
    """Mean cosine of the tokens after 12 blocks."""
    with torch.no_grad():
        past = depth.sublayers(12, norm=True, **how)
        return depth.mean_cosine(depth.travel(depth.tokens(), past, residual)[-1])


def test_a_seed_gives_the_same_blocks_again_and_leaves_the_generator_alone():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    weights = [next(s.parameters()) for seed in (0, 0, 1) for s in depth.sublayers(1, seed=seed)]
    assert torch.equal(weights[0], weights[2])
    assert not torch.equal(weights[0], weights[4])
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("init", "variance"),
    [(depth.xavier, 2 / 500), (depth.fan_in, 1 / 400), (depth.torch_default, 1 / 1200)],
)
def test_an_initialisation_has_the_variance_it_names(init, variance):
    torch.manual_seed(0)
    weight = torch.empty(100, 400)
    init(weight)
    assert weight.var().item() == pytest.approx(variance, rel=0.05)


def test_attention_never_looks_ahead_and_the_ffn_never_looks_aside():
    attention, ffn = depth.sublayers(1)
    x = depth.tokens(T=6, batch=1)
    nudged = x.clone()
    nudged[0, 2] += 1

    def moved(f):
        return ((f(nudged) - f(x)).norm(dim=-1)[0] > 0).tolist()

    assert moved(attention) == [False, False, True, True, True, True]
    assert moved(ffn) == [False, False, True, False, False, False]


def test_without_norms_the_gradient_explodes_with_the_add_and_vanishes_without():
    (added,) = depth.gradient_by_depth([24], residual=True)
    (replaced,) = depth.gradient_by_depth([24], residual=False)
    assert added > 1e4
    assert replaced < 1e-8


def test_without_norms_the_scale_of_gpt2_keeps_the_gradient_at_every_depth():
    ratios = depth.gradient_by_depth([1, 8, 24], residual=True, scale_output=True)
    assert all(1 < ratio < 1.5 for ratio in ratios)


def test_with_norms_the_gradient_does_not_vanish_without_the_add_but_tokens_become_equal():
    (ratio,) = depth.gradient_by_depth([24], residual=False, norm=True)
    assert ratio > 0.1
    assert likeness(residual=False) > 0.999
    assert likeness(residual=True) < 0.9
    assert likeness(residual=True, scale_output=True) < 0.1


def test_the_mean_cosine_is_1_for_equal_tokens_and_0_for_orthogonal_ones():
    assert depth.mean_cosine(torch.ones(2, 3, 4)) == pytest.approx(1)
    assert depth.mean_cosine(torch.eye(4)[None]) == pytest.approx(0)


def test_a_linear_stream_has_the_gradient_that_powers_give():
    x, probe = depth.tokens(T=2, d_model=3), depth.tokens(T=2, d_model=3, seed=1)
    past = [lambda x: 0.1 * x] * 100
    assert depth.gradient_ratio(past, True, x, probe) == pytest.approx(1.1**100)
    assert depth.gradient_ratio(past, False, x, probe) == pytest.approx(0.1**100)
