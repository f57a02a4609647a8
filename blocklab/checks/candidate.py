"""Where an answer lives: here, or in another process. Both run the same probes."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from blocklab import probe
from blocklab.probe import Outcome, Step


class Candidate(Protocol):
    """Answers by name, which can be probed."""

    def run(self, name: str, probes: Sequence[Sequence[Step]]) -> tuple[str, list[list[Outcome]]]:
        """What stands under a name, as `probe.describe` says, and what all probes of a check did.

        Everything in one request.
        """
        ...


class LocalCandidate:
    """Answers in a namespace of this process, such as a notebook's."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def run(self, name: str, probes: Sequence[Sequence[Step]]) -> tuple[str, list[list[Outcome]]]:
        answer = self._namespace.get(name)
        return probe.describe(name, self._namespace), probe.run(probes, answer, self._namespace)
