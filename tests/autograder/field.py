"""A class made of the cases from the field: what each student sends, and what must come of it.

All of unit 02; everybody's answers are right but for what a case is about.
"""

import copy
import json
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.demo import Student, hand_in
from autograder.demo_answers import EPS_AFTER_ROOT, NOISY
from blocklab import catalogue
from tests.autograder.repairing import UNIT, find, release, submission
from tests.autograder.sending import nameless
from tests.autograder.test_archives import zipped
from tests.autograder.test_class import LOST
from tests.autograder.test_parse import saved_by_colab

POINTS = {e.name: e.points for e in catalogue.exercises().values() if e.unit == UNIT}
ALL = sum(POINTS.values())  # but for the written answer, which a person reads
NO_RMS = ALL - POINTS["rms_norm"] - POINTS["RMSNorm"]  # the second calls the first
FILE = f"{UNIT}.ipynb"


@dataclass(frozen=True)
class Case:
    """One student.

    sent: files by name, oldest first; score: of 20, None where nothing can be graded;
    row: words of the table of what came in; page: words of the feedback.
    """

    sent: dict[str, bytes]
    score: float | None = ALL
    row: str = ""
    page: str = ""


def data(notebook: Any) -> bytes:
    return json.dumps(notebook).encode("utf-8")


def case(change: Callable[[dict[str, Any]], Any], *result: Any, **more: Any) -> Case:
    """A whole submission with a change made to it in place."""
    sent = submission()
    change(sent)
    return Case({FILE: data(sent)}, *result, **more)


def own(rms_norm: str, *result: Any, **more: Any) -> Case:
    """An own answer to rms_norm."""
    return Case(
        {FILE: data(hand_in(UNIT, Student("x", own={"rms_norm": rms_norm})))}, *result, **more
    )


def own_cell(source: str, *result: Any, **more: Any) -> Case:
    """A cell of the learner's own above the test of rms_norm."""
    cell = {"cell_type": "code", "id": "own", "metadata": {}, "source": source}
    cell |= {"outputs": [], "execution_count": None}

    def insert(sent: dict[str, Any]) -> None:
        sent["cells"].insert(sent["cells"].index(find(sent, "rms_norm")), cell)

    return case(insert, *result, **more)


# ---------------------------------------------------------------- what students send


def _copied_answer(sent: dict[str, Any]) -> None:
    """A worked copy above, the untouched stub below."""
    cell = find(sent, "rms_norm-answer")
    sent["cells"].insert(sent["cells"].index(cell), copy.deepcopy(cell))
    cell["source"] = release().cells[release().by_grade_id["rms_norm-answer"]].source


def _edited_tests(sent: dict[str, Any]) -> None:
    find(sent, "rms_norm")["source"] = "3.0"
    find(sent, "RMSNorm")["cell_type"] = "markdown"
    find(sent, "setup")["source"] += "\nimport os"


def _bare(sent: dict[str, Any], ids: bool, renamed: bool = False) -> None:
    sent["metadata"] = {}
    for i, cell in enumerate(sent["cells"]):
        cell["metadata"], cell["id"] = {}, cell["id"] if ids else f"new-{i}"
        if renamed:
            cell["source"] = "# " + cell["source"].replace("\n", "\n# ")


def _schema(version: int) -> Callable[[dict[str, Any]], None]:
    return lambda sent: find(sent, "rms_norm")["metadata"]["nbgrader"].update(
        schema_version=version
    )


def _helped(sent: dict[str, Any]) -> None:
    """The answer needs a helper, whose cell was deleted after it had run."""
    find(sent, "rms_norm-answer")["source"] = (
        "def rms_norm(x, gain, eps):\n    return helper(x, gain, eps)"
    )


def _minor(sent: dict[str, Any], minor: int, ids: bool) -> None:
    sent["nbformat_minor"] = minor
    for cell in sent["cells"]:
        cell.pop("id") if not ids else None


def stem(name: str) -> str:
    return unicodedata.normalize("NFC", name).removesuffix(".ipynb")


