"""Wrong turns in GELU and SiLU, each of which is x times a gate between 0 and 1."""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text

Gate = Callable[[Tensor], Tensor]


def _phi(x: Tensor) -> Tensor:
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def _cubic(x: Tensor) -> Tensor:
    return x + 0.044715 * x.pow(3)


def _tanh_phi(x: Tensor) -> Tensor:
    return 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * _cubic(x)))


def _quick(x: Tensor) -> Tensor:
    return torch.sigmoid(1.702 * x)


def _step(x: Tensor) -> Tensor:
    return (x > 0).to(x.dtype)


def _variant(exact: Gate, gates: Mapping[str, Gate]):
    """x times the exact gate, or times the first wrong one that is asked for."""

    def of(wrong: Wrong):
        gate_of = next((gate for flag, gate in gates.items() if flag in wrong), exact)

        def activation(x):
            h = x.float() if "float32" in wrong else x
            gate = gate_of(h)
            gate = gate.detach() if "detached" in wrong else gate
            if "no_x" in wrong:
                return gate
            return h.mul_(gate) if "in_place" in wrong else h * gate

        return activation

    return of


_GELU_GATES: dict[str, Gate] = {
    "tanh": _tanh_phi,
    "tanh_no_cubic": lambda x: 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * x)),
    "tanh_no_factor": lambda x: 0.5 * (1 + torch.tanh(_cubic(x))),
    "quick": _quick,
    "silu": torch.sigmoid,
    "relu": _step,
    "no_root_2": lambda x: 0.5 * (1 + torch.erf(x)),
    "no_half": lambda x: 1 + torch.erf(x / math.sqrt(2)),
    "erf_only": lambda x: torch.erf(x / math.sqrt(2)),
    "density": lambda x: torch.exp(-x.pow(2) / 2) / math.sqrt(2 * math.pi),
    "other_side": lambda x: 1 - _phi(x),
}
_SILU_GATES: dict[str, Gate] = {
    "quick": _quick,
    "gelu": _phi,
    "gelu_tanh": _tanh_phi,
    "relu": _step,
    "other_side": lambda x: torch.sigmoid(-x),
    "tanh": torch.tanh,
    "mish": lambda x: torch.tanh(torch.nn.functional.softplus(x)),
    "hard": lambda x: torch.clamp(x / 6 + 0.5, 0, 1),
    "softmax": lambda x: torch.softmax(x, -1),
    "overflow": lambda x: torch.exp(x) / (1 + torch.exp(x)),
}

_ANY = {
    "in_place": Text(
        "x itself is changed (mul_, *=). In a network that x may still be needed, by the gradient "
        "at least. Make a new tensor.",
        "x 자체를 바꿨습니다 (mul_, *=). network 안에서 그 x는 아직 쓰일 수 있고, 적어도 "
        "gradient에는 필요합니다. 새 tensor를 만드세요.",
    ),
    "detached": Text(
        "The gate is cut out of the graph (.detach(), .data, no_grad): the values are right, but "
        "the gradient is only the gate, as if it did not depend on x.",
        "gate를 graph에서 떼어 냈습니다 (.detach(), .data, no_grad). 값은 맞지만, gate가 x와 "
        "무관하다는 듯이 gradient가 gate 하나만 남습니다.",
    ),
    "float32": Text(
        "x is cast to float32 and stays so. A float64 tensor must come back as float64.",
        "x를 float32로 바꾼 채로 두었습니다. float64 tensor는 float64로 돌려주어야 합니다.",
    ),
}

