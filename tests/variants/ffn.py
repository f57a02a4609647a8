"""Right answers to unit 04, each written in another way."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tests.variants.ffn_experts import TOP_K_EXPERTS
from tests.variants.ffn_positions import MIXES_POSITIONS, TOKEN_MIXING

FFN_WIDTHS = [
    "768 3072 768 4096 14336 4096",
    "  768 3072 768   4096 14336 4096 ",
    " ".join(str(width) for width in (768, 4 * 768, 768, 4096, 7 * 2048, 4096)),
]


def _gelu_normal(x):
    return x * torch.distributions.Normal(0.0, 1.0).cdf(x)


def _gelu_erfc(x):
    return x * torch.erfc(-x / torch.sqrt(torch.tensor(2.0))) / 2


def _gelu_one_by_one(x):
    return torch.stack([F.gelu(value) for value in x.reshape(-1)]).reshape(x.shape)


GELU = [
    F.gelu,
    nn.GELU(),
    lambda x: x * torch.special.ndtr(x),
    lambda x: 0.5 * x + 0.5 * x * torch.erf(x * 0.7071067811865476),
    lambda x: x * (1 - torch.special.ndtr(-x)),
    lambda x: (torch.exp(torch.special.log_ndtr(x)) * x).to(x.dtype),
    _gelu_normal,
    _gelu_erfc,
    _gelu_one_by_one,
]

SILU = [
    F.silu,
    nn.SiLU(),
    lambda x: x / (1 + torch.exp(-x)),
    lambda x: x * (1 + (-x).exp()).reciprocal(),
    lambda x: x * torch.special.expit(x),
    lambda x: 0.5 * x * (1 + torch.tanh(x / 2)),
    lambda x: x * F.logsigmoid(x).exp(),
    lambda x: x - x * torch.sigmoid(-x),
    lambda x: x * torch.stack([x, torch.zeros_like(x)]).softmax(0)[0],
    lambda x: F.glu(torch.stack([x, x], -1), -1).squeeze(-1),
]


def _ffn_linear(x, w_in, b_in, w_out, b_out, activation):
    return F.linear(activation(F.linear(x, w_in, b_in)), w_out, b_out)


def _ffn_einsum(x, w_in, b_in, w_out, b_out, activation):
    hidden = activation(torch.einsum("...d,fd->...f", x, w_in) + b_in)
    return b_out + torch.einsum("...f,df->...d", hidden, w_out)


def _ffn_columns(x, w_in, b_in, w_out, b_out, activation):
    hidden = activation(w_in @ x.unsqueeze(-1) + b_in.unsqueeze(-1))
    return (w_out @ hidden).squeeze(-1) + b_out


def _ffn_memories(x, w_in, b_in, w_out, b_out, activation):
    output = b_out
    for key, bias, value in zip(w_in, b_in, w_out.T, strict=True):
        output = output + activation((x * key).sum(-1, keepdim=True) + bias) * value
    return output


def _ffn_chunked(x, w_in, b_in, w_out, b_out, activation):
    chunks = zip(w_in.split(4), b_in.split(4), w_out.split(4, dim=1), strict=True)
    return b_out + sum(activation(x @ up.T + bias) @ down.T for up, bias, down in chunks)


def _ffn_token_by_token(x, w_in, b_in, w_out, b_out, activation):
    rows = [w_out @ activation(w_in @ token + b_in) + b_out for token in x.reshape(-1, x.shape[-1])]
    return torch.stack(rows).reshape(x.shape)


def _ffn_bias_as_weight(x, w_in, b_in, w_out, b_out, activation):
    one = torch.ones_like(x[..., :1])
    hidden = activation(torch.cat([x, one], -1) @ torch.cat([w_in, b_in[:, None]], 1).T)
    return torch.cat([hidden, one], -1) @ torch.cat([w_out, b_out[:, None]], 1).T


class _FeedForwardInSteps(nn.Module):
    def __init__(self, d_model, d_ff, activation):
        super().__init__()
        self.act = activation
        self.down_proj = nn.Linear(in_features=d_ff, out_features=d_model, bias=True)
        self.up_proj = nn.Linear(in_features=d_model, out_features=d_ff, bias=True)

    def forward(self, x):
        x = self.up_proj(x)
        x = self.act(x)
        return self.down_proj(x)


class _FeedForwardFromWeights(nn.Module):
    def __init__(self, d_model, d_ff, activation):
        super().__init__()
        self.up_proj, self.down_proj = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.settings = {"activation": activation}

    def forward(self, x):
        hidden = self.settings["activation"](F.linear(x, self.up_proj.weight, self.up_proj.bias))
        return hidden @ self.down_proj.weight.T + self.down_proj.bias


class _FeedForwardNamed(nn.Module):
    def __init__(self, d_model, d_ff, activation):
        super().__init__()
        self.layers = [
            ("down_proj", nn.Linear(d_ff, d_model)),
            ("up_proj", nn.Linear(d_model, d_ff)),
        ]
        for name, layer in self.layers:
            self.add_module(name, layer)
        self.activation = lambda h: activation(h)

    def forward(self, x):
        (_, down), (_, up) = self.layers
        return down(self.activation(up(x.reshape(-1, x.shape[-1])))).reshape(x.shape)


class _OwnLinear(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_out, d_in) / d_in**0.5)
        self.bias = nn.Parameter(torch.zeros(d_out))

    def forward(self, x):
        return torch.einsum("...i,oi->...o", x, self.weight) + self.bias


class _FeedForwardOwnLinear(nn.Module):
    def __init__(self, d_model, d_ff, activation):
        super().__init__()
        self.up_proj, self.down_proj = _OwnLinear(d_model, d_ff), _OwnLinear(d_ff, d_model)
        self.activation = activation

    def forward(self, x):
        return self.down_proj(self.activation(self.up_proj(x)))


class _Gated(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)


class _SwiGLUTorch(_Gated):
    def forward(self, x):
        return self.down_proj(self.up_proj(x) * F.silu(self.gate_proj(x)))


class _SwiGLUSigmoid(_Gated):
    def forward(self, x):
        gate = self.gate_proj(x)
        return self.down_proj(gate * self.up_proj(x) * torch.sigmoid(gate))


class _SwiGLUFused(_Gated):
    def forward(self, x):
        both = torch.cat([self.gate_proj.weight, self.up_proj.weight])
        gate, up = F.linear(x, both).chunk(2, dim=-1)
        return F.linear(nn.SiLU()(gate) * up, self.down_proj.weight)


class _SwiGLUEinsum(_Gated):
    def forward(self, x):
        gate = torch.einsum("...d,fd->...f", x, self.gate_proj.weight)
        up = torch.einsum("...d,fd->...f", x, self.up_proj.weight)
        hidden = gate / (1 + torch.exp(-gate)) * up
        return torch.einsum("...f,df->...d", hidden, self.down_proj.weight)


class _SwiGLUChunked(_Gated):
    def forward(self, x):
        down = self.down_proj.weight.split(3, dim=1)
        gates, ups = (layer.weight.split(3) for layer in (self.gate_proj, self.up_proj))
        parts = zip(gates, ups, down, strict=True)
        return sum(F.silu(x @ gate.T) * (x @ up.T) @ out.T for gate, up, out in parts)


def _ffn_parameters_of_layers(d_model, d_ff, gated):
    sizes = [(d_model, d_ff)] * (2 if gated else 1) + [(d_ff, d_model)]
    layers = [nn.Linear(*size, bias=False, device="meta") for size in sizes]
    return sum(p.numel() for layer in layers for p in layer.parameters())


def _ffn_parameters_spelt_out(d_model, d_ff, gated):
    up, down = d_model * d_ff, d_ff * d_model
    if gated:
        return up + up + down
    return up + down


FFN_PARAMETERS = [
    lambda d_model, d_ff, gated: (2 + gated) * d_model * d_ff,
    lambda d_model, d_ff, gated: float(d_model * d_ff * (3 if gated else 2)),
    lambda d_model, d_ff, gated: torch.tensor(d_model * d_ff * [2, 3][gated]),
    lambda d_model, d_ff, gated: np.int64(d_model) * d_ff * (3 if gated else 2),
    _ffn_parameters_of_layers,
    _ffn_parameters_spelt_out,
]


def _attention_parameters_of_layers(d_model, n_heads, n_kv_heads):
    d_kv = n_kv_heads * d_model // n_heads
    widths = (d_model, d_kv, d_kv, d_model)
    return sum(nn.Linear(d_model, d, False, device="meta").weight.numel() for d in widths)


def _attention_parameters_by_head(d_model, n_heads, n_kv_heads):
    d_head = int(d_model / n_heads)
    q = sum(d_model * d_head for _ in range(n_heads))
    k = v = sum(d_model * d_head for _ in range(n_kv_heads))
    return q + k + v + n_heads * d_head * d_model


ATTENTION_PARAMETERS = [
    lambda d_model, n_heads, n_kv_heads: 2 * d_model**2 * (1 + n_kv_heads / n_heads),
    lambda d_model, n_heads, n_kv_heads: 2 * d_model**2 * (n_heads + n_kv_heads) // n_heads,
    lambda d, h, kv: d * (d // h) * (2 * h + 2 * kv),
    _attention_parameters_of_layers,
    _attention_parameters_by_head,
]


def _memory_linear(x, keys, values, activation):
    coefficients = activation(F.linear(x, keys))
    return F.linear(coefficients, values.T), coefficients


def _memory_einsum(x, keys, values, activation):
    c = activation(torch.einsum("...d,fd->...f", x, keys))
    return [torch.einsum("...f,fd->...d", c, values), c]


def _memory_loop(x, keys, values, activation):
    coefficients, output = [], 0
    for key, value in zip(keys, values, strict=True):
        coefficient = activation((x * key).sum(dim=-1))
        coefficients.append(coefficient)
        output = output + coefficient[..., None] * value
    return output, torch.stack(coefficients, dim=-1)


def _memory_broadcast(x, keys, values, activation):
    coefficients = activation((x[..., None, :] * keys).sum(-1))
    return (coefficients[..., None] * values).sum(-2), coefficients


def _memory_columns(x, keys, values, activation):
    coefficients = activation((keys @ x[..., None])[..., 0])
    return (values.T @ coefficients[..., None])[..., 0], coefficients


def _memory_chunked(x, keys, values, activation):
    coefficients = torch.cat([activation(x @ part.T) for part in keys.split(2)], -1)
    parts = zip(coefficients.split(5, -1), values.split(5), strict=True)
    return sum(c @ value for c, value in parts), coefficients


CORRECT = {
    "ffn_widths": FFN_WIDTHS,
    "gelu": GELU,
    "silu": SILU,
    "feed_forward": [
        _ffn_linear,
        _ffn_einsum,
        _ffn_columns,
        _ffn_memories,
        _ffn_chunked,
        _ffn_token_by_token,
        _ffn_bias_as_weight,
    ],
    "FeedForward": [
        _FeedForwardInSteps,
        _FeedForwardFromWeights,
        _FeedForwardNamed,
        _FeedForwardOwnLinear,
    ],
    "SwiGLU": [_SwiGLUTorch, _SwiGLUSigmoid, _SwiGLUFused, _SwiGLUEinsum, _SwiGLUChunked],
    "ffn_parameters": FFN_PARAMETERS,
    "attention_parameters": ATTENTION_PARAMETERS,
    "ffn_as_memory": [
        _memory_linear,
        _memory_einsum,
        _memory_loop,
        _memory_broadcast,
        _memory_columns,
        _memory_chunked,
    ],
    "mixes_positions": MIXES_POSITIONS,
    "token_mixing": TOKEN_MIXING,
    "top_k_experts": TOP_K_EXPERTS,
}
