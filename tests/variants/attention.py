"""Right answers to unit 03, each written in another way."""

import math

import numpy as np
import torch

from tests.variants.attention_layers import DECODE, GROUPED, MERGE, MULTI_HEAD, SPLIT
from tests.variants.attention_online import ONLINE
from tests.variants.attention_scores import ATTENTION, CROSS, WEIGHTS

PAINTED_CAUSAL = [
    "10000 11000 11100 11110 11111",
    " ".join("1" * n + "0" * (5 - n) for n in range(1, 6)),
    "10000\n11000\n11100\n11110\n11111\n",
]
PAINTED_BIDIRECTIONAL = ["11111 11111 11111 11111 11111", "\n".join(["1" * 5] * 5)]
PAINTED_WINDOW = [
    "100000 110000 111000 011100 001110 000111",
    "\n".join("".join(str(int(0 <= i - j < 3)) for j in range(6)) for i in range(6)),
    "\n100000\n110000\n111000\n011100\n001110\n000111\n",
]
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
    "painted_window": PAINTED_WINDOW,
    "head_counts": ["12 12 64 32 8 128", "12  12\t64\n32 8 128"],
    "causal_mask": [
        _mask_of_ones,
        _mask_by_loops,
        _mask_of_two_parts,
        _mask_last_rows,
        _mask_from_minus_inf,
        _mask_numpy,
    ],
    "attention_weights": WEIGHTS,
    "attention": ATTENTION,
    "split_heads": SPLIT,
    "merge_heads": MERGE,
    "MultiHeadAttention": MULTI_HEAD,
    "GroupedQueryAttention": GROUPED,
    "cross_attention": CROSS,
    "decode_step": DECODE,
    "online_softmax": ONLINE,
    "kv_cache_bytes": [_bytes_by_layer, _bytes_of_a_tensor, _bytes_prod, _bytes_float],
    "which_mask": [_which_by_rows, _which_by_building, _which_by_counts, _which_by_corners],
}
