"""What depth does to a signal and to its gradient, measured at initialisation, before any training.

The blocks are real ones (causal self-attention with one head, and an FFN four times as wide), in
float64, so that neither 1e+20 nor 1e-20 is lost. Every measurement is seeded.
"""

from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn

State = Float[Tensor, "*batch T d_model"]
Sublayer = Callable[[Tensor], Tensor]


def xavier(weight: Tensor) -> None:
    """Variance 2 / (d_in + d_out). Source: Glorot and Bengio (2010), equation 12."""
    nn.init.xavier_normal_(weight)


def torch_default(weight: Tensor) -> None:
    """What nn.Linear does by itself: variance 1 / (3 d_in)."""
    nn.init.kaiming_uniform_(weight, a=5**0.5)


def fan_in(weight: Tensor) -> None:
    """Variance 1 / d_in: a linear map keeps the size of what it maps."""
    nn.init.normal_(weight, std=weight.shape[1] ** -0.5)


def linear(d_in: int, d_out: int) -> nn.Linear:
    return nn.Linear(d_in, d_out, bias=False, dtype=torch.float64)


def rms(d_model: int) -> nn.RMSNorm:
    return nn.RMSNorm(d_model, elementwise_affine=False)


class Attention(nn.Module):
    """Causal self-attention with one head: every token mixes itself with those before it."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            linear(d_model, d_model) for _ in range(4)
        )

    def forward(self, x: State) -> State:
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(mixed)


class FeedForward(nn.Module):
    """Out to 4 d_model, GELU, and back to d_model, for each token by itself."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.up_proj = linear(d_model, 4 * d_model)
        self.down_proj = linear(4 * d_model, d_model)

    def forward(self, x: State) -> State:
        return self.down_proj(nn.functional.gelu(self.up_proj(x)))


def sublayers(
    n_blocks: int,
    d_model: int = 64,
    *,
    norm: bool = False,
    init: Callable[[Tensor], None] = xavier,
    scale_output: bool = False,
    seed: int = 0,
) -> list[nn.Module]:
    """The 2 n_blocks sublayers of a decoder: attention, FFN, attention, FFN, …

    norm: each reads its input through an RMS norm (Pre-Norm). init: fills one weight in place.
    scale_output: the writing weight of each is divided by the root of their number, as in GPT-2.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = [kind(d_model) for _ in range(n_blocks) for kind in (Attention, FeedForward)]
        for weight in (w for sublayer in made for w in sublayer.parameters()):
            init(weight)
    if scale_output:
        for sublayer in made:
            writing_weight(sublayer).data /= len(made) ** 0.5
    return [nn.Sequential(rms(d_model), s) if norm else s for s in made]


def writing_weight(sublayer: nn.Module) -> nn.Parameter:
    """The weight that writes to the stream, a sublayer's last: out_proj, or down_proj."""
    return list(sublayer.parameters())[-1]


def tokens(T: int = 16, d_model: int = 64, *, batch: int = 2, seed: int = 0) -> State:
    """Standard normal tokens (batch, T, d_model): no two alike."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, T, d_model, generator=generator, dtype=torch.float64)


def travel(x: State, past: Iterable[Sublayer], residual: bool) -> list[State]:
    """All states of x, first to last: each sublayer adds to the stream, or replaces it."""
    states = [x]
    for sublayer in past:
        written = sublayer(states[-1])
        states.append(states[-1] + written if residual else written)
    return states


def gradient_ratio(past: Iterable[Sublayer], residual: bool, x: State, probe: State) -> float:
    """The gradient at the input divided by the one at the output, which is the probe.

    The loss is (x_L * probe).sum(). 1 means that a gradient arrives as large as it set out.
    """
    x = x.clone().requires_grad_()
    end = travel(x, past, residual)[-1]
    (gradient,) = torch.autograd.grad((end * probe).sum(), x)
    return float(gradient.norm() / probe.norm())


def gradient_by_depth(depths: Iterable[int], residual: bool, seeds: int = 3, **how) -> list[float]:
    """`gradient_ratio` for each number of blocks: the median over seeds.

    how: passed on to `sublayers`.
    """

    def median(n_blocks: int) -> float:
        ratios = [
            gradient_ratio(
                sublayers(n_blocks, seed=seed, **how),
                residual,
                tokens(seed=seed),
                tokens(seed=seed + 1000),
            )
            for seed in range(seeds)
        ]
        return float(torch.tensor(ratios, dtype=torch.float64).median())

    return [median(n) for n in depths]


def mean_cosine(x: State) -> float:
    """How alike the tokens of a sequence are: the mean cosine over all pairs of two tokens."""
    unit = nn.functional.normalize(x, dim=-1)
    pairs = unit @ unit.transpose(-1, -2)
    T = x.shape[-2]
    return float((pairs.sum((-1, -2)) - T).mean() / (T * (T - 1)))
