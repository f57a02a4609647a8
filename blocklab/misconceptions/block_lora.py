"""Wrong turns with LoRA."""

import copy

import torch
from torch import nn

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _lora(wrong: Wrong) -> type[nn.Module]:
    class LoRALinear(nn.Module):
        def __init__(self, base, rank, alpha):
            super().__init__()
            base = copy.deepcopy(base) if "base_copied" in wrong else base
            self.base = base if "base_trains" in wrong else base.requires_grad_(False)
            A, B = _factors(base, rank, wrong)
            kind = nn.Parameter if "factors_fixed" not in wrong else _Fixed
            self.A, self.B = kind(A), kind(B)
            self.scale = _scale(alpha, rank, wrong)

        def forward(self, x):
            x = x.detach() if "input_detached" in wrong else x
            h = nn.functional.linear(x, self.base.weight)
            delta = self.scale * (x @ self.A.T @ self.B.T)
            if "no_base" in wrong:
                h = torch.zeros_like(h)
            if self.base.bias is not None and "bias_lost" not in wrong:
                h = h + self.base.bias
            return h if "no_update" in wrong else h + delta

        def merged(self):
            scale = 1.0 if "merged_unscaled" in wrong else self.scale
            update = scale * (self.B @ self.A)
            if "merged_into_base" in wrong:
                with torch.no_grad():
                    self.base.weight += update
                return self.base.weight
            if "merged_update_only" in wrong:
                return update
            weight = self.base.weight + update
            return weight.T if "merged_transposed" in wrong else weight

    return LoRALinear


def _Fixed(value: torch.Tensor) -> nn.Parameter:
    return nn.Parameter(value, requires_grad=False)


def _factors(base, rank: int, wrong: Wrong) -> tuple[torch.Tensor, torch.Tensor]:
    d_out, d_in = base.weight.shape
    A, B = torch.randn(rank, d_in), torch.zeros(d_out, rank)
    if "both_zero" in wrong:
        A = torch.zeros_like(A)
    if "both_random" in wrong:
        B = torch.randn_like(B)
    if "zero_exchanged" in wrong:
        A, B = torch.zeros_like(A), torch.randn_like(B)
    if "constant" in wrong:
        A = torch.ones_like(A)
    return (B, A) if "names_exchanged" in wrong else (A, B)


def _scale(alpha: float, rank: int, wrong: Wrong) -> float:
    if "alpha_alone" in wrong:
        return alpha
    if "alpha_times_rank" in wrong:
        return alpha * rank
    if "root_of_rank" in wrong:
        return alpha / rank**0.5
    return 1.0 if "no_scale" in wrong else alpha / rank


_SCALE = frozenset({"alpha_alone", "alpha_times_rank", "root_of_rank", "no_scale"})
_START = frozenset({"both_zero", "both_random", "zero_exchanged", "constant"})
_MERGED = frozenset(
    {"merged_unscaled", "merged_into_base", "merged_update_only", "merged_transposed"}
)
_ROLES = frozenset({"names_exchanged", "factors_fixed", "base_trains", "no_base"}) | frozenset(
    {"base_copied", "no_update", "bias_lost", "input_detached"}
)

