"""What RMSNorm, LayerNorm and the blocks that use them must do."""

import torch
from torch import Tensor

from blocklab.checks.norm_places import (
    deep_norm_constants,
    deep_norm_step,
    gradient_profile,
    norm_position,
    post_norm_places,
    post_norm_step,
    pre_norm_places,
    pre_norm_step,
)
from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.probe import Call, Read, Step
from blocklab.text import Text, both

__all__ = [
    "RMSNorm",
    "deep_norm_constants",
    "deep_norm_step",
    "fold_gain",
    "gradient_profile",
    "layer_norm",
    "norm_position",
    "post_norm_places",
    "post_norm_step",
    "pre_norm_places",
    "pre_norm_step",
    "rms_by_hand",
    "rms_norm",
]

NOTES = torch.tensor([1.0, -1.0, 3.0, 3.0])
BY_HAND = Tolerance(absolute=0.006)
SQUARE = both("T = d_model")
FLOAT16, BFLOAT16 = both("float16, x ≈ 600"), both("bfloat16")
HALF = Text(
    "Half precision in, half precision out, computed in float32.",
    "half precision으로 받으면 half precision으로 돌려주되, 계산은 float32로 한다.",
)
EPS = Text(
    "epsilon stands inside the root, so that tiny tokens and zeros are safe.",
    "epsilon은 제곱근 안에 있어서, 아주 작은 token이나 0도 안전하다.",
)


def rms_by_hand(draw: Draw) -> list[Property]:
    says = Text(
        "The RMS first, then the four numbers after dividing by it and multiplying by the gain.",
        "먼저 RMS, 그다음에는 RMS로 나누고 gain을 곱한 네 수.",
    )
    return [Property("numbers", says, [Read()], tolerance=BY_HAND)]


def rms_norm(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, gain = draw.normal(B, T, d), draw.gain(d)
    return [
        Property(
            "formula",
            Text(
                "Each token is divided by its own RMS, then multiplied by the gain.",
                "token마다 자기 RMS로 나눈 다음 gain을 곱한다.",
            ),
            [
                Call((NOTES, torch.ones(4), 0.0)),
                Call((x, gain, 1e-6), backward=draw.normal(B, T, d)),
                Call((draw.normal(d, d), gain, 1e-6), label=SQUARE),
            ],
            weight=2,
        ),
        Property("eps", EPS, _small(x, gain)),
        Property("half", HALF, _half(x, gain, 1e-6)),
    ]


def _small(x: Tensor, *rest: Tensor) -> list[Step]:
    """Calls where the place of epsilon shows: a large one, tiny tokens, zeros."""
    calls = ((x, 3.0), (x * 1e-3, 1e-5), (x * 0, 1e-5))
    return [Call((y, *rest, eps)) for y, eps in calls]


def _half(x: Tensor, *rest: Tensor | float) -> list[Step]:
    """The same call in both half precisions, in float16 where squares overflow."""
    calls = []
    for label, y in ((FLOAT16, (x * 600).half()), (BFLOAT16, x.bfloat16())):
        others = [r.to(y.dtype) if isinstance(r, Tensor) else r for r in rest]
        calls.append(Call((y, *others), label=label))
    return calls


def RMSNorm(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, gain = draw.normal(B, T, d), draw.gain(d)
    square, large = draw.normal(d, d), Text("a large eps", "큰 eps")
    return [
        Property(
            "formula",
            Text(
                "The layer is rms_norm with its own gain, and the gain can learn.",
                "layer는 자기 gain을 쓰는 rms_norm이고, gain은 학습된다.",
            ),
            [
                Call((4, 0.0), keep="small", load={"gain": draw.gain(4)}),
                Call((NOTES,), of="small"),
                Call((d, 1e-6), keep="m", load={"gain": gain}),
                Call((x,), of="m", backward=draw.normal(B, T, d)),
                Call((square,), of="m", label=SQUARE),
            ],
            weight=2,
        ),
        Property(
            "start",
            Text(
                "Before any training the gain is one everywhere.", "학습 전에는 gain이 모두 1이다."
            ),
            [Call((d, 1e-6), keep="m"), Call((x,), of="m")],
        ),
        Property(
            "eps",
            Text(
                "It uses the eps it was built with, inside the root.",
                "생성할 때 받은 eps를 제곱근 안에서 쓴다.",
            ),
            [
                Call((d, 3.0), keep="m", load={"gain": gain}),
                Call((x,), of="m", label=large),
                Call((d, 1e-5), keep="n", load={"gain": gain}),
                Call((x * 1e-3,), of="n"),
                Call((x * 0,), of="n"),
            ],
        ),
        Property(
            "half",
            HALF,
            [
                Call((d, 1e-6), keep="m", load={"gain": gain}),
                Call((), of="m", method="half"),
                Call(((x * 600).half(),), of="m", label=FLOAT16),
                Call((), of="m", method="bfloat16"),
                Call((x.bfloat16(),), of="m", label=BFLOAT16),
            ],
        ),
    ]


def layer_norm(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, gain, bias = draw.normal(B, T, d) + 0.7, draw.gain(d), draw.normal(d)
    flat = torch.full((T, d), 2.0)
    return [
        Property(
            "formula",
            Text(
                "Each token loses its mean and is divided by its standard deviation; then gain, "
                "then bias.",
                "token마다 평균을 빼고 표준편차로 나눈다. 그다음 gain을 곱하고 bias를 더한다.",
            ),
            [
                Call((NOTES, torch.ones(4), torch.zeros(4), 0.0)),
                Call((x, gain, bias, 1e-5), backward=draw.normal(B, T, d)),
                Call((draw.normal(d, d), gain, bias, 1e-5), label=SQUARE),
            ],
            weight=2,
        ),
        Property(
            "eps",
            Text(
                "epsilon is added to the variance, inside the root; a token of equal numbers then "
                "gives the bias, not 0 / 0.",
                "epsilon은 제곱근 안에서 분산에 더한다. 그러면 성분이 모두 같은 token도 0 / 0이 "
                "아니라 bias가 된다.",
            ),
            [
                *_small(x, gain, bias),
                Call((flat, gain, bias, 0.1), label=Text("equal numbers", "모두 같은 성분")),
            ],
        ),
        Property("half", HALF, _half(x, gain, bias, 1e-5)),
    ]


def fold_gain(draw: Draw) -> list[Property]:
    d_out, d = draw.sizes((3, 5), (6, 8))
    gain, weight = draw.gain(d), draw.normal(d_out, d)
    by_hand = torch.tensor([2.0, -1.0]), torch.tensor([[1.0, 10.0], [3.0, 4.0], [0.0, 5.0]])
    closed = torch.cat([torch.zeros(2), gain[2:]])
    return [
        Property(
            "folded",
            Text(
                "With the new weight and no gain in the norm, the Linear gives the same as before.",
                "norm에 gain이 없어도, 새 weight를 쓰면 Linear의 출력이 전과 같다.",
            ),
            [
                Call(by_hand),
                Call((gain, weight), backward=draw.normal(d_out, d)),
                Call((gain, draw.normal(d, d)), label=both("d_out = d_model")),
            ],
            weight=2,
        ),
        Property(
            "closed",
            Text(
                "A gain of 0 closes its component, whatever the weight.",
                "gain이 0인 성분은 weight가 무엇이든 막힌다.",
            ),
            [Call((closed, weight))],
        ),
    ]