gelu = Misconceptions(
    _variant(_phi, _GELU_GATES),
    {
        "tanh": Text(
            "This is GPT-2's tanh form, an approximation: up to 4.7e-4 off, most at |x| = 2.7. "
            "Weights trained with it want it; here the exact one with erf is asked for.",
            "GPT-2가 쓰는 tanh 근사식입니다. |x| = 2.7 부근에서 최대 4.7e-4만큼 어긋납니다. 이 "
            "식으로 학습한 weight에는 이 식이 맞지만, 여기서는 erf를 쓰는 정확한 식을 묻습니다.",
        ),
        "tanh_no_cubic": Text(
            "This is the tanh approximation without its cubic term, 0.044715 x³; without it the "
            "gate is up to 0.018 off. And here the exact one, with erf, is asked for.",
            "tanh 근사식에서 세제곱 항 0.044715 x³이 빠졌습니다. 그러면 gate가 최대 0.018까지 "
            "어긋납니다. 그리고 여기서 묻는 것은 erf를 쓰는 정확한 식입니다.",
        ),
        "tanh_no_factor": Text(
            "This is the tanh approximation without its factor sqrt(2/π), so the gate is too "
            "steep. And here the exact one, with erf, is asked for.",
            "tanh 근사식에서 계수 sqrt(2/π)가 빠져 gate가 너무 가파릅니다. 그리고 여기서 묻는 "
            "것은 erf를 쓰는 정확한 식입니다.",
        ),
        "quick": Text(
            'This is x · sigmoid(1.702 x), the "quick GELU" of CLIP: an approximation, up to '
            "0.02 off. The exact gate is Φ(x), with erf.",
            'x · sigmoid(1.702 x), 곧 CLIP의 "quick GELU"입니다. 최대 0.02만큼 어긋나는 '
            "근사식입니다. 정확한 gate는 erf로 쓰는 Φ(x)입니다.",
        ),
        "silu": Text(
            "This is SiLU: the gate is sigmoid(x). GELU's gate is Φ(x), the normal distribution "
            "function, which is steeper.",
            "SiLU입니다. gate가 sigmoid(x)입니다. GELU의 gate는 표준정규분포의 누적분포함수 "
            "Φ(x)이고, 더 가파릅니다.",
        ),
        "relu": Text(
            "This is ReLU: the gate jumps from 0 to 1. GELU's gate Φ(x) rises smoothly, and small "
            "negative numbers pass in part.",
            "ReLU입니다. gate가 0에서 1로 단번에 뜁니다. GELU의 gate Φ(x)는 매끄럽게 올라가서 작은 "
            "음수도 일부 통과합니다.",
        ),
        "no_root_2": Text(
            "erf is given x, not x / sqrt(2). Φ(x) = (1 + erf(x / sqrt 2)) / 2.",
            "erf에 x / sqrt(2)가 아니라 x를 넣었습니다. Φ(x) = (1 + erf(x / sqrt 2)) / 2입니다.",
        ),
        "no_half": Text(
            "The factor 1/2 is missing: the gate runs from 0 to 2, and large x comes out doubled.",
            "1/2이 빠졌습니다. gate가 0에서 2까지 가므로 큰 x가 두 배로 나옵니다.",
        ),
        "erf_only": Text(
            "The gate is erf(x / sqrt 2), which runs from -1 to 1: negative numbers come out "
            "positive. Add 1 and halve it.",
            "gate가 erf(x / sqrt 2)입니다. -1에서 1까지 가므로 음수가 양수로 나옵니다. 1을 더한 뒤 "
            "반으로 나누세요.",
        ),
        "density": Text(
            "The gate is the bell curve itself, the density. Φ is the area under it up to x.",
            "gate로 종 모양의 밀도함수 자체를 썼습니다. Φ(x)는 x까지 그 아래 넓이입니다.",
        ),
        "other_side": Text(
            "The gate is 1 - Φ(x): it lets negative numbers through and closes for positive ones.",
            "gate가 1 - Φ(x)입니다. 음수는 통과시키고 양수에서 닫힙니다.",
        ),
        "no_x": Text(
            "This is the gate alone, a number between 0 and 1. GELU is x times its gate.",
            "0과 1 사이의 gate만 돌려주었습니다. GELU는 x에 gate를 곱한 값입니다.",
        ),
        **_ANY,
    },
    apart=(
        frozenset(_GELU_GATES),
        frozenset({"in_place", "no_x"}),
        frozenset({"in_place", "detached"}),
    ),
)

