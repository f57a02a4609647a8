"""What masks must look like, and how attention weights betray the mask that made them."""

import torch
from torch import Tensor

from blocklab.checks.property import Draw, Property
from blocklab.probe import Call, Read
from blocklab.text import Text, both


def painted_causal(draw: Draw) -> list[Property]:
    says = Text(
        "Five rows: each token sees itself and every token before it.",
        "다섯 행이다. token마다 자기 자신과 그 앞의 모든 token을 본다.",
    )
    return [Property("mask", says, [Read()])]


def painted_bidirectional(draw: Draw) -> list[Property]:
    says = Text(
        "Five rows: each token sees all five.",
        "다섯 행이다. token마다 다섯 token을 모두 본다.",
    )
    return [Property("mask", says, [Read()])]


def painted_prefix(draw: Draw) -> list[Property]:
    says = Text(
        "The two source tokens see one another; each later token sees the source, itself, and "
        "what stands between.",
        "source token 둘은 서로를 본다. 그 뒤의 token은 source와 자기 자신, 그리고 그 사이의 "
        "token을 본다.",
    )
    return [Property("mask", says, [Read()])]


def painted_window(draw: Draw) -> list[Property]:
    says = Text(
        "Six rows: each token sees itself and the two before it, where there are two.",
        "여섯 행이다. token마다 자기 자신과 바로 앞의 두 token을 본다. 앞에 그만큼 없으면 있는 "
        "만큼만 본다.",
    )
    return [Property("mask", says, [Read()])]


def causal_mask(draw: Draw) -> list[Property]:
    T, past = draw.sizes((3, 6), (2, 7))
    one = Text("one new token", "새 token 하나")
    return [
        Property(
            "square",
            Text(
                "With no past: (T, T), bool, True where the key does not come after the query.",
                "past가 없으면 shape은 (T, T), dtype은 bool이고, key가 query보다 뒤가 아니면 "
                "True이다.",
            ),
            [Call((3,)), Call((T,)), Call((1,), label=both("T = 1"))],
            weight=2,
        ),
        Property(
            "past",
            Text(
                "With a past: (T, past + T), and every new token sees the whole past too.",
                "past가 있으면 shape은 (T, past + T)이고, 새 token은 모두 과거 전체도 본다.",
            ),
            [
                Call((2,), {"past": 3}, label=both("past=3")),
                Call((T, past)),
                Call((2, draw.size(300, 600)), label=Text("a long past", "긴 과거")),
                Call((1, past), label=one),
            ],
        ),
    ]


def which_mask(draw: Draw) -> list[Property]:
    return [
        Property(
            "plain",
            Text(
                "It tells the five masks apart.",
                "다섯 mask를 구별한다.",
            ),
            [*_drawn_weights(draw, 4), *_drawn_weights(draw, draw.size(9, 12))],
            weight=2,
            again=False,
        ),
        Property(
            "tiny",
            Text(
                "A very small weight is not a forbidden position: only exactly 0 is.",
                "weight가 아주 작다고 해서 막힌 자리는 아니다. 정확히 0인 자리만 막힌 것이다.",
            ),
            [*_drawn_weights(draw, 4, dip=8), *_drawn_weights(draw, draw.size(9, 12), dip=80)],
        ),
    ]


def _drawn_weights(draw: Draw, T: int, dip: float = 0.0) -> list[Call]:
    """Weights (T, T) under each of the five masks, in a drawn order; at extremes of each too.

    dip: how much lower half of the scores are; at 80 the smallest allowed weight is about e^-80.
    """
    causal = torch.ones(T, T).tril().bool()
    lengths = sorted({2, 3, draw.size(3, T - 1), T - 1})
    starts = [{1}, {draw.size(2, T - 2)}, {T - 1}, {draw.size(1, 2), draw.size(3, T - 1)}]
    masks = [torch.ones(T, T).bool(), causal]
    masks += [_prefix(T, length) for length in lengths]
    masks += [causal & ~causal.tril(-width) for width in lengths]
    masks += [_packed(T, start) for start in (*starts, set(range(1, T)))]
    masks.sort(key=lambda mask: draw.uniform(0, 1))
    return [Call((_weights(draw, mask, dip),)) for mask in masks]


def _prefix(T: int, length: int) -> Tensor:
    mask = torch.ones(T, T).tril().bool()
    mask[:length, :length] = True
    return mask


def _packed(T: int, starts: set[int]) -> Tensor:
    """Causal within each text; a text starts at 0 and at every one of `starts`."""
    text = torch.tensor([n in starts for n in range(T)]).cumsum(0)
    return torch.ones(T, T).tril().bool() & (text == text[:, None])


def _weights(draw: Draw, mask: Tensor, dip: float) -> Tensor:
    scores = draw.normal(*mask.shape).tanh() - dip * (draw.normal(*mask.shape) > 0)
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)
