"""The process inside the sandbox: imports torch and ipykernel once, then forks a kernel on request.

It listens on one socket. {"kernel": …} with five listening sockets starts a kernel and answers
with its pid and pidfd; {"ended": pid} answers how that kernel ended. As the first process of its
namespace it is everybody's last parent, and when its socket ends, so does everything in here.
"""

import contextlib
import gc
import importlib
import json
import os
import socket
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder import confine

PRELOADED = (
    *("numpy", "torch", "jaxtyping", "safetensors.torch", "ipykernel.debugger"),
    *("ipykernel.ipkernel", "ipykernel.zmqshell", "matplotlib_inline", "autograder.inside"),
    *("blocklab", "blocklab.probe", "blocklab.wire", "blocklab.mine"),
    *("blocklab.widgets.answering", "blocklab.widgets.fill_in", "blocklab.widgets.paint_mask"),
    *("blocklab.config", "blocklab.rotary", "matplotlib.pyplot"),
    # What a kernel itself imports as it starts, which takes half of that time.
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect", "sqlite3"),
    *("IPython.extensions.storemagic", "numpy.random", "pdb", "tornado.platform.asyncio"),
    *("IPython.core.logger", "encodings.utf_16_be", "faulthandler", "secrets", "zmq.utils.garbage"),
)
FILES = os.listdir(Path(__file__).parent)  # of this package: here, only those the sandbox shows
OWN = ("autograder", *(f"autograder.{name.removesuffix('.py')}" for name in FILES))
FIRST = 3  # the number of the first socket in a kernel


def main() -> None:
    """Arguments: the number of the control socket, and the settings as JSON."""
    control = socket.socket(fileno=int(sys.argv[1]))
    settings = json.loads(sys.argv[2])
    sys.argv[1:] = []
    try:
        if settings["uid"] is not None:
            confine.leave_root(settings["uid"])
        preload(() if settings["trial"] else PRELOADED, settings["path"])
    except BaseException:
        control.send(_error())
        return
    control.send(b"{}")
    serve(control, settings["limits"])


def _error() -> bytes:
    return json.dumps({"error": traceback.format_exc()[-4000:]}).encode()


def preload(modules: Sequence[str], path: Sequence[str]) -> None:
    """Import what kernels need. Nothing here may start a thread: threads do not survive a fork."""
    sys.path += [folder for folder in path if folder not in sys.path]
    for name in modules:
        importlib.import_module(name)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
        torch.testing.assert_close(torch.ones(1), torch.ones(1))  # imports much at its first call
    gc.collect()
    gc.freeze()


def serve(control: socket.socket, limits: Mapping[str, int]) -> None:
    """Answer requests until the other end closes."""
    ended: dict[int, int] = {}
    while True:
        message, sockets, _, _ = socket.recv_fds(control, 65536, 8)
        if not message:
            return
        request = json.loads(message)
        _reap(ended)
        if "ended" in request:
            control.send(json.dumps({"code": ended.pop(request["ended"], None)}).encode())
            continue
        if os.fork() == 0:
            _help(control, sockets, request["kernel"], limits)
        for number in sockets:
            os.close(number)


def _reap(ended: dict[int, int]) -> None:
    """Note how every child that is gone ended; kernels become children when their helper ends."""
    with contextlib.suppress(ChildProcessError):
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            ended[child[0]] = os.waitstatus_to_exitcode(child[1])


def _help(control: socket.socket, *work: Any) -> None:
    """Launch a kernel, say what went wrong, and end this process in any case."""
    try:
        launch(control, *work)
    except BaseException:
        control.send(_error())
    finally:
        os._exit(0)


def launch(
    control: socket.socket,
    sockets: Sequence[int],
    kernel: Mapping[str, Any],
    limits: Mapping[str, int],
) -> None:
    """In a helper process: build the walls, fork the kernel into them, and answer."""
    base = confine.size()
    confine.enter_namespaces(limits["disk"])
    trouble, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(trouble)
        control.close()
        _become_kernel(sockets, kernel, limits, base, tell)
    os.close(tell)
    said = os.read(trouble, 65536)
    if said:
        control.send(said)
    else:
        answer = json.dumps({"pid": pid}).encode()
        socket.send_fds(control, [answer], [os.pidfd_open(pid)])


def _become_kernel(
    sockets: Sequence[int],
    kernel: Mapping[str, Any],
    limits: Mapping[str, int],
    base: Mapping[str, int],
    tell: int,
) -> None:
    """The first process of the new namespaces: confined, then a kernel; never returns."""
    code = 1
    try:
        os.setsid()
        os.chdir("/tmp")
        sockets, tell = _arrange(sockets, tell)
        confine.set_limits(limits, base)
        confine.drop_privileges()
        confine.landlock()
        confine.seccomp()
        start = _kernel(sockets, kernel, limits["output"] // 2)
        os.close(tell)
        start()
        code = 0
    except BaseException:
        with contextlib.suppress(OSError):
            os.write(tell, _error())
    finally:
        os._exit(code)


def _arrange(sockets: Sequence[int], tell: int) -> tuple[list[int], int]:
    """Keep only these open: the sockets from FIRST on, then `tell`; 0, 1 and 2 lead nowhere."""
    kept = [os.dup2(number, 100 + i) for i, number in enumerate((*sockets, tell))]
    nowhere = os.open("/dev/null", os.O_RDWR)
    for number in range(FIRST):
        os.dup2(nowhere, number)
    numbers = [os.dup2(number, FIRST + i, False) for i, number in enumerate(kept)]
    os.closerange(FIRST + len(numbers), 65536)
    return numbers[:-1], numbers[-1]


def _kernel(sockets: Sequence[int], kernel: Mapping[str, Any], longest: int) -> Callable[[], None]:
    """What starts the kernel; nothing of this module is left where a student would look first."""
    inside: Any = sys.modules.get("autograder.inside")
    for name in OWN:
        sys.modules.pop(name, None)
    sys.path.remove("/warm")
    if inside is None:  # a trial of the walls
        return lambda: None
    return inside.kernel(sockets, kernel["ip"], kernel["key"], longest).start
