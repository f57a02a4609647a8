"""Wrong turns in one step of a block: what is normalised, added and scaled."""

from collections.abc import Callable, Mapping
from typing import Any

from blocklab.misconceptions.norm_places import (
    AFTER_SUBLAYER,
    NO_NORM,
    NO_RESIDUAL,
    NORM_TWICE,
    POST,
    PRE,
    SANDWICH,
)
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.reference import norm as reference
from blocklab.text import Text

IN_PLACE = Text(
    "It writes into x (x += …, x *= …). The caller still holds that tensor, and may need the value "
    "it had. Make a new one: x = x + ….",
    "x에 값을 덮어씁니다 (x += …, x *= …). 호출한 쪽도 같은 tensor를 가지고 있고, 원래 값이 "
    "필요할 수 있습니다. 새 tensor를 만드세요: x = x + ….",
)
DETACHED = Text(
    "What the sublayer writes is cut off from the graph, so the sublayer cannot learn: only the "
    "stream carries a gradient.",
    "sublayer가 쓰는 값이 graph에서 끊겨 sublayer가 학습할 수 없습니다. gradient는 stream으로만 "
    "흐릅니다.",
)
Form = Callable[..., Any]


def _steps(right: Form, forms: Mapping[str, tuple[Form, Text]]) -> Misconceptions:
    """Wrong formulas of one step, and two wrong turns that any formula can take."""

    def variant(wrong: Wrong) -> Form:
        form = next((forms[flag][0] for flag in forms if flag in wrong), right)

        def step(x, norm, sublayer, *alpha):
            def read(h):
                return sublayer(h).detach() if "detached" in wrong else sublayer(h)

            y = form(x, norm, read, *alpha)
            return x.copy_(y) if "in_place" in wrong else y

        return step

    words = {flag: said for flag, (_, said) in forms.items()}
    return Misconceptions(
        variant,
        {**words, "in_place": IN_PLACE, "detached": DETACHED},
        (frozenset(forms), frozenset({"in_place", "detached"})),
    )


