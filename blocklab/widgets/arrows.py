"""The arrows of a decoder, and of papers about it, to be told apart by where they start."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from blocklab.figures.diagram import Point
from blocklab.text import Text, both

LEFT, RIGHT = 56, 284  # the stream, and what branches off it
X0, X1, X2, LAST, LOGITS, MODELS, NORMS = 30, 178, 294, 360, 416, 482, 526
ADD1, ADD2 = 122, 238


class Node(NamedTuple):
    """What arrows start and end at: its name, what it is, and the centre of its drawing.

    kind: "state" is numbers that are there, "output" what the model gives; "part" and "add"
    compute; "design" is none of these.
    """

    name: Text
    kind: Literal["state", "part", "add", "output", "design"]
    at: Point

    @property
    def short(self) -> str:
        """The name as it stands in the drawing, without an article."""
        return str(self.name).removeprefix("the ")


class Arrow(NamedTuple):
    """An arrow between two nodes of one row or of one column.

    follows: by label, what else would be so if the arrow stood for that.
    """

    start: Node
    end: Node
    follows: Mapping[str, Text] = MappingProxyType({})


_x0 = Node(both("x₀"), "state", (LEFT, X0))
_norm1 = Node(both("Norm 1"), "part", (RIGHT, X0))
_attention = Node(both("Attention"), "part", (RIGHT, ADD1))
_add1 = Node(Text("the first add", "첫째 덧셈"), "add", (LEFT, ADD1))
_x1 = Node(both("x₁"), "state", (LEFT, X1))
_norm2 = Node(both("Norm 2"), "part", (RIGHT, X1))
_ffn = Node(Text("the FFN", "FFN"), "part", (RIGHT, ADD2))
_add2 = Node(Text("the second add", "둘째 덧셈"), "add", (LEFT, ADD2))
_x2 = Node(both("x₂"), "state", (LEFT, X2))
_next = Node(Text("the next block", "다음 block"), "part", (RIGHT, X2))
_final_norm = Node(Text("the Final Norm", "Final Norm"), "part", (LEFT, LAST))
_lm_head = Node(Text("the LM head", "LM head"), "part", (LEFT, LOGITS))
_logits = Node(Text("the logits", "logits"), "output", (RIGHT, LOGITS))
_gpt1 = Node(both("GPT-1"), "design", (LEFT, MODELS))
_gpt2 = Node(both("GPT-2"), "design", (RIGHT, MODELS))
_layer_norm = Node(both("LayerNorm"), "design", (LEFT, NORMS))
_rms_norm = Node(both("RMSNorm"), "design", (RIGHT, NORMS))

_RUN_FIRST = Text(
    "Whoever runs GPT-2 would have to run GPT-1 first.",
    "GPT-2를 실행하려면 GPT-1부터 실행해야 할 것입니다.",
)

ARROWS = (
    Arrow(_x0, _norm1),
    Arrow(
        _x0,
        _add1,
        {
            "processing": Text(
                "There would be no residual: what the add gets would no longer be x₀ itself.",
                "residual이 없는 셈입니다. 덧셈이 받는 것은 더 이상 x₀ 자체가 아닙니다.",
            ),
            "history": Text(
                "x₁ would be what attention writes and nothing else: x₀ would be lost.",
                "x₁에는 attention이 쓴 것만 남고, x₀은 사라질 것입니다.",
            ),
        },
    ),
    Arrow(
        _norm1,
        _attention,
        {
            "input": Text(
                "Attention would read x₀ at whatever scale it has, as if Norm 1 were not there.",
                "Norm 1이 없는 것처럼 attention이 x₀을 원래 크기 그대로 읽을 것입니다.",
            )
        },
    ),
    Arrow(
        _attention,
        _add1,
        {
            "input": Text(
                "No token would get anything from another one.",
                "어떤 token도 다른 token에서 아무것도 얻지 못할 것입니다.",
            ),
            "history": Text(
                "Attention would write nothing: x₁ = x₀.",
                "attention은 아무것도 쓰지 않을 것입니다. 곧 x₁ = x₀입니다.",
            ),
        },
    ),
    Arrow(_x1, _norm2),
    Arrow(
        _ffn,
        _add2,
        {
            "input": Text(
                "A normalised copy of x₁ would be added to x₁, as if the FFN were not there.",
                "FFN이 없는 것처럼, x₁을 정규화한 사본이 x₁에 더해질 것입니다.",
            ),
            "history": Text(
                "The FFN would write nothing: x₂ = x₁.",
                "FFN은 아무것도 쓰지 않을 것입니다. 곧 x₂ = x₁입니다.",
            ),
        },
    ),
    Arrow(
        _x2,
        _next,
        {
            "history": Text(
                "The second block would have nothing to read.",
                "둘째 block은 읽을 것이 없을 것입니다.",
            ),
            "recurrence": Text(
                "Tokens would wait for one another, as in an RNN. One block after another is "
                "depth, not time.",
                "RNN처럼 token이 서로를 기다려야 할 것입니다. block이 이어지는 것은 시간이 아니라 "
                "깊이입니다.",
            ),
        },
    ),
    Arrow(
        _lm_head,
        _logits,
        {
            "input": Text(
                "A token would get d_model numbers, not one score for each token of the "
                "vocabulary.",
                "token마다 나오는 것이 vocabulary의 token별 점수가 아니라 수 d_model개일 것입니다.",
            )
        },
    ),
    Arrow(_gpt1, _gpt2, {"input": _RUN_FIRST, "processing": _RUN_FIRST}),
    Arrow(
        _layer_norm,
        _rms_norm,
        {
            "processing": Text(
                "A block would have both norms in a row; it has the one or the other.",
                "block에 두 norm이 잇달아 있는 셈입니다. 실제로는 둘 가운데 하나만 있습니다.",
            )
        },
    ),
)
GIVEN = (  # drawn, but not asked for
    Arrow(_add1, _x1),
    Arrow(_norm2, _ffn),
    Arrow(_x1, _add2),
    Arrow(_add2, _x2),
    Arrow(_x2, _final_norm),
    Arrow(_final_norm, _lm_head),
)
