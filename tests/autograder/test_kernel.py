"""Kernels from outside: how they start, end, are interrupted, and what lies cannot break."""

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

import pytest
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbgrader.preprocessors import Execute

from autograder.kernel import Sandbox
from tests.autograder.kernels import kernel, need_sandbox, notebook, ran, run

BACKWARD = """
import torch
x = torch.ones(64, 64, requires_grad=True)
(x @ x).sum().backward()
float(x.grad[0, 0])
"""
SWALLOWS = """
while True:
    try:
        while True: pass
    except BaseException: pass
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    need_sandbox()
    with Sandbox("02_rms_norm") as made:
        yield made


@pytest.fixture(params=["bwrap", "none"])
def either(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param == "bwrap":
        yield request.getfixturevalue("sandbox")
    else:
        with Sandbox("02_rms_norm", isolation="none") as made:
            yield made


def processes(word: str) -> list[str]:
    """The processes of this machine whose command holds a word."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout
    return [line for line in listed.split("\n") if word in line]


async def gone(word: str) -> bool:
    for _ in range(100):
        if not processes(word):
            return True
        await asyncio.sleep(0.02)
    return False


def test_a_kernel_is_ready_in_less_than_half_a_second(sandbox, capsys):
    async def ready_and_done() -> tuple[float, float]:
        start = time.perf_counter()
        async with kernel(sandbox) as (_, client):
            ready = time.perf_counter() - start
            assert (await run(client, BACKWARD)).text == "128.0"
            return ready, time.perf_counter() - start

    times = [asyncio.run(ready_and_done()) for _ in range(5)]
    ready, done = (statistics.median(t) for t in zip(*times, strict=True))
    with capsys.disabled():
        print(f"\nkernel ready: {ready:.3f} s, with a backward pass: {done:.3f} s")
    assert ready < 0.5


def test_nbclient_runs_a_notebook_in_it(either):
    nb = notebook("x = 41", "print('seen')\nx + 1", "1 / 0", "x")
    NotebookClient(nb, km=either.kernel_manager(), allow_errors=True).execute()
    shown = [
        [o.get("text") or o.get("ename") or o.data["text/plain"] for o in c.outputs]
        for c in nb.cells
    ]
    assert shown == [[], ["seen\n", "42"], ["ZeroDivisionError"], ["41"]]


def test_nbgraders_execute_runs_a_notebook_in_it(either):
    nb, _ = Execute().preprocess(notebook("6 * 7"), {"metadata": {}}, km=either.kernel_manager())
    assert nb.cells[0].outputs[0].data["text/plain"] == "42"


def test_an_interrupt_reaches_the_kernel_and_its_names_stay(either):
    async def interrupted() -> tuple[str, str]:
        async with kernel(either) as (manager, client):
            await run(client, "x = 7")
            cell = asyncio.ensure_future(run(client, "import time\nwhile True: pass"))
            await asyncio.sleep(0.3)
            await manager.interrupt_kernel()
            return (await asyncio.wait_for(cell, 5)).error, (await run(client, "x")).text

    assert asyncio.run(interrupted()) == ("KeyboardInterrupt", "7")


def test_an_interrupt_reaches_a_waiting_subprocess(sandbox):
    async def interrupted() -> str:
        async with kernel(sandbox) as (manager, client):
            cell = asyncio.ensure_future(
                run(client, "import subprocess as s; s.run(['sleep', '99'])")
            )
            await asyncio.sleep(0.3)
            await manager.interrupt_kernel()
            return (await asyncio.wait_for(cell, 5)).error

    assert asyncio.run(interrupted()) == "KeyboardInterrupt"


def test_a_loop_that_swallows_interrupts_is_killed_and_the_next_kernel_starts(either):
    async def killed() -> float:
        async with kernel(either) as (manager, client):
            client.execute(SWALLOWS)
            for _ in range(3):
                await asyncio.sleep(0.1)
                await manager.interrupt_kernel()
            assert await manager.is_alive()
            start = time.perf_counter()
            await manager.shutdown_kernel(now=True)
            took = time.perf_counter() - start
            assert not await manager.is_alive()
            return took

    assert asyncio.run(killed()) < 2
    assert ran(either, "1 + 1")[0].text == "2"


