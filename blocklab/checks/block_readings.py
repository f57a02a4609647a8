"""What the logit lens, a LoRA layer, and the search for a wrong wire must do."""

import math
from dataclasses import replace

from blocklab.checks.block_parameters import as_many
from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.functions import (
    NOTHING,
    RMS,
    Activation,
    Function,
    Layer,
    Linear,
    MixTokens,
    Wired,
    chain,
)
from blocklab.probe import Call, Result, Step
from blocklab.text import Text, both


def logit_lens(draw: Draw) -> list[Property]:
    L, B, T, d, V = draw.sizes((4, 5), (2, 3), (3, 6), (6, 8), (9, 12))
    states = [draw.normal(B, T, d) for _ in range(L + 1)]
    norm, head = RMS(draw.gain(d), 0.2), Linear(draw.linear(d, V))
    layer = Layer(draw.gain(d), draw.normal(d), 0.1)
    one = [draw.normal(d) for _ in range(3)]
    return [
        Property(
            "logits",
            Text(
                "Every state goes through the final norm, then through the LM head.",
                "모든 state가 final norm을 지나고, 그다음 LM head를 지난다.",
            ),
            [
                Call((one, layer, head), label=both("states: (d_model,)")),
                Call((states, norm, head)),
                Call(([draw.normal(B, T, d) for _ in states], layer, chain(head))),
            ],
        ),
        Property(
            "single",
            Text(
                "A model without blocks has one state, the embedding.",
                "block이 없는 모델에는 state가 하나, embedding뿐이다.",
            ),
            [Call((states[:1], norm, head), label=both("n_layers = 0"))],
            weight=0.25,
        ),
        Property(
            "flows",
            Text(
                "Gradients flow back to every state; the caller decides whether they are wanted.",
                "gradient가 모든 state로 흐른다. 필요한지는 부르는 쪽이 정한다.",
            ),
            [Call((states, layer, head), backward=draw.normal(L + 1, B, T, V))],
            weight=0.25,
        ),
    ]


def LoRALinear(draw: Draw) -> list[Property]:
    B, T, d_in, d_out = draw.sizes((2, 3), (4, 5), (6, 8), (9, 11))
    rank, alpha = 3, draw.uniform(5.0, 8.0)
    x, gradient = draw.normal(B, T, d_in), draw.normal(B, T, d_out)
    base = Linear(draw.linear(d_in, d_out), draw.normal(d_out))
    bare, square = Linear(draw.linear(d_in, d_out)), Linear(draw.linear(rank, rank))
    factors = {"A": draw.normal(rank, d_in), "B": draw.normal(d_out, rank)}
    small = {"A": draw.normal(rank, rank), "B": draw.normal(rank, rank)}
    layer = Call((base, rank, alpha), keep="layer", load=factors)
    use = Call((x,), of="layer")
    other = {"weight": draw.linear(d_in, d_out), "bias": draw.normal(d_out)}
    return [
        Property(
            "formula",
            Text(
                "The result is base(x) + (alpha / rank) x A^T B^T, and A and B learn.",
                "결과는 base(x) + (alpha / rank) x A^T B^T이고, A와 B는 학습된다.",
            ),
            [
                layer,
                Call((x,), of="layer", backward=gradient),
                Call((bare, rank, 2.0), keep="bare", load=factors),
                Call((x,), of="bare", label=Text("no bias", "bias 없음")),
                Call((square, rank, alpha), keep="square", load=small),
                Call((draw.normal(4, rank),), of="square", label=both("in = out = rank")),
            ],
            weight=2,
        ),
        Property(
            "start",
            Text(
                "At first B is zero and A random: then B can learn at once.",
                "처음에 B는 0이고 A는 무작위이다. 그래야 B가 바로 배울 수 있다.",
            ),
            _start(base, rank, alpha),
            tolerance=Tolerance(absolute=math.inf),
        ),
        Property(
            "new",
            Text(
                "A new layer gives exactly what base gives.",
                "새로 만든 layer는 base와 똑같은 값을 낸다.",
            ),
            [Call((base, rank, alpha), keep="new"), Call((x,), of="new")],
            weight=0.5,
        ),
        Property(
            "frozen",
            Text(
                "The base itself is frozen, not a copy: its weight and its bias ask for no "
                "gradient. Besides them there are only A and B.",
                "사본이 아니라 받은 base 자체가 동결되어 있다. weight도 bias도 gradient를 요구하지 "
                "않는다. 그 밖에 있는 것은 A와 B뿐이다.",
            ),
            [
                layer,
                Call(("base",), of="layer", method="get_submodule", keep="base"),
                Call((True,), of="base", method="requires_grad_"),
                Call((Result("base"), rank, alpha), keep="layer"),
                Call((other, False), of="base", method="load_state_dict"),
                use,
                *_asks_for_gradient("weight"),
                *_asks_for_gradient("bias"),
            ],
            judge=as_many,
        ),
        Property(
            "merged",
            Text(
                "merged gives W + (alpha / rank) B A, (out, in), and leaves the layer as it was.",
                "merged는 W + (alpha / rank) B A를 (out, in)으로 주고, layer는 그대로 둔다.",
            ),
            [layer, MERGED, use, *_merged_again(draw, d_in, rank, alpha)],
        ),
    ]


