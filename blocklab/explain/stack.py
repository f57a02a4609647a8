"""A pile of blocks drawn to scale: where its parameters are, and what its KV cache takes."""

from dataclasses import replace

from blocklab.config import BlockConfig, gpt2_small, llama3_8b, llama3_70b
from blocklab.explain.knobs import Explained, Menu, Sight, Slider, Stops
from blocklab.explain.stack_picture import Numbers, picture, readable
from blocklab.reference.attention import kv_cache_bytes
from blocklab.reference.block import count_parameters
from blocklab.reference.ffn import attention_parameters
from blocklab.text import Text, both

MODELS = {
    "gpt2_small": ("GPT-2 small", gpt2_small),
    "llama3_8b": ("Llama-3 8B", llama3_8b),
    "llama3_70b": ("Llama-3 70B", llama3_70b),
}
TIMES = Text("times the model’s", "배")
BYTES = 2  # of one number in bf16


def draw(model: str, depth: float, width: float, kv_heads: str, tokens: int) -> Sight:
    """A model with `depth` times its blocks and `width` times its width, heads as wide as before.

    kv_heads: "own", for as many query heads each as in the model; "all", one for every query head;
    "one" for all of them. tokens: how many are in the cache.
    """
    name, plain = MODELS[model]
    shape = _shape(plain, depth, width, kv_heads)
    cost = numbers(shape, tokens)
    shown = picture(name, shape, plain, cost, tokens)
    return Sight(shown, _sentence(shape, cost, tokens))


def _shape(plain: BlockConfig, depth: float, width: float, kv_heads: str) -> BlockConfig:
    n_heads = round(width * plain.n_heads)
    group = {"own": plain.n_heads // plain.n_kv_heads, "all": 1, "one": n_heads}[kv_heads]
    return replace(
        plain,
        d_model=round(width * plain.d_model),
        d_ff=round(width * plain.d_ff),
        n_layers=round(depth * plain.n_layers),
        n_heads=n_heads,
        n_kv_heads=n_heads // group,
    )


def numbers(config: BlockConfig, T: int) -> Numbers:
    """What a model of this shape costs in bf16, with T tokens in its cache."""
    d, n = config.d_model, config.n_layers
    total = count_parameters(config)
    biases = total - count_parameters(replace(config, bias=False))
    positions = config.max_T if config.positions == "learned" else 0
    pieces = {
        "embedding": (config.vocab_size + positions) * d,
        "attention": n * attention_parameters(d, config.n_heads, config.n_kv_heads) + biases,
        "norms": (2 * n + 1) * (d if config.norm == "rms" else 2 * d),
        "lm_head": 0 if config.tied else config.vocab_size * d,
    }
    pieces["ffn"] = total - sum(pieces.values())
    cache, cache_of_all = (
        kv_cache_bytes(n, heads, config.d_head, T, bytes_per_value=BYTES)
        for heads in (config.n_kv_heads, config.n_heads)
    )
    return Numbers(pieces, total, BYTES * total, cache, cache_of_all)


def _sentence(config: BlockConfig, cost: Numbers, T: int) -> Text:
    said = Text(
        "{n} blocks of width {d}, {heads} query heads and {kv}: {parameters} parameters, {ffn} % "
        "of them in the FFNs. In bf16 the weights take {weights}, and the KV cache of {T} tokens "
        "takes {cache}{against}.{too_long}",
        "block {n}개, 폭 {d}, query head {heads}개, {kv}: parameter는 {parameters}개이고 그중 "
        "{ffn} %가 FFN에 있습니다. bf16이면 weight가 {weights}, token {T}개의 KV cache가 "
        "{cache}입니다{against}.{too_long}",
    )
    kv = (
        Text("{k} KV heads", "KV head {k}개")
        if config.n_kv_heads > 1
        else Text("{k} KV head", "KV head {k}개")
    )
    return said.fill(
        n=config.n_layers,
        d=f"{config.d_model:,}",
        heads=config.n_heads,
        kv=kv.fill(k=config.n_kv_heads),
        parameters=f"{cost.parameters:,}",
        ffn=f"{100 * cost.pieces['ffn'] / cost.parameters:.1f}",
        weights=readable(cost.weights),
        T=f"{T:,}",
        cache=readable(cost.cache),
        against=_against(config, cost),
        too_long=_too_long(config, T),
    )


def _against(config: BlockConfig, cost: Numbers) -> Text:
    if config.n_kv_heads == config.n_heads:
        return both("")
    return Text(
        "; with a KV head for every query head it would be {size}",
        "(query head마다 KV head를 따로 두면 {size})",
    ).fill(size=readable(cost.cache_of_all))


def _too_long(config: BlockConfig, T: int) -> Text:
    if config.max_T >= T:
        return both("")
    return Text(
        " (The model was made for at most {T} tokens.)",
        " (이 모델은 token을 최대 {T}개까지 읽도록 만들어졌습니다.)",
    ).fill(T=f"{config.max_T:,}")


STACK = Explained(
    "stack",
    Text("A pile of blocks, to scale", "크기대로 그린 block 더미"),
    (
        Menu(
            "model", Text("Model", "모델"), {k: both(v[0]) for k, v in MODELS.items()}, "llama3_8b"
        ),
        Slider("depth", Text("Number of blocks", "block 수"), 0.25, 2.0, 0.25, 1.0, TIMES),
        Slider("width", Text("Width of the stream", "stream의 폭"), 0.25, 2.0, 0.25, 1.0, TIMES),
        Menu(
            "kv_heads",
            Text("KV heads", "KV head"),
            {
                "own": Text("as in the model", "모델 그대로"),
                "all": Text("one for each query head (MHA)", "query head마다 하나(MHA)"),
                "one": Text("one for all query heads (MQA)", "모든 query head에 하나(MQA)"),
            },
            "own",
        ),
        Stops(
            "tokens",
            Text("Tokens in the cache", "cache에 든 token 수"),
            [1024 * 2**n for n in range(8)],
            8192,
        ),
    ),
    draw,
)
