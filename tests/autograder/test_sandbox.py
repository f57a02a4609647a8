"""What a student's code finds, and does not find, in the sandbox."""

import asyncio
import itertools
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder import refusals
from autograder import sandbox as walls
from autograder.kernel import Sandbox
from autograder.sandbox import REPOSITORY, Limits, SandboxError
from tests.autograder.kernels import TRY, kernel, need_sandbox, ran, run, tried

LIMITS = Limits(disk=32 << 20)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    need_sandbox()
    os.environ["SECRET_OF_THE_GRADER"] = "canary"
    with Sandbox("02_rms_norm", limits=LIMITS) as made:
        yield made
    del os.environ["SECRET_OF_THE_GRADER"]


@pytest.fixture
def class_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="class-"))
    folder.chmod(0o755)
    (folder / "gradebook.db").write_text("canary")
    yield folder
    shutil.rmtree(folder)


def test_nothing_of_the_repository_the_class_or_the_machine_can_be_read(sandbox, class_folder):
    inside = ("solutions", "exercises", "tests", "course", "autograder", ".git", "pyproject.toml")
    places = [
        *(REPOSITORY / name for name in inside),
        *(REPOSITORY / "blocklab" / "checks" / name for name in ("norm.py", "examine.py")),
        *(REPOSITORY / "blocklab" / "reference" / name for name in ("__pycache__", "attention.py")),
        *(REPOSITORY / "blocklab" / name for name in ("misconceptions/norm.py", "solutions.json")),
        class_folder,
        *(class_folder / "gradebook.db", Path("/etc/shadow"), Path.home() / ".bashrc"),
        *map(Path, ("/proc/1/environ", "/proc/self/maps", "/warm/autograder", "/sys/kernel")),
        *map(Path, ("/var", "/run", "/mnt", "/srv", "/opt", "/boot", "/dev/vda", "/dev/kmsg")),
    ]
    reads = """
def read(path):
    if os.path.isdir(path):
        return os.listdir(path)
    text = open(path).read()
    return "" if "is not here while" in text else text
def found(path):
    outcome, what = tried(lambda: read(path))
    return outcome == "done" and what
"""
    asked = f"[path for path in {list(map(str, places))!r} if found(path)]"
    assert ran(sandbox, TRY, reads, asked)[2].text == "[]"


def test_of_the_repository_only_blocklab_is_there(sandbox):
    seen = ran(sandbox, f"import os; sorted(os.listdir({str(REPOSITORY)!r}))")[0].text
    venv = [sys.prefix[len(str(REPOSITORY)) + 1 :]] if str(REPOSITORY) in sys.prefix else []
    assert eval(seen) == sorted([*venv, "blocklab"])


@pytest.mark.parametrize(
    "module",
    [
        *("blocklab.checks", "blocklab.checks.norm", "blocklab.misconceptions.norm"),
        *("blocklab.reference.norm", "blocklab.reference.attention", "blocklab.reference.block"),
    ],
)
def test_what_is_left_out_of_blocklab_says_so_when_imported(sandbox, module):
    name, words = eval(tried(sandbox, f"__import__({module!r})"))
    assert name == "ModuleNotFoundError"
    assert "is not here while a submission is graded" in words


@pytest.mark.parametrize("module", ["autograder", "autograder.judge", "course", "tests", "run"])
def test_nothing_else_of_ours_can_be_imported(sandbox, module):
    assert "ModuleNotFoundError" in tried(sandbox, f"__import__({module!r})")


def test_solutions_and_model_answers_are_not_given(sandbox):
    cells = (
        "from blocklab import self_check, solution\n"
        "[solution('rms_norm'), self_check('what_is_lost')]",
        "from blocklab.study import self_check\nself_check.open_answer('what_is_lost', 'x' * 99)",
    )
    said, forced = ran(sandbox, *cells)
    assert said.text.count("While this is graded, solutions are not here.") == 2
    assert forced.error == "FileNotFoundError"


