"""Right answers to unit 05, each written in another way."""

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

BLOCK_NODES = [
    reference.block_nodes,
    "X0 Norm Causal_Attention Add_Attention X1 Norm FFN Add_FFN X2 "
    "Repeat Final_Norm LM_Head Logits",
    "x0 norm causal_attention add_attention\nx1 norm ffn add_ffn\nx2 repeat\n"
    "final_norm lm_head logits\n",
]

ARROWS = [
    {arrow: kind.upper() for arrow, kind in reference.arrows.items()},
    dict(reversed(reference.arrows.items())),
    {**reference.arrows, "BERT → RoBERTa": "history"},
]


class _PreOneLine(nn.Module):
    def __init__(self, attention, ffn, norm1, norm2):
        super().__init__()
        self.norm1, self.attention, self.norm2, self.ffn = norm1, attention, norm2, ffn

    def forward(self, x, mask=None, **how):
        return (y := x + self.attention(self.norm1(x), mask=mask, **how)) + self.ffn(self.norm2(y))


class _PreNamedRotate(nn.Module):
    def __init__(self, attention, ffn, norm1, norm2):
        super().__init__()
        for name, part in (("attention", attention), ("ffn", ffn), ("norm1", norm1)):
            self.add_module(name, part)
        self.add_module("norm2", norm2)

    def forward(self, x, mask=None, rotate=None):
        attend = self.get_submodule("attention")
        h = self.get_submodule("norm1")(x)
        x1 = torch.add(x, attend(h, mask) if rotate is None else attend(h, mask, rotate))
        return torch.add(x1, self.get_submodule("ffn")(self.get_submodule("norm2")(x1)))


class _PreSteps(nn.Module):
    def __init__(self, attention: nn.Module, ffn: nn.Module, norm1: nn.Module, norm2: nn.Module):
        super().__init__()
        self.attention = attention
        self.ffn = ffn
        self.norm1 = norm1
        self.norm2 = norm2

    def forward(self, x, mask=None, **how):
        attend = partial(self.attention, mask=mask, **how)
        for norm, sublayer in ((self.norm1, attend), (self.norm2, self.ffn)):
            x = x + sublayer(norm(x))
        return x


class _PreCloned(_PreSteps):
    def forward(self, x, *args, **how):
        stream = x.clone()
        stream = stream + self.attention(self.norm1(stream), *args, **how)
        delta = self.ffn(self.norm2(stream))
        return torch.stack([stream, delta]).sum(0)


class _PostOneLine(_PreSteps):
    def forward(self, x, mask=None, **how):
        y = self.norm1(x + self.attention(x, mask, **how))
        return self.norm2(y + self.ffn(y))


class _PostSteps(_PreSteps):
    def forward(self, x, mask=None, **how):
        attend = partial(self.attention, mask=mask, **how)
        for norm, sublayer in ((self.norm1, attend), (self.norm2, self.ffn)):
            x = norm(torch.add(sublayer(x), x))
        return x


class _PostNamedRotate(nn.Module):
    def __init__(self, attention, ffn, norm1, norm2):
        super().__init__()
        self.attention, self.norm1 = attention, norm1
        self.ffn, self.norm2 = ffn, norm2

    def forward(self, x, mask=None, rotate=None):
        how = {} if rotate is None else {"rotate": rotate}
        residual = x
        x = self.attention(x, mask, **how)
        x = self.norm1(residual + x)
        residual = x
        return self.norm2(self.ffn(x) + residual)


class _PostStacked(_PreSteps):
    def forward(self, x, *mask, **how):
        first = torch.stack((x, self.attention(x, *mask, **how))).sum(0)
        after = self.norm1(first)
        return self.norm2(torch.stack((after, self.ffn(after))).sum(0))


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
    return _PreOneLine(attention, ffn, _norm(config), _norm(config))


class _DecoderBuffered(nn.Module):
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


class _DecoderSliced(nn.Module):
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


class _DecoderHooked(reference.Decoder):
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


class _DecoderByTable(reference.Decoder):
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
            _PreSteps(GroupedQueryAttention(*heads), ffns[config.gated](), norm(), norm())
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


def _count_on_meta(config):
    with torch.device("meta"):
        return sum(p.numel() for p in reference.Decoder(config).parameters())


def _count_blocks(c):
    attention = [(c.d_model, c.d_model)] * 2 + [(c.d_model, c.n_kv_heads * c.d_head)] * 2
    ffn = [(c.d_model, c.d_ff)] * (3 if c.gated else 2)
    weights = sum(a * b for a, b in attention + ffn)
    biases = sum(b for _, b in attention) * c.bias + (not c.gated) * (c.d_ff + c.d_model)
    norm = c.d_model * (1 + (c.norm == "layer"))
    total = c.n_layers * (weights + biases + 2 * norm) + norm
    total += c.vocab_size * c.d_model + (not c.tied) * c.vocab_size * c.d_model
    return total + (c.positions == "learned") * c.max_T * c.d_model


