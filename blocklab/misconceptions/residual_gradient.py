"""Wrong turns in a block with a learned scale, and in measuring the gradient along the stream."""

import torch
from torch import nn

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _ResidualBlock(wrong: Wrong):
    class ResidualBlock(nn.Module):
        def __init__(self, sublayer):
            super().__init__()
            self.sublayer = [sublayer] if "hidden" in wrong else sublayer
            start = torch.ones(()) if "starts_at_one" in wrong else torch.zeros(())
            start = start.reshape(1) if "one_element" in wrong else start
            self.scale = start if "not_learned" in wrong else nn.Parameter(start)

        def forward(self, x):
            if "shortcut" in wrong and bool(self.scale == 0):
                return x
            sublayer = self.sublayer[0] if isinstance(self.sublayer, list) else self.sublayer
            scale = self.scale.detach() if "scale_detached" in wrong else self.scale
            scale = torch.tanh(scale) if "through_tanh" in wrong else scale
            read = x.detach() if "input_detached" in wrong else x
            delta = sublayer(scale * read if "input_scaled" in wrong else read)
            delta = delta.detach() if "delta_detached" in wrong else delta
            if "into_x" in wrong:
                x += scale * delta
                return x
            return _combined(x, scale, delta, wrong)

    return ResidualBlock


def _combined(x, scale, delta, wrong: Wrong):
    if "sum_scaled" in wrong:
        return scale * (x + delta)
    if "stream_scaled" in wrong:
        return scale * x + delta
    if "gated" in wrong:
        return (1 - scale) * x + scale * delta
    if "input_scaled" in wrong:
        return x + delta
    return scale * delta if "replaced" in wrong else x + scale * delta


ResidualBlock = Misconceptions(
    _ResidualBlock,
    {
        "starts_at_one": Text(
            "scale starts at 1: that is a plain residual block. ReZero starts at 0, so that a new "
            "block leaves the stream as it is.",
            "scale이 1에서 시작합니다. 그러면 평범한 residual block입니다. ReZero는 0에서 "
            "시작해서, 갓 만든 block이 stream을 그대로 둡니다.",
        ),
        "not_learned": Text(
            "scale is not a parameter (a plain tensor, a buffer or a float): no optimizer would "
            "find it, and it would stay 0 for ever. Use nn.Parameter.",
            "scale이 parameter가 아닙니다(그냥 tensor, buffer, float). optimizer가 찾지 못해서 "
            "언제까지나 0으로 남습니다. nn.Parameter를 쓰세요.",
        ),
        "one_element": Text(
            "scale has the shape (1,); a single number has the shape (): torch.zeros(()).",
            "scale의 shape이 (1,)입니다. 수 하나의 shape은 ()입니다: torch.zeros(()).",
        ),
        "sum_scaled": Text(
            "scale multiplies the whole sum. At 0 the block wipes out the stream; only the update "
            "is scaled.",
            "scale을 합 전체에 곱했습니다. 0이면 stream이 통째로 지워집니다. scale은 update에만 "
            "곱합니다.",
        ),
        "stream_scaled": Text(
            "scale multiplies x, on the wrong branch. The stream passes whole, the update is "
            "scaled.",
            "scale을 반대쪽 가지인 x에 곱했습니다. stream은 온전히 지나가고 update에만 곱합니다.",
        ),
        "gated": Text(
            "This is (1 - scale) * x + scale * sublayer(x), the gate of a Highway Network: what is "
            "written takes away from x. On a residual stream x always keeps the weight 1.",
            "(1 - scale) * x + scale * sublayer(x)는 Highway Network의 gate입니다. 쓰는 만큼 x가 "
            "줄어듭니다. residual stream에서 x의 가중치는 언제나 1입니다.",
        ),
        "input_scaled": Text(
            "scale multiplies what the sublayer reads, not what it writes. A sublayer with a bias "
            "would then write from the first step on.",
            "sublayer가 쓰는 값이 아니라 읽는 값에 scale을 곱했습니다. bias가 있는 sublayer라면 "
            "처음부터 무언가를 쓰게 됩니다.",
        ),
        "replaced": Text(
            "x is missing: the block returns the scaled update alone.",
            "x가 빠졌습니다. scale을 곱한 update만 돌려줍니다.",
        ),
        "through_tanh": Text(
            "scale goes through a tanh first. Some models do that (Flamingo); ReZero uses the "
            "number itself.",
            "scale을 tanh에 통과시켰습니다. 그렇게 하는 모델(Flamingo)도 있지만, ReZero는 그 수를 "
            "그대로 씁니다.",
        ),
        "scale_detached": Text(
            "scale is cut out of the graph (.item(), .data, .detach()), so it never learns.",
            "scale이 graph에서 떨어져 나가(.item(), .data, .detach()) 학습되지 않습니다.",
        ),
        "shortcut": Text(
            "While scale is 0 the block returns x at once. The value is right, but no gradient "
            "reaches scale: it would stay 0 for ever.",
            "scale이 0이면 바로 x를 돌려줍니다. 값은 맞지만 scale에 gradient가 흐르지 않아서 "
            "언제까지나 0으로 남습니다.",
        ),
        "delta_detached": Text(
            "The update is cut out of the graph (detach, no_grad): the sublayer never learns.",
            "update가 graph에서 떨어져 나갔습니다(detach, no_grad). sublayer가 학습되지 않습니다.",
        ),
        "input_detached": Text(
            "The sublayer reads a detached x: it learns, but nothing before it hears of that. Only "
            "the identity path is left in the gradient.",
            "sublayer가 detach된 x를 읽습니다. sublayer는 학습되지만 그 앞쪽에는 전해지지 않고, "
            "gradient에는 identity path만 남습니다.",
        ),
        "into_x": Text(
            "x += … writes into the caller's x. Return x + scale * … instead.",
            "x += …는 호출한 쪽의 x에 씁니다. x + scale * …를 돌려주세요.",
        ),
        "hidden": Text(
            "The block has no parameter sublayer.weight: the sublayer is not kept as "
            "self.sublayer. In a plain list a module's parameters are not found at all, and under "
            "another name they do not fit what is saved under this one.",
            "block에 sublayer.weight라는 parameter가 없습니다. sublayer를 self.sublayer에 그대로 "
            "담지 않았기 때문입니다. 보통 list에 넣으면 parameter가 아예 보이지 않고, 다른 "
            "이름이면 저장해 둔 weight와 맞지 않습니다.",
        ),
    },
    apart=(
        frozenset(
            {"sum_scaled", "stream_scaled", "gated", "input_scaled", "replaced", "into_x"},
        ),
        frozenset({"not_learned", "one_element", "scale_detached"}),
        frozenset({"starts_at_one", "shortcut"}),
        frozenset({"delta_detached", "input_detached"}),
    ),
)


