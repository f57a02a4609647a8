"""Wrong turns in reading the FFN as a memory."""

import torch
from torch.nn import functional as F

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _ffn_as_memory(wrong: Wrong):
    def ffn_as_memory(x, keys, values, activation):
        if "exchanged" in wrong:
            keys, values = values, keys
        scores = _scores(x, keys, wrong)
        used = _coefficients(scores, activation, wrong)
        output = _output(used, keys, values, wrong)
        last = wrong & {"activated_output", "activation_last"}
        output = activation(output) if last else output
        given = scores if "raw" in wrong else used
        if "output_only" in wrong:
            return output
        return (given, output) if "order" in wrong else (output, given)

    return ffn_as_memory


def _scores(x, keys, wrong: Wrong):
    x = x.detach() if "detached" in wrong else x
    if "cosine" in wrong:
        x, keys = F.normalize(x, dim=-1), F.normalize(keys, dim=-1)
    scores = x @ (keys if "transposed" in wrong else keys.T)
    return scores / keys.shape[-1] ** 0.5 if "scaled" in wrong else scores


def _coefficients(scores, activation, wrong: Wrong):
    if "softmax" in wrong:
        return torch.softmax(scores, -1)
    if wrong & {"no_activation", "activation_last"}:
        return scores
    used = torch.relu(scores) if "own_relu" in wrong else activation(scores)
    if "strongest" in wrong:
        return used * (used == used.amax(-1, keepdim=True))
    return used / used.shape[-1] if "mean" in wrong else used


def _output(used, keys, values, wrong: Wrong):
    if "keys_read" in wrong:
        return used @ keys
    if "no_coefficients" in wrong:
        return (used > 0).to(used.dtype) @ values
    return used @ (values.T if "transposed" in wrong else values)


ffn_as_memory = Misconceptions(
    _ffn_as_memory,
    {
        "exchanged": Text(
            "Keys and values are exchanged: x is compared with the values, and the keys are "
            "written. Both have the same shape, so nothing complains.",
            "key와 value가 바뀌었습니다. x를 value와 견주고 key를 썼습니다. 둘의 shape이 같아서 "
            "오류가 나지 않습니다.",
        ),
        "keys_read": Text(
            "The keys are summed up, not the values. A key says when a memory answers; its value "
            "is what it answers.",
            "value가 아니라 key를 더했습니다. key는 memory가 언제 답할지를 정하고, value가 그 "
            "답입니다.",
        ),
        "raw": Text(
            "The output is right, but the scores x · key are returned as coefficients. A "
            "coefficient is the score after the activation: what the value is multiplied by.",
            "output은 맞지만 coefficients 자리에 점수 x · key를 돌려주었습니다. coefficient는 "
            "activation을 지난 값, 곧 value에 실제로 곱하는 수입니다.",
        ),
        "no_activation": Text(
            "The activation is missing: every memory answers, with negative weight where it does "
            "not match.",
            "activation이 빠졌습니다. 모든 memory가 답하고, 맞지 않는 memory는 음의 가중치로 "
            "답합니다.",
        ),
        "activation_last": Text(
            "The activation is applied to the output, after the sum. It belongs on the scores: "
            "each memory decides how much it answers before its value is added.",
            "합을 낸 뒤 output에 activation을 적용했습니다. activation은 점수에 적용합니다. "
            "value를 더하기 전에 memory마다 얼마나 답할지를 정합니다.",
        ),
        "own_relu": Text(
            "It uses ReLU, whatever activation it is given. Use the argument.",
            "어떤 activation을 받든 ReLU를 씁니다. 받은 함수를 쓰세요.",
        ),
        "softmax": Text(
            "The coefficients are a softmax, as in attention and in older memory networks: they "
            "compete and sum to 1. In an FFN each memory decides for itself.",
            "attention이나 예전의 memory network처럼 softmax를 썼습니다. 그러면 서로 경쟁하고 합이 "
            "1이 됩니다. FFN에서는 memory마다 따로 정합니다.",
        ),
        "strongest": Text(
            "Only the memory that matches best is read. The output is the sum over all of them.",
            "가장 잘 맞는 memory 하나만 읽었습니다. output은 모든 memory에 걸친 합입니다.",
        ),
        "mean": Text(
            "The coefficients are divided by d_ff: a mean. The FFN takes the sum.",
            "coefficient를 d_ff로 나누어 평균을 냈습니다. FFN은 합을 씁니다.",
        ),
        "no_coefficients": Text(
            "Memories that are on are added with weight 1. Each value is multiplied by its "
            "coefficient.",
            "켜진 memory를 가중치 1로 더했습니다. value마다 자기 coefficient를 곱해야 합니다.",
        ),
        "scaled": Text(
            "The scores are divided by sqrt(d_model). That is attention's habit; an FFN does not.",
            "점수를 sqrt(d_model)로 나누었습니다. attention의 습관이고, FFN은 나누지 않습니다.",
        ),
        "cosine": Text(
            "x and the keys are brought to length 1 first. The score is the plain dot product.",
            "x와 key의 길이를 먼저 1로 맞췄습니다. 점수는 내적 그대로입니다.",
        ),
        "activated_output": Text(
            "The activation is applied to the output as well. It belongs on the scores only.",
            "output에도 activation을 적용했습니다. 점수에만 적용합니다.",
        ),
        "transposed": Text(
            "keys and values are taken as (d_model, d_ff): x @ keys. A memory is a row here, so it "
            "is x @ keys.T, and then @ values. When d_ff = d_model nothing complains.",
            "keys와 values를 (d_model, d_ff)로 보고 x @ keys로 계산했습니다. 여기서는 memory "
            "하나가 한 행이므로 x @ keys.T 다음에 @ values입니다. d_ff = d_model이면 오류가 나지 "
            "않습니다.",
        ),
        "order": Text(
            "The two results are in the wrong order: first the output, then the coefficients.",
            "두 결과의 순서가 바뀌었습니다. output이 먼저이고 coefficients가 다음입니다.",
        ),
        "output_only": Text(
            "Only the output is returned. Return both: output, coefficients.",
            "output만 돌려주었습니다. output, coefficients를 함께 돌려주세요.",
        ),
        "detached": Text(
            "x is cut out of the graph (.detach(), .data, .item()): the values are right, but no "
            "gradient reaches x.",
            "x를 graph에서 떼어 냈습니다 (.detach(), .data, .item()). 값은 맞지만 x로 gradient가 "
            "흐르지 않습니다.",
        ),
    },
    apart=(
        frozenset({"no_activation", "own_relu", "softmax", "strongest", "mean", "raw"}),
        frozenset({"no_activation", "own_relu", "softmax", "no_coefficients", "raw"}),
        frozenset({"keys_read", "no_coefficients", "transposed"}),
        frozenset({"activation_last", "activated_output", "no_activation", "own_relu"}),
        frozenset({"activation_last", "softmax", "strongest", "mean", "raw", "no_coefficients"}),
        frozenset({"exchanged", "keys_read"}),
        frozenset({"scaled", "cosine"}),
        frozenset({"order", "output_only"}),
        frozenset({"raw", "output_only"}),
        frozenset({"output_only", "detached"}),
    ),
)
