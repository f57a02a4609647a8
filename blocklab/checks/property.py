"""What a check is made of: properties that an answer must have, and drawn inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from blocklab.probe import Outcome, Step
from blocklab.text import Text


@dataclass(frozen=True)
class Tolerance:
    """How far a right answer may be off: relative, and as a share of the largest value."""

    relative: float = 1e-4
    share: float = 2e-5
    absolute: float = 0.0


DEFAULT = Tolerance()


@dataclass(frozen=True)
class Property:
    """One thing that must hold, in a sentence, and the calls that show it.

    By default every outcome must equal the reference's. `judge`, where it is given, looks at the
    outcomes (the answer's and the reference's) after that and returns a complaint, or None.
    weight: its share of the points beside the other properties of the check.
    again: whether its last call may be made again with other numbers, as `once_more` does.
    """

    name: str
    says: Text
    steps: Sequence[Step]
    weight: float = 1.0
    tolerance: Tolerance = DEFAULT
    judge: Callable[[list[Outcome], list[Outcome]], Text | None] | None = None
    again: bool = True


class Draw:
    """Random inputs that tell things apart; the same seed draws the same inputs."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed % 2**63)

    def size(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return int(torch.randint(low, high + 1, (), generator=self._generator))

    def sizes(self, *ranges: tuple[int, int]) -> list[int]:
        """One size for each range, no two equal."""
        while True:
            drawn = [self.size(low, high) for low, high in ranges]
            if len(set(drawn)) == len(drawn):
                return drawn

    def normal(self, *shape: int, scale: float = 1.0) -> Tensor:
        """Standard normal values times a scale, float32."""
        return torch.randn(*shape, generator=self._generator) * scale

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * float(torch.rand((), generator=self._generator))

    def gain(self, d: int) -> Tensor:
        """Gains (d,) that are far from 1 and from each other: sizes 0.4 to 2.4, both signs."""
        sizes = 0.4 + 2 * torch.rand(d, generator=self._generator)
        return sizes * torch.randn(d, generator=self._generator).sign()

    def linear(self, d_in: int, d_out: int, scale: float = 1.0) -> Tensor:
        """A weight (d_out, d_in) that keeps the size of what it maps, times a scale."""
        return self.normal(d_out, d_in, scale=scale / d_in**0.5)