def _input_gradient_norm(wrong: Wrong):
    def input_gradient_norm(sublayers, x, probe, residual):
        if "flipped" in wrong:
            residual = not residual
        residual = (residual or "always_adds" in wrong) and "never_adds" not in wrong
        start = x.clone() if "not_a_leaf" in wrong else x.detach().clone()
        start.requires_grad_()
        states = [start * probe if "probe_first" in wrong else start]
        for sublayer in sublayers:
            states.append(_step(states, sublayer, residual, wrong))
        if "no_gradient" in wrong:
            return states[-1].norm().item()
        source = states[1] if "second_state" in wrong and len(states) > 1 else start
        return _size(_gradient(states[-1], probe, source, wrong), wrong)

    return input_gradient_norm


def _step(states, sublayer, residual, wrong: Wrong):
    delta = sublayer(states[-1].detach() if "detached" in wrong else states[-1])
    return (states[0 if "onto_x0" in wrong else -1] + delta) if residual else delta


def _gradient(end, probe, source, wrong: Wrong):
    seen = end if "no_probe" in wrong or "probe_first" in wrong else end * probe
    seen = seen.pow(2) if "squares" in wrong else seen
    total = seen.mean() if "mean" in wrong else seen.sum()
    if "not_a_leaf" in wrong and not source.is_leaf:
        raise AttributeError("'NoneType' object has no attribute 'norm'")
    return torch.autograd.grad(total, source)[0]


def _size(gradient, wrong: Wrong) -> float:
    if "per_token" in wrong:
        return gradient.norm(dim=-1).mean().item()
    if "largest" in wrong:
        return gradient.abs().max().item()
    if "absolute" in wrong:
        return gradient.abs().sum().item()
    norm = gradient.norm().item()
    if "root_mean" in wrong:
        return norm / gradient.numel() ** 0.5
    return norm**2 if "squared" in wrong else norm


