"""Right answers to unit 01, each written in another way."""

from itertools import accumulate, pairwise

import numpy as np
import torch
from torch import nn

ADD_BY_HAND = [
    (1.2, 1.5, -0.7, 0.1),
    [1.20, 1.50, -0.70, 0.10],
    [1 + 0.2, 2 - 0.5, -1 + 0.3, 0 + 0.1],
    torch.tensor([1.0, 2.0, -1.0, 0.0]) + torch.tensor([0.2, -0.5, 0.3, 0.1]),
    np.array([1, 2, -1, 0]) + np.array([0.2, -0.5, 0.3, 0.1]),
]

NINE_NODES = [
    "x0 norm_attention add_attention x1 norm_ffn add_ffn x2 repeat final_norm",
    "X0 Norm_Attention Add_Attention X1 Norm_FFN Add_FFN X2 Repeat Final_Norm",
    "  x0  norm_attention add_attention\nx1 norm_ffn add_ffn\nx2 repeat final_norm\n",
]

GROWTH_BY_HAND = [
    [0.000244, 130, 469, 1.43],
    (2.44e-4, 129.7, 468.6, 1.429),
    [1 / 4096, 1.5**12, 1.36**20, 1.018**20],
    torch.tensor([0.5**12, 1.5**12, 1.36**20, 1.018**20]),
    [0.0002441, 129.75, 468.57, 2.718**0.3572],
]


def _add_alpha(x, delta):
    assert x.shape == delta.shape
    return torch.add(x, delta, alpha=1)


def _add_copy(x, delta):
    if list(x.size()) != list(delta.size()):
        raise ValueError
    y = x.clone()
    y += delta
    return y


def _add_stacked(x, delta):
    return torch.stack([x, delta]).sum(dim=0)


def _add_by_token(x, delta):
    if x.shape != delta.shape:
        raise ValueError("shapes")
    tokens = zip(x.reshape(-1, x.shape[-1]), delta.reshape(-1, x.shape[-1]), strict=True)
    return torch.stack([a + b for a, b in tokens]).reshape(x.shape)


def _add_einsum(x, delta):
    if tuple(x.shape) != tuple(delta.shape):
        raise ValueError(f"{x.shape} and {delta.shape}")
    return torch.einsum("n...,n->...", torch.stack((delta, x)), torch.ones(2))


def _run_variable(x0, sublayers):
    x, states = x0, [x0]
    for f in sublayers:
        x = f(x) + x
        states += [x]
    return states


def _run_copies(x0, sublayers):
    x = x0.clone()
    states = [x.clone()]
    for sublayer in sublayers:
        x = torch.add(x, sublayer(x))
        states.append(x.clone())
    return states


def _run_recursively(x0, sublayers):
    if len(sublayers) == 0:
        return [x0]
    first, *rest = sublayers
    return [x0, *_run_recursively(x0 + first(x0), rest)]


def _run_accumulate(x0, sublayers):
    return list(accumulate(sublayers, lambda x, f: x + f(x), initial=x0))


def _run_by_index(x0, sublayers):
    states = [x0] + [torch.empty_like(x0)] * len(sublayers)
    for n, sublayer in enumerate(sublayers):
        delta = sublayer(states[n])
        states[n + 1] = states[n] + delta
    return tuple(states)


def _updates_pairwise(states):
    return [b - a for a, b in pairwise(states)]


def _updates_diff(states):
    return list(torch.diff(torch.stack(list(states)), dim=0))


def _updates_loop(states):
    found, previous = [], states[0]
    for state in states[1:]:
        found.append(state - previous)
        previous = state
    return found


def _updates_unbound(states):
    together = torch.stack(states)
    return (together[1:] - together[:-1]).unbind(0)


def _updates_in_float64(states):
    wide = [state.double() for state in states]
    return [(b - a).float() for a, b in pairwise(wide)]


