"""The picture of an FFN agrees with the reference, and tells a linear one from the others."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from blocklab.explain.ffn import FFN, TOKEN
from blocklab.explain.ffn_pass import W_IN, W_OUT, W_UP, through
from blocklab.figures.colours import GREEN
from blocklab.reference.ffn import gelu, silu
from blocklab.reference.norm import rms_norm
from tests.explain.seen import heights, see, words

ACTIVATIONS = {"relu": F.relu, "gelu": gelu, "silu": silu, "identity": lambda z: z}


def double(values: list) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("d_ff", [4, 9, 16])
def test_it_is_the_reference_s_ffn(d_ff: int, activation: str, gated: bool) -> None:
    x, w_in, w_up, w_out = map(double, (TOKEN, W_IN[:d_ff], W_UP[:d_ff], W_OUT[:d_ff]))
    hidden = ACTIVATIONS[activation](w_in @ x) * (w_up @ x if gated else 1)
    way = through(TOKEN, d_ff, activation, gated)
    assert way.hidden == pytest.approx(hidden.tolist())
    assert way.delta == pytest.approx((hidden @ w_out).tolist())


def test_the_token_comes_from_the_norm_of_unit_02() -> None:
    expected = rms_norm(double([1, -1, 3, 3]), double([1, 1, 1, 1]), 0.0)
    assert pytest.approx(expected.tolist()) == TOKEN


@pytest.mark.parametrize("d_ff", [4, 11, 16])
def test_the_sentence_counts_the_units_that_are_on(d_ff: int) -> None:
    sight = see(FFN, d_ff=d_ff)
    on = int((double(W_IN[:d_ff]) @ double(TOKEN) > 0).sum())
    assert sight.sentence.en.startswith(f"{on} of {d_ff} hidden units are on")
    assert sum(height > 0 for height in heights(sight, GREEN)) == 2 * on
    assert sight.drawing.svg.count("<circle") == 2 * (d_ff - on)


def test_relu_shuts_what_the_smooth_activations_damp() -> None:
    assert "write nothing" in see(FFN, activation="relu").sentence.en
    z = double(W_IN) @ double(TOKEN)
    shut = z[z < 0]
    for name in ("gelu", "silu"):
        left = 100 * ACTIVATIONS[name](shut).abs().sum() / shut.abs().sum()
        assert f"damped, to {left:.0f} %" in see(FFN, activation=name).sentence.en


def test_without_an_activation_it_is_one_linear_map() -> None:
    one = double(W_IN).T @ double(W_OUT)
    way = through(TOKEN, 16, "identity", gated=False)
    assert way.delta == pytest.approx((double(TOKEN) @ one).tolist())
    there, back = (see(FFN, activation="identity", scale=scale) for scale in (1, -1))
    assert "one linear map" in there.sentence.en
    assert heights(there, GREEN) == heights(back, GREEN)


def test_a_gate_without_an_activation_is_a_square_and_no_linear_map() -> None:
    once, twice = (through([c * x for x in TOKEN], 16, "identity", True).delta for c in (1, 2))
    assert twice == pytest.approx([4 * d for d in once])
    assert "four times Δ" in see(FFN, activation="identity", gated=True).sentence.en


def test_a_gated_ffn_shows_its_two_maps() -> None:
    shown = words(see(FFN, activation="silu", gated=True))
    assert {"x Wgate", "x Wup", "SiLU(x Wgate) · (x Wup)"} <= set(shown)
    assert {"x Win", "SiLU(x Win)"} <= set(words(see(FFN, activation="silu")))
