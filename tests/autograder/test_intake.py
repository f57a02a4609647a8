"""What students sent, by every way it comes; nothing of it is lost."""

import csv
import json
import os
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.classroom import ClassError, make_class
from autograder.cli import app
from autograder.demo import Student, hand_in
from autograder.intake import collect
from autograder.rows import COLLECTED, REFUSED
from tests.autograder.mutate import spoil
from tests.autograder.repairing import UNIT, find, submission
from tests.autograder.sending import (
    LATER,
    NOW,
    everything,
    kept,
    lay,
    notebook,
    submitted,
    submitted_text,
    take,
    timestamp,
)
from tests.autograder.test_archives import zipped


@pytest.fixture
def folder(tmp_path) -> Path:
    make_class(tmp_path / "class")
    return tmp_path / "class"


# ---------------------------------------------------------------- the ways it comes


def test_a_zip_of_canvas(folder):
    rows = take(
        folder,
        {
            "kimminji_12345_67890_02_rms_norm.ipynb": notebook("old"),
            "kimminji_12345_67999_02_rms_norm-1.ipynb": notebook("new"),
            "leejun_LATE_22222_68000_Copy of 02_rms_norm.ipynb": notebook("late"),
            "kimminji_33333_68001_02_rms_norm.ipynb": notebook("a namesake"),
            "LATE_anon_aB3xY_68002_02_rms_norm.ipynb": notebook("anonymous"),
        },
    )
    said = {s: submitted(folder, s) for s in rows}
    assert said == {
        "kimminji-12345": "new", "leejun-22222": "late", "kimminji-33333": "a namesake",
        "anon-aB3xY": "anonymous",
    }  # fmt: skip
    late = {s for s, row in rows.items() if row.late == "Canvas says late"}
    assert late == {"leejun-22222", "anon-aB3xY"}
    assert timestamp(folder, "leejun-22222") is None  # how late, the zip does not say


@pytest.mark.parametrize(
    "form",
    [
        "{name}_{number}_assignsubmission_file_/{file}",
        "{name}_{number}_assignsubmission_file/{file}",
        "{name}_{number}_assignsubmission_file_{file}",
    ],
)
def test_a_zip_of_moodle_in_folders_and_flat(folder, form):
    people = {("김 민지", "101"): "one", ("Jun Lee", "102"): "two", ("Jun Lee", "103"): "three"}
    files = {
        form.format(name=name, number=number, file="02_rms_norm.ipynb"): notebook(mark)
        for (name, number), mark in people.items()
    }
    rows = take(folder, files | {"Jun Lee_102_assignsubmission_onlinetext_/online.html": b"hello"})
    assert {s: submitted(folder, s) for s in rows} == {
        "김~민지": "one", "Jun~Lee-102": "two", "Jun~Lee-103": "three",
    }  # fmt: skip
    assert rows["김~민지"].name == "김 민지"
    assert b"hello" in kept(folder, "Jun~Lee-102")


def test_a_namesake_in_a_later_zip_of_moodle_is_not_the_same_person(folder):
    name = "Jun Lee_{}_assignsubmission_file_/02_rms_norm.ipynb"
    take(folder, {name.format(102): notebook("two")})
    files = {name.format(n): notebook(m) for n, m in ((102, "two"), (103, "three"))}
    rows = take(folder, files, now=LATER)
    said = {s: submitted(folder, s) for s in rows}
    assert said == {"Jun~Lee": "two", "Jun~Lee-103": "three"}


def test_a_zip_of_blackboard_with_its_texts(folder):
    start = "Unit 2_kim_minji_attempt_2026-03-10-{}"
    person = b"Name: Kim Minji (kim_minji)\nAssignment: Unit 2\n"
    rows = take(
        folder,
        {
            start.format("09-00-00_02_rms_norm.ipynb"): notebook("old"),
            start.format("09-00-00.txt"): person,
            start.format("21-00-00_02_rms_norm.ipynb"): notebook("new"),
            start.format("21-00-00.txt"): person + b"again",
            "Unit 2_lee_attempt_2026-03-10-10-00-00_02_rms_norm.ipynb": notebook("lee"),
        },
        timezone="Asia/Seoul",
    )
    assert {s: submitted(folder, s) for s in rows} == {"kim_minji": "new", "lee": "lee"}
    assert timestamp(folder, "kim_minji") == "2026-03-10 12:00:00 UTC"
    assert {person, person + b"again"} <= kept(folder, "kim_minji")


