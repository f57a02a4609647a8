"""What a mixture of experts must do, and whom it may ask."""

import math

import torch
from torch import Tensor

from blocklab.checks.property import Draw, Property
from blocklab.functions import Activation, Chain, Function, Linear, Scale, Sum, chain
from blocklab.probe import Call
from blocklab.text import Text, both

SWAP = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
BY_HAND = (
    torch.tensor([[1.0, 2.0], [-1.0, -1.0]]),
    math.log(3) * torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, -1.0]]),
    [Scale(2.0), Linear(SWAP), Scale(-1.0)],
    2,
)
SQUARE, ONE = both("n_experts = d_model, k = 1"), both("T = 1")
ALL, BEST = both("k = n_experts"), both("k = 1")


def top_k_experts(draw: Draw) -> list[Property]:
    T, d, n, k, m = draw.size(9, 11), draw.size(6, 8), 4, 2, 5
    x, router, experts = draw.normal(T, d), 1.5 * draw.linear(d, n), _experts(draw, n, d)
    square = draw.normal(T, m), 1.5 * draw.linear(m, m), _experts(draw, m, m)
    crowding = torch.cat([router[:-1], torch.full((1, d), 3.0)])
    return [
        Property(
            "sum",
            Text(
                "What the k best experts of a token give, weighted with the softmax over their "
                "scores.",
                "token마다 score가 가장 높은 expert k개의 출력을, 그 k개의 score에 대한 softmax로 "
                "가중해서 더한 값이다.",
            ),
            [
                Call(BY_HAND, label=Text("by hand", "손계산")),
                Call((*square, 1), label=SQUARE),
                Call((x, router, experts, k), backward=draw.normal(T, d)),
            ],
            weight=2,
        ),
        Property(
            "own_tokens",
            Text(
                "An expert is called only with tokens that chose it; with any other it gives NaN.",
                "expert는 자기를 고른 token으로만 호출한다. 다른 token을 받으면 NaN이 나온다.",
            ),
            [Call((*_particular(draw, x, router, k), k), backward=draw.normal(T, d + n))],
            weight=2,
        ),
        Property(
            "any_number",
            Text(
                "It works for one token, for an expert that all tokens choose, for all experts.",
                "token이 하나일 때, 모든 token이 한 expert를 고를 때, expert를 모두 쓸 때도 맞다.",
            ),
            [
                Call((x[:1], router, experts, k), label=ONE),
                Call((x.abs(), crowding, experts, 1), label=BEST),
                Call((*square, m), label=ALL),
            ],
        ),
    ]


def _experts(draw: Draw, n: int, d: int) -> list[Function]:
    """Curved functions, no two alike."""
    return [_curved(draw, d) for _ in range(n)]


def _curved(draw: Draw, d: int) -> Chain:
    return chain(Linear(draw.linear(d, d), draw.normal(d)), Activation("tanh"))


def _particular(
    draw: Draw, x: Tensor, router: Tensor, k: int
) -> tuple[Tensor, Tensor, list[Function]]:
    """Wider tokens, a router and experts that give NaN for tokens that did not choose them.

    Each expert takes the root of a component of its own, which is positive in its tokens and
    negative in all others: NaN there, in the gradient too if nobody uses what it gave. The last
    expert is chosen by no token, because the last component counts against it.
    """
    (T, d), n = x.shape, len(router)
    scores = x @ router.T
    scores[:, -1] = -torch.inf
    marks = draw.normal(T, n).abs() + 0.5
    marks = torch.where(torch.zeros(T, n).scatter(1, scores.topk(k).indices, 1) > 0, marks, -marks)
    x = torch.cat([x, marks[:, :-1], torch.ones(T, 1)], 1)
    router = torch.cat([router, torch.zeros(n, n)], 1)
    router[-1, -1] = -99
    roots = torch.eye(d + n)[d:]
    roots[-1] *= -1
    return x, router, [_rooted(draw, root) for root in roots]


def _rooted(draw: Draw, reads: Tensor) -> Function:
    """An expert that adds, to a curved function, the root of what `reads` (d,) reads."""
    d = len(reads)
    root = chain(Linear(reads[None]), Activation("sqrt"), Linear(draw.normal(d, 1)))
    return Sum((_curved(draw, d), root))
