"""What a decoder must do."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from blocklab.checks.block_parameters import as_many
from blocklab.checks.parameters import only_these
from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.config import BlockConfig
from blocklab.probe import Call, Outcome, Step
from blocklab.reference import block as reference
from blocklab.text import Text, both

GPT = BlockConfig(
    d_model=8,
    n_heads=4,
    n_kv_heads=4,
    d_ff=12,
    n_layers=1,
    vocab_size=13,
    max_T=17,
    norm="layer",
    eps=0.2,
    bias=True,
    activation="gelu_tanh",
    gated=False,
    positions="learned",
)
LLAMA = BlockConfig(
    d_model=8,
    n_heads=2,
    n_kv_heads=1,
    d_ff=12,
    n_layers=2,
    vocab_size=13,
    max_T=9,
    eps=0.2,
    theta=50.0,
)
CROSSED = (
    replace(GPT, norm="rms", bias=False, n_kv_heads=2, activation="silu"),
    replace(
        LLAMA,
        d_model=4,
        n_heads=1,
        n_layers=1,
        norm="layer",
        gated=False,
        activation="gelu",
        theta=9.0,
    ),
    replace(GPT, n_layers=0),
)
Weights = Mapping[str, Tensor]


def Decoder(draw: Draw) -> list[Property]:
    ids = token_ids(draw, 2, 5)
    return [
        Property(
            "gpt",
            Text(
                "GPT-2's kind (LayerNorm, plain FFN, learned positions): ids in, logits out.",
                "GPT-2와 같은 종류(LayerNorm, gate 없는 FFN, 학습된 위치)에 ids를 넣으면 logits가 "
                "나온다.",
            ),
            _gpt(draw),
            weight=3,
        ),
        Property(
            "llama",
            Text(
                "Llama's kind (RMSNorm, SwiGLU, shared KV heads, rotary positions), in two blocks.",
                "Llama와 같은 종류(RMSNorm, SwiGLU, 공유하는 KV head, rotary 위치), block 두 개.",
            ),
            [
                _loaded(draw, LLAMA),
                Call((ids,), of="m", backward=draw.normal(2, 5, LLAMA.vocab_size)),
            ],
            weight=2,
        ),
        Property(
            "names",
            Text(
                "Every weight belongs to the decoder, under the name that the docstring gives and "
                "with the shape that the config asks for. Each block has its own, and there are "
                "no others.",
                "모든 weight가 docstring에 적힌 이름으로 decoder에 속하고, config에 맞는 "
                "shape이다. block마다 자기 weight가 있고, 그 밖의 weight는 없다.",
            ),
            [Call((LLAMA,))],  # the first values may be any
            judge=only_these,
        ),
        Property(
            "crossed",
            Text(
                "Each choice of the config counts by itself, in any combination.",
                "config의 선택은 어떻게 조합하든 하나하나 따로 적용된다.",
            ),
            [
                *(step for c in CROSSED for step in (_loaded(draw, c), Call((ids,), of="m"))),
                Call((token_ids(draw, *ids.shape),), of="m"),
            ],
        ),
        *_uses(draw, ids),
    ]


def _gpt(draw: Draw) -> list[Step]:
    """One token alone, then as many as there are positions; at the end, a new LM head.

    A bias of the LM head, where there is one that should not be, gets a known value as well. The
    call that `once_more` adds has the same ids and must see the new weight.
    """
    bias = {"bias": draw.normal(GPT.vocab_size)}
    full = token_ids(draw, 2, GPT.max_T)
    gradient = draw.normal(*full.shape, GPT.vocab_size)
    return [
        _loaded(draw, GPT),
        Call(("lm_head",), of="m", method="get_submodule", keep="lm_head"),
        filled(bias, "lm_head"),
        Call((token_ids(draw, 1, 1),), of="m", label=both("B = T = 1")),
        Call((full,), of="m", backward=gradient, label=both("T = max_T")),
        filled(bias | {"weight": draw.linear(GPT.d_model, GPT.vocab_size)}, "lm_head"),
    ]


def _uses(draw: Draw, ids: Tensor) -> list[Property]:
    """Tied weights, causality, and the states on the way."""
    return [
        Property(
            "tied",
            Text(
                "Tied: the LM head's weight is the token embedding's, one and the same Parameter.",
                "tied라면 LM head의 weight와 token embedding의 weight는 같은 Parameter 하나이다.",
            ),
            _tied(draw, ids),
            judge=as_many,
        ),
        Property(
            "causal",
            Text(
                "Causal: a change in later tokens changes no logits before them.",
                "causal이다. 뒤의 token들이 바뀌어도 그 앞의 logits는 바뀌지 않는다.",
            ),
            [_loaded(draw, replace(LLAMA, n_layers=1)), Call((_alike_before(draw, 3),), of="m")],
            tolerance=Tolerance(absolute=math.inf),
            judge=_same_before(3),
        ),
        Property(
            "states",
            Text(
                "states gives n_layers + 1 states: the embedding, then the output of every block; "
                "none has gone through the final norm, and gradients flow back through them.",
                "states는 state n_layers + 1개를 돌려준다. 먼저 embedding, 그다음은 block마다의 "
                "출력이다. 어느 것도 final norm을 지나지 않았고, gradient가 거꾸로 흐른다.",
            ),
            [
                _loaded(draw, replace(GPT, n_layers=2, activation="relu")),
                Call((ids,), of="m", method="states", backward=draw.normal(2, 5, GPT.d_model)),
            ],
        ),
    ]


def token_ids(draw: Draw, B: int, T: int) -> Tensor:
    """Token ids (B, T), int64, all below the vocab_size of the configs here; the last is 0."""
    ids = [draw.size(0, GPT.vocab_size - 1) for _ in range(B * T - 1)]
    return torch.tensor([*ids, 0]).view(B, T)


def _alike_before(draw: Draw, t: int) -> Tensor:
    """Two texts (2, t + 2) that differ in every token from position t on, and in none before."""
    ids = token_ids(draw, 1, t + 2).repeat(2, 1)
    ids[1, t:] = (ids[1, t:] + 1) % GPT.vocab_size
    return ids


def drawn_weights(draw: Draw, config: BlockConfig) -> Weights:
    """A drawn value for every parameter that a decoder of this config has, by name."""
    return {name: _weight(draw, name, *shape) for name, shape in _shapes(config).items()}


@functools.cache
def _shapes(config: BlockConfig) -> Mapping[str, Sequence[int]]:
    return {name: p.shape for name, p in reference.Decoder(config).named_parameters()}


def _weight(draw: Draw, name: str, *shape: int) -> Tensor:
    if len(shape) == 1:
        return draw.normal(*shape) if name.endswith("bias") else draw.gain(*shape)
    return draw.normal(*shape) if "embedding" in name else draw.linear(shape[1], shape[0])


def _loaded(draw: Draw, config: BlockConfig) -> Call:
    """A decoder with drawn weights, kept as "m"."""
    return Call((config,), keep="m", load=drawn_weights(draw, config))


def filled(weights: Weights, of: str) -> Call:
    """Values for the parameters of a kept module, as far as it has them."""
    return Call((weights,), {"strict": False}, of=of, method="load_state_dict")


def _tied(draw: Draw, ids: Tensor) -> list[Step]:
    """The logits, when the one matrix is written to at its first place, then at its other."""
    config = replace(LLAMA, n_layers=0, tied=True)
    weights = dict(drawn_weights(draw, config))
    last = {"weight": weights.pop("token_embedding.weight")}
    first = {"weight": draw.normal(*last["weight"].shape)}
    return [
        Call((config,), keep="m", load=weights),
        Call(("lm_head",), of="m", method="get_submodule", keep="head", load=first),
        Call(("token_embedding",), of="m", method="get_submodule", keep="table", load=last),
        Call((ids,), of="m"),
    ]


def _same_before(t: int) -> Callable[[list[Outcome], list[Outcome]], Text | None]:
    """A judge: the last outcome is logits (2, T, V) of two texts that are alike before t."""

    def judge(got: list[Outcome], want: list[Outcome]) -> Text | None:
        one, other = got[-1].value[:, :t]
        moved = ~torch.isclose(one, other, rtol=1e-4, atol=1e-5)
        if not moved.any():
            return None
        return Text(
            "Tokens from position {t} on changed, and so did the logits at position {seen}.",
            "위치 {t}부터 token을 바꾸었더니 위치 {seen}의 logits까지 바뀌었습니다.",
        ).fill(t=t, seen=int(moved.any(-1).nonzero()[0]))

    return judge
