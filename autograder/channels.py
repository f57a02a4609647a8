"""Channels to a kernel that is not trusted: bounded in size, read as data, closed by its death."""

import asyncio
import contextlib
import json
import math
from queue import Empty
from typing import Any, TypeVar

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel, ZMQSocketChannel
from nbclient.exceptions import DeadKernelError
from traitlets import Type

from autograder.frames import Frames, TooLargeError
from autograder.sandbox import Limits

CUT = "\n[more output than {output:,} bytes: the rest is cut]\n"
LEAST = 1024  # bytes that any output counts as: the judge keeps more of it than its words
DEEPEST = 32  # how deep data in an output may be nested
MOST = 1000  # forms of one output, lines of one traceback: each is looked at on its own
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
    if count is not None and (type(count) is not int or not 0 <= count < 1 << 31):
        return False
    if not isinstance(content.get("transient", {}).get("display_id", ""), str):
        return False
    if kind in BUNDLES:
        data, *others = content["data"], content["metadata"], content.get("transient", {})
        items = len(data) <= MOST and all(_item(name, value) for name, value in data.items())
        return items and all(isinstance(other, dict) and _writable(other) for other in others)
    if kind == "error" or (kind == "execute_reply" and content["status"] == "error"):
        words = [content["ename"], content["evalue"], *content["traceback"]]
        long = not isinstance(content["traceback"], list) or len(words) > MOST
        return not long and all(isinstance(word, str) for word in words)
    if kind == "stream":
        return content["name"] in ("stdout", "stderr") and isinstance(content["text"], str)
    return isinstance(content["status" if kind == "execute_reply" else "execution_state"], str)


def _item(kind: str, value: Any) -> bool:
    """Whether a value of a MIME bundle may stand in a notebook."""
    return isinstance(value, str) or (kind.endswith(("/json", "+json")) and _writable(value))


def _writable(value: Any, depth: int = 0) -> bool:
    """Whether every reader of JSON can read it: not nested too deep, and without NaN."""
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return depth < DEEPEST and all(_writable(v, depth + 1) for v in inside)
    return not isinstance(value, float) or math.isfinite(value)


class UntrustedChannel(AsyncZMQSocketChannel):
    """A channel that passes over whatever is no message."""

    limits = Limits()
    checked: frozenset[str] = frozenset()
    _asked = ""

    def __init__(self, connection: Any, session: Any, loop: Any = None) -> None:
        ZMQSocketChannel.__init__(self, connection, session, loop)  # `Frames` are welcome, too

    def begin(self, request: str) -> None:
        """From now on the kernel is at this request of ours."""
        self._asked = request

    async def get_msg(self, timeout: float | None = None) -> Message:
        """The next message. Raises queue.Empty when there is none in time, or TooLargeError."""
        loop = asyncio.get_running_loop()
        end = None if timeout is None else loop.time() + timeout
        while True:
            left = None if end is None else max(0.0, end - loop.time())
            with contextlib.suppress(*UNREADABLE):
                message = await super().get_msg(left)
                message["parent_header"].get("msg_id")
                if message["header"]["msg_type"] not in self.checked or sound(message):
                    return message

    def _instead(self, kind: str, content: Message) -> Message:
        """A message of ours in the place of one that is not wanted."""
        header, parent = {"msg_type": kind}, {"msg_id": self._asked}
        told = {"header": header, "parent_header": parent, "msg_type": kind}
        return {**told, "metadata": {}, "content": content}


class ReplyChannel(UntrustedChannel):
    """A channel on which nobody waits for a dead kernel."""

    manager: Any = None
    checked = frozenset({"execute_reply"})

    async def get_msg(self, timeout: float | None = None) -> Message:
        """The next message; an error in the place of one that is too large.

        Raises DeadKernelError at once when the kernel is gone.
        """
        message = asyncio.ensure_future(super().get_msg(timeout))
        death = asyncio.ensure_future(self.manager.ended())
        try:
            await asyncio.wait({message, death}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({message}, timeout=LAST_WORDS)
            if message.done():
                return message.result()
            raise DeadKernelError(f"the kernel has ended (code {death.result()})")
        except TooLargeError as error:
            content = {"status": "error", "ename": "TooLarge", "evalue": str(error)}
            return self._instead("execute_reply", {**content, "traceback": [str(error)]})
        finally:
            message.cancel()
            death.cancel()


class OutputChannel(UntrustedChannel):
    """The channel of outputs, of which each cell has only so much."""

    checked = frozenset(HEARD - {"execute_input", "clear_output"})
    _seen = 0  # since the last request of ours, whatever parent an output claims

    def begin(self, request: str) -> None:
        super().begin(request)
        self._seen = 0

    async def get_msg(self, timeout: float | None = None) -> Message:
        """The next message; once a cell has shown too much, one says so and the rest is cut."""
        while True:
            try:
                message = await super().get_msg(timeout)
                kind, size = message["header"]["msg_type"], _size(message)
            except TooLargeError:
                message, kind, size = {}, "stream", self.limits.output + 1
            if kind not in SHOWN:
                if kind in HEARD:
                    return message
                continue
            before, self._seen = self._seen, self._seen + size
            if self._seen <= self.limits.output:
                return message
            if before <= self.limits.output:
                text = CUT.format(output=self.limits.output)
                return self._instead("stream", {"name": "stdout", "text": text})


def _size(message: Message) -> int:
    return max(LEAST, len(json.dumps(message["content"], default=str)))


class BoundedClient(AsyncKernelClient):
    """nbclient's client of a kernel that is not trusted; its parent is a `BoundedManager`."""

    shell_channel_class = Type(ReplyChannel)
    control_channel_class = Type(ReplyChannel)
    iopub_channel_class = Type(OutputChannel)
    stdin_channel_class = Type(UntrustedChannel)

    def _context_default(self) -> zmq.asyncio.Context:
        self._created_context = True
        manager: Any = self.parent
        return bounded(zmq.asyncio.Context(), manager.limits)

    def _create_connected_socket(self, channel: str, identity: bytes | None = None) -> Any:
        """To a sandbox, a connection that the kernel cannot fill; else an ordinary socket.

        None where a kernel has nothing to say: nobody here answers its questions.
        """
        manager: Any = self.parent
        if self.transport != "ipc":
            return super()._create_connected_socket(channel, identity)
        kind = "SUB" if channel == "iopub" else "DEALER"
        if channel == "stdin":
            return None
        path = self._make_url(channel).removeprefix("ipc://")
        return Frames(path, kind, identity or b"", manager.limits.message)

    def start_channels(self, *_: Any, **__: Any) -> None:
        """Start those that are needed: a kernel's death shows without its heartbeat."""
        super().start_channels(stdin=False, hb=False)

    def execute(self, code: str, **options: Any) -> str:
        """Ask the kernel to run code; returns the request's id."""
        request = super().execute(code, **options)
        self.shell_channel.begin(request)
        self.iopub_channel.begin(request)
        return request

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