def _count_by_difference(config):
    """One block more, measured; the rest is what is left."""
    from dataclasses import replace

    def with_layers(n):
        return _count_on_meta(replace(config, n_layers=n))

    return with_layers(0) + config.n_layers * (with_layers(1) - with_layers(0))


def _count_tensor(config):
    return torch.tensor(_count_blocks(config))


def _lens_at_once(states, final_norm, lm_head):
    return lm_head(final_norm(torch.stack(list(states))))


def _lens_loop(states, final_norm, lm_head):
    logits = []
    for state in states:
        logits.append(lm_head(final_norm(state)).unsqueeze(0))
    return torch.cat(logits, dim=0)


def _lens_filled(states, final_norm, lm_head):
    first = lm_head(final_norm(states[0]))
    result = torch.empty(len(states), *first.shape)
    for n, state in enumerate(states):
        result[n] = lm_head(final_norm(state))
    return result


def _lens_mapped(states, final_norm, lm_head):
    return torch.stack(tuple(map(lm_head, map(final_norm, states))))


class _LoRAMerged(nn.Module):
    """Computes with the merged weight."""

    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base, self.rank, self.alpha = base, rank, alpha
        for parameter in base.parameters():
            parameter.requires_grad = False
        out_features, in_features = base.weight.shape
        self.A = nn.Parameter(torch.empty(rank, in_features))
        self.B = nn.Parameter(torch.zeros(out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)

    def merged(self):
        return self.base.weight + self.B @ self.A * (self.alpha / self.rank)

    def forward(self, x):
        return F.linear(x, self.merged(), self.base.bias)


class _LoRATwoLinears(_LoRAMerged):
    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.A), self.B) * self.alpha / self.rank


class _LoRAEinsum(_LoRAMerged):
    def forward(self, x):
        update = torch.einsum("...i,ri,or->...o", x, self.A, self.B)
        return torch.add(self.base(x), update, alpha=self.alpha / self.rank)

    def merged(self):
        weight = self.base.weight.clone()
        return torch.addmm(weight, self.B, self.A, alpha=self.alpha / self.rank)


class _LoRASmallStart(reference.LoRALinear):
    def __init__(self, base, rank, alpha):
        super().__init__(base, rank, alpha)
        self.A = nn.Parameter(0.02 * torch.randn(self.A.shape))

    @torch.no_grad()
    def merged(self):
        return torch.stack([self.base.weight, self.scale * (self.B @ self.A)]).sum(0)


def _ours(n, part):
    """Where a part of GPT-2's block n goes."""
    names = {
        "ln_1": "norm1",
        "ln_2": "norm2",
        "attn.c_proj": "attention.out_proj",
        "mlp.c_fc": "ffn.up_proj",
        "mlp.c_proj": "ffn.down_proj",
    }
    return f"blocks.{n}.{names[part]}"


