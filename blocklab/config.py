"""All that makes one Transformer different from another, in one place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch.nn.functional as F
from torch import Tensor

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
    "silu": F.silu,
}


@dataclass(frozen=True, kw_only=True)
class BlockConfig:
    """The shape of a model made of equal blocks.

    d_model: width of the stream; n_heads, n_kv_heads: query heads and key/value heads;
    d_ff: width inside the FFN; n_layers: blocks; vocab_size, max_T: tokens known, longest input.
    norm, eps: "rms" or "layer" (with a bias), and its epsilon.
    bias: whether attention's four projections have one.
    gated: SwiGLU, three matrices without biases; otherwise the plain FFN, two with biases.
    activation: the FFN's, a name in ACTIVATIONS; a gated one's is "silu".
    positions: "learned" (an embedding added to the token's) or "rotary" (q and k turned).
    theta: of rotary positions.
    tied: whether the LM head uses the token embedding's weights.
    Raises ValueError where these do not fit together.
    """

    d_model: int
    n_heads: int
    n_kv_heads: int
    d_ff: int
    n_layers: int
    vocab_size: int
    max_T: int
    norm: Literal["rms", "layer"] = "rms"
    eps: float = 1e-5
    bias: bool = False
    activation: Literal["gelu", "gelu_tanh", "relu", "silu"] = "silu"
    gated: bool = True
    positions: Literal["learned", "rotary"] = "rotary"
    theta: float = 10_000.0
    tied: bool = False

    def __post_init__(self) -> None:
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model {self.d_model} does not divide by n_heads {self.n_heads}")
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads {self.n_heads} does not divide by n_kv_heads {self.n_kv_heads}"
            )
        if self.activation not in ACTIVATIONS:
            known = ", ".join(ACTIVATIONS)
            raise ValueError(f"activation {self.activation!r}: choose one of {known}")
        if self.gated and self.activation != "silu":
            raise ValueError(
                f"a gated FFN is SwiGLU: its activation is silu, not {self.activation}"
            )
        if self.positions == "rotary" and self.d_head % 2:
            raise ValueError(f"rotary positions need an even d_head; here it is {self.d_head}")

    @property
    def d_head(self) -> int:
        return self.d_model // self.n_heads


gpt2_small = BlockConfig(
    d_model=768,
    n_heads=12,
    n_kv_heads=12,
    d_ff=3072,
    n_layers=12,
    vocab_size=50257,
    max_T=1024,
    norm="layer",
    bias=True,
    activation="gelu_tanh",
    gated=False,
    positions="learned",
    tied=True,
)
llama3_8b = BlockConfig(
    d_model=4096,
    n_heads=32,
    n_kv_heads=8,
    d_ff=14336,
    n_layers=32,
    vocab_size=128256,
    max_T=8192,
    theta=500_000.0,
)
llama3_70b = BlockConfig(
    d_model=8192,
    n_heads=64,
    n_kv_heads=8,
    d_ff=28672,
    n_layers=80,
    vocab_size=128256,
    max_T=8192,
    theta=500_000.0,
)
minilm = BlockConfig(
    d_model=384,
    n_heads=12,
    n_kv_heads=12,
    d_ff=1536,
    n_layers=6,
    vocab_size=30522,
    max_T=512,
    norm="layer",
    eps=1e-12,
    bias=True,
    activation="gelu",
    gated=False,
    positions="learned",
)
