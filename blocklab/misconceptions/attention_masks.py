"""Wrong turns in building a mask, and in recognising one."""

import torch
from torch import Tensor

from blocklab.misconceptions.attention_painted import UPPER
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _causal_mask(wrong: Wrong):
    def causal_mask(T, past=0):
        if "past_ignored" in wrong:
            past = 0
        mask = _square(past + T if "too_many_rows" in wrong else T, past, wrong)
        if "inverted" in wrong:
            mask = ~mask
        if "four_axes" in wrong:
            mask = mask[None, None]
        if "numbers" in wrong:
            return mask.float()
        return (
            torch.zeros(mask.shape).masked_fill(~mask, -torch.inf) if "additive" in wrong else mask
        )

    return causal_mask


def _square(T: int, past: int, wrong: Wrong) -> Tensor:
    """The mask with its diagonal, its triangle and its past where they are wrongly put."""
    full = torch.ones(T, past + T).bool()
    if "bidirectional" in wrong or ("past_opens_all" in wrong and past):
        return full
    shift = -1 if "diagonal_out" in wrong else 1 if "one_future" in wrong else 0
    new = torch.ones(T, T).bool()
    new = new.triu(-shift) if "upper" in wrong else new.tril(shift)
    before = torch.ones(T, past).bool()
    if "top_left" in wrong:
        return full.triu(-shift) if "upper" in wrong else full.tril(shift)
    if "past_behind" in wrong:
        return torch.cat([new, before], 1)
    return torch.cat([~before if "past_hidden" in wrong else before, new], 1)


_TRIANGLE = {
    "upper": UPPER,
    "bidirectional": Text(
        "Everything is True: nothing is masked.",
        "모두 True입니다. 아무것도 가리지 않습니다.",
    ),
    "diagonal_out": Text(
        "The diagonal is masked as well: no token sees itself, and the first has an empty row, "
        "where a softmax gives NaN.",
        "대각선까지 가렸습니다. 어떤 token도 자기 자신을 보지 못하고, 첫 행은 비어서 softmax가 "
        "NaN이 됩니다.",
    ),
    "one_future": Text(
        "One token of the future is visible. It is the very token that is to be predicted: the "
        "training loss goes towards 0, and all that is learned is to copy.",
        "미래의 token 하나가 보입니다. 바로 예측해야 할 token이라서, 학습 loss는 0에 가까워지지만 "
        "배우는 것은 베끼기뿐입니다.",
    ),
}
_PAST = {
    "past_ignored": Text(
        "past is not used: the mask has no columns for the tokens that came before.",
        "past를 쓰지 않았습니다. 앞서 지나간 token에 해당하는 열이 없습니다.",
    ),
    "top_left": Text(
        "The diagonal starts in the top left corner, as is_causal=True has it: new token 0 then "
        "sees only position 0, the oldest. Row i stands at position past + i: shift the diagonal.",
        "대각선이 왼쪽 위 구석에서 시작합니다(is_causal=True가 이렇게 합니다). 그러면 새 token "
        "0은 가장 오래된 0번 위치만 봅니다. i번 행의 위치는 past + i이니 대각선을 옮기세요.",
    ),
    "past_hidden": Text(
        "The past is False: the new tokens see only one another.",
        "과거가 False입니다. 새 token들이 자기들끼리만 봅니다.",
    ),
    "past_behind": Text(
        "The columns of the past stand at the right. Positions go on from left to right: past "
        "first, then the new tokens.",
        "과거의 열이 오른쪽에 있습니다. 위치는 왼쪽에서 오른쪽으로 이어집니다. 과거가 먼저이고 새 "
        "token이 그다음입니다.",
    ),
    "past_opens_all": Text(
        "As soon as there is a past, everything is True. That is right for one new token, but "
        "several of them must not see one another's future.",
        "past가 있으면 모두 True가 됩니다. 새 token이 하나일 때만 맞습니다. 여럿이면 서로의 "
        "미래를 보면 안 됩니다.",
    ),
    "too_many_rows": Text(
        "There is a row for each token of the past too. Only the T new tokens ask.",
        "과거의 token에도 행이 있습니다. 묻는 것은 새 token T개뿐입니다.",
    ),
}
_FORM = {
    "inverted": Text(
        "True and False are exchanged. That is the convention of nn.MultiheadAttention, where "
        "True means hidden; here, as in scaled_dot_product_attention, True means visible.",
        "True와 False가 바뀌었습니다. True가 가림을 뜻하는 것은 nn.MultiheadAttention의 "
        "방식입니다. 여기서는 scaled_dot_product_attention처럼 True가 보임을 뜻합니다.",
    ),
    "numbers": Text(
        "The mask holds numbers, 0.0 and 1.0. Make it bool: dtype=torch.bool, or .bool().",
        "mask에 0.0과 1.0이라는 수가 들어 있습니다. bool로 만드세요: dtype=torch.bool 또는 "
        ".bool().",
    ),
    "additive": Text(
        "This is the additive form, 0 and -inf. It is right for adding to scores; a bool mask is "
        "asked for, True where attending is allowed.",
        "score에 더하는 형태(0과 -inf)입니다. 그것도 쓰이지만, 여기서는 허용된 자리가 True인 bool "
        "mask를 요구합니다.",
    ),
    "four_axes": Text(
        "The mask has extra axes of size 1. (T, past + T) broadcasts over texts and heads as it "
        "is.",
        "크기 1인 축이 더 있습니다. (T, past + T) 그대로 글과 head에 broadcast됩니다.",
    ),
}
causal_mask = Misconceptions(
    _causal_mask,
    {**_TRIANGLE, **_PAST, **_FORM},
    apart=(
        frozenset(_TRIANGLE),
        frozenset(_PAST),
        frozenset({"numbers", "additive"}),
        frozenset({"bidirectional", *_PAST}),
    ),
)


