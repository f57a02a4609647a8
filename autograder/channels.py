"""Channels to a kernel that is not trusted: bounded in size, read as data, closed by its death."""

import asyncio
import contextlib
import json
from queue import Empty
from typing import Any, TypeVar

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from nbclient.exceptions import DeadKernelError
from traitlets import Type

from autograder.sandbox import Limits

CUT = "\n[more output than {output:,} bytes: the rest is cut]\n"
LAST_WORDS = 0.05  # seconds in which a reply may still arrive from a kernel that is gone
BUNDLES = {"display_data", "update_display_data", "execute_result"}
SHOWN = {"stream", "error", *BUNDLES}
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError)
HEARD = {"status", "execute_input", "clear_output", *SHOWN}  # widgets have no one to talk to here

Message = dict[str, Any]
Context = TypeVar("Context", bound=zmq.Context)


def bounded(context: Context, limits: Limits) -> Context:
    """The context, whose sockets hang up on a message that is too large and keep few of them."""
    context.setsockopt(zmq.MAXMSGSIZE, limits.message)
    context.setsockopt(zmq.RCVHWM, 64)
    return context


def sound(message: Message) -> bool:
    """Whether a message is what Jupyter says it is, so that its readers need not ask."""
    try:
        return _sound(message["header"]["msg_type"], message["content"])
    except (KeyError, TypeError, AttributeError):
        return False


def _sound(kind: str, content: Message) -> bool:
    count = content.get("execution_count")
    if count is not None and (type(count) is not int or count < 0):
        return False
    if not isinstance(content.get("transient", {}).get("display_id", ""), str):
        return False
    if kind in BUNDLES:
        data, *others = content["data"], content["metadata"], content.get("transient", {})
        items = all(_item(name, value) for name, value in data.items())
        return items and all(isinstance(other, dict) for other in others)
    if kind == "error" or (kind == "execute_reply" and content["status"] == "error"):
        words = [content["ename"], content["evalue"], *content["traceback"]]
        return isinstance(content["traceback"], list) and all(isinstance(w, str) for w in words)
    if kind == "stream":
        return content["name"] in ("stdout", "stderr") and isinstance(content["text"], str)
    return isinstance(content["status" if kind == "execute_reply" else "execution_state"], str)


def _item(kind: str, value: Any) -> bool:
    """Whether a value of a MIME bundle may stand in a notebook."""
    return isinstance(value, str) or kind.endswith(("/json", "+json"))


class UntrustedChannel(AsyncZMQSocketChannel):
    """A channel that passes over whatever is no message."""

    checked: frozenset[str] = frozenset()

    async def get_msg(self, timeout: float | None = None) -> Message:
        """The next message. Raises queue.Empty when there is none in time."""
        loop = asyncio.get_running_loop()
        end = None if timeout is None else loop.time() + timeout
        while True:
            left = None if end is None else max(0.0, end - loop.time())
            with contextlib.suppress(*UNREADABLE):
                message = await super().get_msg(left)
                message["parent_header"].get("msg_id")
                if message["header"]["msg_type"] not in self.checked or sound(message):
                    return message


class ReplyChannel(UntrustedChannel):
    """A channel on which nobody waits for a dead kernel."""

    manager: Any = None
    checked = frozenset({"execute_reply"})

    async def get_msg(self, timeout: float | None = None) -> Message:
        """The next message. Raises DeadKernelError at once when the kernel is gone."""
        message = asyncio.ensure_future(super().get_msg(timeout))
        death = asyncio.ensure_future(self.manager.ended())
        try:
            await asyncio.wait({message, death}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({message}, timeout=LAST_WORDS)
            if message.done():
                return message.result()
            raise DeadKernelError(f"the kernel has ended (code {death.result()})")
        finally:
            message.cancel()
            death.cancel()


class OutputChannel(UntrustedChannel):
    """The channel of outputs, of which each cell has only so much."""

    limits = Limits()
    checked = frozenset(HEARD - {"execute_input", "clear_output"})
    _cell, _seen = "", 0

    async def get_msg(self, timeout: float | None = None) -> Message:
        """The next message; once a cell has shown too much, one says so and the rest is cut."""
        while True:
            message = await super().get_msg(timeout)
            if message["header"]["msg_type"] not in HEARD:
                continue
            before, after = self._count(message)
            if after <= self.limits.output:
                return message
            if before <= self.limits.output:
                message["header"]["msg_type"] = message["msg_type"] = "stream"
                text = CUT.format(output=self.limits.output)
                message["content"] = {"name": "stdout", "text": text}
                return message

    def _count(self, message: Message) -> tuple[int, int]:
        """How much its cell had shown before this message and has after it."""
        if message["header"]["msg_type"] not in SHOWN:
            return 0, 0
        cell = str(message["parent_header"].get("msg_id"))
        if cell != self._cell:
            self._cell, self._seen = cell, 0
        before = self._seen
        self._seen += len(json.dumps(message["content"], default=str))
        return before, self._seen


class BoundedClient(AsyncKernelClient):
    """nbclient's client of a kernel that is not trusted; its parent is a `BoundedManager`."""

    shell_channel_class = Type(ReplyChannel)
    control_channel_class = Type(ReplyChannel)
    iopub_channel_class = Type(OutputChannel)

    def _context_default(self) -> zmq.asyncio.Context:
        self._created_context = True
        manager: Any = self.parent
        return bounded(zmq.asyncio.Context(), manager.limits)

    @property
    def shell_channel(self) -> Any:
        return self._watched(super().shell_channel)

    @property
    def control_channel(self) -> Any:
        return self._watched(super().control_channel)

    def _watched(self, channel: Any) -> Any:
        channel.manager = self.parent
        return channel

    @property
    def iopub_channel(self) -> Any:
        channel: Any = super().iopub_channel
        manager: Any = self.parent
        channel.limits = manager.limits
        return channel

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait until the kernel answers and its outputs arrive, without jupyter's pause of 0.2 s.

        Raises TimeoutError where it does not, DeadKernelError where it ends.
        """
        async with asyncio.timeout(timeout):
            while not await self._heard():
                pass

    async def _heard(self) -> bool:
        """Whether one question was answered, and its end shown on the channel of outputs."""
        question = self.kernel_info()
        reply = await self.get_shell_msg(timeout=None)
        while reply["parent_header"].get("msg_id") != question:
            reply = await self.get_shell_msg(timeout=None)
        self._handle_kernel_info_reply(reply)
        with contextlib.suppress(Empty):
            while True:
                shown = await self.get_iopub_msg(timeout=0.2)
                idle = shown["content"].get("execution_state") == "idle"
                if idle and shown["parent_header"].get("msg_id") == question:
                    return True
        return False
