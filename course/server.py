"""How `python run.py start` serves notebooks: as JupyterLab does, but prompt for widgets."""

from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """A kernel's connection that sends every message at once.

    The operating system would gather small messages, and a widget would answer a change 40 ms later
    (Nagle's algorithm, RFC 896).
    """

    def connect(self) -> Any:
        self.websocket_handler.set_nodelay(True)
        return super().connect()
