"""What a kernel that lies, forges or floods can do to the reader of its messages: nothing."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from nbclient import NotebookClient

from autograder import channels
from autograder.kernel import Sandbox
from autograder.sandbox import Limits
from tests.autograder.kernels import kernel, need_sandbox, notebook


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    need_sandbox()
    with Sandbox("02_rms_norm", limits=Limits(message=4 << 20)) as made:
        yield made


LIES = """
from IPython import get_ipython
kernel = get_ipython().kernel
def say(kind, content):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent())
say("stream", {"name": "nowhere", "text": 3})
say("stream", {})
say("status", {})
say("display_data", {"data": {"text/html": {"a": 1}}, "metadata": {}})
say("display_data", {"data": [], "metadata": 3})
say("execute_result", {"data": {}, "metadata": {}, "execution_count": "many"})
say("error", {"ename": 1, "evalue": None, "traceback": "x"})
say("comm_open", {"comm_id": 3})
say("clear_output", {})
say("no such kind", {})
kernel.session.key, key = b"another", kernel.session.key
say("stream", {"name": "stdout", "text": "forged"})
kernel.session.key = key
kernel.iopub_socket.send_multipart([b"nonsense"])
kernel.iopub_socket.send_multipart([b"<IDS|MSG>", b"", b"{", b"}", b"[", b"]"])
print("the truth")
"""


def test_lies_on_the_channel_of_outputs_are_passed_over(sandbox):
    nb = notebook(LIES, "2")
    NotebookClient(nb, km=sandbox.kernel_manager(), allow_errors=True).execute()
    assert [o.get("text") for o in nb.cells[0].outputs] == ["the truth\n"]
    assert nb.cells[1].outputs[0].data["text/plain"] == "2"


@pytest.mark.parametrize(
    "content",
    [
        {"status": 3},
        {},
        {"status": "error"},
        {"status": "error", "ename": "E", "evalue": "", "traceback": "x"},
        {"status": "ok", "execution_count": "many"},
    ],
)
def test_a_reply_that_is_none_is_not_sound(content):
    message = {"header": {"msg_type": "execute_reply"}, "content": content}
    assert not channels.sound(message)


def test_a_reply_that_is_too_large_is_an_error(sandbox):
    async def asked() -> dict[str, Any]:
        async with kernel(sandbox) as (_, client):
            big = client.execute("", user_expressions={"x": "'x' * 8_000_000"})
            reply = await client.get_shell_msg(timeout=5)
            assert reply["parent_header"]["msg_id"] == big
            return reply["content"]

    content = asyncio.run(asked())
    assert (content["status"], content["evalue"]) == (
        "error",
        "a message of more than 4,194,304 bytes",
    )


FLOOD = """
from IPython import get_ipython
kernel = get_ipython().kernel
stranger = {**kernel.get_parent(), "header": {"msg_id": "a stranger"}}
def say(text, parent):
    content = {"name": "stdout", "text": text}
    kernel.session.send(kernel.iopub_socket, "stream", content, parent=parent)
"""


@pytest.mark.parametrize(
    "flood",
    [
        "for _ in range(30): say('x' * 300_000, kernel.get_parent()); say('x', stranger)",
        "for _ in range(5000): say('', kernel.get_parent())",
        "from jupyter_client.session import Session\n"
        "kernel.session.send = Session(key=kernel.session.key).send\n"
        "say('x' * 8_000_000, kernel.get_parent()); say('never shown', kernel.get_parent())",
    ],
    ids=["large ones, and a stranger's between them", "empty ones", "one that is too large"],
)
def test_what_a_cell_shows_is_cut_once_and_the_next_cell_begins_anew(sandbox, flood):
    nb = notebook(f"{FLOOD}{flood}", "print('fine')")
    settings = {"km": sandbox.kernel_manager(), "allow_errors": True, "iopub_timeout": 60}
    NotebookClient(nb, **settings).execute()
    shown = [output.text for output in nb.cells[0].outputs]
    assert shown[-1] == channels.CUT.format(output=sandbox.limits.output)
    assert "never shown" not in "".join(shown)
    assert len(shown) <= sandbox.limits.output / channels.LEAST + 1
    assert [output.text for output in nb.cells[1].outputs] == ["fine\n"]
