"""RMSNorm and LayerNorm, and where a block puts them."""

from jaxtyping import Float
from torch import Tensor


def rms_norm(
    x: Float[Tensor, "*batch d_model"], gain: Float[Tensor, " d_model"], eps: float
) -> Float[Tensor, "*batch d_model"]:
    """Divide each token by its root mean square over d_model, then multiply by the gain.

    x (…, d_model), gain (d_model,); eps, a small number, is added inside the root.
    The result has the shape and dtype of x; the arithmetic is done in float32.
    Source: Zhang and Sennrich (2019), equation 4.
    """
    h = x.float()
    mean_square = h.pow(2).mean(dim=-1, keepdim=True)
    return (h / (mean_square + eps).sqrt() * gain.float()).to(x.dtype)
