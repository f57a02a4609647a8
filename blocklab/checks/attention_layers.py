"""What attention layers must do, in one pass and token by token."""

from collections.abc import Sequence

import torch
from torch import Tensor

from blocklab.checks.property import Draw, Property
from blocklab.functions import Function, Linear, Shift, chain
from blocklab.probe import Call, Other, Outcome, Result, Step
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
    "With bias=True all four projections have a bias and use it; otherwise none has.",
    "bias=True이면 projection 네 개가 모두 bias를 쓰고, 아니면 하나도 쓰지 않는다.",
)
NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")


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
    """A function of (…, T, d_head) that treats every position differently."""
    return chain(Shift(draw.normal(T, d_head)), Linear(draw.linear(d_head, d_head, 1.5)))


def _causal(T: int) -> Tensor:
    return torch.ones(T, T).tril().bool()


def _masks(draw: Draw, B: int, heads: int, T: int) -> dict[str, Tensor]:
    """Masks of three shapes, where every token sees itself."""

    def mask(*shape: int) -> Tensor:
        return (draw.normal(*shape, T, T) > 0) | torch.eye(T).bool()

    return {
        "(T, T)": _causal(T),
        "(B, 1, T, T)": mask(B, 1),
        "(B, n_heads, T, T)": mask(B, heads),
    }


def _made(sizes: tuple[int, ...], load: dict[str, Tensor]) -> Call:
    return Call(sizes, keep="m", load=load)


def MultiHeadAttention(draw: Draw) -> list[Property]:
    B, heads, d_head, T = draw.sizes((2, 3), (2, 4), (3, 6), (5, 7))
    d = heads * d_head
    load, probe = _weights(draw, d, d), draw.normal(B, T, d)
    one = _weights(draw, d_head, d_head)
    x = draw.normal(B, T, d)
    return [
        Property(
            "formula",
            Text(
                "Each head attends in its own part of the components; out_proj mixes what they "
                "found.",
                "head마다 자기 몫의 성분으로 attention을 하고, out_proj가 그 결과를 섞는다.",
            ),
            [
                _made((d, heads), load),
                Call((draw.normal(B, heads, d),), of="m", label=both("T = n_heads")),
                Call((draw.normal(1, d, d),), of="m", label=both("T = d_model")),
                Call((x[:, :1],), of="m", label=both("T = 1")),
                Call((x,), of="m", backward=probe),
                _made((d_head, 1), one),
                Call((draw.normal(1, 2, d_head),), of="m", label=both("n_heads = 1")),
            ],
            weight=2,
        ),
        Property("mask", MASK, _masked(draw, (d, heads), load, x, probe)),
        Property("rotate", ROTATE, _rotated(draw, (d, heads), load, x, probe)),
        _bias(draw, (d, heads), load, x),
    ]


def _masked(
    draw: Draw, sizes: tuple[int, ...], load: dict[str, Tensor], x: Tensor, probe: Tensor
) -> list[Step]:
    masks = _masks(draw, x.shape[0], sizes[1], x.shape[1])
    calls = [
        Call((x, mask), of="m", backward=probe, label=both(f"mask: {shape}"))
        for shape, mask in masks.items()
    ]
    return [_made(sizes, load), *calls]


