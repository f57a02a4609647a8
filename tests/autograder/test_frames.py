"""A connection that reads only when asked, against ZeroMQ's own sockets and against liars."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq
import zmq.asyncio

from autograder.frames import COMMAND, GREETING, MORE, Frames, TooLargeError, frame

MOST = 100_000


@asynccontextmanager
async def pair(folder: Path, kind: int, mine: str) -> AsyncIterator[tuple[Any, Frames]]:
    """ZeroMQ's socket of a kind, and a connection to it."""
    with zmq.asyncio.Context() as context, context.socket(kind) as theirs:
        theirs.linger = 0
        theirs.bind(f"ipc://{folder}/socket")
        ours = await asyncio.to_thread(Frames, f"{folder}/socket", mine, b"me", MOST)
        try:
            yield theirs, ours
        finally:
            ours.close()


def with_router(folder: Path, do: Callable[[Any, Frames], Any]) -> Any:
    async def done() -> Any:
        async with pair(folder, zmq.ROUTER, "DEALER") as (theirs, ours):
            return await asyncio.wait_for(do(theirs, ours), 20)

    return asyncio.run(done())


def test_messages_go_both_ways(tmp_path):
    async def echo(theirs: Any, ours: Frames) -> list[bytes]:
        ours.send_multipart([b"", b"a" * 255, b"b" * 256, b"c" * 9000])
        await theirs.send_multipart(await theirs.recv_multipart())
        return await ours.recv_multipart()

    assert with_router(tmp_path, echo) == [b"", b"a" * 255, b"b" * 256, b"c" * 9000]


def test_a_subscriber_hears_what_is_published(tmp_path):
    async def heard() -> list[bytes]:
        async with pair(tmp_path, zmq.XPUB, "SUB") as (theirs, ours):
            ours.setsockopt(zmq.SUBSCRIBE, b"")
            assert await theirs.recv() == b"\1"
            await theirs.send_multipart([b"topic", b"news"])
            return await ours.recv_multipart()

    assert asyncio.run(heard()) == [b"topic", b"news"]


@pytest.mark.parametrize(
    "large", [[b"x" * MOST], [b"x" * 30_000] * 4, [b""] * 2000, [b"x" * 10_000_000]]
)
def test_what_is_too_large_is_thrown_away_and_the_next_message_comes(tmp_path, large):
    async def two(theirs: Any, ours: Frames) -> list[bytes]:
        sending = asyncio.gather(
            theirs.send_multipart([b"me", *large]), theirs.send_multipart([b"me", b"small"])
        )
        with pytest.raises(TooLargeError, match="100,000 bytes"):
            await ours.recv_multipart()
        assert len(ours._in) <= MOST
        await sending
        return await ours.recv_multipart()

    assert with_router(tmp_path, two) == [b"small"]


def test_waiting_ends_in_time_and_a_message_that_came_meanwhile_is_not_lost(tmp_path):
    async def late(theirs: Any, ours: Frames) -> list[bytes]:
        for _ in range(50):
            assert not await ours.poll(1)
        await theirs.send_multipart([b"me", b"x" * 90_000])
        while not await ours.poll(0):
            pass
        return await ours.recv_multipart()

    assert with_router(tmp_path, late) == [b"x" * 90_000]


def test_a_peer_that_does_not_read_blocks_nobody(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{tmp_path}/socket")
        listening.listen()

        async def sent() -> int:
            made = asyncio.to_thread(Frames, f"{tmp_path}/socket", "DEALER", b"", MOST)
            connecting = asyncio.ensure_future(made)
            peer = (await asyncio.to_thread(listening.accept))[0]
            peer.sendall(GREETING + frame(b"\5READY", COMMAND))
            ours = await connecting
            ours.send_multipart([b"x" * 5_000_000])
            assert not await ours.poll(50)
            reading = asyncio.ensure_future(asyncio.to_thread(exactly, peer, 5_000_000))
            while not reading.done():
                await ours.poll(10)
            ours.close()
            peer.close()
            return await reading

        assert asyncio.run(sent()) == 5_000_000


def exactly(peer: socket.socket, number: int) -> int:
    """Read until so many x have come; how many came in all."""
    found = 0
    while found < number:
        found += peer.recv(1 << 20).count(b"x")
    return found


@pytest.mark.parametrize("said", [b"", b"nonsense", GREETING + frame(b"\5READY")])
def test_a_peer_that_is_none_is_silent(tmp_path, said):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{tmp_path}/socket")
        listening.listen()

        async def silent() -> bool:
            made = asyncio.to_thread(Frames, f"{tmp_path}/socket", "DEALER", b"", MOST)
            connecting = asyncio.ensure_future(made)
            peer = (await asyncio.to_thread(listening.accept))[0]
            peer.sendall(said)
            peer.close()
            ours = await connecting
            ours.send_multipart([b"hello"])
            heard = await ours.poll(50)
            ours.close()
            return heard

        assert not asyncio.run(silent())


def test_where_nobody_listens_it_is_silent(tmp_path):
    ours = Frames(f"{tmp_path}/nothing", "DEALER", b"", MOST)
    ours.send_multipart([b"hello"])
    assert not asyncio.run(ours.poll(10))
    ours.close()


def test_a_message_without_end_holds_nothing_and_starves_nobody(tmp_path):
    async def endless(theirs: Any, ours: Frames) -> int:
        parts = [b"me", *[b"x" * 60_000] * 500]
        sending = asyncio.ensure_future(theirs.send_multipart(parts))
        assert not await ours.poll(0)
        turns = 0
        waiting = asyncio.ensure_future(ours.poll(10_000))
        while not waiting.done():
            await asyncio.sleep(0)
            turns += 1
            assert len(ours._in) + sum(map(len, ours._message)) <= MOST + (1 << 16)
        await sending
        return turns

    assert with_router(tmp_path, endless) > 100


def test_frames_are_as_the_protocol_has_them():
    assert frame(b"ab", MORE) == b"\1\2ab"
    assert frame(b"x" * 300)[:9] == b"\2" + (300).to_bytes(8)
    assert len(GREETING) == 64
