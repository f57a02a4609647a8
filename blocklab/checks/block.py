"""What blocks, the decoder made of them, and its readings must do."""

import torch
from torch import Tensor

from blocklab.checks.block_decoder import Decoder
from blocklab.checks.block_parameters import as_many
from blocklab.checks.block_readings import LoRALinear, logit_lens, name_the_wire
from blocklab.checks.block_weights import count_parameters, load_gpt2
from blocklab.checks.property import Draw, Property
from blocklab.functions import (
    NOTHING,
    RMS,
    Activation,
    Chain,
    Function,
    Layer,
    Linear,
    MixTokens,
    Record,
    Scale,
    chain,
)
from blocklab.probe import Call, Read, Step
from blocklab.text import Text, both

__all__ = [
    "Decoder",
    "LoRALinear",
    "ParallelBlock",
    "PostNormBlock",
    "PreNormBlock",
    "arrows",
    "block_nodes",
    "count_parameters",
    "load_gpt2",
    "logit_lens",
    "name_the_wire",
]


def block_nodes(draw: Draw) -> list[Property]:
    says = Text(
        "The thirteen nodes stand in the order in which a token id becomes logits.",
        "x0에서 logits까지 node 열세 개가 순서대로 놓여 있다.",
    )
    return [Property("order", says, [Read()])]


def arrows(draw: Draw) -> list[Property]:
    says = Text(
        "Each arrow is called by what it stands for: input, processing or history.",
        "화살표마다 뜻하는 것이 input, processing, history 가운데 하나로 바르게 적혀 있다.",
    )
    return [Property("kinds", says, [Read()])]


def PreNormBlock(draw: Draw) -> list[Property]:
    says = {
        "formula": Text(
            "x1 = x + attention(norm1(x)), then x1 + ffn(norm2(x1)); x keeps its value.",
            "x1 = x + attention(norm1(x))이고, 결과는 x1 + ffn(norm2(x1))이다. x의 값은 그대로 "
            "남는다.",
        ),
        "attention_half": Text(
            "If the FFN writes nothing, x + attention(norm1(x)) is left.",
            "FFN이 아무것도 쓰지 않으면 x + attention(norm1(x))가 남는다.",
        ),
        "ffn_half": Text(
            "If the attention writes nothing, x + ffn(norm2(x)) is left.",
            "attention이 아무것도 쓰지 않으면 x + ffn(norm2(x))가 남는다.",
        ),
        "silent": Text(
            "If neither writes anything, the block is the identity.",
            "둘 다 아무것도 쓰지 않으면 block은 항등 함수이다.",
        ),
        "reads": Text(
            "Each sublayer is called once: the attention with norm1(x), the FFN with norm2(x1).",
            "sublayer는 한 번씩만 호출된다. attention은 norm1(x)를, FFN은 norm2(x1)을 받는다.",
        ),
    }
    return _block(draw, says)


def PostNormBlock(draw: Draw) -> list[Property]:
    says = {
        "formula": Text(
            "x1 = norm1(x + attention(x)), then norm2(x1 + ffn(x1)); x keeps its value.",
            "x1 = norm1(x + attention(x))이고, 결과는 norm2(x1 + ffn(x1))이다. x의 값은 그대로 "
            "남는다.",
        ),
        "attention_half": Text(
            "If the FFN writes nothing, norm2(norm1(x + attention(x))) is left.",
            "FFN이 아무것도 쓰지 않으면 norm2(norm1(x + attention(x)))가 남는다.",
        ),
        "ffn_half": Text(
            "If the attention writes nothing, the FFN works on norm1(x).",
            "attention이 아무것도 쓰지 않으면 FFN은 norm1(x)를 읽는다.",
        ),
        "silent": Text(
            "If neither writes anything, norm2(norm1(x)) is left, not x.",
            "둘 다 아무것도 쓰지 않으면 x가 아니라 norm2(norm1(x))가 남는다.",
        ),
        "reads": Text(
            "Each sublayer is called once: the attention with x, the FFN with x1.",
            "sublayer는 한 번씩만 호출된다. attention은 x를, FFN은 x1을 받는다.",
        ),
    }
    return _block(draw, says)


