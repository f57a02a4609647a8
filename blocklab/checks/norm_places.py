"""What a block must do with its norms, and what the place of a norm does to gradients."""

import torch
from torch import Tensor

from blocklab import functions
from blocklab.checks.property import Draw, Property
from blocklab.checks.traces import NO_TRACE, leaves_no_mark
from blocklab.functions import (
    IDENTITY,
    NOTHING,
    RMS,
    Activation,
    Chain,
    Function,
    Layer,
    Linear,
    MixTokens,
    Scale,
    Sum,
    chain,
    residual,
)
from blocklab.probe import Call, Read, Step
from blocklab.text import Text

ONE_TOKEN = torch.tensor([[[1.0, -1.0, 3.0, 3.0]]])
NEUTRAL = RMS(torch.ones(4), 0.0)
SAME_ORDER = Text(
    "The six steps stand in the order of the formula.",
    "여섯 단계가 식의 순서대로 놓여 있다.",
)


def pre_norm_places(draw: Draw) -> list[Property]:
    return [Property("order", SAME_ORDER, [Read()])]


def post_norm_places(draw: Draw) -> list[Property]:
    return [Property("order", SAME_ORDER, [Read()])]


def pre_norm_step(draw: Draw) -> list[Property]:
    says = Text(
        "norm, then sublayer, then add to the stream as it came in.",
        "norm, sublayer를 차례로 지나, 들어온 그대로의 stream에 더한다.",
    )
    silent = Text(
        "A sublayer that writes nothing leaves the stream untouched.",
        "아무것도 쓰지 않는 sublayer라면 stream은 그대로 지나간다.",
    )
    return _step(draw, says, silent)


def post_norm_step(draw: Draw) -> list[Property]:
    says = Text(
        "sublayer, then add to the stream, then norm of the sum.",
        "sublayer를 지나 stream에 더한 다음, 그 합에 norm을 적용한다.",
    )
    silent = Text(
        "A sublayer that writes nothing still leaves the norm: norm(x), not x.",
        "아무것도 쓰지 않는 sublayer라도 norm은 남는다. 결과는 x가 아니라 norm(x)이다.",
    )
    return _step(draw, says, silent)


def deep_norm_step(draw: Draw) -> list[Property]:
    says = Text(
        "alpha times the stream, plus what the sublayer makes of x, then norm of the sum.",
        "stream에 alpha를 곱하고 x에 대한 sublayer의 결과를 더한 다음, 그 합에 norm을 적용한다.",
    )
    silent = Text(
        "A sublayer that writes nothing leaves norm(alpha x).",
        "아무것도 쓰지 않는 sublayer라면 norm(alpha x)가 남는다.",
    )
    return _step(draw, says, silent, draw.uniform(1.5, 3.0))


def _step(draw: Draw, says: Text, silent: Text, *alpha: float) -> list[Property]:
    """A step with a norm and a sublayer by hand, then with drawn ones of two kinds."""
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x = draw.normal(B, T, d)
    rms, layer = RMS(draw.gain(d), 0.3), Layer(draw.gain(d), draw.normal(d), 0.1)
    curved = _curved(draw, d)
    mixing = chain(MixTokens(draw.normal(T, T)), Linear(draw.linear(d, d), draw.normal(d)))
    return [
        Property(
            "order",
            says,
            [
                Call((ONE_TOKEN, NEUTRAL, Scale(2.0), *alpha)),
                Call((x, rms, curved, *alpha), backward=draw.normal(B, T, d)),
                Call((x, layer, mixing, *alpha), label=_MIXING),
            ],
            weight=2,
        ),
        Property("silent", silent, [Call((x, rms, NOTHING, *alpha))]),
    ]


_MIXING = Text("LayerNorm; the sublayer mixes tokens", "LayerNorm, token을 섞는 sublayer")


def _curved(draw: Draw, d: int) -> Chain:
    """A small network from d to d with a tanh inside and no biases."""
    return chain(Linear(draw.linear(d, 2 * d)), Activation("tanh"), Linear(draw.linear(2 * d, d)))


