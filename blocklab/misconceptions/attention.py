"""Wrong turns around masks, attention, heads and the KV cache."""

from blocklab.misconceptions.attention_cache import decode_step, kv_cache_bytes
from blocklab.misconceptions.attention_counts import head_counts
from blocklab.misconceptions.attention_heads import merge_heads, split_heads
from blocklab.misconceptions.attention_layers import GroupedQueryAttention, MultiHeadAttention
from blocklab.misconceptions.attention_masks import causal_mask, which_mask
from blocklab.misconceptions.attention_online import online_softmax
from blocklab.misconceptions.attention_painted import (
    painted_bidirectional,
    painted_causal,
    painted_prefix,
    painted_window,
)
from blocklab.misconceptions.attention_scores import attention, attention_weights, cross_attention

__all__ = [
    "GroupedQueryAttention",
    "MultiHeadAttention",
    "attention",
    "attention_weights",
    "causal_mask",
    "cross_attention",
    "decode_step",
    "head_counts",
    "kv_cache_bytes",
    "merge_heads",
    "online_softmax",
    "painted_bidirectional",
    "painted_causal",
    "painted_prefix",
    "painted_window",
    "split_heads",
    "which_mask",
]
