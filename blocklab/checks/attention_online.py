"""What a softmax over chunks must do, when each chunk is seen once."""

import math

import torch
from torch import Tensor

from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.probe import Call, Result
from blocklab.text import Text

HIGHER = Text("by hand, a higher score comes", "손계산, 더 큰 score가 들어옴")
LOWER = Text("by hand, a lower score comes", "손계산, 더 작은 score가 들어옴")
FIRST = Text("by hand, the first chunk", "손계산, 첫 chunk")
NEAR = Tolerance(absolute=1e-5)  # the gradient of a kept number may nearly cancel
ROUNDED = Tolerance(relative=1e-3, absolute=1e-3)  # near 1,000 a float32 steps by 6e-5
ONE = Text("a chunk of one score", "score가 하나인 chunk")
SINGLE = Text("five chunks of one score", "score가 하나인 chunk 다섯 개")


def online_softmax(draw: Draw) -> list[Property]:
    S, d = draw.sizes((4, 5), (2, 6))
    low, high, values = draw.normal(S), draw.normal(S) + 2, draw.normal(2, S, d)
    return [
        Property(
            "joined",
            Text(
                "What is returned speaks of the new chunk and of all before it, whichever of them "
                "has the largest score.",
                "돌려주는 값은 새 chunk와 앞선 chunk를 모두 나타낸다. 가장 큰 score가 어느 쪽에 "
                "있든 그렇다.",
            ),
            [
                Call((_column(math.log(4)), _column(30.0)[:, None], _by_hand(1)), label=HIGHER),
                Call((_column(0.0), _column(40.0)[:, None], _by_hand(2)), label=LOWER),
                Call((high, values[0], _kept(low, values[1])), backward=draw.normal(d)),
                Call((low, values[0], _kept(high, values[1])), backward=draw.normal(d)),
                *_one_by_one(),
            ],
            weight=2,
            tolerance=NEAR,
            again=False,
        ),
        Property(
            "first",
            Text(
                "The first chunk alone is an ordinary softmax.",
                "첫 chunk만 있으면 평범한 softmax이다.",
            ),
            [
                Call((torch.zeros(2), torch.tensor([[10.0], [20.0]])), label=FIRST),
                Call((low[:1], values[0, :1]), label=ONE),
                Call((low - 5, values[0])),
            ],
        ),
        Property(
            "stable",
            Text(
                "Scores from -1,000 to 1,000 give the right numbers, and no NaN.",
                "score가 -1,000에서 1,000 사이여도 값이 맞고, NaN이 없다.",
            ),
            _large(draw, values),
            tolerance=ROUNDED,
        ),
    ]


def _column(value: float) -> Tensor:
    return torch.tensor([value])


def _by_hand(chunks: int) -> list[Tensor]:
    """What is kept after so many chunks of the example in the text."""
    scores = torch.tensor([0.0, 0.0, math.log(4)])[: chunks + 1]
    return _kept(scores, torch.tensor([[10.0], [20.0], [30.0]])[: chunks + 1])


def _kept(scores: Tensor, values: Tensor) -> list[Tensor]:
    """Largest score, sum and output of scores (S,) and values (S, d_v), all seen at once."""
    top = scores.max()
    return [top, (scores - top).exp().sum(), scores.softmax(0) @ values]


def _one_by_one() -> list[Call]:
    """Five chunks of one score; a small share of a large value stays visible."""
    scores = torch.tensor([0.0, 0.0, 0.0, 6.0, 5.0])
    values = torch.tensor([[1e4], [2e4], [3e4], [10.0], [20.0]])
    parts = list(zip(scores.split(1), values.split(1), strict=True))
    rest = [
        Call((*part, Result(str(n))), keep=str(n + 1), label=SINGLE)
        for n, part in enumerate(parts[1:])
    ]
    return [Call(parts[0], keep="0", label=SINGLE), *rest]


def _large(draw: Draw, values: Tensor) -> list[Call]:
    """Chunks whose scores are exact and near ±1,000, in every order."""
    steps = [torch.tensor([draw.size(-3, 3) for _ in values[0]]).float() for _ in range(2)]
    low, high, other = steps[0] - 997, steps[1] + 997, steps[0] + 997
    return [
        Call((low, values[0])),
        Call((high, values[0], _kept(low, values[1]))),
        Call((low, values[0], _kept(high, values[1]))),
        Call((other, values[0], _kept(high, values[1]))),
    ]
