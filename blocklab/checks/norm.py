"""What RMSNorm and its neighbours must do."""

import torch

from blocklab.checks.property import Draw, Property
from blocklab.probe import Call
from blocklab.text import Text, both


def rms_norm(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, gain = draw.normal(B, T, d), draw.gain(d)
    square = draw.normal(d, d)
    notes = torch.tensor([1.0, -1.0, 3.0, 3.0])
    return [
        Property(
            "formula",
            Text("Each token is divided by its own RMS, then multiplied by the gain.",
                 "token마다 자기 RMS로 나눈 다음 gain을 곱한다."),
            [
                Call((notes, torch.ones(4), 0.0)),
                Call((x, gain, 1e-6), backward=draw.normal(B, T, d)),
                Call((square, gain, 1e-6), label=both("T = d_model")),
            ],
            weight=2,
        ),
        Property(
            "eps",
            Text("epsilon stands inside the root, so that tiny tokens and zeros are safe.",
                 "epsilon은 제곱근 안에 있어서, 아주 작은 token이나 0도 안전하다."),
            [Call((x, gain, 3.0)), Call((x * 1e-3, gain, 1e-5)), Call((x * 0, gain, 1e-5))],
        ),
        Property(
            "half",
            Text("Half precision in, half precision out, computed in float32.",
                 "half precision으로 받으면 half precision으로 돌려주되, 계산은 float32로 한다."),
            [
                Call(((x * 300).half(), gain.half(), 1e-6), label=both("float16, x ≈ 300")),
                Call((x.bfloat16(), gain.bfloat16(), 1e-6), label=both("bfloat16")),
            ],
        ),
    ]  # fmt: skip