MERGED = Call(of="layer", method="merged")


def _merged_again(draw: Draw, d: int, rank: int, alpha: float) -> list[Step]:
    """A new square layer's merged weight, which then is the caller's; and with other A and B."""
    base = Linear(draw.linear(d, d), draw.normal(d))
    factors = {"A": draw.normal(rank, d), "B": draw.normal(d, rank)}
    x, changed = draw.normal(2, d), Text("with other A and B", "A와 B를 바꾼 뒤")
    doubled = Text("merged() *= 2: base keeps its own", "merged() *= 2: base는 그대로여야 합니다")
    return [
        Call((base, rank, alpha), keep="layer"),
        replace(MERGED, keep="weight"),
        Call(("data",), of="weight", method="__getattribute__", keep="data"),
        Call((2.0,), of="data", method="mul_"),
        Call((x,), of="layer", label=doubled),
        Call((factors, False), of="layer", method="load_state_dict"),
        Call((x,), of="layer", label=changed),
        replace(MERGED, label=changed),
    ]


def _start(base: Linear, rank: int, alpha: float) -> list[Step]:
    """How many numbers of A and B are not zero, and how many differ from row to row of A.

    Counts are compared exactly; the drawn numbers themselves are not compared.
    """
    return [
        Call((base, rank, alpha), keep="layer"),
        Call(("A",), of="layer", method="get_parameter", keep="A"),
        Call(("B",), of="layer", method="get_parameter", keep="B"),
        Call(of="B", method="count_nonzero", label=both("B.count_nonzero()")),
        Call(of="A", method="count_nonzero", label=both("A.count_nonzero()")),
        Call((), {"dim": 0}, of="A", method="diff", keep="steps"),
        Call(of="steps", method="count_nonzero", label=both("A.diff(dim=0).count_nonzero()")),
    ]


def _asks_for_gradient(name: str) -> list[Step]:
    label = both(f"base.{name}.requires_grad")
    return [
        Call((name,), of="base", method="get_parameter", keep="parameter"),
        Call(("requires_grad",), of="parameter", method="__getattribute__", label=label),
    ]


RIGHT = ((0, (0,)), (1, (1,)), (2, (0, 2)), (3, (3,)))
WIRES = {
    "right": (RIGHT, (0, 2, 4)),
    "ffn_reads_input": ((*RIGHT[:2], (2, (0,)), RIGHT[3]), (0, 2, 4)),
    "no_attention_residual": ((*RIGHT[:2], (2, (2,)), RIGHT[3]), (2, 4)),
    "no_ffn_residual": (RIGHT, (4,)),
    "one_norm_twice": ((*RIGHT[:2], (0, (0, 2)), RIGHT[3]), (0, 2, 4)),
    "residual_normalised": ((*RIGHT[:2], (2, (1, 2)), RIGHT[3]), (1, 2, 4)),
}


def name_the_wire(draw: Draw) -> list[Property]:
    norm1 = RMS(draw.gain(4), 1e-5)
    norm2 = Layer(draw.gain(4), draw.normal(4), 1e-5)
    attention = chain(MixTokens(draw.linear(3, 3)), Linear(draw.linear(4, 4)))
    ffn = chain(Linear(draw.linear(4, 8)), Activation("tanh"), Linear(draw.linear(8, 4)))
    return [
        Property(
            "ordinary",
            Text(
                "It names the wire when all four parts are different and do something.",
                "네 부품이 모두 다르고 저마다 일을 할 때 선의 이름을 맞힌다.",
            ),
            _blocks(draw, norm1, attention, norm2, ffn),
            weight=2,
        ),
        Property(
            "hidden",
            Text(
                "It names the wire when the parts that come with the block hide it: equal norms, "
                "a silent attention, a silent FFN.",
                "block이 가지고 온 부품이 단서를 가릴 때도 맞힌다. 두 norm이 같거나, attention이나 "
                "FFN이 아무것도 쓰지 않을 때이다.",
            ),
            [
                *_blocks(draw, norm1, attention, norm1, ffn),
                *_blocks(draw, norm1, NOTHING, norm2, ffn),
                *_blocks(draw, norm1, attention, norm2, NOTHING),
            ],
        ),
    ]


def _blocks(draw: Draw, *parts: Function) -> list[Step]:
    """One block of these parts for each way to wire them, in a drawn order."""
    norm1, attention, norm2, ffn = parts
    blocks = [Wired((norm1, attention, norm2, ffn), *wires) for wires in WIRES.values()]
    return [Call((block,)) for block in sorted(blocks, key=lambda _: draw.uniform(0, 1))]
