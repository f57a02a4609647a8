"""The reference of unit 04 equals PyTorch and Hugging Face, in value and in gradient."""

from math import erf, log, sqrt

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from transformers import GPT2Config, LlamaConfig, MixtralConfig
from transformers.models.gpt2.modeling_gpt2 import GPT2MLP
from transformers.models.llama.modeling_llama import LlamaMLP
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock

from blocklab.reference import ffn

SHAPES = [(8,), (5, 8), (2, 5, 8)]


def gradients(output, inputs):
    """Gradients of a random linear probe of the output."""
    probe = torch.randn(output.shape, generator=torch.Generator().manual_seed(1))
    return torch.autograd.grad((output * probe).sum(), list(inputs), retain_graph=True)


def equal_in_value_and_gradient(mine, theirs, *inputs):
    torch.testing.assert_close(mine, theirs)
    torch.testing.assert_close(gradients(mine, inputs), gradients(theirs, inputs))


@pytest.fixture
def rand():
    """Draws tensors that require a gradient, the same in every run."""
    generator = torch.Generator().manual_seed(0)
    return lambda *shape: torch.randn(*shape, generator=generator).requires_grad_()


@pytest.mark.parametrize(("mine", "theirs"), [(ffn.gelu, F.gelu), (ffn.silu, F.silu)])
def test_an_activation_is_pytorchs_also_far_from_zero(mine, theirs):
    x = torch.cat([torch.linspace(-6, 6, 241), torch.tensor([-1e4, -90.0, 90.0, 1e4])])
    x.requires_grad_()
    equal_in_value_and_gradient(mine(x), theirs(x), x)
    assert mine(x.double()).dtype == torch.float64


def test_the_numbers_in_the_text_about_activations():
    x = torch.linspace(-6, 6, 120001, dtype=torch.float64)
    off = (ffn.gelu(x) - F.gelu(x, approximate="tanh")).abs()
    assert off.max().item() == pytest.approx(4.7e-4, abs=5e-6)
    assert x[off.argmax()].abs().item() == pytest.approx(2.7, abs=0.01)
    assert ffn.gelu(torch.ones(())).item() == pytest.approx((1 + erf(1 / sqrt(2))) / 2)
    assert ffn.gelu(x).min().item() == pytest.approx(-0.17, abs=1e-3)
    assert ffn.silu(x).min().item() == pytest.approx(-0.278, abs=1e-3)
    assert (ffn.gelu(x) - ffn.silu(x)).abs().max().item() == pytest.approx(0.193, abs=1e-3)
    assert (ffn.gelu(x) - x * torch.sigmoid(1.702 * x)).abs().max().item() < 0.0204


@pytest.mark.parametrize("shape", SHAPES)
def test_feed_forward_is_two_linear_layers_with_an_activation_between(shape, rand):
    x, up, down = rand(*shape), nn.Linear(8, 11), nn.Linear(11, 8)
    mine = ffn.feed_forward(x, up.weight, up.bias, down.weight, down.bias, torch.tanh)
    theirs = nn.Sequential(up, nn.Tanh(), down)
    equal_in_value_and_gradient(mine, theirs(x), x, *theirs.parameters())


@pytest.mark.parametrize("shape", SHAPES)
def test_the_layer_is_the_function_with_its_own_weights(shape, rand):
    x, layer = rand(*shape), ffn.FeedForward(8, 11, ffn.gelu)
    up, down = layer.up_proj, layer.down_proj
    theirs = ffn.feed_forward(x, up.weight, up.bias, down.weight, down.bias, F.gelu)
    assert up.weight.shape == (11, 8) and down.weight.shape == (8, 11)
    equal_in_value_and_gradient(layer(x), theirs, x, *layer.parameters())


def gpt2_and_mine(activation):
    """GPT-2's MLP, whose weights are (in, out), and a FeedForward with the same numbers."""
    theirs = GPT2MLP(44, GPT2Config(n_embd=12, resid_pdrop=0.0))
    mine = ffn.FeedForward(12, 44, activation)
    for own, other in ((mine.up_proj, theirs.c_fc), (mine.down_proj, theirs.c_proj)):
        nn.init.normal_(own.weight)
        other.load_state_dict({"weight": own.weight.T, "bias": own.bias})
    return mine, theirs


def test_the_layer_is_gpt2s_mlp_with_the_tanh_form_and_not_with_the_exact_one(rand):
    x = rand(2, 5, 12)
    mine, theirs = gpt2_and_mine(lambda h: F.gelu(h, approximate="tanh"))
    equal_in_value_and_gradient(mine(x), theirs(x), x)
    mine.activation = ffn.gelu
    off = (mine(x) - theirs(x)).abs().max()
    assert 1e-4 < off < 44 * 4.7e-4 * mine.down_proj.weight.abs().max()


