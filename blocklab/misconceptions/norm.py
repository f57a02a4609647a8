"""Wrong turns around RMSNorm and LayerNorm."""

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _rms_norm(wrong: Wrong):
    def rms_norm(x, gain, eps):
        h = x if "in_half" in wrong else x.float()
        if "over_time" in wrong and x.dim() > 1:
            mean = h.pow(2).mean(dim=-2, keepdim=True)
        elif "n_minus_1" in wrong:
            mean = h.pow(2).sum(dim=-1, keepdim=True) / (h.shape[-1] - 1)
        else:
            mean = h.pow(2).mean(dim=-1, keepdim=True)
        root = mean.sqrt() + eps if "eps_after_root" in wrong else (mean + eps).sqrt()
        y = h / root
        y = y if "no_gain" in wrong else y * gain.to(y.dtype)
        return y if "float32_out" in wrong else y.to(x.dtype)

    return rms_norm


rms_norm = Misconceptions(
    _rms_norm,
    {
        "eps_after_root": Text(
            "epsilon is added after the root. Inside, √(mean + ε) can never be smaller than √ε; "
            "outside, a token of zeros is divided by ε alone.",
            "epsilon을 제곱근을 취한 뒤에 더했습니다. 안에서 더하면 √(평균 + ε)은 √ε보다 "
            "작아지지 않지만, 밖에서 더하면 작은 token은 거의 ε만으로 나누게 됩니다.",
        ),
        "over_time": Text(
            "The mean is taken over the tokens (dim=-2), not over the components of each token "
            "(dim=-1): every token now depends on all the others.",
            "평균을 token마다의 성분(dim=-1)이 아니라 token들(dim=-2)에 걸쳐 구했습니다. 이제 "
            "모든 token이 서로에게 영향을 줍니다.",
        ),
        "n_minus_1": Text(
            "The squares are divided by d - 1. That is the sample variance; RMS divides by d.",
            "제곱의 합을 d - 1로 나누었습니다. 그것은 표본분산이고, RMS는 d로 나눕니다.",
        ),
        "no_gain": Text(
            "The gain is not used: every component keeps weight 1.",
            "gain을 곱하지 않았습니다. 모든 성분의 가중치가 1로 남습니다.",
        ),
        "in_half": Text(
            "The squares are computed in half precision: 300² = 90,000 is beyond fp16 (65,504), "
            "becomes inf, and dividing by inf gives zeros. Compute in float32, then go back.",
            "제곱을 half precision으로 계산했습니다. 300² = 90,000은 fp16의 한계(65,504)를 넘어 "
            "inf가 되고, inf로 나누면 0입니다. float32로 계산한 뒤 되돌리세요.",
        ),
        "float32_out": Text(
            "The result is float32 although the input was half precision: a model in bf16 would "
            "change dtype here. Return x's dtype.",
            "입력은 half precision인데 결과가 float32입니다. bf16 모델이라면 여기서 dtype이 "
            "바뀝니다. x의 dtype으로 돌려주세요.",
        ),
    },
    apart=(frozenset({"over_time", "n_minus_1"}), frozenset({"in_half", "float32_out"})),
)
