"""Wrong turns in measuring gradients by depth, and in telling where an unknown block's norm is."""

import itertools

import torch

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _deep_norm_constants(wrong: Wrong):
    def deep_norm_constants(n_layers):
        n = 2 * n_layers if "sublayers" in wrong else n_layers
        a, b = (3, 12) if "encoder_decoder" in wrong else (2, 8)
        if "precedence" in wrong:
            alpha, beta = a * n**0.25, b * n**-0.25
        else:
            power = 1 // 4 if "whole_power" in wrong else 0.5 if "square_root" in wrong else 0.25
            alpha, beta = (a * n) ** power, (b * n) ** -power
        beta = 1 / beta if "beta_grows" in wrong else 1 / alpha if "inverse" in wrong else beta
        return (beta, alpha) if "swapped" in wrong else (alpha, beta)

    return deep_norm_constants


deep_norm_constants = Misconceptions(
    _deep_norm_constants,
    {
        "swapped": Text(
            "The two are in the wrong order: alpha, the larger one, comes first.",
            "두 수의 순서가 바뀌었습니다. 큰 쪽인 alpha가 먼저입니다.",
        ),
        "square_root": Text(
            "The power is 1/2. It is 1/4, the root of the root.",
            "지수가 1/2입니다. 1/4이어야 합니다. 제곱근의 제곱근입니다.",
        ),
        "precedence": Text(
            "The power binds tighter than the product: 2 * n ** 0.25 raises n alone. Put the "
            "product in brackets.",
            "거듭제곱이 곱셈보다 먼저 계산됩니다. 2 * n ** 0.25는 n만 거듭제곱합니다. 곱을 괄호로 "
            "묶으세요.",
        ),
        "whole_power": Text(
            "1 // 4 is 0 in Python, and anything to the power 0 is 1. Write 0.25 or 1 / 4.",
            "Python에서 1 // 4는 0이고, 무엇이든 0제곱하면 1입니다. 0.25나 1 / 4로 쓰세요.",
        ),
        "beta_grows": Text(
            "beta is above 1: the sign of its power is missing. Deeper models start with smaller "
            "weights.",
            "beta가 1보다 큽니다. 지수의 부호가 빠졌습니다. 깊은 모델일수록 더 작은 가중치에서 "
            "시작합니다.",
        ),
        "inverse": Text(
            "beta is taken as 1 / alpha = (2N)^(-1/4). It has a constant of its own: (8N)^(-1/4).",
            "beta를 1 / alpha = (2N)^(-1/4)로 두었습니다. beta에는 자기 상수가 있습니다: "
            "(8N)^(-1/4).",
        ),
        "sublayers": Text(
            "N is counted in sublayers. It counts blocks: n_layers as it is.",
            "N을 sublayer의 수로 세었습니다. N은 block의 수, 곧 n_layers 그대로입니다.",
        ),
        "encoder_decoder": Text(
            "These are the paper's constants for the decoder half of an encoder-decoder, "
            "(3N)^(1/4) and (12N)^(-1/4). A decoder by itself has 2 and 8.",
            "이것은 encoder-decoder에서 decoder 쪽에 쓰는 상수 (3N)^(1/4), (12N)^(-1/4)입니다. "
            "decoder만 있는 모델에서는 2와 8을 씁니다.",
        ),
    },
    apart=(
        frozenset({"square_root", "precedence", "whole_power"}),
        frozenset({"beta_grows", "inverse"}),
        frozenset({"sublayers", "encoder_decoder"}),
    ),
)


def _gradient_profile(wrong: Wrong):
    def gradient_profile(blocks, x, probe):
        states = [x.detach().clone().requires_grad_()]
        for block in blocks:
            y = block(states[-1])
            states.append(states[-1] + y if "residual_again" in wrong else y)
        found = states if "values" in wrong else _gradients(states, probe, wrong)
        sizes = [_size(g, wrong) for g in found]
        sizes = sizes[1:] if "no_input" in wrong else sizes
        sizes = sizes[:-1] if "no_output" in wrong else sizes
        return torch.stack(sizes[::-1] if "reversed" in wrong else sizes)

    return gradient_profile


def _gradients(states, probe, wrong: Wrong):
    if "alone" in wrong:
        return [*(_through_one(a, b, probe) for a, b in itertools.pairwise(states)), probe]
    output = states[-1]
    if "no_probe" in wrong:
        total = output.sum()
    elif "squared_output" in wrong:
        total = output.pow(2).sum()
    else:
        total = (output * probe).mean() if "mean" in wrong else (output * probe).sum()
    return torch.autograd.grad(total, states)


