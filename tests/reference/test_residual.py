"""Unit 01's references equal PyTorch in value and gradient."""

import pytest
import torch
from torch import nn

from blocklab.reference import residual


def sublayers(d: int, count: int, scale: float = 0.8) -> list[nn.Module]:
    torch.manual_seed(7)
    linears = [nn.Linear(d, d) for _ in range(count)]
    for linear in linears:
        nn.init.normal_(linear.weight, std=scale / d**0.5)
    return [nn.Sequential(linear, nn.Tanh()) for linear in linears]


def test_the_sum_by_hand_is_pytorchs():
    x, delta = torch.tensor([1.0, 2, -1, 0]), torch.tensor([0.2, -0.5, 0.3, 0.1])
    torch.testing.assert_close(torch.tensor(residual.add_by_hand), torch.add(x, delta))


def test_residual_add_is_torch_add_and_both_paths_get_the_whole_gradient():
    x, delta, g = (torch.randn(2, 3, 5, requires_grad=True) for _ in range(3))
    y = residual.residual_add(x, delta)
    assert torch.equal(y, torch.add(x, delta))
    for gradient in torch.autograd.grad((y * g).sum(), (x, delta)):
        assert torch.equal(gradient, g)


@pytest.mark.parametrize("shape", [(5,), (3, 5), (1, 3, 5), (2, 3, 1), (2, 5, 3), ()])
def test_residual_add_refuses_another_shape(shape):
    with pytest.raises(ValueError, match=r"x is \(2, 3, 5\)"):
        residual.residual_add(torch.zeros(2, 3, 5), torch.zeros(shape))


def test_run_stream_has_the_states_of_the_same_modules_run_one_by_one():
    x, f = torch.randn(2, 3, 5), sublayers(5, 4)
    states = residual.run_stream(x, f)
    assert len(states) == 5
    assert states[0] is x
    for before, after, sublayer in zip(states[:-1], states[1:], f, strict=True):
        torch.testing.assert_close(after, before + sublayer(before))
    assert residual.run_stream(x, []) == [x]


def test_updates_are_torch_diff_and_sum_to_the_whole_way():
    states = residual.run_stream(torch.randn(2, 3, 5), sublayers(5, 4))
    written = residual.updates(states)
    torch.testing.assert_close(torch.stack(written), torch.diff(torch.stack(states), dim=0))
    torch.testing.assert_close(torch.stack(written).sum(0), states[-1] - states[0])
    assert residual.updates(states[:1]) == []


def test_a_new_block_is_the_identity_and_only_scale_learns_on_the_first_step():
    x, (f,) = torch.randn(2, 3, 5), sublayers(5, 1)
    block = residual.ResidualBlock(f)
    assert torch.equal(block(x), x)
    assert set(block.state_dict()) == {"scale", "sublayer.0.weight", "sublayer.0.bias"}
    block(x).sum().backward()
    torch.testing.assert_close(block.scale.grad, f(x).sum())
    assert all(not p.grad.any() for p in f.parameters() if p.grad is not None)


def test_a_block_with_scale_one_is_a_plain_residual_addition():
    x, (f,) = torch.randn(2, 3, 5), sublayers(5, 1)
    block = residual.ResidualBlock(f)
    nn.init.ones_(block.scale)
    torch.testing.assert_close(block(x), residual.residual_add(x, f(x)))


@pytest.mark.parametrize("residually", [True, False])
@pytest.mark.parametrize("count", [0, 1, 6])
def test_input_gradient_norm_is_that_of_the_product_of_jacobians(count, residually):
    x, probe, f = torch.randn(2, 4), torch.randn(2, 4), sublayers(4, count)
    through, state = torch.eye(8), x
    for sublayer in f:
        jacobian = torch.autograd.functional.jacobian(sublayer, state).reshape(8, 8)
        through = (jacobian + residually * torch.eye(8)) @ through
        state = sublayer(state) + residually * state
    expected = (probe.flatten() @ through).norm().item()
    assert residual.input_gradient_norm(f, x, probe, residually) == pytest.approx(expected, 1e-4)


def test_input_gradient_norm_leaves_nothing_behind():
    x, f = torch.randn(2, 4, requires_grad=True), sublayers(4, 2)
    before = x.detach().clone()
    first = residual.input_gradient_norm(f, x, torch.ones(2, 4), True)
    assert first == residual.input_gradient_norm(f, x, torch.ones(2, 4), True)
    assert torch.equal(x.detach(), before)
    assert x.grad is None
    assert all(p.grad is None for sublayer in f for p in sublayer.parameters())


def test_growth_by_hand_is_what_random_jacobians_do_on_average():
    torch.manual_seed(0)
    d, L, trials = 32, 20, 400
    measured = []
    for s in (0.6, 0.6 / L**0.5):
        v = torch.randn(trials, d, 1)
        start = v.square().sum()
        for _ in range(L):
            v = v + torch.randn(trials, d, d) * (s / d**0.5) @ v
        measured.append((v.square().sum() / start).item())
    assert measured == pytest.approx(residual.growth_by_hand[2:], rel=0.1)


def test_growth_by_hand_is_what_scalar_sublayers_do():
    x = torch.ones(1)
    halves = [lambda y: 0.5 * y] * 12
    grown = [residual.input_gradient_norm(halves, x, x, added) for added in (False, True)]
    assert grown == pytest.approx(residual.growth_by_hand[:2])
