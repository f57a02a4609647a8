"""Gradients and first steps at initialisation, by where a stack has its norms.

The sublayers are those of `blocklab.lab.depth`, attention and FFN in turn with Xavier weights, and
the norms are RMS norms with gain 1. Input and targets are random, and nothing is trained.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from blocklab.lab.depth import rms, sublayers, tokens
from blocklab.reference.norm import (
    deep_norm_constants,
    deep_norm_step,
    gradient_profile,
    post_norm_step,
    pre_norm_step,
)

Place = Literal["none", "pre", "post", "alpha", "deep"]
D_MODEL, VOCAB_SIZE = 64, 100
RATE = 0.01

State = Float[Tensor, "B T d_model"]
norm = rms(D_MODEL)


class Stack(nn.Module):
    """A stack of n_layers blocks, two sublayers each, with its norms in one place.

    place: "none" x + f(x); "pre" x + f(norm(x)), and a final norm; "post" norm(x + f(x));
    "deep" DeepNorm: norm(alpha x + f(x)), with beta on FFN, value and output weights;
    "alpha" the same without beta.
    Source: Wang et al. (2022), figure 2, for a decoder of n_layers blocks.
    """

    def __init__(self, place: Place, n_layers: int, seed: int = 0) -> None:
        super().__init__()
        self.place = place
        self.alpha, beta = deep_norm_constants(n_layers)
        self.sublayers = nn.ModuleList(sublayers(n_layers, D_MODEL, seed=seed))
        if place == "deep":
            for name, weight in self.named_parameters():
                if "q_proj" not in name and "k_proj" not in name:
                    weight.data *= beta

    def step(self, x: State, sublayer: nn.Module) -> State:
        match self.place:
            case "none":
                return x + sublayer(x)
            case "pre":
                return pre_norm_step(x, norm, sublayer)
            case "post":
                return post_norm_step(x, norm, sublayer)
        return deep_norm_step(x, norm, sublayer, self.alpha)

    def states(self, x: State) -> list[State]:
        """The 2 n_layers + 1 states of the stream, the input first."""
        states = [x]
        for sublayer in self.sublayers:
            states.append(self.step(states[-1], sublayer))
        return states

    def read(self, last: State) -> State:
        """What the LM head is given: the last state, in Pre-Norm through a final norm."""
        return norm(last) if self.place == "pre" else last


def sizes(states: Iterable[Tensor]) -> Float[Tensor, " n"]:
    """The RMS of each tensor, over all its numbers."""
    return torch.stack([state.detach().square().mean().sqrt() for state in states])


def state_gradients(
    place: Place, n_layers: int, seed: int = 0, *, final: bool = True
) -> Float[Tensor, " n_states"]:
    """How strongly the output feels each state: norms of d(output * probe).sum() / d state.

    The probe is random and linear, and its own norm is divided out. final: False takes the last
    state itself as the output, before a final norm. Returns 2 n_layers + 1 numbers, input first.
    """
    stack = Stack(place, n_layers, seed)
    steps: list[Callable] = [partial(stack.step, sublayer=sublayer) for sublayer in stack.sublayers]
    if final and place == "pre":
        steps.append(norm)
    probe = tokens(seed=seed + 1000)
    profile = gradient_profile(steps, tokens(seed=seed), probe)
    return profile[: 2 * n_layers + 1] / probe.norm()


class Measured(NamedTuple):
    """Numbers at initialisation, each (depths, seeds).

    entry: norm of the loss's gradient at the input; last_ffn: at the last weight of the last FFN;
    step: how far one step of SGD moves the output, as a share of the output's norm.
    """

    entry: Tensor
    last_ffn: Tensor
    step: Tensor


def by_depth(place: Place, depths: Sequence[int], seeds: int = 8) -> Measured:
    """Measure stacks of several depths, in blocks, with several seeds each.

    The loss is the cross-entropy of a random LM head on random targets; a step is RATE times
    the gradient of every weight of the stack.
    """
    rows = [[_measure(place, n, seed) for seed in range(seeds)] for n in depths]
    return Measured(*torch.tensor(rows).permute(2, 0, 1))


def _measure(place: Place, n_layers: int, seed: int) -> tuple[float, float, float]:
    stack, x = Stack(place, n_layers, seed), tokens(seed=seed).requires_grad_()
    loss, before = random_loss(stack, x, seed + 1000)
    entry, *gradients = torch.autograd.grad(loss, [x, *stack.parameters()])
    with torch.no_grad():
        for weight, gradient in zip(stack.parameters(), gradients, strict=True):
            weight -= RATE * gradient
        _, after = random_loss(stack, x, seed + 1000)
    step = (after - before).norm() / before.norm()
    return entry.norm().item(), gradients[-1].norm().item(), step.item()


def random_loss(stack: Stack, x: State, seed: int) -> tuple[Tensor, State]:
    """The cross-entropy of a random LM head on random targets, and what the head was given."""
    random = torch.Generator().manual_seed(seed)
    head = torch.randn(D_MODEL, VOCAB_SIZE, generator=random, dtype=x.dtype) / D_MODEL**0.5
    targets = torch.randint(VOCAB_SIZE, x.shape[:-1], generator=random)
    output = stack.read(stack.states(x)[-1])
    loss = nn.functional.cross_entropy((output @ head).flatten(0, -2), targets.flatten())
    return loss, output


def exponent(depths: Sequence[float], values: Iterable[float | Tensor]) -> float:
    """The p of the power law depth^p that fits best: the slope in a log-log plot."""
    x = torch.tensor(depths, dtype=torch.float64).log()
    y = torch.tensor([float(value) for value in values], dtype=torch.float64).log()
    x, y = x - x.mean(), y - y.mean()
    return float((x @ y) / (x @ x))