input_gradient_norm = Misconceptions(
    _input_gradient_norm,
    {
        "no_probe": Text(
            "The probe is not used: this is the gradient of x_L.sum().",
            "probe를 쓰지 않았습니다. x_L.sum()의 gradient입니다.",
        ),
        "probe_first": Text(
            "The probe multiplies the input. It weighs the output: (x_L * probe).sum().",
            "probe를 입력에 곱했습니다. probe는 출력에 곱합니다: (x_L * probe).sum().",
        ),
        "squares": Text(
            "This is the gradient of the sum of squares. Asked for: a linear probe, "
            "(x_L * probe).sum().",
            "제곱의 합을 미분한 gradient입니다. 물은 것은 선형인 (x_L * probe).sum()입니다.",
        ),
        "mean": Text(
            "The mean is differentiated instead of the sum: everything is too small by the number "
            "of values.",
            "합 대신 평균을 미분했습니다. 값의 개수만큼 모두 작아집니다.",
        ),
        "squared": Text(
            "This is the squared norm: take the root.",
            "norm의 제곱입니다. 제곱근을 취하세요.",
        ),
        "per_token": Text(
            "The norm is taken token by token and then averaged. One norm over all values of the "
            "gradient is asked for.",
            "token마다 norm을 구해 평균을 냈습니다. gradient의 모든 값에 걸친 norm 하나를 "
            "구합니다.",
        ),
        "root_mean": Text(
            "This is the root of the mean of the squares (RMS); a norm is the root of their sum.",
            "제곱의 평균의 제곱근(RMS)입니다. norm은 제곱의 합의 제곱근입니다.",
        ),
        "largest": Text(
            "This is the largest entry of the gradient, not its norm.",
            "gradient의 norm이 아니라 가장 큰 성분의 크기입니다.",
        ),
        "absolute": Text(
            "The absolute values are summed (the 1-norm). Asked for: the root of the sum of the "
            "squares.",
            "절댓값을 더했습니다(1-norm). 물은 것은 제곱의 합의 제곱근입니다.",
        ),
        "always_adds": Text(
            "residual=False makes no difference: the update is added all the same.",
            "residual=False를 주어도 달라지지 않습니다. 언제나 더하고 있습니다.",
        ),
        "never_adds": Text(
            "residual=True makes no difference: each output replaces the stream all the same.",
            "residual=True를 주어도 달라지지 않습니다. 언제나 sublayer의 출력이 stream을 "
            "교체합니다.",
        ),
        "flipped": Text(
            "residual works the wrong way round: True must add, False must replace.",
            "residual이 거꾸로 동작합니다. True이면 더하고 False이면 교체해야 합니다.",
        ),
        "no_gradient": Text(
            "This is the size of x_L itself, on the way forward. The question is how the end "
            "depends on x: a gradient, on the way back.",
            "앞으로 가면서 잰 x_L 자체의 크기입니다. 물은 것은 끝이 x에 얼마나 좌우되는지, 곧 "
            "되돌아오는 gradient입니다.",
        ),
        "second_state": Text(
            "The gradient is taken with respect to the state after the first sublayer: one factor "
            "of the chain rule is missing.",
            "첫 sublayer를 지난 state에 대해 미분했습니다. chain rule의 인수가 하나 빠집니다.",
        ),
        "detached": Text(
            "The sublayers read a detached state, so J is lost and only the identity path is "
            "measured.",
            "sublayer가 detach된 state를 읽습니다. J가 사라지고 identity path만 재게 됩니다.",
        ),
        "onto_x0": Text(
            "Each update is added to the input x instead of the state before it.",
            "update를 바로 앞 state가 아니라 입력 x에 더합니다.",
        ),
        "not_a_leaf": Text(
            "This works only for an x that requires no gradient yet. A clone of one that does is "
            "no leaf, and its .grad stays None: clone x.detach(), or use torch.autograd.grad.",
            "gradient를 요구하지 않는 x에서만 동작합니다. 이미 요구하고 있는 x의 clone은 leaf가 "
            "아니라서 .grad가 None으로 남습니다. x.detach()를 clone하거나 torch.autograd.grad를 "
            "쓰세요.",
        ),
    },
    apart=(
        frozenset({"no_probe", "probe_first", "no_gradient"}),
        frozenset({"per_token", "root_mean", "largest", "absolute", "squared", "no_gradient"}),
        frozenset({"always_adds", "never_adds", "flipped"}),
        frozenset({"no_gradient", "squares", "mean"}),
        frozenset({"no_gradient", "second_state", "detached"}),
        frozenset({"no_gradient", "not_a_leaf"}),
    ),
)
