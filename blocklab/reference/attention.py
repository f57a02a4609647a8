"""Masks, attention, heads, and one step of inference with a KV cache."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

head_counts = "12 12 64 32 8 128"

painted_causal = "10000 11000 11100 11110 11111"

painted_bidirectional = "11111 11111 11111 11111 11111"

painted_prefix = "11000 11000 11100 11110 11111"

painted_window = "100000 110000 111000 011100 001110 000111"


def causal_mask(T: int, past: int = 0) -> Bool[Tensor, "T past+T"]:
    """Which tokens each of T new tokens may attend to, after `past` tokens that came before.

    Returns (T, past + T), bool, True where attending is allowed. Row i is the new token at
    position past + i, column j is the token at position j: every token sees itself and all that
    came before it. T >= 1, past >= 0.
    """
    query = torch.arange(past, past + T)
    key = torch.arange(past + T)
    return key <= query[:, None]


def attention_weights(
    q: Float[Tensor, "*batch T_q d_head"],
    k: Float[Tensor, "*batch T_k d_head"],
    mask: Bool[Tensor, "... T_q T_k"] | None = None,
) -> Float[Tensor, "*batch T_q T_k"]:
    """How much each query takes from each key: softmax(q k^T / sqrt(d_head)) over the keys.

    q (…, T_q, d_head), k (…, T_k, d_head). mask: bool, True where a query may attend to a key, of
    a shape that broadcasts to (…, T_q, T_k), with a True in every row; None allows everything.
    Returns (…, T_q, T_k): each row sums to 1 and is 0 where the mask is False. Scores may be as
    large as ±30,000. Source: Vaswani et al. (2017), equation 1.
    """
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1)


def attention(
    q: Float[Tensor, "*batch T_q d_head"],
    k: Float[Tensor, "*batch T_k d_head"],
    v: Float[Tensor, "*batch T_k d_v"],
    mask: Bool[Tensor, "... T_q T_k"] | None = None,
) -> Float[Tensor, "*batch T_q d_v"]:
    """For each query, the mean of the values, weighted by `attention_weights`.

    q (…, T_q, d_head), k (…, T_k, d_head), v (…, T_k, d_v); mask as in `attention_weights`.
    Returns (…, T_q, d_v). Source: Vaswani et al. (2017), equation 1.
    """
    return attention_weights(q, k, mask) @ v


def split_heads(
    x: Float[Tensor, "B T d_model"], n_heads: int
) -> Float[Tensor, "B n_heads T d_head"]:
    """Cut each token into n_heads parts, one a head: (B, T, d_model) -> (B, n_heads, T, d_head).

    d_model = n_heads * d_head; head 0 has the first d_head components, head 1 the next, and so on.
    """
    B, T, d_model = x.shape
    return x.view(B, T, n_heads, d_model // n_heads).transpose(1, 2)


def merge_heads(x: Float[Tensor, "B n_heads T d_head"]) -> Float[Tensor, "B T n_heads*d_head"]:
    """Put the heads of each token side by side again; undoes `split_heads`.

    x (B, n_heads, T, d_head). Returns (B, T, n_heads * d_head).
    """
    return x.transpose(1, 2).flatten(start_dim=2)


class MultiHeadAttention(nn.Module):
    """Self-attention with n_heads heads of d_head = d_model / n_heads components each.

    q_proj, k_proj, v_proj, out_proj: linear layers from d_model to d_model, with or without bias.
    x and the result are (B, T, d_model). mask: as in `attention_weights`, of a shape that
    broadcasts to (B, n_heads, T, T). rotate: a function of (B, heads, T, d_head) that keeps the
    shape; it goes over queries and keys after the split, not over values. None leaves them alone.
    Source: Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = False) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        x: Float[Tensor, "B T d_model"],
        mask: Bool[Tensor, "... T T"] | None = None,
        rotate: Callable[[Tensor], Tensor] | None = None,
    ) -> Float[Tensor, "B T d_model"]:
        q = split_heads(self.q_proj(x), self.n_heads)
        k = split_heads(self.k_proj(x), self.n_heads)
        v = split_heads(self.v_proj(x), self.n_heads)
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        return self.out_proj(merge_heads(attention(q, k, v, mask)))