def deep_norm_constants(draw: Draw) -> list[Property]:
    says = Text(
        "alpha is (2N)^(1/4) and beta is (8N)^(-1/4), in this order.",
        "alpha는 (2N)^(1/4), beta는 (8N)^(-1/4)이고, 이 순서로 돌려준다.",
    )
    sizes = (1, 12, 100, draw.size(20, 90))
    return [Property("constants", says, [Call((n_layers,)) for n_layers in sizes])]


def gradient_profile(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, probe = draw.normal(B, T, d), draw.normal(B, T, d)
    gain, sublayer = draw.gain(d), _curved(draw, d)
    mixing = chain(MixTokens(draw.normal(T, T)), Linear(draw.linear(d, d)))
    pre = residual(chain(RMS(gain), sublayer))
    post = chain(residual(sublayer), Layer(gain, draw.normal(d)))
    doubling = [Scale(2.0)] * 3
    dead = Text("a block that ignores its input", "입력을 무시하는 block")
    return [
        Property(
            "norms",
            Text(
                "The norm of the gradient at the input and at the output of every block.",
                "입력과 모든 block의 출력에서 잰 gradient의 norm.",
            ),
            [
                Call((doubling, ONE_TOKEN, ONE_TOKEN.flip(-1))),
                Call(([pre, residual(mixing), pre, pre], x, probe)),
                Call(([post, post], x, probe)),
            ],
            weight=2,
        ),
        Property(
            "cut",
            Text(
                "Below a block that ignores its input, nothing arrives.",
                "입력을 무시하는 block 아래로는 아무것도 도달하지 않는다.",
            ),
            [Call(([pre, NOTHING, post], x, probe), label=dead)],
        ),
        Property(
            "no_trace",
            NO_TRACE,
            [Call((doubling, ONE_TOKEN, ONE_TOKEN.flip(-1)))],
            weight=0.5,
            judge=leaves_no_mark,
        ),
    ]


def norm_position(draw: Draw) -> list[Property]:
    T, d = draw.sizes((3, 5), (6, 9))
    x = draw.normal(2, T, d).double() * draw.uniform(0.7, 1.5)
    mixed = MixTokens((torch.eye(T) + draw.normal(T, T, scale=0.3)).double())
    straight = chain(mixed, Linear(draw.linear(d, d).double()))
    up, down = draw.linear(d, 2 * d).double(), draw.linear(2 * d, d).double()
    curved = chain(mixed, Linear(up), Activation("tanh"), Linear(down))
    kind = draw.size(0, 1)
    return [
        Property(
            "straight",
            Text(
                "It tells the three apart when the sublayer is linear.",
                "sublayer가 선형일 때 셋을 구별한다.",
            ),
            _unknown_blocks(draw, x, straight, kind),
        ),
        Property(
            "curved",
            Text(
                "It tells the three apart when the sublayer is curved.",
                "sublayer가 비선형일 때도 셋을 구별한다.",
            ),
            _unknown_blocks(draw, x, curved, 1 - kind),
        ),
    ]


def _unknown_blocks(draw: Draw, x: Tensor, f: Chain, kind: int) -> list[Step]:
    """One block for each position, in a drawn order; kind 0: "pre" has the RMSNorm, 1: "post"."""
    d = x.shape[-1]
    share = draw.uniform(0.3, 0.5) * float(x.norm() / functions.build(f)(x).detach().norm())
    norms = [
        RMS(draw.gain(d).double(), 1e-12),
        Layer(draw.gain(d).double(), draw.normal(d).double(), 1e-12),
    ]
    kinds = {"pre": kind, "post": 1 - kind, "none": draw.size(0, 1)}
    blocks = [_block(p, norms[k], (*f.parts, Scale(share))) for p, k in kinds.items()]
    blocks.sort(key=lambda block: draw.uniform(0, 1))
    return [Call((block, x)) for block in blocks]


def _block(position: str, norm: Function, f: tuple[Function, ...]) -> Function:
    """One template for all positions, so that a block shows what it is only when it is called."""

    def here(place: str) -> Function:
        share = float(place == position)
        return Sum((chain(norm, Scale(share)), Scale(1 - share)))

    return chain(Sum((IDENTITY, chain(here("pre"), *f))), here("post"))
