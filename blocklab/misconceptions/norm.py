"""Wrong turns around RMSNorm and LayerNorm."""

import torch
from torch import nn

from blocklab.misconceptions.norm_depth import (
    deep_norm_constants,
    gradient_profile,
    norm_position,
)
from blocklab.misconceptions.norm_fold import fold_gain
from blocklab.misconceptions.norm_places import post_norm_places, pre_norm_places
from blocklab.misconceptions.norm_steps import deep_norm_step, post_norm_step, pre_norm_step
from blocklab.misconceptions.norm_words import (
    DTYPE,
    EPS,
    FLOW,
    GAIN,
    GAIN_INSIDE,
    IN_PLACE,
    LAYER_ONLY,
    MODULE,
    OVER,
    RMS_SIZE,
    SIZE,
)
from blocklab.misconceptions.variants import Misconceptions, Wrong

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


SPREAD = {"std", "variance"}


def _mean(h, wrong: Wrong):
    """The mean over the last axis, or over what it is wrongly taken over; the axes stay."""
    if h.dim() == 1:
        return h.mean(-1, keepdim=True)
    if "whole_tensor" in wrong:
        return h.mean().reshape([1] * h.dim())
    dim = -2 if "over_time" in wrong else 0 if "over_batch" in wrong else -1
    return h.mean(dim, keepdim=True)


def _squeezed(mean, wrong: Wrong):
    return mean.squeeze(-1) if "no_keepdim" in wrong else mean


def _root(h, eps, wrong: Wrong):
    """The root of the mean square of h, with epsilon where it is put."""
    count = h.numel() / _mean(h, wrong).numel()
    if "mean_abs" in wrong:
        return _mean(h.abs(), wrong) + eps
    mean = _mean(h, wrong).pow(2) if "mean_first" in wrong else _mean(h.pow(2), wrong)
    mean = mean * count if "norm" in wrong else mean
    mean = mean * count / (count - 1) if wrong & {"n_minus_1", "std"} else mean
    if "no_root" in wrong:
        return mean + eps
    if "eps_after_root" in wrong:
        return mean.sqrt() + eps
    if "eps_as_floor" in wrong:
        return mean.sqrt().clamp(min=eps)
    eps = 0.0 if "no_eps" in wrong else eps**2 if "eps_squared" in wrong else eps
    return (mean + (eps / count if "eps_in_sum" in wrong else eps)).sqrt()


def _centred(h, wrong: Wrong):
    mean = _squeezed(_mean(h, wrong), wrong)
    return h.sub_(mean) if "in_place" in wrong else h - mean


def _divided(h, root, wrong: Wrong):
    root = root.detach() if "detached" in wrong else root
    return h.div_(root) if "in_place" in wrong else h / root


def _with_gain(y, gain, wrong: Wrong):
    gain = gain.to(y.dtype)
    if "gain_added" in wrong:
        return y + gain
    return y if "no_gain" in wrong else y * (1 + gain if "one_plus_gain" in wrong else gain)


def _rms_norm(wrong: Wrong):
    def rms_norm(x, gain, eps):
        h = x if "in_half" in wrong else x.float()
        centred = _centred(h, wrong) if wrong & {"layer_norm", *SPREAD} else h
        measured = h * gain.to(h.dtype) if "gain_inside" in wrong else centred
        root = _squeezed(_root(measured, eps, wrong), wrong)
        y = _with_gain(_divided(centred if "layer_norm" in wrong else h, root, wrong), gain, wrong)
        return y if "float32_out" in wrong else y.to(x.dtype)

    return rms_norm


