"""What a pile of blocks owes to each of its parts, and how long it takes: measured, no training."""

import time
from collections.abc import Sequence
from statistics import median
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from blocklab.config import BlockConfig
from blocklab.lab import depth
from blocklab.reference.attention import causal_mask
from blocklab.reference.block import Decoder

Element = Literal["attention", "ffn", "norm", "residual"]


class Symptoms(NamedTuple):
    """Four numbers that tell which element a stack lacks.

    seen: how many tokens the last state of the last token depends on.
    bend: how far the most curved sublayer is from linear, on one token; 0 means linear.
    size: RMS of the last state. likeness: mean cosine between its tokens.
    """

    seen: int
    bend: float
    size: float
    likeness: float


def symptoms(without: Element | None = None, n_blocks: int = 12, T: int = 16) -> Symptoms:
    """Measure a stack of n_blocks blocks (Xavier weights, Pre-Norm) that lacks one element."""
    past = depth.sublayers(n_blocks, norm=without != "norm")
    if without == "attention":
        past = past[1::2]
    elif without == "ffn":
        past = past[0::2]
    x = depth.tokens(T, batch=1).requires_grad_()
    last = depth.travel(x, past, residual=without != "residual")[-1]
    size, likeness = float(last.detach().square().mean().sqrt()), depth.mean_cosine(last.detach())
    return Symptoms(_seen(last, x), max(map(_bend, past)), size, likeness)


def _seen(last: Tensor, x: Tensor) -> int:
    probe = depth.tokens(T=1, batch=1, seed=1)[0, 0]
    (gradient,) = torch.autograd.grad((last[0, -1] * probe).sum(), x)
    return int((gradient[0].norm(dim=-1) > 0).sum())


@torch.no_grad()
def _bend(sublayer: nn.Module) -> float:
    """|f(a + b) - f(a) - f(b)| / |f(a + b)| for a lone token, behind the norm if there is one."""
    f = sublayer[-1] if isinstance(sublayer, nn.Sequential) else sublayer
    a, b = (depth.tokens(T=1, batch=1, seed=seed) for seed in (2, 3))
    whole = f(a + b)
    return float((whole - f(a) - f(b)).norm() / whole.norm())


def shape(n_layers: int, d_model: int) -> BlockConfig:
    """A plain config of n_layers blocks with about 12 d_model^2 parameters each."""
    n_heads = d_model // 32
    return BlockConfig(
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=n_heads,
        d_ff=4 * d_model,
        n_layers=n_layers,
        vocab_size=1,
        max_T=1,
        gated=False,
        activation="relu",
    )


class Timed(NamedTuple):
    """The parameters of a pile of blocks, and milliseconds of CPU for one pass through it."""

    parameters: int
    ms: float


@torch.no_grad()
def time_blocks(n_layers: int, d_model: int, T: int = 1, repeats: int = 15) -> Timed:
    """Send T tokens through n_layers blocks: the median of several passes.

    CPU time of this process is counted, so other programs on the machine matter little.
    """
    model = Decoder(shape(n_layers, d_model))
    x, mask = torch.randn(1, T, d_model), causal_mask(T)

    def once() -> float:
        start, state = time.process_time(), x
        for block in model.blocks:
            state = block(state, mask, rotate=model.rotate)
        return 1000 * (time.process_time() - start)

    once()  # the first pass also touches every weight for the first time
    weights = sum(weight.numel() for weight in model.blocks.parameters())
    return Timed(weights, median(once() for _ in range(repeats)))


def time_shapes(shapes: Sequence[tuple[int, int]], T: int = 1) -> list[Timed]:
    """`time_blocks` for several (n_layers, d_model)."""
    return [time_blocks(n_layers, d_model, T) for n_layers, d_model in shapes]
