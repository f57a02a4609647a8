"""Right answers to the exercises of unit 02, each written in another way."""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from blocklab.reference import norm as reference
from tests.variants import norm_depth

# rms_norm ---------------------------------------------------------------------------------------


def rms_fused(x, gain, eps):
    return F.rms_norm(x, gain.shape, gain, eps)


def rms_like_llama(x, gain, eps):
    h = x.to(torch.float32)
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)
    return gain * h.to(x.dtype)


def rms_by_length(x, gain, eps):
    h, d = x.float(), x.shape[-1]
    length = torch.linalg.vector_norm(h, dim=-1, keepdim=True)
    return (h * math.sqrt(d) / torch.sqrt(length**2 + d * eps) * gain).to(x.dtype)


def rms_einsum(x, gain, eps):
    h = x.float()
    square = torch.einsum("...i,...i->...", h, h) / h.shape[-1] + eps
    return torch.einsum("...i,...,i->...i", h, square**-0.5, gain.float()).type_as(x)


def rms_token_by_token(x, gain, eps):
    tokens = []
    for token in x.reshape(-1, x.shape[-1]).double():
        root = sum(number * number for number in token) / len(token) + eps
        tokens.append(token / root**0.5 * gain.double())
    return torch.stack(tokens).reshape(x.shape).to(x.dtype)


def rms_gain_first(x, gain, eps):
    h = x.float()
    return (gain.float() * h / ((h * h + eps).mean(dim=-1, keepdim=True)) ** 0.5).to(x.dtype)


def rms_module(x, gain, eps):
    layer = nn.RMSNorm(x.shape[-1], eps)
    return torch.func.functional_call(layer, {"weight": gain}, (x,))


def rms_from_variance(x, gain, eps):
    h = x.float()
    variance, mean = torch.var_mean(h, -1, correction=0, keepdim=True)
    return (h * gain / (variance + mean.square() + eps).sqrt()).to(x.dtype)


# RMSNorm ----------------------------------------------------------------------------------------


