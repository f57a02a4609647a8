"""What a decoder must do, how many parameters it has, and how GPT-2's weights get into it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.config import BlockConfig, gpt2_small, llama3_8b, llama3_70b, minilm
from blocklab.probe import Call, Other, Outcome, Result, Step
from blocklab.reference import block as reference
from blocklab.text import Text, both

GPT = BlockConfig(
    d_model=8,
    n_heads=4,
    n_kv_heads=4,
    d_ff=12,
    n_layers=2,
    vocab_size=13,
    max_T=9,
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
    replace(GPT, norm="rms", bias=False, n_kv_heads=2, activation="relu", n_layers=1),
    replace(LLAMA, norm="layer", bias=True, positions="learned", n_layers=1),
)
Weights = Mapping[str, Tensor]


def Decoder(draw: Draw) -> list[Property]:
    ids, gradient = _ids(draw, 2, 5), draw.normal(2, 5, GPT.vocab_size)
    llama = _built(draw, LLAMA)
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
                Call((ids,), of="m", backward=gradient),
                Call((_ids(draw, 1, 1),), of="m", label=both("T = 1")),
                Call((_ids(draw, 1, GPT.max_T),), of="m", label=both("T = max_T")),
                Call((_ids(draw, 3, GPT.d_model),), of="m", label=both("T = d_model")),
            ],
            weight=3,
        ),
        Property(
            "llama",
            Text(
                "Llama's kind (RMSNorm, SwiGLU, grouped KV heads, rotary positions).",
                "Llama와 같은 종류(RMSNorm, SwiGLU, 묶인 KV head, rotary 위치).",
            ),
            [*llama, Call((ids,), of="m", backward=gradient)],
            weight=2,
        ),
        Property(
            "crossed",
            Text(
                "Each choice of the config counts by itself, in any combination.",
                "config의 선택은 어떤 조합에서든 하나하나 따로 적용된다.",
            ),
            [step for c in CROSSED for step in (*_built(draw, c), Call((ids,), of="m"))],
        ),
        Property(
            "tied",
            Text(
                "Tied: the LM head's weight is the token embedding's, the same Parameter, so what "
                "one learns the other learns.",
                "tied라면 LM head의 weight는 token embedding의 weight, 같은 Parameter이다. 한쪽이 "
                "배우면 다른 쪽도 배운다.",
            ),
            _tied(draw, ids, gradient),
        ),
        Property(
            "causal",
            Text(
                "Causal: a change in a later token changes no logits before it.",
                "causal이다. 뒤의 token이 바뀌어도 그 앞의 logits는 바뀌지 않는다.",
            ),
            [*llama, Call((ids,), of="m"), Call((_changed_from(ids, 3),), of="m")],
            tolerance=Tolerance(absolute=math.inf),
            judge=_same_before(3),
        ),
        Property(
            "states",
            Text(
                "states gives n_layers + 1 states: the embedding, then after every block; none of "
                "them through the final norm.",
                "states는 state를 n_layers + 1개 준다. embedding이 먼저, 그다음은 block마다 그 "
                "출력이다. 어느 것도 final norm을 지나지 않았다.",
            ),
            [*llama, Call((ids,), of="m", method="states", backward=draw.normal(2, 5, 8))],
        ),
        Property(
            "parts",
            Text(
                "Its parts are modules of its own, under the names in the docstring.",
                "부품은 decoder의 module이고, docstring에 적힌 이름을 쓴다.",
            ),
            _parts("token_embedding", "position_embedding", "blocks.1.norm2", "final_norm"),
        ),
    ]


def _ids(draw: Draw, B: int, T: int) -> Tensor:
    """Token ids (B, T), int64, all below the vocab_size of the configs here."""
    return torch.tensor([[draw.size(0, GPT.vocab_size - 1) for _ in range(T)] for _ in range(B)])


def _changed_from(ids: Tensor, t: int) -> Tensor:
    """The same ids with every token from position t on replaced by another."""
    changed = ids.clone()
    changed[:, t:] = (changed[:, t:] + 1) % GPT.vocab_size
    return changed


def _weights(draw: Draw, config: BlockConfig) -> Weights:
    """A drawn value for every parameter that a decoder of this config has, by name."""
    shapes = {n: p.shape for n, p in reference.Decoder(config).named_parameters()}
    return {name: _weight(draw, name, *shape) for name, shape in shapes.items()}


def _weight(draw: Draw, name: str, *shape: int) -> Tensor:
    if len(shape) == 1:
        return draw.normal(*shape) if name.endswith("bias") else draw.gain(*shape)
    return draw.normal(*shape) if "embedding" in name else draw.linear(shape[1], shape[0])


def _built(draw: Draw, config: BlockConfig) -> list[Step]:
    """A decoder with drawn weights, kept as "m"; it is one that is not tied."""
    return [
        Call((config,), keep="m", load=_weights(draw, config)),
        _filled({"lm_head.bias": draw.normal(config.vocab_size)}),
    ]


def _filled(weights: Weights, of: str = "m") -> Call:
    """Values for parameters that may be there or not, such as a bias that should not."""
    return Call((weights,), {"strict": False}, of=of, method="load_state_dict")


def _tied(draw: Draw, ids: Tensor, gradient: Tensor) -> list[Step]:
    """The logits, and the gradient that reaches the one matrix from both of its places."""
    config = replace(GPT, tied=True, n_layers=1)
    weights = dict(_weights(draw, config))
    shared = weights.pop("token_embedding.weight")
    return [
        Call((config,), keep="m", load=weights),
        _filled({"token_embedding.weight": shared, "lm_head.weight": shared}),
        Call((ids,), of="m", keep="logits"),
        Call((gradient,), of="logits", method="backward"),
        Call(("token_embedding.weight",), of="m", method="get_parameter", keep="matrix"),
        Call(("grad",), of="matrix", method="__getattribute__"),
    ]


def _parts(*names: str) -> list[Step]:
    return [
        Call((GPT,), keep="m"),
        *(Call((name,), of="m", method="get_submodule", label=both(name)) for name in names),
    ]


def _same_before(t: int) -> Callable[[list[Outcome], list[Outcome]], Text | None]:
    """A judge: the last two outcomes are logits (B, T, V) that agree before position t."""

    def judge(got: list[Outcome], want: list[Outcome]) -> Text | None:
        before, after = (outcome.value[:, :t] for outcome in got[-2:])
        moved = ~torch.isclose(before, after, rtol=1e-4, atol=1e-5)
        if not moved.any():
            return None
        return Text(
            "The token at position {t} changed, and so did the logits at position {seen}.",
            "위치 {t}의 token을 바꾸었더니 위치 {seen}의 logits도 바뀌었습니다.",
        ).fill(t=t, seen=int(moved.any(-1).any(0).nonzero()[0]))

    return judge


EXACT = Tolerance(relative=0.0)


def count_parameters(draw: Draw) -> list[Property]:
    heads, d_head, kv = draw.size(2, 5) * 2, draw.size(3, 6) * 2, 2
    small = BlockConfig(
        d_model=heads * d_head,
        n_heads=heads,
        n_kv_heads=kv,
        d_ff=draw.size(80, 200),
        n_layers=draw.size(2, 6),
        vocab_size=draw.size(200, 400),
        max_T=draw.size(20, 60),
    )
    plain = replace(small, gated=False, activation="gelu")
    switched = {
        both("gated=False"): plain,
        both('norm="layer"'): replace(small, norm="layer"),
        both("bias=True"): replace(small, bias=True),
        both('positions="learned"'): replace(small, positions="learned"),
        both("tied=True"): replace(small, tied=True),
        both("n_kv_heads = n_heads"): replace(small, n_kv_heads=heads),
        both("n_kv_heads = 1"): replace(plain, n_kv_heads=1, bias=True),
    }
    return [
        Property(
            "gpt2",
            Text("GPT-2 small has 124,439,808.", "GPT-2 small은 124,439,808개이다."),
            [Call((gpt2_small,), label=both("gpt2_small"))],
            tolerance=EXACT,
        ),
        Property(
            "llama",
            Text(
                "Llama-3 8B has 8,030,261,248 and 70B has 70,553,706,496.",
                "Llama-3 8B는 8,030,261,248개, 70B는 70,553,706,496개이다.",
            ),
            [
                Call((llama3_8b,), label=both("llama3_8b")),
                Call((llama3_70b,), label=both("llama3_70b")),
            ],
            tolerance=EXACT,
        ),
        Property(
            "switches",
            Text(
                "Every other shape too, exactly: each choice of the config changes what it should.",
                "다른 shape에서도 하나도 틀리지 않는다. config의 선택마다 달라져야 할 만큼 "
                "달라진다.",
            ),
            [
                Call((small,)),
                *(Call((config,), label=label) for label, config in switched.items()),
                Call((replace(minilm, vocab_size=1000),), label=both("minilm, vocab_size=1000")),
            ],
            tolerance=EXACT,
        ),
    ]


def load_gpt2(draw: Draw) -> list[Property]:
    config = replace(GPT, n_heads=2, n_kv_heads=2, tied=True)
    ids, gradient = _ids(draw, 2, 5), draw.normal(2, 5, config.vocab_size)
    theirs, before = _gpt2(draw, config), _filled(_weights(draw, config), of="decoder")
    new = [Call((config,), of=Other("Decoder"), keep="decoder"), before]
    prefixed = {f"transformer.{name}": value for name, value in theirs.items()}
    masks = {f"transformer.h.{n}.attn.bias": torch.ones(1, 1, 9, 9).tril() for n in (0, 1)}
    head = {"lm_head.weight": theirs["wte.weight"]}

    def loaded(state_dict: Weights, label: Text | None = None) -> list[Step]:
        return [
            *new,
            Call((Result("decoder"), dict(state_dict)), label=label),
            Call((ids,), of="decoder"),
        ]

    return [
        Property(
            "logits",
            Text(
                "With a GPT-2's weights inside, the decoder gives that GPT-2's logits.",
                "GPT-2의 weight를 담은 decoder는 그 GPT-2와 같은 logits를 낸다.",
            ),
            loaded(theirs),
            weight=2,
        ),
        Property(
            "names",
            Text(
                'Names may start with "transformer."; attn.bias is a mask, not a weight.',
                '이름 앞에 "transformer."가 붙어 있어도 된다. attn.bias는 weight가 아니라 mask이다.',
            ),
            loaded({**prefixed, **head, **masks}, both("GPT2LMHeadModel")),
        ),
        Property(
            "tied",
            Text(
                "The parameters stay the objects they were: embedding and LM head are still one.",
                "parameter는 원래 객체 그대로이다. embedding과 LM head는 여전히 하나이다.",
            ),
            [*loaded(theirs), Call((ids,), of="decoder", backward=gradient)],
        ),
        Property(
            "missing",
            Text(
                "A weight that is missing is an error, not a silence.",
                "weight가 빠져 있으면 조용히 넘어가지 않고 오류를 낸다.",
            ),
            [
                *new,
                *(
                    Call(
                        (Result("decoder"), {k: v for k, v in theirs.items() if k != name}),
                        label=both(f"- {name}"),
                    )
                    for name in ("wpe.weight", "h.1.attn.c_proj.bias", "ln_f.weight")
                ),
            ],
        ),
    ]


def _gpt2(draw: Draw, config: BlockConfig) -> dict[str, Tensor]:
    """A drawn state dict in the names and layouts of Hugging Face's GPT2Model."""
    d, hidden = config.d_model, config.d_ff
    shapes = {"wte.weight": (config.vocab_size, d), "wpe.weight": (config.max_T, d)}
    norms, layers = ["ln_f"], {}
    for n in range(config.n_layers):
        norms += [f"h.{n}.ln_1", f"h.{n}.ln_2"]
        layers[f"h.{n}.attn.c_attn"], layers[f"h.{n}.attn.c_proj"] = (d, 3 * d), (d, d)
        layers[f"h.{n}.mlp.c_fc"], layers[f"h.{n}.mlp.c_proj"] = (d, hidden), (hidden, d)
    weights = {name: draw.normal(*shape) for name, shape in shapes.items()}
    for name in norms:
        weights |= {f"{name}.weight": draw.gain(d), f"{name}.bias": draw.normal(d)}
    for name, (d_in, d_out) in layers.items():
        weights[f"{name}.weight"] = draw.normal(d_in, d_out, scale=d_in**-0.5)
        weights[f"{name}.bias"] = draw.normal(d_out)
    return weights
