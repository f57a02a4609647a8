"""The residual stream: what is added to it, and how far a gradient gets along it."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

add_by_hand = [1.2, 1.5, -0.7, 0.1]

nine_nodes = "x0 norm_attention add_attention x1 norm_ffn add_ffn x2 repeat final_norm"


def residual_add(
    x: Float[Tensor, "*batch d_model"], delta: Float[Tensor, "*batch d_model"]
) -> Float[Tensor, "*batch d_model"]:
    """Add what a sublayer wrote to the stream.

    x and delta (…, d_model) have one shape; the result is a new tensor of that shape.
    Raises ValueError if the shapes differ: nothing is broadcast.
    """
    if x.shape != delta.shape:
        raise ValueError(f"x is {tuple(x.shape)}, delta is {tuple(delta.shape)}")
    return x + delta


def run_stream(
    x0: Float[Tensor, "*batch d_model"], sublayers: Sequence[Callable[[Tensor], Tensor]]
) -> list[Float[Tensor, "*batch d_model"]]:
    """Carry x0 past all sublayers and keep every state: X_{l+1} = X_l + Delta_l(X_l).

    x0 (…, d_model); L sublayers, each from (…, d_model) to (…, d_model) and called once.
    Returns the list of the L + 1 states, x0 first. x0 and the list of sublayers stay as they are.
    """
    states = [x0]
    for sublayer in sublayers:
        states.append(states[-1] + sublayer(states[-1]))
    return states


def updates(
    states: Sequence[Float[Tensor, "*batch d_model"]],
) -> list[Float[Tensor, "*batch d_model"]]:
    """What each sublayer wrote, recovered from the states alone.

    states: L + 1 tensors (…, d_model), at least one, as `run_stream` returns them.
    Returns the list of the L updates, which sum to the last state minus the first.
    """
    return [states[n + 1] - states[n] for n in range(len(states) - 1)]


class ResidualBlock(nn.Module):
    """A sublayer on the stream, with a learned share of what it writes: x + scale * sublayer(x).

    sublayer: a module from (…, d_model) to (…, d_model), kept as the attribute `sublayer`.
    scale: the attribute `scale`, a learned parameter: one number, of shape (), that starts at 0,
    so that a new block is the identity. x and the result are (…, d_model).
    Source: ReZero, Bachlechner et al. (2020), equation 1.
    """

    def __init__(self, sublayer: nn.Module) -> None:
        super().__init__()
        self.sublayer = sublayer
        self.scale = nn.Parameter(torch.zeros(()))

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return x + self.scale * self.sublayer(x)


growth_by_hand = [0.5**12, 1.5**12, (1 + 0.6**2) ** 20, (1 + 0.6**2 / 20) ** 20]


def input_gradient_norm(
    sublayers: Sequence[Callable[[Tensor], Tensor]],
    x: Float[Tensor, "*batch d_model"],
    probe: Float[Tensor, "*batch d_model"],
    residual: bool,
) -> float:
    """How strongly the input is felt at the end: the norm of d(x_L * probe).sum() / dx.

    x (…, d_model) goes past L sublayers, L >= 0, and becomes x_L; probe has the shape of x_L.
    residual: True adds what each sublayer gives to the stream, False lets it replace the stream.
    Returns the root of the sum of all squares of the gradient. x and probe stay as they were, with
    no gradient left on them; x may or may not require a gradient already.
    """
    start = x.detach().clone().requires_grad_()
    end = start
    for sublayer in sublayers:
        delta = sublayer(end)
        end = end + delta if residual else delta
    (gradient,) = torch.autograd.grad((end * probe).sum(), start)
    return gradient.norm().item()
