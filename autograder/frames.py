"""A ZeroMQ connection that reads only when asked, and never holds more than one bounded message.

libzmq reads ahead on its own: it bounds one frame and the number of messages, but not the frames
of one message, so a kernel could fill its reader's memory. Here what nobody asks for stays with
its sender. ZMTP 3.0 (https://rfc.zeromq.org/spec/23/), without its security: Jupyter signs.
"""

import asyncio
import contextlib
import os
import socket
from typing import Any

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
MORE, LONG, COMMAND = 1, 2, 4
OVERHEAD = 64  # what a frame counts besides its bytes, so that empty ones are bounded too
AT_ONCE = 1 << 16
PATIENCE = 5.0  # seconds; a kernel that has just started is quicker by far


class TooLargeError(Exception):
    """A message of more bytes than anybody wants; it was thrown away."""


class Frames:
    """A connection to a listening Unix socket; as much of a `zmq.asyncio.Socket` as channels use.

    most: bytes of a message that are kept. A peer that is gone is silent, and hears nothing.
    """

    def __init__(self, path: str, kind: str, identity: bytes, most: int) -> None:
        """kind: of socket, such as "DEALER"; identity: the peer's name for it."""
        self.most = most
        self._in, self._out = bytearray(), bytearray()
        self._message: list[bytes] = []
        self._size = self._skip = 0
        self._whole = self._too_large = False
        self._socket = socket.socket(socket.AF_UNIX)
        self._ended = not self._shake_hands(path, kind, identity)
        self._socket.setblocking(False)

    def _shake_hands(self, path: str, kind: str, identity: bytes) -> bool:
        """Connect, and wait until the peer can take messages; whether it does."""
        properties = _property("Socket-Type", kind.encode()) + _property("Identity", identity)
        self._socket.settimeout(PATIENCE)
        try:
            self._socket.connect(path)
            self._socket.sendall(GREETING + frame(b"\x05READY" + properties, COMMAND))
            with self._socket.makefile("rb") as heard:
                heard.read(len(GREETING))
                flags, length = heard.read(2)
                heard.read(length)
        except (OSError, ValueError):
            return False
        return flags == COMMAND

    def setsockopt(self, _: int, topic: bytes) -> None:
        """The one option that channels set: what to subscribe to."""
        self.send_multipart([b"\1" + topic])

    def send_multipart(self, parts: list[bytes], **_: Any) -> None:
        """Send a message, at the latest while `poll` waits."""
        for part in parts[:-1]:
            self._out += frame(part, MORE)
        self._out += frame(parts[-1])
        self._flush()

    async def poll(self, timeout: int | None = None) -> bool:
        """Whether a message is there, or was thrown away, within so many milliseconds."""
        loop = asyncio.get_running_loop()
        end = None if timeout is None else loop.time() + timeout / 1000
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                while not self._taken():
                    if not self._read():
                        await self._wait()
                    await asyncio.sleep(0)
        return self._whole

    async def recv_multipart(self, **_: Any) -> list[bytes]:
        """The next message. Raises TooLargeError."""
        await self.poll()
        message, too_large = self._message, self._too_large
        self._message, self._size, self._whole, self._too_large = [], 0, False, False
        if too_large:
            raise TooLargeError(f"a message of more than {self.most:,} bytes")
        return message

    def close(self, **_: Any) -> None:
        self._socket.close()

    def _flush(self) -> None:
        try:
            while self._out and not self._ended:
                del self._out[: self._socket.send(self._out)]
        except BlockingIOError:
            pass
        except OSError:
            self._ended = True

    def _read(self) -> bool:
        """Take in what has come; whether there was anything."""
        self._flush()
        if self._ended:
            return False
        try:
            came = self._socket.recv(AT_ONCE)
        except BlockingIOError:
            return False
        except OSError:
            came = b""
        self._ended = not came
        skipped = min(self._skip, len(came))
        self._skip -= skipped
        self._in += memoryview(came)[skipped:]
        return bool(came)

    async def _wait(self) -> None:
        if self._ended:
            await asyncio.get_running_loop().create_future()
        await ready(self._socket.fileno(), writing=bool(self._out))

    def _taken(self) -> bool:
        """Take frames out of what has come, until there is a whole message."""
        while not self._whole and self._take_frame():
            pass
        return self._whole

    def _take_frame(self) -> bool:
        head = 9 if self._in and self._in[0] & LONG else 2
        if len(self._in) < head:
            return False
        flags, length = self._in[0], int.from_bytes(self._in[1:head])
        if self._too_large or self._size + length + OVERHEAD > self.most:
            self._throw_away(head, length)
        elif len(self._in) < head + length:
            return False
        else:
            self._size += length + OVERHEAD
            self._message.append(bytes(self._in[head : head + length]))
            del self._in[: head + length]
        if flags & COMMAND:  # none of them has anything to say to us
            self._message, self._size, self._too_large = [], 0, False
        self._whole = not flags & (MORE | COMMAND)
        return True

    def _throw_away(self, head: int, length: int) -> None:
        """This frame, those before it and, as they come, those after it."""
        self._message, self._too_large = [], True
        here = min(length, len(self._in) - head)
        del self._in[: head + here]
        self._skip = length - here


def frame(body: bytes, flags: int = 0) -> bytes:
    """A frame as it is sent."""
    if len(body) > 255:
        return bytes([flags | LONG]) + len(body).to_bytes(8) + body
    return bytes([flags, len(body)]) + body


def _property(name: str, value: bytes) -> bytes:
    return bytes([len(name)]) + name.encode() + len(value).to_bytes(4) + value


async def ready(number: int, writing: bool = False) -> None:
    """Wait until a file descriptor can be read, or also written; several may wait for one."""
    loop = asyncio.get_running_loop()
    done, copy = loop.create_future(), os.dup(number)

    def tell() -> None:
        if not done.done():
            done.set_result(None)

    loop.add_reader(copy, tell)
    if writing:
        loop.add_writer(copy, tell)
    try:
        await done
    finally:
        loop.remove_reader(copy)
        loop.remove_writer(copy)
        os.close(copy)
