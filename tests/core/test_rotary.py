"""The rotary embedding equals Hugging Face's, and makes scores depend on the distance alone."""

import pytest
import torch

from blocklab.rotary import Rotary

ROWS = (2, 3, 5, 8)  # B, heads, T, d_head


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(ROWS, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("offset", [0, 4, 1000])
@pytest.mark.parametrize("theta", [10_000.0, 500_000.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_it_is_llamas(x, theta, offset, dtype):
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import (
        LlamaRotaryEmbedding,
        apply_rotary_pos_emb,
    )

    rope = {"rope_type": "default", "rope_theta": theta}
    config = LlamaConfig(hidden_size=16, num_attention_heads=2, rope_parameters=rope)
    x = x.to(dtype)
    cos, sin = LlamaRotaryEmbedding(config)(x, torch.arange(offset, offset + 5)[None])
    theirs, _ = apply_rotary_pos_emb(x, x, cos, sin)
    ours = Rotary(8, theta)(x, offset)
    assert ours.dtype == dtype
    torch.testing.assert_close(ours, theirs)


def test_it_turns_pair_i_by_the_angle_of_the_paper(x):
    a, b = Rotary(8)(x).chunk(2, dim=-1)
    before = torch.complex(*x.chunk(2, dim=-1))
    angles = torch.arange(5)[:, None] * 10_000 ** (-2 * torch.arange(4) / 8)
    turned = before * torch.polar(torch.ones(5, 4), angles)
    torch.testing.assert_close(torch.complex(a, b), turned)


def test_position_0_and_lengths_stay_as_they_are(x):
    y = Rotary(8)(x)
    assert torch.equal(y[..., 0, :], x[..., 0, :])
    torch.testing.assert_close(y.norm(dim=-1), x.norm(dim=-1))


def test_scores_depend_on_the_distance_alone(x):
    rotary, q, k = Rotary(8), x, x.flip(-1)
    scores = rotary(q) @ rotary(k).mT
    torch.testing.assert_close(rotary(q, 70) @ rotary(k, 70).mT, scores, rtol=1e-3, atol=1e-4)
    assert not torch.allclose(rotary(q, 70) @ rotary(k).mT, scores, atol=0.1)


def test_tokens_one_at_a_time_are_turned_as_in_one_go(x):
    rotary = Rotary(8)
    steps = [rotary(token, offset=t) for t, token in enumerate(x.split(1, dim=-2))]
    torch.testing.assert_close(torch.cat(steps, dim=-2), rotary(x))


def test_the_input_keeps_its_values_and_gets_a_gradient(x):
    before = x.clone()
    Rotary(8)(x.requires_grad_()).sum().backward()
    assert torch.equal(x, before)
    assert x.grad is not None


def test_an_odd_width_is_an_error():
    with pytest.raises(ValueError, match="d_head is 7"):
        Rotary(7)
