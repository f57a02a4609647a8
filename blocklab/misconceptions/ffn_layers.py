"""Wrong turns in the FFN as a function and as a layer."""

import torch
from torch import nn
from torch.nn import functional as F

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _ffn(x, w_in, b_in, w_out, b_out, activation, wrong: Wrong):
    """The FFN with its weights in PyTorch's layout, and whatever is wrong with it."""
    activation = torch.relu if "own_relu" in wrong else activation
    h = F.layer_norm(x, x.shape[-1:]) if "norm_inside" in wrong else x
    h = h.transpose(-1, -2) if "over_tokens" in wrong else h
    h = activation(h) if "activation_first" in wrong else h
    w_in, w_out = _laid_out(w_in, w_out, wrong)
    h = _hidden(h @ w_in.T, b_in, activation, wrong)
    h = h.detach() if "detached" in wrong else h
    y = h @ w_out.T + (0 if "no_b_out" in wrong else b_out)
    y = activation(y) if wrong & {"activation_last", "activation_twice"} else y
    y = y.transpose(-1, -2) if "over_tokens" in wrong else y
    return x + y if "residual_inside" in wrong else y


def _laid_out(w_in, w_out, wrong: Wrong):
    if "transposed" in wrong:
        return w_in.T, w_out.T
    return (w_out.T, w_in.T) if "exchanged" in wrong else (w_in, w_out)


def _hidden(h, b_in, activation, wrong: Wrong):
    if "b_in_after" in wrong:
        return activation(h) + b_in
    h = h if "no_b_in" in wrong else h + b_in * (2 if "b_in_twice" in wrong else 1)
    elsewhere = {"no_activation", "activation_last", "activation_first"}
    return h if wrong & elsewhere else activation(h)


_ACTIVATION = {
    "no_activation": Text(
        "There is no activation: two linear maps in a row are one linear map, and the wide middle "
        "adds nothing.",
        "activation이 없습니다. 선형 변환을 두 번 이어 붙여도 선형 변환 하나와 같아서, 가운데를 "
        "넓힌 보람이 없습니다.",
    ),
    "activation_last": Text(
        "The activation comes at the very end, after the way back. It belongs in the middle, on "
        "the d_ff numbers: expand, activate, compress.",
        "activation을 맨 끝, 되돌아온 다음에 적용했습니다. 가운데에서 d_ff개의 수에 적용합니다: "
        "펼치고, 거르고, 압축합니다.",
    ),
    "activation_first": Text(
        "The activation is applied to x, before the expansion. It belongs in the middle, on the "
        "d_ff numbers.",
        "펼치기 전의 x에 activation을 적용했습니다. 가운데에서 d_ff개의 수에 적용합니다.",
    ),
    "activation_twice": Text(
        "There is a second activation at the end. What the FFN writes into the stream must be "
        "free to be of any size and sign.",
        "끝에 activation이 한 번 더 있습니다. FFN이 stream에 쓰는 값은 크기도 부호도 자유로워야 "
        "합니다.",
    ),
    "own_relu": Text(
        "It uses ReLU, whatever activation it is given. Use the argument.",
        "어떤 activation을 받든 ReLU를 씁니다. 받은 함수를 쓰세요.",
    ),
}
FLOW = {
    "over_tokens": Text(
        "The network runs over the positions instead of the features (silent when T = d_model). "
        "That is token mixing; an FFN works on one token at a time.",
        "feature가 아니라 position 방향으로 계산합니다 (T = d_model이면 오류 없이 지나갑니다). "
        "그것은 token mixing입니다. FFN은 token을 하나씩 따로 계산합니다.",
    ),
    "residual_inside": Text(
        "x is added to the result. The residual add belongs to the block; the FFN returns only "
        "its update.",
        "결과에 x를 더했습니다. residual add는 block이 할 일이고, FFN은 update만 돌려줍니다.",
    ),
    "norm_inside": Text(
        "x is normalised first. The norm belongs to the block; the FFN takes x as it comes.",
        "x를 먼저 정규화했습니다. norm은 block이 할 일이고, FFN은 x를 받은 그대로 씁니다.",
    ),
    "detached": Text(
        "The hidden numbers are cut out of the graph (.detach(), .data, no_grad): the values are "
        "right, but the first matrix would never learn.",
        "가운데 값을 graph에서 떼어 냈습니다 (.detach(), .data, no_grad). 값은 맞지만 첫 번째 "
        "행렬은 아무것도 배우지 못합니다.",
    ),
}
_BIASES = {
    "no_b_in": Text(
        "b_in is missing: without it every unit turns on at the same place, 0.",
        "b_in이 빠졌습니다. 그러면 모든 unit이 똑같이 0에서 켜집니다.",
    ),
    "no_b_out": Text(
        "b_out, the bias of the second map, is missing.",
        "두 번째 변환의 bias인 b_out이 빠졌습니다.",
    ),
    "b_in_after": Text(
        "b_in is added after the activation. Added before it, it moves the place where a unit "
        "turns on; after it, it only shifts the result.",
        "b_in을 activation 뒤에 더했습니다. 앞에서 더해야 unit이 켜지는 자리를 옮깁니다. 뒤에서는 "
        "결과를 밀어 줄 뿐입니다.",
    ),
    "b_in_twice": Text(
        "b_in is added twice: F.linear(x, w, b) and nn.Linear already add their bias.",
        "b_in을 두 번 더했습니다. F.linear(x, w, b)와 nn.Linear는 이미 bias를 더합니다.",
    ),
}
_LAYOUT = {
    "transposed": Text(
        "The weights are taken as (in, out): x @ w_in. In PyTorch's layout they are (out, in): "
        "x @ w_in.T. When all sizes are equal nothing complains.",
        "weight를 (in, out)으로 보고 x @ w_in으로 계산했습니다. PyTorch의 layout은 (out, in)이므로 "
        "x @ w_in.T입니다. 크기가 모두 같으면 아무 오류도 나지 않습니다.",
    ),
    "exchanged": Text(
        "w_out expands and w_in compresses: x @ w_out fits in shape, so nothing complains. It is "
        "x @ w_in.T, then @ w_out.T.",
        "w_out으로 펼치고 w_in으로 압축했습니다. x @ w_out도 shape이 맞아서 오류가 나지 않습니다. "
        "x @ w_in.T 다음에 @ w_out.T입니다.",
    ),
}
_APART = (
    frozenset(_ACTIVATION) - {"own_relu"},
    frozenset({"own_relu", "no_activation"}),
    frozenset({"b_in_after", "no_b_in", "b_in_twice"}),
    frozenset({"no_activation", "activation_last", "activation_first", "b_in_after"}),
    frozenset(_LAYOUT),
)


def _feed_forward(wrong: Wrong):
    def feed_forward(x, w_in, b_in, w_out, b_out, activation):
        return _ffn(x, w_in, b_in, w_out, b_out, activation, wrong)

    return feed_forward


feed_forward = Misconceptions(
    _feed_forward, {**_ACTIVATION, **_BIASES, **_LAYOUT, **FLOW}, apart=_APART
)


def _FeedForward(wrong: Wrong):
    class FeedForward(nn.Module):
        def __init__(self, d_model, d_ff, activation):
            super().__init__()
            self.up_proj, self.down_proj = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
            self.activation = activation

        def forward(self, x):
            up, down = self.up_proj, self.down_proj
            return _ffn(x, up.weight, up.bias, down.weight, down.bias, self.activation, wrong)

    return FeedForward


FeedForward = Misconceptions(_FeedForward, {**_ACTIVATION, **_BIASES, **FLOW}, apart=_APART)
