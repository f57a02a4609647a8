"""The walls round students' kernels: what is in there, what is not, and whether they can stand.

bubblewrap makes a small world: the system and Python, read-only, and of ours only `blocklab`,
without what would give a mark away. One warm process lives in it and forks kernels, each of which
walls itself off from the others (confine.py) before it runs a student's code.
"""

import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder import refusals
from blocklab import catalogue
from blocklab.text import Text

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
UID = 65533  # an ordinary user that owns nothing, where the grader is root
START = "import sys; sys.path.insert(0, '/warm'); from autograder.warm import main; main()"
ENVIRONMENT = {
    **{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"},
    **{"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    **{"PYTHONDONTWRITEBYTECODE": "1", "MALLOC_ARENA_MAX": "2"},
}
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/alternatives"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/fonts", "/etc/localtime"),
    "/sys/devices/system/cpu",  # torch chooses its kernels by what it reads here
)
NOT_HERE = """raise ModuleNotFoundError(
    f"{__name__} is not here while a submission is graded", name=__name__
)
"""


class SandboxError(RuntimeError):
    """The sandbox, or a kernel in it, could not be started."""


@dataclass(frozen=True)
class Limits:
    """Bounds on one kernel; sizes in bytes. Wall time is up to whoever waits for a reply.

    memory: of one process, beyond what torch itself takes; disk: of /tmp and /dev/shm, each.
    output: of one cell, in all; message: of one message, whatever it says.
    """

    cpu_seconds: int = 300
    memory: int = 2 << 30
    processes: int = 128
    file_size: int = 64 << 20
    disk: int = 256 << 20
    open_files: int = 256
    output: int = 2 << 20
    message: int = 4 << 20


def command(unit: str, parts: Path) -> list[str]:
    """The bubblewrap command up to the program it runs.

    unit: whose reference stays out; parts: a folder of ours with the few files it shows.
    """
    args = ["bwrap", *_namespaces(), "--as-pid-1", "--new-session", "--clearenv"]
    args += ["--hostname", "sandbox"]
    for name, value in ENVIRONMENT.items():
        args += ["--setenv", name, value]
    args += ["--perms", "1777", "--tmpfs", "/tmp"]  # first: Python itself may lie in it
    for path in SYSTEM:
        args += _shown(Path(path))
    args += [*_python(parts), *_blocklab(unit, parts)]
    for name in ("passwd", "group", "hosts"):
        args += _shown(parts / name, Path("/etc") / name)
    for name in ("warm", "confine", "inside"):
        args += _shown(HERE / f"{name}.py", Path(f"/warm/autograder/{name}.py"))
    args += ["--proc", "/proc", "--dev", "/dev"]
    made = [args[i + 1] for i, arg in enumerate(args) if arg == "--tmpfs" and args[i + 1] != "/tmp"]
    return [*args, *(a for p in (*made, "/dev", "/") for a in ("--remount-ro", p)), "--"]


