"""What the FFN must do as a function, as a layer, with a gate, and as a memory."""

import torch
from torch import Tensor

from blocklab.checks.parameters import only_these
from blocklab.checks.property import Draw, Property
from blocklab.functions import Activation
from blocklab.probe import Call
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
LARGE = Text("a large number", "큰 수")
NARROW = both("d_ff < d_model")
AXES = Text(
    "It takes one token or any batch of them, also where d_ff is smaller than d_model.",
    "token 하나든 어떤 모양의 batch든 받고, d_ff가 d_model보다 작아도 된다.",
)


def _curved(draw: Draw) -> Activation:
    """An activation that is not ReLU, so that the argument has to be used."""
    return Activation(("tanh", "sigmoid", "sin")[draw.size(0, 2)])


def _weights(draw: Draw, d: int, d_ff: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """w_in, b_in, w_out, b_out, with biases as large as what they are added to."""
    w_in, w_out = draw.linear(d, d_ff), draw.linear(d_ff, d)
    return w_in, draw.normal(d_ff), w_out, draw.normal(d)


def _alone_and_batched(draw: Draw, d: int) -> tuple[Tensor, Tensor, Tensor]:
    """One token (d,), a batch of one sequence of one token, and tokens behind three axes."""
    x = draw.normal(1, draw.size(2, 4), 1, d)
    return x[0, 0, 0], x[:, 0], x


def feed_forward(draw: Draw) -> list[Property]:
    B, T, d, d_ff = draw.sizes((2, 3), (4, 5), (6, 8), (9, 12))
    x, weights = draw.normal(B, T, d), _weights(draw, d, d_ff)
    square, narrow = (draw.normal(B, d, d), *_weights(draw, d, d)), _weights(draw, d_ff, d)
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
                Call((*square, _curved(draw)), label=SQUARE),
            ],
            weight=3,
        ),
        Property(
            "axes",
            AXES,
            [
                Call((y, *narrow, _curved(draw)), label=NARROW)
                for y in _alone_and_batched(draw, d_ff)
            ],
        ),
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
                "up_proj, the activation, down_proj; all four parameters can learn, and no two "
                "layers share anything.",
                "up_proj, activation, down_proj 순서이다. parameter 네 개가 모두 학습되고, layer "
                "둘이 공유하는 것은 없다.",
            ),
            [
                Call((d, d_ff, curved), keep="m", load=load),
                Call((d, d_ff, RELU), keep="relu", load=_named(draw, d, d_ff)),
                Call((x,), of="m", backward=draw.normal(B, T, d)),
                Call((x,), of="relu"),
                Call((d, d, curved), keep="square", load=square),
                Call((draw.normal(B, d, d),), of="square", label=SQUARE),
            ],
            weight=3,
        ),
        Property(
            "parameters",
            Text(
                "Its parameters are those of up_proj and down_proj, and no others.",
                "parameter는 up_proj와 down_proj의 것뿐이다.",
            ),
            [Call((d, d_ff, RELU))],
            judge=only_these,
        ),
        Property(
            "axes",
            AXES,
            [
                Call((d_ff, d, curved), keep="m", load=_named(draw, d_ff, d), label=NARROW),
                *(Call((y,), of="m") for y in _alone_and_batched(draw, d_ff)),
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
                "(SiLU(x W_gate) * (x W_up)) W_down; all three matrices can learn, and no two "
                "layers share one.",
                "(SiLU(x W_gate) * (x W_up)) W_down이다. 세 행렬이 모두 학습되고, layer 둘이 "
                "같은 행렬을 공유하지 않는다.",
            ),
            [
                Call((1, 1), keep="one", load=by_hand),
                Call((torch.tensor([-3.0]),), of="one", label=BY_HAND),
                Call((torch.tensor([1000.0]),), of="one", label=LARGE),
                Call((d, d_ff), keep="m", load=load),
                Call((x,), of="m", backward=draw.normal(B, T, d)),
                Call((d, d), keep="square", load=_gated(draw, d, d)),
                Call((d, d), keep="another", load=_gated(draw, d, d)),
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
            judge=only_these,
        ),
        Property(
            "axes",
            AXES,
            [
                Call((d_ff, d), keep="m", load=_gated(draw, d_ff, d), label=NARROW),
                *(Call((y,), of="m") for y in _alone_and_batched(draw, d_ff)),
            ],
        ),
    ]


def ffn_as_memory(draw: Draw) -> list[Property]:
    B, T, d, d_ff = draw.sizes((2, 3), (4, 5), (6, 8), (9, 12))
    x, keys, values = draw.normal(B, T, d), draw.linear(d, d_ff), draw.normal(d_ff, d)
    square = draw.normal(B, d, d), draw.linear(d, d), draw.normal(d, d)
    narrow = draw.linear(d_ff, d), draw.normal(d, d_ff)
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
            [
                Call((y, *narrow, _curved(draw)), label=NARROW)
                for y in _alone_and_batched(draw, d_ff)
            ],
        ),
    ]