def test_earlier_units_are_there_and_mine_means_them(sandbox):
    cells = (
        "import torch\nfrom blocklab.mine import residual_add",
        "residual_add(torch.ones(1), torch.ones(1))",
    )
    assert ran(sandbox, *cells)[1].text == "tensor([2.])"
    assert "ModuleNotFoundError" in tried(sandbox, "__import__('blocklab.mine').mine.rms_norm")


def test_hints_of_this_unit_and_later_ones_are_not_there(sandbox):
    known = "from blocklab.catalogue import exercises\n"
    asked = f"{known}{{e.unit for e in exercises().values() if e.hints}}"
    assert ran(sandbox, asked)[0].text == "{'01_residual_add'}"
    assert "last hint" in ran(sandbox, "from blocklab import hint; hint('rms_norm')")[0].text


def test_the_user_is_nobody_and_the_environment_says_nothing(sandbox):
    uid, groups, environment = eval(
        ran(sandbox, "import os; (os.getuid(), os.getgroups(), dict(os.environ))")[0].text
    )
    assert uid == (walls.UID if os.geteuid() == 0 else os.getuid()) != 0
    assert 0 not in groups
    assert "canary" not in str(environment)
    known = {*walls.ENVIRONMENT, "PWD", "LC_CTYPE", "MPLBACKEND", "TERM", "CLICOLOR"}
    known |= {"FORCE_COLOR", "CLICOLOR_FORCE", "PAGER", "GIT_PAGER", "PYDEVD_USE_FRAME_EVAL"}
    assert {name for name in environment if not name.startswith(("KMP_", "TORCH"))} <= known


@pytest.mark.parametrize(
    "place",
    [
        *("/x", "/usr/x", "/etc/x", "/etc/passwd", "/dev/x", "/sys/x", "/warm/x", "/dev/pts/x"),
        *(str(REPOSITORY / "x"), str(REPOSITORY / "blocklab" / "x")),
        *(str(REPOSITORY / "blocklab" / "plain.py"), os.path.join(sys.prefix, "x"), os.__file__),
    ],
)
def test_nothing_can_be_written_but_in_tmp(sandbox, place):
    assert tried(sandbox, f"open({place!r}, 'w')").startswith(("('PermissionError", "('OSError"))


def test_tmp_is_private_and_small(sandbox):
    fill = """
def fill():
    for i in range(100):
        with open(f"/tmp/{i}", "wb") as file:
            file.write(bytes(1 << 20))
"""
    assert "No space left" in ran(sandbox, TRY, fill, "tried(fill)")[2].text
    assert ran(sandbox, "import os; [n for n in os.listdir('/tmp') if n[0] != '.']")[0].text == "[]"


def test_no_socket_leads_out(sandbox):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind("\0canary-of-the-grader")
        local.listen()
        there = server.getsockname()
        for attempt in (
            f"socket.create_connection({there!r}, timeout=2)",
            "socket.create_connection(('1.1.1.1', 80), timeout=2)",
            "socket.getaddrinfo('example.org', 443)",
            "socket.socket(socket.AF_UNIX).connect('\\0canary-of-the-grader')",
            "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)",
            "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
            "socket.socket(38)",  # AF_ALG
        ):
            assert "'done'" not in tried(sandbox, attempt), attempt


