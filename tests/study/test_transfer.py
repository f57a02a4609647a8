"""A record taken along as a file: nothing is lost on the way, and nothing bad gets in."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from blocklab import export_progress, import_progress, mine, my_answer, record
from blocklab.study.transfer import merge

OWN = "def residual_add(x, delta):\n    return x + delta"


def other_computer(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BLOCKLAB_HOME", str(tmp_path / "other"))


def test_everything_arrives_on_another_computer(monkeypatch, tmp_path, capsys):
    record.note("residual_add", 1.0, OWN, True)
    mine.put("residual_add", OWN)
    record.note("rms_norm", 0.5, "rms_norm = 1", True)
    record.answer("what_is_lost", "An update.")
    record.tick("what_is_lost", [0, 2])
    before = record.read()
    export_progress("along.json")
    assert str(Path("along.json").resolve()) in capsys.readouterr().out
    other_computer(monkeypatch, tmp_path)
    import_progress("along.json")
    assert record.read() == before
    assert my_answer("rms_norm") == "rms_norm = 1"
    assert mine.residual_add(1, 2) == 3
    assert "3 of 3" in capsys.readouterr().out


def test_reading_it_twice_changes_nothing(capsys):
    record.note("rms_norm", 0.5, "rms_norm = 1", True)
    export_progress("along.json")
    before = record.read()
    import_progress("along.json")
    assert record.read() == before
    assert "0 of 1" in capsys.readouterr().out


OLD = {"best": 1.0, "attempts": 3, "source": "old", "tried": "2026-01-01", "passed": "2026-01-01"}
NEW = {"best": 0.5, "attempts": 5, "source": "new", "tried": "2026-02-01"}


def test_a_merge_loses_neither_a_pass_nor_a_newer_answer():
    both = {**OLD, "attempts": 5, "source": "new", "tried": "2026-02-01"}
    assert merge(OLD, NEW) == both
    assert merge(NEW, OLD) == both
    assert merge({}, OLD) == OLD == merge(OLD, {})


@pytest.mark.parametrize(("theirs", "stays"), [("2025", "here"), ("2027", "there")])
def test_of_two_kept_answers_the_newer_one_stays(theirs, stays):
    record.write({"residual_add": {"kept": "2026"}})
    mine.put("residual_add", "here")
    content = {"residual_add": {"kept": theirs}}, {"residual_add": "there"}
    along = {"format": "blocklab-progress", "record": content[0], "mine": content[1]}
    Path("along.json").write_text(json.dumps(along))
    import_progress("along.json")
    assert mine.file("residual_add").read_text() == stays


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"rms_norm": {"best": 1}}', b'{"format": "x"}']
)
def test_another_file_is_refused_and_nothing_changes(content):
    record.note("rms_norm", 0.5, "rms_norm = 1", True)
    before = record.read()
    Path("along.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"along\.json is not a file that export_progress"):
        import_progress("along.json")
    assert record.read() == before


def test_a_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match=r"There is no file along\.json"):
        import_progress("along.json")


def test_only_known_answers_come_in(home):
    along = {
        "format": "blocklab-progress",
        "record": {"rms_norm": {"best": "much", "attempts": 2}, "new_one": {"attempts": 1}, "x": 1},
        "mine": {"../../evil": "x", "rms_norm": 3},
    }
    Path("along.json").write_text(json.dumps(along))
    import_progress("along.json")
    assert record.read() == {"rms_norm": {"attempts": 2}, "new_one": {"attempts": 1}}
    assert not (home / "mine").exists()


def test_colab_offers_a_download(monkeypatch):
    colab, got = ModuleType("google.colab"), []
    colab.files = ModuleType("files")  # type: ignore[attr-defined]
    colab.files.download = got.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "google", ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    export_progress("along.json")
    assert got == ["along.json"]
