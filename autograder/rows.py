"""The table of what came in, a row for each file: on the screen, and as received/report.csv."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from rich.table import Table
from rich.text import Text

from autograder.names import student_name
from autograder.received import write_whole

COLLECTED, OLDER, REFUSED = "collected", "older, not graded", "refused"
COLUMNS = ("student", "name", "unit", "file", "source", "time", "late", "status", "notes")
STYLES = {COLLECTED: "", OLDER: "dim", REFUSED: "red"}


@dataclass(frozen=True)
class Row:
    """What became of one file; when: UTC; notes: what was repaired, or why it was refused."""

    student: str
    unit: str
    file: str
    source: str
    status: str
    notes: list[str] = field(default_factory=list)
    when: datetime | None = None
    late: str = ""

    @property
    def name(self) -> str:
        """The student's name as the LMS writes it."""
        return student_name(self.student)

    def time(self, zone: tzinfo) -> str:
        return f"{self.when.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}" if self.when else ""


def table(rows: Iterable[Row], zone: tzinfo | None = None) -> Table:
    """The rows as rich shows them; nothing in a name or a file is taken for markup."""
    shown = Table("student", "unit", "file", "time", "late", "what was done", title="collected")
    for row in rows:
        who = row.student if row.name == row.student else f"{row.student} ({row.name})"
        done = "; ".join([*([] if row.status == COLLECTED else [row.status]), *row.notes])
        cells = (who, row.unit, row.file, row.time(zone or UTC), row.late, done)
        shown.add_row(*map(_text, cells), style=STYLES[row.status])
    return shown


def _text(words: str) -> Text:
    return Text("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words))


def write_report(path: Path, rows: Iterable[Row], zone: tzinfo | None = None) -> None:
    """The rows as CSV that a spreadsheet opens with its Hangul whole and no formula in it.

    A report of an earlier run that said something else is kept beside it, named by its time.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        notes, moment = "; ".join(row.notes), row.time(zone or UTC)
        who = (row.student, row.name, row.unit, row.file, row.source)
        writer.writerow(map(_cell, (*who, moment, row.late, row.status, notes)))
    path.parent.mkdir(exist_ok=True)
    written = text.getvalue().encode("utf-8-sig", "replace")
    if path.exists() and path.read_bytes() != written:
        path.rename(_earlier(path, zone or UTC))
    write_whole(path, written)


def _earlier(path: Path, zone: tzinfo) -> Path:
    """A free name for a report by when it was written, such as report-20260310-150405.csv."""
    moment = datetime.fromtimestamp(path.stat().st_mtime, zone)
    name, count = f"{path.stem}-{moment:%Y%m%d-%H%M%S}", 1
    place = path.with_name(f"{name}{path.suffix}")
    while place.exists():
        count += 1
        place = path.with_name(f"{name}-{count}{path.suffix}")
    return place


def _cell(words: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{words}" if words.startswith(("=", "+", "-", "@", "\t", "\r")) else words
