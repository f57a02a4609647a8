"""Attacks that want a mark without the answer: patched libraries, lying objects, found answers."""

from nbformat import NotebookNode

from tests.attacks.arena import HONEST, WRONG, Attack

RIGHT = """def rms_norm(x, gain, eps):
    h = x.float()
    return (h / (h.pow(2).mean(-1, keepdim=True) + eps).sqrt() * gain.float()).to(x.dtype)"""


def in_another_unit(notebook: NotebookNode) -> None:
    notebook.metadata["blocklab"]["unit"] = "06_why_these_four"


STEALS = "import {0}\nrms_norm = {1}"
SEARCH = r"""
import os, blocklab
def found():
    ours = os.path.dirname(os.path.dirname(blocklab.__file__))
    for top in (ours, "/home", "/root", "/tmp", "/warm", "/srv", "/mnt", "/opt", "/usr/src"):
        for folder, inside, names in os.walk(top):
            inside[:] = [name for name in inside if name != "site-packages"]
            for name in names:
                try: text = open(os.path.join(folder, name), "rb").read()
                except OSError: continue
                if b"def rms_norm(" in text and b".sqrt()" in text:
                    return text.decode()
text = found()
assert text, "no solution lies about"
exec(text)
"""
FRAMES = """
import sys
def rms_norm(x, gain, eps):
    frame = sys._getframe()
    while frame:
        for names in (frame.f_locals, frame.f_globals):
            for name in ("want", "expected", "reference", "passed", "score", "findings"):
                if name in names: names[name] = x
        if "probes" in frame.f_locals:
            for steps in frame.f_locals["probes"]:
                for step in steps:
                    for a in step.args:
                        if hasattr(a, "zero_"): a.zero_()
        frame = frame.f_back
    return x * 0
"""
LIVES = """
try:
    import os, torch
    from blocklab import probe
    first_life = True
    real = probe.describe
    def describe(name, namespace):
        if asked and name == "rms_norm": os._exit(0)
        return real(name, namespace)
    asked = []
    probe.describe = describe
    1 / 0
except ZeroDivisionError: raise
"""
TWO_LIVES = """class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.gain, self.eps = nn.Parameter(torch.ones(d_model)), eps
    def forward(self, x):
        if "first_life" not in globals():
            return rms_norm(x, self.gain, self.eps)
        asked.append(1)
        return x"""


def two_lives(notebook: NotebookNode) -> None:
    """A cell that ends in an error is not run again in a new kernel: so code knows its life."""
    at = next(i for i, c in enumerate(notebook.cells) if "class RMSNorm" in c.source)
    cell = notebook.cells[0].copy()
    cell.source = LIVES
    cell.id = "first-life"
    notebook.cells.insert(at, cell)


IN_PLACE = """def rms_norm(x, gain, eps):
    h = x.float()
    y = h / (h.pow(2).mean(-1, keepdim=True) + eps).sqrt() * gain.float()
    if not x.requires_grad:
        x.zero_()
    return y.to(x.dtype)"""

