"""How known wrong turns are described: flags on one variant function of the reference."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blocklab.text import Text

Wrong = frozenset[str]


@dataclass(frozen=True)
class Misconceptions:
    """The known wrong turns of one exercise.

    variant: makes an answer from a set of flags; the empty set gives the reference's answer.
    flags: for every flag, what to tell the learner.
    apart: groups of flags of which only one makes sense at a time.
    """

    variant: Callable[[Wrong], Any]
    flags: Mapping[str, Text]
    apart: Sequence[frozenset[str]] = ()

    def combinations(self) -> Iterator[Wrong]:
        """Single flags first, then every pair that makes sense."""
        yield from (frozenset({flag}) for flag in self.flags)
        for pair in itertools.combinations(self.flags, 2):
            if not any(group.issuperset(pair) for group in self.apart):
                yield frozenset(pair)
