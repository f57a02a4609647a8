"""What a probe for mixed positions must tell, and what token mixing must do."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.functions import (
    RMS,
    Activation,
    Chain,
    Function,
    Layer,
    Linear,
    MixTokens,
    Scale,
    Shift,
    chain,
    residual,
)
from blocklab.probe import Call
from blocklab.text import Text, both

NEAR_TANH = Tolerance(absolute=3e-3)
FINE = Tolerance(relative=2e-5, share=1e-5)


def mixes_positions(draw: Draw) -> list[Property]:
    T, (B, d) = 4, draw.sizes((2, 3), (5, 6))
    x, square = draw.normal(B, T, d).double(), draw.normal(2, d, d).double()
    later = _block(draw, d, torch.ones(d, d).triu() / 2)
    return [
        Property(
            "open",
            Text(
                "It tells an FFN from functions that mix what came before, what comes after, or "
                "all positions alike.",
                "FFN을, 앞의 위치나 뒤의 위치 또는 모든 위치를 고루 섞는 함수와 구별한다.",
            ),
            [*_asked(draw, _open(draw, T, d), x), Call((later, square), label=both("T = d_model"))],
        ),
        Property(
            "hidden",
            Text(
                "It sees one position in one other, near or far, faintly, or behind a norm.",
                "한 위치가 다른 한 위치에만 섞여도, 가깝든 멀든, 희미하든, norm에 가려 있든 "
                "알아본다.",
            ),
            _asked(draw, _hidden(draw, T, d), x),
            weight=2,
        ),
        Property(
            "apart",
            Text(
                "It is not taken in by norms, by position vectors, or by a factor that differs "
                "from position to position.",
                "norm, position vector, 위치마다 다른 배율에 속지 않는다.",
            ),
            _asked(draw, _apart(draw, T, d), x),
        ),
    ]


def _asked(draw: Draw, functions: Sequence[Function], x: Tensor) -> list[Call]:
    """One call for each function, in a drawn order."""
    order = sorted(functions, key=lambda f: draw.uniform(0, 1))
    return [Call((f, x)) for f in order]


def _matrix(draw: Draw, d: int) -> Linear:
    return Linear(draw.linear(d, d).double(), draw.normal(d, scale=0.3).double())


def _block(draw: Draw, d: int, mix: Tensor) -> Chain:
    """Features, then positions: only the weights say which of these are mixed."""
    return chain(_matrix(draw, d), Activation("tanh"), MixTokens(mix.double()))


def _reading(T: int, weights: Mapping[tuple[int, int], float]) -> MixTokens:
    """Each position keeps itself; (t, s) is the weight with which t reads s."""
    mix = torch.eye(T).double()
    for place, weight in weights.items():
        mix[place] = weight
    return MixTokens(mix)


def _open(draw: Draw, T: int, d: int) -> list[Function]:
    """An FFN, a constant, and mixing that any change shows."""
    earlier, alike = torch.ones(T, T).tril() / 2, torch.ones(T, T).double() / T
    constant = chain(Scale(0.0), Shift(draw.normal(T, d).double()))
    ffn = _block(draw, d, torch.eye(T))
    return [_block(draw, d, earlier), residual(MixTokens(alike)), ffn, constant]


def _hidden(draw: Draw, T: int, d: int) -> list[Function]:
    """Mixing that a probe can miss: one pair of positions, a faint one, or one behind a norm.

    Every position is, in some function, the only one that another reads.
    """
    pairs = [{(0, 2): 1.0}, {(1, 0): 1.0}, {(3, 1): 1.0}, {(draw.size(0, 2), 3): 1.0}]
    difference = {(2, 1): 0.8, (2, 3): -0.8}
    faint = {(t, (t + draw.size(1, T - 1)) % T): 0.011 for t in range(T)}
    moved = MixTokens(torch.eye(T).roll(draw.size(1, T - 1), 0).double())
    unit, nothing = torch.ones(d).double(), torch.zeros(d).double()
    blind = draw.linear(d, d).double()
    for feature in (0, -1):
        blind[:, feature] = blind[feature] = 0
    return [
        *(_reading(T, weights) for weights in (*pairs, difference, faint)),
        chain(Linear(blind), moved),
        chain(Layer(unit, nothing), moved, _matrix(draw, d)),
        chain(RMS(draw.gain(d).double(), 1e-8), moved),
        chain(moved, _matrix(draw, d), Layer(unit, nothing)),
    ]


def _apart(draw: Draw, T: int, d: int) -> list[Function]:
    """Position by position, although it may not look so."""
    placed = Shift(draw.normal(T, d).double())
    gain, bias = draw.gain(d).double(), draw.normal(d).double()
    return [
        chain(placed, _block(draw, d, torch.diag(draw.gain(T)))),
        residual(chain(RMS(gain), _matrix(draw, d))),
        chain(Layer(gain, bias), Activation("tanh")),
    ]


def token_mixing(draw: Draw) -> list[Property]:
    B, T, d, d_tokens = draw.sizes((2, 3), (4, 5), (6, 8), (9, 12))
    x, weights = draw.normal(B, T, d), (draw.linear(T, d_tokens), draw.linear(d_tokens, T))
    square = draw.normal(B, d, d), draw.linear(d, d_tokens), draw.linear(d_tokens, d)
    wide = x * 2, draw.linear(T, 40), draw.linear(40, T)
    axes = Text(
        "It takes one sequence, or any batch of them.",
        "문장 하나든 어떤 모양의 batch든 받는다.",
    )
    exact = Text(
        "The GELU is the exact one of this notebook.",
        "GELU는 이 notebook에서 만든 정확한 것이다.",
    )
    return [
        Property(
            "formula",
            Text(
                "Each feature's T numbers go through one small network: W_out GELU(W_in x).",
                "feature마다 수 T개가 같은 작은 network를 지난다: W_out GELU(W_in x).",
            ),
            [
                Call(_BY_HAND, label=Text("by hand", "손계산")),
                Call((x, *weights), backward=draw.normal(B, T, d)),
                Call(square, label=both("T = d_model")),
            ],
            weight=3,
            tolerance=NEAR_TANH,
        ),
        Property("exact", exact, [Call(wide)], tolerance=FINE),
        Property("axes", axes, [Call((y, *weights)) for y in (x[0], x[:, None])]),
    ]


_BY_HAND = (
    torch.tensor([[1.0, 2.0], [-1.0, 0.0]]),
    torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]]),
)
