"""What students sent, by whatever way, brought to where nbgrader grades it.

`collect` keeps every file as it came in (received.py), finds out whose it is and of which unit
(names.py), repairs the newest (repair.py) into CLASS/submitted/STUDENT/UNIT/UNIT.ipynb, and returns
a row for each file with what was done or why it was refused. Doing it twice changes nothing.
"""

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import nbformat

from autograder import names
from autograder.archives import Refused
from autograder.arrivals import Arrivals, to_utc
from autograder.classroom import ClassError
from autograder.deadline import deadlines, time_zone
from autograder.match import Release
from autograder.names import TIMESTAMP
from autograder.nbgrader_config import REPOSITORY
from autograder.received import Arrival, Kept, Store, write_whole
from autograder.repair import LANGUAGES, Repaired, repair
from autograder.rows import COLLECTED, OLDER, REFUSED, Row, write_report


def collect(
    folder: Path,
    sources: Iterable[Path],
    unit: str | None = None,
    timezone: str | None = None,
    now: datetime | None = None,
) -> list[Row]:
    """Bring what is in the sources into a class; one student's trouble does not stop the others.

    unit: take only this one, and take it where a notebook does not say; timezone: of times that
    come without one, such as Asia/Seoul, set once for a class; now: UTC, the time of this run.
    Raises ClassError if the class, the unit or the time zone cannot be used.
    """
    if not (folder / "nbgrader_config.py").exists():
        raise ClassError(
            f"{folder} is no class folder; make one with: python run.py class {folder}"
        )
    zone, known, store = time_zone(folder, timezone), releases(folder), Store(folder, now)
    if unit is not None and unit not in known:
        raise ClassError(f"No unit {unit}; there is {', '.join(known)}.")
    arrivals = Arrivals(store, known, unit, zone)
    for source in sources:
        arrivals.take_in(source)
    desk = _Desk(folder, store, zone)
    settled = [row for s, u in sorted(arrivals.touched) for row in desk.settle(s, u, known[u])]
    rows = sorted(arrivals.rows + settled, key=lambda r: (r.unit, r.student, r.file, r.source))
    write_report(folder / "received" / "report.csv", rows, zone)
    return rows


def releases(folder: Path) -> dict[str, Release]:
    """The units of a class by name: what it released itself, else the course's own release."""
    units = {path.parent.name for path in (REPOSITORY / "exercises").glob("*/*/*.ipynb")}
    units |= {path.parent.name for path in (folder / "release").glob("*/*.ipynb")}
    return {unit: found for unit in sorted(units) if (found := _release(folder, unit))}


def _release(folder: Path, unit: str) -> Release | None:
    ours = [REPOSITORY / "exercises" / language for language in LANGUAGES]
    paths = [place / unit / f"{unit}.ipynb" for place in (folder / "release", *ours)]
    found: list[Any] = [nbformat.read(path, as_version=4) for path in paths if path.exists()]
    return Release(found[0], found[1:]) if found else None


class _Desk:
    """Puts the newest of a student where nbgrader looks for it."""

    def __init__(self, folder: Path, store: Store, zone: ZoneInfo | None) -> None:
        self.folder, self.store, self.zone = folder, store, zone
        self.due = deadlines(folder)
        self.made_path = store.folder / "made.json"  # what was put there, to know it again
        found = self.made_path.read_text("utf-8") if self.made_path.exists() else "{}"
        self.made: dict[str, str] = json.loads(found)

    def settle(self, student: str, unit: str, release: Release) -> list[Row]:
        """Submit the newest notebook that can be graded; a row for each that was handed in."""
        self._keep_what_others_wrote(student, unit)
        rows, submitted = [], False
        for kept in self.store.newest_first(student, unit):
            status, notes = OLDER, []
            if not submitted:
                try:
                    repaired = _repaired(kept, release, unit)
                    self._submit(student, unit, kept, repaired)
                    status, notes, submitted = COLLECTED, repaired.notes, True
                except Refused as refused:
                    status, notes = REFUSED, [str(refused)]
            a = kept.arrival
            late = self._late(unit, a)
            rows.append(Row(student, unit, a.file, a.source, status, notes, a.when, late))
        return rows

    def _late(self, unit: str, arrival: Arrival) -> str:
        due = self.due.get(unit)
        if due and arrival.when and arrival.when > due:
            return f"{(arrival.when - due).total_seconds() / 3600:.1f} h"
        return f"{arrival.lms} says late" if arrival.late else ""

    def _submit(self, student: str, unit: str, kept: Kept, repaired: Repaired) -> None:
        place, written = self.folder / "submitted" / student / unit, repaired.written()
        place.mkdir(parents=True, exist_ok=True)
        write_whole(place / f"{unit}.ipynb", written)
        self.made[f"{student}/{unit}"] = _digest(written)
        text = json.dumps(self.made, ensure_ascii=False, indent=1, sort_keys=True)
        write_whole(self.made_path, text.encode())
        if when := kept.arrival.when:
            write_whole(place / TIMESTAMP, f"{when:%Y-%m-%d %H:%M:%S} UTC".encode())
        else:
            (place / TIMESTAMP).unlink(missing_ok=True)
        secret = kept.folder / "submission_secret.txt"  # the exchange's, to give feedback by
        if secret.exists():
            write_whole(place / secret.name, secret.read_bytes())

    def _keep_what_others_wrote(self, student: str, unit: str) -> None:
        """A submission that is there and not from here counts as handed in: it is kept too."""
        place = self.folder / "submitted" / student / unit
        path, times = place / f"{unit}.ipynb", place / TIMESTAMP
        if not path.exists() or _digest(path.read_bytes()) == self.made.get(f"{student}/{unit}"):
            return
        when = names.read_time(times.read_text("utf-8")) if times.exists() else None
        arrival = Arrival(path.name, "submitted", "submitted", when=to_utc(when, self.zone or UTC))
        self.store.keep(student, unit, arrival, path.read_bytes())


def _repaired(kept: Kept, release: Release, unit: str) -> Repaired:
    try:
        return repair(kept.read(), release, unit)
    except Refused:
        raise
    except Exception as error:  # whatever it is, the other students are not held up by it
        raise Refused(f"could not be repaired: {type(error).__name__}: {error}") from error


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
