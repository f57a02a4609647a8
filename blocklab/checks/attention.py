"""What masks, attention and heads must do."""

import torch
from torch import Tensor

from blocklab.checks.attention_counts import head_counts
from blocklab.checks.attention_layers import (
    GroupedQueryAttention,
    MultiHeadAttention,
    decode_step,
    kv_cache_bytes,
)
from blocklab.checks.attention_masks import (
    causal_mask,
    painted_bidirectional,
    painted_causal,
    painted_prefix,
    painted_window,
    which_mask,
)
from blocklab.checks.attention_online import online_softmax
from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.probe import Call
from blocklab.text import Text, both

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

QUERIES = torch.tensor([[1.0, 1.0, 1.0, 1.0], [0.0, 4.0, 0.0, 0.0]])
KEYS = torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, -1.0, 0.0]])
VALUES = torch.tensor([[10.0, 0.0], [0.0, 10.0]])
BY_HAND, CAUSAL = Text("by hand", "손계산"), torch.ones(5, 5).tril().bool()
MASKED = Text(
    "Where the mask is False the weight is 0, and what is left of the row sums to 1.",
    "mask가 False인 자리의 weight는 0이고, 나머지의 합이 1이 된다.",
)
ONE = both("T = 1")
SQUARE = Text("three axes, T_q = T_k = d_head = 3", "축이 셋, T_q = T_k = d_head = 3")
PADDING, ONE_QUERY = both("mask: (B, 1, 1, T_k)"), both("mask: (B, 1, 1, T_k), T_q = 1")
LARGE = Text("large scores", "큰 score")
EXACT = Tolerance(share=0.0, absolute=1e-12)
ALIKE = Text("x and memory of one shape", "x와 memory의 shape이 같음")


def _mask(draw: Draw, *shape: int) -> Tensor:
    """A random mask with a True and a False in every row of at least two."""
    scores = draw.normal(*shape)
    highest = scores == scores.amax(-1, keepdim=True)
    return highest | ((scores > 0) & (scores != scores.amin(-1, keepdim=True)))


def attention_weights(draw: Draw) -> list[Property]:
    B, heads, T, S, d = draw.sizes((2, 3), (2, 4), (4, 5), (5, 7), (6, 8))
    q, k = draw.normal(B, heads, T, d, scale=1.5), draw.normal(B, heads, S, d)
    square = draw.normal(2, 3, 3), draw.normal(2, 3, 3)
    return [
        Property(
            "formula",
            Text(
                "Without a mask: softmax over the keys of q k^T / √d_head.",
                "mask가 없으면 q k^T / √d_head에 key 방향으로 softmax를 취한 것이다.",
            ),
            [
                Call((QUERIES, KEYS), label=BY_HAND),
                Call(square, label=SQUARE),
                Call((q[:, :, :1], k[:, :, :1]), label=ONE),
                Call((q, k), backward=draw.normal(B, heads, T, S)),
            ],
        ),
        Property(
            "mask",
            MASKED,
            [
                Call((QUERIES, KEYS, CAUSAL[:2, :2]), label=BY_HAND),
                Call((q, k, _mask(draw, T, S)), backward=draw.normal(B, heads, T, S)),
                Call((*square, _mask(draw, 2, 3, 3)), label=SQUARE),
            ],
            weight=2,
        ),
        Property(
            "broadcast",
            Text(
                "The mask may differ from text to text, and from head to head.",
                "mask는 글마다, head마다 다를 수 있다.",
            ),
            [
                Call((q, k, _mask(draw, B, 1, T, S)), label=both("mask: (B, 1, T_q, T_k)")),
                Call((q, k, _mask(draw, B, heads, T, S)), label=both("mask: (B, heads, T_q, T_k)")),
                Call((q[..., :1], k[..., :1], _mask(draw, B, 1, 1, S)), label=PADDING),
                Call((q[:, :, :1], k, _mask(draw, B, 1, 1, S)), label=ONE_QUERY),
            ],
            tolerance=EXACT,
        ),
        Property(
            "stable",
            Text(
                "Scores from -30,000 to 30,000 give the right weights, and no NaN.",
                "score가 -30,000에서 30,000 사이여도 weight가 맞고, NaN이 없다.",
            ),
            [Call(_large(draw)), Call((*_large(draw), CAUSAL))],
        ),
    ]


def _large(draw: Draw) -> tuple[Tensor, Tensor]:
    """Queries and keys (5, 4) whose scores are exact, up to ±30,000 and 5,000 or more apart.

    Query 0 has -30,000 for key 0, the only one that a causal mask leaves it. The last query has
    2,000 or 2,001 for every key.
    """
    rest = sorted((-3.0, -2.0, -1.0, 1.0), key=lambda level: draw.uniform(0, 1))
    signs = [-1.0, *sorted((-0.5, 0.5, 1.0), key=lambda sign: draw.uniform(0, 1))]
    q = torch.tensor([[200 * sign, 0, 0, 0] for sign in signs] + [[0, 40, 2, 0]])
    return q, torch.tensor([[100 * level, 100, n % 2, 0] for n, level in enumerate([3.0, *rest])])