def _namespaces() -> list[str]:
    args = [f"--unshare-{name}" for name in ("pid", "net", "ipc", "uts", "cgroup-try")]
    if os.geteuid() == 0:  # leaves root for good as its first act inside
        return [*args, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return ["--unshare-user", *args]


def _shown(path: Path, place: Path | None = None) -> list[str]:
    """Show a file or folder, read-only, in the same place or another."""
    place = place or path
    if not path.exists():
        return []
    if path.is_symlink() and path.parent == Path("/"):
        return ["--symlink", os.readlink(path), str(path)]
    return [*_above(place), "--ro-bind", str(path), str(place)]


def _above(path: Path) -> list[str]:
    """The folders above, made so that everybody can enter them."""
    above = reversed(path.parents[:-1])
    return [arg for p in above for arg in ("--perms", "0755", "--dir", str(p))]


def _empty(folder: Path) -> list[str]:
    return [*_above(folder), "--perms", "0755", "--tmpfs", str(folder)]


def _python(parts: Path) -> list[str]:
    """This Python and its packages; of the repository, should it lie among them, nothing."""
    places = [Path(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix, *site_packages())]
    ours = [p for p in places if p.is_relative_to(REPOSITORY)]
    args = [arg for p in _outermost(places, ours) for arg in _shown(p)]
    if REPOSITORY not in map(Path, site_packages()):
        args += _empty(REPOSITORY)
        args += [arg for p in _outermost(ours, []) for arg in _shown(p)]
    for name in ("autograder", "course", "tests"):
        if any((Path(p) / name).is_dir() for p in site_packages()):
            folder = next(Path(p) / name for p in site_packages() if (Path(p) / name).is_dir())
            args += [*_empty(folder), *_not_here(folder / "__init__.py", parts)]
    return args


def site_packages() -> list[str]:
    return [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]


def _outermost(places: Sequence[Path], but: Sequence[Path]) -> list[Path]:
    """The places that lie in no other one, nor in /usr, which is there already."""
    found = [Path("/usr")]
    for place in sorted(set(places) - set(but), key=lambda p: len(p.parts)):
        if place.exists() and not any(place.is_relative_to(p) for p in found):
            found.append(place)
    return found[1:]


def _blocklab(unit: str, parts: Path) -> list[str]:
    """blocklab, entry by entry: what is left out is then not there to be found."""
    folder = blocklab_folder()
    left_out = ("checks", "misconceptions", "reference", "solutions.json", "__pycache__")
    args = _empty(folder)
    for entry in sorted(folder.iterdir()):
        if entry.name == "catalogue.json":
            args += _shown(parts / entry.name, entry)
        elif entry.name not in left_out:
            args += _shown(entry)
    for name in ("checks", "misconceptions"):
        args += _not_here(folder / name / "__init__.py", parts)
    for module in sorted((folder / "reference").glob("*.py")):
        known = module.stem == "__init__" or _earlier(module.stem, unit)
        args += _shown(module) if known else _not_here(module, parts)
    return args


def blocklab_folder() -> Path:
    return Path(catalogue.__file__).resolve().parent


def _earlier(module: str, unit: str) -> bool:
    """Whether a module of the reference belongs to a unit before this one."""
    known = sorted(catalogue.MODULES)
    before = known[: known.index(unit)] if unit in known else []
    names = [catalogue.MODULES[u] for u in before]
    return any(module == name or module.startswith(f"{name}_") for name in names)


def _not_here(module: Path, parts: Path) -> list[str]:
    """In its place a module that says so: an empty folder would import without a word."""
    return _shown(parts / "not_here.py", module)


class Warm:
    """The sandbox's first process, from outside: it starts kernels and knows how they ended.

    It may be used from several threads. trial: one that only builds the walls, without torch.
    """

    def __init__(self, unit: str, limits: Limits, trial: bool = False) -> None:
        self._unit, self._limits, self._trial = unit, limits, trial
        self._lock = threading.RLock()
        self._process: subprocess.Popen | None = None
        self._folder: Path | None = None  # also where the kernels' sockets are

    def start(self) -> None:
        """Start it, or start it again. Raises SandboxError with what the sandbox said."""
        self._end()
        self._control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(120)
        settings = {"limits": asdict(self._limits), "path": self._path(), "trial": self._trial}
        settings["uid"] = UID if os.geteuid() == 0 else None
        program = [sys.executable, "-I", "-c", START, str(inner.fileno()), json.dumps(settings)]
        with inner, open(self.folder / "stderr", "wb") as errors:
            self._process = subprocess.Popen(
                [*command(self._unit, self.folder), *program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=[inner.fileno()],
                cwd="/",
            )
        self._receive()

    @property
    def folder(self) -> Path:
        """A folder that only the grader sees, until `close`."""
        self._folder = self._folder or _parts(self._unit)
        return self._folder

    def _path(self) -> list[str]:
        return [*site_packages(), str(blocklab_folder().parent)]

    def launch(self, sockets: Sequence[int], ip: str, key: str) -> tuple[int, int]:
        """A new kernel on these listening sockets: its number, and a pidfd to watch and signal it.

        Raises SandboxError where it cannot be started, twice.
        """
        message = json.dumps({"kernel": {"ip": ip, "key": key}}).encode()
        with self._lock:
            for attempt in (1, 2):
                try:
                    if self._process is None or self._process.poll() is not None:
                        self.start()
                    socket.send_fds(self._control, [message], sockets)
                    answer, (pidfd,) = self._receive()
                    return answer["pid"], pidfd
                except (OSError, SandboxError):
                    self._end()
                    if attempt == 2:
                        raise
        raise AssertionError

    def ended(self, pid: int) -> int:
        """How a kernel that is gone ended: its exit code, or minus the number of a signal."""
        with self._lock:
            for _ in range(20):
                try:
                    self._control.send(json.dumps({"ended": pid}).encode())
                    code = self._receive()[0]["code"]
                except (OSError, SandboxError):
                    break  # everything in there is gone
                if code is not None:
                    return code
                time.sleep(0.01)
        return -9

    def _receive(self) -> tuple[dict[str, Any], list[int]]:
        try:
            message, fds, _, _ = socket.recv_fds(self._control, 65536, 1)
        except TimeoutError as error:
            raise SandboxError("the sandbox does not answer") from error
        answer = json.loads(message) if message else {"error": self._said()}
        if "error" in answer:
            raise SandboxError(answer["error"])
        return answer, fds

    def _said(self) -> str:
        """What bubblewrap or Python wrote as it ended."""
        assert self._process is not None
        self._process.wait(10)
        said = (self.folder / "stderr").read_text("utf-8", "replace").strip()
        return said or f"the sandbox ended with code {self._process.returncode}"

    def _end(self) -> None:
        if self._process is None:
            return
        self._control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def close(self) -> None:
        """End it and with it every kernel: it lives as long as this end of the socket."""
        with self._lock:
            self._end()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None


def _parts(unit: str) -> Path:
    """A new folder with the few files that the sandbox shows and that are written for it."""
    short = None if len(tempfile.gettempdir()) < 60 else "/tmp"  # a socket's path has 107 bytes
    folder = Path(tempfile.mkdtemp(prefix="blocklab-", dir=short))
    uid, gid = (UID, UID) if os.geteuid() == 0 else (os.getuid(), os.getgid())
    files = {
        "passwd": f"student:x:{uid}:{gid}::/tmp:/bin/sh\n",
        "group": f"student:x:{gid}:\n",
        "hosts": "127.0.0.1 localhost\n",
        "not_here.py": NOT_HERE,
        "catalogue.json": _without_hints(unit),
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
        (folder / name).chmod(0o644)
    return folder


def _without_hints(unit: str) -> str:
    """The course's catalogue, where hints of this unit and later ones are left out."""
    known = json.loads((blocklab_folder() / "catalogue.json").read_text("utf-8"))
    for entry in known.values():
        entry["hints"] = entry["hints"] if entry["unit"] < unit else []
    return json.dumps(known)


@functools.cache
def unavailable() -> Text | None:
    """Why students' code cannot be walled in on this machine, and what to choose; None if it can.

    It is tried: a sandbox is built and a process in it walled off, without torch.
    """
    if sys.platform != "linux":
        return refusals.NOT_LINUX
    if shutil.which("bwrap") is None:
        return refusals.NO_BWRAP
    warm = Warm("", Limits(), trial=True)
    try:
        os.close(warm.launch([], "", "")[1])
    except (OSError, SandboxError) as error:
        return refusals.why(str(error), refusals.in_container())
    finally:
        warm.close()
    return None