def _which_mask(wrong: Wrong):
    def which_mask(weights):
        least = 0.01 if "threshold" in wrong else 1e-6 if "tolerance" in wrong else 0
        seen = weights > least
        kind = _kind(seen.T if "transposed" in wrong else seen, wrong)
        if "names_swapped" in wrong:
            return {"window": "packed", "packed": "window"}.get(kind, kind)
        return kind

    return which_mask


def _kind(seen: Tensor, wrong: Wrong) -> str:
    """The kind of a mask (T, T), as wrongly as the flags say."""
    T = len(seen)
    if seen.all():
        return "bidirectional"
    if seen.triu(1).any():
        return "bidirectional" if "any_future" in wrong else "prefix"
    if "lower_is_causal" in wrong or torch.equal(seen, torch.ones(T, T).tril().bool()):
        return "causal"
    signs = {
        "no_packed": True,
        "no_window": False,
        "window_of_two": seen.sum() == 2 * T - 1,
        "rows_of_three": seen.sum(-1).max() == 3,
        "second_row": seen[1, 0],
        "last_row": seen[-1, -2],
    }
    is_window = next(
        (sign for flag, sign in signs.items() if flag in wrong), seen.diagonal(-1).all()
    )
    return "window" if is_window else "packed"


_READING = {
    "threshold": Text(
        "Weights below 0.01 or so count as forbidden. An allowed key with a low score has a small "
        "weight too; a forbidden one has exactly 0.",
        "0.01쯤보다 작은 weight를 막힌 것으로 보았습니다. 허용된 key도 score가 낮으면 weight가 "
        "작습니다. 막힌 자리는 정확히 0입니다.",
    ),
    "tolerance": Text(
        "Weights that are nearly 0 count as 0 (isclose, allclose, round). Compare with 0 itself: "
        "weights > 0.",
        "0에 가까운 weight를 0으로 보았습니다(isclose, allclose, round). 0 자체와 비교하세요: "
        "weights > 0.",
    ),
    "transposed": Text(
        "Rows and columns are exchanged: row i is what token i takes.",
        "행과 열이 바뀌었습니다. i번 행이 token i가 가져오는 것입니다.",
    ),
    "names_swapped": Text(
        "window and packed have changed names.",
        "window와 packed를 서로 바꾸어 답합니다.",
    ),
}
_KINDS = {
    "any_future": Text(
        "Any weight on a later token makes it bidirectional here. With a prefix mask some tokens "
        "look ahead too: those of the prefix, and only within it.",
        "뒤의 token에 weight가 하나라도 있으면 bidirectional로 보았습니다. prefix mask에서도 "
        "prefix에 든 token끼리는 뒤를 봅니다.",
    ),
    "lower_is_causal": Text(
        "Whatever has nothing above the diagonal is called causal. window and packed have nothing "
        "there either; below the diagonal they differ.",
        "대각선 위가 비어 있으면 모두 causal로 보았습니다. window와 packed도 위가 비어 있습니다. "
        "차이는 대각선 아래에 있습니다.",
    ),
    "no_packed": Text(
        "packed is never recognised: it is taken for a window. In a window every token (but the "
        "first) sees the one just before it.",
        "packed를 window로 잘못 보았습니다. window라면 첫 token을 뺀 모든 token이 바로 앞 token을 "
        "봅니다.",
    ),
    "no_window": Text(
        "A window is never recognised: it is taken for packed.",
        "window를 packed로 잘못 보았습니다.",
    ),
    "window_of_two": Text(
        "Only a window of two tokens is recognised. W may be anything from 2 to T - 1.",
        "폭이 2인 window만 알아봅니다. W는 2부터 T - 1까지 무엇이든 될 수 있습니다.",
    ),
    "rows_of_three": Text(
        "A window is told by rows of three, as in the example. W may be anything from 2 to T - 1, "
        "and a packed text of three tokens has such a row too.",
        "예에 나온 것처럼 행마다 최대 셋이 보이는지로 window를 가려냅니다. W는 2부터 T - 1까지 "
        "무엇이든 될 수 있고, 길이가 3인 packed 글에도 그런 행이 있습니다.",
    ),
    "second_row": Text(
        "packed is recognised only where the first text has one token. A text may begin anywhere.",
        "첫 글이 한 token일 때만 packed를 알아봅니다. 글은 어디서든 시작할 수 있습니다.",
    ),
    "last_row": Text(
        "packed is recognised only where the last text has one token. A text may begin anywhere.",
        "마지막 글이 한 token일 때만 packed를 알아봅니다. 글은 어디서든 시작할 수 있습니다.",
    ),
}
which_mask = Misconceptions(
    _which_mask,
    {**_READING, **_KINDS},
    apart=(frozenset(_READING), frozenset(_KINDS), frozenset({"transposed", *_KINDS})),
)