_APART = (
    frozenset({*EPS, "no_root", "mean_abs"}),
    frozenset(OVER),
    frozenset({*RMS_SIZE, "n_minus_1"} - {"layer_norm"}),
    frozenset({"layer_norm", *SPREAD, "mean_abs", "mean_first", "norm"}),
    frozenset(DTYPE),
    frozenset({*FLOW, *IN_PLACE}),
)
rms_norm = Misconceptions(
    _rms_norm,
    {**EPS, **OVER, **SIZE, **RMS_SIZE, **GAIN, **GAIN_INSIDE, **DTYPE, **FLOW, **IN_PLACE},
    apart=(
        *_APART,
        frozenset({*GAIN, "gain_inside"}),
        frozenset({"gain_inside", "layer_norm", *SPREAD}),
    ),
)


_OFTEN = (
    *("eps_after_root", "no_eps", "over_time", "no_keepdim", "n_minus_1", "no_root", "norm"),
    *("layer_norm", "no_gain", "one_plus_gain", "in_half", "float32_out", "detached", "in_place"),
)


def _rms_module(wrong: Wrong):
    class RMSNorm(nn.Module):
        def __init__(self, d_model, eps=1e-6):
            super().__init__()
            start = torch.zeros if "gain_zeros" in wrong else torch.ones
            self.gain = nn.Parameter(start(d_model))
            self.eps = 1e-6 if "eps_fixed" in wrong else eps

        def forward(self, x):
            gain = self.gain.detach() if "gain_frozen" in wrong else self.gain
            y = _rms_norm(wrong)(x, gain, self.eps)
            return x + y if "residual_inside" in wrong else y

    return RMSNorm


RMSNorm = Misconceptions(
    _rms_module,
    MODULE | {flag: rms_norm.flags[flag] for flag in _OFTEN},
    apart=(
        *_APART,
        frozenset({*EPS, "eps_fixed"}),
        frozenset({*GAIN, "gain_frozen", "gain_zeros"}),
    ),
)


def _layer_norm(wrong: Wrong):
    def layer_norm(x, gain, bias, eps):
        h = x if "in_half" in wrong else x.float()
        centred = h if "rms" in wrong else _centred(h, wrong)
        root = _squeezed(_root(h if "raw_squares" in wrong else centred, eps, wrong), wrong)
        y = _divided(h if "mean_kept" in wrong else centred, root, wrong)
        gain, bias = (bias, gain) if "gain_is_bias" in wrong else (gain, bias)
        bias = 0 if "no_bias" in wrong else bias.to(y.dtype)
        early = "bias_before_gain" in wrong
        y = _with_gain(y + bias if early else y, gain, wrong) + (0 if early else bias)
        return y if "float32_out" in wrong else y.to(x.dtype)

    return layer_norm


layer_norm = Misconceptions(
    _layer_norm,
    {**EPS, **OVER, **SIZE, **GAIN, **LAYER_ONLY, **DTYPE, **FLOW, **IN_PLACE},
    apart=(
        *_APART,
        frozenset({"rms", "mean_kept", "raw_squares", *IN_PLACE}),
        frozenset({"no_bias", "bias_before_gain", "gain_is_bias"}),
        frozenset({*GAIN, "gain_is_bias"}),
        frozenset({"bias_before_gain", "no_gain"}),
    ),
)


def _rms_by_hand(wrong: Wrong) -> list[float]:
    x, gain = torch.tensor([1.0, 5.0, -7.0, 5.0]), torch.tensor([2.0, 1.0, 0.5, 3.0])
    centred = x - x.mean() if wrong & {"layer_norm", *SPREAD} else x
    root = _root(x * gain if "gain_inside" in wrong else centred, 0.0, wrong)
    y = _with_gain((centred if "layer_norm" in wrong else x) / root, gain, wrong)
    return [*root.tolist(), *y.tolist()]


rms_by_hand = Misconceptions(
    _rms_by_hand,
    {**SIZE, **RMS_SIZE, **GAIN, **GAIN_INSIDE},
    apart=(
        *_APART,
        frozenset({*GAIN, "gain_inside"}),
        frozenset({"gain_inside", "layer_norm", *SPREAD}),
    ),
)
