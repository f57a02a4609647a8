"""Wrong turns around the FFN, by idea."""

from blocklab.misconceptions.ffn_activations import gelu, silu
from blocklab.misconceptions.ffn_counts import attention_parameters, ffn_parameters, ffn_widths
from blocklab.misconceptions.ffn_experts import top_k_experts
from blocklab.misconceptions.ffn_gated import SwiGLU
from blocklab.misconceptions.ffn_layers import FeedForward, feed_forward
from blocklab.misconceptions.ffn_memory import ffn_as_memory
from blocklab.misconceptions.ffn_mixing import token_mixing
from blocklab.misconceptions.ffn_positions import mixes_positions

__all__ = [
    "FeedForward",
    "SwiGLU",
    "attention_parameters",
    "feed_forward",
    "ffn_as_memory",
    "ffn_parameters",
    "ffn_widths",
    "gelu",
    "mixes_positions",
    "silu",
    "token_mixing",
    "top_k_experts",
]
