"""The parallel block is GPT-J's, and a Pre-Norm block's near relation."""

import torch
from torch import nn
from transformers import GPTJConfig
from transformers.models.gptj.modeling_gptj import GPTJBlock

from blocklab.config import ACTIVATIONS
from blocklab.reference.attention import MultiHeadAttention, causal_mask
from blocklab.reference.block import ParallelBlock, PreNormBlock
from blocklab.reference.ffn import FeedForward

D, HEADS, D_FF, T = 24, 4, 40, 7
NAMES = {
    "attn.": "attention.",
    "mlp.fc_in": "ffn.up_proj",
    "mlp.fc_out": "ffn.down_proj",
    "ln_1": "norm",
}


def parallel() -> ParallelBlock:
    ffn = FeedForward(D, D_FF, ACTIVATIONS["gelu_tanh"])
    return ParallelBlock(MultiHeadAttention(D, HEADS), ffn, nn.LayerNorm(D, eps=1e-3))


def our_name(name: str) -> str:
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return name


def test_it_is_gpt_js_block_in_value_and_gradient():
    torch.manual_seed(5)
    config = GPTJConfig(
        n_embd=D, n_head=HEADS, n_inner=D_FF, rotary_dim=D // HEADS, layer_norm_epsilon=1e-3
    )
    theirs, ours = GPTJBlock(config, layer_idx=0).eval(), parallel()
    with torch.no_grad():
        for p in theirs.parameters():
            p.normal_(std=0.3)
    ours.load_state_dict({our_name(name): value for name, value in theirs.state_dict().items()})
    x, mask = torch.randn(2, T, D, requires_grad=True), causal_mask(T)
    additive = torch.zeros(1, 1, T, T).masked_fill(~mask, torch.finfo(torch.float32).min)
    angle = torch.zeros(2, T, D // HEADS // 2)  # nothing is turned, here and there
    turned_by = (angle.sin(), angle.cos())
    expected = theirs(x, attention_mask=additive, position_embeddings=turned_by)
    torch.testing.assert_close(ours(x, mask), expected, rtol=2e-4, atol=2e-5)
    probe = torch.randn_like(expected)
    a, b = (torch.autograd.grad((y * probe).sum(), x)[0] for y in (ours(x, mask), expected))
    torch.testing.assert_close(a, b, rtol=2e-4, atol=2e-5)


@torch.no_grad()
def test_on_a_large_stream_it_nearly_does_what_a_serial_block_does():
    torch.manual_seed(5)
    block, x = parallel(), torch.randn(2, T, D)
    serial = PreNormBlock(block.attention, block.ffn, block.norm, block.norm)

    def apart(size: float) -> float:
        """The distance of the two, as a share of the update."""
        y = block(size * x)
        return float((serial(size * x) - y).norm() / (y - size * x).norm())

    assert apart(1) > 0.05
    assert apart(100) < 0.02 * apart(1)
