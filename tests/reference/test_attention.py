"""Unit 03's references equal PyTorch's and Hugging Face's attention in value and gradient."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from blocklab.reference.attention import (
    GroupedQueryAttention,
    MultiHeadAttention,
    attention,
    attention_weights,
    causal_mask,
    cross_attention,
    decode_step,
    kv_cache_bytes,
    merge_heads,
    online_softmax,
    painted_bidirectional,
    painted_causal,
    painted_prefix,
    split_heads,
    which_mask,
)
from blocklab.rotary import Rotary

Leaves = list[Tensor]
close = partial(torch.testing.assert_close, rtol=1e-5, atol=2e-6)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, requires_grad=True)


def gradients(y: Tensor, leaves: Leaves) -> tuple[Tensor, ...]:
    """Gradients of a fixed random functional of y."""
    probe = torch.randn(y.shape, generator=torch.Generator().manual_seed(1))
    return torch.autograd.grad((y * probe).sum(), leaves)


def agree(ours: Tensor, theirs: Tensor, mine: Leaves, other: Leaves | None = None) -> None:
    """Values agree, and gradients with respect to both lists of leaves."""
    close(ours, theirs)
    for a, b in zip(gradients(ours, mine), gradients(theirs, other or mine), strict=True):
        close(a, b)


def random_mask(*shape: int) -> Tensor:
    """A random mask in which every token sees itself."""
    return (torch.rand(shape) < 0.5) | torch.eye(*shape[-2:]).bool()


def painted(answer: str) -> Tensor:
    return torch.tensor([[cell == "1" for cell in row] for row in answer.split()])


def test_the_painted_masks_are_those_of_the_causal_mask():
    prefix = causal_mask(5)
    prefix[:2, :2] = True
    assert torch.equal(painted(painted_causal), causal_mask(5))
    assert torch.equal(painted(painted_prefix), prefix)
    assert painted(painted_bidirectional).all()


@pytest.mark.parametrize("T", [1, 2, 7])
def test_the_causal_mask_is_what_is_causal_means_in_torch(T):
    q, k, v = drawn(2, 3, T, 4), drawn(2, 3, T, 4), drawn(2, 3, T, 4)
    theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    agree(attention(q, k, v, causal_mask(T)), theirs, [q, k, v])
    hidden = nn.Transformer.generate_square_subsequent_mask(T)
    assert torch.equal(causal_mask(T), hidden == 0)


@pytest.mark.parametrize(("T", "past"), [(1, 4), (3, 4), (4, 3), (2, 0)])
def test_a_mask_with_a_past_is_the_last_rows_of_the_whole_mask(T, past):
    mask = causal_mask(T, past)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, causal_mask(past + T)[past:])


def test_torchs_is_causal_with_one_query_and_five_keys_reads_key_0_only():
    q, k, v = drawn(1, 1, 1, 4), drawn(1, 1, 5, 4), drawn(1, 1, 5, 4)
    theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    close(theirs, v[:, :, :1])
    assert not torch.allclose(theirs, attention(q, k, v, causal_mask(1, past=4)))


@pytest.mark.parametrize("mask", [None, (5, 7), (2, 1, 5, 7), (2, 3, 5, 7), (2, 1, 1, 7)])
def test_attention_is_torchs_scaled_dot_product_attention(mask):
    q, k, v = drawn(2, 3, 5, 8), drawn(2, 3, 7, 8), drawn(2, 3, 7, 6)
    mask = None if mask is None else random_mask(*mask)
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    agree(attention(q, k, v, mask), theirs, [q, k, v])


def test_weights_are_rows_that_sum_to_1_and_are_0_where_masked():
    mask = random_mask(5, 7)
    weights = attention_weights(drawn(2, 3, 5, 8), drawn(2, 3, 7, 8), mask)
    close(weights.sum(-1), torch.ones(2, 3, 5))
    assert bool((weights[..., ~mask] == 0).all())
    assert bool((weights[..., mask] > 0).all())


def test_scores_of_30_000_give_no_nan():
    q, k = drawn(5, 4) * 100, drawn(5, 4) * 300
    scores = q @ k.T / 2
    assert scores.abs().max() > 30_000
    weights = attention_weights(q, k, causal_mask(5))
    assert bool(weights.isfinite().all())
    assert torch.equal(weights[0], torch.tensor([1.0, 0, 0, 0, 0]))


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6])
def test_splitting_and_merging_undo_each_other(n_heads):
    x = drawn(2, 5, 6)
    heads = split_heads(x, n_heads)
    assert heads.shape == (2, n_heads, 5, 6 // n_heads)
    assert torch.equal(torch.stack(x.chunk(n_heads, -1), dim=1), heads)
    assert torch.equal(merge_heads(heads), x)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n_heads", [1, 2, 4])
def test_multi_head_attention_is_torchs(n_heads, bias):
    ours = MultiHeadAttention(8, n_heads, bias)
    theirs = nn.MultiheadAttention(8, n_heads, bias=bias, batch_first=True)
    copy_into(theirs, ours)
    x, mask = drawn(2, 5, 8), causal_mask(5)
    y, _ = theirs(x, x, x, attn_mask=~mask)
    close(ours(x, mask), y)
    x_mine, *mine = gradients(ours(x, mask), [x, *(p.weight for p in projections(ours))])
    x_other, *other = gradients(y, [x, theirs.in_proj_weight, theirs.out_proj.weight])
    close(x_mine, x_other)
    close(torch.cat(mine), torch.cat(other))


def projections(layer: MultiHeadAttention | GroupedQueryAttention) -> list[nn.Linear]:
    return [layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj]


@torch.no_grad()
def copy_into(theirs: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    *three, out = projections(ours)
    theirs.in_proj_weight.copy_(torch.cat([p.weight for p in three]))
    theirs.out_proj.weight.copy_(out.weight)
    if ours.out_proj.bias is not None:
        theirs.in_proj_bias.copy_(torch.cat([p.bias for p in three]))
        theirs.out_proj.bias.copy_(out.bias)


def test_multi_head_attention_is_gpt2s():
    from transformers import GPT2Config
    from transformers.models.gpt2.modeling_gpt2 import GPT2Attention

    config = GPT2Config(n_embd=12, n_head=3)
    config._attn_implementation = "sdpa"
    theirs = GPT2Attention(config, layer_idx=0).eval()
    ours = MultiHeadAttention(12, 3, bias=True)
    with torch.no_grad():  # GPT-2 keeps its weights as (in, out)
        for p, weight, bias in zip(
            projections(ours)[:3],
            theirs.c_attn.weight.chunk(3, dim=1),
            theirs.c_attn.bias.chunk(3),
            strict=True,
        ):
            p.weight.copy_(weight.T)
            p.bias.copy_(bias)
        ours.out_proj.weight.copy_(theirs.c_proj.weight.T)
        ours.out_proj.bias.copy_(theirs.c_proj.bias)
    x, mask = drawn(2, 5, 12), causal_mask(5)
    agree(ours(x, mask), theirs(x, attention_mask=mask.expand(2, 1, 5, 5))[0], [x])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_grouped_query_attention_with_rotary_is_llamas(n_kv_heads, bias):
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

    config = LlamaConfig(
        hidden_size=24,
        num_attention_heads=4,
        num_key_value_heads=n_kv_heads,
        attention_bias=bias,
    )
    config._attn_implementation = "sdpa"
    theirs = LlamaAttention(config, layer_idx=0).eval()
    ours = GroupedQueryAttention(24, 4, n_kv_heads, bias)
    names = {name.replace("o_proj", "out_proj"): w for name, w in theirs.state_dict().items()}
    ours.load_state_dict(names)
    x, mask = drawn(2, 5, 24), causal_mask(5)
    positions = LlamaRotaryEmbedding(config)(x, torch.arange(5)[None])
    y, _ = theirs(x, positions, mask.expand(2, 1, 5, 5))
    theirs_of = [theirs.q_proj, theirs.k_proj, theirs.v_proj, theirs.o_proj]
    agree(
        ours(x, mask, rotate=Rotary(6)),
        y,
        [x, *(p.weight for p in projections(ours))],
        [x, *(p.weight for p in theirs_of)],
    )


def test_grouped_query_attention_is_multi_head_attention_with_copied_kv_heads():
    grouped, full = GroupedQueryAttention(12, 6, 2), MultiHeadAttention(12, 6)
    weights = grouped.state_dict()
    for name in ("k_proj.weight", "v_proj.weight"):
        heads = weights[name].unflatten(0, (2, 2))
        weights[name] = heads.repeat_interleave(3, dim=0).flatten(0, 1)
    full.load_state_dict(weights)
    x, mask = drawn(2, 5, 12), random_mask(2, 6, 5, 5)
    agree(grouped(x, mask), full(x, mask), [x])


def test_cross_attention_is_torchs_multi_head_attention_with_one_head():
    theirs = nn.MultiheadAttention(8, 1, bias=False, kdim=6, vdim=6, batch_first=True)
    nn.init.eye_(theirs.out_proj.weight)
    w_q, w_k, w_v = theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight
    x, memory = drawn(2, 5, 8), drawn(2, 7, 6)
    y, _ = theirs(x, memory, memory)
    agree(cross_attention(x, memory, w_q, w_k, w_v), y, [x, memory, w_q, w_k, w_v])


@pytest.mark.parametrize("sizes", [[1] * 6, [6], [4, 1, 1], [2, 3, 1]])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_decoding_equals_the_full_pass(sizes, n_kv_heads):
    layer, x, cache = GroupedQueryAttention(16, 4, n_kv_heads), drawn(2, 6, 16), None
    outputs = []
    for part in x.split(sizes, dim=1):
        output, cache = decode_step(layer, part, cache)
        outputs.append(output)
    close(torch.cat(outputs, dim=1), layer(x, causal_mask(6)))
    assert cache is not None
    assert [kept.shape for kept in cache] == [(2, n_kv_heads, 6, 4)] * 2


def test_a_step_leaves_the_cache_it_was_given_alone():
    layer, x = GroupedQueryAttention(16, 4, 2), drawn(2, 6, 16)
    _, cache = decode_step(layer, x[:, :3])
    before = [kept.clone() for kept in cache]
    first, _ = decode_step(layer, x[:, 3:], cache)
    second, _ = decode_step(layer, x[:, 3:], cache)
    assert torch.equal(first, second)
    assert all(torch.equal(a, b) for a, b in zip(before, cache, strict=True))


def test_llama_3_8b_keeps_1_gib_and_would_keep_4_without_gqa():
    assert kv_cache_bytes(32, 8, 128, 8192) == 2**30
    assert kv_cache_bytes(32, 32, 128, 8192) == 4 * 2**30


def test_kv_cache_bytes_counts_a_real_cache():
    layers = [GroupedQueryAttention(16, 4, 2) for _ in range(3)]
    caches = [decode_step(layer, drawn(5, 7, 16))[1] for layer in layers]
    size = sum(kept.nbytes for cache in caches for kept in cache)
    assert size == kv_cache_bytes(3, 2, 4, 7, batch=5, bytes_per_value=4)


def kinds(T: int) -> list[tuple[str, Tensor]]:
    """Every mask of every kind for T tokens, with its name."""
    causal = causal_mask(T)
    found = [("bidirectional", torch.ones(T, T).bool()), ("causal", causal)]
    for n in range(2, T):
        prefix = causal.clone()
        prefix[:n, :n] = True
        found += [("prefix", prefix), ("window", causal.triu(1 - n))]
    for starts in range(1, 2 ** (T - 1)):
        text = torch.tensor([0, *(starts >> n & 1 for n in range(T - 1))]).cumsum(0)
        found.append(("packed", causal & (text == text[:, None])))
    return found


@pytest.mark.parametrize("T", [4, 5, 7])
def test_which_mask_tells_every_mask_of_every_kind(T):
    for kind, mask in kinds(T):
        scores = torch.randn(T, T).mul(8).masked_fill(~mask, -math.inf)
        assert which_mask(scores.softmax(-1)) == kind


@pytest.mark.parametrize("sizes", [[7], [1] * 7, [4, 3], [2, 4, 1]])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_chunk_by_chunk_is_attention_to_everything_so_far(sizes, scale):
    q, k, v = drawn(1, 4), drawn(7, 4), drawn(7, 5)
    scores = (q * scale @ k.T)[0] / 2
    kept, seen, ours, theirs = None, 0, [], []
    for chunk, values in zip(scores.split(sizes), v.split(sizes), strict=True):
        kept, seen = online_softmax(chunk, values, kept), seen + len(chunk)
        ours.append(kept[2])
        theirs.append(F.scaled_dot_product_attention(q * scale, k[:seen], v[:seen])[0])
        close(kept[0], scores[:seen].max())
        close(kept[1], (scores[:seen] - kept[0]).exp().sum())
    agree(torch.stack(ours), torch.stack(theirs), [q, k, v])


def test_four_keys_in_three_chunks_by_hand():
    scores, values = torch.tensor([0, 0, math.log(4), 0]), torch.tensor([[10.0], [20], [30], [40]])
    kept, seen = None, []
    for chunk in zip(scores.split([2, 1, 1]), values.split([2, 1, 1]), strict=True):
        kept = online_softmax(*chunk, kept)
        seen.append([float(number) for number in kept])
    expected = [[0, 2, 15], [math.log(4), 1.5, 25], [math.log(4), 1.75, 190 / 7]]
    close(torch.tensor(seen), torch.tensor(expected))
