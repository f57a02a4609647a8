"""Right answers to unit 04 about positions: probes for mixing them, and token mixing."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def _probe_by_replacing(f, x):
    B, T, d = x.shape
    for t in range(T):
        other = torch.cat([x[:, :t], torch.randn(B, 1, d, dtype=x.dtype), x[:, t + 1 :]], dim=1)
        before, after = f(x), f(other)
        if not torch.equal(before[:, :t], after[:, :t]):
            return True
        if not torch.equal(before[:, t + 1 :], after[:, t + 1 :]):
            return True
    return False


def _probe_others(f, x):
    for t in range(x.shape[1]):
        others = x + torch.randn_like(x)
        others[:, t] = x[:, t]
        if not torch.allclose(f(others)[:, t], f(x)[:, t]):
            return True
    return False


def _probe_jacobian(f, x):
    jacobian = torch.autograd.functional.jacobian(f, x[:1])
    found = jacobian.abs().amax((0, 2, 3, 5))
    return bool((found - found.diag().diag() > 1e-9).any())


def _probe_random_gradient(f, x):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    for t in range(x.shape[1]):
        total = (y[:, t] * torch.randn_like(y[:, t])).sum()
        (gradient,) = torch.autograd.grad(total, x, retain_graph=True)
        if gradient.norm(dim=-1).sum(0).gt(1e-8).nonzero().flatten().tolist() not in ([], [t]):
            return True
    return False


def _probe_small_steps(f, x):
    noise = 1e-3 * torch.randn_like(x)
    moved = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for s in range(x.shape[1]):
        mask = torch.zeros_like(x)
        mask[:, s] = 1
        moved[s] = ((f(x + mask * noise) - f(x)).abs() > 1e-10).any(-1).any(0)
    return (moved & ~torch.eye(len(moved), dtype=torch.bool)).any()


def _probe_zeros(f, x):
    reference = f(x)
    for t in range(x.shape[1]):
        y = x.clone()
        y[:, t] = 0
        change = (f(y) - reference).abs().amax(dim=(0, 2))
        change[t] = 0
        if change.max() > 1e-6:
            return True
    return False


def _probe_in_place_and_back(f, x):
    before, answer = f(x), np.bool_(False)
    for t in range(x.shape[1]):
        kept = x[:, t].clone()
        x[:, t] = kept * 3 - torch.rand_like(kept)
        difference = f(x) - before
        x[:, t] = kept
        rest = [s for s in range(x.shape[1]) if s != t]
        answer = np.bool_(answer or not np.allclose(difference[:, rest].detach().numpy(), 0))
    return answer


def _probe_forward_mode(f, x):
    for t in range(x.shape[1]):
        tangent = torch.zeros_like(x)
        tangent[:, t] = torch.randn_like(x[:, t])
        moved = torch.func.jvp(f, (x,), (tangent,))[1]
        moved[:, t] = 0
        if moved.abs().max().item() > 1e-9:
            return True
    return False


MIXES_POSITIONS = [
    _probe_by_replacing,
    _probe_others,
    _probe_jacobian,
    _probe_random_gradient,
    _probe_small_steps,
    _probe_zeros,
    _probe_in_place_and_back,
    _probe_forward_mode,
]


def _mixing_transposed(x, w_in, w_out):
    return (F.gelu(x.transpose(-1, -2) @ w_in.T) @ w_out.T).transpose(-1, -2)


def _mixing_einsum(x, w_in, w_out):
    hidden = F.gelu(torch.einsum("ht,...td->...hd", w_in, x))
    return torch.einsum("th,...hd->...td", w_out, hidden)


def _mixing_by_feature(x, w_in, w_out):
    columns = [F.linear(F.gelu(F.linear(c, w_in)), w_out) for c in x.unbind(-1)]
    return torch.stack(columns, dim=-1)


def _mixing_by_position(x, w_in, w_out):
    hidden = [(row[:, None] * x).sum(-2) for row in w_in]
    hidden = torch.stack([h * 0.5 * (1 + torch.erf(h / math.sqrt(2))) for h in hidden], -2)
    return torch.stack([(row[:, None] * hidden).sum(-2) for row in w_out], -2)


def _mixing_movedim(x, w_in, w_out):
    hidden = nn.GELU()(torch.inner(x.movedim(-2, -1), w_in))
    return torch.inner(hidden, w_out).swapaxes(-1, -2)


TOKEN_MIXING = [
    _mixing_transposed,
    _mixing_einsum,
    _mixing_by_feature,
    _mixing_by_position,
    _mixing_movedim,
]
