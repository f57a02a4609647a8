"""What a decoder must do."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.config import BlockConfig
from blocklab.probe import Call, Outcome, Result, Step
from blocklab.reference import block as reference
from blocklab.text import Text, both

GPT = BlockConfig(
    d_model=8,
    n_heads=4,
    n_kv_heads=4,
    d_ff=12,
    n_layers=1,
    vocab_size=13,
    max_T=8,
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
    replace(GPT, norm="rms", bias=False, n_kv_heads=2, activation="relu"),
    replace(LLAMA, norm="layer", bias=True, positions="learned", n_layers=1),
)
Weights = Mapping[str, Tensor]


def Decoder(draw: Draw) -> list[Property]:
    ids, full = token_ids(draw, 2, 5), token_ids(draw, 3, GPT.max_T)
    return [
        Property(
            "gpt",
            Text(
                "GPT-2's kind (LayerNorm, plain FFN, learned positions): ids in, logits out.",
                "GPT-2와 같은 종류(LayerNorm, gate 없는 FFN, 학습된 위치)에 ids를 넣으면 logits가 "
                "나온다.",
            ),
            [
                *_built(draw, GPT),
                Call((ids,), of="m"),
                Call(
                    (full,),
                    of="m",
                    backward=draw.normal(*full.shape, GPT.vocab_size),
                    label=both("T = max_T = d_model"),
                ),
            ],
            weight=3,
        ),
        Property(
            "llama",
            Text(
                "Llama's kind (RMSNorm, SwiGLU, shared KV heads, rotary positions), in two blocks.",
                "Llama와 같은 종류(RMSNorm, SwiGLU, 공유하는 KV head, rotary 위치), block 두 개.",
            ),
            [
                *_built(draw, LLAMA),
                Call((ids,), of="m", backward=draw.normal(2, 5, LLAMA.vocab_size)),
            ],
            weight=2,
        ),
        *_built_right(draw),
        Property(
            "crossed",
            Text(
                "Each choice of the config counts by itself, in any combination.",
                "config의 선택은 어떻게 조합하든 하나하나 따로 적용된다.",
            ),
            [step for c in CROSSED for step in (*_built(draw, c), Call((ids,), of="m"))],
        ),
        *_uses(draw, ids),
    ]


def _uses(draw: Draw, ids: Tensor) -> list[Property]:
    """Tied weights, causality, and the states on the way."""
    small = _built(draw, replace(LLAMA, n_layers=1))
    return [
        Property(
            "tied",
            Text(
                "Tied: the LM head's weight is the token embedding's, one and the same Parameter.",
                "tied라면 LM head의 weight와 token embedding의 weight는 같은 Parameter 하나이다.",
            ),
            _tied(draw, ids),
        ),
        Property(
            "causal",
            Text(
                "Causal: a change in later tokens changes no logits before them.",
                "causal이다. 뒤의 token들이 바뀌어도 그 앞의 logits는 바뀌지 않는다.",
            ),
            [*small, Call((_alike_before(draw, 3),), of="m")],
            tolerance=Tolerance(absolute=math.inf),
            judge=_same_before(3),
        ),
        Property(
            "states",
            Text(
                "states gives n_layers + 1 states: the embedding, then the output of every block; "
                "none has gone through the final norm.",
                "states는 state n_layers + 1개를 돌려준다. 먼저 embedding, 그다음은 block마다의 "
                "출력이다. 어느 것도 final norm을 지나지 않았다.",
            ),
            [*_built(draw, LLAMA), Call((ids,), of="m", method="states")],
        ),
    ]


def _built_right(draw: Draw) -> list[Property]:
    """Names, shapes, and weights of one's own."""
    return [
        Property(
            "names",
            Text(
                "Every weight belongs to the decoder, under the name that the docstring gives.",
                "모든 weight가 docstring에 적힌 이름으로 decoder에 속한다.",
            ),
            [step for c in (replace(GPT, n_layers=2), LLAMA) for step in _named(draw, c)],
        ),
        Property(
            "shapes",
            Text(
                "Every matrix has the shape that the config asks for; each block has its own, and "
                "so has an LM head that is not tied.",
                "모든 행렬이 config에 맞는 shape이다. block은 저마다 자기 행렬을 가지고, tied가 "
                "아닌 LM head도 그렇다.",
            ),
            [
                Call((LLAMA,), keep="m"),
                *_parameters("blocks.0.attention.k_proj", "blocks.0.ffn.up_proj"),
                *_apart("token_embedding", "lm_head"),
                *_apart("blocks.0.attention.q_proj", "blocks.1.attention.q_proj"),
            ],
            tolerance=Tolerance(absolute=math.inf),
        ),
    ]


def token_ids(draw: Draw, B: int, T: int) -> Tensor:
    """Token ids (B, T), int64, all below the vocab_size of the configs here."""
    return torch.tensor([[draw.size(0, GPT.vocab_size - 1) for _ in range(T)] for _ in range(B)])


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


def _built(draw: Draw, config: BlockConfig) -> list[Step]:
    """A decoder with drawn weights, kept as "m"; it is one that is not tied.

    A bias of the LM head, where there is one that should not be, gets a known value as well.
    """
    return [
        Call((config,), keep="m", load=drawn_weights(draw, config)),
        Call(("lm_head",), of="m", method="get_submodule", keep="lm_head"),
        filled({"bias": draw.normal(config.vocab_size)}, of="lm_head"),
    ]


def filled(weights: Weights, of: str) -> Call:
    """Values for the parameters of a kept module, as far as it has them."""
    return Call((weights,), {"strict": False}, of=of, method="load_state_dict")


def _tied(draw: Draw, ids: Tensor) -> list[Step]:
    """The logits, and the gradient that reaches the one matrix from both of its places."""
    config = replace(GPT, tied=True)
    weights = dict(drawn_weights(draw, config))
    shared = {"weight": weights.pop("token_embedding.weight")}
    gradient = draw.normal(*ids.shape, config.vocab_size)
    return [
        Call((config,), keep="m", load=weights),
        Call(("lm_head",), of="m", method="get_submodule", keep="head", load=shared),
        Call(("token_embedding",), of="m", method="get_submodule", keep="table", load=shared),
        Call((ids,), of="m", keep="logits"),
        Call((gradient,), of="logits", method="backward"),
        Call(("weight",), of="table", method="get_parameter", keep="matrix"),
        Call(("grad",), of="matrix", method="__getattribute__", label=both("weight.grad")),
    ]


def _named(draw: Draw, config: BlockConfig) -> list[Step]:
    """Which of the weights by name find no place in a new decoder."""
    placeless = Text("weights that found no place", "자리를 찾지 못한 weight")
    return [
        Call((config,), keep="m"),
        replace(filled(drawn_weights(draw, config), of="m"), keep="keys"),
        Call((1,), of="keys", method="__getitem__", label=placeless),
    ]


def _parameters(*modules: str) -> list[Call]:
    """The weight of each module, kept under the module's name."""
    return [
        Call((f"{m}.weight",), of="m", method="get_parameter", keep=m, label=both(f"{m}.weight"))
        for m in modules
    ]


def _apart(one: str, other: str) -> list[Call]:
    """Two weights, and whether they are equal; new ones should not be, since they are random."""
    label = both(f"{one}.weight == {other}.weight")
    equal = Call((Result(other),), of=one, method="equal", label=label)
    return [*_parameters(one, other), equal]


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
