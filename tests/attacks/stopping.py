"""Attacks on the run itself: hang it, flood it, break its reader, or dress up as a report."""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.judge import check_name
from tests.attacks.arena import Attack
from tests.attacks.earning import RIGHT
from tests.attacks.forging import TOOLS

SAY = """
from IPython import get_ipython
kernel = get_ipython().kernel
def say(kind, content, parent=None):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=parent or kernel.get_parent())
"""
NO_END = "def rms_norm(x, gain, eps):\n    {}"
SWALLOWS = (
    "while True:\n        try:\n            while True: pass\n        except BaseException: pass"
)
SLOW = "no answer within 2 seconds"
DIED = "The kernel died"


def answer(body: str, says: str = "", **options: str | float) -> Attack:
    """An answer that does something else when it is called."""
    return Attack("", NO_END.format(body), says=says, **options)  # type: ignore[arg-type]


def says(kind: str, content: str, **options: str | float) -> Attack:
    """A message on the channel of outputs, from a cell of its own."""
    return Attack(f"{SAY}\nsay({kind!r}, {content})", **options)  # type: ignore[arg-type]


def metadata(**words: object):
    def edit(notebook: NotebookNode) -> None:
        notebook.metadata["blocklab"].update(words)

    return edit


def unknown_check(notebook: NotebookNode) -> None:
    cell = new_code_cell("check('no_such_exercise')")
    cell.metadata["nbgrader"] = {
        "grade": True,
        "grade_id": "mine",
        "points": 100,
        "solution": False,
    }
    notebook.cells.insert(1, cell)


