"""All that students sent, byte for byte: CLASS/received/STUDENT/UNIT/TIME/ is only added to."""

import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.names import is_work

ABOUT = "about.json"  # in each TIME folder: what is known of every file in it
MAX_STORED_NAME = 150  # bytes of a file's name on disk; the name as sent stands in about.json


@dataclass(frozen=True)
class Arrival:
    """What is known of one file when it comes in.

    file: its name as sent; number, serial: the LMS's for the person and the file; when: handed in,
    UTC, None if nothing says; late: the LMS says so; modified, version: to order what has no time.
    """

    file: str
    lms: str
    source: str
    number: str = ""
    serial: int = 0
    when: datetime | None = None
    late: bool = False
    modified: float = 0.0
    version: int = 0


@dataclass(frozen=True)
class Kept:
    """A file that was kept; stored: its name in folder; received: when it first came in, UTC."""

    arrival: Arrival
    folder: Path
    stored: str
    sha256: str
    received: datetime

    def read(self) -> bytes:
        return (self.folder / self.stored).read_bytes()

    @property
    def is_work(self) -> bool:
        return is_work(self.arrival.file)

    @property
    def moment(self) -> datetime:
        """When it was handed in, or else came in."""
        return self.arrival.when or self.received


class Store:
    """The folder received/ of a class."""

    def __init__(self, folder: Path, now: datetime | None = None) -> None:
        """folder: of the class; now: UTC, the time of this run."""
        self.folder = folder / "received"
        self.now = (now or datetime.now(UTC)).replace(microsecond=0)

    def keep(self, student: str, unit: str, arrival: Arrival, data: bytes) -> None:
        """Keep a file, unless this very one is there already."""
        digest = hashlib.sha256(data).hexdigest()
        known = {_identity(k.arrival, k.sha256) for k in self.kept(student, unit)}
        if _identity(arrival, digest) in known:
            return
        stored = _stored_name(arrival.file)
        folder = self._place(self.folder / student / unit, stored, arrival.when, data)
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / stored, data)
        record = {**asdict(arrival), "sha256": digest, "received": self.now}
        _write_about(folder, {**_read_about(folder), stored: record})

    def _place(self, home: Path, stored: str, when: datetime | None, data: bytes) -> Path:
        """The TIME folder for a file: one in which no other file has its name."""
        name = f"{when:%Y-%m-%dT%H%M%SZ}" if when else f"received-{self.now:%Y-%m-%dT%H%M%SZ}"
        folder, count = home / name, 1
        while (folder / stored).exists():
            left_by_a_stopped_run = stored not in _read_about(folder)
            if left_by_a_stopped_run and (folder / stored).read_bytes() == data:
                break
            count += 1
            folder = home / f"{name}-{count}"
        return folder

    def kept(self, student: str, unit: str) -> list[Kept]:
        """All files of a student for a unit, in the order they are found."""
        home = self.folder / student / unit
        return [
            _from_record(about.parent, stored, record)
            for about in sorted(home.glob(f"*/{ABOUT}"))
            for stored, record in _read_about(about.parent).items()
        ]

    def newest_first(self, student: str, unit: str) -> list[Kept]:
        """The notebooks of a student for a unit: the first is the one that counts."""
        found = [kept for kept in self.kept(student, unit) if kept.is_work]
        if all(kept.arrival.serial for kept in found):
            return sorted(found, key=lambda kept: kept.arrival.serial, reverse=True)
        return sorted(found, key=_age, reverse=True)


def _age(kept: Kept) -> tuple:
    a = kept.arrival
    return kept.moment, kept.received, a.serial, a.modified, a.version, kept.sha256


def _identity(arrival: Arrival, digest: str) -> tuple:
    return digest, arrival.file, arrival.serial, arrival.when


def _stored_name(name: str) -> str:
    """A name that every file system takes; endings stay."""
    safe = re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]', "_", name).strip(" .") or "nameless"
    if safe == ABOUT:
        return f"_{ABOUT}"
    start, dot, end = safe.rpartition(".")
    room = MAX_STORED_NAME - len(end.encode()[:20]) - 1
    if len(safe.encode()) <= MAX_STORED_NAME:
        return safe
    return start.encode()[:room].decode("utf-8", "ignore") + dot + end[:20]


def write_whole(path: Path, data: bytes) -> bool:
    """Write a file whole or not at all; whether its content changed."""
    if path.exists() and path.read_bytes() == data:
        return False
    new = path.with_name(f".{path.name[:60]}.new")
    new.write_bytes(data)
    os.replace(new, path)
    return True


def _read_about(folder: Path) -> dict[str, Any]:
    try:
        return json.loads((folder / ABOUT).read_text("utf-8"))
    except FileNotFoundError:
        return {}


def _write_about(folder: Path, about: dict[str, Any]) -> None:
    text = json.dumps(about, ensure_ascii=False, indent=1, default=datetime.isoformat)
    write_whole(folder / ABOUT, text.encode())


def _from_record(folder: Path, stored: str, record: dict[str, Any]) -> Kept:
    known = dict(record)
    digest, received = known.pop("sha256"), datetime.fromisoformat(known.pop("received"))
    known["when"] = datetime.fromisoformat(known["when"]) if known["when"] else None
    return Kept(Arrival(**known), folder, stored, digest, received)