def ParallelBlock(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, rms = draw.normal(B, T, d), RMS(draw.gain(d), 0.3)
    attention, ffn = _attention(draw, T, d), _ffn(draw, d)
    recorded = Record(attention, "attention"), Record(ffn, "ffn"), Record(rms, "norm")

    def called(*parts: Function, x: Tensor = x, label: Text | None = None) -> list[Step]:
        return [Call(parts, keep="block"), Call((x,), of="block", label=label)]

    whole = [
        *called(*BY_HAND[:3], x=X, label=both("attention(h) = 4h, ffn(h) = 2h, norm(h) = h/2")),
        *called(attention, ffn, rms),
        *called(_attention(draw, d, d), ffn, rms, x=draw.normal(d, d), label=both("T = d_model")),
    ]
    return [
        Property(
            "formula",
            Text(
                "The result is x + attention(h) + ffn(h) with h = norm(x); x keeps its value.",
                "h = norm(x)일 때 결과는 x + attention(h) + ffn(h)이다. x의 값은 그대로 남는다.",
            ),
            whole,
            weight=4,
        ),
        Property(
            "reads",
            Text(
                "The norm and both sublayers are called once, and both sublayers read norm(x).",
                "norm과 두 sublayer는 한 번씩만 호출되고, 두 sublayer가 모두 norm(x)를 받는다.",
            ),
            called(*recorded),
        ),
        *_handed_on(draw, x, {"attention": attention, "ffn": ffn, "norm": rms}),
    ]


X = torch.tensor([[[1.0, 2.0, -1.0, 0.0]]])
BY_HAND = (Scale(4.0), Scale(2.0), Scale(0.5), Scale(0.25))
REFUSED = Text(
    "window=2, which this attention does not know: its error must come through",
    "이 attention이 모르는 window=2: attention의 오류가 그대로 나와야 합니다",
)
REPLACED = Text("after block.{name} was replaced", "block.{name}을(를) 바꾼 뒤")
PARTS = ("attention", "ffn", "norm1", "norm2")
NUMBERS = both("attention(h) = 4h, ffn(h) = 2h, norm1(h) = h/2, norm2(h) = h/4")


def _block(draw: Draw, says: dict[str, Text]) -> list[Property]:
    """A block probed as a whole, then with one sublayer silenced, or both, or recorded."""
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, square = draw.normal(B, T, d), draw.normal(d, d)
    rms, layer = RMS(draw.gain(d), 0.3), Layer(draw.gain(d), draw.normal(d), 0.1)
    attention, ffn = _attention(draw, T, d), _ffn(draw, d)
    recorded = Record(attention, "attention"), Record(ffn, "ffn")

    def called(*parts: Function, x: Tensor = x, label: Text | None = None) -> list[Step]:
        return [Call(parts, keep="block"), Call((x,), of="block", label=label)]

    def holds(name: str, steps: list[Step], weight: float = 0.5) -> Property:
        return Property(name, says[name], steps, weight)

    whole = [
        *called(*BY_HAND, x=X, label=NUMBERS),
        *called(attention, ffn, rms, layer),
        *called(_attention(draw, d, d), ffn, layer, rms, x=square, label=both("T = d_model")),
    ]
    return [
        holds("formula", whole, weight=4),
        holds("attention_half", called(attention, NOTHING, rms, layer)),
        holds("ffn_half", called(NOTHING, ffn, rms, layer)),
        holds("silent", called(NOTHING, NOTHING, rms, layer)),
        holds("reads", called(*recorded, layer, rms)),
        *_handed_on(draw, x, dict(zip(PARTS, (attention, ffn, rms, layer), strict=True))),
    ]


def _handed_on(draw: Draw, x: Tensor, parts: dict[str, Function]) -> list[Property]:
    """What only the attention gets: a mask, and a rotation. And that all parts, by name, learn."""
    B, T, d = x.shape
    last = list(parts)[-1]
    causal, rotate = torch.ones(T, T).tril().bool(), Linear(draw.linear(d, d))
    one_each = torch.stack([causal.T, *[causal] * (B - 1)])
    mixing = chain(MixTokens(draw.linear(T, T)), parts["ffn"])
    built = Call(tuple(parts.values()), keep="block")
    return [
        Property(
            "mask",
            Text(
                "The mask reaches the attention, and nothing else.",
                "mask는 attention에 전달되고, 다른 곳에는 전달되지 않는다.",
            ),
            [
                Call(tuple({**parts, "ffn": mixing}.values()), keep="mixing"),
                Call((x, one_each), of="mixing", label=both("mask: (B, T, T)")),
                Call((x,), {"mask": causal.T}, of="mixing", label=both("mask: (T, T)")),
            ],
            weight=2,
        ),
        Property(
            "how",
            Text(
                "What else says how to attend, here rotate=…, reaches the attention too.",
                "attend하는 방식을 정하는 다른 인수도 attention에 전달된다. 여기서는 rotate=…이다.",
            ),
            [
                built,
                Call((x, causal), {"rotate": rotate}, of="block"),
                Call((x,), {"rotate": rotate}, of="block", label=both("mask = None")),
                Call((x, causal), {"window": 2}, of="block", label=REFUSED),
            ],
        ),
        Property(
            "parts",
            Text(
                "The parts belong to the block, under their own names, and all of them learn. "
                "forward calls what stands there, and there are no other weights.",
                "부품은 각자의 이름으로 block에 속하고, 모두 학습된다. forward는 그 이름에 있는 "
                "것을 호출하고, 다른 weight는 없다.",
            ),
            [
                built,
                *(
                    Call((name,), of="block", method="get_submodule", label=both(name))
                    for name in parts
                ),
                Call((x, causal), of="block", backward=draw.normal(*x.shape)),
                Call((last, RMS(draw.gain(d), 0.2)), of="block", method="__setattr__"),
                Call((x, causal), of="block", label=REPLACED.fill(name=last)),
            ],
            judge=as_many,
        ),
    ]


def _attention(draw: Draw, T: int, d: int) -> Chain:
    """What stands in for attention: tokens mixed by fixed weights, then a linear map."""
    return chain(MixTokens(draw.linear(T, T)), Linear(draw.linear(d, d)))


def _ffn(draw: Draw, d: int) -> Chain:
    up = Linear(draw.linear(d, 2 * d), draw.normal(2 * d))
    return chain(up, Activation("tanh"), Linear(draw.linear(2 * d, d), draw.normal(d)))
