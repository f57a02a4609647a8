"""Wrong turns in wiring one block, Pre-Norm or Post-Norm."""

from collections.abc import Callable, Mapping

from torch import Tensor, nn

from blocklab.misconceptions.block_plumbing import PARTS, PLUMBING, Part, attending, cut
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text

Form = Callable[[Tensor, Part, Part, Part, Part], Tensor]
Forms = Mapping[str, tuple[Form, Text]]


def _pre(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    x = x + a(n1(x))
    return x + f(n2(x))


def _post(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    x = n1(x + a(x))
    return n2(x + f(x))


def _pre_doubled(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    y = x + a(n1(x))
    return x + y + f(n2(y))


def _pre_from_input(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    return x + f(n2(x + a(n1(x))))


def _pre_reads_delta(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    delta = a(n1(x))
    return x + delta + f(n2(delta))


def _pre_normalised(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    x = n1(x)
    x = n2(x + a(x))
    return x + f(x)


def _pre_normalised_once(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    x = n1(x)
    x = x + a(x)
    return x + f(n2(x))


def _pre_normalised_late(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    x = n2(x + a(n1(x)))
    return x + f(x)


def _post_parallel(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    return n2(n1(x + a(x)) + f(x))


def _post_from_input(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    return n2(x + f(n1(x + a(x))))


def _post_reads_sum(x: Tensor, a: Part, f: Part, n1: Part, n2: Part) -> Tensor:
    total = x + a(x)
    return n2(n1(total) + f(total))


NOTHING_HAPPENS = Text(
    "The block gives back x: neither sublayer writes anything.",
    "block이 x를 그대로 돌려줍니다. 어느 sublayer도 아무것도 쓰지 않습니다.",
)
NO_ATTENTION_RESIDUAL = Text(
    "x is not added to what the attention gives: from there on the stream holds the attention's "
    "output alone. The first residual is missing.",
    "attention의 출력에 x를 더하지 않았습니다. 그 뒤의 stream에는 attention의 출력만 있습니다. 첫 "
    "번째 residual이 빠졌습니다.",
)
NO_FFN_RESIDUAL = Text(
    "x1 is not added to what the FFN gives: the FFN's output replaces the stream. The second "
    "residual is missing.",
    "FFN의 출력에 x1을 더하지 않았습니다. FFN의 출력이 stream을 교체합니다. 두 번째 residual이 "
    "빠졌습니다.",
)
NO_RESIDUAL = Text(
    "There is no residual at all: each sublayer's output replaces the stream.",
    "residual이 하나도 없습니다. sublayer의 출력이 매번 stream을 교체합니다.",
)
ONE_NORM = Text(
    "norm1 stands at both places, and norm2 is never used. They are two layers with weights of "
    "their own.",
    "두 자리에 모두 norm1을 썼고, norm2는 한 번도 쓰지 않았습니다. 둘은 저마다 weight를 가진 "
    "별개의 layer입니다.",
)
NORMS_SWAPPED = Text(
    "norm1 and norm2 are exchanged: norm1 goes with the attention, norm2 with the FFN.",
    "norm1과 norm2가 바뀌었습니다. norm1은 attention, norm2는 FFN과 짝을 이룹니다.",
)
NO_NORMS = Text(
    "Neither norm is applied.",
    "norm을 하나도 적용하지 않았습니다.",
)
FFN_FIRST = Text(
    "The FFN comes before the attention. First tokens read each other, then each is worked on.",
    "FFN이 attention보다 먼저 옵니다. 먼저 token끼리 서로를 읽고, 그다음에 token마다 계산합니다.",
)
PRE: Forms = {
    "post": (
        _post,
        Text(
            "This is Post-Norm: each norm stands on the stream, after the add. In Pre-Norm it "
            "stands before its sublayer, and the stream is never normalised.",
            "이것은 Post-Norm입니다. norm이 add 뒤, stream 위에 있습니다. Pre-Norm의 norm은 "
            "sublayer 앞에 있고, stream은 정규화하지 않습니다.",
        ),
    ),
    "identity": (lambda x, a, f, n1, n2: x.clone(), NOTHING_HAPPENS),
    "no_attention_residual": (
        lambda x, a, f, n1, n2: (y := a(n1(x))) + f(n2(y)),
        NO_ATTENTION_RESIDUAL,
    ),
    "no_ffn_residual": (lambda x, a, f, n1, n2: f(n2(x + a(n1(x)))), NO_FFN_RESIDUAL),
    "no_residual": (lambda x, a, f, n1, n2: f(n2(a(n1(x)))), NO_RESIDUAL),
    "one_norm": (lambda x, a, f, n1, n2: _pre(x, a, f, n1, n1), ONE_NORM),
    "norms_swapped": (lambda x, a, f, n1, n2: _pre(x, a, f, n2, n1), NORMS_SWAPPED),
    "no_norms": (lambda x, a, f, n1, n2: _pre(x, a, f, lambda h: h, lambda h: h), NO_NORMS),
    "no_norm2": (
        lambda x, a, f, n1, n2: _pre(x, a, f, n1, lambda h: h),
        Text(
            "The FFN reads x1 as it is: norm2 is missing before it.",
            "FFN이 x1을 그대로 읽습니다. 그 앞의 norm2가 빠졌습니다.",
        ),
    ),
    "ffn_reads_input": (
        lambda x, a, f, n1, n2: x + a(n1(x)) + f(n2(x)),
        Text(
            "The FFN reads x, the block's input, and not x1: it cannot use what the attention has "
            "just fetched. (Both at once, from the same x, is PaLM's parallel block.)",
            "FFN이 x1이 아니라 block의 입력 x를 읽습니다. 그래서 attention이 방금 가져온 것을 쓸 "
            "수 없습니다. (같은 x에서 둘을 동시에 계산하는 것은 PaLM의 parallel block입니다.)",
        ),
    ),
    "ffn_reads_delta": (
        _pre_reads_delta,
        Text(
            "The FFN reads only what the attention wrote. It reads the stream after the add: x1.",
            "FFN이 attention이 쓴 것만 읽습니다. 더한 뒤의 stream, 곧 x1을 읽어야 합니다.",
        ),
    ),
    "residual_normalised": (
        _pre_normalised,
        Text(
            "x = norm(x) overwrites the stream, so the updates are added to normalised values. The "
            "norm is for the sublayer alone; the stream keeps x.",
            "x = norm(x)가 stream을 덮어써서, 정규화된 값에 update를 더합니다. norm(x)는 "
            "sublayer만 읽고, stream은 x를 유지합니다.",
        ),
    ),
    "first_residual_normalised": (
        _pre_normalised_once,
        Text(
            "The attention's update is added to norm1(x). It is added to x.",
            "attention의 update를 norm1(x)에 더했습니다. x에 더해야 합니다.",
        ),
    ),
    "second_residual_normalised": (
        _pre_normalised_late,
        Text(
            "The FFN's update is added to norm2(x1). It is added to x1.",
            "FFN의 update를 norm2(x1)에 더했습니다. x1에 더해야 합니다.",
        ),
    ),
    "norms_after": (
        lambda x, a, f, n1, n2: _pre(x, lambda h: n1(a(h)), lambda h: n2(f(h)), _same, _same),
        Text(
            "Each norm stands between its sublayer and the add: what is written is normalised, not "
            "what is read.",
            "norm이 sublayer와 add 사이에 있습니다. 읽는 것이 아니라 쓰는 것을 정규화합니다.",
        ),
    ),
    "ffn_first": (lambda x, a, f, n1, n2: _pre(x, f, a, n2, n1), FFN_FIRST),
    "second_from_input": (
        _pre_from_input,
        Text(
            "The FFN's update is added to x, the block's input, so the attention's update is lost. "
            "It is added to x1.",
            "FFN의 update를 block의 입력 x에 더해서 attention의 update가 사라졌습니다. x1에 더해야 "
            "합니다.",
        ),
    ),
    "doubled": (
        _pre_doubled,
        Text(
            "x is added twice: x1 holds it already.",
            "x를 두 번 더했습니다. x1에 이미 들어 있습니다.",
        ),
    ),
}
POST: Forms = {
    "pre": (
        _pre,
        Text(
            "This is Pre-Norm: each norm stands before its sublayer. In Post-Norm the sublayer "
            "reads the stream as it is, and the sum is normalised.",
            "이것은 Pre-Norm입니다. norm이 sublayer 앞에 있습니다. Post-Norm에서는 sublayer가 "
            "stream을 그대로 읽고, 더한 합을 정규화합니다.",
        ),
    ),
    "identity": (lambda x, a, f, n1, n2: x.clone(), NOTHING_HAPPENS),
    "no_attention_residual": (
        lambda x, a, f, n1, n2: n2((y := n1(a(x))) + f(y)),
        NO_ATTENTION_RESIDUAL,
    ),
    "no_ffn_residual": (lambda x, a, f, n1, n2: n2(f(n1(x + a(x)))), NO_FFN_RESIDUAL),
    "no_residual": (lambda x, a, f, n1, n2: n2(f(n1(a(x)))), NO_RESIDUAL),
    "one_norm": (lambda x, a, f, n1, n2: _post(x, a, f, n1, n1), ONE_NORM),
    "norms_swapped": (lambda x, a, f, n1, n2: _post(x, a, f, n2, n1), NORMS_SWAPPED),
    "no_norms": (lambda x, a, f, n1, n2: _post(x, a, f, _same, _same), NO_NORMS),
    "no_norm2": (
        lambda x, a, f, n1, n2: _post(x, a, f, n1, _same),
        Text(
            "The last sum is not normalised: norm2 is missing after it.",
            "마지막 합을 정규화하지 않았습니다. 그 뒤의 norm2가 빠졌습니다.",
        ),
    ),
    "norm_on_both": (
        lambda x, a, f, n1, n2: _post(x, lambda h: a(n1(h)), lambda h: f(n2(h)), n1, n2),
        Text(
            "The sums are normalised, as they should be, but what the sublayers read is normalised "
            "once more.",
            "합을 정규화한 것은 맞지만, sublayer가 읽는 값까지 한 번 더 정규화했습니다.",
        ),
    ),
    "norms_after": (
        lambda x, a, f, n1, n2: _pre(x, lambda h: n1(a(h)), lambda h: n2(f(h)), _same, _same),
        Text(
            "Only what a sublayer wrote is normalised. Post-Norm adds first and normalises the "
            "sum.",
            "sublayer가 쓴 것만 정규화했습니다. Post-Norm은 먼저 더하고 그 합을 정규화합니다.",
        ),
    ),
    "ffn_reads_input": (
        _post_parallel,
        Text(
            "The FFN reads x, the block's input, and not x1.",
            "FFN이 x1이 아니라 block의 입력 x를 읽습니다.",
        ),
    ),
    "ffn_reads_sum": (
        _post_reads_sum,
        Text(
            "The FFN reads the sum before norm1. x1 is what norm1 gives.",
            "FFN이 norm1을 지나기 전의 합을 읽습니다. x1은 norm1의 출력입니다.",
        ),
    ),
    "second_from_input": (
        _post_from_input,
        Text(
            "The FFN's update is added to x, the block's input. It is added to x1.",
            "FFN의 update를 block의 입력 x에 더했습니다. x1에 더해야 합니다.",
        ),
    ),
    "ffn_first": (lambda x, a, f, n1, n2: _post(x, f, a, n2, n1), FFN_FIRST),
}


def _same(h: Tensor) -> Tensor:
    return h


def _blocks(right: Form, forms: Forms) -> Misconceptions:
    """Wrong formulas of a block, and what can go wrong with any of them."""

    def variant(wrong: Wrong) -> type[nn.Module]:
        form = next((forms[flag][0] for flag in forms if flag in wrong), right)

        class Block(nn.Module):
            def __init__(self, attention, ffn, norm1, norm2):
                super().__init__()
                self.came = (attention, ffn, norm1, norm2) if wrong & PARTS else None
                if "unregistered" not in wrong:
                    self.attention, self.ffn, self.norm1, self.norm2 = attention, ffn, norm1, norm2

            def forward(self, x, mask=None, **how):
                parts = self.came or (self.attention, self.ffn, self.norm1, self.norm2)
                attention, ffn, norm1, norm2 = parts
                attend = attending(attention, mask, how, wrong)
                given = (mask,) if "mask_to_ffn" in wrong else ()
                y = form(x, attend, cut(lambda h: ffn(h, *given), wrong), norm1, norm2)
                return x.copy_(y) if "in_place" in wrong else y

        return Block

    words = {flag: said for flag, (_, said) in forms.items()}
    return Misconceptions(
        variant,
        {**words, **PLUMBING},
        (
            frozenset(forms),
            frozenset({"how_dropped", "how_refused"}),
            PARTS | {"in_place", "detached", "attention_twice"},
        ),
    )


PreNormBlock = _blocks(_pre, PRE)
PostNormBlock = _blocks(_post, POST)
