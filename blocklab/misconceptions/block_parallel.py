"""Wrong turns in a block whose two sublayers work side by side."""

import copy
from collections.abc import Callable, Mapping

from torch import Tensor, nn

from blocklab.misconceptions.block_plumbing import PARTS, PLUMBING, Part, attending, cut
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text

Form = Callable[[Tensor, Part, Part, Part], Tensor]


def _parallel(x: Tensor, a: Part, f: Part, n: Part) -> Tensor:
    h = n(x)
    return x + a(h) + f(h)


def _serial(x: Tensor, a: Part, f: Part, n: Part) -> Tensor:
    x = x + a(n(x))
    return x + f(n(x))


def _averaged(x: Tensor, a: Part, f: Part, n: Part) -> Tensor:
    h = n(x)
    return x + (a(h) + f(h)) / 2


def _delta_read(x: Tensor, a: Part, f: Part, n: Part) -> Tensor:
    delta = a(n(x))
    return x + delta + f(delta)


def _normalised(x: Tensor, a: Part, f: Part, n: Part) -> Tensor:
    h = n(x)
    return h + a(h) + f(h)


def _no_residual(x: Tensor, a: Part, f: Part, n: Part) -> Tensor:
    h = n(x)
    return a(h) + f(h)


FORMS: Mapping[str, tuple[Form, Text]] = {
    "serial": (
        _serial,
        Text(
            "This is the serial block of task 3, with one norm for both halves: the FFN waits for "
            "x1. Here it reads the same h = norm(x) as the attention.",
            "이것은 3번의 직렬 block입니다. norm 하나를 두 번 쓰고, FFN이 x1을 기다립니다. "
            "여기서는 FFN도 attention과 같은 h = norm(x)를 읽습니다.",
        ),
    ),
    "chained": (
        lambda x, a, f, n: x + f(a(n(x))),
        Text(
            "The FFN reads what the attention gives, and only the FFN's output is added. Both read "
            "h, and both are added.",
            "FFN이 attention의 출력을 읽고, FFN의 출력만 더했습니다. 둘 다 h를 읽고, 둘 다 "
            "더해야 합니다.",
        ),
    ),
    "ffn_reads_delta": (
        _delta_read,
        Text(
            "The FFN reads what the attention wrote. It does not know of it yet: it reads "
            "h = norm(x).",
            "FFN이 attention이 쓴 것을 읽습니다. 여기서 FFN은 그것을 아직 모릅니다. h = norm(x)를 "
            "읽으세요.",
        ),
    ),
    "no_norm": (
        lambda x, a, f, n: x + a(x) + f(x),
        Text(
            "The norm is not applied: both sublayers read x as it is.",
            "norm을 적용하지 않았습니다. 두 sublayer가 x를 그대로 읽습니다.",
        ),
    ),
    "ffn_unnormed": (
        lambda x, a, f, n: x + a(n(x)) + f(x),
        Text(
            "The FFN reads x as it is. The one norm is for both.",
            "FFN이 x를 그대로 읽습니다. norm 하나를 둘이 함께 씁니다.",
        ),
    ),
    "attention_unnormed": (
        lambda x, a, f, n: x + a(x) + f(n(x)),
        Text(
            "The attention reads x as it is. The one norm is for both.",
            "attention이 x를 그대로 읽습니다. norm 하나를 둘이 함께 씁니다.",
        ),
    ),
    "norm_twice": (
        lambda x, a, f, n: x + a(n(x)) + f(n(x)),
        Text(
            "The numbers are right, but the norm is computed twice, or never (a copy works in its "
            "place). Compute h = norm(x) once and let both read it: that is what this block saves.",
            "값은 맞지만 norm을 두 번 계산하거나, 사본을 써서 한 번도 호출하지 않습니다. "
            "h = norm(x)를 한 번만 계산해 둘이 함께 읽게 하세요. 이 block이 아끼는 것이 바로 "
            "그것입니다.",
        ),
    ),
    "no_residual": (
        _no_residual,
        Text(
            "x is not added: the two updates replace the stream.",
            "x를 더하지 않았습니다. 두 update가 stream을 교체합니다.",
        ),
    ),
    "residual_normalised": (
        _normalised,
        Text(
            "The updates are added to norm(x). The sublayers read norm(x); what they write is "
            "added to x itself.",
            "update를 norm(x)에 더했습니다. norm(x)는 sublayer가 읽을 뿐이고, update는 x 자체에 "
            "더합니다.",
        ),
    ),
    "doubled": (
        lambda x, a, f, n: x + _parallel(x, a, f, n),
        Text(
            "x is added twice, once for each sublayer. There is one stream: x once, and two "
            "updates.",
            "sublayer마다 한 번씩, x를 두 번 더했습니다. stream은 하나입니다. x는 한 번, update는 "
            "둘입니다.",
        ),
    ),
    "averaged": (
        _averaged,
        Text(
            "The two updates are averaged. Each is added in full.",
            "두 update의 평균을 더했습니다. 둘 다 그대로 더합니다.",
        ),
    ),
    "norm_after": (
        lambda x, a, f, n: n(x + a(x) + f(x)),
        Text(
            "The norm stands on the stream, after the add, as in Post-Norm. It stands on the "
            "branch: h = norm(x) is read, and the stream keeps x.",
            "norm이 Post-Norm처럼 덧셈 뒤, stream 위에 있습니다. norm은 옆길에 두어야 합니다. "
            "sublayer는 h = norm(x)를 읽고, stream은 x를 유지합니다.",
        ),
    ),
    "ffn_lost": (
        lambda x, a, f, n: x + a(n(x)),
        Text(
            "What the FFN gives is not added.",
            "FFN의 출력을 더하지 않았습니다.",
        ),
    ),
    "attention_lost": (
        lambda x, a, f, n: x + f(n(x)),
        Text(
            "What the attention gives is not added.",
            "attention의 출력을 더하지 않았습니다.",
        ),
    ),
}
KEPT = {
    "two_norms": Text(
        "The FFN has a norm of its own, a copy of the one that came in. GPT-NeoX does that; here "
        "both read the same h, and the block has one norm.",
        "FFN에 받은 norm의 사본을 따로 두었습니다. GPT-NeoX는 그렇게 하지만, 여기서는 둘이 같은 "
        "h를 읽고 block의 norm은 하나입니다.",
    ),
    "as_they_came": Text(
        "forward calls the parts that came in, not those that stand under their names: after "
        "block.norm = another it would still call the old one. Call self.norm and so on.",
        "forward가 자기 이름에 있는 부품이 아니라 처음 받은 부품을 호출합니다. block.norm을 "
        "바꾸어도 여전히 예전 것을 부릅니다. self.norm처럼 이름으로 호출하세요.",
    ),
}


