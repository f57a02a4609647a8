"""Blocks, the decoder made of them, and what can be read from it or added to it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from blocklab.config import ACTIVATIONS, BlockConfig
from blocklab.reference.attention import GroupedQueryAttention, causal_mask
from blocklab.reference.ffn import FeedForward, SwiGLU, attention_parameters, ffn_parameters
from blocklab.reference.norm import RMSNorm
from blocklab.rotary import Rotary

block_nodes = (
    "x0 norm causal_attention add_attention x1 norm ffn add_ffn x2 repeat final_norm lm_head logits"
)

arrows = "input input processing processing input processing input processing history history"


class PreNormBlock(nn.Module):
    """One Pre-Norm block: x1 = x + attention(norm1(x)), then x1 + ffn(norm2(x1)).

    attention, ffn, norm1, norm2: modules, each kept under its own name.
    x and the result are (B, T, d_model); x stays as it is. The mask, and whatever else says `how`
    to attend (such as rotate=…), is for the attention alone: attention(h, mask, **how).
    Source: Radford et al. (2019), section 2.3.
    """

    def __init__(
        self, attention: nn.Module, ffn: nn.Module, norm1: nn.Module, norm2: nn.Module
    ) -> None:
        super().__init__()
        self.attention, self.ffn = attention, ffn
        self.norm1, self.norm2 = norm1, norm2

    def forward(
        self,
        x: Float[Tensor, "B T d_model"],
        mask: Bool[Tensor, "... T T"] | None = None,
        **how: Any,
    ) -> Float[Tensor, "B T d_model"]:
        x = x + self.attention(self.norm1(x), mask, **how)
        return x + self.ffn(self.norm2(x))


class PostNormBlock(nn.Module):
    """One Post-Norm block: x1 = norm1(x + attention(x)), then norm2(x1 + ffn(x1)).

    attention, ffn, norm1, norm2, x, mask, how and the result: as in `PreNormBlock`.
    Source: Vaswani et al. (2017), section 3.1.
    """

    def __init__(
        self, attention: nn.Module, ffn: nn.Module, norm1: nn.Module, norm2: nn.Module
    ) -> None:
        super().__init__()
        self.attention, self.ffn = attention, ffn
        self.norm1, self.norm2 = norm1, norm2

    def forward(
        self,
        x: Float[Tensor, "B T d_model"],
        mask: Bool[Tensor, "... T T"] | None = None,
        **how: Any,
    ) -> Float[Tensor, "B T d_model"]:
        x = self.norm1(x + self.attention(x, mask, **how))
        return self.norm2(x + self.ffn(x))


class Decoder(nn.Module):
    """Token ids in, logits out: embedding, Pre-Norm blocks, final norm, LM head. Causal.

    token_embedding: nn.Embedding(vocab_size, d_model).
    position_embedding: nn.Embedding(max_T, d_model), added to the token's, where positions are
    learned. Where they are rotary, every block's attention gets rotate=Rotary(d_head, theta).
    blocks: an nn.ModuleList of n_layers `PreNormBlock`s, each with weights of its own.
    final_norm: a norm like those in the blocks. lm_head: nn.Linear(d_model, vocab_size) without
    bias; where the config is tied, its weight is the token embedding's, one and the same Parameter.
    Source: Radford et al. (2019) and Touvron et al. (2023), depending on the config.
    """

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.position_embedding, self.rotate = None, None
        if config.positions == "learned":
            self.position_embedding = nn.Embedding(config.max_T, config.d_model)
        else:
            self.rotate = Rotary(config.d_head, config.theta)
        self.blocks = nn.ModuleList(self.new_block(config) for _ in range(config.n_layers))
        self.final_norm = self.new_norm(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tied:
            self.lm_head.weight = self.token_embedding.weight

    def new_norm(self, config: BlockConfig) -> nn.Module:
        """RMSNorm or nn.LayerNorm, with the config's eps."""
        norm = RMSNorm if config.norm == "rms" else nn.LayerNorm
        return norm(config.d_model, eps=config.eps)

    def new_block(self, config: BlockConfig) -> nn.Module:
        """A PreNormBlock of GroupedQueryAttention, SwiGLU or FeedForward, and two norms."""
        attention = GroupedQueryAttention(
            config.d_model, config.n_heads, config.n_kv_heads, config.bias
        )
        if config.gated:
            ffn = SwiGLU(config.d_model, config.d_ff)
        else:
            ffn = FeedForward(config.d_model, config.d_ff, ACTIVATIONS[config.activation])
        return PreNormBlock(attention, ffn, self.new_norm(config), self.new_norm(config))

    def states(self, ids: Int[Tensor, "B T"]) -> list[Float[Tensor, "B T d_model"]]:
        """The stream at n_layers + 1 places: the embedding, then after every block.

        ids (B, T), T <= max_T; the first token stands at position 0. No state has gone through
        the final norm.
        """
        T = ids.shape[1]
        x = self.token_embedding(ids)
        if self.position_embedding is not None:
            x = x + self.position_embedding(torch.arange(T, device=ids.device))
        states, mask = [x], causal_mask(T).to(ids.device)
        for block in self.blocks:
            states.append(block(states[-1], mask, rotate=self.rotate))
        return states

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T vocab_size"]:
        """The logits: for every token, a score for each token that may come next."""
        return self.lm_head(self.final_norm(self.states(ids)[-1]))