class OwnGain(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.eps = eps


def layer(function):
    """RMSNorm with the given function as its forward."""

    class RMSNorm(OwnGain):
        def forward(self, x):
            return function(x, self.gain, self.eps)

    return RMSNorm


class KeepsWidth(nn.Module):
    def __init__(self, d_model, eps):
        super().__init__()
        self.d_model, self.epsilon = d_model, eps
        self.register_parameter("gain", nn.Parameter(torch.full((d_model,), 1.0)))

    def forward(self, x):
        h = x.float()
        total = (h * h).sum(-1, keepdim=True)
        return (h * self.gain.float() * (total / self.d_model + self.epsilon).rsqrt()).type_as(x)


# layer_norm -------------------------------------------------------------------------------------


def layer_fused(x, gain, bias, eps):
    return F.layer_norm(x, gain.shape, gain, bias, eps)


def layer_two_moments(x, gain, bias, eps):
    h = x.double()
    mean, square = h.mean(-1, keepdim=True), (h * h).mean(-1, keepdim=True)
    return ((h - mean) / (square - mean**2 + eps).sqrt() * gain + bias).to(x.dtype)


def layer_population_variance(x, gain, bias, eps):
    h = x.float()
    variance, mean = torch.var_mean(h, dim=-1, unbiased=False, keepdim=True)
    return torch.addcmul(bias.float(), (h - mean) * (variance + eps).rsqrt(), gain.float()).to(
        x.dtype
    )


def layer_rms_of_centred(x, gain, bias, eps):
    h = x.float()
    centred = h - h.mean(-1, keepdim=True)
    return (reference.rms_norm(centred, gain.float(), eps) + bias.float()).to(x.dtype)


def layer_by_matrix(x, gain, bias, eps):
    h, d = x.float(), x.shape[-1]
    centred = h @ (torch.eye(d) - torch.ones(d, d) / d)
    variance = torch.einsum("...i,...i->...", centred, centred) / d
    return (centred / (variance + eps).sqrt()[..., None] * gain + bias).to(x.dtype)


def layer_token_by_token(x, gain, bias, eps):
    h = x.float().reshape(-1, x.shape[-1])
    rows = [(t - t.mean()) / (t.var(correction=0) + eps).sqrt() * gain + bias for t in h]
    return torch.stack(rows).reshape(x.shape).to(x.dtype)


def layer_module(x, gain, bias, eps):
    layer = nn.LayerNorm(x.shape[-1], eps)
    return torch.func.functional_call(layer, {"weight": gain, "bias": bias}, (x,))


def layer_one_group(x, gain, bias, eps):
    h = x.float().reshape(-1, x.shape[-1])
    return F.group_norm(h, 1, gain.float(), bias.float(), eps).reshape(x.shape).to(x.dtype)


# steps ------------------------------------------------------------------------------------------


def pre_in_lines(x, norm, sublayer):
    normalised = norm(x)
    delta = sublayer(normalised)
    return x + delta


def pre_saved_residual(x, norm, sublayer):
    residual = x
    x = norm(x)
    x = sublayer(x)
    return residual + x


def pre_copy(x, norm, sublayer):
    stream = x.clone()
    stream += sublayer(norm(x))
    return stream


def pre_composed(x, norm, sublayer):
    return functools.reduce(lambda h, f: f(h), [norm, sublayer], x).add(x)


def post_in_lines(x, norm, sublayer):
    delta = sublayer(x)
    x = x + delta
    return norm(x)


def post_saved_residual(x, norm, sublayer):
    residual, x = x, sublayer(x)
    return norm(torch.add(x, residual))


def post_stacked(x, norm, sublayer):
    return norm(torch.stack([x, sublayer(x)]).sum(dim=0))


def post_copy(x, norm, sublayer):
    total = sublayer(x).clone()
    total += x
    return norm(total)


def deep_in_lines(x, norm, sublayer, alpha):
    delta = sublayer(x)
    x = alpha * x
    x = x + delta
    return norm(x)


def deep_alpha_of_add(x, norm, sublayer, alpha):
    return norm(torch.add(sublayer(x), x, alpha=alpha))


def deep_as_post(x, norm, sublayer, alpha):
    return reference.post_norm_step(x, norm, lambda h: sublayer(h) + (alpha - 1) * h)


def deep_copy(x, norm, sublayer, alpha):
    scaled = x.clone().mul_(alpha)
    return norm(scaled.add_(sublayer(x)))


# constants --------------------------------------------------------------------------------------


def constants_roots(n_layers):
    return math.sqrt(math.sqrt(2 * n_layers)), 1 / math.sqrt(math.sqrt(8 * n_layers))


def constants_pow(n_layers):
    alpha = math.pow(2 * n_layers, 1 / 4)
    return alpha, 1 / (alpha * math.sqrt(2))


def constants_tensor(n_layers):
    base = torch.tensor([2.0, 8.0]) * n_layers
    return base ** torch.tensor([0.25, -0.25])


def constants_numpy(n_layers):
    return [np.power(2.0 * n_layers, 0.25), np.power(8.0 * n_layers, -0.25)]


def constants_logarithm(n_layers):
    return (math.exp(math.log(2 * n_layers) / 4), math.exp(-math.log(8 * n_layers) / 4))


# fold_gain --------------------------------------------------------------------------------------


def fold_by_diagonal(gain, weight):
    return weight @ torch.diag(gain)


def fold_einsum(gain, weight):
    return torch.einsum("oi,i->oi", weight, gain)


def fold_column_by_column(gain, weight):
    return torch.stack([weight[:, j] * gain[j] for j in range(len(gain))], dim=1)


def fold_row_by_row(gain, weight):
    return torch.stack([row * gain for row in weight])


def fold_measured(gain, weight):
    """What the old pair gives for each basis vector is a column of the new weight."""
    return F.linear(torch.eye(len(gain)) * gain, weight).T


def fold_copy(gain, weight):
    folded = weight.clone()
    folded *= gain[None, :].expand_as(weight)
    return folded


rms = [
    reference.rms_norm,
    rms_fused,
    rms_like_llama,
    rms_by_length,
    rms_einsum,
    rms_token_by_token,
    rms_gain_first,
    rms_module,
    rms_from_variance,
]

CORRECT: dict[str, list] = {
    "rms_by_hand": [
        (5, 0.4, 1, -0.7, 3),
        torch.tensor([5.0, 0.4, 1.0, -0.7, 3.0]),
        np.array([5.0, 0.4, 1.0, -0.7, 3.0]),
        [5.0, *(2 * 0.2, 1 * 1.0, 0.5 * -1.4, 3 * 1.0)],
        [torch.tensor(5.0), 0.40, 1.00, -0.70, 3.00],
    ],
    "rms_norm": rms,
    "RMSNorm": [KeepsWidth, *(layer(function) for function in rms)],
    "layer_norm": [
        layer_fused,
        layer_two_moments,
        layer_population_variance,
        layer_rms_of_centred,
        layer_by_matrix,
        layer_token_by_token,
        layer_module,
        layer_one_group,
    ],
    "pre_norm_places": [
        "Norm Attention Add Norm FFN Add",
        "  norm attention add\n  norm ffn add ",
        " ".join(["norm", "attention", "add", "norm", "ffn", "add"]),
    ],
    "post_norm_places": [
        "ATTENTION ADD NORM FFN ADD NORM",
        "attention add norm  ffn add norm",
        " ".join(["attention", "add", "norm", "ffn", "add", "norm"]),
    ],
    "pre_norm_step": [pre_in_lines, pre_saved_residual, pre_copy, pre_composed],
    "post_norm_step": [post_in_lines, post_saved_residual, post_stacked, post_copy],
    "deep_norm_step": [deep_in_lines, deep_alpha_of_add, deep_as_post, deep_copy],
    "deep_norm_constants": [
        constants_roots,
        constants_pow,
        constants_tensor,
        constants_numpy,
        constants_logarithm,
    ],
    "fold_gain": [
        fold_by_diagonal,
        fold_einsum,
        fold_column_by_column,
        fold_row_by_row,
        fold_measured,
        fold_copy,
    ],
    "gradient_profile": norm_depth.gradient_profile,
    "norm_position": norm_depth.norm_position,
}