def _rotated(
    draw: Draw, sizes: tuple[int, ...], load: dict[str, Tensor], x: Tensor, probe: Tensor
) -> list[Step]:
    rotate = _rotation(draw, x.shape[1], sizes[0] // sizes[1])
    return [
        _made(sizes, load),
        Call((x, _causal(x.shape[1]), rotate), of="m"),
        Call((x, None, rotate), of="m", backward=probe),
    ]


def _bias(draw: Draw, sizes: tuple[int, ...], load: dict[str, Tensor], x: Tensor) -> Property:
    d_kv = load["k_proj.weight"].shape[0]
    biased = load | _biases(draw, x.shape[-1], d_kv)
    steps = [Call(sizes), _made((*sizes, True), biased), Call((x, _causal(x.shape[1])), of="m")]
    return Property("bias", BIAS, steps, judge=_no_bias)


def _no_bias(got: Sequence[Outcome], want: Sequence[Outcome]) -> Text | None:
    """Whether the first outcome, a layer made without biases, has one all the same."""
    extra = got[0].value.parameters.keys() - want[0].value.parameters.keys()
    if not extra:
        return None
    return Text(
        "With bias=False there is {names} all the same: pass bias=bias to each nn.Linear.",
        "bias=False인데도 {names}이(가) 있습니다. nn.Linear마다 bias=bias를 넘기세요.",
    ).fill(names=", ".join(sorted(extra)))


def GroupedQueryAttention(draw: Draw) -> list[Property]:
    kv_heads, group = draw.sizes((2, 3), (2, 4))
    heads = kv_heads * group
    B, d_head, T = draw.size(2, 3), draw.size(3, 5), draw.size(5, 7)
    d, d_kv = heads * d_head, kv_heads * d_head
    x, probe = draw.normal(B, T, d), draw.normal(B, T, d)
    sizes, load = (d, heads, kv_heads), _weights(draw, d, d_kv)
    return [
        Property(
            "formula",
            Text(
                "Consecutive query heads share a KV head: 0, 0, 1, 1, not 0, 1, 0, 1.",
                "이웃한 query head들이 KV head 하나를 함께 쓴다: 0, 1, 0, 1이 아니라 0, 0, 1, 1.",
            ),
            [
                _made(sizes, load),
                Call((x[:1],), of="m", label=both("B = 1")),
                Call((x,), of="m", backward=probe),
            ],
            weight=2,
        ),
        Property(
            "extremes",
            Text(
                "One KV head for all query heads, and one for each, are the two ends.",
                "KV head가 하나뿐일 때와 query head 수와 같을 때, 양 끝에서도 맞다.",
            ),
            [
                _made((d, heads, 1), _weights(draw, d, d_head)),
                Call((x,), of="m", backward=probe, label=both("n_kv_heads = 1")),
                _made((d, heads, heads), _weights(draw, d, d)),
                Call((x,), of="m", backward=probe, label=both("n_kv_heads = n_heads")),
            ],
        ),
        Property("mask", MASK, _masked(draw, sizes, load, x, probe)),
        Property("rotate", ROTATE, _rotated(draw, sizes, load, x, probe)),
        _bias(draw, sizes, load, x),
    ]


def decode_step(draw: Draw) -> list[Property]:
    kv_heads, group = draw.sizes((2, 3), (2, 3))
    heads, d_head, B = kv_heads * group, draw.size(4, 5), draw.size(2, 3)
    d = heads * d_head
    tokens = draw.normal(B, 7, d)
    layer = Other("GroupedQueryAttention")
    weights = _weights(draw, d, kv_heads * d_head)
    made = Call((d, heads, kv_heads), of=layer, keep="layer", load=weights)
    biased = Call((d, heads, 1, True), of=layer, keep="layer", load=_single(draw, d, d_head))
    other = draw.normal(B, 1, d)
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
            [made, *_steps(tokens.split([3, 1, 3], dim=1))],
        ),
        Property(
            "kept",
            Text(
                "The cache that came in stays as it was: two continuations can start from it.",
                "받은 cache는 그대로 남는다. 같은 cache에서 두 갈래로 이어 갈 수 있다.",
            ),
            [made, *_branches(tokens[:, :2], tokens[:, 2:3], other, tokens[:, 3:4])],
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


def _steps(parts: tuple[Tensor, ...]) -> list[Step]:
    """One call for each part, each with the cache that the call before returned."""
    first = Call((Result("layer"), parts[0]), keep="0", label=both("cache = None"))
    rest = [
        Call((Result("layer"), part, Result(str(n), item=1)), keep=str(n + 1))
        for n, part in enumerate(parts[1:])
    ]
    return [first, *rest]


def _branches(start: Tensor, one: Tensor, other: Tensor, end: Tensor) -> list[Step]:
    """Two continuations of one start, with another text between, and then the first again."""
    cache = Result("start", item=1)
    again = Text("a second time from the same cache", "같은 cache에서 한 번 더")
    return [
        Call((Result("layer"), start), keep="start"),
        Call((Result("layer"), other), label=Text("another text", "다른 글")),
        Call((Result("layer"), one, cache), keep="one"),
        Call((Result("layer"), other, cache), label=again),
        Call((Result("layer"), end, Result("one", item=1))),
    ]


def kv_cache_bytes(draw: Draw) -> list[Property]:
    llama, sizes = both("Llama-3 8B, T = 8192"), draw.sizes((3, 9), (10, 20), (21, 40), (41, 90))
    batch, width = draw.size(3, 7), Text("8 bits a value", "값 하나에 8 bit")
    return [
        Property(
            "bytes",
            Text(
                "Keys and values of every layer, KV head, component and token.",
                "layer, KV head, 성분, token마다 key와 value를 센다.",
            ),
            [Call((32, 8, 128, 8192), label=llama), Call(tuple(sizes))],
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
    ]
