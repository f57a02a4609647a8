"""Answers in a Jupyter kernel, probed from outside it."""

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any

from autograder.replies import sound
from blocklab import wire
from blocklab.probe import Outcome, Step

# Runs in the kernel. Names of its own would be the learner's to see, so it defines none.
_SERVE = """(lambda b, wire, probe, name, probes: b.b64encode(wire.dumps([
    probe.describe(name, globals()), probe.run(probes, globals().get(name), globals())])).decode())(
    __import__('base64'), __import__('blocklab.wire').wire, __import__('blocklab.probe').probe,
    *__import__('blocklab.wire').wire.loads(__import__('base64').b64decode({request!r})))"""


class KernelCandidate:
    """Answers in the namespace of a running kernel; one request holds a whole check."""

    def __init__(self, evaluate: Callable[[str], str]) -> None:
        """evaluate: an expression in the kernel, and what its repr says; see `reply_text`."""
        self._evaluate = evaluate

    def run(self, name: str, probes: Sequence[Sequence[Step]]) -> tuple[str, list[list[Outcome]]]:
        """Raises WireError if what comes back is no answer to these probes."""
        request = base64.b64encode(wire.dumps([name, probes])).decode()
        text = self._evaluate(_SERVE.format(request=request))
        try:
            message = base64.b64decode(json.loads(f'"{text[1:-1]}"'), validate=True)
        except ValueError as error:
            raise wire.WireError("a reply that is not base64") from error
        return _fitting(wire.loads(message), probes)


def _fitting(reply: Any, probes: Sequence[Sequence[Step]]) -> tuple[str, list[list[Outcome]]]:
    """A reply that has one outcome for every step, and nothing else."""
    match reply:
        case [str(kind), list(outcomes)] if len(outcomes) == len(probes):
            if all(map(_fits, outcomes, probes)):
                return kind, outcomes
    raise wire.WireError("a reply that does not fit its request")


def _fits(outcomes: Any, steps: Sequence[Step]) -> bool:
    return isinstance(outcomes, list) and len(outcomes) == len(steps) and all(map(sound, outcomes))


REQUEST = {"code": "", "silent": True, "store_history": False}  # with user_expressions


def asked(expression: str) -> dict[str, Any]:
    """The keyword arguments of a kernel client's `execute` for `evaluate`."""
    return {**REQUEST, "user_expressions": {"outcome": expression}}


def reply_text(content: dict[str, Any]) -> str:
    """What an execute_reply says of the expression; raises WireError where it says nothing."""
    outcome = content.get("user_expressions", {}).get("outcome", content)
    if outcome.get("status") != "ok":
        raise wire.WireError(f"the kernel could not run the check: {outcome.get('evalue')}")
    return str(outcome["data"]["text/plain"])
