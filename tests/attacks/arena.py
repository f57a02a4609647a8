"""Where an attack meets the judge: a solved notebook with malice in it, and what came of it."""

import copy
import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.judge import Judge, check_name
from autograder.nbgrader_config import REPOSITORY
from blocklab.text import visible

UNIT = "02_rms_norm"
SOLVED = nbformat.read(REPOSITORY / "solutions" / "en" / UNIT / f"{UNIT}.ipynb", 4)
LAST = "layer_norm"
HONEST = {"rms_by_hand": 1.0, "rms_norm": 3.0, "RMSNorm": 2.0, "layer_norm": 2.0}
WRONG = "def rms_norm(x, gain, eps):\n    return x"
NOT_MINE = {"RMSNorm": "class RMSNorm: pass"}  # so that only rms_norm is fought over
CANARY = "canary-of-the-class"
TAGS = {"b", "br", "code", "div", "p", "path", "pre", "rect", "style", "svg", "table", "td"}
TAGS |= {"title", "tr"}


@dataclass(frozen=True)
class Attack:
    """One way to cheat.

    code: runs in the cell of rms_norm; {folder} and {port} lead outside.
    answer: what follows it there, by default a wrong rms_norm.
    worth: of the attacked checks, what the honest part deserves; the other ones as honest.
    hurts: checks after the attacked one that it may cost its own author.
    says: words of the report, or of the outputs, that show it.
    edit: changes the notebook itself; friend: a submission of another student's, graded before.
    wins: why it still does, with the fix; the test then expects to fail.
    """

    code: str = ""
    answer: str = WRONG
    worth: dict[str, float] = field(default_factory=lambda: {"rms_norm": 0.0, "RMSNorm": 0.0})
    hurts: tuple[str, ...] = ()
    says: str = ""
    more: dict[str, str] = field(default_factory=lambda: NOT_MINE)
    edit: Callable[[NotebookNode], None] | None = None
    friend: str = ""
    seconds: float = 20.0
    wins: str = ""


@dataclass(frozen=True)
class Outside:
    """What no submission may read, change or reach."""

    folder: Path
    submission: Path
    listening: socket.socket
    before: dict[str, str]

    def now(self) -> dict[str, str]:
        found = (p for p in self.folder.rglob("*") if p.is_file())
        return {str(p): p.read_text() for p in found}

    def visited(self) -> bool:
        self.listening.setblocking(False)
        try:
            self.listening.accept()[0].close()
        except BlockingIOError:
            return False
        return True


@contextmanager
def outside(base: Path) -> Iterator[Outside]:
    """A class with a secret, a gradebook and another student, and a server that listens."""
    folder, submission = base / "class", base / "submission"
    for path in ("secret", "gradebook.db", "submitted/bea/answers.ipynb"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(CANARY)
    submission.mkdir()
    (submission / "link").symlink_to(folder / "secret")
    (submission / "up").symlink_to(folder)
    os.environ["CANARY_OF_THE_GRADER"] = CANARY
    with socket.create_server(("127.0.0.1", 0)) as listening:
        made = Outside(folder, submission, listening, {})
        yield Outside(folder, submission, listening, made.now())
    del os.environ["CANARY_OF_THE_GRADER"]


def submission(attack: Attack, there: Outside) -> NotebookNode:
    """The solved notebook up to LAST, with the attack in it."""
    notebook = copy.deepcopy(SOLVED)
    port = str(there.listening.getsockname()[1])
    code = attack.code.replace("{folder}", str(there.folder)).replace("{port}", port)
    code = code.replace("{submission}", str(there.submission))
    answers = {"rms_norm": f"{code}\n{attack.answer}", **attack.more}
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id.endswith("-answer"):
            cell.source = answers.get(grade_id.removesuffix("-answer"), cell.source)
    last = next(i for i, c in enumerate(notebook.cells) if check_name(c) == LAST)
    notebook.cells = [
        c
        for c in notebook.cells[: last + 1]
        if c.cell_type == "code" and not c.source.startswith("hint(")
    ]
    if attack.edit:
        attack.edit(notebook)
    return notebook


def grade(notebook: NotebookNode, there: Outside, student: str = "mallory") -> float:
    """Let the judge grade a notebook in place; how long it took, in seconds."""
    judge = Judge(
        shutdown_kernel="immediate",
        timeout=3,
        check_timeout=2.0,
        secret_file=str(there.folder / "secret"),
    )
    resources: dict[str, Any] = {"metadata": {"path": str(there.submission)}}
    resources["nbgrader"] = {"student": student, "assignment": UNIT, "notebook": UNIT}
    start = time.monotonic()
    judge.preprocess(notebook, resources)
    return time.monotonic() - start


def scores(notebook: NotebookNode) -> dict[str, float]:
    return {
        name: float(cell.outputs[-1].data["text/plain"])
        for cell in notebook.cells
        if (name := check_name(cell))
    }


def reports(notebook: NotebookNode) -> str:
    return "".join(c.outputs[-1].data["text/html"] for c in notebook.cells if check_name(c))


def fight(attack: Attack, there: Outside) -> None:
    """Grade an attack, and assert that it gained nothing, touched nothing and stopped nothing."""
    if attack.friend:
        grade(submission(Attack(attack.friend), there), there, "eve")
    notebook = submission(attack, there)
    seconds = grade(notebook, there)
    outputs = json.dumps([c.outputs for c in notebook.cells])
    nbformat.validate(notebook)
    json.dumps(notebook, allow_nan=False, ensure_ascii=False).encode()
    shown, deserved = reports(notebook), {**HONEST, **attack.worth}
    allowed = {
        name: {mark, 0.0 if name in attack.hurts else mark} for name, mark in deserved.items()
    }
    assert {n: m for n, m in scores(notebook).items() if m not in allowed[n]} == {}
    wrong = {
        "read a canary": CANARY in outputs,
        "changed files outside": there.now() != there.before,
        "reached a server": there.visited(),
        "a tag of its own in a report": not set(re.findall(r"<\s*(\w+)", shown)) <= TAGS,
        "a report with hidden characters": visible(shown) != shown,
        "a report without bounds": len(shown) >= 200_000,
        "outputs without bounds": len(outputs) >= 3_000_000,
        f"not said: {attack.says}": attack.says not in shown + outputs,
        f"took {seconds:.1f} s": seconds >= attack.seconds,
    }
    assert [what for what, so in wrong.items() if so] == [], outputs[-2000:]


def cases(attacks: dict[str, Attack]) -> list[Any]:
    return [
        pytest.param(
            attack,
            id=name,
            marks=[pytest.mark.xfail(strict=True, reason=attack.wins)] if attack.wins else [],
        )
        for name, attack in attacks.items()
    ]
