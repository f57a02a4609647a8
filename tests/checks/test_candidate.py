"""A check says the same of an answer here and of the same answer in another process."""

import base64
import math

import pytest
import torch
from jupyter_client.manager import KernelManager

from autograder.candidate import KernelCandidate, asked, reply_text
from blocklab import catalogue, functions, probe, wire
from blocklab.checks.candidate import LocalCandidate
from blocklab.checks.examine import examine
from blocklab.checks.property import Draw

pytestmark = pytest.mark.xdist_group("kernel")
SET_UP = """
from blocklab import catalogue
from blocklab.misconceptions import variants
for name in catalogue.exercises():
    globals()[name] = {answer}
"""
FIRST_FLAG = (
    "(lambda known: known.variant(frozenset([next(iter(known.flags))])))"
    "(catalogue.part('misconceptions', name))"
)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    place = str(tmp_path_factory.mktemp("kernel") / "socket")  # a free port may be taken meanwhile
    manager = KernelManager(kernel_name="python3", transport="ipc", ip=place)
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def candidate(kernel) -> KernelCandidate:
    def evaluate(expression: str) -> str:
        message = kernel.execute(**asked(expression))
        reply = kernel.get_shell_msg(timeout=30)
        while reply["parent_header"].get("msg_id") != message:
            reply = kernel.get_shell_msg(timeout=30)
        return reply_text(reply["content"])

    return KernelCandidate(evaluate)


@pytest.mark.parametrize(
    "answer", ["catalogue.reference(name)", FIRST_FLAG], ids=["right", "wrong"]
)
def test_every_check_says_the_same_here_and_in_another_process(kernel, answer):
    code = SET_UP.format(answer=answer)
    assert kernel.execute_interactive(code, timeout=60)["content"]["status"] == "ok"
    here: dict = {}
    exec(code, here)
    for name in catalogue.exercises():
        local = examine(name, LocalCandidate(here), seed=11)
        remote = examine(name, candidate(kernel), seed=11)
        assert remote.passed == (answer != FIRST_FLAG)
        assert local.html("ko") == remote.html("ko"), name
        assert (local.score, local.diagnosis) == (remote.score, remote.diagnosis)


def test_a_missing_answer_is_missing_there_too(kernel):
    assert candidate(kernel).run("never_defined", [])[0] == "missing"


@pytest.mark.parametrize(
    "reply",
    ["", "'no base64!'", "1.0", repr(base64.b64encode(wire.dumps(["function", []])).decode())],
)
def test_a_reply_that_is_none_is_refused(reply):
    with pytest.raises(wire.WireError):
        KernelCandidate(lambda expression: reply).run("rms_norm", [[probe.Read()]])


@pytest.mark.parametrize("name", catalogue.exercises())
def test_the_probes_of_every_check_survive_the_wire(name):
    probes = [p.steps for p in catalogue.part("checks", name)(Draw(5))]
    sent = wire.loads(wire.dumps(probes))
    reference, others = catalogue.reference(name), vars(catalogue.module_of("reference", name))
    outcomes = probe.run(probes, reference, others)
    assert wire.dumps(probe.run(sent, reference, others)) == wire.dumps(outcomes)


def test_numbers_and_tensors_survive_the_wire_exactly():
    x = torch.randn(2, 3).bfloat16()
    value = [math.inf, 2**70, True, None, "글", {"a": x, "b": [x.T, 1.5]}, functions.Scale(2.0)]
    back = wire.loads(wire.dumps(value))
    assert back[:5] == value[:5] and math.isnan(wire.loads(wire.dumps(math.nan)))
    assert torch.equal(back[5]["b"][0], x.T) and back[5]["a"].dtype == torch.bfloat16


@pytest.mark.parametrize("junk", [b"", b"\x00" * 20, b"\xff" * 64, b'{"a": 1}'])
def test_bytes_that_are_no_message_are_an_error(junk):
    with pytest.raises(wire.WireError):
        wire.loads(junk)


def test_an_object_that_is_not_data_cannot_be_sent():
    with pytest.raises(TypeError, match="cannot be sent"):
        wire.dumps([object()])
