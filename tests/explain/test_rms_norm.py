"""The picture of a norm agrees with PyTorch's norms, and says what passes and what does not."""

import pytest
import torch
from torch.nn import functional as F

from blocklab.explain.rms_norm import EPS, RMS_NORM, SCALES, X, normed
from blocklab.figures.colours import GREEN
from tests.explain.seen import heights, see, words


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("eps", list(map(float, EPS)))
@pytest.mark.parametrize("scale", SCALES)
def test_it_is_pytorch_s_norm(scale: float, eps: float, layer_norm: bool) -> None:
    token = scale * torch.tensor(X, dtype=torch.float64) + 0.7
    gain = torch.tensor([1, 1, 1.5, 1], dtype=torch.float64)
    norm = F.layer_norm if layer_norm else F.rms_norm
    expected = norm(token, (4,), gain, eps=eps)
    assert normed(token.tolist(), 1.5, eps, layer_norm).after == pytest.approx(expected.tolist())


def test_it_starts_with_a_token_of_rms_root_5() -> None:
    sight = see(RMS_NORM)
    assert "RMS 2.24" in words(sight)
    assert "RMS 1" in words(sight)
    assert words(sight).count("1.34") == 2
    assert "2.24 before the norm and 1 after" in sight.sentence.en


def test_the_scale_of_a_token_does_not_pass() -> None:
    expected = heights(see(RMS_NORM), GREEN)
    for scale in SCALES:
        sight = see(RMS_NORM, scale=scale, eps="0")
        assert heights(sight, GREEN) == expected
        assert ("does not pass" in sight.sentence.en) == (scale != 1)


def test_a_shift_matters_to_rms_norm_and_not_to_layer_norm() -> None:
    plain, shifted = see(RMS_NORM), see(RMS_NORM, shift=2)
    assert heights(plain, GREEN) != heights(shifted, GREEN)
    assert "does not subtract the mean (3.5)" in shifted.sentence.en
    plain, shifted = (see(RMS_NORM, layer_norm=True, shift=shift) for shift in (0, 2))
    assert heights(plain, GREEN) == heights(shifted, GREEN)
    assert "leaves no trace" in shifted.sentence.en


def test_epsilon_matters_to_small_tokens_only() -> None:
    for scale, eps, matters in ((5, "1e-2", False), (0.01, "1e-2", True), (0.1, "1e-6", False)):
        said = see(RMS_NORM, scale=scale, eps=eps).sentence.en
        assert ("ε is not negligible" in said) == matters
    assert "RMS 0.218 in place of 1" in see(RMS_NORM, scale=0.01, eps="1e-2").sentence.en
    assert "variance (2.75)" in see(RMS_NORM, eps="1", layer_norm=True).sentence.en


def test_the_gain_multiplies_one_component_after_the_division() -> None:
    before, after = heights(see(RMS_NORM), GREEN), heights(see(RMS_NORM, gain=0.5), GREEN)
    assert after == pytest.approx([before[0], before[1], before[2] / 2, before[3]], abs=0.06)
    assert "multiplied by its gain, 0.5" in see(RMS_NORM, gain=0.5).sentence.en
