"""Attacks on what the judge reads: outcomes, bytes and messages that student code made up."""

from tests.attacks.arena import Attack

TOOLS = r"""
import base64, json, os, struct, time
from blocklab import functions, plain, probe, wire
from blocklab.probe import Outcome, Problem
from blocklab.text import Text
MADE, real_run, real_dumps = object(), probe.run, wire.dumps
kernel, asked = get_ipython().kernel, []
real_send = kernel.session.send
def run(probes, answer, others):
    asked[:] = [answer] if getattr(answer, "__name__", "") == "rms_norm" else []
    return forged(probes) if asked else real_run(probes, answer, others)
def forged(probes):
    return [[outcome(s) for s in steps] for steps in probes]
def as_bytes(value):
    return raw() if isinstance(value, list) and value[-1] is MADE else real_dumps(value)
def send(stream, kind, content=None, parent=None, *rest, **options):
    if kind == "execute_reply" and asked and content.get("user_expressions"):
        return reply(lambda c=content, p=parent: real_send(stream, kind, c, p, *rest, **options),
                     content, parent)
    return real_send(stream, kind, content, parent, *rest, **options)
def reply(go, content, parent): return go()
def ok(text): return {"status": "ok", "execution_count": 0, "payload": [], "user_expressions":
    {"outcome": {"status": "ok", "metadata": {}, "data": {"text/plain": text}}}}
def message(tree, **tensors):
    from safetensors.torch import save
    return save(tensors or {"none": torch.zeros(1)}, {"tree": json.dumps(tree)})
probe.run, wire.dumps, kernel.session.send = run, as_bytes, send
"""
OF_NO_USE = "no answer to this check"


def outcome(made: str, **options: str) -> Attack:
    """Every outcome is `made`, an expression of the step s."""
    return Attack(f"{TOOLS}\ndef outcome(s): return {made}", **options)  # type: ignore[arg-type]


def outcomes(made: str, says: str = OF_NO_USE, **options: str) -> Attack:
    """All outcomes together are `made`, an expression of the probes."""
    return Attack(f"{TOOLS}\ndef forged(probes): return {made}", says=says, **options)  # type: ignore[arg-type]


def raw(made: str, says: str = OF_NO_USE, **options: str) -> Attack:
    """The bytes of the message are `made`."""
    code = f"{TOOLS}\ndef forged(probes): return MADE\ndef raw(): return {made}"
    return Attack(code, says=says, **options)  # type: ignore[arg-type]


def sent(lines: str, says: str = "", **options: str) -> Attack:
    """The reply is sent by these lines, which have go, content and parent."""
    body = "\n".join(f"    {line}" for line in lines.splitlines())
    code = f"{TOOLS}\ndef outcome(s): return Outcome(s.args[0])"
    return Attack(f"{code}\ndef reply(go, content, parent):\n{body}", says=says, **options)  # type: ignore[arg-type]


def tree(made: str, says: str = OF_NO_USE, **options: str) -> Attack:
    """The reply's tree of JSON, where each outcome's fields are `made`."""
    code = (
        "def forged(probes):\n    globals().update(n=[len(s) for s in probes])\n    return MADE\n"
        f"def raw(): return message(['function', [[{made}] * k for k in n]])"
    )
    return Attack(f"{TOOLS}\n{code}", says=says, **options)  # type: ignore[arg-type]


