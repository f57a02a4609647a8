"""The kernel that a forked child becomes. Its sockets were opened outside and handed in."""

import random
from collections.abc import Sequence
from typing import Any

import numpy
import zmq
from ipykernel.heartbeat import Heartbeat
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.session import Session
from traitlets.config import Config

PORTS = ("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port")
CUT = "\n… cut …\n"


class HandedIn(IPKernelApp):
    """A kernel whose port number n is the n-th of the listening sockets that it was given."""

    handed: Sequence[int] = ()

    def parse_command_line(self, argv: Any = None) -> None:
        """There is none."""

    def load_config_file(self, suppress_errors: bool | None = None) -> None:
        """There is none: `kernel` says all that is set."""

    def _try_bind_socket(self, s: zmq.Socket, port: int) -> int:
        s.setsockopt(zmq.USE_FD, self.handed[port - 1])
        s.setsockopt(zmq.SNDHWM, 0)  # what is not read yet takes the kernel's memory; none is lost
        super()._try_bind_socket(s, port)
        if port == self.shell_port:
            s.bind("inproc://shell")  # where the debugger finds it: the path is not in here
        return port

    def init_heartbeat(self) -> None:
        context = zmq.Context()
        context.setsockopt(zmq.USE_FD, self.handed[self.hb_port - 1])
        self.heartbeat = Heartbeat(context, (self.transport, self.ip, self.hb_port))
        self.heartbeat.start()


class Brief(Session):
    """A session that cuts what is too long to show, so that a message stays small enough to send.

    It helps honest notebooks; what a dishonest kernel sends is bounded where it arrives.
    """

    longest = 2**20

    def send(
        self, stream: Any, msg_or_type: Any, content: Any = None, *rest: Any, **options: Any
    ) -> Any:
        """As `Session.send`, with the long texts of outputs and errors cut."""
        kind = msg_or_type if isinstance(msg_or_type, str) else msg_or_type["msg_type"]
        if kind == "execute_reply" and content:
            shown = {k: self.cut(v) for k, v in content.items() if k in ("evalue", "traceback")}
            content = {**content, **shown}
        elif kind in ("stream", "display_data", "update_display_data", "execute_result", "error"):
            if isinstance(msg_or_type, str):
                content = self.cut(content)
            else:
                msg_or_type = {**msg_or_type, "content": self.cut(msg_or_type["content"])}
        return super().send(stream, msg_or_type, content, *rest, **options)

    def cut(self, shown: Any) -> Any:
        """The same with long strings cut in the middle; a picture that is too big is left out."""
        if isinstance(shown, str) and len(shown) > self.longest:
            half = self.longest // 2
            return shown[:half] + CUT + shown[-half:]
        if isinstance(shown, list):
            return [self.cut(part) for part in shown[:1000]]
        if isinstance(shown, dict):
            return {k: self.cut(v) for k, v in shown.items() if not self._too_big(k, v)}
        return shown

    def _too_big(self, key: Any, value: Any) -> bool:
        return str(key).startswith("image/") and len(value) > self.longest


def kernel(sockets: Sequence[int], ip: str, key: str, longest: int) -> IPKernelApp:
    """A Jupyter kernel on its sockets, about to start.

    sockets: listening, in the order of PORTS; ip: what names them outside; key: signs messages;
    longest: characters of one text in an output.
    """
    random.seed()
    numpy.random.seed()
    config = Config()
    config.HistoryManager.enabled = False  # of earlier sessions; this one has its own
    config.HandedIn.log_level = 50
    config.Kernel._execute_sleep = 0.0  # whoever waits for a cell waits for its outputs as well
    ports: Any = {name: number for number, name in enumerate(PORTS, 1)}
    app = HandedIn(config=config, transport="ipc", ip=ip, connection_file="/tmp/.kernel", **ports)
    app.handed = sockets
    app.session = Brief(parent=app, key=key.encode())
    app.session.longest = longest
    app.initialize([])
    return app