@pytest.mark.parametrize("shape", SHAPES)
def test_swiglu_is_llamas_mlp_under_the_same_names(shape, rand):
    x, mine = rand(*shape), ffn.SwiGLU(8, 11)
    theirs = LlamaMLP(LlamaConfig(hidden_size=8, intermediate_size=11, num_attention_heads=1))
    theirs.load_state_dict(mine.state_dict())
    equal_in_value_and_gradient(mine(x), theirs(x), x)
    for layer in ("gate_proj", "up_proj", "down_proj"):
        weights = mine.get_submodule(layer).weight, theirs.get_submodule(layer).weight
        wrt_mine, wrt_theirs = gradients(mine(x), weights[:1]), gradients(theirs(x), weights[1:])
        torch.testing.assert_close(wrt_mine, wrt_theirs)


@pytest.mark.parametrize(("d_model", "d_ff"), [(4, 6), (768, 3072), (4096, 14336)])
def test_ffn_parameters_counts_what_the_layers_have(d_model, d_ff):
    with torch.device("meta"):
        plain, gated = ffn.FeedForward(d_model, d_ff, F.gelu), ffn.SwiGLU(d_model, d_ff)
    matrices = [p.numel() for name, p in plain.named_parameters() if "weight" in name]
    assert ffn.ffn_parameters(d_model, d_ff, False) == sum(matrices)
    assert ffn.ffn_parameters(d_model, d_ff, True) == sum(p.numel() for p in gated.parameters())


def test_the_numbers_in_the_text_about_weights():
    d = 768
    assert ffn.ffn_parameters(d, 4 * d, False) == 8 * d**2 == 4_718_592
    assert ffn.attention_parameters(d, 12, 12) == 4 * d**2 == 2_359_296
    d = 4096
    network, attention = ffn.ffn_parameters(d, 14336, True), ffn.attention_parameters(d, 32, 8)
    assert (network, attention) == (10.5 * d**2, 2.5 * d**2) == (176_160_768, 41_943_040)
    assert network / (network + attention) == pytest.approx(0.808, abs=5e-4)
    assert ffn.ffn_widths.split() == ["768", "3072", "768", "4096", "14336", "4096"]


def test_attention_parameters_counts_what_pytorchs_attention_has():
    theirs = nn.MultiheadAttention(24, 6, bias=False)
    assert ffn.attention_parameters(24, 6, 6) == sum(p.numel() for p in theirs.parameters())


@pytest.mark.parametrize("shape", SHAPES)
def test_the_memories_sum_to_the_ffn_and_the_coefficients_are_its_hidden_numbers(shape, rand):
    x, keys, values = rand(*shape), rand(11, 8), rand(11, 8)
    output, coefficients = ffn.ffn_as_memory(x, keys, values, torch.relu)
    theirs = ffn.feed_forward(x, keys, torch.zeros(11), values.T, torch.zeros(8), torch.relu)
    equal_in_value_and_gradient(output, theirs, x, keys, values)
    equal_in_value_and_gradient(coefficients, F.relu(F.linear(x, keys)), x, keys)


def attention(causal):
    def f(x):
        return F.scaled_dot_product_attention(x, x, x, is_causal=causal)

    return f


MIXING = {
    "attention": attention(False),
    "causal attention": attention(True),
    "a layer over the positions": lambda x: (x.mT @ torch.ones(5, 5).double()).mT,
    "a running sum": lambda x: x.cumsum(1),
    "the next token": lambda x: x.roll(-1, 1),
    "the last token for the first": lambda x: torch.cat([x[:, -1:], x[:, 1:]], 1),
    "a norm over positions": lambda x: x / x.norm(dim=1, keepdim=True),
    "a convolution": nn.Conv1d(5, 5, 7, padding=3).double(),
}
NOT_MIXING = {
    "an FFN": ffn.SwiGLU(7, 11).double(),
    "a layer norm": nn.LayerNorm(7).double(),
    "positions added": lambda x: x + torch.arange(5.0).double()[:, None],
    "weights by position": lambda x: x * torch.arange(1.0, 6.0).double()[:, None],
    "a constant": torch.ones_like,
    "the identity": lambda x: x,
    "features reversed": lambda x: x.flip(-1),
}


@pytest.mark.parametrize("name", MIXING)
def test_mixing_is_seen(name):
    assert ffn.mixes_positions(MIXING[name], torch.randn(2, 5, 7).double()) is True


