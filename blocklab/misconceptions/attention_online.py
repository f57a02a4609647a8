"""Wrong turns in a softmax over chunks."""

import torch

from blocklab.misconceptions.attention_words import FLOW
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _online_softmax(wrong: Wrong):
    def online_softmax(scores, values, kept=None):
        if kept is None or "forgets" in wrong:
            kept = torch.tensor(0.0 if "start_zero" in wrong else -torch.inf), 0.0, 0.0
        top, total, output = kept
        new_top = scores.max() if "last_top" in wrong else torch.maximum(top, scores.max())
        e, shrink = _measured(scores, top, new_top, wrong)
        new_total, old = _sums(total, shrink, e, wrong)
        if "detached" in wrong:
            e = e.detach()
        output = _output(output, old, shrink, e, scores, values, new_total, wrong)
        return _returned(top if "stale_top" in wrong else new_top, new_total, output, wrong)

    return online_softmax


def _measured(scores, top, new_top, wrong: Wrong):
    """The new terms of the sum, and the factor for the old ones."""
    if "overflow" in wrong:
        return scores.exp() / new_top.exp(), top.exp() / new_top.exp()
    e = (scores - (scores.max() if "own_top" in wrong else new_top)).exp()
    if "no_shrink" in wrong:
        return e, torch.tensor(1.0)
    if "inverted" in wrong and top.isfinite():
        return e, (new_top - top).exp()
    return e, (top - new_top).exp()


def _sums(total, shrink, e, wrong: Wrong):
    """The new total, and the weight of what the old output stands for."""
    if "in_place" in wrong:
        total *= shrink
        return total + e.sum(), total
    old = total * shrink
    new_total = (total if "total_unshrunk" in wrong else old) + e.sum()
    if "total_forgotten" in wrong:
        return new_total, shrink
    return new_total, total if "output_unshrunk" in wrong else old


def _output(output, old, shrink, e, scores, values, new_total, wrong: Wrong):
    if "sum_kept" in wrong:
        return shrink * output + e @ values
    if "averaged" in wrong:
        return (output + scores.softmax(0) @ values) / (1 if isinstance(output, float) else 2)
    return (old * output + e @ values) / new_total


def _returned(top, total, output, wrong: Wrong):
    if "numbers" in wrong:
        return top.item(), total.item(), output
    if "output_alone" in wrong:
        return output
    return (output, top, total) if "output_first" in wrong else (top, total, output)


