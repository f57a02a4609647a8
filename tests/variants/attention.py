"""Right answers to unit 03, each written in another way."""

import math
from itertools import product

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from blocklab.reference import attention as reference

PAINTED_CAUSAL = [
    "10000 11000 11100 11110 11111",
    " ".join("1" * n + "0" * (5 - n) for n in range(1, 6)),
    "10000\n11000\n11100\n11110\n11111\n",
]
PAINTED_BIDIRECTIONAL = ["11111 11111 11111 11111 11111", "\n".join(["1" * 5] * 5)]
PAINTED_PREFIX = ["11000 11000 11100 11110 11111", "11000\n11000\n11100\n11110\n11111"]


def _mask_of_ones(T, past=0):
    return torch.ones(T, past + T).tril(diagonal=past).bool()


def _mask_by_loops(T, past=0):
    rows = [[j <= past + i for j in range(past + T)] for i in range(T)]
    return torch.tensor(rows)


def _mask_of_two_parts(T, past=0):
    new = ~torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
    return torch.cat([torch.ones(T, past, dtype=torch.bool), new], dim=1)


def _mask_last_rows(T, past=0):
    return torch.tril(torch.ones((past + T, past + T))).to(torch.bool)[past:]


def _mask_from_minus_inf(T, past=0):
    return torch.full((T, past + T), -torch.inf).triu(1 + past) == 0


def _mask_numpy(T, past=0):
    return torch.from_numpy(np.tri(T, past + T, past, dtype=bool))


def _weights_minus_1e9(q, k, mask=None):
    scores = torch.matmul(q, k.mT) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return F.softmax(scores, dim=-1)


def _weights_einsum(q, k, mask=None):
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, -1)


def _weights_additive(q, k, mask=None):
    root = q.shape[-1] ** 0.25
    scores = (q / root) @ (k / root).transpose(-1, -2)
    if mask is not None:
        scores = scores + torch.zeros(mask.shape).masked_fill(mask.logical_not(), -torch.inf)
    return nn.Softmax(dim=-1)(scores)


def _weights_large_penalty(q, k, mask=None):
    scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + (1.0 - mask.float()) * -1e9
    return scores.softmax(-1)


def _weights_finfo_added(q, k, mask=None):
    scores = (q * q.shape[-1] ** -0.5) @ k.mT
    if mask is not None:
        scores = scores + (~mask) * torch.finfo(torch.float32).min
    return scores.softmax(-1)


def _weights_own_softmax(q, k, mask=None):
    scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