def _through_one(before, after, probe):
    return torch.autograd.grad((after * probe).sum(), before, retain_graph=True)[0]


def _size(g, wrong: Wrong):
    if "squared" in wrong:
        return g.pow(2).sum()
    if "rms" in wrong:
        return g.pow(2).mean().sqrt()
    if "per_token" in wrong:
        return g.norm(dim=-1).mean()
    return g.abs().max() if "largest" in wrong else g.norm()


gradient_profile = Misconceptions(
    _gradient_profile,
    {
        "no_probe": Text(
            "It differentiates output.sum(). That looks in one direction only, and behind a "
            "LayerNorm without gain the sum does not depend on the input at all. Weigh the output "
            "with the probe first.",
            "output.sum()을 미분했습니다. 그러면 한 방향만 보게 되고, gain이 없는 LayerNorm을 "
            "지난 값이라면 합이 입력에 전혀 좌우되지 않습니다. 먼저 output에 probe를 곱하세요.",
        ),
        "squared_output": Text(
            "It differentiates the sum of squares. Behind a norm without gain that number hardly "
            "changes, and its gradient is nearly zero; elsewhere it is not the gradient asked for. "
            "Use (output * probe).sum().",
            "제곱의 합을 미분했습니다. gain이 없는 norm을 지난 값이라면 이 합이 거의 변하지 않아 "
            "gradient가 0에 가깝고, 그렇지 않은 곳에서는 요구한 것과 다른 gradient가 나옵니다. "
            "(output * probe).sum()을 쓰세요.",
        ),
        "mean": Text(
            "It differentiates the mean, not the sum: every gradient is too small by the number of "
            "elements.",
            "합이 아니라 평균을 미분해서 모든 gradient가 원소 수만큼 작아졌습니다.",
        ),
        "values": Text(
            "These are the norms of the states themselves. Asked for: the norms of the gradients "
            "there.",
            "state 자체의 norm입니다. 요구한 것은 그 자리의 gradient의 norm입니다.",
        ),
        "alone": Text(
            "Each block is differentiated by itself, with the probe at its own output. The "
            "gradient at a state has come through all blocks above it.",
            "block마다 자기 출력에 probe를 놓고 따로 미분했습니다. 어떤 state의 gradient는 그 위의 "
            "모든 block을 거쳐 온 것입니다.",
        ),
        "residual_again": Text(
            "x is added round every block once more. These are whole blocks: the add is inside.",
            "block마다 x를 한 번 더 더했습니다. 여기의 block은 완성된 block이고, add는 그 안에 "
            "있습니다.",
        ),
        "squared": Text(
            "The root is missing: these are squared norms.",
            "제곱근이 빠졌습니다. norm의 제곱입니다.",
        ),
        "rms": Text(
            "This is the RMS of each gradient. The norm is not divided by the number of elements.",
            "gradient의 RMS입니다. norm은 원소 수로 나누지 않습니다.",
        ),
        "per_token": Text(
            "One norm is taken for each token and then averaged. Here one norm covers all numbers "
            "of a state.",
            "token마다 norm을 구해 평균했습니다. 여기서는 state의 모든 수에 대해 norm 하나를 "
            "구합니다.",
        ),
        "largest": Text(
            "This is the largest element of each gradient, not its norm.",
            "gradient의 norm이 아니라 가장 큰 원소입니다.",
        ),
        "no_input": Text(
            "The input is missing: L blocks have L + 1 states.",
            "입력이 빠졌습니다. block이 L개면 state는 L + 1개입니다.",
        ),
        "no_output": Text(
            "The output of the last block is missing: its gradient is the probe itself.",
            "마지막 block의 출력이 빠졌습니다. 그 자리의 gradient는 probe 자체입니다.",
        ),
        "reversed": Text(
            "The order is that of the backward pass. The input comes first.",
            "backward가 지나는 순서로 되어 있습니다. 입력이 먼저입니다.",
        ),
    },
    apart=(
        frozenset({"no_probe", "squared_output", "mean", "values", "alone"}),
        frozenset({"squared", "rms", "per_token", "largest"}),
    ),
)


def _norm_position(wrong: Wrong):
    def norm_position(block, x):
        if "looks_inside" in wrong:
            return "pre"
        found = _position(block, x, wrong)
        if "no_none" in wrong and found == "none":
            return "pre"
        if "no_pre" in wrong and found == "pre":
            return "none"
        return {"pre": "post", "post": "pre"}.get(found, found) if "swapped" in wrong else found

    return norm_position