class _BlockOnceStored(nn.Module):
    def __init__(self, sublayer):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.0))
        self.sublayer = sublayer

    def forward(self, x):
        delta = self.sublayer(x)
        return torch.addcmul(x, self.scale, delta)


class _BlockRegistered(nn.Module):
    def __init__(self, sublayer):
        super().__init__()
        self.add_module("sublayer", sublayer)
        self.register_parameter("scale", nn.Parameter(torch.zeros(1).squeeze()))

    def forward(self, x):
        return self.scale * self.get_submodule("sublayer")(x) + x


class _BlockLerp(nn.Module):
    def __init__(self, sublayer):
        super().__init__()
        self.sublayer = sublayer
        self.scale = nn.Parameter(torch.empty(()))
        nn.init.zeros_(self.scale)

    def forward(self, x):
        return torch.lerp(x, x + self.sublayer(x), self.scale)


class _BlockWithExtras(nn.Module):
    """Notes its last update, and counts its calls in a buffer: both are its own business."""

    def __init__(self, sublayer: nn.Module):
        super().__init__()
        self.sublayer = sublayer
        self.scale = nn.Parameter(torch.zeros([]), requires_grad=True)
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.calls = self.calls + 1
        self.last = self.sublayer(x).mul(self.scale)
        return x.add(self.last)


def _carried(sublayers, x, residual):
    for sublayer in sublayers:
        x = x + sublayer(x) if residual else sublayer(x)
    return x


def _norm_by_backward(sublayers, x, probe, residual):
    x = x.detach().clone()
    x.requires_grad = True
    (_carried(sublayers, x, residual) * probe).sum().backward()
    assert x.grad is not None
    return float(x.grad.pow(2).sum().sqrt())


def _norm_on_a_copy(sublayers, x, probe, residual):
    x = x.detach().clone().requires_grad_()
    loss = torch.vdot(_carried(sublayers, x, residual).flatten(), probe.flatten())
    loss.backward()
    return torch.linalg.vector_norm(x.grad)


def _norm_by_vjp(sublayers, x, probe, residual):
    pull_back = torch.func.vjp(lambda y: _carried(sublayers, y, residual), x)[1]
    return pull_back(probe)[0].flatten().norm(p=2)


def _norm_with_grad_outputs(sublayers, x, probe, residual):
    x = x.detach().requires_grad_(True)
    end = _carried(sublayers, x, residual)
    (g,) = torch.autograd.grad(end, x, grad_outputs=probe)
    return np.linalg.norm(g.numpy()).item()


def _norm_layer_by_layer(sublayers, x, probe, residual):
    """The chain rule by hand: from the end back to the start, one sublayer at a time."""
    states = [x.detach()]
    for sublayer in sublayers:
        states.append(_carried([sublayer], states[-1], residual).detach())
    g = probe.detach()
    for sublayer, state in zip(sublayers[::-1], states[-2::-1], strict=True):
        state.requires_grad_()
        (through,) = torch.autograd.grad(sublayer(state), state, g)
        g = g + through if residual else through
    return g.square().sum().item() ** 0.5


CORRECT: dict[str, list] = {
    "add_by_hand": ADD_BY_HAND,
    "nine_nodes": NINE_NODES,
    "residual_add": [_add_alpha, _add_copy, _add_stacked, _add_by_token, _add_einsum],
    "run_stream": [
        _run_variable,
        _run_copies,
        _run_recursively,
        _run_accumulate,
        _run_by_index,
    ],
    "updates": [
        _updates_pairwise,
        _updates_diff,
        _updates_loop,
        _updates_unbound,
        _updates_in_float64,
    ],
    "ResidualBlock": [_BlockOnceStored, _BlockRegistered, _BlockLerp, _BlockWithExtras],
    "growth_by_hand": GROWTH_BY_HAND,
    "input_gradient_norm": [
        _norm_by_backward,
        _norm_on_a_copy,
        _norm_by_vjp,
        _norm_with_grad_outputs,
        _norm_layer_by_layer,
    ],
}
