"""Answers in a Jupyter kernel, probed from outside it."""

import base64
import json
from collections.abc import Sequence
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient

from blocklab import wire
from blocklab.probe import Outcome, Step

# Runs in the kernel. Names of its own would be the learner's to see, so it defines none.
_SERVE = """(lambda b, wire, probe, name, probes: b.b64encode(wire.dumps([
    probe.describe(name, globals()), probe.run(probes, globals().get(name), globals())])).decode())(
    __import__('base64'), __import__('blocklab.wire').wire, __import__('blocklab.probe').probe,
    *__import__('blocklab.wire').wire.loads(__import__('base64').b64decode({request!r})))"""


class KernelCandidate:
    """Answers in the namespace of a running kernel; one execute request holds a whole check."""

    def __init__(self, client: BlockingKernelClient, timeout: float = 30.0) -> None:
        """client: connected to a kernel that can import blocklab; timeout: seconds a request."""
        self._client = client
        self._timeout = timeout

    def describe(self, name: str) -> str:
        return self._ask(name, [])[0]

    def run(self, name: str, probes: Sequence[Sequence[Step]]) -> list[list[Outcome]]:
        return self._ask(name, probes)[1]

    def _ask(self, name: str, probes: Sequence[Sequence[Step]]) -> Any:
        """Raises RuntimeError if the kernel gives no answer, WireError if it is not one."""
        request = base64.b64encode(wire.dumps([name, probes])).decode()
        message = self._client.execute(
            "",
            silent=True,
            store_history=False,
            user_expressions={"outcome": _SERVE.format(request=request)},
        )
        reply = self._client.get_shell_msg(timeout=self._timeout)
        while reply["parent_header"].get("msg_id") != message:
            reply = self._client.get_shell_msg(timeout=self._timeout)
        outcome = reply["content"].get("user_expressions", {}).get("outcome", {})
        if outcome.get("status") != "ok":
            raise RuntimeError(f"the kernel could not run the check: {outcome.get('evalue')}")
        text = outcome["data"]["text/plain"]
        return wire.loads(base64.b64decode(json.loads(f'"{text[1:-1]}"')))
