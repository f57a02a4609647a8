"""Kernels for students' code, as nbclient and nbgrader use them, inside the sandbox or without it.

    with Sandbox("02_rms_norm") as sandbox:
        NotebookClient(notebook, km=sandbox.kernel_manager()).execute()

A manager is an `AsyncKernelManager` in everything. Besides, `await manager.ended()` returns as
soon as the kernel is gone, and whoever waits for a reply on its clients is then told at once.
"""

import asyncio
import itertools
import os
import secrets
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any, Literal

import zmq
import zmq.asyncio
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase

from autograder.channels import BoundedClient, bounded
from autograder.frames import ready
from autograder.inside import PORTS
from autograder.sandbox import Limits, SandboxError, Warm, unavailable
from blocklab.text import Text

COMMAND = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
QUIET = "--IPKernelApp.log_level=50"


class Sandbox:
    """Where the kernels of many submissions to one unit run; a context manager.

    unit: a unit such as "02_rms_norm", whose reference stays out of reach.
    isolation: "bwrap", or "none" for ordinary kernels, which can do what you can.
    limits: for each kernel; with "none" only those on output and messages hold.
    Raises ValueError for any other isolation, and on entering SandboxError where students' code
    cannot be walled in.
    """

    def __init__(
        self,
        unit: str,
        isolation: Literal["bwrap", "none"] = "bwrap",
        limits: Limits | None = None,
    ) -> None:
        if isolation not in ("bwrap", "none"):
            raise ValueError(f"isolation {isolation!r}: choose bwrap or none")
        self.unit, self.isolation, self.limits = unit, isolation, limits or Limits()
        self._warm = Warm(unit, self.limits)

    @staticmethod
    def available() -> Text | None:
        """Why students' code cannot be walled in here, and what to choose; None if it can."""
        return unavailable()

    def __enter__(self) -> "Sandbox":
        if self.isolation == "bwrap":
            if reason := unavailable():
                raise SandboxError(str(reason))
            self._warm.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._warm.close()

    def kernel_manager(self) -> "BoundedManager":
        """A manager of one kernel, not started yet."""
        if self.isolation == "none":
            return BoundedManager(limits=self.limits)
        return BoundedManager(limits=self.limits, warm=self._warm)


class BoundedManager(AsyncKernelManager):
    """One kernel, and clients that neither its silence, its floods nor its death can harm.

    warm: the sandbox that starts the kernel; without one it is an ordinary process.
    """

    def __init__(self, *, limits: Limits, warm: Warm | None = None) -> None:
        super().__init__(client_class="autograder.channels.BoundedClient")
        self.limits = limits
        self._warm = warm

    def _context_default(self) -> zmq.asyncio.Context:
        self._created_context = True
        return bounded(zmq.asyncio.Context(), self.limits)

    @property
    def kernel_spec(self) -> KernelSpec:
        """This Python's own kernel, whatever kernels are installed for the user."""
        return KernelSpec(argv=[*COMMAND, QUIET], display_name="Python 3", language="python")

    async def _async_pre_start_kernel(self, **options: Any) -> tuple[list[str], dict[str, Any]]:
        if self.provisioner is None:
            kind = LocalProvisioner if self._warm is None else SandboxProvisioner
            self.provisioner = kind(parent=self, kernel_spec=self.kernel_spec)
        if isinstance(self.provisioner, SandboxProvisioner):
            self.provisioner.warm = self._warm
        return await super()._async_pre_start_kernel(**options)

    def client(self, **options: Any) -> BoundedClient:
        """An asynchronous client, what nbclient wants."""
        client: Any = super().client(**options)
        return client

    async def _async_request_shutdown(self, restart: bool = False) -> None:
        """Nothing that a student's kernel would say in its last second is worth the wait."""
        await self._async_kill_kernel(restart)

    async def ended(self) -> int:
        """Wait until the kernel is gone; its exit code, or minus the number of a signal."""
        if isinstance(self.provisioner, SandboxProvisioner):
            return await self.provisioner.ended()
        while self.provisioner is not None and self.provisioner.has_process:
            if (code := await self.provisioner.poll()) is not None:
                return code
            await asyncio.sleep(0.05)
        return 0


class SandboxProvisioner(KernelProvisionerBase):
    """Jupyter's way to a kernel that a `Warm` process forks.

    The five sockets are made here, in a folder that no student sees, and handed in listening.
    """

    warm: Warm | None = None
    _numbers = itertools.count(1)
    _pid = 0
    _pidfd: int | None = None
    _code: int | None = None

    @property
    def has_process(self) -> bool:
        return self._pidfd is not None

    async def pre_launch(self, **options: Any) -> dict[str, Any]:
        return {**await super().pre_launch(**options), "cmd": []}

    async def launch_kernel(self, cmd: list[str], **_: Any) -> Any:
        """Start a kernel. Raises SandboxError."""
        assert self.warm is not None
        manager: Any = self.parent
        place, key = self._place(), manager.session.key.decode() or secrets.token_hex(16)
        sockets = [self._listen(f"{place}-{n}") for n in range(1, len(PORTS) + 1)]
        try:
            numbers = [s.fileno() for s in sockets]
            self._pid, self._pidfd = self.warm.launch(numbers, place, key)
        finally:
            for s in sockets:
                s.close()
        self._code = None
        manager.connection_file = f"{place}.json"
        ports = {name: number for number, name in enumerate(PORTS, 1)}
        scheme = manager.session.signature_scheme
        own = {"ip": place, "key": key.encode(), "transport": "ipc", "signature_scheme": scheme}
        return {**own, **ports}

    def _place(self) -> str:
        """The beginning of the sockets' paths, the same after a restart."""
        assert self.warm is not None
        manager: Any = self.parent
        if manager.transport == "ipc":
            return manager.ip
        return str(self.warm.folder / str(next(self._numbers)))

    @staticmethod
    def _listen(path: str) -> socket.socket:
        Path(path).unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(path)
        listening.listen(16)
        return listening

    async def poll(self) -> int | None:
        if self._pidfd is None:
            return 0 if self._code is None else self._code
        if self._code is None and select.select([self._pidfd], [], [], 0)[0]:
            assert self.warm is not None
            self._code = self.warm.ended(self._pid)
        return self._code

    async def ended(self) -> int:
        """Wait for the end of the process, without asking again and again."""
        while (code := await self.poll()) is None:
            assert self._pidfd is not None
            await ready(self._pidfd)
        return code

    async def wait(self) -> int:
        code = await self.ended()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        return code

    async def send_signal(self, signum: int) -> None:
        if self._pidfd is not None and await self.poll() is None:
            signal.pidfd_send_signal(self._pidfd, signum)

    async def kill(self, restart: bool = False) -> None:
        """End the kernel and, with it, everything it has started."""
        await self.send_signal(signal.SIGKILL)
        await self.ended()

    async def terminate(self, restart: bool = False) -> None:
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        if self._pidfd is not None and await self.poll() is not None:
            await self.wait()