def _block(wrong: Wrong) -> type[nn.Module]:
    form = next((FORMS[flag][0] for flag in FORMS if flag in wrong), _parallel)

    class ParallelBlock(nn.Module):
        def __init__(self, attention, ffn, norm):
            super().__init__()
            self.came = (attention, ffn, norm) if wrong & PARTS else None
            if "unregistered" not in wrong:
                self.attention, self.ffn, self.norm = attention, ffn, norm
            if "two_norms" in wrong:
                self.norm2 = copy.deepcopy(norm)

        def forward(self, x, mask=None, **how):
            attention, ffn, norm = self.came or (self.attention, self.ffn, self.norm)
            attend = attending(attention, mask, how, wrong)
            given = (mask,) if "mask_to_ffn" in wrong else ()
            work = cut(lambda h: ffn(h, *given), wrong)
            if "two_norms" in wrong:
                y = x + attend(norm(x)) + work(self.norm2(x))
            else:
                y = form(x, attend, work, norm)
            return x.copy_(y) if "in_place" in wrong else y

    return ParallelBlock


ParallelBlock = Misconceptions(
    _block,
    {**{flag: said for flag, (_, said) in FORMS.items()}, **PLUMBING, **KEPT},
    apart=(
        frozenset({*FORMS, "two_norms"}),
        frozenset({"how_dropped", "how_refused"}),
        PARTS | {"in_place", "detached", "attention_twice", "two_norms"},
    ),
)
