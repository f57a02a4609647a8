"""What lecture 05 measures without any training."""

import pytest

from blocklab.lab import stack
from blocklab.lab.stack import symptoms


def test_only_without_attention_does_a_token_see_itself_alone():
    assert symptoms("attention").seen == 1
    assert {symptoms(e).seen for e in (None, "ffn", "norm", "residual")} == {16}


def test_only_without_the_ffn_is_what_a_lone_token_gets_written_linear():
    assert symptoms("ffn").bend < 1e-12
    assert all(symptoms(e).bend > 0.3 for e in (None, "attention", "norm", "residual"))


def test_only_without_the_norm_does_the_stream_grow_a_hundredfold():
    assert symptoms("norm").size > 100
    assert all(symptoms(e).size < 5 for e in (None, "attention", "ffn", "residual"))


def test_only_without_the_residual_do_all_tokens_become_one_vector():
    assert symptoms("residual").likeness > 0.9999
    assert all(symptoms(e).likeness < 0.98 for e in (None, "attention", "ffn", "norm"))


def test_four_times_the_blocks_of_one_width_take_about_four_times_as_long():
    few, many = stack.time_shapes([(8, 64), (32, 64)])
    assert many.parameters == 4 * few.parameters
    assert 2 < many.ms / few.ms < 8


def test_with_equal_parameters_narrow_and_deep_takes_longer_than_wide_and_shallow():
    wide, deep = stack.time_shapes([(1, 512), (64, 64)])
    assert deep.parameters == pytest.approx(wide.parameters, rel=0.02)
    assert deep.ms > 2 * wide.ms