FORGING = {
    "outcomes of NaN": outcome("Outcome(s.args[0] * float('nan'))", says="NaN"),
    "outcomes of inf": outcome("Outcome(s.args[0] * 0 + float('inf'))", says="values differ"),
    "minus inf in half precision": outcome("Outcome((s.args[0] - 1e30).half())"),
    "claims of passing": outcome("Outcome(True)", says="True (bool)"),
    "a score as outcome": outcome("Outcome(3.0)", says="3.0 (float)"),
    "gradients that are strings": outcome(
        "Outcome(torch.nn.functional.rms_norm(s.args[0].float(), s.args[1].shape, "
        "s.args[1].float(), s.args[2]).to(s.args[0].dtype), gradients={'0': 'right', '1': 'x'})",
        says=OF_NO_USE,
    ),
    "gradients of zeros": outcome(
        "Outcome(torch.nn.functional.rms_norm(s.args[0].float(), s.args[1].shape, "
        "s.args[1].float(), s.args[2]).to(s.args[0].dtype), "
        "gradients={'0': s.args[0] * 0, '1': s.args[1] * 0})",
        says="the gradient with respect to x is not",
    ),
    "an error that is false": outcome("Outcome(s.args[0], error='')"),
    "an error that is a number": outcome("Outcome(s.args[0], error=7)", says=OF_NO_USE),
    "an error that says nothing was missing": outcome("Outcome(error=probe.MISSING)"),
    "an error of tensors": outcome(
        "Outcome(error=Problem(torch.ones(9), torch.ones(9), torch.ones(9)))"
    ),
    "a module with lying shapes": outcome("Outcome(plain.Module({'gain': s.args[0].shape}))"),
    "a strange thing of kind Tensor": outcome("Outcome(plain.Strange('Tensor'))"),
    "a described function": outcome("Outcome(functions.Linear(s.args[0]))"),
    "a call in the place of a value": outcome("Outcome(s)"),
    "a text in two languages": outcome("Outcome(Text('right', 'right'))"),
    "an outcome in an outcome": outcome("Outcome(Outcome(Outcome(s.args[0])))"),
    "a sparse tensor": outcome("Outcome(s.args[0].to_sparse())"),
    "an expanded zero": outcome("Outcome(torch.zeros(1).expand(s.args[0].shape))"),
    "integers of the right shape": outcome("Outcome(s.args[0].long())", says="dtype"),
    "complex numbers": outcome("Outcome(s.args[0].to(torch.complex64))", says="dtype"),
    "tensors of 40 kB each": outcome("Outcome(torch.zeros(10_000))", says="The shape is (10000,)"),
    "a reply beyond every limit": outcome(
        "Outcome(torch.zeros(100_000))", says="a message of more than 4,194,304 bytes"
    ),
    "a list of 2,000": outcome("Outcome(list(range(2000)))", says=OF_NO_USE),
    "a string of a million": Attack("", "def rms_norm(x, gain, eps): return 'x' * 1_000_000"),
    "an exception of a million words, forged": outcome(
        "Outcome(error=Problem('E', 'x ' * 300_000, ''))", says=OF_NO_USE
    ),
    "a whole number of 2,000 digits": Attack(
        "", "def rms_norm(x, gain, eps): return 10 ** 2000", seconds=4
    ),
    "too few outcomes": outcomes("[]"),
    "too many outcomes": outcomes("[[Outcome(a) for a in s[0].args] * 9 for s in probes]"),
    "outcomes padded with other things": outcomes(
        "['junk', *([Outcome(s.args[0]) for s in steps] for steps in probes), 7]"
    ),
    "outcomes that are none": outcomes("[[s.args[0] for s in steps] for steps in probes]"),
    "a report of its own": outcomes("{'passed': True, 'score': 3.0, 'points': 3.0}"),
    "the class secret as a type": tree('{"type": "os.system", "fields": {"command": "ls"}}'),
    "fields that no outcome has": tree('{"type": "Outcome", "fields": {"passed": True}}'),
    "a tensor that is not there": tree('{"type": "Outcome", "fields": {"value": {"tensor": "9"}}}'),
    "a kind of its own": tree('{"pickle": "gASVBgAAAAAAAACMAnJtlC4="}'),
    "a number of 100,000 digits": tree('{"int": "9" * 100_000}'),
    "a nested reply, 300 deep": tree(
        '{"type": "Outcome", "fields": {"value": json.loads("[" * 300 + "]" * 300)}}', ""
    ),
    "a nested reply, 100,000 deep": raw(
        "(lambda h: struct.pack('<Q', len(h)) + h)"
        "(json.dumps({'__metadata__': {'tree': '[' * 100_000}}).encode())"
    ),
    "bytes that are no message": raw("os.urandom(1000)"),
    "a header that lies about its size": raw("struct.pack('<Q', 2 ** 62) + b'{}'"),
    "a header that lies about shapes": raw(
        "(lambda h: struct.pack('<Q', len(h)) + h)(json.dumps({'__metadata__': {'tree': '[]'}, "
        "'0': {'dtype': 'F32', 'shape': [10 ** 9, 10 ** 9], 'data_offsets': [0, 4]}}).encode())"
    ),
    "a pickle": raw("__import__('pickle').dumps(os.getpid)"),
    "the reply is a number": sent("return go(ok('3.0'))", OF_NO_USE),
    "the reply is no base64": sent("return go(ok(\"'<b>3.0</b>'\"))", OF_NO_USE),
    "expressions that are a list": sent(
        "return go({**ok(''), 'user_expressions': [1, 2]})", OF_NO_USE
    ),
    "data that is a list": sent(
        "return go({**ok(''), 'user_expressions': {'outcome': {'status': 'ok', 'data': []}}})",
        OF_NO_USE,
    ),
    "an error with a mark in it": sent(
        "return go({'status': 'error', 'ename': '3.0', 'evalue': '3.0', 'traceback': ['3.0']})",
        OF_NO_USE,
    ),
    "the same reply twenty times": sent("for _ in range(20): made = go()\nreturn made"),
    "a reply with a wrong id first": sent(
        "go(ok('3.0'), {**parent, 'header': {**parent['header'], 'msg_id': 'another'}})\n"
        "return go()"
    ),
    "only a reply with a wrong id": sent(
        "return go(content, {**parent, 'header': {**parent['header'], 'msg_id': 'another'}})",
        "no answer within 2 seconds",
    ),
    "a reply that comes late": sent("time.sleep(2.5)\nreturn go()", "no answer within 2 seconds"),
    "replies to questions not asked yet": sent(
        "head, _, count = parent['header']['msg_id'].rpartition('_')\n"
        "for n in range(1, 9):\n"
        "    later = {**parent['header'], 'msg_id': f'{head}_{int(count) + n}'}\n"
        "    go(ok('3.0'), {**parent, 'header': later})\n"
        "return go()",
    ),
    "a reply signed with another key": sent(
        "kernel.session.key, key = b'x' * 32, kernel.session.key\n"
        "go(ok('3.0'))\nkernel.session.key = key\nreturn go()"
    ),
    "a reply to its own shell socket, without words": sent(
        "kernel.shell_stream.send_multipart([b'', b'<IDS|MSG>', b'', b'{', b'}'])\nreturn go()"
    ),
    "a flood of replies": sent("for _ in range(3000): go(ok('x' * 1000))\nreturn go()"),
}
