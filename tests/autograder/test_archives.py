"""Zips and folders as they come: read in memory, refused with the reason, never written from."""

import io
import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from autograder import archives
from autograder.archives import Refused, notebook_inside, opened


def make_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def read_all(source: Path) -> dict[str, bytes | str]:
    """What each member of a source gives: its bytes, or the reason why not."""
    found: dict[str, bytes | str] = {}
    with opened(source) as members:
        for member in members:
            try:
                found["/".join(member.parts)] = member.read()
            except Refused as refused:
                found["/".join(member.parts)] = str(refused)
    return found


def test_a_zip_and_a_folder_of_the_same_files_read_the_same(tmp_path):
    files = {"kim/a.ipynb": b"{}", "lee/data/b.csv": b"1,2"}
    for name, data in files.items():
        (tmp_path / "folder" / name).parent.mkdir(parents=True)
        (tmp_path / "folder" / name).write_bytes(data)
    assert read_all(tmp_path / "folder") == files
    assert read_all(make_zip(tmp_path / "z.zip", files)) == files


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../../outside.ipynb", "leads out"),
        ("kim/../../outside.ipynb", "leads out"),
        ("..\\outside.ipynb", "leads out"),
        ("/etc/outside.ipynb", "absolute"),
        ("\\\\server\\outside.ipynb", "absolute"),
        ("C:\\outside.ipynb", "absolute"),
        ("a/" * 600 + "outside.ipynb", "characters"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_and_the_rest_read(tmp_path, name, reason):
    found = read_all(make_zip(tmp_path / "z.zip", {name: b"x", "kim/a.ipynb": b"{}"}))
    assert found.pop("kim/a.ipynb") == b"{}"
    (refused,) = found.values()
    assert isinstance(refused, str) and reason in refused
    assert [*tmp_path.iterdir()] == [tmp_path / "z.zip"]


def test_links_are_refused_in_a_zip_and_in_a_folder(tmp_path):
    link = zipfile.ZipInfo("kim/link.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link.ipynb").symlink_to("/etc/passwd")
    (tmp_path / "folder" / "up").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "folder" / "pipe.ipynb")
    found = [*read_all(tmp_path / "z.zip").values(), *read_all(tmp_path / "folder").values()]
    assert len(found) == 4
    assert {*found} == {"is a link or a special file, not a file"}


def test_a_bomb_of_one_file_is_refused_and_the_rest_read(tmp_path):
    bomb = bytes(archives.MAX_FILE + 1)
    found = read_all(make_zip(tmp_path / "z.zip", {"kim/a.ipynb": bomb, "lee/a.ipynb": b"{}"}))
    assert found == {"kim/a.ipynb": "is 50 MB large, more than 50", "lee/a.ipynb": b"{}"}


def test_a_bomb_that_lies_about_its_size_is_no_larger_than_it_said(tmp_path):
    path = make_zip(tmp_path / "z.zip", {"kim/a.ipynb": bytes(5_000_000)})
    size = struct.pack("<I", 5_000_000)
    path.write_bytes(path.read_bytes().replace(size, struct.pack("<I", 10)))
    (found,) = read_all(path).values()
    assert isinstance(found, str) and "cannot be read" in found


def test_a_bomb_of_many_files_is_refused_as_a_whole(tmp_path, monkeypatch):
    path = make_zip(tmp_path / "z.zip", {f"kim/{i}.ipynb": b"x" * 100 for i in range(30)})
    monkeypatch.setattr(archives, "MAX_TOTAL", 2_000)
    with pytest.raises(Refused, match="unpack"), opened(path):
        pass
    monkeypatch.setattr(archives, "MAX_MEMBERS", 20)
    for source in (path, tmp_path):
        make_zip(tmp_path / "y.zip", {})
        monkeypatch.setattr(archives, "MAX_MEMBERS", 1)
        with pytest.raises(Refused, match="holds"), opened(source):
            pass


def test_an_encrypted_file_is_refused(tmp_path):
    path = make_zip(tmp_path / "z.zip", {"kim/a.ipynb": b"{}"})
    data = bytearray(path.read_bytes())
    for header, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(header) + offset] |= 1
    path.write_bytes(data)
    assert read_all(path) == {"kim/a.ipynb": "is encrypted"}


def test_a_compression_without_bounds_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "z.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("kim/a.ipynb", "{}")
    (found,) = read_all(tmp_path / "z.zip").values()
    assert isinstance(found, str) and "compressed" in found


@pytest.mark.parametrize("keep", [0, 10, 60, -30])
def test_a_broken_zip_is_refused_with_the_reason(tmp_path, keep):
    path = make_zip(tmp_path / "z.zip", {"kim/a.ipynb": b"some text " * 9})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(Refused, match="no zip that can be read"), opened(path):
        pass


def test_a_file_with_a_wrong_checksum_is_refused_and_the_rest_read(tmp_path):
    path = tmp_path / "z.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("kim/a.ipynb", b"unchanged")
        archive.writestr("lee/a.ipynb", b"{}")
    path.write_bytes(path.read_bytes().replace(b"unchanged", b"different"))
    found = read_all(path)
    assert "cannot be read" in str(found["kim/a.ipynb"])
    assert found["lee/a.ipynb"] == b"{}"


def test_other_archives_and_what_is_not_there_are_refused(tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(b"x")
    for name, reason in (("a.tar.gz", "only .zip"), ("nothing.zip", "no such file")):
        with pytest.raises(Refused, match=reason), opened(tmp_path / name):
            pass


def test_what_systems_leave_behind_is_not_seen(tmp_path):
    files = {
        "__MACOSX/kim/._a.ipynb": b"x", "kim/.ipynb_checkpoints/a-checkpoint.ipynb": b"x",
        "kim/._a.ipynb": b"x", "kim/.DS_Store": b"x", "kim/Thumbs.db": b"x", "kim/a.ipynb": b"{}",
    }  # fmt: skip
    assert read_all(make_zip(tmp_path / "z.zip", files)) == {"kim/a.ipynb": b"{}"}


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_korean_names_that_do_not_say_how_they_are_written_are_read(tmp_path, encoding):
    raw = "김민지/a.ipynb".encode(encoding)
    path = make_zip(tmp_path / "z.zip", {"?" * len(raw): b"{}"})
    path.write_bytes(path.read_bytes().replace(b"?" * len(raw), raw))
    assert read_all(path) == {"김민지/a.ipynb": b"{}"}


def zipped(files: dict[str, bytes]) -> bytes:
    """A zip that is the same whenever it is made."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return data.getvalue()


def test_one_notebook_in_a_zip_is_taken_out_and_no_archive_in_it_is_opened():
    inner = zipped({"a.ipynb": b"{}"})
    assert notebook_inside(zipped({"my work/a.ipynb": b"{}", "data.csv": b"1"})) == b"{}"
    for files in ({"inner.zip": inner}, {"a.ipynb": b"{}", "b.ipynb": b"{}"}, {}):
        with pytest.raises(Refused, match="send the one notebook"):
            notebook_inside(zipped(files))