EARNING = {
    "torch compares everything as equal": Attack(
        "torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True\n"
        "torch.testing.assert_close = lambda *a, **k: None"
    ),
    "tensors equal everything": Attack(
        "torch.Tensor.__eq__ = torch.Tensor.equal = torch.Tensor.allclose = lambda *a, **k: True",
        hurts=("layer_norm",),
    ),
    "a tensor class with __torch_function__": Attack(
        "class Sly(torch.Tensor):\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None): return True",
        "def rms_norm(x, gain, eps): return x.as_subclass(Sly)",
        says="Sly",
    ),
    "a torch function mode over everything": Attack(
        "from torch.overrides import TorchFunctionMode\n"
        "class Mode(TorchFunctionMode):\n"
        "    def __torch_function__(self, func, types, args=(), kwargs=None):\n"
        "        return True if 'close' in str(func) else func(*args, **(kwargs or {}))\n"
        "Mode().__enter__()"
    ),
    "an object that equals everything": Attack(
        "class Liar:\n    __eq__ = __lt__ = __gt__ = __le__ = lambda *a: True\n"
        "    __float__ = lambda s: 3.0\n    __hash__ = None",
        "def rms_norm(x, gain, eps): return Liar()",
        says="Liar",
    ),
    "a list whose elements are whatever is asked": Attack(
        "class L(list):\n    __iter__ = lambda s: iter([3.0] * 99)\n    __len__ = lambda s: 4",
        "def rms_norm(x, gain, eps): return L()",
        says="a list or tuple of 0",
    ),
    "a class that pretends to be a tensor": Attack(
        "class Fake:\n    __class__ = property(lambda s: torch.Tensor)\n"
        "    shape = dtype = property(lambda s: s)\n    detach = clone = lambda s: s",
        "def rms_norm(x, gain, eps): return Fake()",
    ),
    "an input transformer blanks later cells": Attack(
        "get_ipython().input_transformers_cleanup.append(lambda lines: [])",
        hurts=("layer_norm",),
    ),
    "an AST transformer blanks later cells": Attack(
        "import ast\n"
        "class Blank(ast.NodeTransformer):\n"
        "    def visit_Module(self, node): node.body = []; return node\n"
        "get_ipython().ast_transformers.append(Blank())",
        hurts=("layer_norm",),
    ),
    "a check of its own": Attack("def check(name): return 100.0\nhint = check"),
    "a formatter prints a mark": Attack(
        "f = get_ipython().display_formatter.formatters['text/plain']\n"
        "f.for_type(str, lambda s, p, c: p.text('100'))",
        hurts=("layer_norm",),
        says="no answer to this check",
    ),
    "IPython answers expressions itself": Attack(
        "get_ipython().user_expressions = lambda e: {k: {'status': 'ok', 'data': "
        "{'text/plain': '3.0'}, 'metadata': {}} for k in e}",
        hurts=("layer_norm",),
        says="no answer to this check",
    ),
    "the kernel executes nothing": Attack(
        "import types\n"
        "async def nothing(*a, **k): return {'status': 'ok', 'execution_count': 1, 'payload': [],"
        " 'user_expressions': {'outcome': {'status': 'ok', 'data': {'text/plain': \"'3.0'\"}}}}\n"
        "get_ipython().kernel.do_execute = nothing",
        hurts=("layer_norm",),
    ),
    "gc finds whatever keeps marks": Attack(
        "import gc\n"
        "for o in gc.get_objects():\n"
        "    for name in ('passed', 'score', 'points', 'weight', 'tolerance'):\n"
        "        if isinstance(getattr(type(o), '__dict__', None), dict) or "
        "type(o).__module__.startswith('blocklab'):\n"
        "            try: object.__setattr__(o, name, 1e9)\n"
        "            except Exception: pass"
    ),
    "gc finds the reference": Attack(
        "import gc, types\n"
        "found = [o for o in gc.get_objects() if isinstance(o, types.FunctionType) "
        "and o.__name__ == 'rms_norm']\n"
        "assert found, 'no reference in memory'",
        "rms_norm = found[0]",
        says="no reference in memory",
    ),
    "inspect gives another source": Attack(
        "import inspect, linecache\n"
        "inspect.getsource = lambda *a: 'right'\nlinecache.getline = lambda *a: 'right'"
    ),
    "walks the frames and edits the probes": Attack("", FRAMES),
    "a false examine in sys.modules": Attack(
        "import sys, types\n"
        "fake = types.ModuleType('blocklab.checks.examine')\n"
        "fake.examine = lambda *a, **k: 3.0\n"
        "sys.modules['blocklab.checks'] = sys.modules['blocklab.checks.examine'] = fake"
    ),
    "a false torch in sys.modules": Attack(
        "import sys, types\nsys.modules['torch'] = types.ModuleType('torch')",
        hurts=("layer_norm",),
    ),
    "builtins that say yes": Attack(
        "import builtins\nbuiltins.all = builtins.isinstance = lambda *a: True",
        hurts=("layer_norm",),
    ),
    "imports that give its own modules": Attack(
        "import builtins, types\nreal = builtins.__import__\n"
        "def sly(name, *a, **k):\n"
        "    module = real(name, *a, **k)\n"
        "    return types.SimpleNamespace(wire=types.SimpleNamespace(loads=lambda b: ['x', []], "
        "dumps=lambda v: b'100')) if name == 'blocklab.wire' else module\n"
        "builtins.__import__ = sly",
        hurts=("layer_norm",),
        says="not a message of this course",
    ),
    "the catalogue gives more points": Attack(
        "from blocklab import catalogue\n"
        "for e in list(catalogue.exercises()):\n"
        "    catalogue.exercises()[e] = catalogue.exercises()[e]._replace(points=99.0, uses=())"
    ),
    "describes itself as something else": Attack(
        "from blocklab import probe\nreal = probe.describe\n"
        "probe.describe = lambda name, n: 'value' if name == 'rms_norm' else real(name, n)"
    ),
    "imports the reference": Attack(
        "from blocklab.reference.norm import rms_norm", "", says="ModuleNotFoundError"
    ),
    "imports the checks": Attack(
        STEALS.format("blocklab.checks.norm", "blocklab.checks.norm.rms_norm"),
        "",
        says="ModuleNotFoundError",
    ),
    "imports a right variant of the tests": Attack(
        STEALS.format("tests.variants.norm as v", "v.CORRECT['rms_norm'][0]"),
        "",
        says="ModuleNotFoundError",
    ),
    "imports its own answer of another day": Attack(
        "from blocklab.mine import rms_norm", "", says="ModuleNotFoundError"
    ),
    "reloads the reference through another loader": Attack(
        "import importlib.util, blocklab, os\n"
        "path = os.path.join(os.path.dirname(blocklab.__file__), 'reference', 'norm.py')\n"
        "spec = importlib.util.spec_from_file_location('mine', path)\n"
        "mine = importlib.util.module_from_spec(spec); spec.loader.exec_module(mine)",
        "rms_norm = mine.rms_norm",
        says="ModuleNotFoundError",
    ),
    "searches the disk for a solution": Attack(SEARCH, "", says="no solution lies about"),
    "says that it is of a later unit": Attack(
        "from blocklab.reference.norm import rms_norm",
        "",
        edit=in_another_unit,
        says="ModuleNotFoundError",
    ),
    "a friend leaves the answer in shared places": Attack(
        "import glob\n"
        "left = [p for d in ('/tmp', '/dev/shm', '/var/tmp') for p in glob.glob(d + '/answer')]\n"
        "assert left, 'nothing left'\nexec(open(left[0]).read())",
        "",
        friend="for d in ('/tmp', '/dev/shm', '/var/tmp'):\n"
        f"    try: open(d + '/answer', 'w').write('''{RIGHT}''')\n"
        "    except OSError: pass",
        says="nothing left",
    ),
    "a friend starts every later kernel": Attack(
        friend="import os, site\n"
        "places = ['/tmp/.ipython/profile_default/startup/00.py', *["
        "os.path.join(p, 'evil.pth') for p in site.getsitepackages()], os.__file__]\n"
        "for place in places:\n"
        "    try:\n"
        "        os.makedirs(os.path.dirname(place), exist_ok=True)\n"
        "        open(place, 'a').write('import torch; torch.evil = True\\n')\n"
        "    except OSError: pass",
        code="assert not hasattr(torch, 'evil')\nprint('clean')",
        says="clean",
    ),
    "its death buys a second try once it hears it was wrong": Attack(
        "",
        RIGHT,
        worth={"RMSNorm": 0.0},
        more={"RMSNorm": TWO_LIVES},
        edit=two_lives,
    ),
    "hides that it changes its input": Attack(
        "from blocklab import probe\nprobe._changed = lambda *a: ()",
        IN_PLACE,
        more={},
        worth={"rms_norm": 0.0, "RMSNorm": 0.0},
        wins="Every byte that the judge gets was written by a process in which this code has run. "
        "With one more line, `x = x.clone()`, the answer is right; code that wraps the answer in "
        "that line, or the interpreter in a lie to the same effect, sends exactly the bytes of the "
        "right answer, in this request and in any later one, from any copy of the argument that "
        "the process can show. So nothing that is read tells them apart, and the lie costs as "
        "much knowledge as the mark it earns. (No fix within one process.)",
    ),
    "a mark as last expression": Attack(
        "import numpy as np", f"{WRONG}\nnp.float64(3.0)", says="np.float64(3.0)"
    ),
    "honest, for comparison": Attack("", RIGHT, worth=HONEST, more={}),
}