def _position(block, x, wrong: Wrong) -> str:
    if "zeros" in wrong and not block(0 * x).any():
        return "none"
    if _looks_post(block, x, wrong):
        return "post"
    scale = 1000 if "far" in wrong else 1
    written = [block(c * scale * x) - c * scale * x for c in (1, 2)]
    return "pre" if _close(written[1], written[0]) else "none"


def _looks_post(block, x, wrong: Wrong) -> bool:
    near = block(x)
    if "size_one" in wrong:
        sizes = near.pow(2).mean(-1).sqrt()
        return _close(sizes, torch.ones_like(sizes))
    if "same_when_doubled" in wrong:
        return _close(block(2 * x), near)
    return bool(block(1000 * x).norm() < 30 * near.norm())


def _close(a, b) -> bool:
    return bool((a - b).norm() < 0.05 * b.norm())


_POSITION_WORDS = {
    "swapped": Text(
        "Pre and post are mixed up. Post-Norm ends with the norm, so its output cannot grow; in "
        "Pre-Norm the stream grows and only the update keeps its size.",
        "pre와 post가 바뀌었습니다. Post-Norm은 norm으로 끝나므로 출력이 커질 수 없습니다. "
        "Pre-Norm에서는 stream은 커지고 update의 크기만 그대로입니다.",
    ),
    "size_one": Text(
        "It takes a block for Post-Norm when the output's RMS is 1. That holds only for a gain "
        "of ones. Whatever the gain is, the output of a norm cannot follow an input that grows.",
        "출력의 RMS가 1이면 Post-Norm이라고 보았습니다. 그것은 gain이 모두 1일 때만 맞습니다. "
        "gain이 무엇이든, norm의 출력은 입력이 커져도 따라 커지지 못합니다.",
    ),
    "same_when_doubled": Text(
        "It expects a Post-Norm block to give the same for x and 2x. That holds when f is linear; "
        "with a curved f the sum x + f(x) changes its direction. Ask whether the output's size "
        "stays bounded.",
        "Post-Norm이라면 x와 2x에 대한 결과가 같으리라고 보았습니다. f가 선형일 때만 맞습니다. "
        "f가 비선형이면 x + f(x)의 방향이 달라집니다. 출력의 크기가 제한되는지 살펴보세요.",
    ),
    "far": Text(
        "It looks at the update for huge inputs only. There a curved f (tanh) has run into its "
        "limits and gives the same for 1000x and 2000x without any norm. Compare x with 2x.",
        "아주 큰 입력에서만 update를 비교했습니다. 거기서는 비선형 f(tanh)가 한계에 닿아 norm이 "
        "없어도 1000x와 2000x에서 같은 값을 냅니다. x와 2x를 비교하세요.",
    ),
    "zeros": Text(
        "It asks what becomes of zeros, and takes zeros for a sign that there is no norm. But "
        "the norm of zeros is zeros, unless it has a bias.",
        "0을 넣어 0이 나오면 norm이 없다고 보았습니다. 그러나 bias가 없다면 0의 norm도 0입니다.",
    ),
    "no_none": Text(
        "It never says none: whatever is not Post-Norm is taken for Pre-Norm. In Pre-Norm the "
        "update f(norm(x)) is the same for x and 2x; without a norm it is not.",
        "none이라고 답하는 일이 없습니다. Post-Norm이 아니면 모두 Pre-Norm으로 보았습니다. "
        "Pre-Norm의 update f(norm(x))는 x와 2x에서 같지만, norm이 없으면 다릅니다.",
    ),
    "no_pre": Text(
        "It never says pre: whatever can grow is taken for a block without a norm. Look at the "
        "update, block(x) - x, not at the output.",
        "pre라고 답하는 일이 없습니다. 출력이 커지면 모두 norm이 없다고 보았습니다. 출력이 "
        "아니라 update, 곧 block(x) - x를 살펴보세요.",
    ),
    "looks_inside": Text(
        "It says pre for every block. The inside of these blocks (names, parameters, modules) "
        "tells nothing, they are all built alike. Call the block.",
        "모든 block에 pre라고 답합니다. 이름, parameter, module 같은 내부는 모두 똑같이 만들어져 "
        "있어 아무것도 알려 주지 않습니다. block을 호출해 보세요.",
    ),
}
norm_position = Misconceptions(
    _norm_position,
    _POSITION_WORDS,
    apart=(
        frozenset({"size_one", "same_when_doubled"}),
        frozenset({"no_none", "no_pre"}),
        *(
            frozenset({"looks_inside", other})
            for other in ("swapped", "size_one", "same_when_doubled")
        ),
        *(frozenset({"looks_inside", flag}) for flag in _POSITION_WORDS),
    ),
)
