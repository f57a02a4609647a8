"""Right ways from queries and keys to weights, to values, and to another sequence."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def weights_minus_1e9(q, k, mask=None):
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


def weights_own_softmax(q, k, mask=None):
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
    weights_minus_1e9,
    _weights_einsum,
    _weights_additive,
    _weights_large_penalty,
    _weights_finfo_added,
    weights_own_softmax,
    _weights_logsumexp,
    _weights_by_sdpa,
    _weights_by_query,
]


def attention_sdpa(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def attention_sdpa_additive(q, k, v, mask=None):
    if mask is not None:
        mask = torch.where(mask, 0.0, -torch.inf)
    return F.scaled_dot_product_attention(q, k, v, mask)


def attention_einsum(q, k, v, mask=None):
    return torch.einsum("...ij,...jd->...id", _weights_einsum(q, k, mask), v)


def attention_by_sum(q, k, v, mask=None):
    weights = weights_minus_1e9(q, k, mask)
    return (weights[..., None] * v[..., None, :, :]).sum(-2)


def attention_late_division(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e @ v / e.sum(-1, keepdim=True)


def attention_large_penalty(q, k, v, mask=None):
    return _weights_large_penalty(q, k, mask) @ v


def attention_logsumexp(q, k, v, mask=None):
    return torch.matmul(_weights_logsumexp(q, k, mask), v)


ATTENTION = [
    attention_sdpa,
    attention_sdpa_additive,
    attention_einsum,
    attention_by_sum,
    attention_late_division,
    attention_large_penalty,
    attention_logsumexp,
]


def _cross_linear(x, memory, w_q, w_k, w_v):
    q, k, v = F.linear(x, w_q), F.linear(memory, w_k), F.linear(memory, w_v)
    return F.scaled_dot_product_attention(q, k, v)


def _cross_einsum(x, memory, w_q, w_k, w_v):
    q = torch.einsum("btd,ed->bte", x, w_q)
    k = torch.einsum("bsd,ed->bse", memory, w_k)
    scores = torch.einsum("bte,bse->bts", q, k) / math.sqrt(w_q.shape[0])
    return torch.einsum("bts,bsd,ed->bte", scores.softmax(-1), memory, w_v)


def _cross_values_last(x, memory, w_q, w_k, w_v):
    weights = weights_own_softmax(x @ w_q.T, memory @ w_k.T)
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


CROSS = [_cross_linear, _cross_einsum, _cross_values_last, _cross_by_text, _cross_other_order]