@pytest.mark.parametrize("wrapper", ["", "handed in/"])
def test_a_plain_folder_and_files_named_after_students(folder, wrapper):
    files = {
        "kim/02_rms_norm.ipynb": notebook("kim"),
        "이 준/02_rms_norm/02_rms_norm.ipynb": notebook("lee"),
    }
    assert {*take(folder, {wrapper + n: d for n, d in files.items()})} == {"kim", "이~준"}
    flat = {
        "park.ipynb": notebook("park"), "02_rms_norm_choi.ipynb": notebook("choi"),
        "jung-02 rms norm (1).ipynb": notebook("jung"), "02_rms_norm.ipynb": notebook("whose?"),
    }  # fmt: skip
    rows = collect(folder, [lay(folder.parent / "flat", flat)], now=NOW)
    assert {row.student for row in rows if row.status == COLLECTED} == {"park", "choi", "jung"}
    assert ["nothing says whose it is" in row.notes[0] for row in rows if not row.student] == [True]


def test_a_zipped_folder_of_files_named_after_students_is_not_one_student(folder):
    files = {"week 2/kim.ipynb": notebook("kim"), "week 2/lee.ipynb": notebook("lee")}
    rows = take(folder, files | {"week 2/list.csv": b"1"})
    assert {s: submitted(folder, s) for s in rows} == {"kim": "kim", "lee": "lee"}
    rows = take(folder, {"oh/02_rms_norm.ipynb": notebook(), "oh/02_rms_norm (1).ipynb": b""})
    assert {*rows} == {"oh"}


def test_a_file_name_of_no_encoding_is_taken(folder):
    source = lay(folder.parent / "sent", {"kim/x": b""})
    Path(os.fsdecode(os.fsencode(source / "kim") + b"/\xff_02_rms_norm.ipynb")).write_bytes(
        notebook()
    )
    assert {row.status for row in collect(folder, [source], now=NOW)} == {COLLECTED}


def test_nbgraders_exchange(folder):
    source = folder.parent / "inbound"
    for student, moment, mark in (
        ("kim", "2026-03-10 09:00:00.123456 UTC", "old"),
        ("kim", "2026-03-10 19:00:00.123456 Asia/Seoul", "new"),
        ("lee", "2026-03-10 09:00:00.5 KST", "lee"),
    ):
        place = f"{student}+{UNIT}+{moment}+MDEyMzQ1Njc4"
        files = {
            f"{UNIT}.ipynb": notebook(mark),
            "submission_secret.txt": b"s",
            "timestamp.txt": b"",
        }
        lay(source, {f"{place}/{name}": data for name, data in files.items()})
    rows = collect(folder, [source], timezone="Asia/Seoul", now=NOW)
    counts = {row.student: row for row in rows if row.status == COLLECTED}
    assert {s: submitted(folder, s) for s in counts} == {"kim": "new", "lee": "lee"}
    assert timestamp(folder, "kim") == "2026-03-10 10:00:00 UTC"
    assert timestamp(folder, "lee") == "2026-03-10 00:00:00 UTC"
    assert (folder / "submitted" / "kim" / UNIT / "submission_secret.txt").read_text() == "s"


def test_the_submitted_folder_of_another_class_with_its_times(folder):
    files = {f"kim/{UNIT}/{UNIT}.ipynb": notebook(), f"kim/{UNIT}/timestamp.txt": b"2026-03-10 1:0"}
    take(folder, files | {f"kim/{UNIT}/timestamp.txt": b"2026-03-10 01:02:03 UTC"})
    assert timestamp(folder, "kim") == "2026-03-10 01:02:03 UTC"


# ---------------------------------------------------------------- nothing is lost