def _weights_logsumexp(q, k, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return (scores - scores.logsumexp(-1, keepdim=True)).exp()


def _weights_by_sdpa(q, k, mask=None):
    keys = torch.eye(k.shape[-2]).expand(*k.shape[:-1], k.shape[-2])
    return F.scaled_dot_product_attention(q, k, keys, attn_mask=mask)


def _weights_by_query(q, k, mask=None):
    T, S = q.shape[-2], k.shape[-2]
    if mask is not None:
        mask = mask.expand(*q.shape[:-2], T, S)
    rows = []
    for i in range(T):
        scores = (k @ q[..., i, :, None])[..., 0] / q.shape[-1] ** 0.5
        if mask is not None:
            scores[~mask[..., i, :]] = float("-inf")
        rows.append(scores.softmax(-1))
    return torch.stack(rows, dim=-2)


WEIGHTS = [
    _weights_minus_1e9,
    _weights_einsum,
    _weights_additive,
    _weights_large_penalty,
    _weights_finfo_added,
    _weights_own_softmax,
    _weights_logsumexp,
    _weights_by_sdpa,
    _weights_by_query,
]


def _attention_sdpa(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def _attention_sdpa_additive(q, k, v, mask=None):
    if mask is not None:
        mask = torch.where(mask, 0.0, -torch.inf)
    return F.scaled_dot_product_attention(q, k, v, mask)


def _attention_einsum(q, k, v, mask=None):
    return torch.einsum("...ij,...jd->...id", _weights_einsum(q, k, mask), v)


def _attention_by_sum(q, k, v, mask=None):
    weights = _weights_minus_1e9(q, k, mask)
    return (weights[..., None] * v[..., None, :, :]).sum(-2)


def _attention_late_division(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e @ v / e.sum(-1, keepdim=True)


def _split_reshape(x, n_heads):
    B, T, d = x.size()
    return x.reshape(B, T, n_heads, d // n_heads).permute(0, 2, 1, 3)


def _split_chunks(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


def _split_unflatten(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3).contiguous()


def _split_by_index(x, n_heads):
    d = x.shape[-1] // n_heads
    return torch.stack([x[:, :, h * d : (h + 1) * d] for h in range(n_heads)], dim=1)


def _split_fill(x, n_heads):
    B, T, d = x.shape
    heads = x.new_zeros(B, n_heads, T, d // n_heads)
    for b, h in product(range(B), range(n_heads)):
        heads[b, h] = x[b].view(T, n_heads, -1)[:, h]
    return heads


def _merge_reshape(x):
    B, n_heads, T, d_head = x.shape
    return x.permute(0, 2, 1, 3).reshape(B, T, n_heads * d_head)


def _merge_view(x):
    x = x.transpose(1, 2).contiguous()
    return x.view(x.shape[0], x.shape[1], -1)


def _merge_cat(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


def _merge_cat_unbound(x):
    return torch.cat(x.unbind(dim=1), -1)


class _MultiHead(nn.Module):
    def __init__(self, d_model, n_heads, bias=False):
        super().__init__()
        self.heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias)
        self.k_proj = nn.Linear(d_model, d_model, bias)
        self.v_proj = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], -1, self.d_head).transpose(1, 2)

    def rotated(self, x, rotate):
        q, k, v = (self.split(p(x)) for p in (self.q_proj, self.k_proj, self.v_proj))
        return (q, k, v) if rotate is None else (rotate(q), rotate(k), v)


class _MultiHeadSDPA(_MultiHead):
    def forward(self, x, mask=None, rotate=None):
        q, k, v = self.rotated(x, rotate)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(_merge_reshape(heads))


class _MultiHeadByLoop(_MultiHead):
    def forward(self, x, mask=None, rotate=None):
        q, k, v = self.rotated(x, rotate)
        if mask is not None:
            mask = mask.expand(x.shape[0], self.heads, x.shape[1], x.shape[1])
        found = [
            _attention_by_sum(q[:, h], k[:, h], v[:, h], None if mask is None else mask[:, h])
            for h in range(self.heads)
        ]
        return self.out_proj(torch.cat(found, dim=-1))


class _MultiHeadEinsum(_MultiHead):
    def forward(self, x, mask=None, rotate=None):
        q, k, v = self.rotated(x, rotate)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / self.d_head**0.5
        if mask is not None:
            scores = scores + torch.where(mask, 0.0, -1e9)
        heads = torch.einsum("bhij,bhjd->bihd", scores.softmax(-1), v)
        return self.out_proj(heads.flatten(2))


class _MultiHeadOutByHead(_MultiHead):
    """Every head is mapped by its own columns of out_proj, and the results are added."""

    def forward(self, x, mask=None, rotate=None):
        heads = reference.attention(*self.rotated(x, rotate), mask)
        columns = self.out_proj.weight.unflatten(1, (self.heads, self.d_head))
        output = torch.einsum("bhtd,ehd->bte", heads, columns)
        return output if self.out_proj.bias is None else output + self.out_proj.bias


class _MultiHeadOneMatrix(_MultiHead):
    """One multiplication for queries, keys and values, as fused layers have it."""

    def forward(self, x, mask=None, rotate=None):
        projections = (self.q_proj, self.k_proj, self.v_proj)
        weight = torch.cat([p.weight for p in projections])
        bias = None
        if self.q_proj.bias is not None:
            bias = torch.cat([p.bias for p in projections])
        q, k, v = map(self.split, F.linear(x, weight, bias).chunk(3, dim=-1))
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        return self.out_proj(_merge_cat(_attention_sdpa(q, k, v, mask)))


class _Grouped(_MultiHead):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__(d_model, n_heads, bias)
        self.groups = n_heads // n_kv_heads
        self.k_proj = nn.Linear(d_model, n_kv_heads * self.d_head, bias)
        self.v_proj = nn.Linear(d_model, n_kv_heads * self.d_head, bias)

    def forward(self, x, mask=None, rotate=None):
        return self.out_proj(self.merged(*self.rotated(x, rotate), mask))

    def merged(self, q, k, v, mask):
        raise NotImplementedError


class _GroupedExpand(_Grouped):
    def shared(self, x):
        B, kv_heads, T, d = x.shape
        x = x[:, :, None].expand(B, kv_heads, self.groups, T, d)
        return x.reshape(B, kv_heads * self.groups, T, d)

    def merged(self, q, k, v, mask):
        return _merge_view(_attention_sdpa(q, self.shared(k), self.shared(v), mask))


class _GroupedSDPA(_Grouped):
    def merged(self, q, k, v, mask):
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return heads.transpose(1, 2).flatten(2)


class _GroupedEinsum(_Grouped):
    def merged(self, q, k, v, mask):
        q = q.unflatten(1, (k.shape[1], self.groups))
        scores = torch.einsum("bkgid,bkjd->bkgij", q, k) / self.d_head**0.5
        if mask is not None:
            mask = mask.expand(len(q), self.heads, *mask.shape[-2:])
            scores = scores.masked_fill(~mask.unflatten(1, (k.shape[1], -1)), -torch.inf)
        heads = torch.einsum("bkgij,bkjd->bkgid", scores.softmax(-1), v)
        return _merge_reshape(heads.flatten(1, 2))


class _GroupedByIndex(_Grouped):
    def merged(self, q, k, v, mask):
        index = torch.arange(self.heads) // self.groups
        return _merge_cat(reference.attention(q, k[:, index], v[:, index], mask))


class _GroupedByLoop(_Grouped):
    def merged(self, q, k, v, mask):
        if mask is not None:
            mask = mask.expand(len(q), self.heads, *mask.shape[-2:])
        found = []
        for h in range(self.heads):
            kv, seen = h // self.groups, None if mask is None else mask[:, h]
            found.append(_attention_einsum(q[:, h], k[:, kv], v[:, kv], seen))
        return torch.cat(found, dim=-1)


class _GroupedRotatesCopies(_Grouped):
    """Keys are shared out first and rotated then: more work, the same numbers."""

    def forward(self, x, mask=None, rotate=None):
        q, k, v = self.rotated(x, None)
        k, v = (torch.repeat_interleave(t, self.groups, dim=1) for t in (k, v))
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        return self.out_proj(_merge_reshape(_attention_sdpa(q, k, v, mask)))


def _cross_linear(x, memory, w_q, w_k, w_v):
    q, k, v = F.linear(x, w_q), F.linear(memory, w_k), F.linear(memory, w_v)
    return F.scaled_dot_product_attention(q, k, v)


def _cross_einsum(x, memory, w_q, w_k, w_v):
    q = torch.einsum("btd,ed->bte", x, w_q)
    k = torch.einsum("bsd,ed->bse", memory, w_k)
    scores = torch.einsum("bte,bse->bts", q, k) / math.sqrt(w_q.shape[0])
    return torch.einsum("bts,bsd,ed->bte", scores.softmax(-1), memory, w_v)


def _cross_values_last(x, memory, w_q, w_k, w_v):
    weights = _weights_own_softmax(x @ w_q.T, memory @ w_k.T)
    return (weights @ memory) @ w_v.T


def _cross_by_text(x, memory, w_q, w_k, w_v):
    found = []
    for tokens, read in zip(x, memory, strict=True):
        scores = tokens @ w_q.T @ (read @ w_k.T).T * len(w_q) ** -0.5
        found.append(torch.softmax(scores, dim=1) @ (read @ w_v.T))
    return torch.stack(found)


def _cross_other_order(x, memory, w_q, w_k, w_v):
    scores = x @ (w_q.T @ w_k) @ memory.mT / w_k.shape[0] ** 0.5
    return scores.softmax(dim=2) @ (memory @ w_v.mT)


def _heads_of(layer, x_t):
    B, T, d_model = x_t.shape
    d_head = d_model // layer.n_heads
    projections = (layer.q_proj, layer.k_proj, layer.v_proj)
    return tuple(p(x_t).view(B, T, -1, d_head).transpose(1, 2) for p in projections)


def _decode_sdpa(layer, x_t, cache=None):
    q, k, v = _heads_of(layer, x_t)
    if cache is not None:
        k, v = (torch.cat((old, new), dim=-2) for old, new in zip(cache, (k, v), strict=True))
    mask = _mask_last_rows(q.shape[2], k.shape[2] - q.shape[2])
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    return layer.out_proj(_merge_cat(heads)), (k, v)


def _decode_empty_start(layer, x_t, cache=None):
    q, k, v = _heads_of(layer, x_t)
    past_k, past_v = (k[:, :, :0], v[:, :, :0]) if cache is None else cache
    k, v = torch.cat([past_k, k], 2), torch.cat([past_v, v], 2)
    mask = reference.causal_mask(x_t.shape[1], past_k.shape[2])
    index = torch.arange(layer.n_heads) // (layer.n_heads // layer.n_kv_heads)
    heads = _attention_by_sum(q, k[:, index], v[:, index], mask)
    return layer.out_proj(heads.transpose(1, 2).flatten(2)), [k, v]


def _decode_one_at_a_time(layer, x_t, cache=None):
    outputs = []
    for token in x_t.split(1, dim=1):
        q, k, v = _heads_of(layer, token)
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        cache = k, v
        group = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        outputs.append(_merge_reshape(_attention_sdpa(q, k, v)))
    return layer.out_proj(torch.cat(outputs, dim=1)), cache


@torch.no_grad()
def _decode_grouped(layer, x_t, cache=None):
    q, k, v = _heads_of(layer, x_t)
    past = 0
    if cache:
        past = cache[0].size(2)
        k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
    B, kv_heads, _, d_head = k.shape
    q = q.reshape(B, kv_heads, -1, *q.shape[2:])
    scores = q @ k[:, :, None].mT / d_head**0.5
    if q.shape[-2] > 1:
        scores = scores.masked_fill(~_mask_by_loops(q.shape[-2], past), -1e9)
    heads = (scores.softmax(-1) @ v[:, :, None]).flatten(1, 2)
    return layer.out_proj(heads.permute(0, 2, 1, 3).flatten(2)), (k, v)


def _bytes_by_layer(n_layers, n_kv_heads, d_head, T, batch=1, bytes_per_value=2):
    one_token = n_kv_heads * d_head * bytes_per_value
    return sum(2 * one_token * T * batch for _ in range(n_layers))


def _bytes_of_a_tensor(n_layers, n_kv_heads, d_head, T, batch=1, bytes_per_value=2):
    shape = (2, n_layers, batch, n_kv_heads, T, d_head)
    return torch.Size(shape).numel() * bytes_per_value


def _bytes_prod(n_layers, n_kv_heads, d_head, T, batch=1, bytes_per_value=2):
    return math.prod((n_layers, n_kv_heads, d_head, T, batch, bytes_per_value)) * 2


def _bytes_float(n_layers, n_kv_heads, d_head, T, batch=1, bytes_per_value=2):
    return 2.0 * n_layers * n_kv_heads * d_head * T * batch * bytes_per_value


def _which_by_rows(weights):
    T = len(weights)
    first = [int((row > 0).nonzero()[0]) for row in weights]
    last = [int((row > 0).nonzero()[-1]) for row in weights]
    if last[0] == T - 1:
        return "bidirectional"
    if last[0] > 0:
        return "prefix"
    if first[-1] == 0:
        return "causal"
    return "packed" if any(first[i] == i for i in range(1, T)) else "window"


def _which_by_building(weights):
    T, seen = len(weights), weights != 0
    causal = torch.ones(T, T).tril().bool()
    if torch.equal(seen, torch.ones_like(causal)):
        return "bidirectional"
    if torch.equal(seen, causal):
        return "causal"
    for n in range(2, T):
        prefix = causal.clone()
        prefix[:n, :n] = True
        if torch.equal(seen, prefix):
            return "prefix"
        if torch.equal(seen, causal.triu(1 - n)):
            return "window"
    return "packed"


def _which_by_counts(weights):
    counts = (weights > 0).sum(1).tolist()
    T = len(counts)
    if counts == [T] * T:
        return "bidirectional"
    if counts == list(range(1, T + 1)):
        return "causal"
    if counts[0] > 1:
        return "prefix"
    return (
        "window"
        if counts == sorted(counts) and counts[1] == 2 and 1 not in counts[1:]
        else "packed"
    )


def _which_by_corners(weights):
    if weights[0, -1] > 0:
        return "bidirectional"
    if weights[0, 1] > 0:
        return "prefix"
    if weights[-1, 0] > 0:
        return "causal"
    below = [weights[i, i - 1] for i in range(1, len(weights))]
    return "window" if all(w > 0 for w in below) else "packed"


CORRECT = {
    "painted_causal": PAINTED_CAUSAL,
    "painted_bidirectional": PAINTED_BIDIRECTIONAL,
    "painted_prefix": PAINTED_PREFIX,
    "causal_mask": [
        _mask_of_ones,
        _mask_by_loops,
        _mask_of_two_parts,
        _mask_last_rows,
        _mask_from_minus_inf,
        _mask_numpy,
    ],
    "attention_weights": WEIGHTS,
    "attention": [
        _attention_sdpa,
        _attention_sdpa_additive,
        _attention_einsum,
        _attention_by_sum,
        _attention_late_division,
    ],
    "split_heads": [
        _split_reshape,
        _split_chunks,
        _split_unflatten,
        _split_by_index,
        _split_fill,
    ],
    "merge_heads": [_merge_reshape, _merge_view, _merge_cat, _merge_cat_unbound],
    "MultiHeadAttention": [
        _MultiHeadSDPA,
        _MultiHeadByLoop,
        _MultiHeadEinsum,
        _MultiHeadOutByHead,
        _MultiHeadOneMatrix,
    ],
    "GroupedQueryAttention": [
        _GroupedExpand,
        _GroupedSDPA,
        _GroupedEinsum,
        _GroupedByIndex,
        _GroupedByLoop,
        _GroupedRotatesCopies,
    ],
    "cross_attention": [
        _cross_linear,
        _cross_einsum,
        _cross_values_last,
        _cross_by_text,
        _cross_other_order,
    ],
    "decode_step": [_decode_sdpa, _decode_empty_start, _decode_one_at_a_time, _decode_grouped],
    "kv_cache_bytes": [_bytes_by_layer, _bytes_of_a_tensor, _bytes_prod, _bytes_float],
    "which_mask": [_which_by_rows, _which_by_building, _which_by_counts, _which_by_corners],
}
