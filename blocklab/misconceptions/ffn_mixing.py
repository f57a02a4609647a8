"""Wrong turns in mixing positions as MLP-Mixer does."""

import torch
from torch.nn import functional as F

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _token_mixing(wrong: Wrong):
    def token_mixing(x, w_in, w_out):
        if "exchanged" in wrong:
            w_in, w_out = w_out.T, w_in.T
        h = F.layer_norm(x, x.shape[-1:]) if "norm_inside" in wrong else x
        h = _columns(h, wrong)
        y = _activated(h @ w_in.T, wrong) @ w_out.T
        y = F.gelu(y) if wrong & {"activation_last", "activation_twice"} else y
        y = _back(y, x, wrong)
        return x + y if "residual_inside" in wrong else y

    return token_mixing


def _columns(x, wrong: Wrong):
    """The numbers of one feature over all positions, on the last axis."""
    if "features" in wrong:
        return x
    if "reshaped" in wrong:
        return x.reshape(*x.shape[:-2], x.shape[-1], x.shape[-2])
    columns = x.transpose(-1, -2)
    return columns.mean(-2, keepdim=True).expand_as(columns) if "averaged" in wrong else columns


def _activated(h, wrong: Wrong):
    if wrong & {"no_activation", "activation_last"}:
        return h
    if "softmax" in wrong:
        return torch.softmax(h, -1)
    if "relu" in wrong:
        return torch.relu(h)
    if "silu" in wrong:
        return F.silu(h)
    h = F.gelu(h, approximate="tanh" if "gelu_tanh" in wrong else "none")
    return h.detach() if "detached" in wrong else h


def _back(y, x, wrong: Wrong):
    if wrong & {"features", "not_back"}:
        return y
    return y.reshape(x.shape) if "reshaped" in wrong else y.transpose(-1, -2)


_MIX_ACTIVATION = {
    "no_activation": Text(
        "There is no activation: two linear maps over the positions are one linear map.",
        "activation이 없습니다. 위치 방향의 선형 변환 둘은 선형 변환 하나와 같습니다.",
    ),
    "activation_last": Text(
        "GELU comes at the end. It belongs in the middle, on the d_tokens numbers.",
        "GELU를 맨 끝에 적용했습니다. 가운데에서 d_tokens개의 수에 적용합니다.",
    ),
    "activation_twice": Text(
        "There is a second GELU at the end.",
        "끝에 GELU가 한 번 더 있습니다.",
    ),
    "relu": Text(
        "The activation is ReLU; here it is GELU.", "ReLU를 썼습니다. 여기서는 GELU입니다."
    ),
    "silu": Text(
        "The activation is SiLU; here it is GELU.", "SiLU를 썼습니다. 여기서는 GELU입니다."
    ),
    "gelu_tanh": Text(
        "This is the tanh form of GELU, up to 4.7e-4 off. The exact one is asked for.",
        "GELU의 tanh 근사식입니다. 최대 4.7e-4만큼 어긋납니다. 물은 것은 정확한 식입니다.",
    ),
    "softmax": Text(
        "There is a softmax in the middle, as in attention. Mixer's token mixing is an MLP with "
        "GELU: the weights do not sum to 1, and they do not depend on the input.",
        "가운데에 attention처럼 softmax가 있습니다. Mixer의 token mixing은 GELU를 쓰는 MLP입니다. "
        "weight의 합이 1이 아니고, 입력에 따라 달라지지도 않습니다.",
    ),
}
_MIX_AXIS = {
    "features": Text(
        "The network runs over the features of each token (silent when T = d_model): that is an "
        "FFN. Here it runs over the positions of each feature.",
        "token의 feature 방향으로 계산했습니다 (T = d_model이면 오류 없이 지나갑니다). 그것은 "
        "FFN입니다. 여기서는 feature마다 위치 방향으로 계산합니다.",
    ),
    "reshaped": Text(
        "(T, d_model) is turned into (d_model, T) by reshape or view, which keeps the numbers in "
        "reading order and tears the features apart. Transpose instead.",
        "reshape나 view로 (T, d_model)을 (d_model, T)로 만들었습니다. 수를 읽는 순서가 그대로라서 "
        "feature가 찢어집니다. transpose를 쓰세요.",
    ),
    "not_back": Text(
        "The result is still transposed, (…, d_model, T). Transpose back.",
        "결과가 아직 뒤집힌 채 (…, d_model, T)입니다. 다시 transpose하세요.",
    ),
    "averaged": Text(
        "The features are averaged first and all get the same result. The weights are shared by "
        "the features, but each feature is mixed on its own.",
        "feature를 먼저 평균 내어 모두 같은 결과가 됩니다. weight는 feature끼리 함께 쓰지만, 섞는 "
        "것은 feature마다 따로입니다.",
    ),
}
token_mixing = Misconceptions(
    _token_mixing,
    {
        **_MIX_AXIS,
        **_MIX_ACTIVATION,
        "exchanged": Text(
            "w_out.T goes in and w_in.T comes back: the shapes fit, so nothing complains. It is "
            "w_out @ gelu(w_in @ x).",
            "w_out.T로 펼치고 w_in.T로 되돌아왔습니다. shape이 맞아서 오류가 나지 않습니다. "
            "w_out @ gelu(w_in @ x)입니다.",
        ),
        "residual_inside": Text(
            "x is added to the result. In the Mixer too the residual add stands outside.",
            "결과에 x를 더했습니다. Mixer에서도 residual add는 바깥에 있습니다.",
        ),
        "norm_inside": Text(
            "x is normalised first. The Mixer block does that, outside this function.",
            "x를 먼저 정규화했습니다. 그것은 Mixer block이 이 함수 바깥에서 하는 일입니다.",
        ),
        "detached": Text(
            "The middle is cut out of the graph (.detach(), .data, no_grad), so w_in gets no "
            "gradient.",
            "가운데 값을 graph에서 떼어 냈습니다 (.detach(), .data, no_grad). w_in에 gradient가 "
            "가지 않습니다.",
        ),
    },
    apart=(
        frozenset(_MIX_AXIS),
        frozenset(_MIX_ACTIVATION),
        frozenset({"detached", *_MIX_ACTIVATION} - {"activation_twice"}),
    ),
)