class GroupedQueryAttention(nn.Module):
    """Self-attention where consecutive query heads share a KV head.

    n_heads query heads of d_head = d_model / n_heads components, and n_kv_heads key and value
    heads as wide; n_heads is a multiple of n_kv_heads. With 4 and 2, query heads 0 and 1 read KV
    head 0, query heads 2 and 3 read KV head 1.
    q_proj, out_proj: linear, d_model to d_model; k_proj, v_proj: d_model to n_kv_heads * d_head.
    x, mask, rotate and the result: as in `MultiHeadAttention`. Source: Ainslie et al. (2023).
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, bias: bool = False) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        d_kv = n_kv_heads * (d_model // n_heads)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_kv, bias=bias)
        self.v_proj = nn.Linear(d_model, d_kv, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        x: Float[Tensor, "B T d_model"],
        mask: Bool[Tensor, "... T T"] | None = None,
        rotate: Callable[[Tensor], Tensor] | None = None,
    ) -> Float[Tensor, "B T d_model"]:
        q = split_heads(self.q_proj(x), self.n_heads)
        k = split_heads(self.k_proj(x), self.n_kv_heads)
        v = split_heads(self.v_proj(x), self.n_kv_heads)
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        group = self.n_heads // self.n_kv_heads
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        return self.out_proj(merge_heads(attention(q, k, v, mask)))


def cross_attention(
    x: Float[Tensor, "B T d_model"],
    memory: Float[Tensor, "B S d_memory"],
    w_q: Float[Tensor, "d_head d_model"],
    w_k: Float[Tensor, "d_head d_memory"],
    w_v: Float[Tensor, "d_v d_memory"],
) -> Float[Tensor, "B T d_v"]:
    """One head in which the tokens of x read the tokens of another sequence, the memory.

    x (B, T, d_model) gives the queries, memory (B, S, d_memory) the keys and the values. Weights
    in the PyTorch layout (out, in): w_q (d_head, d_model), w_k (d_head, d_memory),
    w_v (d_v, d_memory). No mask: every token of x may read the whole memory.
    Returns (B, T, d_v). Source: Vaswani et al. (2017), section 3.2.3.
    """
    return attention(x @ w_q.T, memory @ w_k.T, memory @ w_v.T)


def decode_step(
    layer: GroupedQueryAttention,
    x_t: Float[Tensor, "B T_new d_model"],
    cache: tuple[Tensor, Tensor] | None = None,
) -> tuple[Float[Tensor, "B T_new d_model"], tuple[Tensor, Tensor]]:
    """Causal attention for the newest tokens only, with the keys and values of all earlier ones.

    layer: a `GroupedQueryAttention`, whose projections do the work. x_t (B, T_new, d_model): the
    new tokens, often one. cache: what the step before returned, or None at the very start; keys
    and values, each (B, n_kv_heads, t, d_head) for the t tokens so far.
    Returns the output for the new tokens (B, T_new, d_model), and the cache with t + T_new tokens.
    The cache that came in keeps its values: it may be used again, for another continuation.
    """
    q = split_heads(layer.q_proj(x_t), layer.n_heads)
    k = split_heads(layer.k_proj(x_t), layer.n_kv_heads)
    v = split_heads(layer.v_proj(x_t), layer.n_kv_heads)
    if cache is not None:
        k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
    T, group = x_t.shape[1], layer.n_heads // layer.n_kv_heads
    keys, values = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    heads = attention(q, keys, values, causal_mask(T, past=k.shape[2] - T))
    return layer.out_proj(merge_heads(heads)), (k, v)


def kv_cache_bytes(
    n_layers: int,
    n_kv_heads: int,
    d_head: int,
    T: int,
    batch: int = 1,
    bytes_per_value: int = 2,
) -> int:
    """How many bytes the keys and values of T tokens take, over all layers and texts.

    batch: how many texts of T tokens are held at once. bytes_per_value: 2 for bf16 and fp16.
    """
    return 2 * n_layers * n_kv_heads * d_head * T * batch * bytes_per_value


def which_mask(weights: Float[Tensor, "T T"]) -> str:
    """Which of five masks made these attention weights, told from the weights alone.

    weights (T, T), T >= 4: row i is what token i takes from each token; a position that the mask
    allows has a weight above 0, however small, and any other has exactly 0. The five masks:
    "bidirectional": every token sees every token.
    "causal": token i sees 0..i.
    "prefix": causal, and the first P tokens see one another as well, 2 <= P < T.
    "window": token i sees the last W of 0..i, itself included, 2 <= W < T.
    "packed": two or more texts stand one after the other; each is causal and sees only itself.
    """
    seen = weights > 0
    if seen.all():
        return "bidirectional"
    if seen.triu(diagonal=1).any():
        return "prefix"
    if torch.equal(seen, causal_mask(len(weights))):
        return "causal"
    return "window" if seen.diagonal(-1).all() else "packed"


def online_softmax(
    scores: Float[Tensor, " S"],
    values: Float[Tensor, "S d_v"],
    kept: tuple[Tensor, Tensor, Tensor] | None = None,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""], Float[Tensor, " d_v"]]:
    """One query's attention to one more chunk of keys, when all earlier chunks are gone.

    scores (S,) and values (S, d_v) of the new chunk, S >= 1. kept: what the call before returned,
    or None for the first chunk. It is left as it was.
    Returns three tensors about all chunks so far: the largest score, (); the sum of
    e^(score - largest), (); and softmax(scores) @ values, (d_v,). Scores may be as large as ±1,000.
    Source: Milakov and Gimelshein (2018), algorithm 3; Dao et al. (2022), section 3.1.
    """
    top, total, output = kept or (torch.tensor(-torch.inf), 0, 0)
    new_top = torch.maximum(top, scores.max())
    old, e = total * (top - new_top).exp(), (scores - new_top).exp()
    new_total = old + e.sum()
    return new_top, new_total, (old * output + e @ values) / new_total
