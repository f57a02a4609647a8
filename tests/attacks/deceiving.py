"""Attacks on the reader's eyes, on what has no end, and on the moments between two questions."""

from tests.attacks.arena import Attack
from tests.attacks.forging import OF_NO_USE, TOOLS, outcome, sent, tree
from tests.attacks.stopping import SAY, answer, says

PARAMETER = """class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.register_parameter({name!r}, nn.Parameter(torch.ones(d_model)))
    def forward(self, x): return x"""
FROM_MEMORY = """
import gc
def rms_norm(x, gain, eps):
    for o in gc.get_objects():
        if type(o) is torch.Tensor and o.shape == x.shape and o.dtype == x.dtype and o is not x:
            return o.detach().clone()
    return x"""
TRACED = """
import sys, threading
def trace(frame, event, arg):
    names = frame.f_locals
    for name in ("value", "changed", "gradients", "marked", "want"):
        if name in names: names[name] = None
    if frame.f_code.co_name in ("_changed", "_marked", "_differs", "_gradients"):
        frame.f_trace = lambda f, e, a: None
    return trace
sys.settrace(trace); sys.setprofile(trace); threading.settrace(trace)
"""
BETWEEN = f"""{TOOLS}
import threading
def outcome(s): return Outcome(s.args[0])
def turns():
    while True:
        probe.run, probe.describe = run, (lambda *a: "function")
        time.sleep(0.001)
        probe.run = real_run
threading.Thread(target=turns, daemon=True).start()
"""


def header(**tensor: object) -> Attack:
    """A message whose header says this of its one tensor, which has 64 bytes."""
    said = {"dtype": "F32", "shape": [4], "data_offsets": [0, 16], **tensor}
    code = f"""{TOOLS}
def forged(probes):
    n[:] = [len(steps) for steps in probes]
    return MADE
n = []
def raw():
    found = {{"type": "Outcome", "fields": {{"value": {{"tensor": "0"}}}}}}
    tree = json.dumps(["function", [[found] * k for k in n]])
    head = json.dumps({{"__metadata__": {{"tree": tree}}, "0": {said!r}}}).encode()
    return struct.pack("<Q", len(head)) + head + bytes(64)"""
    return Attack(code, says=OF_NO_USE)


BYTES = f"""{SAY}
import json
def say_bytes(kind, content):
    parts = [kernel.session.msg_header(kind), kernel.get_parent()["header"], {{}}]
    parts = [*(json.dumps(part, default=str).encode() for part in parts), content.encode()]
    signed = [b"x", b"<IDS|MSG>", kernel.session.sign(parts), *parts]
    kernel.iopub_socket.send_multipart(signed)
"""


def words(kind: str, content: str) -> Attack:
    """A message on the channel of outputs, whose content is this JSON, an expression."""
    sends = f"{BYTES}\nsay_bytes({kind!r}, {content})\nprint('it was sent')"
    return Attack(sends, says="it was sent")


