"""Where an answer lives: here, or in another process. Both run the same probes."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from blocklab import probe
from blocklab.probe import Outcome, Step


class Candidate(Protocol):
    """Answers by name, which can be described and probed."""

    def describe(self, name: str) -> str:
        """What stands under a name: "missing", "none", "function", "class" or "value"."""
        ...

    def run(self, name: str, probes: Sequence[Sequence[Step]]) -> list[list[Outcome]]:
        """Run all probes of one check, in one request."""
        ...


class LocalCandidate:
    """Answers in a namespace of this process, such as a notebook's."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def describe(self, name: str) -> str:
        return probe.describe(name, self._namespace)

    def run(self, name: str, probes: Sequence[Sequence[Step]]) -> list[list[Outcome]]:
        return probe.run(probes, self._namespace.get(name), self._namespace)
