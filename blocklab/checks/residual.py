"""What the residual stream and its additions must do."""

import torch

from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.checks.traces import NO_TRACE, leaves_no_mark
from blocklab.functions import Activation, Function, Linear, MixTokens, Record, Scale, chain
from blocklab.probe import Call, Read
from blocklab.text import Text, both

X = torch.tensor([1.0, 2.0, -1.0, 0.0])
DELTA = torch.tensor([0.2, -0.5, 0.3, 0.1])
BY_HAND = Text("by hand", "손계산")


def add_by_hand(draw: Draw) -> list[Property]:
    says = Text(
        "Four numbers: each component of the token plus the same component of the update.",
        "수 네 개: token의 성분마다 update의 같은 자리 성분을 더한다.",
    )
    return [Property("numbers", says, [Read()], tolerance=Tolerance(absolute=5e-3))]


def nine_nodes(draw: Draw) -> list[Property]:
    says = Text(
        "The nine nodes stand in the order in which the stream passes them.",
        "node 아홉 개가 stream이 지나가는 순서대로 놓여 있다.",
    )
    return [Property("order", says, [Read()])]


def growth_by_hand(draw: Draw) -> list[Property]:
    says = Text(
        "Four factors, each right to three significant digits.",
        "배율 네 개가 모두 유효숫자 세 자리까지 맞다.",
    )
    return [Property("factors", says, [Read()], tolerance=Tolerance(relative=6e-3))]


