"""Whether a module has as many parameters as it should, whatever they are called."""

from collections import Counter

from blocklab.checks.parameters import only_these
from blocklab.plain import Module
from blocklab.probe import Outcome
from blocklab.text import Text


def as_many(got: list[Outcome], want: list[Outcome]) -> Text | None:
    """A judge like `only_these`, for parameters that may go by other names.

    A shared Parameter counts once, under the name that was given first; which one that is makes
    no difference here.
    """
    unlike = [(g, w) for g, w in zip(got, want, strict=True) if _shapes(g) != _shapes(w)]
    return only_these([g for g, _ in unlike], [w for _, w in unlike])


def _shapes(outcome: Outcome) -> Counter[tuple[int, ...]]:
    value = outcome.value
    return Counter(value.parameters.values() if isinstance(value, Module) else ())
