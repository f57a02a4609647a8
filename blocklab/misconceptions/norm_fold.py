"""Wrong turns in folding an RMSNorm's gain into the Linear that reads it."""

import torch

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text

FORMS = {
    "rows": (
        lambda gain, weight: gain[:, None] * weight,
        Text(
            "The gain scales the rows of the weight, what comes out. The norm stands in front: "
            "gain[j] belongs to component j of what the Linear reads, which is column j.",
            "weight의 행, 곧 출력에 gain을 곱했습니다. norm은 Linear 앞에 있으므로 gain[j]는 "
            "Linear가 읽는 j번째 성분, 곧 j번째 열에 곱해야 합니다.",
        ),
    ),
    "divided": (
        lambda gain, weight: weight / gain,
        Text(
            "The weight is divided by the gain. That would undo a gain which is still there; here "
            "the norm has lost its gain and the weight takes over its job, so multiply.",
            "gain으로 나누었습니다. 나누기는 남아 있는 gain을 되돌릴 때 합니다. 여기서는 norm에서 "
            "gain이 사라지고 weight가 그 일을 대신하므로 곱해야 합니다.",
        ),
    ),
    "one_plus": (
        lambda gain, weight: weight * (1 + gain),
        Text(
            "The weight is multiplied by 1 + gain. Some models store a gain minus 1 (Gemma); here "
            "the gain is the factor itself.",
            "1 + gain을 곱했습니다. gain에서 1을 뺀 값을 저장하는 모델도 있지만(Gemma), 여기서는 "
            "gain이 곱할 값 자체입니다.",
        ),
    ),
    "twice": (
        lambda gain, weight: weight * gain * gain,
        Text(
            "The gain is folded in twice. It acts once, on what the Linear reads.",
            "gain을 두 번 곱했습니다. gain은 Linear가 읽는 값에 한 번만 작용합니다.",
        ),
    ),
    "mean_gain": (
        lambda gain, weight: weight * gain.mean(),
        Text(
            "One number, the mean of the gain, multiplies everything. Each component has a factor "
            "of its own.",
            "gain의 평균 하나를 모든 성분에 곱했습니다. gain은 성분마다 다릅니다.",
        ),
    ),
    "absolute": (
        lambda gain, weight: weight * gain.abs(),
        Text(
            "The signs of the gain are lost. A negative gain turns its component round.",
            "gain의 부호가 사라졌습니다. gain이 음수이면 그 성분의 부호가 뒤집힙니다.",
        ),
    ),
    "summed": (
        lambda gain, weight: weight @ gain,
        Text(
            "weight @ gain sums over the components: that is what the Linear makes of the gain as "
            "an input, d_out numbers. A weight is wanted, (d_out, d_model).",
            "weight @ gain은 성분들에 대해 합을 냅니다. 그것은 gain을 Linear에 넣었을 때의 출력인 "
            "수 d_out개입니다. 필요한 것은 (d_out, d_model)인 weight입니다.",
        ),
    ),
    "transposed": (
        lambda gain, weight: (weight * gain).mT,
        Text(
            "The result is transposed, (d_model, d_out). A Linear's weight is (d_out, d_model), as "
            "it came in.",
            "결과가 전치되어 (d_model, d_out)입니다. Linear의 weight는 받은 그대로 "
            "(d_out, d_model)입니다.",
        ),
    ),
    "unchanged": (
        lambda gain, weight: weight.clone(),
        Text(
            "The weight comes back as it was: the gain is gone from the norm and nowhere else.",
            "weight가 그대로 돌아왔습니다. norm에서 사라진 gain을 아무도 대신하지 않습니다.",
        ),
    ),
}
FLOW = {
    "in_place": Text(
        "It writes into the weight it was given (weight *= …). Whoever holds that tensor has a "
        "changed model now. Return a new one.",
        "받은 weight에 덮어씁니다 (weight *= …). 같은 tensor를 가진 쪽의 모델이 바뀌어 버립니다. "
        "새 tensor를 돌려주세요.",
    ),
    "detached": Text(
        "The result is cut off from the graph, so no gradient reaches gain and weight.",
        "결과가 graph에서 끊겨 gain과 weight에 gradient가 전해지지 않습니다.",
    ),
}


def _fold_gain(wrong: Wrong):
    form = next((form for flag, (form, _) in FORMS.items() if flag in wrong), torch.mul)

    def fold_gain(gain, weight):
        if "detached" in wrong:
            gain, weight = gain.detach(), weight.detach()
        y = form(gain, weight)
        return weight.copy_(y) if "in_place" in wrong else y

    return fold_gain


fold_gain = Misconceptions(
    _fold_gain,
    {**{flag: says for flag, (_, says) in FORMS.items()}, **FLOW},
    apart=(
        frozenset(FORMS),
        frozenset({*FLOW, "unchanged", "summed", "transposed"}),
    ),
)