def residual_add(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, delta = draw.normal(B, T, d), draw.normal(B, T, d)
    row = draw.normal(1, d)
    return [
        Property(
            "sum",
            Text(
                "The result is x + delta, component by component, and x keeps its value.",
                "결과는 성분끼리 더한 x + delta이고, x의 값은 그대로 남는다.",
            ),
            [
                Call((X, DELTA), label=BY_HAND),
                Call((x, delta), backward=draw.normal(B, T, d)),
                Call((draw.normal(d, d), draw.normal(d, d)), label=both("T = d_model")),
            ],
        ),
        Property(
            "shapes",
            Text(
                "Unequal shapes are an error, also where PyTorch would broadcast them.",
                "shape이 다르면 오류를 낸다. PyTorch가 broadcast해 줄 수 있는 경우에도 그렇다.",
            ),
            [
                Call((x, delta[0, 0]), label=Text("one update for all", "모두에게 update 하나")),
                Call((x, delta[0])),
                Call((x, delta[:1])),
                Call((x, delta[:, :1])),
                Call((x, delta[..., :1])),
                Call((draw.normal(d, d), draw.normal(d))),
                Call((x[0, 0], delta)),
                Call((row, row.T), label=Text("same number of values", "값의 개수는 같음")),
            ],
        ),
    ]


def _sublayers(draw: Draw, T: int, d: int) -> list[Function]:
    """Three sublayers that do not commute; one of them mixes tokens."""
    return [
        chain(MixTokens(draw.linear(T, T)), Activation("tanh")),
        chain(Linear(draw.linear(d, d)), Activation("sigmoid")),
        Linear(draw.linear(d, d, 0.8), draw.normal(d)),
    ]


def run_stream(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, sublayers = draw.normal(B, T, d), _sublayers(draw, T, d)
    recorded: list[Function] = [Record(f, f"sublayers[{n}]") for n, f in enumerate(sublayers)]
    square = draw.normal(d, d)
    return [
        Property(
            "states",
            Text(
                "L + 1 states: x0, then each state plus what the next sublayer makes of it.",
                "state는 L + 1개이다. x0이 먼저이고, 그다음부터는 앞 state에 sublayer가 그 state를 "
                "읽어 만든 update를 더한 것이다.",
            ),
            [
                Call((X, [Scale(0.5), Scale(-0.2)]), label=BY_HAND),
                Call((x, sublayers)),
                Call((x, sublayers[:2]), backward=draw.normal(B, T, d)),
                Call((square, _sublayers(draw, d, d)), label=both("T = d_model")),
            ],
            weight=2,
        ),
        Property(
            "empty",
            Text(
                "Without sublayers the stream is x0 alone.",
                "sublayer가 하나도 없으면 state는 x0 하나뿐이다.",
            ),
            [Call((x, []), label=both("L = 0"))],
        ),
        Property(
            "once",
            Text(
                "Each sublayer is called once, with the state before it.",
                "sublayer는 저마다 바로 앞의 state로 한 번씩만 호출된다.",
            ),
            [Call((x, recorded))],
        ),
    ]


def updates(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    states = [draw.normal(B, T, d) for _ in range(draw.size(5, 6))]
    return [
        Property(
            "differences",
            Text(
                "Each update is a state minus the state just before it; the states stay as they "
                "are, and the updates sum to the last state minus x0.",
                "update는 state에서 바로 앞 state를 뺀 것이다. state들은 바뀌지 않고, update를 "
                "모두 더하면 마지막 state에서 x0을 뺀 것이 된다.",
            ),
            [
                Call(([X, X + DELTA, X + 3 * DELTA],), label=BY_HAND),
                Call((states,), backward=draw.normal(B, T, d)),
            ],
            weight=3,
        ),
        Property(
            "empty",
            Text(
                "A stream with one state has no updates: the list is empty.",
                "state가 하나뿐이면 update는 없다. 빈 list이다.",
            ),
            [Call((states[:1],), label=both("L = 0"))],
        ),
    ]


def ResidualBlock(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, scale = draw.normal(B, T, d), draw.uniform(0.3, 0.8)
    mix = chain(MixTokens(draw.linear(T, T, 2.0)), Activation("tanh"))
    loaded = [{"scale": torch.tensor(value)} for value in (0.5, scale, -2 * scale)]
    weights = {"scale": torch.tensor(scale), "sublayer.weight": draw.linear(d, d)}
    return [
        Property(
            "formula",
            Text(
                "The block gives x + scale * sublayer(x): scale multiplies the update only.",
                "block의 출력은 x + scale * sublayer(x)이다. scale은 update에만 곱해진다.",
            ),
            [
                Call((Scale(3.0),), keep="simple", load=loaded[0]),
                Call((X,), of="simple", label=both("sublayer(x) = 3x, scale = 0.5")),
                Call((mix,), keep="block", load=loaded[1]),
                Call((x,), of="block", backward=draw.normal(B, T, d)),
                Call((mix,), keep="negative", load=loaded[2]),
                Call((x,), of="negative", backward=draw.normal(B, T, d)),
            ],
        ),
        Property(
            "identity",
            Text(
                "A new block is the identity, and the gradient still reaches scale.",
                "갓 만든 block은 항등 함수이고, 그때도 scale에는 gradient가 흐른다.",
            ),
            [
                Call((mix,), keep="new"),
                Call((x,), of="new", backward=draw.normal(B, T, d)),
            ],
        ),
        Property(
            "parameters",
            Text(
                "The parameters of the sublayer belong to the block, and learn.",
                "sublayer의 parameter도 block에 속하고, 함께 학습된다.",
            ),
            [
                Call((Linear(draw.linear(d, d)),), keep="linear", load=weights),
                Call((x,), of="linear", backward=draw.normal(B, T, d)),
                Call((Record(mix, "the sublayer"),), keep="recorded", load=loaded[1]),
                Call((x,), of="recorded"),
            ],
        ),
    ]


def input_gradient_norm(draw: Draw) -> list[Property]:
    B, T, d = draw.sizes((2, 3), (4, 5), (6, 8))
    x, probe = draw.normal(B, T, d), draw.normal(B, T, d)
    sublayers = [*_sublayers(draw, T, d), *_sublayers(draw, T, d)]
    unit = torch.tensor([0.6, 0.0, 0.8, 0.0])
    halves = [Scale(0.5), Scale(0.5)]
    required = Text("x.requires_grad is already True", "x.requires_grad가 이미 True")
    return [
        Property(
            "with_add",
            Text(
                "With the add: the norm of the gradient of (x_L * probe).sum() with respect to x.",
                "더할 때: (x_L * probe).sum()을 x로 미분한 gradient의 norm이다.",
            ),
            [
                Call((halves, X, unit, True), label=BY_HAND),
                Call((sublayers, x, probe, True)),
            ],
        ),
        Property(
            "without_add",
            Text(
                "Without the add: the same, where each sublayer's output replaces the stream.",
                "더하지 않을 때: sublayer의 출력이 stream을 대신할 뿐, 재는 것은 같다.",
            ),
            [
                Call((halves, X, unit, False), label=BY_HAND),
                Call((sublayers, x, probe, False)),
            ],
        ),
        Property(
            "any_input",
            Text(
                "It works with no sublayers, for a single sequence, and whether or not x already "
                "requires a gradient.",
                "sublayer가 없어도, sequence가 하나뿐이어도, x가 이미 gradient를 요구하고 있어도 "
                "잘 동작한다.",
            ),
            [
                Call(([], x, probe, True), label=both("L = 0")),
                Call(([], x, probe, False), label=both("L = 0")),
                Call((sublayers[:2], x[0], probe[0], True), label=both("x: (T, d_model)")),
                Call((sublayers[:3], x, probe, True), backward=torch.zeros(()), label=required),
            ],
        ),
        Property(
            "no_trace",
            NO_TRACE,
            [Call((halves, X, unit, True))],
            judge=leaves_no_mark,
        ),
    ]