def mixed() -> dict[str, bytes]:
    """Good, repaired, refused, doubled: one of each."""
    cut = json.loads(notebook())
    cut["cells"] = [c for c in cut["cells"] if c["id"] != "rms_by_hand"]
    return {
        "kim/02_rms_norm.ipynb": notebook("kim"), "kim/02_rms_norm (1).ipynb": notebook("newer"),
        "kim/notes.txt": b"please be kind", "lee/02_rms_norm.ipynb": json.dumps(cut).encode(),
        "park/02_rms_norm.ipynb": notebook()[:1000], "choi/02_rms_norm.ipynb": b"",
        "jung/work.ipynb": zipped({"a.ipynb": notebook("zipped")}), "han/report.pdf": b"%PDF",
        "oh/02_rms_norm.ipynb": b"\xef\xbb\xbf" + notebook("marked"), "im/work.rar": b"Rar!",
        "../../yun/02_rms_norm.ipynb": notebook(), "min/all.zip": zipped({"b.zip": b""}),
    }  # fmt: skip


def test_s07_one_students_trouble_is_one_line_and_the_others_are_collected(folder):
    rows = take(folder, mixed())
    for student in ("kim", "lee", "jung", "oh"):
        assert rows[student].status == COLLECTED
    assert sum(row.status == REFUSED and row.notes != [] for row in rows.values()) == len(rows) - 4
    assert "ends in the middle" in rows["park"].notes[0]
    assert "is empty" in rows["choi"].notes[0]
    assert "is no notebook" in rows["han"].notes[0]
    assert "archive" in rows["im"].notes[0]
    assert "0 notebooks" in rows["min"].notes[0]
    assert submitted(folder, "jung") == "zipped"
    assert submitted(folder, "oh") == "marked"
    assert rows["lee"].notes == ["rms_by_hand: not there; put back"]


def test_everything_is_kept_byte_for_byte_and_nothing_is_written_outside(folder):
    before = {*folder.parent.rglob("*")}
    take(folder, mixed())
    found = {
        data for name in folder.joinpath("received").iterdir() for data in kept(folder, name.name)
    }
    sent = {data for name, data in mixed().items() if ".." not in name}
    assert sent <= found
    new = {*folder.parent.rglob("*")} - before - {folder.parent / "sent.zip"}
    assert all(path.is_relative_to(folder) for path in new)
    assert not any(path.is_symlink() for path in new)


def test_collecting_twice_changes_nothing(folder):
    first = take(folder, mixed())
    before = everything(folder)
    assert take(folder, mixed(), now=LATER) == first
    assert everything(folder) == before


def test_an_older_file_that_can_be_read_counts_where_the_newest_cannot(folder):
    take(folder, {"kim/02_rms_norm.ipynb": notebook("whole")})
    rows = collect(
        folder, [lay(folder.parent / "s", {"kim/02_rms_norm.ipynb": notebook()[:99]})], now=LATER
    )
    assert [row.status for row in rows] == [REFUSED, COLLECTED]
    assert submitted(folder, "kim") == "whole"


def test_a_submission_that_somebody_else_put_there_is_kept(folder):
    take(folder, {"kim/02_rms_norm.ipynb": notebook("sent")})
    path = folder / "submitted" / "kim" / UNIT / f"{UNIT}.ipynb"
    path.write_bytes(notebook("mended by the instructor"))
    take(folder, {"kim/02_rms_norm.ipynb": notebook("sent")}, now=LATER)
    assert submitted(folder, "kim") == "mended by the instructor"
    take(folder, {"kim/02_rms_norm.ipynb": notebook("again")}, now=LATER + (LATER - NOW))
    assert submitted(folder, "kim") == "again"
    assert notebook("mended by the instructor") in kept(folder, "kim")


def test_a_run_that_was_stopped_goes_on(folder, monkeypatch):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("autograder.received._write_about", stop)
        with pytest.raises(KeyboardInterrupt):
            take(folder, {"kim/02_rms_norm.ipynb": notebook("sent")})
    assert take(folder, {"kim/02_rms_norm.ipynb": notebook("sent")})["kim"].status == COLLECTED
    assert len([*(folder / "received").rglob("*.ipynb")]) == 1