LoRALinear = Misconceptions(
    _lora,
    {
        "alpha_alone": Text(
            "The update is multiplied by alpha. It is alpha / rank, so that another rank does not "
            "ask for another learning rate.",
            "update에 alpha를 곱했습니다. alpha / rank를 곱해야 합니다. 그래야 rank를 바꿀 때 "
            "learning rate까지 다시 찾지 않아도 됩니다.",
        ),
        "alpha_times_rank": Text(
            "The update is multiplied by alpha · rank. It is alpha / rank.",
            "update에 alpha · rank를 곱했습니다. alpha / rank를 곱해야 합니다.",
        ),
        "root_of_rank": Text(
            "The update is multiplied by alpha / sqrt(rank). That is a later variant (rsLoRA); "
            "here it is alpha / rank.",
            "update에 alpha / sqrt(rank)를 곱했습니다. 그것은 나중에 나온 변형(rsLoRA)이고, "
            "여기서는 alpha / rank입니다.",
        ),
        "no_scale": Text(
            "The update is not scaled: alpha / rank is missing.",
            "update에 alpha / rank를 곱하지 않았습니다.",
        ),
        "both_zero": Text(
            "A and B are both zero. Then neither gets a gradient, since each one's is multiplied "
            "by the other, and the layer never learns.",
            "A와 B가 모두 0입니다. 각자의 gradient에는 상대가 곱해지므로 둘 다 gradient가 0이고, "
            "layer는 영영 배우지 못합니다.",
        ),
        "both_random": Text(
            "A and B are both random, so the new layer already differs from base: fine-tuning "
            "would start from a damaged model. B starts at zero.",
            "A와 B가 모두 무작위라서 새 layer가 처음부터 base와 다릅니다. 망가진 모델에서 "
            "fine-tuning을 시작하는 셈입니다. B는 0에서 시작합니다.",
        ),
        "zero_exchanged": Text(
            "A is zero and B random. It would learn too, but in LoRA it is the other way round.",
            "A가 0이고 B가 무작위입니다. 그래도 학습은 되지만 LoRA에서는 그 반대입니다.",
        ),
        "constant": Text(
            "All numbers of A are equal, so its rows get equal gradients and stay equal: the "
            "update has rank 1, whatever rank says. Draw them at random.",
            "A의 수가 모두 같습니다. 그러면 행들이 같은 gradient를 받아 계속 같은 값이고, rank를 "
            "얼마로 정하든 update의 rank는 1입니다. 무작위로 정하세요.",
        ),
        "names_exchanged": Text(
            "A and B are exchanged: A is (rank, in) and reads, B is (out, rank) and writes.",
            "A와 B가 바뀌었습니다. A는 (rank, in)으로 읽는 쪽, B는 (out, rank)로 쓰는 쪽입니다.",
        ),
        "factors_fixed": Text(
            "No gradient reaches A and B: nothing is left that could learn.",
            "A와 B에 gradient가 전해지지 않습니다. 배울 수 있는 것이 하나도 남지 않습니다.",
        ),
        "base_trains": Text(
            "The base is not frozen: its parameters still ask for a gradient, and an optimiser "
            "would change them. base.requires_grad_(False).",
            "base가 동결되지 않았습니다. parameter가 아직 gradient를 요구하므로 optimizer가 바꾸게 "
            "됩니다. base.requires_grad_(False).",
        ),
        "base_copied": Text(
            "The layer keeps a copy of base and freezes that. The base that came in is not frozen, "
            "and all its weights are held twice.",
            "base의 사본을 만들어 그 사본을 동결합니다. 받은 base는 동결되지 않고, weight를 두 벌 "
            "가지게 됩니다.",
        ),
        "no_base": Text(
            "The base's output is missing: only the update is returned.",
            "base의 출력이 빠졌습니다. update만 돌려줍니다.",
        ),
        "no_update": Text(
            "A and B are never used in forward: the layer gives what base gives, for ever.",
            "forward에서 A와 B를 쓰지 않습니다. layer가 언제까지나 base와 같은 값을 냅니다.",
        ),
        "bias_lost": Text(
            "The base's bias is missing. base(x) has it; x @ base.weight.T has not.",
            "base의 bias가 빠졌습니다. base(x)에는 있지만 x @ base.weight.T에는 없습니다.",
        ),
        "input_detached": Text(
            "x is cut off from the graph: no gradient gets past this layer to those before it.",
            "x가 graph에서 끊겼습니다. gradient가 이 layer를 지나 앞으로 가지 못합니다.",
        ),
        "merged_unscaled": Text(
            "merged adds B A without alpha / rank.",
            "merged가 alpha / rank 없이 B A를 더합니다.",
        ),
        "merged_into_base": Text(
            "merged writes into base.weight. Called twice it adds twice, and forward adds the "
            "update once more. Return a new tensor.",
            "merged가 base.weight에 씁니다. 두 번 부르면 두 번 더해지고, forward에서 또 "
            "더해집니다. 새 tensor를 돌려주세요.",
        ),
        "merged_update_only": Text(
            "merged gives the update alone, (alpha / rank) B A. W is missing: W + (alpha / rank) "
            "B A.",
            "merged가 update인 (alpha / rank) B A만 돌려줍니다. W가 빠졌습니다: W + (alpha / rank) "
            "B A.",
        ),
        "merged_transposed": Text(
            "merged is (in, out). PyTorch keeps a weight as (out, in).",
            "merged가 (in, out)입니다. PyTorch의 weight는 (out, in)입니다.",
        ),
    },
    apart=(_SCALE, _START | _ROLES, _MERGED | _ROLES, frozenset({"no_scale", "merged_unscaled"})),
)
