"""What the tests of intake share: what students send, and what became of it."""

import datetime
import json
from pathlib import Path
from typing import Any

from autograder.intake import collect
from autograder.rows import COLLECTED, Row
from tests.autograder.repairing import UNIT, answers, find, submission
from tests.autograder.test_archives import make_zip

NOW = datetime.datetime(2026, 3, 20, 12, tzinfo=datetime.UTC)
LATER = NOW + datetime.timedelta(days=1)


def notebook(mark: str = "first", language: str = "en") -> bytes:
    """A submission that can be told from others by what it says of itself."""
    sent = submission(language)
    find(sent, "norm_is_not_residual")["source"] = mark
    return json.dumps(sent, ensure_ascii=False).encode()


def nameless(data: bytes) -> bytes:
    """The same without anything that says which unit it is of."""
    sent = json.loads(data)
    sent["metadata"] = {}
    for cell in sent["cells"]:
        cell["metadata"] = {}
    return json.dumps(sent).encode()


def lay(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def take(folder: Path, files: dict[str, bytes], now=NOW, **options: Any) -> dict[str, Row]:
    """Collect a zip of these files; the rows by student, the one that counts if there are many."""
    rows = collect(folder, [make_zip(folder.parent / "sent.zip", files)], now=now, **options)
    return {row.student: row for row in sorted(rows, key=lambda row: row.status == COLLECTED)}


def submitted(folder: Path, student: str, unit: str = UNIT) -> str:
    """The written answer of what is to be graded."""
    path = folder / "submitted" / student / unit / f"{unit}.ipynb"
    return "".join(answers(json.loads(path.read_text("utf-8")))["norm_is_not_residual"])


def submitted_text(folder: Path, student: str) -> str:
    return (folder / "submitted" / student / UNIT / f"{UNIT}.ipynb").read_text("utf-8")


def timestamp(folder: Path, student: str) -> str | None:
    path = folder / "submitted" / student / UNIT / "timestamp.txt"
    return path.read_text("utf-8") if path.exists() else None


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a class with its content and when it was written."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(p): (p.read_bytes(), p.stat().st_mtime_ns) for p in files}


def kept(folder: Path, student: str) -> set[bytes]:
    """The content of all that was kept of a student."""
    files = (folder / "received" / student).rglob("*")
    return {path.read_bytes() for path in files if path.is_file() and path.name != "about.json"}