silu = Misconceptions(
    _variant(torch.sigmoid, _SILU_GATES),
    {
        "no_x": Text(
            "This is the sigmoid alone, the gate. SiLU is x times it.",
            "gate인 sigmoid만 돌려주었습니다. SiLU는 x에 sigmoid를 곱한 값입니다.",
        ),
        "quick": Text(
            "The sigmoid is given 1.702 x, as in CLIP's approximation of GELU. SiLU takes the "
            "sigmoid of x itself.",
            "GELU를 근사하는 CLIP의 식처럼 sigmoid에 1.702 x를 넣었습니다. SiLU는 x 그대로의 "
            "sigmoid를 씁니다.",
        ),
        "gelu": Text(
            "This is GELU: its gate is Φ(x), SiLU's is sigmoid(x). The two activations differ by "
            "up to 0.19, near |x| = 2.",
            "GELU입니다. GELU의 gate는 Φ(x)이고 SiLU의 gate는 sigmoid(x)입니다. 두 activation의 "
            "값은 |x| = 2 부근에서 최대 0.19까지 다릅니다.",
        ),
        "gelu_tanh": Text(
            "This is GPT-2's tanh form of GELU. SiLU's gate is sigmoid(x).",
            "GPT-2가 쓰는 GELU의 tanh 근사식입니다. SiLU의 gate는 sigmoid(x)입니다.",
        ),
        "relu": Text(
            "This is ReLU: nothing negative passes. SiLU lets a little through, -0.28 at most.",
            "ReLU입니다. 음수가 전혀 통과하지 못합니다. SiLU에서는 조금 통과하고, 가장 낮은 값은 "
            "-0.28입니다.",
        ),
        "other_side": Text(
            "The gate is sigmoid(-x): it closes for positive numbers. In x / (1 + exp(-x)) the "
            "minus sign stands in the exponent.",
            "gate가 sigmoid(-x)라서 양수에서 닫힙니다. x / (1 + exp(-x))로 쓴다면 음의 부호는 "
            "지수에 있습니다.",
        ),
        "tanh": Text(
            "The gate is tanh(x), from -1 to 1, so that negative numbers come out positive. The "
            "sigmoid runs from 0 to 1.",
            "gate가 tanh(x)입니다. -1에서 1까지 가므로 음수가 양수로 나옵니다. sigmoid는 0에서 "
            "1까지 갑니다.",
        ),
        "mish": Text(
            "This is Mish, x · tanh(softplus(x)). SiLU's gate is sigmoid(x).",
            "Mish, 곧 x · tanh(softplus(x))입니다. SiLU의 gate는 sigmoid(x)입니다.",
        ),
        "hard": Text(
            "This is hard swish, with three straight pieces for the sigmoid. SiLU uses the curve.",
            "sigmoid를 직선 세 토막으로 바꾼 hard swish입니다. SiLU는 곡선 그대로 씁니다.",
        ),
        "softmax": Text(
            "The gate is a softmax, so numbers compete with their neighbours. SiLU looks at one "
            "number at a time.",
            "gate로 softmax를 써서 옆의 수들과 경쟁합니다. SiLU는 수를 하나씩 따로 봅니다.",
        ),
        "overflow": Text(
            "exp(x) / (1 + exp(x)) is the sigmoid on paper, but exp overflows for x > 88 in "
            "float32 and inf / inf is NaN. torch.sigmoid takes care of that.",
            "종이 위에서는 exp(x) / (1 + exp(x))가 sigmoid이지만, float32에서는 x > 88이면 exp가 "
            "overflow되어 inf / inf, 곧 NaN이 됩니다. torch.sigmoid는 이를 알아서 피합니다.",
        ),
        **_ANY,
    },
    apart=(
        frozenset(_SILU_GATES),
        frozenset({"in_place", "no_x"}),
        frozenset({"in_place", "detached"}),
    ),
)