def test_a_class_with_its_own_release_is_repaired_by_that(folder):
    own = json.loads(json.dumps(submission()))
    find(own, "rms_norm")["source"] = 'check("rms_norm")  # mended'
    lay(folder, {f"release/{UNIT}/{UNIT}.ipynb": json.dumps(own).encode()})
    rows = take(folder, {"kim/02_rms_norm.ipynb": notebook()})
    assert "rms_norm: was changed; restored" in rows["kim"].notes
    assert "# mended" in submitted_text(folder, "kim")


def test_only_one_unit_is_collected_if_one_is_named(folder):
    rows = take(folder, {"kim/a.ipynb": notebook()}, unit="03_causal_mask")
    assert rows["kim"].notes == [f"is of {UNIT}, and only 03_causal_mask is being collected"]
    assert not (folder / "submitted" / "kim").exists()
    with pytest.raises(ClassError, match="No unit 99"):
        take(folder, {}, unit="99")


def test_every_one_of_a_hundred_spoilt_notebooks_has_a_row(folder):
    with zipfile.ZipFile(folder.parent / "spoilt.zip", "w") as archive:
        for seed in range(100):
            archive.writestr(f"s{seed}/02_rms_norm.ipynb", spoil(submission(), seed)[1])
    rows = collect(folder, [folder.parent / "spoilt.zip"], now=NOW)
    assert {row.student for row in rows} == {f"s{seed}" for seed in range(100)}
    assert all(row.notes for row in rows if row.status == REFUSED)
    assert not any("could not be repaired" in note for row in rows for note in row.notes)


# ---------------------------------------------------------------- the command


def test_the_command_shows_the_table_and_writes_the_same_as_csv(folder):
    source = lay(folder.parent / "sent", {n: d for n, d in mixed().items() if ".." not in n})
    lay(source, {"=cmd() [red]/02_rms_norm.ipynb": notebook("formula")})
    result = CliRunner().invoke(app, ["collect", str(folder), str(source)], env={"COLUMNS": "400"})
    assert result.exit_code == 1  # some were refused
    assert "5 to grade" in result.output
    with open(folder / "received" / "report.csv", encoding="utf-8-sig") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert {"kim", "park", "im"} <= {*rows}
    assert any(row["name"] == "'=cmd() [red]" for row in rows.values())
    assert "ends in the middle" in rows["park"]["notes"]


def test_the_report_of_an_earlier_run_is_kept_beside_the_new_one(folder):
    report, moment = folder / "received" / "report.csv", NOW.timestamp()
    earlier = []
    for mark in ("a", "b", "c"):
        take(folder, {f"{mark}/02_rms_norm.ipynb": notebook(mark)}, timezone="Asia/Seoul")
        os.utime(report, (moment, moment))
        earlier.append(report.read_bytes())
    places = [folder / "received" / f"report-20260320-210000{n}.csv" for n in ("", "-2")]
    assert [path.read_bytes() for path in (*places, report)] == earlier


def test_deadline_prints_a_time_zone_that_it_takes(folder):
    done = CliRunner().invoke(
        app, ["deadline", str(folder), UNIT, "2026-03-10 23:59", "--timezone", "Asia/Seoul"]
    )
    assert f"{UNIT} is due 2026-03-10 23:59 Asia/Seoul." in done.output


def test_a_source_that_is_not_there_is_a_line_and_a_folder_that_is_no_class_an_error(folder):
    rows = collect(folder, [folder.parent / "nothing.zip"], now=NOW)
    assert [(row.status, row.file) for row in rows] == [(REFUSED, "nothing.zip")]
    with pytest.raises(ClassError, match=r"run\.py class"):
        collect(folder.parent, [])


def test_the_demo_class_sent_by_canvas_is_collected_as_it_was(folder):
    sent = {s: json.dumps(hand_in(UNIT, Student(s))).encode() for s in ("ada", "bora")}
    rows = take(
        folder, {f"{s}_1234_567{i}_{UNIT}.ipynb": d for i, (s, d) in enumerate(sent.items())}
    )
    assert {row.status for row in rows.values()} == {COLLECTED}
    assert [row.notes for row in rows.values()] == [[], []]
