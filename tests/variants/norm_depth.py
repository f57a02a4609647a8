"""Right answers to `gradient_profile` and `norm_position`, each found in another way."""

import functools
import itertools

import torch


def profile_retain(blocks, x, probe):
    h = x.clone().requires_grad_(True)
    states = [h]
    for block in blocks:
        h = block(h)
        h.retain_grad()
        states.append(h)
    (h * probe).sum().backward()
    return torch.tensor([state.grad.norm().item() for state in states])


def profile_one_at_a_time(blocks, x, probe):
    states = list(
        itertools.accumulate(blocks, lambda h, f: f(h), initial=x.clone().requires_grad_())
    )
    loss = torch.einsum("btd,btd->", states[-1], probe)
    norms = [torch.autograd.grad(loss, s, retain_graph=True)[0].pow(2).sum() ** 0.5 for s in states]
    return torch.stack(norms)


def profile_block_by_block(blocks, x, probe):
    states = [x]
    with torch.no_grad():
        for block in blocks:
            states.append(block(states[-1]))
    gradient, norms = probe, [probe.norm()]
    for block, state in zip(reversed(blocks), reversed(states[:-1]), strict=True):
        start = state.clone().requires_grad_()
        gradient = torch.autograd.grad(block(start), start, gradient)[0]
        norms.insert(0, torch.linalg.vector_norm(gradient))
    return torch.stack(norms)


def profile_by_nudges(blocks, x, probe):
    nudges = torch.zeros(len(blocks) + 1, *x.shape, requires_grad=True)
    h = x + nudges[0]
    for block, nudge in zip(blocks, nudges[1:], strict=True):
        h = block(h) + nudge
    h.backward(probe)
    assert nudges.grad is not None
    return nudges.grad.flatten(1).norm(dim=1)


def profile_from_each_state(blocks, x, probe):
    norms = []
    state = x
    for n in range(len(blocks) + 1):
        start = state.detach().requires_grad_()
        end = functools.reduce(lambda h, f: f(h), blocks[n:], start)
        norms.append(torch.autograd.grad(end, start, probe)[0].norm())
        state = blocks[n](start) if n < len(blocks) else end
    return torch.stack(norms)


def position_by_growth(block, x):
    if block(100 * x).norm() < 10 * block(x).norm():
        return "post"
    return "pre" if torch.allclose(block(2 * x), block(x) + x, atol=1e-6) else "none"


def position_by_tiny_inputs(block, x):
    """Near zero only a norm can make something large; far away only a norm can keep it small."""
    if block(1e-3 * x).abs().mean() < 0.02 * x.abs().mean():
        return "none"
    return "post" if block(1e4 * x).abs().max() < 1e3 * x.abs().max() else "pre"


def position_near_zero(block, x):
    """Near zero every f is linear: doubling x doubles all, adds just x, or does neither."""
    x = 0.01 * x
    once, twice = block(x), block(2 * x)
    if (twice - 2 * once).norm() < 0.02 * twice.norm():
        return "none"
    return "pre" if (twice - once - x).norm() < 0.02 * x.norm() else "post"


def position_by_derivative(block, x):
    """Along x itself a norm does not change: the update of a Pre-Norm block stands still."""

    def along(h):
        return torch.autograd.functional.jvp(lambda h: (block(h),), (h,), (x,))[1][0]

    if along(1000 * x).norm() < 0.1 * x.norm():
        return "post"
    return "pre" if (along(x) - x).norm() < 1e-3 * x.norm() else "none"


def position_by_update_size(block, x):
    sizes = [(block(c * x) - c * x).norm().item() for c in (1.0, 3.0, 1000.0)]
    if sizes[2] > 900 * float(x.norm()) or abs(sizes[2] / sizes[0]) > 100:
        far = block(1000 * x).norm().item()
        return "post" if far < 100 * float(x.norm()) else "none"
    return "pre" if abs(sizes[1] / sizes[0] - 1) < 0.01 else "none"


def position_by_own_input(block, x):
    """With inputs of its own, ten times apart."""
    h = torch.randn_like(x)
    near, far = block(h), block(10 * h)
    if far.norm() < 3 * near.norm():
        return "post"
    return "pre" if (far - near - 9 * h).norm() < 0.01 * h.norm() else "none"


def position_by_limits(block, x):
    if torch.allclose(block(1e5 * x), block(1e7 * x), rtol=1e-2, atol=1e-2):
        return "post"
    update, half = block(x) - x, block(x / 2) - x / 2
    return "pre" if torch.allclose(update, half, rtol=1e-4, atol=1e-5) else "none"


gradient_profile = [
    profile_retain,
    profile_one_at_a_time,
    profile_block_by_block,
    profile_by_nudges,
    profile_from_each_state,
]
norm_position = [
    position_by_growth,
    position_by_tiny_inputs,
    position_near_zero,
    position_by_derivative,
    position_by_update_size,
    position_by_own_input,
    position_by_limits,
]
