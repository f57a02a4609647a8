"""Rotary position embedding, ready to use as the `rotate` of an attention layer."""

import torch
from jaxtyping import Float
from torch import Tensor


class Rotary:
    """Tells queries and keys where they stand, by turning pairs of their components.

    Component i and component i + d_head / 2 make pair i, a point in a plane. At position p it is
    turned by the angle p * theta^(-2i / d_head): pair 0 by one radian a token, the last pair
    hardly at all. A score q . k then depends on how far two tokens are apart, not on where they
    stand. Lengths stay as they are, and position 0 is not turned.

    Halves are paired, as in Hugging Face's Llama. The paper, and Meta's own checkpoints, pair
    neighbours (2i, 2i + 1): the same thing with the components in another order, but weights that
    were trained for one layout do not work in the other.
    Source: Su et al. (2021), RoFormer, section 3.2.2.
    """

    def __init__(self, d_head: int, theta: float = 10000.0) -> None:
        """d_head: even, else ValueError. theta: 10,000 in the paper, 500,000 in Llama-3."""
        if d_head % 2:
            raise ValueError(f"d_head is {d_head}: components are turned in pairs, so it is even")
        self.frequencies = 1 / theta ** (torch.arange(0, d_head, 2) / d_head)

    def __call__(
        self, x: Float[Tensor, "*batch T d_head"], offset: int = 0
    ) -> Float[Tensor, "*batch T d_head"]:
        """Turn x (…, T, d_head), whose tokens stand at positions offset, offset + 1, …

        offset: how many tokens came before, such as the length of a KV cache.
        Returns a new tensor of the shape and dtype of x; the angles are computed in float32.
        """
        positions = torch.arange(offset, offset + x.shape[-2], device=x.device)
        angles = positions[:, None] * self.frequencies.to(x.device)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
