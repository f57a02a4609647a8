"""What an LMS zip or a folder contains, read without trusting it: nothing is ever unpacked to disk.

Every file becomes a `Member`, read one at a time and only into memory. What is dangerous or too
large is a member too, with the reason why it cannot be read, so that the rest goes on.
"""

import io
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1_000_000
MAX_FILE = 50 * MEGABYTE  # one file that a student sent
MAX_TOTAL = 4_000 * MEGABYTE  # all that one archive says it holds
MAX_MEMBERS = 20_000  # files in one archive or folder
MAX_PATH = 1_000  # characters of a path in an archive

ZIP_START = (b"PK\x03\x04", b"PK\x05\x06")
OTHER_ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
CLUTTER = {"__MACOSX", ".ipynb_checkpoints", ".git", "__pycache__"}
CLUTTER_FILES = {".ds_store", "thumbs.db", "desktop.ini"}
TRANSPORT_ERRORS = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError,
    NotImplementedError,
)  # fmt: skip


class Refused(Exception):
    """Something a student or an LMS sent cannot be taken; its text says why, for the report."""


@dataclass(frozen=True)
class Member:
    """One file of an archive or folder.

    parts: its path, NFC-normalised; modified: seconds, only good for telling older from newer;
    refused: why it cannot be read, or "".
    """

    parts: tuple[str, ...]
    modified: float
    load: Callable[[], bytes]
    refused: str = ""

    @property
    def name(self) -> str:
        return self.parts[-1]

    def read(self) -> bytes:
        """Its bytes, at most MAX_FILE. Raises Refused with the reason where it cannot be read."""
        if self.refused:
            raise Refused(self.refused)
        try:
            return self.load()
        except TRANSPORT_ERRORS as error:
            raise Refused(f"cannot be read: {error}") from error


@contextmanager
def opened(source: Path) -> Iterator[list[Member]]:
    """The files of a zip, of a folder, or a single file.

    Raises Refused where the whole source cannot be taken.
    """
    if source.is_dir():
        yield _without_clutter(_folder_members(source))
    elif not source.is_file():
        raise Refused("there is no such file or folder")
    elif source.suffix.lower() in OTHER_ARCHIVES:
        raise Refused("only .zip archives are read; unpack it and name the folder")
    elif ".ipynb" in source.name.lower() and source.suffix.lower() != ".zip":
        yield [_file_member(source, _parts(source.name))]
    else:
        with _zip(source) as archive:
            yield _without_clutter(_zip_members(archive))


def notebook_inside(data: bytes) -> bytes:
    """The one notebook of a zip that a student sent in its place.

    Raises Refused if it does not hold exactly one; archives in it are not opened.
    """
    with _zip(io.BytesIO(data)) as archive:
        found = [
            m for m in _without_clutter(_zip_members(archive)) if m.name.lower().endswith(".ipynb")
        ]
        if len(found) != 1:
            raise Refused(f"is a zip with {len(found)} notebooks in it; send the one notebook")
        return found[0].read()


def is_zip(data: bytes) -> bool:
    return data.startswith(ZIP_START)


# ---------------------------------------------------------------- zips


@contextmanager
def _zip(file: Path | io.BytesIO) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(file)
    except TRANSPORT_ERRORS as error:
        raise Refused(f"is no zip that can be read: {error}") from error
    with archive:
        yield archive


def _zip_members(archive: zipfile.ZipFile) -> Iterator[Member]:
    infos = [info for info in archive.infolist() if not info.is_dir()]
    if len(infos) > MAX_MEMBERS:
        raise Refused(f"holds {len(infos)} files, more than {MAX_MEMBERS}")
    total = sum(info.file_size for info in infos)
    if total > MAX_TOTAL:
        raise Refused(f"would unpack to {total // MEGABYTE} MB, more than {MAX_TOTAL // MEGABYTE}")
    for info in infos:
        yield _zip_member(archive, info)


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    path = _decoded(info)
    moment = "".join(f"{part:02d}" for part in info.date_time)
    return Member(
        _parts(path), float(moment), lambda: _content(archive, info), _trouble(info, path)
    )


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """One file; with a size, zipfile unpacks no more than that, whatever its header hides."""
    with archive.open(info) as file:
        return file.read(info.file_size + 1)


def _decoded(info: zipfile.ZipInfo) -> str:
    """The path as its maker meant it: zips from Korean Windows carry cp949 and do not say so."""
    if info.flag_bits & 0x800 or info.filename.isascii():
        return info.filename
    raw = info.filename.encode("cp437", "replace")
    for encoding in ("utf-8", "cp949"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return info.filename


def _parts(path: str) -> tuple[str, ...]:
    known = path.encode("utf-8", "replace").decode()  # a file system may hold names of no encoding
    whole = unicodedata.normalize("NFC", known.replace("\\", "/"))
    return tuple(part for part in whole.split("/") if part not in ("", ".")) or ("nameless",)


def _trouble(info: zipfile.ZipInfo, path: str) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if path.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", path):
        return "has an absolute path in the archive"
    if ".." in _parts(path):
        return "has a path that leads out of the archive"
    if len(path) > MAX_PATH:
        return f"has a path of more than {MAX_PATH} characters"
    if kind not in (0, stat.S_IFREG):
        return "is a link or a special file, not a file"
    if info.flag_bits & 0x1:
        return "is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is compressed in a way that is not read here"
    return _too_large(info.file_size)


def _too_large(size: int) -> str:
    if size <= MAX_FILE:
        return ""
    return f"is {size // MEGABYTE} MB large, more than {MAX_FILE // MEGABYTE}"


# ---------------------------------------------------------------- folders


def _folder_members(folder: Path) -> Iterator[Member]:
    paths = sorted(Path(top) / name for top, _, names in os.walk(folder) for name in names)
    linked = [Path(t) / n for t, ns, _ in os.walk(folder) for n in ns if (Path(t) / n).is_symlink()]
    if len(paths) > MAX_MEMBERS:
        raise Refused(f"holds {len(paths)} files, more than {MAX_MEMBERS}")
    for path in [*paths, *linked]:
        yield _file_member(path, _parts(path.relative_to(folder).as_posix()))


def _file_member(path: Path, parts: tuple[str, ...]) -> Member:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        return Member(parts, 0.0, bytes, "is a link or a special file, not a file")
    return Member(parts, found.st_mtime, path.read_bytes, _too_large(found.st_size))


def _without_clutter(members: Iterator[Member]) -> list[Member]:
    """All but what operating systems and Jupyter leave behind by themselves."""
    return [
        m
        for m in members
        if CLUTTER.isdisjoint(m.parts[:-1])
        and not m.name.startswith("._")
        and m.name.lower() not in CLUTTER_FILES
    ]
