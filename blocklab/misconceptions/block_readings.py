"""Wrong turns with the logit lens, and in the search for a wrong wire."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.reference import block as reference
from blocklab.text import Text


def _logit_lens(wrong: Wrong):
    def logit_lens(states, final_norm, lm_head):
        read = list(states)
        read = read[1:] if "no_embedding" in wrong else read
        read = read[-1:] if "last_only" in wrong else read
        if "updates" in wrong:
            read = [read[0], *(b - a for a, b in pairwise(read))]
        last = len(read) - 1
        logits = [lm_head(_normed(s, final_norm, n == last, wrong)) for n, s in enumerate(read)]
        if "log_softmax" in wrong:
            logits = [each.log_softmax(-1) for each in logits]
        if "softmax" in wrong:
            logits = [each.softmax(-1) for each in logits]
        if "as_list" in wrong:
            return logits
        if "joined" in wrong:
            return torch.cat(logits)
        if "squeezed" in wrong:
            return torch.stack(logits).squeeze()
        if "detached" in wrong:
            return torch.stack(logits).detach()
        return torch.stack(logits, dim=-2 if "layers_inside" in wrong else 0)

    return logit_lens


def _normed(state, final_norm, is_last: bool, wrong: Wrong):
    if "no_norm" in wrong:
        return state
    if is_last and "last_not_normed" in wrong:
        return state
    if not is_last and "only_last_normed" in wrong:
        return state
    return final_norm(final_norm(state)) if "normed_twice" in wrong else final_norm(state)


logit_lens = Misconceptions(
    _logit_lens,
    {
        "no_norm": Text(
            "The states go to the LM head as they are. It was trained on normalised states: "
            "without the final norm its logits have the wrong scale, and with a gain the wrong "
            "direction.",
            "state를 그대로 LM head에 넣었습니다. LM head는 정규화된 state로 학습되었습니다. final "
            "norm이 없으면 logits의 크기가 틀리고, gain이 있으면 방향까지 틀립니다.",
        ),
        "normed_twice": Text(
            "The final norm is applied twice. With a gain, the second time changes the result.",
            "final norm을 두 번 적용했습니다. gain이 있으면 두 번째에서 값이 또 바뀝니다.",
        ),
        "only_last_normed": Text(
            "Only the last state goes through the final norm. The lens asks what the model would "
            "say if it stopped earlier, so every state gets what the last one gets.",
            "마지막 state만 final norm을 지납니다. logit lens는 모델이 더 일찍 멈추었다면 "
            "무엇이라고 말했을지를 묻습니다. 그러니 모든 state가 마지막 state와 같은 길을 지나야 "
            "합니다.",
        ),
        "last_not_normed": Text(
            "The last state is taken as normalised already. None of the states has gone through "
            "the final norm.",
            "마지막 state는 이미 정규화되었다고 보았습니다. 어느 state도 final norm을 지나지 "
            "않았습니다.",
        ),
        "last_only": Text(
            "Only the last state is read. Those are the model's own logits; the lens reads them "
            "all.",
            "마지막 state만 읽었습니다. 그것은 모델이 원래 내는 logits입니다. logit lens는 모든 "
            "state를 읽습니다.",
        ),
        "no_embedding": Text(
            "The first state, the embedding, is left out.",
            "첫 번째 state인 embedding이 빠졌습니다.",
        ),
        "updates": Text(
            "The updates are read instead of the states. The lens reads the stream as it stands "
            "after each block.",
            "state가 아니라 update를 읽었습니다. logit lens는 block마다 그 뒤의 stream을 읽습니다.",
        ),
        "softmax": Text(
            "These are probabilities. Asked for are logits.",
            "이것은 확률입니다. 요구한 것은 logits입니다.",
        ),
        "log_softmax": Text(
            "These are log-probabilities. Asked for are logits.",
            "이것은 log 확률입니다. 요구한 것은 logits입니다.",
        ),
        "as_list": Text(
            "It is a list, one tensor a state. Put them into one: torch.stack.",
            "state마다 tensor 하나씩인 list입니다. 하나로 쌓으세요: torch.stack.",
        ),
        "joined": Text(
            "torch.cat puts the states end to end along the batch. torch.stack gives them an axis "
            "of their own, in front.",
            "torch.cat은 state들을 batch 방향으로 잇습니다. torch.stack은 맨 앞에 새 축을 "
            "만듭니다.",
        ),
        "squeezed": Text(
            "squeeze() also drops an axis that belongs to the result: that of the states, when "
            "there is only one.",
            "squeeze()는 결과에 있어야 할 축까지 없앱니다. state가 하나뿐이면 state의 축이 "
            "사라집니다.",
        ),
        "detached": Text(
            "The logits are cut off from the graph (torch.no_grad, .detach()). Whoever calls the "
            "lens decides that; a lens that is trained needs the gradient.",
            "logits가 graph에서 끊겼습니다(torch.no_grad, .detach()). 끊을지 말지는 lens를 부르는 "
            "쪽이 정합니다. lens를 학습시키려면 gradient가 필요합니다.",
        ),
        "layers_inside": Text(
            "The axis of the states stands further in. It comes first: (n_layers + 1, …, "
            "vocab_size).",
            "state의 축이 안쪽에 있습니다. 맨 앞이어야 합니다: (n_layers + 1, …, vocab_size).",
        ),
    },
    apart=(
        frozenset({"no_norm", "normed_twice", "only_last_normed", "last_not_normed"}),
        frozenset({"last_only", "no_embedding", "updates"}),
        frozenset({"last_only", "only_last_normed"}),
        frozenset({"softmax", "log_softmax"}),
        frozenset({"as_list", "joined", "layers_inside", "squeezed", "detached"}),
    ),
)


def _wired(form: Callable[..., Tensor]) -> Callable[[Any], Tensor]:
    """What a block would give, with the parts it comes with, if it were wired like this."""
    return lambda block: form(X, block.norm1, block.attention, block.norm2, block.ffn)


X = torch.linspace(-2.0, 3.0, 24).view(2, 3, 4).sin()
FORMS = {
    "right": lambda x, m, a, n, f: (y := x + a(m(x))) + f(n(y)),
    "ffn_reads_input": lambda x, m, a, n, f: x + a(m(x)) + f(n(x)),
    "no_attention_residual": lambda x, m, a, n, f: (y := a(m(x))) + f(n(y)),
    "no_ffn_residual": lambda x, m, a, n, f: f(n(x + a(m(x)))),
    "one_norm_twice": lambda x, m, a, n, f: (y := x + a(m(x))) + f(m(y)),
    "residual_normalised": lambda x, m, a, n, f: (y := m(x) + a(m(x))) + f(n(y)),
}
CONFUSED: Mapping[str, Mapping[str, str]] = {
    "residuals_exchanged": {
        "no_attention_residual": "no_ffn_residual",
        "no_ffn_residual": "no_attention_residual",
    },
    "equal_norms": {"one_norm_twice": "right"},
    "norms_left_out": {"one_norm_twice": "right", "residual_normalised": "right"},
    "silent_attention": {"ffn_reads_input": "right"},
    "silent_ffn": {"ffn_reads_input": "right", "one_norm_twice": "right"},
    "silent_both": {
        "ffn_reads_input": "right",
        "one_norm_twice": "right",
        "no_ffn_residual": "no_attention_residual",
    },
    "equal_numbers": {"one_norm_twice": "right", "no_ffn_residual": "no_attention_residual"},
    "never_right": {"right": "ffn_reads_input"},
    "always_right": dict.fromkeys(FORMS, "right"),
}


def _name_the_wire(wrong: Wrong):
    def name_the_wire(block):
        if "as_it_comes" in wrong:
            given = block(X)
            fits = (n for n, form in FORMS.items() if torch.allclose(given, _wired(form)(block)))
            return next(fits, "right")
        name = reference.name_the_wire(block)
        for flag in wrong:
            name = CONFUSED[flag].get(name, name)
        return name

    return name_the_wire


_WIRE_WORDS = {
    "as_it_comes": Text(
        "Wrong answers come where the block's own parts hide the wire: equal norms, or a sublayer "
        "that writes nothing. Replace the parts by functions of your own before you call it.",
        "block이 가지고 온 부품이 단서를 가리는 경우에 틀립니다. 두 norm이 같거나 sublayer가 "
        "아무것도 쓰지 않을 때입니다. 부르기 전에 부품을 여러분의 함수로 바꾸세요.",
    ),
    "residuals_exchanged": Text(
        "The two missing residuals are taken for one another. The attention's comes first: without "
        "it x1 has nothing of x.",
        "빠진 residual 두 가지를 서로 바꾸어 불렀습니다. attention 쪽이 먼저입니다. 그것이 없으면 "
        "x1에 x가 남지 않습니다.",
    ),
    "equal_norms": Text(
        "“one_norm_twice” is called right. If you put the same function in for both norms, nobody "
        "can tell which of them was called.",
        "one_norm_twice를 right라고 합니다. 두 norm 자리에 같은 함수를 넣으면 어느 쪽이 불렸는지 "
        "알 수 없습니다.",
    ),
    "norms_left_out": Text(
        "Both wires that have to do with norms are called right. With norms that do nothing, "
        "norm1, norm2 and no norm are all the same.",
        "norm과 관련된 두 선을 모두 right라고 합니다. 아무 일도 하지 않는 norm을 넣으면 norm1, "
        "norm2, norm 없음이 모두 같아집니다.",
    ),
    "silent_attention": Text(
        "“ffn_reads_input” is called right. If the attention writes nothing, x1 is x, and it does "
        "not show which of them the FFN reads.",
        "ffn_reads_input을 right라고 합니다. attention이 아무것도 쓰지 않으면 x1이 x와 같아서, "
        "FFN이 어느 쪽을 읽는지 드러나지 않습니다.",
    ),
    "silent_ffn": Text(
        "Whatever is wrong in what the FFN reads is called right. An FFN that writes nothing shows "
        "nothing of what it read.",
        "FFN이 읽는 것에 관한 잘못을 모두 right라고 합니다. 아무것도 쓰지 않는 FFN은 무엇을 "
        "읽었는지도 보여 주지 않습니다.",
    ),
    "silent_both": Text(
        "With both sublayers silent only the residuals can be seen, and not which of them is "
        "missing. Let each part do something of its own.",
        "두 sublayer가 모두 아무것도 쓰지 않으면 residual만 보이고, 그나마 어느 것이 빠졌는지 알 "
        "수 없습니다. 부품마다 서로 다른 일을 하게 하세요.",
    ),
    "equal_numbers": Text(
        "Some wires give the same result, as when every part multiplies by the same number. Choose "
        "numbers that make all six results differ.",
        "몇몇 선의 결과가 같아집니다. 모든 부품이 같은 수를 곱할 때 그렇습니다. 여섯 결과가 모두 "
        "달라지도록 수를 고르세요.",
    ),
    "never_right": Text(
        "A right block is called wrong too. Not every unknown block has a fault.",
        "올바른 block까지 틀렸다고 합니다. 모든 block에 잘못이 있는 것은 아닙니다.",
    ),
    "always_right": Text(
        "Every block is called right.",
        "모든 block을 right라고 합니다.",
    ),
}

name_the_wire = Misconceptions(_name_the_wire, _WIRE_WORDS, apart=(frozenset(_WIRE_WORDS),))