@pytest.mark.parametrize(
    "attempt",
    [
        *("called('unshare', 0x10000000)", "called('setns', 3, 0)", "called('chroot', b'/tmp')"),
        *("called('mount', b'proc', b'/proc', b'proc', 0, None)", "called('umount2', b'/proc', 2)"),
        *("called('umount2', b'/tmp', 2)", "called('ptrace', 16, 1, 0, 0)", "os.setuid(0)"),
        *("called('syscall', 250, 0, 0)", "called('syscall', 321, 0, 0, 0)", "os.chown('/', 0, 0)"),
        *(
            "called('syscall', 425, 1, 0)",
            "called('syscall', 101, 0, 2, 0, 0)",
            "os.setgroups([0])",
        ),
        *("os.memfd_create('x')", "called('shmget', 0, 4096, 0o1600)", "os.nice(-5)"),
        *("called('klogctl', 3, b' ' * 99, 99)", "os.sched_setscheduler(0, 1, os.sched_param(5))"),
        "__import__('resource').setrlimit(7, (9999, 9999))",
    ],
)
def test_no_privilege_can_be_had(sandbox, attempt):
    outcome = tried(sandbox, attempt)
    refused = ("not permitted", "Permission", "Invalid", "Function not", "EPERM", "exceeds")
    assert any(word in outcome for word in (*refused, "not allowed", "Read-only")), outcome


def test_a_kernel_holds_no_door_but_its_own(sandbox):
    doors = """
import os, socket
def name(n):
    try: return socket.socket(fileno=os.dup(n)).getsockname()
    except OSError: return ""
sorted({n for n in map(name, range(256)) if n and not isinstance(n, tuple)})
"""
    names = eval(ran(sandbox, doors)[0].text)
    assert len(names) == 5
    assert len({Path(name).name.split("-")[0] for name in names}) == 1


NEIGHBOUR = """
import os, socket, subprocess, resource, torch
open("/tmp/mine", "w").write("mine"); open("/dev/shm/mine", "w").write("mine")
listening = socket.socket(socket.AF_UNIX); listening.bind("\\0mine"); listening.listen()
local = socket.socket(socket.AF_UNIX); local.bind("/tmp/socket"); local.listen()
first, second = os.openpty()
sleeping = subprocess.Popen(["sleep", "100"])
"""
INTRUDER = """
import os, resource, signal, socket
def tried(action):
    try: return action()
    except (OSError, ValueError) as error: return type(error).__name__
others = range(30, 400)  # those before are this kernel's own threads
own = [".ipython", ".kernel", "ptmx", *"PermissionError"]
def connected(name): socket.socket(socket.AF_UNIX).connect(name)
def limited(p): resource.prlimit(p, resource.RLIMIT_CPU, (1, 1))
folders = ("/tmp", "/dev/shm", "/dev/pts", "/proc")
found = [n for d in folders for n in tried(lambda: os.listdir(d)) if n not in own]
found += [n for n in ("\\0mine", "/tmp/socket") if tried(lambda: connected(n)) is None]
found += [p for p in others if tried(lambda: os.kill(p, signal.SIGKILL)) is None]
found += [p for p in others if tried(lambda: limited(p)) is None]
found += [p for p in others if tried(lambda: os.setpriority(os.PRIO_PROCESS, p, 19)) is None]
tried(lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19))
tried(lambda: os.setpriority(os.PRIO_PGRP, 0, 19))
tried(lambda: os.kill(-1, signal.SIGTERM))
found
"""
UNHARMED = """
(sleeping.poll(), os.getpriority(os.PRIO_PROCESS, 0), os.getpriority(os.PRIO_PROCESS, sleeping.pid),
 resource.prlimit(sleeping.pid, resource.RLIMIT_CPU)[0] > 1, open("/tmp/mine").read())
"""


def test_siblings_cannot_see_or_touch_each_other(sandbox):
    async def together() -> tuple[str, str]:
        async with kernel(sandbox) as (_, one), kernel(sandbox) as (_, two):
            assert not (await run(one, NEIGHBOUR)).error
            found = (await run(two, INTRUDER)).text
            return found, (await run(one, UNHARMED)).text

    found, unharmed = asyncio.run(together())
    assert found == "[]"
    assert unharmed == "(None, 0, 0, True, 'mine')"


