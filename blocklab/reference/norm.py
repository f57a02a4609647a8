"""RMSNorm and LayerNorm, where a block puts them, and what that does to gradients."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

rms_by_hand = [5.0, 0.4, 1.0, -0.7, 3.0]


def rms_norm(
    x: Float[Tensor, "*batch d_model"], gain: Float[Tensor, " d_model"], eps: float
) -> Float[Tensor, "*batch d_model"]:
    """Divide each token by its root mean square over d_model, then multiply by the gain.

    x (…, d_model) and gain (d_model,), of one dtype; eps is added to the mean, inside the root.
    The result has the shape and dtype of x; the arithmetic is done in float32.
    Source: Zhang and Sennrich (2019), equation 4.
    """
    h = x.float()
    mean_square = h.pow(2).mean(dim=-1, keepdim=True)
    return (h / (mean_square + eps).sqrt() * gain.float()).to(x.dtype)


class RMSNorm(nn.Module):
    """`rms_norm` as a layer that owns its gain.

    gain: the attribute `gain`, a learned parameter (d_model,), all ones at first.
    x and the result are (…, d_model), of the dtype of the gain; the arithmetic is done in float32.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return rms_norm(x, self.gain, self.eps)


def layer_norm(
    x: Float[Tensor, "*batch d_model"],
    gain: Float[Tensor, " d_model"],
    bias: Float[Tensor, " d_model"],
    eps: float,
) -> Float[Tensor, "*batch d_model"]:
    """Subtract each token's mean, divide by its standard deviation, then gain and bias.

    x (…, d_model), gain and bias (d_model,), of one dtype. The variance divides by d_model, not
    by d_model - 1, and eps is added to it, inside the root.
    The result has the shape and dtype of x; the arithmetic is done in float32.
    Source: Ba, Kiros and Hinton (2016), equation 4.
    """
    h = x.float()
    centred = h - h.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return (centred / (variance + eps).sqrt() * gain.float() + bias.float()).to(x.dtype)


pre_norm_places = "norm attention add norm ffn add"

post_norm_places = "attention add norm ffn add norm"


def pre_norm_step(
    x: Float[Tensor, "B T d_model"],
    norm: Callable[[Tensor], Tensor],
    sublayer: Callable[[Tensor], Tensor],
) -> Float[Tensor, "B T d_model"]:
    """One Pre-Norm step: the sublayer reads the normalised stream and adds to the stream itself.

    x (B, T, d_model) stays as it is; norm and sublayer keep its shape, and the sublayer may mix
    tokens. Source: Xiong et al. (2020), figure 1 (b).
    """
    return x + sublayer(norm(x))


def post_norm_step(
    x: Float[Tensor, "B T d_model"],
    norm: Callable[[Tensor], Tensor],
    sublayer: Callable[[Tensor], Tensor],
) -> Float[Tensor, "B T d_model"]:
    """One Post-Norm step: the sublayer reads the stream, and the sum is normalised.

    x (B, T, d_model) stays as it is; norm and sublayer keep its shape, and the sublayer may mix
    tokens. Source: Vaswani et al. (2017), section 3.1.
    """
    return norm(x + sublayer(x))


def deep_norm_step(
    x: Float[Tensor, "B T d_model"],
    norm: Callable[[Tensor], Tensor],
    sublayer: Callable[[Tensor], Tensor],
    alpha: float,
) -> Float[Tensor, "B T d_model"]:
    """One DeepNorm step: Post-Norm, with the stream multiplied by alpha before the sum.

    x (B, T, d_model) stays as it is; norm and sublayer keep its shape, and the sublayer may mix
    tokens. Source: Wang et al. (2022), DeepNet, figure 2.
    """
    return norm(alpha * x + sublayer(x))


def deep_norm_constants(n_layers: int) -> tuple[float, float]:
    """DeepNorm's two numbers for a decoder of n_layers blocks: (alpha, beta).

    alpha multiplies the stream in every step. beta multiplies, once, at initialisation, the
    weights of the FFN and of the value and output projections.
    Source: Wang et al. (2022), DeepNet, figure 2, decoder-only.
    """
    return (2 * n_layers) ** 0.25, (8 * n_layers) ** -0.25


def gradient_profile(
    blocks: Sequence[Callable[[Tensor], Tensor]],
    x: Float[Tensor, "B T d_model"],
    probe: Float[Tensor, "B T d_model"],
) -> Float[Tensor, " states"]:
    """How large the gradient of (output * probe).sum() is at every state of the stream.

    blocks: L whole blocks, L >= 1, each from (B, T, d_model) to (B, T, d_model); x goes through
    them one after the other, and what leaves the last is the output. probe has the shape of x.
    Returns L + 1 norms, each over all numbers of a state: at the input of the first block first,
    then at the output of every block. The last one is the norm of the probe. x and probe stay as
    they were, with no gradient left on them.
    """
    states = [x.detach().clone().requires_grad_()]
    for block in blocks:
        states.append(block(states[-1]))
    gradients = torch.autograd.grad((states[-1] * probe).sum(), states)
    return torch.stack([gradient.norm() for gradient in gradients])


def norm_position(block: Callable[[Tensor], Tensor], x: Float[Tensor, "B T d_model"]) -> str:
    """Where an unknown block has its norm: "pre", "post" or "none", found by calling it.

    block: one of x + f(norm(x)), norm(x + f(x)) and x + f(x), from (B, T, d_model) to the same.
    norm: an RMSNorm or a LayerNorm, with any gain and bias, and an eps of 1e-12.
    f: a sublayer with no norm and no bias in it, so f(0) = 0; linear or curved, and it may mix
    tokens. f(x) has at least a fifth of x's size and at most all of it; f(c x) grows with c no
    faster than c.
    x (B, T, d_model): an input of ordinary size, in float64, as the block's weights are.
    """
    near, far = block(x), block(1000 * x)
    if far.norm() < 30 * near.norm():
        return "post"
    written, doubled = near - x, block(2 * x) - 2 * x
    return "pre" if (doubled - written).norm() < 0.01 * written.norm() else "none"


def fold_gain(
    gain: Float[Tensor, " d_model"], weight: Float[Tensor, "d_out d_model"]
) -> Float[Tensor, "d_out d_model"]:
    """The weight of a Linear after the gain of the RMSNorm in front of it has been folded in.

    gain (d_model,) of the norm; weight (d_out, d_model) of the Linear that reads rms_norm(x, gain).
    The result (d_out, d_model) is a new tensor: with it the Linear reads rms_norm(x, ones) and
    gives the same. gain and weight stay as they are. Source: SliceGPT, Ashkboos et al. (2024).
    """
    return weight * gain
