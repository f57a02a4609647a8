"""What the FFN, its activations and its weights must be, and the parts beside it."""

import torch

from blocklab.checks.ffn_experts import top_k_experts
from blocklab.checks.ffn_layers import FeedForward, SwiGLU, feed_forward, ffn_as_memory
from blocklab.checks.ffn_positions import mixes_positions, token_mixing
from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.probe import Call, Read
from blocklab.text import Text, both

__all__ = [
    "FeedForward",
    "SwiGLU",
    "attention_parameters",
    "feed_forward",
    "ffn_as_memory",
    "ffn_parameters",
    "ffn_widths",
    "gelu",
    "mixes_positions",
    "silu",
    "token_mixing",
    "top_k_experts",
]

POINTS = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0])
LARGE = torch.tensor([-1000.0, -100.0, -20.0, -12.0, -9.0, 20.0, 100.0, 1000.0])
NEAR_TANH = Tolerance(absolute=2e-3)
WHOLE = Tolerance(relative=1e-9)
BY_HAND = Text("by hand", "손계산")
ANY_INPUT = Text(
    "Large numbers of either sign are safe, and the result has the shape and dtype of x.",
    "절댓값이 큰 수도 부호와 상관없이 안전하고, 결과의 shape과 dtype은 x와 같다.",
)


def ffn_widths(draw: Draw) -> list[Property]:
    says = Text(
        "Six widths: in, inside and out, first of GPT-2 small, then of Llama-3 8B.",
        "폭 여섯 개: 들어올 때, 가운데, 나갈 때. 먼저 GPT-2 small, 다음은 Llama-3 8B.",
    )
    return [Property("widths", says, [Read()])]


def gelu(draw: Draw) -> list[Property]:
    points = torch.linspace(-6, 6, 61)
    return [
        Property(
            "curve",
            Text(
                "x times Φ(x), number by number, to two decimals.",
                "수마다 x에 Φ(x)를 곱한 값이 소수 둘째 자리까지 맞다.",
            ),
            [Call((POINTS,), label=BY_HAND), *_drawn(draw)],
            weight=2,
            tolerance=NEAR_TANH,
        ),
        Property(
            "exact",
            Text(
                "Φ is exact (erf); the tanh approximation would be seen.",
                "Φ가 정확하다(erf). tanh 근사식과는 구별된다.",
            ),
            [Call((points,), backward=torch.ones_like(points))],
            weight=2,
        ),
        Property("any_input", ANY_INPUT, _any_input(draw)),
    ]


def silu(draw: Draw) -> list[Property]:
    says = Text(
        "x times sigmoid(x), number by number.",
        "수마다 x에 sigmoid(x)를 곱한 값이다.",
    )
    points = Call((POINTS,), label=BY_HAND)
    return [
        Property("curve", says, [points, *_drawn(draw)], weight=4),
        Property("any_input", ANY_INPUT, _any_input(draw)),
    ]


def _drawn(draw: Draw) -> list[Call]:
    """Numbers where the curves differ, and some beyond 4, with their gradient."""
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    return [Call((draw.normal(B, T, d, scale=3),), backward=draw.normal(B, T, d, scale=0.4))]


def _any_input(draw: Draw) -> list[Call]:
    one = Text("one number", "수 하나")
    return [
        Call((LARGE,)),
        Call((draw.normal(1, 3, 1).double(),), label=both("float64")),
        Call((torch.tensor(1.5),), label=one),
    ]


def ffn_parameters(draw: Draw) -> list[Property]:
    odd = 2 * draw.size(2500, 4500) + 1, 2 * draw.size(1000, 2000) + 1
    sizes = [(4, 6), (768, 3072), (4096, 14336), odd]

    def calls(gated: bool) -> list[Call]:
        return [Call((d_model, d_ff, gated)) for d_model, d_ff in sizes]

    plain = Text("The plain form, up and down.", "gate가 없는 형태: up과 down.")
    with_gate = Text("The gated form, gate, up and down.", "gate가 있는 형태: gate, up, down.")
    return [
        Property("plain", plain, calls(False), tolerance=WHOLE),
        Property("gated", with_gate, calls(True), tolerance=WHOLE),
    ]


def attention_parameters(draw: Draw) -> list[Property]:
    heads, width = draw.size(3, 6), 2 * draw.size(1, 4) + 1
    kv_heads, group = draw.size(2, 5), draw.size(2, 4)
    full = [(4, 2, 2), (768, 12, 12), (heads * width, heads, heads), (width, 1, 1)]
    d_model = kv_heads * group * width
    grouped = [(8, 4, 2), (4096, 32, 8), (d_model, kv_heads * group, kv_heads), (d_model, group, 1)]
    return [
        Property(
            "full",
            Text(
                "With as many key and value heads as query heads.",
                "key와 value의 head 수가 query의 head 수와 같을 때.",
            ),
            [Call(sizes) for sizes in full],
            tolerance=WHOLE,
        ),
        Property(
            "grouped",
            Text(
                "With fewer key and value heads (GQA): W_k and W_v are narrower.",
                "key와 value의 head가 더 적을 때 (GQA): W_k와 W_v가 좁아진다.",
            ),
            [Call(sizes) for sizes in grouped],
            weight=2,
            tolerance=WHOLE,
        ),
    ]
