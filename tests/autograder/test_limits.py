"""What a kernel may use up: its own share, and nothing of a sibling's."""

import asyncio
from collections.abc import Iterator

import pytest

from autograder.kernel import Sandbox
from autograder.sandbox import Limits
from tests.autograder.kernels import kernel, need_sandbox, ran, run, tried

LIMITS = Limits(memory=1 << 30, disk=32 << 20, file_size=8 << 20, processes=60, cpu_seconds=60)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    need_sandbox()
    with Sandbox("02_rms_norm", limits=LIMITS) as made:
        yield made


BOMB = """
import os, time
children = 0
try:
    while children < 5000:
        if os.fork() == 0:
            time.sleep(100); os._exit(0)
        children += 1
except OSError as error:
    print(type(error).__name__, children)
"""


def test_a_fork_bomb_ends_at_its_own_limit_and_takes_nothing_from_a_sibling(sandbox):
    async def together() -> tuple[str, str]:
        async with kernel(sandbox) as (_, one), kernel(sandbox) as (_, two):
            bomb = (await run(one, BOMB)).text
            other = await run(two, "import subprocess; subprocess.getoutput('echo fine')")
            return bomb, other.text

    bomb, other = asyncio.run(together())
    assert bomb.startswith("BlockingIOError")
    assert int(bomb.split()[1]) < LIMITS.processes
    assert other == "'fine'"


@pytest.mark.parametrize(
    ("attempt", "error"),
    [
        ("bytearray(3 << 30)", "MemoryError"),
        ("[bytearray(100 << 20) for _ in range(40)]", "MemoryError"),
        ("__import__('torch').ones(1 << 30)", "RuntimeError"),
        ("__import__('mmap').mmap(-1, 8 << 30)", "OSError"),
        ("open('/tmp/x', 'wb').write(bytes(20 << 20))", "OSError"),
        ("[open('/dev/null') for _ in range(1000)]", "OSError"),
    ],
)
def test_memory_files_and_descriptors_are_bounded(sandbox, attempt, error):
    assert tried(sandbox, f"len({attempt})").startswith(f"('{error}")


def test_the_kernel_lives_on_after_a_memory_error(sandbox):
    cells = ran(sandbox, "x = 1", "y = bytearray(3 << 30)", "x + 1")
    assert [cell.error for cell in cells] == ["", "MemoryError", ""]


def test_cpu_time_ends_a_kernel():
    need_sandbox()

    async def busy(sandbox: Sandbox) -> int:
        async with kernel(sandbox) as (manager, client):
            client.execute("import os\nif os.fork(): os.wait()\nwhile True: pass")
            client.execute("while True: pass")
            return await asyncio.wait_for(manager.ended(), 20)

    with Sandbox("01_residual_add", limits=Limits(cpu_seconds=1)) as sandbox:
        assert asyncio.run(busy(sandbox)) in (-24, -9)


@pytest.mark.parametrize(
    "flood",
    [
        "for i in range(200_000): print(i, 'a line of text')",
        "[[[0.123456789] * 3 for _ in range(224)] for _ in range(224)]",
        "raise ValueError('again ' * 5_000_000)",
        "print('x' * 100_000_000)",
        "import os\nfor _ in range(300): os.write(1, b'x' * 65536)",
        "for _ in range(500): display({'text/plain': 'x' * 50_000}, raw=True)",
    ],
)
def test_output_is_cut_and_the_kernel_goes_on(sandbox, flood):
    shown, after = ran(sandbox, flood, "1 + 1")
    assert len(shown.text) <= sandbox.limits.output + 100
    assert after.text == "2"
