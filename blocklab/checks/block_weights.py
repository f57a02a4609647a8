"""How many weights a decoder has, and how a GPT-2's get into it."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from blocklab.checks.block_decoder import GPT, Weights, drawn_weights, filled, token_ids
from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.config import BlockConfig, gpt2_small, llama3_8b, llama3_70b, minilm
from blocklab.probe import Call, Other, Result, Step
from blocklab.text import Text, both

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
        both("n_layers = 0"): replace(small, n_layers=0),
        both("d_model = 1025"): replace(gpt2_small, d_model=1025, n_heads=5, n_kv_heads=5),
    }
    return [
        Property(
            "gpt2",
            Text("GPT-2 small has 124,439,808.", "GPT-2 small은 124,439,808개이다."),
            [Call((gpt2_small,), label=both("gpt2_small"))],
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
    ]


ONE = replace(GPT, n_heads=2, n_kv_heads=2, tied=True)
TWO = replace(ONE, n_layers=2)
EMBEDDINGS = ("wte.weight", "lm_head.weight")


def load_gpt2(draw: Draw) -> list[Property]:
    ids = token_ids(draw, 2, 5)
    theirs, deeper, new = _gpt2(draw, ONE), _gpt2(draw, TWO), _new_decoder(draw, ONE)
    masks = {f"h.{n}.attn.bias": torch.ones(1, 1, 8, 8).tril() for n in range(2)}
    prefixed = {f"transformer.{name}": value for name, value in (deeper | masks).items()}
    whole = {"lm_head.weight": deeper["wte.weight"], **dict(reversed(prefixed.items()))}
    return [
        Property(
            "logits",
            Text(
                "With a GPT-2's weights inside, the decoder gives that GPT-2's logits.",
                "GPT-2의 weight를 담은 decoder는 그 GPT-2와 같은 logits를 낸다.",
            ),
            [*new, _load(theirs, both("GPT2Model")), Call((ids,), of="decoder")],
            weight=2,
        ),
        Property(
            "names",
            Text(
                'In several blocks too, and where names start with "transformer."; attn.bias is a '
                "mask, not a weight.",
                'block이 여럿이어도, 이름이 "transformer."로 시작해도 그렇다. attn.bias는 mask이지 '
                "weight가 아니다.",
            ),
            [
                *_new_decoder(draw, TWO),
                _load(whole, both("GPT2LMHeadModel")),
                Call((ids,), of="decoder"),
            ],
        ),
        Property(
            "tied",
            Text(
                "The decoder that came in is returned, with the parameters it had: embedding and "
                "LM head are still one, and none shares its numbers with the state dict.",
                "받은 decoder를 그대로 돌려준다. parameter도 원래 객체이다. embedding과 LM head는 "
                "여전히 하나이고, state dict와 메모리를 나누어 쓰는 것은 없다.",
            ),
            [*new, *_used_afterwards(draw, theirs, ids)],
        ),
        Property(
            "missing",
            Text(
                "A weight that is missing is an error, not a silence.",
                "weight가 빠져 있으면 조용히 넘어가지 않고 오류를 낸다.",
            ),
            [
                Call((TWO,), of=Other("Decoder"), keep="decoder"),
                *map(
                    _without(deeper), ("wte", "wpe", "h.0.attn.c_proj.bias", "ln_f.weight", "h.1")
                ),
            ],
        ),
    ]


def _new_decoder(draw: Draw, config: BlockConfig) -> list[Step]:
    """The notebook's own Decoder, with known weights, kept as "decoder"."""
    before = filled(drawn_weights(draw, config), of="decoder")
    return [Call((config,), of=Other("Decoder"), keep="decoder"), before]


def _used_afterwards(draw: Draw, state_dict: Weights, ids: Tensor) -> list[Step]:
    """Load, write into the state dict and into the decoder that came in, run what came back."""
    d, other = ONE.d_model, draw.normal(ONE.vocab_size, ONE.d_model)
    zeroed = Text("wte.weight of the state dict = 0", "state dict의 wte.weight = 0")
    return [
        Call(("token_embedding.weight",), of="decoder", method="get_parameter", keep="table"),
        Call(of="table", method="detach", keep="shared"),
        Call(of="shared", method="clone", keep="wte"),
        Call(("blocks.0.norm1.weight",), of="decoder", method="get_parameter", keep="gain"),
        Call(
            (Result("decoder"), {**state_dict, **dict.fromkeys(EMBEDDINGS, Result("wte"))}),
            keep="loaded",
        ),
        Call(of="wte", method="zero_", label=zeroed),
        Call(of="table", method="detach"),
        Call(of="gain", method="detach", keep="numbers"),
        Call(of="numbers", method="neg_", label=both("-blocks[0].norm1.weight")),
        filled({"final_norm.bias": draw.normal(d), "token_embedding.weight": other}, of="decoder"),
        Call((ids,), of="loaded", backward=draw.normal(*ids.shape, ONE.vocab_size)),
    ]


def _load(state_dict: Weights, label: Text | None = None) -> Call:
    return Call((Result("decoder"), dict(state_dict)), label=label)


def _without(state_dict: Weights) -> Callable[[str], Call]:
    """A call for a state dict that lacks all names that start like this."""

    def call(name: str) -> Call:
        rest = {key: value for key, value in state_dict.items() if not key.startswith(name)}
        return _load(rest, Text(f"without {name}", f"{name} 없이"))

    return call


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
