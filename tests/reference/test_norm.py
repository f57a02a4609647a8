"""Unit 02's references equal PyTorch's and Hugging Face's modules in value and gradient."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from blocklab.reference.norm import (
    RMSNorm,
    deep_norm_constants,
    deep_norm_step,
    gradient_profile,
    layer_norm,
    norm_position,
    post_norm_step,
    pre_norm_step,
    rms_by_hand,
    rms_norm,
)

Leaves = tuple[Tensor, ...]
SHAPES = [(8,), (5, 8), (2, 5, 8), (2, 3, 5, 8), (8, 8), (1, 1, 4)]


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def gradients(y: Tensor, *leaves: Tensor) -> tuple[Tensor, ...]:
    """Gradients of a fixed random functional of y."""
    probe = torch.randn(y.shape, generator=torch.Generator().manual_seed(1))
    return torch.autograd.grad((y.float() * probe).sum(), leaves)


def drawn(shape: tuple[int, ...], scale: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    """x, gain and bias that ask for gradients."""
    d = shape[-1]
    x = (torch.randn(shape) * scale + 0.3 * scale).requires_grad_()
    return x, (1 + torch.randn(d)).requires_grad_(), torch.randn(d).requires_grad_()


def close(ours: Tensor, theirs: Tensor) -> None:
    """Equal but for the rounding of their dtype, measured on the largest value."""
    rounding = 8 * torch.finfo(theirs.dtype).eps
    largest = float(theirs.detach().abs().max())
    torch.testing.assert_close(ours, theirs, rtol=rounding, atol=rounding * largest)


def agree(ours: Tensor, theirs: Tensor, ours_of: Leaves, theirs_of: Leaves | None = None) -> None:
    """Values agree, and gradients with respect to both lists of leaves."""
    close(ours, theirs)
    found, wanted = gradients(ours, *ours_of), gradients(theirs, *(theirs_of or ours_of))
    for mine, torchs in zip(found, wanted, strict=True):
        close(mine, torchs)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm_is_torchs_rms_norm_in_value_and_gradient(shape, scale):
    x, gain, _ = drawn(shape, scale)
    agree(rms_norm(x, gain, 1e-6), F.rms_norm(x, gain.shape, gain, 1e-6), (x, gain))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_rms_norm_layer_is_torchs(shape):
    x, gain, _ = drawn(shape)
    ours, theirs = RMSNorm(shape[-1], 1e-5), nn.RMSNorm(shape[-1], 1e-5)
    assert torch.equal(ours.gain, theirs.weight)
    ours.gain.data, theirs.weight.data = gain.data, gain.data.clone()
    agree(ours(x), theirs(x), (x, ours.gain), (x, theirs.weight))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_rms_norm_layer_is_llamas(dtype):
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    x, gain, _ = drawn((2, 5, 16), scale=1.0 if dtype == torch.float32 else 200.0)
    x = x.detach().to(dtype).requires_grad_()
    ours, llamas = RMSNorm(16, 1e-6).to(dtype), LlamaRMSNorm(16, 1e-6).to(dtype)
    ours.gain.data, llamas.weight.data = gain.data.to(dtype), gain.data.to(dtype)
    agree(ours(x), llamas(x), (x, ours.gain), (x, llamas.weight))


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
@pytest.mark.parametrize("shape", SHAPES)
def test_layer_norm_is_torchs_layer_norm_in_value_and_gradient(shape, scale):
    x, gain, bias = drawn(shape, scale)
    theirs = nn.LayerNorm(shape[-1], 1e-5)
    theirs.weight, theirs.bias = nn.Parameter(gain.data), nn.Parameter(bias.data)
    ours = layer_norm(x, gain, bias, 1e-5)
    agree(ours, theirs(x), (x, gain, bias), (x, theirs.weight, theirs.bias))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_both_norms_take_half_precision_whose_squares_overflow(dtype):
    x, gain, bias = (t.detach().to(dtype) for t in drawn((2, 5, 16), scale=300.0))
    assert not torch.isfinite(x.pow(2)).all() or dtype == torch.bfloat16
    torch.testing.assert_close(rms_norm(x, gain, 1e-6), F.rms_norm(x, gain.shape, gain, 1e-6))
    torch.testing.assert_close(
        layer_norm(x, gain, bias, 1e-5), F.layer_norm(x, gain.shape, gain, bias, 1e-5)
    )


def test_a_token_of_zeros_gives_zeros_and_the_bias():
    zeros, gain, bias = torch.zeros(2, 8), torch.randn(8), torch.randn(8)
    assert torch.equal(rms_norm(zeros, gain, 1e-6), zeros)
    assert torch.equal(layer_norm(zeros, gain, bias, 1e-6), bias.expand(2, 8))


def test_the_numbers_by_hand_are_what_rms_norm_gives():
    x, gain = torch.tensor([1.0, 5.0, -7.0, 5.0]), torch.tensor([2.0, 1.0, 0.5, 3.0])
    expected = [x.pow(2).mean().sqrt().item(), *rms_norm(x, gain, 0.0).tolist()]
    assert rms_by_hand == pytest.approx(expected)


@pytest.mark.parametrize("first", [True, False], ids=["pre", "post"])
def test_two_steps_are_a_torch_encoder_layer(first):
    """nn.TransformerEncoderLayer has both orders, chosen by norm_first."""
    layer = nn.TransformerEncoderLayer(16, 4, 32, 0.0, batch_first=True, norm_first=first).eval()
    x = torch.randn(2, 5, 16)
    step = pre_norm_step if first else post_norm_step
    middle = step(x, layer.norm1, lambda h: layer.self_attn(h, h, h, need_weights=False)[0])
    ours = step(middle, layer.norm2, lambda h: layer.linear2(layer.activation(layer.linear1(h))))
    torch.testing.assert_close(ours, layer(x))


def test_a_silent_sublayer_leaves_the_stream_only_in_pre_norm():
    x, norm = torch.randn(2, 5, 8), nn.LayerNorm(8)
    assert torch.equal(pre_norm_step(x, norm, torch.zeros_like), x)
    assert torch.equal(post_norm_step(x, norm, torch.zeros_like), norm(x))


def test_deep_norm_with_an_alpha_of_one_is_post_norm():
    x, norm, f = torch.randn(2, 5, 8), nn.LayerNorm(8), nn.Linear(8, 8)
    assert torch.equal(deep_norm_step(x, norm, f, 1.0), post_norm_step(x, norm, f))
    torch.testing.assert_close(deep_norm_step(x, norm, f, 3.0), norm(3 * x + f(x)))


@pytest.mark.parametrize(("n_layers", "alpha", "beta"), [(8, 2.0, 8**-0.5), (2, 2**0.5, 0.5)])
def test_deep_norms_constants_are_the_papers(n_layers, alpha, beta):
    assert deep_norm_constants(n_layers) == pytest.approx((alpha, beta))


def test_a_gradient_profile_is_what_backward_leaves_at_each_state():
    blocks = [nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(4)]
    x, probe = torch.randn(2, 5, 8), torch.randn(2, 5, 8)
    states = [x.clone().requires_grad_()]
    for block in blocks:
        states.append(block(states[-1]))
        states[-1].retain_grad()
    (states[-1] * probe).sum().backward()
    expected = torch.stack([s.grad.norm() for s in states if s.grad is not None])
    profile = gradient_profile(blocks, x, probe)
    torch.testing.assert_close(profile, expected)
    assert profile.shape == (5,)
    assert profile[-1] == probe.norm()
    assert not x.requires_grad


def test_a_linear_block_shows_its_slope_in_the_profile():
    profile = gradient_profile([lambda h: 2 * h] * 3, torch.randn(1, 2, 4), torch.ones(1, 2, 4))
    torch.testing.assert_close(profile, math.sqrt(8) * torch.tensor([8.0, 4.0, 2.0, 1.0]))


NORMS = {"rms": nn.RMSNorm(16, 1e-12), "layer": nn.LayerNorm(16, 1e-12)}
SUBLAYERS = {
    "linear": nn.Linear(16, 16, bias=False),
    "relu": nn.Sequential(nn.Linear(16, 64, bias=False), nn.ReLU(), nn.Linear(64, 16, bias=False)),
    "gelu": nn.Sequential(nn.Linear(16, 64, bias=False), nn.GELU(), nn.Linear(64, 16, bias=False)),
    "tanh": nn.Tanh(),
}


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("sublayer", SUBLAYERS)
def test_the_position_of_a_norm_is_found_in_blocks_of_every_kind(norm, sublayer):
    n, f = NORMS[norm].double(), SUBLAYERS[sublayer].double()
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    assert norm_position(lambda h: pre_norm_step(h, n, f), x) == "pre"
    assert norm_position(lambda h: post_norm_step(h, n, f), x) == "post"
    assert norm_position(lambda h: h + f(h), x) == "none"
