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
FAINT = 0.011  # a little over the hundredth that is promised


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
            [
                *_in_a_drawn_order(draw, [(f, x) for f in _open(draw, T, d)]),
                Call((later, square), label=both("T = d_model")),
            ],
        ),
        Property(
            "hidden",
            Text(
                "It sees one position in one other, near or far, faintly, or behind a norm.",
                "한 위치가 다른 한 위치에만 섞여도, 가깝든 멀든, 희미하든, norm에 가려 있든 "
                "알아본다.",
            ),
            _in_a_drawn_order(draw, _hidden(draw, x)),
            weight=2,
        ),
        Property(
            "apart",
            Text(
                "It is not taken in by norms, by position vectors, or by a factor that differs "
                "from position to position; what mixes beside them it sees.",
                "norm, position vector, 위치마다 다른 배율에 속지 않고, 그 곁에서 섞이는 것은 "
                "알아본다.",
            ),
            _in_a_drawn_order(draw, _apart(draw, x)),
        ),
    ]


Question = tuple[Function, Tensor]


def _in_a_drawn_order(draw: Draw, questions: Sequence[Question]) -> list[Call]:
    """One call for each question."""
    return [Call(q) for q in sorted(questions, key=lambda q: draw.uniform(0, 1))]


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
    alike = torch.ones(T, T).double() / T
    earlier = alike.tril() / alike.tril().sum(1, keepdim=True)
    constant = chain(Scale(0.0), Shift(draw.normal(T, d).double()))
    ffn = _block(draw, d, torch.eye(T))
    return [_block(draw, d, earlier), residual(MixTokens(alike)), ffn, constant]


def _hidden(draw: Draw, x: Tensor) -> list[Question]:
    """Mixing that a probe can miss, and one function that does not mix.

    Missed are a far position, the first or the last one, features, what a norm hides, what is
    small beside large numbers, and what happens at x but not near 0. What is faint is also narrow:
    a change of few numbers is small in itself.
    """
    B, T, d = x.shape
    longer = draw.normal(B, draw.size(6, 7), 3).double()
    long, thin = longer.shape[1], x[:1, :, :2]
    far_ones = (0, draw.size(2, long - 3)), (draw.size(1, long - 3), long - 1), (long - 1, 0)
    faint_ones = {(1, 0): FAINT}, {(T - 1, 1): FAINT}
    near, far = (MixTokens(torch.eye(T).roll(by, 0).double()) for by in (1, 2))
    unit = Layer(torch.ones(d).double(), torch.zeros(d).double(), 1e-12)
    return [
        *((_reading(long, {pair: 1.0}), longer) for pair in far_ones),
        *((_reading(T, pair), thin) for pair in faint_ones),
        (_reading(T, {(2, 1): 0.8, (2, 3): -0.8}), x),
        (chain(_reading(T, {(T - 1, 0): 0.1}), Shift(torch.full((d,), 30.0).double())), x),
        (residual(chain(far, Shift(torch.full((d,), -5.0).double()), Activation("relu"))), x + 10),
        (chain(Linear(_blind(draw, d)), near), x),
        (chain(unit, far, _matrix(draw, d)), x),
        (chain(far, _matrix(draw, d), unit), x),
        (chain(Layer(draw.gain(d).double(), draw.normal(d).double()), Activation("tanh")), x),
    ]


def _blind(draw: Draw, d: int) -> Tensor:
    """A matrix (d, d) that neither reads nor writes the first and the last feature."""
    matrix = draw.linear(d, d).double()
    for feature in (0, -1):
        matrix[:, feature] = matrix[feature] = 0
    return matrix


def _apart(draw: Draw, x: Tensor) -> list[Question]:
    """Position by position, although it may not look so; and one that mixes.

    What that one mixes has lost its size (the norm) and its sign (the square).

    The smallest input there is, one sequence of two tokens, is among these questions.
    """
    T, d = x.shape[1:]
    placed = Shift(draw.normal(T, d).double())
    unscaled = chain(RMS(draw.gain(d).double(), 1e-12), Activation("square"))
    return [
        (chain(placed, _block(draw, d, torch.diag(draw.gain(T)))), x),
        (residual(chain(RMS(draw.gain(d).double()), _matrix(draw, d))), x[:1, :2]),
        (chain(unscaled, MixTokens(torch.eye(T).roll(1, 0).double())), x),
    ]


def token_mixing(draw: Draw) -> list[Property]:
    B, T, d, d_tokens = draw.sizes((2, 3), (4, 5), (6, 8), (9, 12))
    x, weights = draw.normal(B, T, d), _over(draw, T, d_tokens)
    square = draw.normal(B, d, d), *_over(draw, d, d)
    wide = x * 2, *_over(draw, T, 40)
    one_feature = draw.normal(1, d_tokens, 1), *_over(draw, d_tokens, T)
    one_token = draw.normal(B, 1, 1, d), *_over(draw, 1, d_tokens)
    axes = Text(
        "It takes any batch of sequences, of any length, also where d_tokens is smaller than T.",
        "어떤 모양의 batch든, 문장의 길이가 얼마든 받고, d_tokens가 T보다 작아도 된다.",
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
                Call((x, *weights), backward=draw.normal(B, T, d, scale=0.2)),
                Call(square, label=both("T = d_model = d_tokens")),
            ],
            weight=3,
            tolerance=NEAR_TANH,
        ),
        Property("exact", exact, [Call(wide)], tolerance=FINE),
        Property(
            "axes",
            axes,
            [Call(one_feature, label=both("d_tokens < T")), Call(one_token, label=both("T = 1"))],
        ),
    ]


def _over(draw: Draw, T: int, d_tokens: int) -> tuple[Tensor, Tensor]:
    """w_in and w_out."""
    return draw.linear(T, d_tokens), draw.linear(d_tokens, T)


_BY_HAND = (
    torch.tensor([[1.0, 2.0], [-1.0, 0.0]]),
    torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]]),
)
