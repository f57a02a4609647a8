"""Wrong turns in where a block puts its norms, drawn as an order of steps."""

from collections.abc import Mapping

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.reference import norm as reference
from blocklab.text import Text

POST = Text(
    "This is Post-Norm: the norm stands on the stream, after the add. In Pre-Norm it stands on the "
    "branch, before the sublayer, and the stream itself is never normalised.",
    "이것은 Post-Norm입니다. norm이 add 뒤, stream 위에 놓였습니다. Pre-Norm의 norm은 sublayer "
    "앞의 갈래에 있고, stream 자체는 정규화하지 않습니다.",
)
PRE = Text(
    "This is Pre-Norm: the norm stands before the sublayer. In Post-Norm the sublayer reads the "
    "stream as it is, and the sum is normalised.",
    "이것은 Pre-Norm입니다. norm이 sublayer 앞에 놓였습니다. Post-Norm에서는 sublayer가 "
    "stream을 그대로 읽고, 더한 결과를 정규화합니다.",
)
AFTER_SUBLAYER = Text(
    "The norm stands between the sublayer and the add: only what the sublayer wrote is normalised. "
    "That is a third place (Swin v2 has it), neither Pre-Norm nor Post-Norm.",
    "norm이 sublayer와 add 사이에 있어서 sublayer가 쓴 것만 정규화됩니다. 그것은 Pre-Norm도 "
    "Post-Norm도 아닌 제3의 자리입니다 (Swin v2가 그렇습니다).",
)
SANDWICH = Text(
    "The sublayer has a norm on both sides, before it and before the add. Some models do that "
    "(Gemma 2); Pre-Norm has only the one in front.",
    "sublayer의 앞과 add의 앞, 두 곳에 norm이 있습니다. 그런 모델도 있지만(Gemma 2), Pre-Norm에는 "
    "앞쪽 하나뿐입니다.",
)
NO_RESIDUAL = Text(
    "The add is missing: what the sublayer makes replaces the stream. Where the norm stands is one "
    "question, whether there is a residual another; Pre-Norm and Post-Norm both have it.",
    "add가 없어서 sublayer의 결과가 stream을 대체합니다. norm의 자리와 residual의 유무는 서로 "
    "다른 질문이고, Pre-Norm과 Post-Norm에는 모두 residual이 있습니다.",
)
NO_NORM = Text(
    "There is no norm at all here.",
    "norm이 어디에도 없습니다.",
)
NORM_TWICE = Text(
    "The norm is applied twice in a row. With a gain, the second time changes the result again.",
    "norm을 연달아 두 번 적용했습니다. gain이 있으면 두 번째 적용에서 값이 또 바뀝니다.",
)
HALF_AND_HALF = Text(
    "One half of the block is Pre-Norm and the other half Post-Norm. Both sublayers follow one "
    "rule.",
    "block의 절반은 Pre-Norm, 나머지 절반은 Post-Norm입니다. 두 sublayer는 같은 규칙을 따릅니다.",
)
FFN_FIRST = Text(
    "The FFN comes before the attention. A block first lets tokens read each other, then works on "
    "each of them.",
    "FFN이 attention보다 앞에 있습니다. block은 먼저 token끼리 정보를 주고받게 하고, 그다음 "
    "token마다 계산합니다.",
)
ONE_NORM = Text(
    "One norm serves the whole block. Each of the two sublayers has a norm of its own.",
    "block 전체에 norm이 하나뿐입니다. 두 sublayer는 각자 자기 norm을 가집니다.",
)
ONE_ADD = Text(
    "There is one add in the whole block. Each of the two sublayers adds to the stream, so the "
    "attention's update must be added before the FFN's norm reads the stream.",
    "block 전체에 add가 하나뿐입니다. 두 sublayer가 각각 stream에 더하므로, attention의 결과를 "
    "먼저 더한 뒤에 FFN이 읽어야 합니다.",
)


def _places(right: str, orders: Mapping[str, tuple[str, Text]]) -> Misconceptions:
    """Wrong orders of a block's steps, one for each flag."""

    def variant(wrong: Wrong) -> str:
        return next((orders[flag][0] for flag in orders if flag in wrong), right)

    return Misconceptions(
        variant, {flag: words for flag, (_, words) in orders.items()}, (frozenset(orders),)
    )


_OTHER_PLACES = {
    "after_sublayer": ("attention norm add ffn norm add", AFTER_SUBLAYER),
    "pre_then_post": ("norm attention add ffn add norm", HALF_AND_HALF),
    "post_then_pre": ("attention add norm norm ffn add", HALF_AND_HALF),
    "no_norm": ("attention add ffn add", NO_NORM),
}
pre_norm_places = _places(
    reference.pre_norm_places,
    {
        "post": (reference.post_norm_places, POST),
        **_OTHER_PLACES,
        "sandwich": ("norm attention norm add norm ffn norm add", SANDWICH),
        "no_residual": ("norm attention norm ffn", NO_RESIDUAL),
        "replaced": ("norm attention replace norm ffn replace", NO_RESIDUAL),
        "ffn_first": ("norm ffn add norm attention add", FFN_FIRST),
        "one_norm": ("norm attention add ffn add", ONE_NORM),
        "one_add": ("norm attention norm ffn add", ONE_ADD),
    },
)
post_norm_places = _places(
    reference.post_norm_places,
    {
        "pre": (reference.pre_norm_places, PRE),
        **_OTHER_PLACES,
        "no_residual": ("attention norm ffn norm", NO_RESIDUAL),
        "replaced": ("attention replace norm ffn replace norm", NO_RESIDUAL),
        "ffn_first": ("ffn add norm attention add norm", FFN_FIRST),
        "one_norm": ("attention add ffn add norm", ONE_NORM),
        "one_add": ("attention norm ffn add norm", ONE_ADD),
    },
)