@pytest.mark.parametrize("name", NOT_MIXING)
def test_what_does_not_mix_is_not_taken_for_mixing(name):
    assert ffn.mixes_positions(NOT_MIXING[name], torch.randn(2, 5, 7).double()) is False


@pytest.mark.parametrize("shape", [(5, 7), (2, 5, 7), (2, 3, 5, 7)])
def test_token_mixing_is_an_mlp_on_the_transposed_input(shape, rand):
    x, inner, outer = rand(*shape), nn.Linear(5, 11, bias=False), nn.Linear(11, 5, bias=False)
    mine = ffn.token_mixing(x, inner.weight, outer.weight)
    theirs = nn.Sequential(inner, nn.GELU(), outer)(x.mT).mT
    equal_in_value_and_gradient(mine, theirs, x, inner.weight, outer.weight)


def test_token_mixing_mixes_positions_later_ones_too_and_no_features():
    w_in, w_out = torch.randn(9, 5).double(), torch.randn(5, 9).double()
    x = torch.randn(2, 5, 7).double()

    def mix(y):
        return ffn.token_mixing(y, w_in, w_out)

    assert ffn.mixes_positions(mix, x)
    assert not ffn.mixes_positions(lambda y: mix(y.mT).mT, x.mT.contiguous())
    later = x.clone()
    later[:, -1] = 0
    assert not torch.allclose(mix(later)[:, 0], mix(x)[:, 0])


def mixtral_and_mine(n_experts, k):
    """Mixtral's mixture with weights drawn, its router, and its experts as SwiGLUs."""
    config = MixtralConfig(
        hidden_size=8, intermediate_size=11, num_local_experts=n_experts, num_experts_per_tok=k
    )
    theirs, mine = MixtralSparseMoeBlock(config), [ffn.SwiGLU(8, 11) for _ in range(n_experts)]
    for weight in theirs.parameters():
        nn.init.normal_(weight, std=0.4)
    own = theirs.state_dict()
    for i, expert in enumerate(mine):
        gate, up = own["experts.gate_up_proj"][i].chunk(2)
        down = own["experts.down_proj"][i]
        names = {"gate_proj.weight": gate, "up_proj.weight": up, "down_proj.weight": down}
        expert.load_state_dict(names)
    return theirs, theirs.gate.weight, mine


@pytest.mark.parametrize(("n_experts", "k"), [(8, 2), (5, 3), (4, 1), (3, 3)])
def test_the_mixture_of_experts_is_mixtrals(n_experts, k, rand):
    x, (theirs, router, mine) = rand(12, 8), mixtral_and_mine(n_experts, k)
    ours = ffn.top_k_experts(x, router, mine, k)
    equal_in_value_and_gradient(ours, theirs(x[None])[0], x, router)


def test_the_mixture_in_the_text_by_hand():
    x, router = (
        torch.tensor([[1.0, 2], [-1, -1]]),
        log(3) * torch.tensor([[1.0, 0], [0, 0], [0, -1]]),
    )
    seen = {}

    def expert(name, f):
        return lambda rows: f(seen.setdefault(name, rows))

    doubles, swaps = expert("doubles", lambda r: 2 * r), expert("swaps", lambda r: r.flip(-1))
    output = ffn.top_k_experts(x, router, [doubles, swaps, expert("turns", lambda r: -r)], 2)
    torch.testing.assert_close(output, torch.tensor([[2, 3.25], [0.5, 0.5]]))
    assert {name: rows.tolist() for name, rows in seen.items()} == {
        "doubles": [[1, 2]],
        "swaps": [[1, 2], [-1, -1]],
        "turns": [[-1, -1]],
    }


def test_the_numbers_in_the_text_about_mixtral():
    expert, attention = ffn.ffn_parameters(4096, 14336, True), ffn.attention_parameters(4096, 32, 8)
    with torch.device("meta"):
        config = MixtralConfig()
        block = MixtralSparseMoeBlock(config)
    assert sum(p.numel() for p in block.parameters()) == 8 * expert + 8 * 4096
    shared = 32 * (attention + 8 * 4096) + 2 * config.vocab_size * 4096
    assert round((shared + 32 * 8 * expert) / 1e9, 1) == 46.7
    assert round((shared + 32 * 2 * expert) / 1e9, 1) == 12.9
    scores = log(3) * torch.tensor([-1.0, 0, 1])
    torch.testing.assert_close(scores.softmax(0)[1:], torch.tensor([3, 9]) / 13)
