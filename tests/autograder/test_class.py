"""A class of seventeen, from release to feedback, by nbgrader's own commands."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder import demo
from autograder.classroom import ClassError, make_class
from autograder.cli import app
from autograder.grade import gradebook, marks, settings

pytestmark = pytest.mark.xdist_group("class")
UNIT = demo.UNIT
COMMANDS = [
    ["generate_assignment", UNIT],
    ["autograde", UNIT],
    ["generate_feedback", UNIT],
    ["export"],
]
RIGHT = 18.0  # of 20: the written answer is for a person to read
LOST = {
    "emil": 8, "garam": 12, "hana": 1.15, "ines": 5, "jun": 2, "kofi": 2, "lena": 8, "minji": 1,
    "omar": 18, "pil": 18, "rok": 3.15,
}  # fmt: skip


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """A demo class through nbgrader's stock commands, and what each of them said."""
    folder = tmp_path_factory.mktemp("class") / "demo"
    demo.make_demo(folder)
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}  # SQLAlchemy's, in nbgrader's code
    said = {}
    for command in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *command],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        said[command[0]] = done.stdout + done.stderr
        assert done.returncode == 0, said[command[0]][-3000:]
    return folder, said


def test_the_stock_commands_warn_of_nothing_but_late_work(graded):
    others = ("IPKernelApp", "Alternative text is missing")  # of every kernel, of a learner's plot
    warnings = [
        line
        for said in graded[1].values()
        for line in said.splitlines()
        if ("WARNING" in line.upper() or "ERROR" in line) and not any(o in line for o in others)
    ]
    assert warnings
    late = ("seconds late", "Late submission penalty")
    assert [line for line in warnings if not any(word in line for word in late)] == []


def test_every_student_gets_the_score_that_the_answers_are_worth(graded):
    scores = {mark.student: mark.score for mark in marks(graded[0], UNIT)}
    assert scores == {s.name: pytest.approx(RIGHT - LOST.get(s.name, 0)) for s in demo.STUDENTS}
    assert all(mark.maximum == 20 for mark in marks(graded[0], UNIT))


def test_both_languages_mix_in_one_class(graded):
    languages = {mark.student: mark.language for mark in marks(graded[0], UNIT)}
    assert languages == {s.name: s.language for s in demo.STUDENTS}
    assert set(languages.values()) == {"en", "ko"}


def test_late_work_is_known_to_be_late(graded):
    late = {m.student: m.late_seconds for m in marks(graded[0], UNIT) if m.late_seconds}
    assert late == {"quinn": 36 * 3600, "rok": 36 * 3600}


def test_only_a_written_answer_waits_for_a_person(graded):
    unread = {m.student for m in marks(graded[0], UNIT) if m.to_read}
    assert unread == {s.name for s in demo.STUDENTS if s.writes}


def feedback(folder: Path, student: str) -> str:
    return (folder / "feedback" / student / UNIT / f"{UNIT}.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("hana", "epsilon is added after the root"),
        ("ines", "The mean is taken over the tokens"),
        ("rok", "epsilon을 제곱근을 취한 뒤에 더했습니다"),
        ("emil", "Not written yet"),
        ("pil", "아직 작성되지 않았습니다"),
    ],
)
def test_the_feedback_names_the_mistake_in_the_students_language(graded, student, words):
    assert words in feedback(graded[0], student)


def test_an_empty_answer_is_said_to_be_empty_and_not_by_a_grader(graded):
    for student, words, grader in (
        ("omar", "Nothing was written here.", "Your grader's comment"),
        ("pil", "작성한 답이 없습니다.", "채점자의 의견"),
    ):
        page = feedback(graded[0], student)
        assert words in page and grader not in page


def test_no_link_in_the_feedback_leads_to_a_file_that_is_not_there(graded):
    for student in demo.STUDENTS:
        assert not re.search(r'href="\.\.?/', feedback(graded[0], student.name))


def test_the_total_is_written_as_each_language_does(graded):
    assert "/ 20 points</h2>" in feedback(graded[0], "ada")
    assert "/ 20점</h2>" in feedback(graded[0], "bora")


def test_the_judge_graded_and_not_the_learners_own_process(graded):
    assert "without a judge" not in feedback(graded[0], "ada")
    assert "judge 없이" not in feedback(graded[0], "bora")


def test_partial_credit_and_a_message_come_together(graded):
    page = feedback(graded[0], "hana")
    with gradebook(graded[0]) as book:
        grade = book.find_grade("rms_norm", UNIT, UNIT, "hana")
        assert 0 < grade.auto_score < grade.max_score
        assert f"{grade.auto_score:g} of {grade.max_score:g} points" in page


def test_the_export_has_everybody(graded):
    with open(graded[0] / "grades.csv", encoding="utf-8") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert set(rows) == {s.name for s in demo.STUDENTS}
    assert float(rows["hana"]["score"]) == pytest.approx(RIGHT - LOST["hana"])


def test_a_release_as_handed_out_earns_nothing_and_nothing_crashes(graded):
    for student in ("omar", "pil"):
        path = graded[0] / "autograded" / student / UNIT / f"{UNIT}.ipynb"
        for cell in nbformat.read(path, as_version=4).cells:
            names = {o.ename for o in cell.get("outputs", []) if o.output_type == "error"}
            assert names <= {"NotImplementedError"}


def test_grading_leaves_the_repository_alone(graded):
    source = settings(graded[0]).CourseDirectory.source_directory
    assert not list(Path(source).rglob("gradebook.db"))
    assert (graded[0] / "release" / UNIT / f"{UNIT}.ipynb").exists()


def test_a_class_folder_is_never_overwritten(tmp_path):
    make_class(tmp_path / "mine", "ko")
    with pytest.raises(ClassError, match="not empty"):
        make_class(tmp_path / "mine")
    assert (tmp_path / "mine" / "secret").stat().st_mode & 0o077 == 0


def test_a_class_folder_inside_the_repository_is_refused():
    with pytest.raises(ClassError, match="outside"):
        make_class(Path(__file__).parents[2] / "class-of-mine")


def test_grading_a_folder_that_is_no_class_says_how_to_make_one(tmp_path):
    with pytest.raises(ClassError, match=r"run\.py class"):
        settings(tmp_path)


@pytest.mark.parametrize(
    "arguments", [["grade"], ["grade", "x", "99_nothing"], ["class", "x", "--lang", "fr"]]
)
def test_a_wrong_command_line_is_a_clear_error(arguments):
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