def test_a_kill_ends_what_the_kernel_has_started_too(sandbox):
    leaves = """
import os, subprocess
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execlp("sleep", "sleep", "98765.25")
        os._exit(0)
"""

    async def killed() -> bool:
        async with kernel(sandbox) as (manager, client):
            await run(client, leaves)
            while len(processes("98765.25")) < 3:
                await asyncio.sleep(0.02)
            await manager.shutdown_kernel(now=True)
            return await gone("98765.25")

    assert asyncio.run(killed())


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("import os; os._exit(3)", 3),
        ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
        ("import os; os.abort()", None),
    ],
)
def test_a_dead_kernel_is_noticed_at_once(either, end, code):
    async def noticed() -> tuple[int, float, str]:
        async with kernel(either) as (manager, client):
            start = time.perf_counter()
            with pytest.raises(DeadKernelError) as error:
                await run(client, end)
            took = time.perf_counter() - start
            assert not await manager.is_alive()
            return await manager.ended(), took, str(error.value)

    ended, took, words = asyncio.run(noticed())
    assert ended == code or (code is None and ended < 0)
    assert str(ended) in words
    assert took < 1


def test_nbclient_is_told_of_a_death_and_a_restart_gives_a_fresh_kernel(either):
    nb = notebook("import os; os._exit(0)")
    with pytest.raises(DeadKernelError):
        NotebookClient(nb, km=either.kernel_manager()).execute()

    async def restarted() -> tuple[str, str]:
        async with kernel(either) as (manager, client):
            await run(client, "x = 1")
            client.stop_channels()
            await manager.restart_kernel(now=True)
            again = manager.client()
            again.start_channels()
            await again.wait_for_ready(timeout=20)
            seen = (await run(again, "x")).error, (await run(again, "1 + 1")).text
            again.stop_channels()
            return seen

    assert asyncio.run(restarted()) == ("NameError", "2")


def test_a_polite_shutdown_works_too(either):
    async def shut_down() -> float:
        async with kernel(either) as (manager, _):
            start = time.perf_counter()
            await manager.shutdown_kernel()
            return time.perf_counter() - start

    assert asyncio.run(shut_down()) < 5


def test_input_is_an_error_at_once(either):
    nb = notebook("input('name? ')", "1")
    NotebookClient(nb, km=either.kernel_manager(), allow_errors=True).execute()
    assert nb.cells[0].outputs[0].ename == "StdinNotImplementedError"
    assert nb.cells[1].outputs[0].data["text/plain"] == "1"


def test_several_threads_may_use_one_sandbox(sandbox):
    seen: list[str] = []
    threads = [
        threading.Thread(target=lambda i=i: seen.append(ran(sandbox, f"{i} + 1")[0].text))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == ["1", "2", "3", "4"]


def test_a_sandbox_whose_first_process_died_starts_again():
    need_sandbox()
    with Sandbox("01_residual_add") as sandbox:
        assert ran(sandbox, "1")[0].text == "1"
        warm = sandbox._warm._process
        assert warm is not None
        os.kill(warm.pid, signal.SIGKILL)
        warm.wait()
        assert ran(sandbox, "2")[0].text == "2"


def test_leaving_a_sandbox_ends_everything_in_it():
    need_sandbox()

    async def started() -> None:
        with Sandbox("01_residual_add") as sandbox:
            manager = sandbox.kernel_manager()
            await manager.start_kernel()
            client = manager.client()
            client.start_channels()
            await client.wait_for_ready(timeout=30)
            await run(client, "import subprocess; p = subprocess.Popen(['sleep', '87654.25'])")
            assert processes("87654.25")
        assert await gone("87654.25")
        client.stop_channels()
        await manager.cleanup_resources()

    asyncio.run(started())


def test_a_grader_that_is_killed_leaves_no_process_behind():
    need_sandbox()
    script = """
import asyncio
from autograder.kernel import Sandbox
from tests.autograder.kernels import kernel, run
async def main(sandbox):
    async with kernel(sandbox) as (_, client):
        await run(client, "import subprocess; p = subprocess.Popen(['sleep', '76543.25'])")
        print("started", flush=True)
        await asyncio.sleep(100)
with Sandbox("01_residual_add") as sandbox:
    asyncio.run(main(sandbox))
"""
    with tempfile.TemporaryDirectory() as place:
        command, own = [sys.executable, "-c", script], {**os.environ, "TMPDIR": place}
        grader = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own)
        assert grader.stdout is not None
        assert grader.stdout.readline() == "started\n"
        grader.kill()
        grader.wait()
        assert asyncio.run(gone("76543.25"))


def test_a_unit_of_the_course_has_one_reference_out_of_reach_and_the_earlier_ones_within():
    need_sandbox()
    with Sandbox("05_block_stacking") as sandbox:
        cell = "from blocklab.mine import RMSNorm, SwiGLU, GroupedQueryAttention\nRMSNorm.__name__"
        assert ran(sandbox, cell)[0].text.endswith("'RMSNorm'")