def attention(draw: Draw) -> list[Property]:
    B, heads, T, S, d, d_v = draw.sizes((2, 3), (2, 4), (4, 5), (5, 7), (6, 8), (9, 11))
    q, k, v = (
        draw.normal(B, heads, T, d),
        draw.normal(B, heads, S, d),
        draw.normal(B, heads, S, d_v),
    )
    square = draw.normal(2, 3, 3), draw.normal(2, 3, 3), draw.normal(2, 3, 3)
    mask = _mask(draw, B, heads, T, S)
    return [
        Property(
            "formula",
            Text(
                "For each query: the values, weighted by how much it attends to their keys.",
                "query마다, key에 주목하는 정도를 가중치로 하여 value를 더한 것이다.",
            ),
            [
                Call((QUERIES, KEYS, VALUES), label=BY_HAND),
                Call(square, label=SQUARE),
                Call((q[:, :, :1], k[:, :, :1], v[:, :, :1]), label=ONE),
                Call((q, k, v), backward=draw.normal(B, heads, T, d_v)),
            ],
        ),
        Property(
            "mask",
            Text(
                "A masked position gives nothing to the result, whatever its value and its score "
                "are.",
                "막힌 자리는 value와 score가 무엇이든 결과에 아무것도 보태지 않는다.",
            ),
            [
                Call((QUERIES, KEYS, VALUES, CAUSAL[:2, :2]), label=BY_HAND),
                Call((q, k, v, mask), backward=draw.normal(B, heads, T, d_v)),
                Call((*square, CAUSAL[:3, :3]), label=SQUARE),
                Call((q, k, v, _mask(draw, B, 1, 1, S)), label=PADDING),
                Call((*_large(draw), 10 * torch.eye(5), CAUSAL), label=LARGE),
            ],
        ),
    ]


def split_heads(draw: Draw) -> list[Property]:
    B, heads, d, T = draw.sizes((2, 3), (2, 4), (3, 5), (5, 6))
    says = Text(
        "Head h has d_head components of every token, from number h·d_head on: (B, n_heads, T, "
        "d_head).",
        "head h는 모든 token의 h·d_head번째부터 d_head개 성분을 갖고, shape은 (B, n_heads, T, "
        "d_head)이다.",
    )
    tokens = torch.arange(8.0).view(1, 2, 4)
    steps = [
        Call((tokens, 2), label=BY_HAND),
        Call((draw.normal(B, T, heads * d), heads), backward=draw.normal(B, heads, T, d)),
        Call((draw.normal(B, heads, heads * d), heads), label=both("T = n_heads")),
        Call((draw.normal(B, T, d * d), d), label=both("d_head = n_heads")),
        Call((draw.normal(B, T, d), 1), label=both("n_heads = 1")),
        Call((draw.normal(T, 1, heads * d), heads), label=ONE),
    ]
    return [Property("split", says, steps)]


def merge_heads(draw: Draw) -> list[Property]:
    B, heads, d, T = draw.sizes((2, 3), (2, 4), (3, 5), (5, 6))
    says = Text(
        "The heads of each token stand side by side again, head 0 first: (B, T, n_heads · d_head).",
        "token마다 head들이 0번부터 차례로 다시 나란히 놓인다: (B, T, n_heads · d_head).",
    )
    tokens = torch.arange(8.0).view(1, 2, 2, 2)
    steps = [
        Call((tokens,), label=BY_HAND),
        Call((draw.normal(B, heads, T, d),), backward=draw.normal(B, T, heads * d)),
        Call((draw.normal(B, heads, heads, d),), label=both("T = n_heads")),
        Call((draw.normal(B, d, T, d),), label=both("d_head = n_heads")),
        Call((draw.normal(B, 1, T, d),), label=both("n_heads = 1")),
        Call((draw.normal(T, heads, 1, d),), label=ONE),
    ]
    return [Property("merge", says, steps)]


def cross_attention(draw: Draw) -> list[Property]:
    B, T, S, d, d_memory, d_head, d_v = draw.sizes(
        (2, 3), (3, 4), (5, 6), (6, 8), (6, 9), (4, 10), (3, 11)
    )
    x, memory = draw.normal(B, T, d), draw.normal(B, S, d_memory)
    weights = (
        draw.linear(d, d_head, 1.5),
        draw.linear(d_memory, d_head, 1.5),
        draw.linear(d_memory, d_v),
    )
    square = [draw.linear(d, d, 1.5) for _ in range(3)]
    return [
        Property(
            "memory",
            Text(
                "Queries come from x; keys and values come from the memory.",
                "query는 x에서, key와 value는 memory에서 나온다.",
            ),
            [
                Call((draw.normal(B, T, d), draw.normal(B, T, d), *square), label=ALIKE),
                Call((x, memory[:, :1], *weights), label=both("S = 1")),
                Call((x[:1, :1], memory[:1], *weights), label=both("B = T = 1")),
                Call((x, memory, *weights), backward=draw.normal(B, T, d_v)),
            ],
        ),
    ]
