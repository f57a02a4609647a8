"""Whose it is, of which unit, which is the newest (S06), and when it was handed in (I02)."""

import datetime
import json
import os
import unicodedata
from pathlib import Path

import pytest

from autograder import names
from autograder.classroom import ClassError, make_class
from autograder.deadline import time_zone
from autograder.grade import gradebook
from autograder.intake import collect
from autograder.rows import COLLECTED, OLDER, REFUSED
from tests.autograder.repairing import UNIT
from tests.autograder.sending import (
    LATER,
    NOW,
    kept,
    lay,
    nameless,
    notebook,
    submitted,
    take,
    timestamp,
)


@pytest.fixture
def folder(tmp_path) -> Path:
    make_class(tmp_path / "class")
    return tmp_path / "class"


# ---------------------------------------------------------------- S06: names


@pytest.mark.parametrize(
    "name",
    [
        "Copy of 02_rms_norm.ipynb",
        "02_rms_norm (1).ipynb",
        "02_rms_norm의 사본.ipynb",
        unicodedata.normalize("NFD", "02_rms_norm의 사본.ipynb"),
        "02_rms_norm - 복사본.ipynb",
        "02_rms_norm-1.ipynb",
        "02_rms_norm-Copy1.ipynb",
        "Copy of Copy of 02_rms_norm (12).ipynb",
        "LATE_02_rms_norm.ipynb",
        "02_rmsnorm.ipynb",
        "02_RMS_Norm.IPYNB",
        "02_rms_norm.ipynb.txt",
        "숙제 02_rms_norm 최종.ipynb",
    ],
)
def test_s06_the_unit_is_recognised_by_the_name_where_nothing_in_it_says(folder, name):
    rows = take(folder, {f"kim/{name}": nameless(notebook("mine"))})
    assert rows["kim"].unit == UNIT
    assert submitted(folder, "kim") == "mine"


def test_s06_what_is_in_it_counts_more_than_its_name(folder):
    marked = json.loads(notebook())
    marked["metadata"] = {}
    files = {
        "kim/04_ffn_expansion.ipynb": notebook(), "lee/04_ffn_expansion.ipynb": json.dumps(marked),
        "park/work.ipynb": nameless(notebook()),
    }  # fmt: skip
    rows = take(folder, {n: d.encode() if isinstance(d, str) else d for n, d in files.items()})
    assert [rows[s].unit for s in ("kim", "lee")] == [UNIT, UNIT]
    assert rows["park"].status == REFUSED
    assert "is of no unit that is known" in rows["park"].notes[0]
    park = {"park/work.ipynb": nameless(notebook("named on the command line"))}
    take(folder, park, unit=UNIT)
    assert submitted(folder, "park") == "named on the command line"


def test_s06_one_student_not_two_and_the_newest_counts(folder):
    name = "김 민지"
    files = {
        f"{unicodedata.normalize('NFC', name)}/02_rms_norm.ipynb": notebook("old"),
        f"{unicodedata.normalize('NFD', name)}/02_rms_norm (1).ipynb": notebook("new"),
    }
    source = lay(folder.parent / "sent", files)
    for hour, name in enumerate(files):
        os.utime(source / name, (hour, hour))
    rows = collect(folder, [source], now=NOW)
    assert [(row.student, row.status) for row in rows] == [
        ("김~민지", COLLECTED), ("김~민지", OLDER),
    ]  # fmt: skip
    assert submitted(folder, "김~민지") == "new"
    assert kept(folder, "김~민지") == {*files.values()}


def test_a_newer_one_in_a_later_zip_replaces_the_older(folder):
    take(folder, {"kim/02_rms_norm.ipynb": notebook("old")})
    rows = take(folder, {"kim/02_rms_norm.ipynb": notebook("new")}, now=LATER)
    assert submitted(folder, "kim") == "new"
    assert rows["kim"].status == COLLECTED
    assert kept(folder, "kim") == {notebook("old"), notebook("new")}


def test_a_zip_of_canvas_collected_late_does_not_undo_a_newer_file(folder):
    take(folder, {"kim_12345_68000_02_rms_norm.ipynb": notebook("new")})
    take(folder, {"kim_12345_67000_02_rms_norm.ipynb": notebook("old")}, now=LATER)
    assert submitted(folder, "kim-12345") == "new"


@pytest.mark.parametrize(
    ("name", "identity"),
    [("김 민지", "김~민지"), ("O'Brien, Áine", "O=27Brien=2C~Áine"), ("kim_minji-2", "kim_minji-2"),
     ("a~b=c", "a=7Eb=3Dc"), ("../x", "=2E.=2Fx"), (".hidden.", "=2Ehidden=2E"), ("-rf", "=2Drf"),
     ("k*m[1]?", "k=2Am=5B1=5D=3F"), ("a@b.kr", "a@b.kr"), ("😀", "=F0=9F=98=80")],
)  # fmt: skip
def test_a_students_name_becomes_a_safe_id_and_comes_back(name, identity):
    assert names.student_id(name) == identity
    assert names.student_name(identity) == name


# ---------------------------------------------------------------- I02: time


def blackboard(moment: str) -> str:
    return f"Unit 2_s{moment[-8:-6]}_attempt_2026-03-{moment}_02_rms_norm.ipynb"


def test_i02_deadlines_in_korea(folder):
    files = {blackboard("10-23-58-00"): notebook(), blackboard("11-00-05-00"): notebook()}
    due = datetime.datetime(2026, 3, 10, 14, 59)  # UTC: 23:59 in Korea
    with gradebook(folder) as book:
        book.add_assignment(UNIT, duedate=due)
    rows = take(folder, files, timezone="Asia/Seoul")
    assert timestamp(folder, "s23") == "2026-03-10 14:58:00 UTC"
    assert timestamp(folder, "s00") == "2026-03-10 15:05:00 UTC"
    assert [rows["s23"].late, rows["s00"].late] == ["", "0.1 h"]
    assert seconds_late(folder) == {"s23": 0, "s00": 360}
    with gradebook(folder) as book:
        book.update_or_create_assignment(UNIT, duedate=due + datetime.timedelta(hours=1))
    assert seconds_late(folder) == {"s23": 0, "s00": 0}
    assert take(folder, files)["s00"].late == ""


def seconds_late(folder: Path) -> dict[str, float]:
    """What nbgrader makes of the times in submitted/."""
    with gradebook(folder) as book:
        found = {}
        for student in ("s23", "s00"):
            book.update_or_create_student(student)
            moment = names.read_time(timestamp(folder, student) or "")
            assert moment
            sent = book.update_or_create_submission(
                UNIT, student, timestamp=moment.replace(tzinfo=None)
            )
            found[student] = sent.total_seconds_late
        return found


def test_a_time_without_a_zone_is_not_guessed_and_the_zone_is_set_once(folder):
    files = {blackboard("10-23-58-00"): notebook()}
    with pytest.raises(ClassError, match="--timezone"):
        take(folder, files)
    with pytest.raises(ClassError, match="No time zone Mars"):
        take(folder, files, timezone="Mars")
    assert not (folder / "received").exists()
    take(folder, files, timezone="Asia/Seoul")
    take(folder, files)
    with pytest.raises(ClassError, match="is Asia/Seoul"):
        take(folder, files, timezone="Europe/Paris")
    assert str(time_zone(folder)) == "Asia/Seoul"