WHOLE, EMPTY = data(submission()), data(hand_in(UNIT, Student("x", only=0)))
NAMES = (
    "Copy of 02_rmsnorm.ipynb", "02_rmsnorm (1).ipynb", "02_rmsnorm의 사본.ipynb",
    "02_rmsnorm-1.ipynb", "LATE_02_rms_norm.ipynb",
    unicodedata.normalize("NFD", "숙제 02_rms_norm.ipynb"),
)  # fmt: skip
SENT = {
    "S01 test twice": case(
        lambda sent: sent["cells"].append(copy.deepcopy(find(sent, "rms_norm"))),
        row="rms_norm: found 2 times, one counts",
    ),
    "S01 worked copy": case(_copied_answer, row="rms_norm-answer: found 2 times, the edited one"),
    "S02 test deleted": case(
        lambda sent: sent["cells"].remove(find(sent, "rms_norm")),
        row="rms_norm: not there; put back",
    ),
    "S03 edited": case(_edited_tests, row="rms_norm: was changed; restored"),
    "S04 by id": case(lambda sent: _bare(sent, ids=True), row="found again by id"),
    "S04 by content": case(lambda sent: _bare(sent, ids=False), row="found again by content"),
    "S04 nothing found": case(
        lambda sent: _bare(sent, ids=False, renamed=True), 0.0,
        row="put back as an empty answer", page="Not written yet",
    ),
    **{f"S05 schema {n}": case(_schema(n)) for n in (1, 2, 4)},
    **{f"S06 {stem(name)}": Case({name: nameless(WHOLE)}) for name in NAMES},
    "S06 sent again": Case({FILE: EMPTY, "02_rms_norm (1).ipynb": WHOLE}),
    "S07 truncated": Case({FILE: WHOLE[:3000]}, None, row="ends in the middle"),
    "S07 empty": Case({FILE: b""}, None, row="is empty"),
    "S07 zip": Case({FILE: zipped({FILE: WHOLE})}, row="is a zip; the one notebook in it was read"),
    "S07 mark": Case({FILE: b"\xef\xbb\xbf" + WHOLE}),
    "S08 Colab": Case({FILE: data(saved_by_colab())}),
    "S09 minor 4": case(lambda sent: _minor(sent, 4, ids=True)),
    "S09 no ids": case(lambda sent: _minor(sent, 5, ids=False)),
    "S10 helper": case(_helped, NO_RMS, page="name 'helper' is not defined"),
}  # fmt: skip

# ---------------------------------------------------------------- what student code does

SWALLOWS = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
RIGHT = "def rms_norm(x, gain, eps):\n    {}\n    return torch.rms_norm(x, gain.shape, gain, eps)"
WRONG = "def rms_norm(x, gain, eps):\n    return x"
AST_TRANSFORMER = """import ast
class Blank(ast.NodeTransformer):
    visit = lambda self, tree: ast.Module([], [])
get_ipython().ast_transformers.append(Blank())
"""
LIAR = """class Liar:
    __eq__ = __gt__ = __lt__ = lambda *a: True
def rms_norm(x, gain, eps):
    return Liar()"""
SUBCLASS = """class Sure(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True
def rms_norm(x, gain, eps):
    return x.as_subclass(Sure)"""
DOES = {
    "C01 loop": own_cell("while True: pass", page="CellTimeoutError"),
    "C01 swallows": own_cell(SWALLOWS, page="CellTimeoutError"),
    "C01 answer loops": own(RIGHT.format("while True: pass"), NO_RMS, page="no answer within 2 s"),
    "C02 exit": own_cell("import os; os._exit(0)", page="the kernel has ended"),
    "C02 segfault": own_cell("import ctypes; ctypes.string_at(0)", page="the kernel has ended"),
    "C02 answer": own(RIGHT.format("import os; os._exit(0)"), NO_RMS, page="The kernel died"),
    "C03 lines": own_cell("for i in range(200_000): print('line', i)", page="line 10"),
    "C03 list": own_cell("[[[0.123456789] * 3 for _ in range(224)] for _ in range(224)]"),
    "C03 error": own_cell("raise ValueError('again ' * 5_000_000)", page="again again"),
    "C04 warning": own(NOISY["rms_norm"]),
    "C04 bar": own(RIGHT.format("from tqdm import tqdm; list(tqdm(range(3)))")),
    "C04 logging": own(RIGHT.format("import logging; logging.warning('well')")),
    "C06 input": own_cell("input()", page="StdinNotImplementedError"),
    "C07 input transformer": own(
        f"get_ipython().input_transformers_cleanup.append(lambda lines: [])\n{WRONG}",
        POINTS["rms_by_hand"],
    ),
    "C07 AST transformer": own(f"{AST_TRANSFORMER}{WRONG}", POINTS["rms_by_hand"]),
    "C07 equal to all": own(LIAR, NO_RMS),
    "C07 subclass": own(SUBCLASS, NO_RMS),
    "I04 partial": Case(
        {FILE: data(hand_in(UNIT, Student("x", own=EPS_AFTER_ROOT)))}, ALL - LOST["hana"],
        page="epsilon is added after the root",
    ),
}  # fmt: skip
CASES = SENT | DOES
