"""What a kernel can make its judge hold: little, whatever it sends and on whatever channel."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.arena import Attack, Outside, grade, outside, scores, submission
from tests.attacks.forging import sent
from tests.autograder.kernels import need_sandbox

pytestmark = pytest.mark.xdist_group("kernel")
MOST = 200  # MB

TOOLS = """
import json, threading
from IPython import get_ipython
from jupyter_client.session import Session
kernel = get_ipython().kernel
mine = kernel.get_parent()
asker = mine["header"]["session"].encode()
session = Session(key=kernel.session.key)
def say(kind, content): session.send(kernel.iopub_socket, kind, content, parent=mine)
def raw(socket, kind, content):
    parts = session.serialize(session.msg(kind, content, parent=mine), asker)
    socket.send_multipart(parts, copy=False)
def shown(**data): say("display_data", {"data": data, "metadata": {}})
"""
JUST_BELOW = (4 << 20) - 5000
FLOODS = {
    "10,000 large displays": f"for _ in range(10_000): shown(x='x' * {JUST_BELOW})",
    "displays that are too large": "for _ in range(300): shown(x='x' * (20 << 20))",
    "a million small displays": "for n in range(1_000_000): shown(x='')",
    "lists of empty lists": (
        f"made = [[]] * ({JUST_BELOW} // 4)\n"
        "for _ in range(100): shown(**{'application/json': made})"
    ),
    "names of displays": (
        "for n in range(1_000_000): say('display_data', "
        "{'data': {}, 'metadata': {}, 'transient': {'display_id': str(n)}})"
    ),
    "one message of endless frames": (
        "kernel.iopub_thread.socket.send_multipart([b'x' * (30 << 20)] * 1000, copy=False)\n"
        "import time; time.sleep(2)"
    ),
    "a million empty frames": (
        "while True: kernel.iopub_thread.socket.send_multipart([b''] * 1_000_000)"
    ),
    "large replies that nobody asked for": (
        f"for _ in range(10_000): raw(kernel.shell_stream.socket, 'execute_reply', "
        f"{{'status': 'ok', 'x': 'x' * {JUST_BELOW}}})"
    ),
    "replies of endless frames": (
        "parts = [asker, *[b'x' * (30 << 20)] * 1000]\n"
        "kernel.shell_stream.socket.send_multipart(parts, copy=False)\n"
        "import time; time.sleep(2)"
    ),
    "questions to the reader": (
        f"for _ in range(10_000): raw(kernel.stdin_socket, 'input_request', "
        f"{{'prompt': 'x' * {JUST_BELOW}}})"
    ),
    "widgets without end": (
        f"for _ in range(10_000): say('comm_open', {{'comm_id': 'x', 'target_name': 'x', "
        f"'data': {{'x': 'x' * {JUST_BELOW}}}}})"
    ),
    "a thread that goes on": (
        "def flood():\n"
        f"    while True: shown(x='x' * {JUST_BELOW})\n"
        "threading.Thread(target=flood, daemon=True).start()"
    ),
}
REPLIES = {
    "replies just below the bound": f"for _ in range(10_000): go(ok('x' * {JUST_BELOW}))",
    "replies above the bound": "for _ in range(300): go(ok('x' * (20 << 20)))\nreturn go()",
    "a reply of empty lists": (
        f"return go({{**ok(''), 'user_expressions': [[]] * ({JUST_BELOW} // 4)}})"
    ),
}
ATTACKS = {name: Attack(f"{TOOLS}\n{code}") for name, code in FLOODS.items()}
ATTACKS |= {name: sent(lines) for name, lines in REPLIES.items()}


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    need_sandbox()
    with outside(tmp_path_factory.mktemp("memory")) as made:
        grade(submission(Attack(), made), made)  # what every grading needs is loaded now
        yield made


def megabytes(field: str) -> int:
    """What this process holds now (VmRSS) or has held at most since `forget` (VmHWM)."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) >> 10 for line in status if line.startswith(field))


def forget() -> None:
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_flood_does_not_fill_the_judge(attack, there, capsys):
    notebook = submission(attack, there)
    forget()
    before = megabytes("VmRSS")
    seconds = grade(notebook, there)
    grown = megabytes("VmHWM") - before
    with capsys.disabled():
        print(f"\n{grown} MB more at most, {seconds:.1f} s")
    assert grown < MOST
    assert seconds < 60
    marks = scores(notebook)
    assert (marks["rms_by_hand"], marks["rms_norm"]) == (1.0, 0.0)


def test_kernels_that_die_leave_no_open_files(there):
    def opened() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    answers = {"RMSNorm": "class RMSNorm:\n    def __init__(self, *a): os._exit(0)"}
    attack = Attack("import os\nos._exit(0)", more=answers)
    grade(submission(attack, there), there)
    before = opened()
    for _ in range(3):
        grade(submission(attack, there), there)
    assert opened() <= before