class ParallelBlock(nn.Module):
    """Attention and FFN side by side: x + attention(h) + ffn(h), where h = norm(x).

    attention, ffn, norm: modules, each kept under its own name. The norm is called once, and both
    sublayers read what it gives.
    x, mask, how and the result: as in `PreNormBlock`.
    Source: Wang and Komatsuzaki (2021), GPT-J; Chowdhery et al. (2022), PaLM, section 2.
    """

    def __init__(self, attention: nn.Module, ffn: nn.Module, norm: nn.Module) -> None:
        super().__init__()
        self.attention, self.ffn, self.norm = attention, ffn, norm

    def forward(
        self,
        x: Float[Tensor, "B T d_model"],
        mask: Bool[Tensor, "... T T"] | None = None,
        **how: Any,
    ) -> Float[Tensor, "B T d_model"]:
        h = self.norm(x)
        return x + self.attention(h, mask, **how) + self.ffn(h)


def count_parameters(config: BlockConfig) -> int:
    """How many learned numbers a `Decoder` of this config has, without building one.

    Biases, gains and embeddings count too; a matrix that is used twice counts once.
    """
    d = config.d_model
    norm = d if config.norm == "rms" else 2 * d
    attention = attention_parameters(d, config.n_heads, config.n_kv_heads)
    if config.bias:
        attention += 2 * d + 2 * config.n_kv_heads * config.d_head
    ffn = ffn_parameters(d, config.d_ff, config.gated)
    if not config.gated:
        ffn += config.d_ff + d
    embeddings = config.vocab_size * d * (1 if config.tied else 2)
    if config.positions == "learned":
        embeddings += config.max_T * d
    return embeddings + config.n_layers * (attention + ffn + 2 * norm) + norm


def logit_lens(
    states: Sequence[Float[Tensor, "*batch d_model"]],
    final_norm: Callable[[Tensor], Tensor],
    lm_head: Callable[[Tensor], Tensor],
) -> Float[Tensor, "states *batch vocab_size"]:
    """What the model would say if it stopped after each state: the final norm, then the LM head.

    states: n_layers + 1 tensors (…, d_model), as `Decoder.states` returns them.
    Returns all logits in one tensor (n_layers + 1, …, vocab_size), the embedding's first.
    Source: nostalgebraist (2020), "interpreting GPT: the logit lens".
    """
    return torch.stack([lm_head(final_norm(state)) for state in states])


