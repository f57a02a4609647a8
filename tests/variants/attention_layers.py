"""Right ways to split and merge heads, to build the layers, and to decode."""

from itertools import product

import torch
import torch.nn.functional as F
from torch import nn

from blocklab.reference import attention as reference
from tests.variants.attention_scores import (
    attention_by_sum,
    attention_einsum,
    attention_sdpa,
)


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
            attention_by_sum(q[:, h], k[:, h], v[:, h], None if mask is None else mask[:, h])
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
        return self.out_proj(_merge_cat(attention_sdpa(q, k, v, mask)))


class _MultiHeadScalesFirst(_MultiHead):
    """Queries are divided before rotate, which is linear."""

    def forward(self, x, mask=None, rotate=None):
        q, k, v = map(self.split, (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        q = q / self.d_head**0.5
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        scores = q @ k.mT
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return self.out_proj(_merge_reshape(scores.softmax(-1) @ v))


class _Grouped(_MultiHead):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__(d_model, n_heads, bias)
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
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
        return _merge_view(attention_sdpa(q, self.shared(k), self.shared(v), mask))


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
            found.append(attention_einsum(q[:, h], k[:, kv], v[:, kv], seen))
        return torch.cat(found, dim=-1)


class _GroupedScalesFirst(_Grouped):
    """Queries are divided before rotate, which is linear."""

    def forward(self, x, mask=None, rotate=None):
        q, k, v = map(self.split, (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        q = q * self.d_head**-0.5
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        k, v = (torch.repeat_interleave(t, self.groups, dim=1) for t in (k, v))
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=1.0)
        return self.out_proj(_merge_cat(heads))


class _GroupedRotatesCopies(_Grouped):
    """Keys are shared out first and rotated then: more work, the same numbers."""

    def forward(self, x, mask=None, rotate=None):
        q, k, v = self.rotated(x, None)
        k, v = (torch.repeat_interleave(t, self.groups, dim=1) for t in (k, v))
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        return self.out_proj(_merge_reshape(attention_sdpa(q, k, v, mask)))


def _heads_of(layer, x_t):
    B, T, d_model = x_t.shape
    d_head = d_model // layer.n_heads
    projections = (layer.q_proj, layer.k_proj, layer.v_proj)
    return tuple(p(x_t).view(B, T, -1, d_head).transpose(1, 2) for p in projections)


def _decode_sdpa(layer, x_t, cache=None):
    q, k, v = _heads_of(layer, x_t)
    if cache is not None:
        k, v = (torch.cat((old, new), dim=-2) for old, new in zip(cache, (k, v), strict=True))
    mask = torch.ones(q.shape[2], k.shape[2]).tril(k.shape[2] - q.shape[2]).bool()
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    return layer.out_proj(_merge_cat(heads)), (k, v)


def _decode_empty_start(layer, x_t, cache=None):
    q, k, v = _heads_of(layer, x_t)
    past_k, past_v = (k[:, :, :0], v[:, :, :0]) if cache is None else cache
    k, v = torch.cat([past_k, k], 2), torch.cat([past_v, v], 2)
    mask = reference.causal_mask(x_t.shape[1], past_k.shape[2])
    index = torch.arange(layer.n_heads) // (layer.n_heads // layer.n_kv_heads)
    heads = attention_by_sum(q, k[:, index], v[:, index], mask)
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
        outputs.append(_merge_reshape(attention_sdpa(q, k, v)))
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
        scores = scores.masked_fill(reference.causal_mask(q.shape[-2], past) == 0, -1e9)
    heads = (scores.softmax(-1) @ v[:, :, None]).flatten(1, 2)
    return layer.out_proj(heads.permute(0, 2, 1, 3).flatten(2)), (k, v)


SPLIT = [_split_reshape, _split_chunks, _split_unflatten, _split_by_index, _split_fill]
MERGE = [_merge_reshape, _merge_view, _merge_cat, _merge_cat_unbound]
MULTI_HEAD = [
    _MultiHeadSDPA,
    _MultiHeadByLoop,
    _MultiHeadEinsum,
    _MultiHeadOutByHead,
    _MultiHeadOneMatrix,
    _MultiHeadScalesFirst,
]
GROUPED = [
    _GroupedExpand,
    _GroupedSDPA,
    _GroupedEinsum,
    _GroupedByIndex,
    _GroupedByLoop,
    _GroupedRotatesCopies,
    _GroupedScalesFirst,
]
DECODE = [_decode_sdpa, _decode_empty_start, _decode_one_at_a_time, _decode_grouped]
