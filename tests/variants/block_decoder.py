"""Right answers to Decoder, each written in another way."""

import copy
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from blocklab.config import ACTIVATIONS
from blocklab.reference import block as reference
from blocklab.reference.attention import GroupedQueryAttention, MultiHeadAttention
from blocklab.reference.ffn import FeedForward, SwiGLU
from blocklab.reference.norm import RMSNorm
from blocklab.rotary import Rotary
from tests.variants.block_wiring import PreOneLine, PreSteps


def _norm(config):
    if config.norm == "layer":
        return nn.LayerNorm(config.d_model, config.eps)
    return RMSNorm(config.d_model, config.eps)


def _block(config):
    if config.n_kv_heads == config.n_heads:
        attention = MultiHeadAttention(config.d_model, config.n_heads, config.bias)
    else:
        attention = GroupedQueryAttention(
            config.d_model, config.n_heads, n_kv_heads=config.n_kv_heads, bias=config.bias
        )
    act = ACTIVATIONS[config.activation]
    ffn = (SwiGLU, partial(FeedForward, activation=act))[not config.gated](
        config.d_model, config.d_ff
    )
    return PreOneLine(attention, ffn, _norm(config), _norm(config))


class DecoderBuffered(nn.Module):
    """Keeps its mask and its positions as buffers, as minGPT does."""

    mask: torch.Tensor
    places: torch.Tensor

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.token_embedding = nn.Embedding(config.vocab_size, config.d_model)
        if config.positions == "learned":
            self.position_embedding = nn.Embedding(config.max_T, config.d_model)
        self.blocks = nn.ModuleList([_block(config) for _ in range(config.n_layers)])
        self.final_norm = _norm(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tied:
            self.token_embedding.weight = self.lm_head.weight
        self.register_buffer("mask", torch.ones(config.max_T, config.max_T).tril().bool())
        self.register_buffer("places", torch.arange(config.max_T), persistent=False)

    def states(self, ids):
        return self._run(ids)[0]

    def forward(self, ids):
        return self.lm_head(self._run(ids)[1])

    def _run(self, ids):
        T, how = ids.shape[1], {}
        x = self.token_embedding(ids)
        if self.config.positions == "learned":
            x = x + self.position_embedding(self.places[:T])[None]
        else:
            how["rotate"] = Rotary(self.config.d_head, self.config.theta)
        kept = [x]
        for block in self.blocks:
            x = block(x, self.mask[:T, :T], **how)
            kept.append(x)
        return kept, self.final_norm(x)


class DecoderSliced(nn.Module):
    """Adds the first T rows of the table; its forward does not go by way of states."""

    def __init__(self, config):
        super().__init__()
        d = config.d_model
        self.rotate = Rotary(d // config.n_heads, config.theta)
        self.learned = config.positions == "learned"
        self.token_embedding = nn.Embedding(num_embeddings=config.vocab_size, embedding_dim=d)
        self.position_embedding = nn.Embedding(config.max_T, d) if self.learned else None
        self.blocks = nn.ModuleList()
        for _ in range(config.n_layers):
            self.blocks.append(_block(config))
        self.final_norm = _norm(config)
        self.lm_head = nn.Linear(d, config.vocab_size, False)
        if config.tied:
            self.lm_head.weight = self.token_embedding.weight

    def start(self, ids):
        x = F.embedding(ids, self.token_embedding.weight)
        if self.position_embedding is None:
            return x
        return x + self.position_embedding.weight[: ids.shape[-1]]

    def step(self, block, x):
        T = x.shape[-2]
        mask = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1).logical_not()
        return block(x, mask) if self.learned else block(x, mask=mask, rotate=self.rotate)

    def states(self, ids):
        states = (self.start(ids),)
        for block in self.blocks:
            states = (*states, self.step(block, states[-1]))
        return states

    def forward(self, ids):
        x = self.start(ids)
        for block in self.blocks:
            x = self.step(block, x)
        return F.linear(self.final_norm(x), self.lm_head.weight)


class DecoderHooked(reference.Decoder):
    """States caught by forward hooks, while forward runs."""

    def forward(self, ids):
        T = ids.size(1)
        x = self.token_embedding(ids)
        if self.position_embedding is not None:
            x = x + self.position_embedding(torch.arange(T).expand_as(ids))
        mask = torch.arange(T)[:, None] >= torch.arange(T)[None]
        self.first = x
        for block in self.blocks:
            x = block(x, mask[None, None], rotate=self.rotate)
        return self.lm_head(self.final_norm(x))

    def states(self, ids):
        caught = []
        hooks = [
            block.register_forward_hook(lambda module, args, output: caught.append(output))
            for block in self.blocks
        ]
        self(ids)
        for hook in hooks:
            hook.remove()
        return [self.first, *caught]


class DecoderByTable(reference.Decoder):
    """Builds its parts from tables of constructors."""

    def __init__(self, config):
        nn.Module.__init__(self)
        norms = {"rms": RMSNorm, "layer": nn.LayerNorm}
        norm = partial(norms[config.norm], config.d_model, eps=config.eps)
        sizes = config.d_model, config.d_ff
        ffns = {True: lambda: SwiGLU(*sizes), False: lambda: FeedForward(*sizes, act)}
        act = ACTIVATIONS[config.activation]
        heads = config.d_model, config.n_heads, config.n_kv_heads, config.bias
        blocks = [
            PreSteps(GroupedQueryAttention(*heads), ffns[config.gated](), norm(), norm())
            for _ in range(config.n_layers)
        ]
        self.token_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.position_embedding = None
        self.rotate = None
        if config.positions == "rotary":
            self.rotate = Rotary(config.d_head, theta=config.theta)
        else:
            self.position_embedding = nn.Embedding(config.max_T, config.d_model)
        self.blocks = nn.ModuleList(blocks)
        self.final_norm = norm()
        self.lm_head = nn.Linear(*reversed(self.token_embedding.weight.shape), bias=False)
        if config.tied:
            del self.lm_head.weight
            self.lm_head.weight = self.token_embedding.weight


class DecoderCopied(reference.Decoder):
    """Its blocks are copies of one: equal at first, each with weights of its own."""

    def __init__(self, config):
        super().__init__(config)
        block = self.new_block(config)
        self.blocks = nn.ModuleList(copy.deepcopy(block) for _ in range(config.n_layers))
