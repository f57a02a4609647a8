"""Wrong turns in SwiGLU."""

import torch
from torch import nn
from torch.nn import functional as F

from blocklab.misconceptions.ffn_layers import FLOW
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _SwiGLU(wrong: Wrong):
    class SwiGLU(nn.Module):
        def __init__(self, d_model, d_ff):
            super().__init__()
            self.gate_proj, self.up_proj = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
            self.down_proj = nn.Linear(d_ff, d_model, bias=False)

        def forward(self, x):
            h = F.layer_norm(x, x.shape[-1:]) if "norm_inside" in wrong else x
            gate, up = self.gate_proj(h), self.up_proj(h)
            gate, up = (up, gate) if "exchanged" in wrong else (gate, up)
            y = _product(gate, up, self.down_proj, wrong)
            return x + y if "residual_inside" in wrong else y

    return SwiGLU


_ACTIVATIONS = {
    "sigmoid": torch.sigmoid,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "relu": torch.relu,
}


def _product(gate, up, down, wrong: Wrong):
    act = next((_ACTIVATIONS[flag] for flag in _ACTIVATIONS if flag in wrong), F.silu)
    if "late_product" in wrong:
        return up * down(act(gate))
    if "of_product" in wrong:
        return down(act(gate * up))
    if "activation_last" in wrong:
        return act(down(gate * up))
    gate = gate if "no_activation" in wrong else act(gate)
    gate = gate.detach() if "detached" in wrong else gate
    up = act(up) if "both" in wrong else up
    if "no_up" in wrong:
        return down(gate)
    if "no_gate" in wrong:
        return down(act(up))
    return down(gate + up if "sum" in wrong else gate * up)


_GATE = {
    "of_product": Text(
        "This is SiLU(gate * up): the activation stands round the product. It belongs on the gate "
        "alone, SiLU(gate) * up, so that up passes with its sign.",
        "SiLU(gate * up)입니다. activation이 곱 전체를 감쌌습니다. SiLU(gate) * up처럼 gate에만 "
        "적용해야 up이 부호를 지닌 채 통과합니다.",
    ),
    "exchanged": Text(
        "gate and up are exchanged: SiLU stands on up_proj. Weights trained the other way round "
        "would give nonsense.",
        "gate와 up이 바뀌었습니다. SiLU가 up_proj에 적용됩니다. 반대로 학습된 weight를 넣으면 "
        "엉뚱한 값이 나옵니다.",
    ),
    "both": Text(
        "SiLU stands on both branches. Only the gate is activated; up stays linear.",
        "두 갈래 모두에 SiLU를 적용했습니다. activation은 gate에만 적용하고 up은 선형으로 둡니다.",
    ),
    "no_activation": Text(
        "There is no SiLU: gate * up alone is the bilinear form. The gate never closes.",
        "SiLU가 없습니다. gate * up만 있으면 bilinear 형태이고, gate가 닫히는 일이 없습니다.",
    ),
    "activation_last": Text(
        "SiLU comes at the very end, after down_proj. It belongs on the gate, in the middle.",
        "SiLU를 맨 끝, down_proj 다음에 적용했습니다. SiLU는 가운데에서 gate에 적용합니다.",
    ),
    "sum": Text(
        "SiLU(gate) is added to up. A gate multiplies: at 0 it closes, whatever up says.",
        "SiLU(gate)를 up에 더했습니다. gate는 곱합니다. 0이면 up이 무엇이든 닫힙니다.",
    ),
    "no_up": Text(
        "up_proj is not used: this is a plain FFN with SiLU.",
        "up_proj를 쓰지 않았습니다. SiLU를 쓴 보통 FFN입니다.",
    ),
    "no_gate": Text(
        "gate_proj is not used: SiLU stands on up_proj alone, and this is a plain FFN.",
        "gate_proj를 쓰지 않았습니다. SiLU를 up_proj에만 적용한 보통 FFN입니다.",
    ),
    "late_product": Text(
        "The product is taken after down_proj: up * down(SiLU(gate)). A formula without brackets "
        "can be read so. Both factors are d_ff wide: (SiLU(gate) * up), then down.",
        "곱을 down_proj 다음에 했습니다: up * down(SiLU(gate)). 괄호 없는 식은 이렇게도 읽힙니다. "
        "곱하는 둘은 모두 폭이 d_ff입니다. (SiLU(gate) * up)을 먼저 하고 down을 적용합니다.",
    ),
    "sigmoid": Text(
        "The gate is a sigmoid: that is GLU, the oldest of the family. Swi stands for Swish = "
        "SiLU, x · sigmoid(x).",
        "gate에 sigmoid를 썼습니다. 이 계열의 원형인 GLU입니다. Swi는 Swish, 곧 SiLU인 "
        "x · sigmoid(x)를 뜻합니다.",
    ),
    "gelu": Text(
        "The gate is a GELU: that is GEGLU. Here it is SiLU.",
        "gate에 GELU를 썼습니다. 그것은 GEGLU입니다. 여기서는 SiLU입니다.",
    ),
    "gelu_tanh": Text(
        "The gate is the tanh form of GELU, as in Gemma. Here it is SiLU.",
        "Gemma처럼 gate에 GELU의 tanh 근사식을 썼습니다. 여기서는 SiLU입니다.",
    ),
    "relu": Text(
        "The gate is a ReLU: that is ReGLU. Here it is SiLU.",
        "gate에 ReLU를 썼습니다. 그것은 ReGLU입니다. 여기서는 SiLU입니다.",
    ),
    "residual_inside": FLOW["residual_inside"],
    "norm_inside": FLOW["norm_inside"],
    "detached": Text(
        "The gate is cut out of the graph (.detach(), .data, no_grad): the values are right, but "
        "gate_proj would never learn.",
        "gate를 graph에서 떼어 냈습니다 (.detach(), .data, no_grad). 값은 맞지만 gate_proj는 "
        "아무것도 배우지 못합니다.",
    ),
}
SwiGLU = Misconceptions(
    _SwiGLU,
    _GATE,
    apart=(
        frozenset(_ACTIVATIONS),
        *(frozenset({flag, "no_activation"}) for flag in _ACTIVATIONS),
        frozenset(
            {
                "of_product",
                "late_product",
                "activation_last",
                "no_activation",
                "no_up",
                "no_gate",
                "sum",
            }
        ),
        *(
            frozenset({"both", f})
            for f in ("of_product", "late_product", "activation_last", "no_up", "no_gate")
        ),
        *(
            frozenset({"detached", f})
            for f in ("of_product", "late_product", "activation_last", "no_gate")
        ),
        frozenset({"of_product", "exchanged"}),
        frozenset({"both", "exchanged"}),
        frozenset({"exchanged", "no_up", "no_gate"}),
    ),
)