pre_norm_step = _steps(
    reference.pre_norm_step,
    {
        "post": (lambda x, norm, f: norm(x + f(x)), POST),
        "norm_on_sum": (
            lambda x, norm, f: norm(x + f(norm(x))),
            Text(
                "The branch is right, but the sum is normalised as well. In Pre-Norm nothing on "
                "the stream is normalised: it carries x on as it is.",
                "갈래는 맞지만 더한 결과까지 정규화했습니다. Pre-Norm에서 stream 위에는 norm이 "
                "없습니다. stream은 x를 그대로 이어 갑니다.",
            ),
        ),
        "residual_normalised": (
            lambda x, norm, f: norm(x) + f(norm(x)),
            Text(
                "The update is added to norm(x). The stream keeps its un-normalised value; the "
                "norm is for the sublayer's eyes only (x = norm(x) overwrites the wrong one).",
                "norm(x)에 더했습니다. stream에는 정규화하기 전의 값을 유지하고, norm(x)는 "
                "sublayer만 읽습니다 (x = norm(x)라고 쓰면 원래 값이 사라집니다).",
            ),
        ),
        "no_residual": (lambda x, norm, f: f(norm(x)), NO_RESIDUAL),
        "after_sublayer": (lambda x, norm, f: x + norm(f(x)), AFTER_SUBLAYER),
        "sandwich": (lambda x, norm, f: x + norm(f(norm(x))), SANDWICH),
        "no_norm": (lambda x, norm, f: x + f(x), NO_NORM),
        "norm_twice": (lambda x, norm, f: x + f(norm(norm(x))), NORM_TWICE),
        "added_early": (
            lambda x, norm, f: x + f(x + norm(x)),
            Text(
                "The sublayer reads x + norm(x). It reads norm(x) alone.",
                "sublayer가 x + norm(x)를 읽습니다. norm(x)만 읽어야 합니다.",
            ),
        ),
        "paths_swapped": (
            lambda x, norm, f: norm(x) + f(x),
            Text(
                "The norm stands on the stream and the sublayer reads the raw x: just the other "
                "way round. The stream keeps x, the sublayer reads norm(x).",
                "stream에 norm이 있고 sublayer는 x를 그대로 읽습니다. 정반대입니다. stream은 x를 "
                "유지하고, sublayer가 norm(x)를 읽습니다.",
            ),
        ),
    },
)
post_norm_step = _steps(
    reference.post_norm_step,
    {
        "pre": (lambda x, norm, f: x + f(norm(x)), PRE),
        "norm_on_both": (
            lambda x, norm, f: norm(x + f(norm(x))),
            Text(
                "The sum is normalised, as it should be, but the sublayer reads norm(x) too. In "
                "Post-Norm it reads x, which the step before has normalised already.",
                "더한 결과를 정규화한 것은 맞지만 sublayer도 norm(x)를 읽습니다. Post-Norm의 "
                "sublayer는 x를 읽습니다. x는 앞 단계에서 이미 정규화되었습니다.",
            ),
        ),
        "residual_normalised": (
            lambda x, norm, f: norm(x) + f(x),
            Text(
                "Only x is normalised, before the add. Add first, then normalise the sum.",
                "더하기 전에 x만 정규화했습니다. 먼저 더하고, 그 합을 정규화하세요.",
            ),
        ),
        "no_residual": (lambda x, norm, f: norm(f(x)), NO_RESIDUAL),
        "after_sublayer": (lambda x, norm, f: x + norm(f(x)), AFTER_SUBLAYER),
        "no_norm": (lambda x, norm, f: x + f(x), NO_NORM),
        "norm_twice": (lambda x, norm, f: norm(norm(x + f(x))), NORM_TWICE),
        "added_again": (
            lambda x, norm, f: x + norm(x + f(x)),
            Text(
                "x is added once more after the norm. The norm stands on the stream itself: "
                "nothing goes round it.",
                "norm 다음에 x를 한 번 더 더했습니다. norm은 stream 위에 있고, 그 norm을 "
                "우회하는 길은 없습니다.",
            ),
        ),
        "sublayer_last": (
            lambda x, norm, f: f(norm(x + f(x))),
            Text(
                "The sublayer is called a second time after the norm.",
                "norm 다음에 sublayer를 한 번 더 호출합니다.",
            ),
        ),
    },
)
deep_norm_step = _steps(
    reference.deep_norm_step,
    {
        "alpha_on_sublayer": (
            lambda x, norm, f, a: norm(x + a * f(x)),
            Text(
                "alpha multiplies what the sublayer writes. It multiplies x: DeepNorm makes the "
                "stream weigh more, not the update.",
                "alpha를 sublayer가 쓰는 값에 곱했습니다. alpha는 x에 곱합니다. DeepNorm은 "
                "update가 아니라 stream의 비중을 키웁니다.",
            ),
        ),
        "alpha_outside": (
            lambda x, norm, f, a: a * norm(x + f(x)),
            Text(
                "alpha multiplies the result of the norm. It stands inside: norm(alpha x + f(x)).",
                "alpha를 norm의 결과에 곱했습니다. alpha는 norm 안에 있습니다: "
                "norm(alpha x + f(x)).",
            ),
        ),
        "alpha_on_sum": (
            lambda x, norm, f, a: norm(a * (x + f(x))),
            Text(
                "alpha multiplies the whole sum, and the norm divides it away again (up to "
                "epsilon). Only x is multiplied.",
                "합 전체에 alpha를 곱해서 norm이 그것을 다시 나누어 없앱니다 (epsilon만큼의 차이만 "
                "남습니다). x에만 곱하세요.",
            ),
        ),
        "alpha_read_too": (
            lambda x, norm, f, a: norm(a * x + f(a * x)),
            Text(
                "The sublayer reads alpha x. It reads x; alpha is only on the path round it "
                "(x = alpha * x overwrites too early).",
                "sublayer가 alpha x를 읽습니다. sublayer는 x를 읽고, alpha는 우회하는 길에만 "
                "있습니다 (x = alpha * x를 먼저 쓰면 이렇게 됩니다).",
            ),
        ),
        "no_alpha": (
            lambda x, norm, f, a: norm(x + f(x)),
            Text(
                "alpha is not used: this is plain Post-Norm.",
                "alpha를 쓰지 않았습니다. 이것은 그냥 Post-Norm입니다.",
            ),
        ),
        "alpha_inverse": (
            lambda x, norm, f, a: norm(x / a + f(x)),
            Text(
                "x is divided by alpha, so the stream weighs less than in Post-Norm. Multiply.",
                "x를 alpha로 나누어서 stream의 비중이 Post-Norm보다 작아졌습니다. 곱해야 합니다.",
            ),
        ),
        "pre": (lambda x, norm, f, a: a * x + f(norm(x)), PRE),
        "no_residual": (lambda x, norm, f, a: norm(f(x)), NO_RESIDUAL),
        "no_norm": (lambda x, norm, f, a: a * x + f(x), NO_NORM),
        "residual_normalised": (
            lambda x, norm, f, a: a * norm(x) + f(x),
            Text(
                "Only x is normalised, before the add. Add first, then normalise the sum.",
                "더하기 전에 x만 정규화했습니다. 먼저 더하고, 그 합을 정규화하세요.",
            ),
        ),
        "after_sublayer": (lambda x, norm, f, a: a * x + norm(f(x)), AFTER_SUBLAYER),
        "norm_on_both": (
            lambda x, norm, f, a: norm(a * x + f(norm(x))),
            Text(
                "The sublayer reads norm(x). As in Post-Norm, it reads x.",
                "sublayer가 norm(x)를 읽습니다. Post-Norm과 마찬가지로 x를 읽어야 합니다.",
            ),
        ),
    },
)