def _as_state_dict(decoder, state_dict):
    """Everything in our names and layouts."""
    prefix = "transformer." if "transformer.wte.weight" in state_dict else ""
    got = {"token_embedding.weight": state_dict[f"{prefix}wte.weight"]}
    got["lm_head.weight"] = got["token_embedding.weight"]
    got["position_embedding.weight"] = state_dict[f"{prefix}wpe.weight"]
    for kind in ("weight", "bias"):
        got[f"final_norm.{kind}"] = state_dict[f"{prefix}ln_f.{kind}"]
    for n in range(len(decoder.blocks)):
        for part in ("ln_1", "ln_2", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"):
            for kind in ("weight", "bias"):
                value = state_dict[f"{prefix}h.{n}.{part}.{kind}"]
                got[f"{_ours(n, part)}.{kind}"] = value.T if value.dim() == 2 else value
        for kind in ("weight", "bias"):
            three = state_dict[f"{prefix}h.{n}.attn.c_attn.{kind}"]
            width = three.shape[-1] // 3
            for letter, value in zip("qkv", three.split(width, dim=-1), strict=True):
                turned = value.t() if kind == "weight" else value
                got[f"blocks.{n}.attention.{letter}_proj.{kind}"] = turned
    return got


def _load_strictly(decoder, state_dict):
    decoder.load_state_dict(_as_state_dict(decoder, state_dict))
    return decoder


def _load_data(decoder, state_dict):
    parameters = dict(decoder.named_parameters(remove_duplicate=False))
    for name, value in _as_state_dict(decoder, state_dict).items():
        parameters[name].data.copy_(value)
    return decoder


def _load_new_storage(decoder, state_dict):
    for name, value in _as_state_dict(decoder, state_dict).items():
        if name != "lm_head.weight":
            decoder.get_parameter(name).data = value.clone().contiguous()
    return decoder


def _load_without_gradient(decoder, state_dict):
    with torch.no_grad():
        for name, value in _as_state_dict(decoder, state_dict).items():
            owner = decoder
            *path, last = name.split(".")
            for step in path:
                owner = owner[int(step)] if step.isdigit() else getattr(owner, step)
            getattr(owner, last)[...] = value
    return decoder


def _wire_by_recording(block):
    """What each part is given, in order, when the parts write powers of ten."""
    seen = []

    def part(name, value):
        def f(h):
            seen.append((name, float(h)))
            return torch.tensor(value)

        return f

    block.norm1, block.norm2 = part("norm1", 10.0), part("norm2", 1000.0)
    block.attention, block.ffn = part("attention", 100.0), part("ffn", 10000.0)
    result = float(block(torch.tensor(1.0)))
    reader, given = seen[2]
    if reader == "norm1":
        return "one_norm_twice"
    if result == 10000:
        return "no_ffn_residual"
    names = {1.0: "ffn_reads_input", 100.0: "no_attention_residual", 110.0: "residual_normalised"}
    return names.get(given, "right")


class _Formula:
    """Adds up to a formula instead of a number."""

    def __init__(self, *terms):
        self.terms = terms

    def __add__(self, other):
        return _Formula(*self.terms, *other.terms)

    def __str__(self):
        return "+".join(sorted(self.terms))


def _wire_by_formula(block):
    def part(name):
        return lambda h: _Formula(f"{name}({h})")

    block.attention, block.ffn = part("a"), part("f")
    block.norm1, block.norm2 = part("m"), part("n")
    return {
        "a(m(x))+f(n(a(m(x))+x))+x": "right",
        "a(m(x))+f(n(x))+x": "ffn_reads_input",
        "a(m(x))+f(n(a(m(x))))": "no_attention_residual",
        "f(n(a(m(x))+x))": "no_ffn_residual",
        "a(m(x))+f(m(a(m(x))+x))+x": "one_norm_twice",
        "a(m(x))+f(n(a(m(x))+m(x)))+m(x)": "residual_normalised",
    }[str(block(_Formula("x")))]


def _wire_step_by_step(block):
    """One question after the other, each with parts that answer it."""
    x = torch.ones(2, 3, 4)
    same, nothing = nn.Identity(), torch.zeros_like

    def given(**parts):
        for name in ("attention", "ffn", "norm1", "norm2"):
            setattr(block, name, parts.get(name, same))
        return block(x)[0, 0, 0].item()

    if given(attention=nothing, ffn=nothing, norm1=nothing) == 0:
        alone = given(attention=nothing, ffn=lambda h: h + 1)
        if alone == 1:
            return "no_attention_residual"
        if alone == 2:
            return "no_ffn_residual"
        return "residual_normalised"
    if given(ffn=torch.neg) != 0:
        return "ffn_reads_input"
    return "one_norm_twice" if given(norm2=nothing) != 2 else "right"


def _wire_by_comparing(block):
    """The same parts in six blocks; one of them gives the same."""
    torch.manual_seed(3)
    names = ("norm1", "attention", "norm2", "ffn")
    parts = [nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in names]
    for name, part in zip(names, parts, strict=True):
        setattr(block, name, part)
    m, a, n, f = parts
    x = torch.randn(2, 3, 4)
    d, e = a(m(x)), m(x)
    outputs = {
        "right": x + d + f(n(x + d)),
        "ffn_reads_input": x + d + f(n(x)),
        "no_attention_residual": d + f(n(d)),
        "no_ffn_residual": f(n(x + d)),
        "one_norm_twice": x + d + f(m(x + d)),
        "residual_normalised": e + d + f(n(e + d)),
    }
    return min(outputs, key=lambda name: float((outputs[name] - block(x)).abs().max()))


CORRECT: dict[str, list] = {
    "block_nodes": BLOCK_NODES,
    "arrows": ARROWS,
    "PreNormBlock": [_PreOneLine, _PreNamedRotate, _PreSteps, _PreCloned],
    "PostNormBlock": [_PostOneLine, _PostSteps, _PostNamedRotate, _PostStacked],
    "Decoder": [_DecoderBuffered, _DecoderSliced, _DecoderHooked, _DecoderByTable],
    "count_parameters": [_count_on_meta, _count_blocks, _count_by_difference, _count_tensor],
    "logit_lens": [_lens_at_once, _lens_loop, _lens_filled, _lens_mapped],
    "LoRALinear": [_LoRAMerged, _LoRATwoLinears, _LoRAEinsum, _LoRASmallStart],
    "load_gpt2": [_load_strictly, _load_data, _load_new_storage, _load_without_gradient],
    "name_the_wire": [
        _wire_by_recording,
        _wire_by_formula,
        _wire_step_by_step,
        _wire_by_comparing,
    ],
}
