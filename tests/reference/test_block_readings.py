"""Unit 05's blocks and readings keep their promises: wiring, lens, LoRA, configs."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from blocklab import functions
from blocklab.checks.block_readings import WIRES
from blocklab.config import BlockConfig
from blocklab.reference import block
from blocklab.reference.attention import causal_mask

LLAMA = BlockConfig(
    d_model=24, n_heads=6, n_kv_heads=2, d_ff=40, n_layers=3, vocab_size=53, max_T=11
)
close = torch.testing.assert_close


def test_only_the_attention_hears_of_the_mask_and_of_how_to_attend():
    heard = []

    class Attention(nn.Module):
        def forward(self, x, mask=None, **how):
            heard.append((mask, how))
            return torch.zeros_like(x)

    x, mask = torch.randn(1, 3, 4), causal_mask(3)
    for kind in (block.PreNormBlock, block.PostNormBlock):
        made = kind(Attention(), nn.Linear(4, 4), nn.LayerNorm(4), nn.LayerNorm(4))
        made(x)
        made(x, mask, rotate="turn", cache=3)
    assert heard == [(None, {}), (mask, {"rotate": "turn", "cache": 3})] * 2


def test_a_silent_pre_norm_block_is_the_identity_and_a_post_norm_one_is_not():
    silent, x = functions.build(functions.NOTHING), torch.randn(2, 3, 4)
    norm1, norm2 = nn.LayerNorm(4), nn.LayerNorm(4)
    assert torch.equal(block.PreNormBlock(silent, silent, norm1, norm2)(x), x)
    close(block.PostNormBlock(silent, silent, norm1, norm2)(x), norm2(norm1(x)))


def test_the_lens_ends_with_the_models_own_logits():
    decoder, x = block.Decoder(LLAMA), torch.randint(0, LLAMA.vocab_size, (2, 7))
    logits = block.logit_lens(decoder.states(x), decoder.final_norm, decoder.lm_head)
    assert logits.shape == (LLAMA.n_layers + 1, 2, 7, LLAMA.vocab_size)
    close(logits[-1], decoder(x))
    close(logits[0], decoder.lm_head(decoder.final_norm(decoder.token_embedding(x))))


@pytest.mark.parametrize("bias", [True, False])
def test_lora_starts_as_its_base_and_learns_what_its_merged_weight_says(bias):
    base, x = nn.Linear(6, 9, bias=bias), torch.randn(2, 5, 6)
    weight = base.weight.clone()
    layer = block.LoRALinear(base, rank=3, alpha=12.0)
    assert torch.equal(layer(x), base(x))
    assert torch.equal(layer.merged(), weight)
    optimiser = torch.optim.SGD([p for p in layer.parameters() if p.requires_grad], lr=0.1)
    for _ in range(3):
        optimiser.zero_grad()
        (layer(x) - 1).square().mean().backward()
        optimiser.step()
    assert torch.equal(base.weight, weight)
    change = layer.merged() - weight
    close(change, 4.0 * layer.B @ layer.A)
    assert torch.linalg.matrix_rank(change) == 3
    close(layer(x), nn.functional.linear(x, layer.merged(), base.bias))


def test_lora_trains_far_fewer_parameters_than_its_base_has():
    layer = block.LoRALinear(nn.Linear(768, 768), rank=8, alpha=16.0)
    learned = sum(p.numel() for p in layer.parameters() if p.requires_grad)
    assert learned == 2 * 8 * 768


PARTS = tuple(functions.Linear(torch.randn(4, 4) / 2) for _ in range(4))


def unknown_block(name: str) -> Any:
    norm1, attention, norm2, ffn = PARTS
    return functions.build(functions.Wired((norm1, attention, norm2, ffn), *WIRES[name]))


@pytest.mark.parametrize("name", WIRES)
def test_every_wire_is_named(name):
    assert block.name_the_wire(unknown_block(name)) == name


def test_the_right_wiring_is_that_of_a_pre_norm_block():
    unknown, x = unknown_block("right"), torch.randn(2, 3, 4)
    made = block.PreNormBlock(unknown.attention, unknown.ffn, unknown.norm1, unknown.norm2)
    close(unknown(x), made(x))


def test_nothing_that_an_unknown_block_shows_tells_its_wires():
    blocks = [unknown_block(name) for name in WIRES]
    assert len({repr(each) for each in blocks}) == 1
    assert len({tuple(sorted(vars(each))) for each in blocks}) == 1
    assert len({tuple(name for name, _ in each.named_modules()) for each in blocks}) == 1


def test_a_part_of_an_unknown_block_may_be_watched_by_a_hook_or_replaced_by_any_function():
    unknown, x, seen = unknown_block("right"), torch.randn(2, 3, 4), []
    unknown.norm2.register_forward_hook(lambda module, given, output: seen.append(given))
    unknown.attention = torch.zeros_like
    unknown(x)
    assert torch.equal(seen[0][0], x)
    unknown.attention = nn.Identity()
    unknown.norm1 = unknown.norm2 = unknown.ffn = lambda h: h
    close(unknown(x), 4 * x)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_heads": 5}, "does not divide by n_heads"),
        ({"n_kv_heads": 4}, "does not divide by n_kv_heads"),
        ({"activation": "tanh", "gated": False}, "choose one of gelu, gelu_tanh, relu, silu"),
        ({"activation": "gelu"}, "a gated FFN is SwiGLU"),
        ({"n_heads": 8, "n_kv_heads": 2}, "even d_head"),
    ],
)
def test_a_config_that_does_not_fit_together_is_an_error(change, words):
    with pytest.raises(ValueError, match=words):
        replace(LLAMA, **change)