class LoRALinear(nn.Module):
    """A frozen linear layer plus a learned update of low rank: W + (alpha / rank) B A.

    base: an nn.Linear, kept as the attribute `base`; its parameters no longer require a gradient.
    A (rank, in): a learned parameter, drawn at random. B (out, rank): a learned parameter, zero at
    first, so that a new LoRALinear gives exactly what base gives.
    x (…, in); the result is (…, out), with the base's bias if it has one.
    Source: Hu et al. (2021), section 4.1.
    """

    def __init__(self, base: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        return self.base(x) + self.scale * (x @ self.A.T @ self.B.T)

    def merged(self) -> Float[Tensor, "d_out d_in"]:
        """One weight (out, in) that does the work of both. base keeps its own."""
        return self.base.weight + self.scale * (self.B @ self.A)


@torch.no_grad()
def load_gpt2(decoder: Decoder, state_dict: Mapping[str, Tensor]) -> Decoder:
    """Copy the weights of a Hugging Face GPT-2 into a decoder of the same shape, and return it.

    decoder: a `Decoder` with a config like `gpt2_small`: norms "layer", biases, a plain FFN,
    learned positions, tied. Its parameters stay the objects they are; only their values change.
    state_dict: of a GPT2Model, or of a GPT2LMHeadModel, where every name but lm_head.weight starts
    with "transformer.". c_attn, c_proj and c_fc are Conv1D layers, whose weights are (in, out);
    c_attn holds q, k and v side by side: (d_model, 3 d_model). What is called attn.bias and
    attn.masked_bias, in older files, are masks and no weights. Nothing in it changes.
    Raises KeyError if a weight is missing.
    """
    theirs = {name.removeprefix("transformer."): value for name, value in state_dict.items()}

    def copy(name: str, *ours: str) -> None:
        weight, bias = theirs[f"{name}.weight"], theirs[f"{name}.bias"]
        weights = (weight.T if ".c_" in name else weight).chunk(len(ours))
        for layer, w, b in zip(ours, weights, bias.chunk(len(ours)), strict=True):
            decoder.get_parameter(f"{layer}.weight").copy_(w)
            decoder.get_parameter(f"{layer}.bias").copy_(b)

    decoder.get_parameter("token_embedding.weight").copy_(theirs["wte.weight"])
    decoder.get_parameter("position_embedding.weight").copy_(theirs["wpe.weight"])
    copy("ln_f", "final_norm")
    for n in range(len(decoder.blocks)):
        h, block = f"h.{n}", f"blocks.{n}"
        copy(f"{h}.ln_1", f"{block}.norm1")
        copy(f"{h}.attn.c_attn", *(f"{block}.attention.{name}_proj" for name in "qkv"))
        copy(f"{h}.attn.c_proj", f"{block}.attention.out_proj")
        copy(f"{h}.ln_2", f"{block}.norm2")
        copy(f"{h}.mlp.c_fc", f"{block}.ffn.up_proj")
        copy(f"{h}.mlp.c_proj", f"{block}.ffn.down_proj")
    return decoder


def name_the_wire(block: Any) -> str:
    """Which wire of an unknown block is wrong, found by replacing its parts and calling it.

    block: a module called as block(x), whose attributes attention, ffn, norm1 and norm2 may be
    replaced by any function of one tensor; it is yours to take apart. As it comes, x is (2, 3, 4).
    It should be a Pre-Norm block: x1 = x + attention(norm1(x)), then x1 + ffn(norm2(x1)).
    "right": it is.
    "ffn_reads_input": the FFN's branch reads x: ffn(norm2(x)).
    "no_attention_residual": x1 is attention(norm1(x)) alone.
    "no_ffn_residual": the block gives ffn(norm2(x1)) alone.
    "one_norm_twice": the FFN's branch uses norm1 again: ffn(norm1(x1)).
    "residual_normalised": x1 is norm1(x) + attention(norm1(x)).
    """
    block.norm1, block.attention = (lambda h: 2 * h), (lambda h: 5 * h)
    block.norm2, block.ffn = (lambda h: 3 * h), (lambda h: 7 * h)
    names = {
        1 + 10 + 21 * 11: "right",
        1 + 10 + 21 * 1: "ffn_reads_input",
        10 + 21 * 10: "no_attention_residual",
        21 * 11: "no_ffn_residual",
        1 + 10 + 14 * 11: "one_norm_twice",
        2 + 10 + 21 * 12: "residual_normalised",
    }
    return names[round(block(torch.ones(1)).item())]