def test_a_repository_inside_a_folder_that_is_shown_is_emptied_first():
    """Such as /usr/src: what is shown of it comes after."""
    command = walls.command("02_rms_norm", Path("/parts"))
    pairs = list(itertools.pairwise(command))
    emptied = pairs.index(("--tmpfs", str(REPOSITORY)))
    shown = [i for i, arg in enumerate(command) if arg.startswith(f"{REPOSITORY}/")]
    assert command.index("/usr") < emptied < min(shown)
    assert pairs.index(("--tmpfs", "/tmp")) < command.index("/usr")


def test_it_stands_for_an_ordinary_user_too(need):
    need_sandbox()
    setpriv = need("setpriv", "starts a process as another user")
    asks = "from autograder.sandbox import unavailable; print(unavailable())"
    nobody = [setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    if os.geteuid() != 0 or subprocess.run([*nobody, "ls", sys.base_prefix]).returncode:
        pytest.skip("only root can become nobody, and nobody must be able to read this Python")
    done = subprocess.run([*nobody, sys.executable, "-c", asks], capture_output=True, text=True)
    assert done.stdout == "None\n", done.stderr


def test_refusal_names_the_choices(monkeypatch):
    monkeypatch.setattr(walls.shutil, "which", lambda name: None)
    walls.unavailable.cache_clear()
    try:
        reason = Sandbox.available()
        assert reason is not None
        for words in reason:
            assert "bwrap" in words and "Dockerfile" in words and "--isolation none" in words
        with pytest.raises(SandboxError, match="isolation none"), Sandbox("01_residual_add"):
            pass
    finally:
        walls.unavailable.cache_clear()


NO_NAMESPACE = (
    "bwrap: No permissions to creating new namespace, likely because the kernel does not allow "
    "non-privileged user namespaces. On e.g. debian this can be enabled with "
    "'sysctl kernel.unprivileged_userns_clone=1'."
)


@pytest.mark.parametrize(
    ("said", "does"),
    [
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns=0"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "apparmor_parser -r"),
        ("PermissionError: [Errno 13] mount /: Permission denied", "/etc/apparmor.d/bwrap"),
        (NO_NAMESPACE, "kernel.unprivileged_userns_clone=1"),
        ("bwrap: Creating new namespace failed: No space left on device", "max_user_namespaces"),
        ("OSError: [Errno 1] unshare: Operation not permitted", "unprivileged_userns_clone=1"),
        ("bwrap: Unknown option --no-such-option", "bubblewrap installed"),
    ],
)
def test_a_machine_that_forbids_namespaces_is_told_apart_and_what_to_do(said, does):
    reason = refusals.why(f"Traceback …\n{said}\n", container=False)
    assert all(said in words and "--isolation none" in words for words in reason)
    assert does in (reason.en if "installed" in does else reason.ko)
    assert "docker run" not in str(reason)


@pytest.mark.parametrize(
    "said", [NO_NAMESPACE, "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"]
)
def test_in_a_container_its_options_come_first(said):
    image = (REPOSITORY / "autograder" / "Dockerfile").read_text("utf-8")
    for words in refusals.why(said, container=True):
        options = re.findall(r"--security-opt \S+", words)
        assert len(options) == 3 and all(option in image for option in options)
    assert "docker run" not in str(refusals.why("no space left", container=True))


def test_the_image_copies_what_there_is():
    image = (REPOSITORY / "autograder" / "Dockerfile").read_text("utf-8")
    copied = [line.split()[1:-1] for line in image.splitlines() if line.startswith("COPY")]
    assert len(copied) >= 5
    assert all((REPOSITORY / name).exists() for names in copied for name in names)


def test_the_trial_is_quick_and_says_what_bubblewrap_says(monkeypatch):
    need_sandbox()
    walls.unavailable.cache_clear()
    start = time.perf_counter()
    assert walls.unavailable() is None
    assert time.perf_counter() - start < 2
    monkeypatch.setattr(walls, "_namespaces", lambda: ["--no-such-option"])
    walls.unavailable.cache_clear()
    assert "no-such-option" in str(walls.unavailable())
    walls.unavailable.cache_clear()
