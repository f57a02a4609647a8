"""Every case from the field, from the file that a student sends to the mark and the page."""

import datetime
import html
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.validator import Validator
from traitlets.config import Config
from typer.testing import CliRunner

from autograder.classroom import ClassError, make_class
from autograder.cli import app
from autograder.deadline import deadlines, set_deadline
from autograder.grade import grade, gradebook, marks, settings
from autograder.intake import collect
from autograder.names import student_id, student_name
from autograder.rows import COLLECTED, OLDER, REFUSED, Row
from tests.autograder.field import ALL, CASES, FILE, UNIT, WHOLE, own_cell
from tests.autograder.kernels import need_sandbox
from tests.autograder.sending import NOW, everything, lay

pytestmark = pytest.mark.xdist_group("field")
CANARY = "canary-of-the-class"
SPY = "C08 spy"
FINDS = """
import os, socket
found = []
for place in ("../../../source", "../../../solutions", "{folder}", "{folder}/submitted"):
    found += [place] if os.path.isdir(place) and os.listdir(place) else []
for place in ("../../../gradebook.db", "{folder}/gradebook.db", "{folder}/secret"):
    try:
        found.append(open(place, "r+").read())
    except OSError:
        pass
try:
    found.append(socket.create_connection(("127.0.0.1", {port}), 1))
except OSError:
    pass
found += [name for name in os.environ if "GRAD" in name.upper()]
print("found:", found)
"""


