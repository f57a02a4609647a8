"""Wrong turns in telling whether a function mixes positions."""

import torch

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text

TIMID = 1e-4


def _mixes_positions(wrong: Wrong):
    def mixes_positions(f, x):
        if "always" in wrong or "never" in wrong:
            return "always" in wrong
        found = _found(f, x, wrong)
        return not found if "inverted" in wrong else found

    return mixes_positions


def _found(f, x, wrong: Wrong) -> bool:
    if "gradient_of_sum" in wrong:
        return _gradient_elsewhere(f, x)
    if "equivariance" in wrong:
        return not torch.allclose(f(x.flip(1)), f(x).flip(1))
    if "halves" in wrong:
        return _seen_at_all(f, x, slice(0, x.shape[1] // 2), wrong)
    if wrong & {"same_for_others", "reordered"}:
        return any(_seen_from_others(f, x, t, wrong) for t in range(x.shape[1]))
    if "features" in wrong:
        return mixes_positions.variant(frozenset())(lambda y: f(y.mT).mT, x.mT)
    return any(_seen_at_all(f, x, t, wrong) for t in _perturbed(x, wrong))


def _perturbed(x, wrong: Wrong) -> list[int]:
    """The positions that are changed, one at a time."""
    T = x.shape[1]
    if "first_only" in wrong:
        return [0]
    if "middle_only" in wrong:
        return [T // 2]
    if "ends_only" in wrong:
        return [0, T - 1]
    return [T - 1] if "last_only" in wrong else list(range(T))


def _seen_at_all(f, x, where, wrong: Wrong) -> bool:
    """Whether a change at one position, or at several, is seen where it is looked for."""
    before = f(x)
    changed = x if "in_place" in wrong else x.clone()
    old = x[:, where].clone()
    changed[:, where] = _changed(old, wrong)
    tolerance = 0.1 if "coarse" in wrong else TIMID if "timid" in wrong else 1e-8
    moved = ~torch.isclose(f(changed), before, atol=tolerance)
    return bool(_elsewhere(moved, where, wrong).any())


def _seen_from_others(f, x, t: int, wrong: Wrong) -> bool:
    """Whether a change at all other positions together is seen at position t."""
    others = [s for s in range(x.shape[1]) if s != t]
    changed = x.clone()
    if "reordered" in wrong:
        changed[:, others] = x[:, others[::-1]]
    else:
        changed[:, others] += torch.randn_like(x[:, :1])
    return not torch.allclose(f(changed)[:, t], f(x)[:, t])


def _changed(token, wrong: Wrong):
    if "nan" in wrong:
        return token * float("nan")
    if "constant" in wrong:
        return token + 1
    if wrong & {"doubled", "negated"}:
        return token * (2 if "doubled" in wrong else -1)
    if "one_feature" in wrong:
        return torch.cat([token[..., :1] + 1, token[..., 1:]], -1)
    return token + torch.randn_like(token) * (TIMID if "timid" in wrong else 1)


def _elsewhere(moved, where, wrong: Wrong):
    """The positions that are looked at."""
    if "itself" in wrong:
        return moved
    moved[:, where] = False
    if "looks_back" in wrong:
        return moved[:, :where]
    if "looks_ahead" in wrong:
        return moved[:, where + 1 :]
    if "neighbours" in wrong:
        return moved[:, max(where - 1, 0) : where + 2]
    return moved[:, -1:] if "last_output" in wrong else moved


def _gradient_elsewhere(f, x) -> bool:
    """The gradient of the plain sum of one output token, looked for at the other positions."""
    x = x.clone().requires_grad_()
    y = f(x)
    for t in range(x.shape[1]):
        (gradient,) = torch.autograd.grad(y[:, t].sum(), x, retain_graph=True)
        gradient[:, t] = 0
        if bool((gradient.abs() > 1e-9).any()):
            return True
    return False


_WHERE = {
    "last_only": Text(
        "Only the last position is changed. In a causal function nothing looks at it, so causal "
        "mixing goes unseen. Change every position, one at a time.",
        "마지막 위치만 바꿔 보았습니다. causal한 함수에서는 아무도 그 위치를 보지 않으므로 "
        "causal한 mixing을 놓칩니다. 모든 위치를 하나씩 바꿔 보세요.",
    ),
    "first_only": Text(
        "Only the first position is changed. A function may read other positions and not this one.",
        "첫 위치만 바꿔 보았습니다. 다른 위치는 읽으면서 이 위치는 읽지 않는 함수도 있습니다.",
    ),
    "middle_only": Text(
        "Only one position in the middle is changed. It may be the one that nobody reads.",
        "가운데 한 위치만 바꿔 보았습니다. 하필 아무도 읽지 않는 위치일 수 있습니다.",
    ),
    "ends_only": Text(
        "Only the first and the last position are changed. A function may read one between them, "
        "and neither of these.",
        "첫 위치와 마지막 위치만 바꿔 보았습니다. 둘은 읽지 않고 그 사이의 위치만 읽는 함수도 "
        "있습니다.",
    ),
    "halves": Text(
        "One half is changed and the other one looked at, one way only. Mixing within a half, or "
        "the other way round, goes unseen.",
        "앞 절반을 바꾸고 뒤 절반만 보았습니다. 절반 안에서 섞이거나 반대 방향으로 섞이면 "
        "놓칩니다.",
    ),
}
_SEEN = {
    "itself": Text(
        "A changed position is among those compared, or all are changed at once. That an output "
        "follows its own input says nothing: change one position, and look at all the others.",
        "바꾼 위치 자신까지 비교했거나, 모든 위치를 한꺼번에 바꿨습니다. 출력이 자기 입력을 따라 "
        "변하는 것은 당연합니다. 한 위치만 바꾸고, 나머지 모두를 보세요.",
    ),
    "same_for_others": Text(
        "All other positions get the same change. A function that takes the difference of two "
        "positions does not notice.",
        "나머지 위치를 모두 똑같이 바꿨습니다. 두 위치의 차이를 쓰는 함수는 알아채지 못합니다.",
    ),
    "reordered": Text(
        "The other positions only change places. A mean over positions does not notice.",
        "나머지 위치의 순서만 바꿨습니다. 위치의 평균을 쓰는 함수는 알아채지 못합니다.",
    ),
    "looks_back": Text(
        "Only positions before the changed one are looked at: causal mixing goes unseen.",
        "바꾼 위치보다 앞만 보았습니다. causal한 mixing을 놓칩니다.",
    ),
    "looks_ahead": Text(
        "Only positions after the changed one are looked at. A function may take from later ones.",
        "바꾼 위치보다 뒤만 보았습니다. 뒤의 위치에서 가져오는 함수도 있습니다.",
    ),
    "neighbours": Text(
        "Only the neighbours of the changed position are looked at. Mixing may reach far.",
        "바꾼 위치의 이웃만 보았습니다. 더 멀리 섞일 수 있습니다.",
    ),
    "last_output": Text(
        "Only the output at the last position is looked at.",
        "마지막 위치의 출력만 보았습니다.",
    ),
}
_HOW = {
    "constant": Text(
        "The same number is added to all features of a token. A LayerNorm subtracts it again, so "
        "a function that starts with one does not notice. Add random numbers.",
        "token의 모든 feature에 같은 수를 더했습니다. LayerNorm이 그것을 도로 빼므로, "
        "LayerNorm으로 시작하는 함수는 알아채지 못합니다. 무작위 수를 더하세요.",
    ),
    "doubled": Text(
        "The token is only scaled. An RMSNorm divides that away, so a function that starts with "
        "one does not notice. Add random numbers.",
        "token의 크기만 바꿨습니다. RMSNorm이 그것을 나누어 없애므로, RMSNorm으로 시작하는 함수는 "
        "알아채지 못합니다. 무작위 수를 더하세요.",
    ),
    "negated": Text(
        "The token only changes its sign. A function that squares its input does not notice. Add "
        "random numbers.",
        "token의 부호만 바꿨습니다. 입력을 제곱하는 함수는 알아채지 못합니다. 무작위 수를 "
        "더하세요.",
    ),
    "one_feature": Text(
        "Only feature 0 is changed, or looked at. The function may mix other features; change and "
        "compare all of them.",
        "feature 0만 바꾸거나 feature 0만 보았습니다. 다른 feature를 섞는 함수일 수 있으니 모두 "
        "바꾸고 모두 비교하세요.",
    ),
    "nan": Text(
        "A token is set to NaN. 0 · NaN is NaN too, so it spreads even where a weight of 0 lets "
        "nothing through.",
        "token을 NaN으로 바꿨습니다. 0 · NaN도 NaN이라서, weight가 0이라 아무것도 통과하지 않는 "
        "곳에도 번집니다.",
    ),
    "coarse": Text(
        "Small differences are overlooked: the threshold is too coarse for the change that is "
        "made. In float64 rounding is near 1e-15, so a far finer one is safe.",
        "작은 차이를 놓칩니다. 바꾼 크기에 비해 기준이 너무 느슨합니다. float64의 반올림 오차는 "
        "1e-15 정도이므로 훨씬 촘촘한 기준도 안전합니다.",
    ),
    "timid": Text(
        "The change is no larger than the threshold: what reaches another position is smaller yet, "
        "and lost. Change a token by about 1; in float64 rounding is near 1e-15.",
        "바꾼 크기가 기준보다 크지 않습니다. 다른 위치에 전해지는 변화는 더 작아서 묻혀 버립니다. "
        "token을 1쯤 바꾸세요. float64의 반올림 오차는 1e-15 정도입니다.",
    ),
    "in_place": Text(
        "The caller's x is changed, and the changes pile up. Work on x.clone().",
        "호출한 쪽의 x를 바꾸었고, 바꾼 것이 쌓여 갑니다. x.clone()을 쓰세요.",
    ),
}
_ANSWER = {
    "always": Text(
        "It says True of every function, even of one that ignores its input.",
        "입력을 무시하는 함수까지 포함해 어떤 함수에나 True라고 합니다.",
    ),
    "never": Text(
        "It says False of every function, even of one that takes the mean over all positions. Is "
        "a position changed, x[:, t], by enough to be seen, and are the others looked at?",
        "모든 위치의 평균을 내는 함수까지 포함해 어떤 함수에나 False라고 합니다. 눈에 띌 만큼 "
        "위치 x[:, t]를 바꾸고, 나머지 위치를 보고 있나요?",
    ),
    "inverted": Text(
        "The answer is the wrong way round: True means that f mixes positions.",
        "답이 거꾸로입니다. True는 f가 위치를 섞는다는 뜻입니다.",
    ),
    "features": Text(
        "It changes a feature, x[..., j], and looks at the other features. An FFN mixes those, "
        "and no positions. The axis of positions is the second, x[:, t].",
        "feature x[..., j]를 바꾸고 다른 feature를 보았습니다. FFN은 feature를 섞지만 위치는 섞지 "
        "않습니다. 위치의 축은 두 번째, x[:, t]입니다.",
    ),
    "equivariance": Text(
        "It asks whether f commutes with reordering the positions. Another question: a mean over "
        "positions does and mixes, position vectors do not and mix nothing.",
        "위치의 순서를 바꾸면 결과도 똑같이 순서만 바뀌는지를 물었습니다. 그것은 다른 질문입니다. "
        "위치의 평균은 그 조건을 만족하지만 위치를 섞고, position vector를 더하는 함수는 만족하지 "
        "않지만 섞지 않습니다.",
    ),
    "gradient_of_sum": Text(
        "An output token is looked at by its plain sum, or its sum of squares. After a LayerNorm "
        "both are constant, and their gradient is 0 whatever is mixed. Compare all numbers, or "
        "differentiate a random linear probe.",
        "출력 token을 그냥 더한 합이나 제곱의 합으로 보았습니다. LayerNorm을 지나면 둘 다 "
        "상수라서, 무엇을 섞었든 gradient가 0입니다. 수를 모두 비교하거나, 무작위 linear probe를 "
        "미분하세요.",
    ),
}
_WHOLE = {
    "always",
    "never",
    "equivariance",
    "gradient_of_sum",
    "same_for_others",
    "reordered",
    "features",
}

mixes_positions = Misconceptions(
    _mixes_positions,
    {**_ANSWER, **_SEEN, **_WHERE, **_HOW},
    apart=(
        frozenset({*_WHOLE, *_WHERE, *_SEEN}),
        frozenset({*_WHOLE, *_HOW}),
        frozenset({"always", "never", "inverted"}),
        frozenset(set(_HOW) - {"coarse", "in_place"}),
        frozenset({"nan", "coarse"}),
    ),
)
