"""What lecture 05 sees through the logit lens, with a shorter training."""

from itertools import pairwise

import pytest
import torch
from torch.nn.functional import cross_entropy

from blocklab.lab import lens
from blocklab.reference.block import Decoder, logit_lens


@torch.no_grad()
def losses(model: Decoder) -> list[float]:
    ids, following = lens.unseen()
    seen = logit_lens(model.states(ids), model.final_norm, model.lm_head)
    return [float(cross_entropy(logits.flatten(0, 1), following.flatten())) for logits in seen]


@pytest.fixture(scope="module")
def trained() -> dict[bool, list[float]]:
    return {how: losses(lens.train(lens.decoder(residual=how), steps=100)) for how in (True, False)}


def test_a_seed_gives_the_same_decoder_again_and_leaves_the_generator_alone():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    one, same, other = (lens.decoder(n_layers=1, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one.lm_head.weight, same.lm_head.weight)
    assert not torch.equal(one.lm_head.weight, other.lm_head.weight)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_decoder_without_residuals_differs_in_nothing_else():
    with_it, without = lens.decoder(), lens.decoder(residual=False)
    for (name, weight), (same_name, same) in zip(
        with_it.named_parameters(), without.named_parameters(), strict=True
    ):
        assert name == same_name
        assert torch.equal(weight, same)


def test_without_its_residuals_a_block_that_writes_nothing_leaves_nothing():
    x = torch.randn(1, 4, lens.CONFIG.d_model)
    for residual, left in ((True, x), (False, torch.zeros_like(x))):
        block = lens.decoder(residual, n_layers=1).blocks[0]
        for name, weight in block.named_parameters():
            if "out_proj" in name or "down_proj" in name:
                weight.data.zero_()
        assert torch.equal(block(x), left)


def test_what_is_to_be_predicted_is_the_next_character():
    ids, following = lens.batch(lens.TRAINING, 3, torch.Generator().manual_seed(0))
    assert torch.equal(ids[:, 1:], following[:, :-1])


def test_the_unseen_tenth_is_not_in_the_training_text():
    assert torch.equal(torch.cat([lens.TRAINING, lens.UNSEEN]), lens.CORPUS)
    assert len(lens.UNSEEN) == pytest.approx(len(lens.CORPUS) / 10, abs=1)


def test_three_simple_guessers_lose_what_the_course_says():
    assert lens.lines() == pytest.approx((4.635, 3.250, 2.458), abs=0.05)


def test_with_residuals_the_lens_sees_the_loss_fall_from_block_to_block(trained):
    seen = trained[True]
    assert all(after < before for before, after in pairwise(seen[1:]))
    assert seen[1] < lens.lines().uniform - 1


def test_without_residuals_the_lens_sees_nothing_before_the_last_state(trained):
    *between, last = trained[False]
    assert all(abs(loss - lens.lines().uniform) < 1.2 for loss in between)
    assert trained[True][-1] < last - 0.3