@dataclass(frozen=True)
class Graded:
    """The class after grading: what was said of each student, scores, and what was sent."""

    folder: Path
    rows: dict[str, list[Row]]
    scores: dict[str, float]
    troubles: dict[str, str]

    def page(self, student: str) -> str:
        path = self.folder / "feedback" / student_id(student) / UNIT / FILE
        return html.unescape(path.with_suffix(".html").read_text("utf-8"))


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """All cases as one class, collected and graded once."""
    need_sandbox()
    base = tmp_path_factory.mktemp("field")
    folder = base / "class"
    make_class(folder)
    (folder / "secret").write_text(CANARY)
    with open(folder / "nbgrader_config.py", "a") as config:
        config.write("c.Execute.timeout = 5\nc.Judge.check_timeout = 2.0\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        spy = own_cell(FINDS.format(folder=folder, port=server.getsockname()[1]))
        sent = {name: case.sent for name, case in CASES.items()} | {SPY: spy.sent}
        files = {f"{name}/{file}": data for name, of in sent.items() for file, data in of.items()}
        rows = collect(folder, [lay(base / "sent", files)], now=NOW)
        troubles = dict(grade(folder, UNIT))
    by_name = {row.name: [r for r in rows if r.name == row.name] for row in rows}
    scores = {student_name(mark.student): mark.score for mark in marks(folder, UNIT)}
    assert {mark.maximum for mark in marks(folder, UNIT)} == {20}
    return Graded(folder, by_name, scores, {student_name(s): t for s, t in troubles.items() if t})


@pytest.mark.parametrize("name", CASES)
def test_a_case_ends_as_it_should(seen, name):
    case = CASES[name]
    assert case.row in "; ".join(note for row in seen.rows[name] for note in row.notes)
    assert name not in seen.troubles
    if case.score is None:
        assert [row.status for row in seen.rows[name]] == [REFUSED]
        assert name not in seen.scores
    else:
        assert seen.scores[name] == pytest.approx(case.score)
        assert case.page in seen.page(name)


def test_every_case_of_the_table_has_a_test_here():
    named = [re.match(r"test_([sci]\d\d)_", name) for name in globals()]
    here = {name.split()[0] for name in CASES} | {found[1].upper() for found in named if found}
    numbers = {"S": range(1, 11), "C": range(1, 9), "I": (1, 2, 4)}
    assert here == {f"{letter}{n:02}" for letter, ns in numbers.items() for n in ns}


def test_s06_one_student_not_two_and_the_newest_counts(seen):
    rows = seen.rows["S06 sent again"]
    assert sorted((row.file, row.status) for row in rows) == [
        ("02_rms_norm (1).ipynb", COLLECTED), (FILE, OLDER),
    ]  # fmt: skip


def test_s08_nothing_personal_that_colab_wrote_is_in_what_is_graded_or_shown(seen):
    for kind in ("submitted", "autograded", "feedback"):
        (path,) = (seen.folder / kind / student_id("S08 Colab") / UNIT).glob(f"{UNIT}.*")
        text = path.read_text("utf-8")
        assert not [word for word in ("Kim Minji", "0123456", "photoUrl") if word in text]


def test_s10_the_learner_could_have_found_out_before(tmp_path):
    path = tmp_path / FILE
    path.write_bytes(CASES["S10 helper"].sent[FILE])
    ran = Validator(config=Config({"Execute": {"timeout": 60}})).validate(str(path))
    failed = {cell["source"]: html.unescape(cell["error"]) for cell in ran["failed"]}
    assert "name 'helper' is not defined" in failed['check("rms_norm")']
    assert 'check("layer_norm")' not in failed


def test_c03_what_floods_makes_no_large_page(seen):
    usual = len(seen.page("S04 by id"))
    for name in CASES:
        if name.startswith("C03"):
            assert len(seen.page(name)) < usual + 250_000


def test_c08_there_is_nothing_to_see_and_nothing_to_write(seen):
    assert seen.scores[SPY] == ALL
    assert "found: []" in seen.page(SPY)
    assert (seen.folder / "secret").read_text() == CANARY


def test_i04_a_message_and_a_number(seen):
    with gradebook(seen.folder) as book:
        mark = book.find_grade("rms_norm", UNIT, UNIT, student_id("I04 partial"))
        assert 0 < mark.auto_score < mark.max_score
        number = f"{mark.auto_score:g} of {mark.max_score:g} points"
    assert number in seen.page("I04 partial")


# ---------------------------------------------------------------- an instructor's own tests


CELLS = (
    ("markdown", "about", "Write `double`.", {"locked": True}),
    ("code", "double", "### BEGIN SOLUTION\n{answer}\n### END SOLUTION", {"solution": True}),
    ("code", "noisy", "assert double(2) == 4", {"points": 1}),
    ("markdown", "more", "Now what a test may give back.", {"locked": True}),
    ("code", "numpy", "import numpy as np\nnp.float64(double(2) == 4)", {"points": 1}),
    ("code", "torch", "import torch\ntorch.tensor(float(double(3) == 6))", {"points": 1}),
    ("code", "words", "str(int(double(4) == 8))", {"points": 1}),
    ("code", "minus", "1.0 if double(5) == 10 else -1.0", {"points": 1}),
    (
        "code", "hidden",
        f"assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert double(7) == 14, '{CANARY}'\n"
        "### END HIDDEN TESTS", {"points": 1},
    ),
)  # fmt: skip
OWN = "week_1"
LOUD = """import logging, sys, warnings
def double(x):
    warnings.warn("careful")
    logging.warning("well")
    print("50%|#####", file=sys.stderr)
    return 2 * x"""


def own_unit() -> Any:
    """A unit of plain tests, none of them a check, with one of them hidden."""
    cells = []
    for kind, name, source, marks_ in CELLS:
        cell = new_code_cell(source) if kind == "code" else new_markdown_cell(source)
        base = {"grade": "points" in marks_, "solution": False, "locked": "points" in marks_}
        cell.metadata["nbgrader"] = {
            **base, **marks_, "grade_id": name, "schema_version": 3, "task": False
        }  # fmt: skip
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def answered(folder: Path, answer: str, without: str = "") -> bytes:
    """What was released, with an answer in it, and perhaps without a cell."""
    sent = nbformat.read(folder / "release" / OWN / f"{OWN}.ipynb", as_version=4)
    sent.cells = [c for c in sent.cells if c.metadata.nbgrader.grade_id != without]
    for cell in sent.cells:
        if cell.metadata.nbgrader.solution:
            cell.source = answer
    return nbformat.writes(sent).encode()


@pytest.fixture(scope="module")
def own_class(tmp_path_factory) -> Path:
    """A class with a unit of its own, graded: right and loud, wrong, and with a test deleted."""
    need_sandbox()
    base = tmp_path_factory.mktemp("own")
    folder = base / "class"
    make_class(folder)
    with open(folder / "nbgrader_config.py", "a") as config:
        config.write("c.CourseDirectory.source_directory = 'source'\n")
    (folder / "source" / OWN).mkdir(parents=True)
    nbformat.write(own_unit(), folder / "source" / OWN / f"{OWN}.ipynb")
    course = settings(folder)
    api = NbGraderAPI(CourseDirectory(config=course), config=course)
    assert api.generate_assignment(OWN)["success"]
    wrong = "def double(x):\n    return 2 if x == 1 else x"
    files = {
        f"loud/{OWN}.ipynb": answered(folder, LOUD),
        f"wrong/{OWN}.ipynb": answered(folder, wrong),
        f"cut/{OWN}.ipynb": answered(folder, LOUD, without="numpy"),
    }
    collect(folder, [lay(base / "sent", files)], now=NOW)
    assert not any(dict(grade(folder, OWN)).values())
    return folder


def own_grades(folder: Path, student: str) -> dict[str, float]:
    with gradebook(folder) as book:
        sent = book.find_submission_notebook(OWN, OWN, student)
        return {grade.name: grade.score for grade in sent.grades}


TESTS = [name for kind, name, _, marks_ in CELLS if "points" in marks_]


def test_c04_a_right_answer_may_warn_log_and_draw_bars_in_a_plain_test(own_class):
    assert own_grades(own_class, "loud") == dict.fromkeys(TESTS, 1)


def test_c05_a_score_that_is_0_in_whatever_type_earns_0(own_class):
    assert own_grades(own_class, "wrong") == dict.fromkeys(TESTS, 0)


def test_s02_a_test_under_a_locked_markdown_cell_is_put_back(own_class):
    assert own_grades(own_class, "cut") == dict.fromkeys(TESTS, 1)


def test_i01_a_hidden_test_stays_hidden_in_all_that_a_student_gets(own_class):
    for folder in ("release", "feedback"):
        found = [path for path in (own_class / folder).rglob("*") if path.is_file()]
        assert found
        assert not [path for path in found if CANARY in path.read_text("utf-8")]
    page = own_class / "feedback" / "wrong" / OWN / f"{OWN}.html"
    assert "AssertionError in a hidden test" in page.read_text("utf-8")


# ---------------------------------------------------------------- I02: deadlines


def test_i02_late_is_late_in_the_classs_own_time(tmp_path):
    need_sandbox()
    folder = tmp_path / "class"
    make_class(folder)
    with open(folder / "nbgrader_config.py", "a") as config:
        config.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    set_deadline(folder, UNIT, "2026-03-10 23:59", "Asia/Seoul")
    name = "Unit 2_{}_attempt_2026-03-{}_02_rms_norm.ipynb"
    files = {name.format("ontime", "10-23-58-00"): WHOLE, name.format("late", "11-00-05-00"): WHOLE}
    rows = {row.student: row for row in collect(folder, [lay(tmp_path / "sent", files)], now=NOW)}
    assert [rows["ontime"].late, rows["late"].late] == ["", "0.1 h"]
    assert graded(folder) == {"ontime": (ALL, 0), "late": (0, 360)}
    set_deadline(folder, UNIT, "2026-03-11 00:05")
    assert graded(folder) == {"ontime": (ALL, 0), "late": (ALL, 0)}


def graded(folder: Path) -> dict[str, tuple[float, float]]:
    """Score after the penalty, and seconds late, by student."""
    assert not any(dict(grade(folder, UNIT)).values())
    with gradebook(folder) as book:
        return {
            s.student.id: (s.score - s.late_submission_penalty, s.total_seconds_late)
            for s in book.assignment_submissions(UNIT)
        }


@pytest.mark.parametrize(
    ("when", "zone", "words"),
    [
        ("tomorrow", "Asia/Seoul", "is no time"),
        ("2026-03-10 23:59", None, "--timezone"),
        ("2026-03-10 23:59", "Mars", "No time zone Mars"),
    ],
)
def test_i02_a_deadline_that_cannot_be_understood_changes_nothing(tmp_path, when, zone, words):
    make_class(tmp_path / "class")
    before = everything(tmp_path)
    with pytest.raises(ClassError, match=words):
        set_deadline(tmp_path / "class", UNIT, when, zone)
    assert everything(tmp_path) == before


def test_i02_the_command_says_the_deadline_in_the_classs_time(tmp_path):
    make_class(tmp_path / "class")
    words = ["deadline", str(tmp_path / "class"), UNIT, "2026-03-10 23:59"]
    result = CliRunner().invoke(app, [*words, "--timezone", "Asia/Seoul"])
    assert "2026-03-10 23:59 Asia/Seoul" in result.output
    assert deadlines(tmp_path / "class") == {
        UNIT: datetime.datetime(2026, 3, 10, 14, 59, tzinfo=datetime.UTC)
    }
    assert CliRunner().invoke(app, ["deadline", "x", "99_nothing", "now"]).exit_code == 2
