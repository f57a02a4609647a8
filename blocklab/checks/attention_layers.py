"""What attention layers must do, in one pass and token by token."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from blocklab.checks.parameters import only_these
from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.functions import Function, Linear, MixTokens, chain
from blocklab.probe import Call, Other, Result, Step
from blocklab.text import Text, both

ROTATE = Text(
    "rotate goes over queries and keys after the split, and not over values.",
    "rotate는 head로 나눈 뒤의 query와 key에 적용되고, value에는 적용되지 않는다.",
)
MASK = Text(
    "The mask is obeyed, also where it differs from text to text or from head to head.",
    "mask를 지킨다. 글마다, head마다 다를 때도 그렇다.",
)
BIAS = Text(
    "With bias=True all four projections have a bias and use it, before rotate; otherwise none "
    "has.",
    "bias=True이면 projection 네 개가 모두 bias를 쓰고(rotate보다 먼저 더한다), 아니면 하나도 "
    "쓰지 않는다.",
)
NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")
HEADS = ("n_heads", "n_kv_heads")
ANOTHER = Text("another text, large numbers", "다른 글, 큰 수")
LARGE = Text("large numbers, each token sees itself", "큰 수, token마다 자기만 봄")


def _weights(draw: Draw, d: int, d_kv: int) -> dict[str, Tensor]:
    """Weights of the four projections, large enough for scores that tell keys apart."""
    widths = (d, d_kv, d_kv, d)
    return {
        f"{name}.weight": draw.linear(d, width, 1.5)
        for name, width in zip(NAMES, widths, strict=True)
    }


def _biases(draw: Draw, d: int, d_kv: int) -> dict[str, Tensor]:
    widths = (d, d_kv, d_kv, d)
    return {f"{name}.bias": draw.normal(n) for name, n in zip(NAMES, widths, strict=True)}


def _rotation(draw: Draw, T: int, d_head: int) -> Function:
    """A linear function of (…, T, d_head), as Rotary is, that treats positions differently."""
    by_position = MixTokens(draw.gain(T).diag())
    return chain(by_position, Linear(draw.linear(d_head, d_head, 0.7)))


def _causal(T: int) -> Tensor:
    return torch.ones(T, T).tril().bool()


def _prefix(T: int) -> Tensor:
    """A causal mask (T, T) in which all tokens see the first two."""
    return _causal(T) | (torch.arange(T) < 2)


def _masks(draw: Draw, B: int, heads: int, T: int) -> list[tuple[str, Tensor]]:
    """Masks of four shapes; every token sees itself, or the tokens that are not padding."""
    lengths = T - torch.arange(B).view(B, 1, 1, 1)

    def mask(*shape: int) -> Tensor:
        return (draw.normal(*shape, T, T) > 0) | torch.eye(T).bool()

    return [
        ("(T, T)", mask()),
        ("(n_heads, T, T)", mask(heads)),
        ("(B, 1, 1, T)", torch.arange(T) < lengths),
        ("(B, n_heads, T, T)", mask(B, heads)),
    ]


@dataclass(frozen=True)
class Layer:
    """How to make a layer: its arguments (d_model, n_heads, …), its weights, and its d_head."""

    sizes: tuple[int, ...]
    load: dict[str, Tensor]
    d_head: int

    @property
    def made(self) -> Call:
        return Call(self.sizes, keep="m", load=self.load)

    def tokens(self, draw: Draw, B: int, T: int) -> Tensor:
        return draw.normal(B, T, self.sizes[0])


def _multi_head(draw: Draw, heads: int, d_head: int) -> Layer:
    d = heads * d_head
    return Layer((d, heads), _weights(draw, d, d), d_head)


def _grouped(draw: Draw, kv_heads: int, group: int, d_head: int) -> Layer:
    d, d_kv = kv_heads * group * d_head, kv_heads * d_head
    return Layer((d, kv_heads * group, kv_heads), _weights(draw, d, d_kv), d_head)


def MultiHeadAttention(draw: Draw) -> list[Property]:
    B, heads, d_head, T = draw.sizes((2, 4), (3, 3), (6, 7), (5, 8))
    layer, d = _multi_head(draw, heads, d_head), heads * d_head
    one, two = _multi_head(draw, 1, draw.size(3, 5)), _multi_head(draw, 2, draw.size(3, 5))
    x = layer.tokens(draw, B, T)
    return [
        Property(
            "formula",
            Text(
                "Each head attends in its own part of the components; out_proj mixes what they "
                "found.",
                "head마다 자기 몫의 성분으로 attention을 하고, out_proj가 그 결과를 섞는다.",
            ),
            [
                layer.made,
                Call((draw.normal(B, heads, d),), of="m", label=both("T = n_heads")),
                Call((draw.normal(1, d, d),), of="m", label=both("T = d_model")),
                Call((x[:, :1],), of="m", label=both("T = 1")),
                Call((x,), of="m", backward=draw.normal(B, T, d)),
            ],
            weight=2,
        ),
        Property("mask", MASK, _masked(draw, two, B + 1, T)),
        Property("rotate", ROTATE, [*_rotated(draw, layer, x), *_with_and_without(draw, one, T)]),
        _bias(draw, layer, x),
    ]


def _masked(draw: Draw, layer: Layer, B: int, T: int) -> list[Step]:
    """Large numbers, then one input under all masks; the gradient under the last."""
    x = layer.tokens(draw, B, T)
    masks = _masks(draw, B, layer.sizes[1], T)
    calls = [Call((x, mask), of="m", label=both(f"mask: {shape}")) for shape, mask in masks]
    large = Call((60 * x[:, :2], torch.eye(2).bool()), of="m", label=LARGE)
    return [layer.made, large, *calls[:-1], replace(calls[-1], backward=draw.normal(*x.shape))]


def _rotated(draw: Draw, layer: Layer, x: Tensor) -> list[Step]:
    rotate = _rotation(draw, x.shape[1], layer.d_head)
    return [
        layer.made,
        Call((x, _prefix(x.shape[1]), rotate), of="m"),
        Call((x, None, rotate), of="m", backward=draw.normal(*x.shape)),
    ]


def _with_and_without(draw: Draw, layer: Layer, T: int) -> list[Step]:
    """One text with a mask and rotate, and then with neither: nothing is remembered."""
    x, rotate = layer.tokens(draw, 1, T), _rotation(draw, T, layer.d_head)
    heads = ", ".join(f"{name} = {n}" for name, n in zip(HEADS, layer.sizes[1:], strict=False))
    return [
        layer.made,
        Call((x, _causal(T), rotate), of="m", label=both(f"B = 1, {heads}")),
        Call((x,), of="m", label=both(f"B = 1, {heads}")),
    ]


def _bias(draw: Draw, layer: Layer, x: Tensor) -> Property:
    d, d_kv = layer.sizes[0], layer.load["k_proj.weight"].shape[0]
    biased = Layer((*layer.sizes, True), layer.load | _biases(draw, d, d_kv), layer.d_head)
    rotate = _rotation(draw, x.shape[1], layer.d_head)
    steps = [Call(layer.sizes), biased.made, Call((x, _causal(x.shape[1]), rotate), of="m")]
    return Property("bias", BIAS, steps, judge=only_these)


def GroupedQueryAttention(draw: Draw) -> list[Property]:
    B, T, kv_heads, group = draw.size(2, 3), 4, *draw.sizes((2, 3), (2, 3))
    layer = _grouped(draw, kv_heads, group, (5, 7)[draw.size(0, 1)])
    x, four = layer.tokens(draw, B, T), _grouped(draw, 2, 2, draw.size(3, 5))
    return [
        Property(
            "formula",
            Text(
                "Consecutive query heads share a KV head: 0, 0, 1, 1, not 0, 1, 0, 1.",
                "이웃한 query head들이 KV head 하나를 함께 쓴다: 0, 1, 0, 1이 아니라 0, 0, 1, 1.",
            ),
            [
                layer.made,
                Call((x[:1],), of="m", label=both("B = 1")),
                Call((x[:, :1],), of="m", label=both("T = 1")),
                Call((x,), of="m", backward=draw.normal(*x.shape)),
            ],
            weight=2,
        ),
        Property("mask", MASK, _masked(draw, _grouped(draw, group, kv_heads, 5), B, T)),
        Property("rotate", ROTATE, _rotated(draw, four, four.tokens(draw, B, T))),
        Property(
            "extremes",
            Text(
                "One KV head for all query heads, or one for each: at both ends all of it works, "
                "mask and rotate too.",
                "KV head가 하나뿐일 때와 query head마다 하나일 때, 곧 양 끝에서도 모두 맞다. "
                "mask와 rotate까지 그렇다.",
            ),
            [
                *_with_and_without(draw, _grouped(draw, 1, 3, draw.size(4, 5)), T),
                *_with_and_without(draw, _grouped(draw, 3, 1, draw.size(4, 5)), T),
            ],
        ),
        _bias(draw, layer, x),
        Property(
            "attributes",
            Text(
                "n_heads and n_kv_heads are kept as attributes.",
                "n_heads와 n_kv_heads를 attribute로 남겨 둔다.",
            ),
            [Call(layer.sizes, keep="m"), *(_attribute(name) for name in HEADS)],
            weight=0.5,
        ),
    ]


def _attribute(name: str, of: str = "m") -> Call:
    return Call((name,), of=of, method="__getattribute__", label=both(f"layer.{name}"))


def decode_step(draw: Draw) -> list[Property]:
    kv_heads, group = draw.sizes((2, 3), (2, 3))
    heads, d_head, B = kv_heads * group, draw.size(4, 5), draw.size(2, 3)
    d = heads * d_head
    tokens = draw.normal(B, 7, d)
    layer = Other("GroupedQueryAttention")
    weights = _weights(draw, d, kv_heads * d_head)
    made = Call((d, heads, kv_heads), of=layer, keep="layer", load=weights)
    biased = Call((d, heads, 1, True), of=layer, keep="layer", load=_single(draw, d, d_head))
    alone = Call((d, heads, heads), of=layer, keep="layer", load=_weights(draw, d, d))
    other, long = draw.normal(B, 1, d), draw.normal(1, 40, d)
    return [
        Property(
            "steps",
            Text(
                "Token by token, outputs and cache are those of one causal pass over all tokens.",
                "token을 하나씩 넣어도 출력과 cache가 causal mask로 한 번에 계산한 것과 같다.",
            ),
            [made, *_steps(tokens[:, :4].split(1, dim=1))],
            weight=2,
        ),
        Property(
            "chunks",
            Text(
                "Several new tokens at once, at the start or later, are causal among themselves.",
                "처음이든 나중이든, 새 token을 여럿 한꺼번에 넣으면 그들 사이도 causal이다.",
            ),
            [alone, *_steps(long.split([35, 1, 4], dim=1), both("B = 1, n_kv_heads = n_heads"))],
        ),
        Property(
            "kept",
            Text(
                "The cache that came in stays as it was: two continuations can start from it. The "
                "layer stays as it was, too.",
                "받은 cache는 그대로 남아서 두 갈래로 이어 갈 수 있다. layer도 그대로 남는다.",
            ),
            [
                made,
                *_branches(tokens[:, :2], tokens[:, 2:3], other, tokens[:, 3:4]),
                *_unharmed(other, draw.normal(B, 1, d)),
            ],
        ),
        Property(
            "layer",
            Text(
                "It works for one KV head and for projections with a bias.",
                "KV head가 하나이고 projection에 bias가 있어도 맞다.",
            ),
            [biased, *_steps(tokens.split([2, 5], dim=1))],
        ),
    ]


def _single(draw: Draw, d: int, d_head: int) -> dict[str, Tensor]:
    return _weights(draw, d, d_head) | _biases(draw, d, d_head)


def _steps(parts: tuple[Tensor, ...], label: Text | None = None) -> list[Step]:
    """One call for each part, each with the cache that the call before returned."""
    start = label or both("cache = None")
    first = Call((Result("layer"), parts[0]), keep="0", label=start)
    rest = [
        Call((Result("layer"), part, Result(str(n), item=1)), keep=str(n + 1), label=label)
        for n, part in enumerate(parts[1:])
    ]
    return [first, *rest]


def _branches(start: Tensor, one: Tensor, other: Tensor, end: Tensor) -> list[Step]:
    """Two continuations of one start, with another text between, and then the first again."""
    cache = Result("start", item=1)
    again = Text("a second time from the same cache", "같은 cache에서 한 번 더")
    return [
        Call((Result("layer"), start), keep="start"),
        Call((Result("layer"), 60 * other), label=ANOTHER),
        Call((Result("layer"), one, cache), keep="one"),
        Call((Result("layer"), other, cache), label=again),
        Call((Result("layer"), end, Result("one", item=1))),
    ]


def _unharmed(x: Tensor, gradient: Tensor) -> list[Step]:
    """The layer is in training mode as before, and its weights can still learn."""
    return [
        _attribute("training", of="layer"),
        Call(("q_proj",), of="layer", method="get_submodule", keep="q_proj"),
        Call((x,), of="q_proj", backward=gradient, label=both("layer.q_proj")),
    ]


def kv_cache_bytes(draw: Draw) -> list[Property]:
    llama, long = both("Llama-3 8B, T = 8192"), both("Llama-3.1 8B, T = 131072")
    sizes = draw.sizes((3, 9), (10, 20), (21, 40), (41, 90))
    batch, width = draw.size(3, 7), Text("8 bits a value", "값 하나에 8 bit")
    return [
        Property(
            "bytes",
            Text(
                "Keys and values of every layer, KV head, component and token.",
                "layer, KV head, 성분, token마다 key와 value를 센다.",
            ),
            [
                Call((32, 8, 128, 8192), label=llama),
                Call(tuple(sizes)),
                Call((*sizes, 1, 2), label=both("batch = 1, bytes_per_value = 2")),
            ],
        ),
        Property(
            "options",
            Text(
                "More texts and wider values take more.",
                "글이 많을수록, 값 하나의 byte가 클수록 커진다.",
            ),
            [
                Call((*sizes, batch, 4)),
                Call(tuple(sizes), {"batch": batch}),
                Call(tuple(sizes), {"bytes_per_value": 1}, label=width),
            ],
        ),
        Property(
            "long",
            Text(
                "For long texts, too, it is exact to the byte.",
                "글이 길어도 마지막 byte까지 정확하다.",
            ),
            [Call((32, 8, 128, 131_072), label=long), Call((61, 7, 127, 131_071))],
            tolerance=Tolerance(relative=1e-12),
        ),
    ]
