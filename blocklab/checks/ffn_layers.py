"""What the FFN must do as a function, as a layer, with a gate, and as a memory."""

import torch
from torch import Tensor

from blocklab.checks.property import Draw, Property
from blocklab.functions import Activation
from blocklab.probe import Call, Module, Outcome
from blocklab.text import Text, both

BY_HAND, SQUARE = Text("by hand", "손계산"), both("T = d_ff = d_model")
RELU = Activation("relu")
HAND = (
    torch.tensor([1.0, 2.0]),
    torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]),
    torch.tensor([0.0, -3.0, 2.0]),
    torch.tensor([[2.0, 0.0, 1.0], [1.0, 5.0, -1.0]]),
    torch.tensor([0.5, 0.0]),
)
AXES = Text(
    "It takes one token, a sequence, or a batch of them.",
    "token 하나, 문장 하나, 문장의 batch를 모두 받는다.",
)


def _curved(draw: Draw) -> Activation:
    """An activation that is not ReLU, so that the argument has to be used."""
    return Activation(("tanh", "sigmoid", "sin")[draw.size(0, 2)])


def _weights(draw: Draw, d: int, d_ff: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """w_in, b_in, w_out, b_out, with biases as large as what they are added to."""
    w_in, w_out = draw.linear(d, d_ff), draw.linear(d_ff, d)
    return w_in, draw.normal(d_ff), w_out, draw.normal(d)


def feed_forward(draw: Draw) -> list[Property]:
    B, T, d, d_ff = draw.sizes((2, 3), (4, 5), (6, 8), (9, 12))
    x, weights = draw.normal(B, T, d), _weights(draw, d, d_ff)
    square = draw.normal(B, d, d), *_weights(draw, d, d)
    return [
        Property(
            "formula",
            Text(
                "Expand, activate, compress: activation(x W_in + b_in) W_out + b_out.",
                "펼치고, 거르고, 압축한다: activation(x W_in + b_in) W_out + b_out.",
            ),
            [
                Call((HAND[0], *HAND[1:], RELU), label=BY_HAND),
                Call((x, *weights, _curved(draw)), backward=draw.normal(B, T, d)),
                Call((x, *weights, RELU)),
                Call((*square, _curved(draw)), label=SQUARE),
            ],
            weight=3,
        ),
        Property("axes", AXES, [Call((y, *weights, _curved(draw))) for y in (x[0, 0], x[0])]),
    ]


def _named(draw: Draw, d: int, d_ff: int) -> dict[str, Tensor]:
    names = ["up_proj.weight", "up_proj.bias", "down_proj.weight", "down_proj.bias"]
    return dict(zip(names, _weights(draw, d, d_ff), strict=True))


def FeedForward(draw: Draw) -> list[Property]:
    B, T, d, d_ff = draw.sizes((2, 3), (4, 5), (6, 8), (9, 12))
    x, curved = draw.normal(B, T, d), _curved(draw)
    load, square = _named(draw, d, d_ff), _named(draw, d, d)
    return [
        Property(
            "formula",
            Text(
                "up_proj, the activation, down_proj; and all four parameters can learn.",
                "up_proj, activation, down_proj 순서이고, parameter 네 개가 모두 학습된다.",
            ),
            [
                Call((d, d_ff, curved), keep="m", load=load),
                Call((x,), of="m", backward=draw.normal(B, T, d)),
                Call((d, d_ff, RELU), keep="relu", load=load),
                Call((x,), of="relu"),
                Call((d, d, curved), keep="square", load=square),
                Call((draw.normal(B, d, d),), of="square", label=SQUARE),
            ],
            weight=3,
        ),
        Property(
            "axes",
            AXES,
            [
                Call((d, d_ff, curved), keep="m", load=load),
                Call((x[0, 0],), of="m"),
                Call((x[0],), of="m"),
            ],
        ),
    ]


def _gated(draw: Draw, d: int, d_ff: int) -> dict[str, Tensor]:
    """Weights for a SwiGLU whose gates run from closed to open."""
    return {
        "gate_proj.weight": draw.linear(d, d_ff, 1.7),
        "up_proj.weight": draw.linear(d, d_ff),
        "down_proj.weight": draw.linear(d_ff, d),
    }


def SwiGLU(draw: Draw) -> list[Property]:
    B, T, d, d_ff = draw.sizes((2, 3), (4, 5), (6, 8), (9, 12))
    x, load = draw.normal(B, T, d), _gated(draw, d, d_ff)
    one = {name: torch.ones(1, 1) for name in load}
    by_hand = {**one, "gate_proj.weight": 2 * one["gate_proj.weight"]}
    return [
        Property(
            "formula",
            Text(
                "(SiLU(x W_gate) * (x W_up)) W_down, and all three matrices can learn.",
                "(SiLU(x W_gate) * (x W_up)) W_down이고, 세 행렬이 모두 학습된다.",
            ),
            [
                Call((1, 1), keep="one", load=by_hand),
                Call((torch.tensor([-3.0]),), of="one", label=BY_HAND),
                Call((d, d_ff), keep="m", load=load),
                Call((x,), of="m", backward=draw.normal(B, T, d)),
                Call((d, d), keep="square", load=_gated(draw, d, d)),
                Call((draw.normal(B, d, d),), of="square", label=SQUARE),
            ],
            weight=3,
        ),
        Property(
            "parameters",
            Text(
                "Three nn.Linear layers of the sizes asked for, and nothing else: no biases.",
                "요구한 크기의 nn.Linear 세 개만 있고, bias는 없다.",
            ),
            [Call((d, d_ff))],
            judge=_nothing_more,
        ),
        Property(
            "axes",
            AXES,
            [
                Call((d, d_ff), keep="m", load=load),
                Call((x[0, 0],), of="m"),
                Call((x[0],), of="m"),
            ],
        ),
    ]


def _nothing_more(got: list[Outcome], want: list[Outcome]) -> Text | None:
    """A complaint where the module has parameters that were not asked for."""
    mine, asked = got[0].value, want[0].value
    if not isinstance(mine, Module) or mine.parameters.keys() <= asked.parameters.keys():
        return None
    return Text(
        "It also has {names}. Llama's FFN has no biases; nn.Linear makes one unless it is told "
        "bias=False.",
        "{names}도 있습니다. Llama의 FFN에는 bias가 없습니다. nn.Linear는 bias=False라고 하지 "
        "않으면 bias를 만듭니다.",
    ).fill(names=", ".join(name for name in mine.parameters if name not in asked.parameters))


def ffn_as_memory(draw: Draw) -> list[Property]:
    B, T, d, d_ff = draw.sizes((2, 3), (4, 5), (6, 8), (9, 12))
    x, keys, values = draw.normal(B, T, d), draw.linear(d, d_ff), draw.normal(d_ff, d)
    square = draw.normal(B, d, d), draw.linear(d, d), draw.normal(d, d)
    hand = HAND[0], HAND[1], torch.tensor([[1.0, 0.0], [0.0, 3.0], [2.0, 2.0]])
    return [
        Property(
            "sum",
            Text(
                "Every value times its coefficient, summed; and the coefficients themselves.",
                "value마다 coefficient를 곱해 모두 더한 output과, 그 coefficient들.",
            ),
            [
                Call((*hand, RELU), label=BY_HAND),
                Call((x, keys, values, _curved(draw)), backward=draw.normal(B, T, d_ff)),
                Call((x, keys, values, RELU), backward=draw.normal(B, T, d)),
                Call((*square, _curved(draw)), label=SQUARE),
            ],
            weight=3,
        ),
        Property(
            "axes",
            AXES,
            [Call((y, keys, values, _curved(draw))) for y in (x[0, 0], x[0])],
        ),
    ]
