"""Cells run in kernels of a sandbox, and what came of them."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from autograder.kernel import Sandbox

TRY = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def tried(action):
    try:
        return "done", action()
    except BaseException as error:
        return type(error).__name__, str(error)[:200]
def called(name, *args):
    result = getattr(libc, name)(*args)
    return result if result >= 0 else os.strerror(ctypes.get_errno())
"""


@dataclass
class Ran:
    """One cell: what it printed or returned, and the name of its error ("" if none)."""

    text: str
    error: str


def need_sandbox() -> None:
    """Skip, with the reason, where students' code cannot be walled in; on CI fail."""
    if reason := Sandbox.available():
        if os.environ.get("CI") == "true":
            pytest.fail(str(reason))
        pytest.skip(str(reason))


@contextlib.asynccontextmanager
async def kernel(sandbox: Sandbox) -> AsyncIterator[tuple[Any, Any]]:
    """A kernel's manager and a client of it, ready; gone afterwards."""
    manager = sandbox.kernel_manager()
    await manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=30)
        yield manager, client
    finally:
        client.stop_channels()
        if await manager.is_alive():
            await manager.shutdown_kernel(now=True)
        await manager.cleanup_resources()


async def run(client: Any, source: str, seconds: float = 20) -> Ran:
    """Run a cell and wait for its end. Raises queue.Empty where it takes longer."""
    asked = client.execute(source)
    parts: list[str] = []
    reply = await client.get_shell_msg(timeout=seconds)
    while reply["parent_header"].get("msg_id") != asked:
        reply = await client.get_shell_msg(timeout=seconds)
    while True:
        message = await client.get_iopub_msg(timeout=5)
        content = message["content"]
        if message["parent_header"].get("msg_id") != asked:
            continue
        if content.get("execution_state") == "idle":
            return Ran("".join(parts), reply["content"].get("ename", ""))
        parts.append(content.get("text") or content.get("data", {}).get("text/plain", ""))


def ran(sandbox: Sandbox, *cells: str) -> list[Ran]:
    """Each cell, one after the other in a kernel of its own."""

    async def all_of_them() -> list[Ran]:
        async with kernel(sandbox) as (_, client):
            return [await run(client, cell) for cell in cells]

    return asyncio.run(all_of_them())


def tried(sandbox: Sandbox, expression: str) -> str:
    """What an expression gave: ('done', its value) or the error's name and words, as text."""
    return ran(sandbox, TRY, f"tried(lambda: {expression})")[1].text


def notebook(*cells: str) -> NotebookNode:
    """A notebook of these code cells."""
    return new_notebook(cells=[new_code_cell(cell) for cell in cells])