_TOP = {
    "last_top": Text(
        "The largest score is that of the new chunk alone. If an earlier one was larger, its share "
        "is e to a positive number, which in float32 overflows from 89 on. Take the larger of top "
        "and scores.max().",
        "최댓값을 새 chunk에서만 구했습니다. 앞에 더 큰 score가 있었다면 그 몫에서 e의 지수가 "
        "양수가 되고, float32에서 89부터는 overflow입니다. top과 scores.max() 가운데 큰 쪽을 "
        "쓰세요.",
    ),
    "start_zero": Text(
        "It starts with 0 as the largest score, but no key has that score. If all scores are far "
        "below 0, every e^(score - 0) is 0, and 0 / 0 is NaN. Start with -inf.",
        "최댓값을 0에서 시작했는데, score가 0인 key는 없습니다. score가 모두 0보다 훨씬 작으면 "
        "e^(score - 0)이 모두 0이 되고 0 / 0은 NaN입니다. -inf에서 시작하세요.",
    ),
    "stale_top": Text(
        "The old largest score is returned, though the sums are measured from the new one. The "
        "next call would convert them from the wrong place.",
        "합은 새 최댓값을 기준으로 구했는데, 돌려준 것은 옛 최댓값입니다. 다음 호출에서 엉뚱한 "
        "기준으로 환산하게 됩니다.",
    ),
}
_MEASURE = {
    "no_shrink": Text(
        "What was kept is added as it is. Its terms are e^(score - old top); measured from the new "
        "top each is smaller by the factor e^(old top - new top).",
        "보관한 값을 그대로 더했습니다. 그 항들은 e^(score - 옛 top)입니다. 새 top을 기준으로 "
        "하면 항마다 e^(옛 top - 새 top)배로 줄어듭니다.",
    ),
    "inverted": Text(
        "The factor is e^(new top - old top), which is above 1. A higher top makes what was kept "
        "smaller: e^(old top - new top).",
        "곱한 값이 e^(새 top - 옛 top)이라서 1보다 큽니다. top이 올라가면 보관한 값은 작아져야 "
        "합니다: e^(옛 top - 새 top).",
    ),
    "own_top": Text(
        "The new chunk is measured from its own largest score, what was kept from the joint one. "
        "A chunk of low scores then counts as much as one of high scores.",
        "새 chunk는 자기 최댓값을, 보관한 값은 전체 최댓값을 기준으로 삼았습니다. 그러면 score가 "
        "낮은 chunk도 높은 chunk만큼 큰 몫을 차지합니다.",
    ),
    "overflow": Text(
        "e^score and e^top are computed as they stand and then divided. In float32 both are inf "
        "from 89 on, and inf / inf is NaN. Subtract first: e^(score - top).",
        "e^score와 e^top을 따로 구해서 나누었습니다. float32에서 89부터는 둘 다 inf이고, inf / "
        "inf는 NaN입니다. 먼저 빼세요: e^(score - top).",
    ),
}
_JOIN = {
    "total_unshrunk": Text(
        "The kept output is converted to the new top, the kept sum is not. Both belong to the old "
        "top.",
        "보관한 출력은 새 top에 맞게 환산했지만 보관한 합은 그대로입니다. 둘 다 옛 top을 기준으로 "
        "한 값입니다.",
    ),
    "output_unshrunk": Text(
        "The kept sum is converted to the new top, but the old output is weighted with the sum "
        "before that.",
        "보관한 합은 새 top에 맞게 환산했지만, 옛 출력에는 환산하기 전의 합을 곱했습니다.",
    ),
    "total_forgotten": Text(
        "The old output is scaled by e^(old top - new top) only. It is a mean, and stands for all "
        "earlier keys: its weight is the whole old sum, converted.",
        "옛 출력에 e^(옛 top - 새 top)만 곱했습니다. 출력은 평균이고 앞선 key 전체를 대신하므로, "
        "환산한 옛 합 전체를 곱해야 합니다.",
    ),
    "sum_kept": Text(
        "The output is a sum that is not divided by the total. That can be kept too "
        "(FlashAttention-2 divides once, at the very end); here output is the mean so far.",
        "출력이 total로 나누지 않은 합입니다. 그렇게 보관하는 방법도 있지만(FlashAttention-2는 맨 "
        "끝에 한 번 나눕니다), 여기서 output은 지금까지의 평균입니다.",
    ),
    "averaged": Text(
        "The new chunk has a softmax of its own, and the two outputs are averaged. A chunk counts "
        "as much as its e^(score - top) say.",
        "새 chunk에 softmax를 따로 취하고 두 출력의 평균을 냈습니다. chunk의 몫은 그 안의 "
        "e^(score - top)에 따라 정해집니다.",
    ),
    "forgets": Text(
        "kept is not used: this is the softmax of the last chunk alone.",
        "kept를 쓰지 않았습니다. 마지막 chunk만의 softmax입니다.",
    ),
}
_FORM = {
    "output_first": Text(
        "The output stands first. Asked for: (top, total, output).",
        "output이 맨 앞에 있습니다. (top, total, output) 순서로 돌려주세요.",
    ),
    "output_alone": Text(
        "Only the output is returned. The next chunk cannot be joined to it without top and total.",
        "output만 돌려주었습니다. top과 total이 없으면 다음 chunk를 이어 붙일 수 없습니다.",
    ),
    "numbers": Text(
        "top and total are Python numbers (.item()). Leave them as tensors of shape (): numbers "
        "carry no gradient.",
        "top과 total이 Python 수입니다(.item()). shape ()인 tensor로 두세요. 수에는 gradient가 "
        "흐르지 않습니다.",
    ),
}
_FLOW = {
    "in_place": Text(
        "It writes into what was kept (total *= …). Another continuation may start from the same "
        "place; total = total * … makes a new tensor.",
        "보관한 값에 덮어씁니다(total *= …). 같은 자리에서 다른 갈래로 이어 갈 수도 있습니다. "
        "total = total * …는 새 tensor를 만듭니다.",
    ),
    **FLOW,
}
_SUMS = {**_TOP, **_MEASURE, **_JOIN}
online_softmax = Misconceptions(
    _online_softmax,
    {**_SUMS, **_FORM, **_FLOW},
    apart=(
        frozenset({*_SUMS, *_FLOW, "numbers"}),
        frozenset({*_FORM, *_FLOW}),
        frozenset({"output_alone", "stale_top"}),
    ),
)