def other_points(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if check_name(cell):
            cell.metadata["nbgrader"].update(points=1000.0, schema_version=99, locked=False)


def old_outputs(notebook: NotebookNode) -> None:
    """Check cells as handed in, with full marks in their outputs."""
    for cell in notebook.cells:
        cell.outputs = [
            {"output_type": "execute_result", "data": {"text/plain": "3.0"}, "metadata": {},
             "execution_count": 1}
        ]  # fmt: skip


def swapped(notebook: NotebookNode) -> None:
    """The cell of rms_norm's mark asks for something easier."""
    cell = next(c for c in notebook.cells if check_name(c) == "rms_norm")
    cell.metadata["nbgrader"]["grade_id"] = "RMSNorm"


def sleeps(notebook: NotebookNode) -> None:
    """A slow cell in front of checks that each kill their kernel, twice."""
    notebook.cells.insert(1, new_code_cell("import time; time.sleep(1.5)"))


def redrawn(notebook: NotebookNode) -> None:
    """Displays more in its second life than in its first, and then updates what was there."""
    source = (
        "if 'life' in globals(): print('first')\n"
        "else:\n    from IPython.display import display\n"
        "    for n in range(5): display(n, display_id='d')"
    )
    dies = "try:\n    life = 1; 1 / 0\nexcept ZeroDivisionError: raise"
    notebook.cells[1:1] = [new_code_cell(dies), new_code_cell(source)]
    at = next(i for i, c in enumerate(notebook.cells) if check_name(c) == "RMSNorm")
    update = "from IPython.display import update_display\nupdate_display(9, display_id='d')"
    notebook.cells.insert(at, new_code_cell(update))


STOPPING = {
    "an answer that never ends": answer("while True: pass", SLOW),
    "an answer that swallows interrupts": answer(SWALLOWS, SLOW),
    "an answer that sleeps in C and holds the lock": answer(
        "import ctypes; ctypes.PyDLL(None).sleep(1000)", SLOW
    ),
    "an answer that exits": answer("import os; os._exit(0)", DIED),
    "an answer that raises SystemExit": answer("raise SystemExit(0)", "SystemExit"),
    "an answer that raises KeyboardInterrupt": answer("raise KeyboardInterrupt"),
    "an answer that crashes": answer("import ctypes; ctypes.string_at(0)", DIED),
    "an answer that overflows the stack": answer(
        "import sys; sys.setrecursionlimit(10 ** 9); return rms_norm(x, gain, eps)"
    ),
    "an answer that asks for input": answer("return input()", "It stopped with", seconds=3),
    "an answer that stops its process": answer(
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    ),
    "an answer that takes all memory": answer("return bytearray(1 << 33)", "MemoryError"),
    "an answer that fills the disk": answer(
        "open('/tmp/x', 'wb').write(bytes(60 << 20)); open('/dev/shm/x', 'wb').write(bytes(99))"
    ),
    "an answer that forks without end": answer(
        "import os\n    while True: os.fork() or __import__('time').sleep(9)"
    ),
    "an answer whose child replies too": Attack(
        f"{TOOLS}\nimport sys\n"
        "def outcome(s): return Outcome(s.args[0])\n"
        "def reply(go, content, parent):\n"
        "    if os.fork() == 0:\n"
        "        kernel.session.pid = os.getpid(); go(ok('3.0')); os._exit(0)\n"
        "    return go()"
    ),
    "an answer that starts thousands of threads": answer(
        "import threading, time\n"
        "    for _ in range(5000): threading.Thread(target=time.sleep, args=(9,)).start()",
        "RuntimeError",
    ),
    "signals that are ignored": Attack(
        "import signal\n"
        "for n in range(1, 65):\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(1000,)).start()"
    ),
    "a thread that takes over later": Attack(
        "import threading, time\n"
        "def later():\n"
        "    time.sleep(0.2); torch.allclose = lambda *a, **k: True\n"
        "    print('3.0'); get_ipython().user_ns['check'] = lambda n: 3.0\n"
        "threading.Thread(target=later, daemon=True).start()"
    ),
    "a cell that closes its own doors": Attack(
        "import os; os.closerange(3, 256)", "", hurts=("layer_norm",)
    ),
    "a flood of printed lines": Attack("for _ in range(200_000): print('x' * 40)", says="cut"),
    "a flood in two names": Attack(
        f"{SAY}\nmine = kernel.get_parent()\n"
        "other = {**mine, 'header': {**mine['header'], 'msg_id': 'other'}}\n"
        "for _ in range(30):\n"
        "    say('stream', {'name': 'stdout', 'text': 'x' * 300_000})\n"
        "    say('stream', {'name': 'stdout', 'text': 'x'}, other)",
        says="the rest is cut",
    ),
    "a picture of 10 MB": says(
        "display_data", "{'data': {'image/png': 'A' * 10_000_000}, 'metadata': {}}"
    ),
    "says that the cell is done at once": says("status", "{'execution_state': 'idle'}"),
    "never says that a cell is done": Attack(
        "k = get_ipython().kernel\nreal = k.session.send\n"
        "def send(stream, kind, content=None, *a, **o):\n"
        "    return None if kind == 'status' else real(stream, kind, content, *a, **o)\n"
        "k.session.send = send",
        hurts=("layer_norm",),
        seconds=40,
    ),
    "sends what nobody understands": says("no such kind", "{'data': [1]}"),
    "clears outputs with a list": says("clear_output", "[1]"),
    "counts executions backwards": says(
        "execute_result",
        "{'data': {'text/plain': 'x'}, 'metadata': {}, 'execution_count': -7}",
    ),
    "a display named by a list": says(
        "display_data",
        "{'data': {'text/plain': 'x'}, 'metadata': {}, 'transient': {'display_id': ['x']}}",
    ),
    "metadata nested 400 deep": Attack(
        f"{SAY}\nimport json\n"
        "say('display_data', {'data': {'text/plain': 'x'}, "
        "'metadata': json.loads('{\"a\":' * 400 + '1' + '}' * 400)})",
    ),
    "words that no file can hold, printed": Attack("print('\\ud800')"),
    "words that no file can hold, in an error": answer("raise ValueError('\\ud800')"),
    "a class whose name takes the judge for ever": Attack(
        "Long = type('A' * 800, (), {})",
        "def rms_norm(x, gain, eps): return Long()",
        seconds=4,
    ),
    "slow cells in front of answers that die": Attack(
        "",
        NO_END.format("import os; os._exit(0)"),
        edit=sleeps,
        more={
            "RMSNorm": "class RMSNorm(nn.Module):\n    def __init__(self, *a): os._exit(0)",
            "layer_norm": "import os\ndef layer_norm(*a): os._exit(0)",
        },
        worth={"rms_norm": 0.0, "RMSNorm": 0.0, "layer_norm": 0.0},
        seconds=10,
    ),
    "displays that change between two lives": Attack(
        "",
        NO_END.format("import os; os._exit(0)"),
        edit=redrawn,
    ),
    "a language of its own": Attack(
        edit=metadata(language='en"><script>alert(1)</script>'),
    ),
    "a unit that is a list": Attack(
        edit=metadata(unit=["02_rms_norm"]),
    ),
    "a check of no exercise": Attack(
        edit=unknown_check,
    ),
    "points of its own": Attack(edit=other_points),
    "full marks in the outputs as handed in": Attack(edit=old_outputs),
    "a grade_id that is another's": Attack(edit=swapped),
    "a report of its own in HTML": Attack(
        "from IPython.display import HTML, display\n"
        "display(HTML('<div class=\"blocklab-report\">✓ rms_norm — 3 of 3 points</div>'))"
    ),
    "a script in an error": answer(
        "raise ValueError('<script>alert(1)</script>')", "&lt;script&gt;"
    ),
    "a script in the name of a class": Attack(
        "Bad = type('<script>alert(1)</script>', (), {})",
        "def rms_norm(x, gain, eps): return Bad()",
        says="&lt;script&gt;",
    ),
    "a script in the name of an exception": answer(
        "raise type('<script>x</script>', (Exception,), {})()", "&lt;script&gt;"
    ),
    "a script in a forged outcome": Attack(
        f"{TOOLS}\nbad = '<script>alert(1)</script>'\n"
        "def outcome(s): return Outcome([bad], Problem('NoParameter', bad, bad))",
        says="&lt;script&gt;",
    ),
    "a format string in an error": answer(
        "raise ValueError('{0.__class__} {name} {} %s')", "{0.__class__}"
    ),
    "honest after all that": Attack("", RIGHT, more={}, worth={}),
}