DECEIVING = {
    "an error whose name turns its line round": answer(
        "raise type('\\u202e3 of 3\\x1b[2K', (Exception,), {})('\\u2066\\u0007')", "\\\\u202e3 of 3"
    ),
    "a type whose name has no width": Attack(
        "Nothing = type('\\u200b\\u2060\\u3164', (), {})",
        "def rms_norm(x, gain, eps): return Nothing()",
        says="\\\\u200b\\\\u2060\\\\u3164",
    ),
    "a picture that runs code, in an error": answer(
        "raise ValueError('<svg/onload=alert(1)><image href=x onerror=alert(1)>')", "&lt;svg"
    ),
    "the end of a report, and another one, in an error": answer(
        "raise ValueError('</pre></td></tr></table></div><div>3 of 3 points')", "&lt;/table&gt;"
    ),
    "HTML as the name of a parameter": Attack(
        "",
        more={"RMSNorm": PARAMETER.format(name="<img src=x onerror=alert(1)>")},
        says="&lt;img",
    ),
    "a parameter with a name of a million characters": Attack(
        "", more={"RMSNorm": PARAMETER.format(name="g" * 1_000_000)}
    ),
    "a dict whose keys are HTML without end": Attack(
        "class Key:\n    __str__ = lambda s: '<b>' * 1_000_000",
        "def rms_norm(x, gain, eps): return {Key(): x}",
    ),
    "half characters in a forged error": outcome(
        "Outcome(error=Problem('\\ud800', '\\ud800', '\\ud800'))", says="\\\\ud800"
    ),
    "keys of a million characters": outcome(
        "Outcome(s.args[0], gradients={'k' * 1_000_000: None})", says=OF_NO_USE
    ),
    "a dict of 3,000 keys": outcome("Outcome({str(i): 0 for i in range(3000)})", says=OF_NO_USE),
    "lists in lists, 40 deep": outcome("Outcome(json.loads('[' * 40 + ']' * 40))", says=OF_NO_USE),
    "a number too large for any float": tree(
        '{"type": "Outcome", "fields": {"value": {"int": "9" * 4000}}}'
    ),
    "a position that is no number": tree(
        '{"type": "Outcome", "fields": {"changed": [{"float": "nan"}]}}'
    ),
    "a module of infinite size": outcome(
        "Outcome(plain.Module({'gain': (float('inf'), float('nan'), -1, 'x')}))"
    ),
    "records that are one tensor": outcome(
        "Outcome(s.args[0], records={'x': s.args[0]})", says=OF_NO_USE
    ),
    "eight bits of a float": outcome("Outcome(s.args[0].to(torch.float8_e4m3fn))", says="float8"),
    "no elements, in a shape without end": outcome(
        "Outcome(torch.zeros(0, 2 ** 40))", says="1099511627776"
    ),
    "offsets beyond the end": header(data_offsets=[0, 2**62]),
    "offsets that run backwards": header(data_offsets=[16, 0]),
    "offsets that overlap the header": header(data_offsets=[-8, 8]),
    "a shape that overflows": header(shape=[2**33, 2**33]),
    "a dtype of its own": header(dtype="<script>alert(1)</script>"),
    "a list that holds itself": Attack(
        "", "def rms_norm(x, gain, eps):\n    a = []\n    a.append(a)\n    return a"
    ),
    "a recursion limit of a few": Attack(
        "import sys, threading\nthreading.Timer(0.1, lambda: sys.setrecursionlimit(60)).start()",
        hurts=("layer_norm",),
    ),
    "an alarm that rings while it is asked": Attack(
        "import signal\n"
        "def rings(*a): raise SystemExit(0)\n"
        "signal.signal(signal.SIGALRM, rings); signal.setitimer(signal.ITIMER_REAL, 0.2, 0.01)",
        hurts=("layer_norm",),
        seconds=40,
    ),
    "a fault that is set for later": Attack(
        "import faulthandler; faulthandler.dump_traceback_later(0.3, exit=True)",
        hurts=("layer_norm",),
        seconds=40,
    ),
    "hooks on the way out": Attack(
        "import atexit, os, sys, threading\n"
        "atexit.register(lambda: os.fork() or os._exit(0))\n"
        "sys.excepthook = threading.excepthook = lambda *a: print('3.0')\n"
        "sys.displayhook = lambda value: None\n"
        "os.register_at_fork(after_in_child=lambda: os._exit(0))"
    ),
    "both halves of a fork go on": Attack(
        "import os; os.fork()", hurts=("layer_norm",), seconds=40
    ),
    "the collector's callbacks": Attack(
        "import gc\n"
        "def patch(phase, info): torch.allclose = torch.equal = lambda *a, **k: True\n"
        "gc.callbacks.append(patch); gc.set_threshold(1)"
    ),
    "a tracer that empties the interpreter's variables": Attack(TRACED, hurts=("layer_norm",)),
    "a thread that changes the interpreter in turns": Attack(BETWEEN, hurts=("layer_norm",)),
    "results that lie in memory": Attack("", FROM_MEMORY),
    "builtins of its own for the notebook": Attack(
        "import builtins, types\n"
        "def sly(name, *a, **k):\n"
        "    made = types.SimpleNamespace(describe=lambda *a: 'function', run=lambda *a: [],\n"
        "        loads=lambda b: ['x', []], dumps=lambda v: b'3.0')\n"
        "    return types.SimpleNamespace(wire=made, probe=made, b64encode=lambda b: b'3.0',\n"
        "        b64decode=lambda b: b)\n"
        "globals()['__builtins__'] = {**vars(builtins), '__import__': sly}",
        hurts=("layer_norm",),
        says=OF_NO_USE,
    ),
    "what the kernel is, told again and again": sent(
        "info = {'status': 'ok', 'protocol_version': '4.0', 'banner': '3.0', 'language_info': []}\n"
        "for n in range(200): real_send(kernel.shell_stream, 'kernel_info_reply', info, parent)\n"
        "return go()"
    ),
    "a flood in the names of strangers": Attack(
        f"{SAY}\nmine = kernel.get_parent()\n"
        "for n in range(20_000):\n"
        "    other = {**mine, 'header': {**mine['header'], 'msg_id': f'other-{n}'}}\n"
        "    say('stream', {'name': 'stdout', 'text': 'x' * 1000}, other)"
    ),
    "30,000 displays in one name": Attack(
        f"{SAY}\nfor n in range(30_000): say('display_data', {{'data': {{'text/plain': 'x'}}, "
        "'metadata': {}, 'transient': {'display_id': 'd'}})"
    ),
    "data nested 900 deep": words(
        "display_data",
        "'{\"data\": {\"application/json\":' + '[' * 900 + ']' * 900 + '}, \"metadata\": {}}'",
    ),
    "metadata nested 900 deep": words(
        "display_data", "'{\"data\": {}, \"metadata\":' + '{\"a\":' * 900 + '1' + '}' * 901"
    ),
    "a reply nested 900 deep": sent(
        "return go({**ok(''), 'user_expressions': json.loads('[' * 900 + ']' * 900)})"
    ),
    "numbers that JSON does not have": words(
        "display_data", '\'{"data": {"application/json": [NaN, Infinity]}, "metadata": {}}\''
    ),
    "an execution count of 4,000 digits": words(
        "execute_result",
        "'{\"data\": {}, \"metadata\": {}, \"execution_count\": 1' + '0' * 4000 + '}'",
    ),
    "a bundle of 50,000 kinds": says(
        "display_data", "{'data': {f'a/{n}': '' for n in range(50_000)}, 'metadata': {}}", seconds=5
    ),
    "a traceback of 200,000 lines": says(
        "error", "{'ename': 'E', 'evalue': '', 'traceback': [''] * 200_000}", seconds=5
    ),
    "a message from a day that never was": Attack(
        f"{SAY}\nheader = kernel.session.msg_header('stream')\n"
        "for date in ('9999-99-99T99:99:99Z', '0000-00-00T00:00:00Z', 7, None, ['x']):\n"
        "    kernel.session.send(kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': 'x'}, "
        "parent=kernel.get_parent(), header={**header, 'date': date})"
    ),
}
