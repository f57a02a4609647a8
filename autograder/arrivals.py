"""Taking in: each file of a source is kept under the student and the unit that it is of."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from autograder import names
from autograder.archives import OTHER_ARCHIVES, Member, Refused, opened
from autograder.classroom import ClassError
from autograder.match import Release
from autograder.names import TIMESTAMP, Label
from autograder.parse import parse
from autograder.received import Arrival, Store
from autograder.rows import REFUSED, Row

UNKNOWN = "unknown-unit"  # the folder in received/ for what is of no unit that is known
MAX_ID = 200  # bytes of a student's id, which is the name of a folder
Taken = tuple[Label, str, str]  # of a notebook: its label, the student's id, its unit


def to_utc(when: datetime | None, zone: tzinfo | None) -> datetime | None:
    """A time in UTC; zone: the class's, for one that names none.

    Raises ClassError if that is needed and not known.
    """
    if when is None:
        return None
    if when.tzinfo is None and zone is None:
        raise ClassError(
            "Some of these times name no time zone. Say once which one the class is in, for "
            "example --timezone Asia/Seoul; nothing of this source has been taken."
        )
    return when.replace(tzinfo=when.tzinfo or zone).astimezone(UTC)


class Arrivals:
    """One run of taking in: what it kept, by student and unit, and a row for what was refused."""

    def __init__(
        self,
        store: Store,
        releases: dict[str, Release],
        only: str | None = None,
        zone: tzinfo | None = None,
    ) -> None:
        """releases: by unit; only: the one unit to take; zone: of times that name none."""
        self.store, self.releases, self.units = store, releases, list(releases)
        self.only, self.zone = only, zone
        self.namesakes: set[str] = set()
        self.touched: set[tuple[str, str]] = set()
        self.rows: list[Row] = []

    def take_in(self, source: Path) -> None:
        """Keep everything in a source; what cannot be taken becomes a row with the reason."""
        try:
            with opened(source) as members:
                labelled = self._labelled(members)
                self._tell_namesakes_apart(labelled)
                self._take_all(source.name, labelled)
        except Refused as refused:
            self.rows.append(Row("", "", source.name, source.name, REFUSED, [str(refused)]))

    def _labelled(self, members: list[Member]) -> list[tuple[Label, Member]]:
        """Every member with what its place and name say, times in UTC."""
        depth = names.unwrapped([member.parts for member in members], self.units)
        people, times, found = _people(members), _times(members), []
        for member in members:
            label = names.label(member.parts[depth:], self.units)
            label = names.with_person(label, member.name, people)
            when = label.when or times.get(member.parts[:-1])
            found.append((replace(label, when=to_utc(when, self.zone)), member))
        return found

    def _tell_namesakes_apart(self, labelled: list[tuple[Label, Member]]) -> None:
        """Moodle's folders carry a name, and a number that is another in every assignment."""
        people = {(x.student, x.number) for x, _ in labelled if x.lms == "Moodle"}
        self.namesakes = {n for n, count in Counter(n for n, _ in people).items() if count > 1}

    def _take_all(self, source: str, labelled: list[tuple[Label, Member]]) -> None:
        taken: dict[str, list[Taken]] = {}
        for label, member in labelled:
            if names.is_work(member.name):
                mine = taken.setdefault(f"{label.student} {label.number}", [])
                mine.append((label, *self._take_notebook(source, label, member)))
        for label, member in labelled:
            if not names.is_work(member.name) and label.student:
                mine = taken.get(f"{label.student} {label.number}", [])
                self._take_companion(source, label, member, mine)

    def _take_notebook(self, source: str, label: Label, member: Member) -> tuple[str, str]:
        """Keep a notebook; the student's id and the unit that it was kept for."""
        student = names.student_id(label.student)
        unit = names.unit_in(label.file, self.units) or UNKNOWN
        try:
            _check_sender(label)
            data = member.read()
            unit, trouble = self._unit(data, label)
            student = self._identity(label, unit)
            self.store.keep(student, unit, _arrival(source, label, member), data)
            if trouble:
                raise Refused(trouble)
            self.touched.add((student, unit))
        except Refused as refused:
            self._refuse(source, student, unit, label, refused)
        return student, unit

    def _refuse(self, source: str, student: str, unit: str, label: Label, why: Refused) -> None:
        late = f"{label.lms} says late" if label.late else ""
        row = Row(student, unit, label.file, source, REFUSED, [str(why)], label.when, late)
        self.rows.append(row)

    def _take_companion(
        self, source: str, label: Label, member: Member, taken: list[Taken]
    ) -> None:
        """Keep a file that came with a notebook, beside it; alone, it is said to be no notebook."""
        same = [t for t in taken if t[0].when == label.when] or taken
        student, unit = same[-1][1:] if same else (names.student_id(label.student), UNKNOWN)
        try:
            _check_sender(label)
            student = student if same else self._identity(label, unit)
            self.store.keep(student, unit, _arrival(source, label, member), member.read())
            if not taken and label.file.lower().endswith(OTHER_ARCHIVES):
                raise Refused("is an archive that is not read; send the notebook itself")
            if not taken:
                raise Refused("is no notebook, and none came with it")
        except Refused as refused:
            self._refuse(source, student, unit, label, refused)

    def _unit(self, data: bytes, label: Label) -> tuple[str, str]:
        """Which unit a notebook is of, and why it cannot be graded as that, or ""."""
        by_name = label.unit if label.unit in self.units else names.unit_in(label.file, self.units)
        unknown = "is of no unit that is known: neither metadata, nor cells, nor its name say which"
        try:
            unit = self._said(parse(data)) or by_name or self.only
        except Refused as refused:
            unit, unknown = by_name or self.only, str(refused)
        if not unit:
            return UNKNOWN, unknown
        if self.only and unit != self.only:
            return unit, f"is of {unit}, and only {self.only} is being collected"
        return unit, ""

    def _said(self, raw: dict[str, Any]) -> str:
        """The unit that a notebook's metadata names, else the one most of its cells are of."""
        metadata = _dict(_dict(raw.get("metadata")).get("blocklab"))
        if metadata.get("unit") in self.units:
            return metadata["unit"]
        marks = [_dict(_dict(_dict(c).get("metadata")).get("nbgrader")) for c in raw["cells"]]
        ids = {str(mark["grade_id"]) for mark in marks if "grade_id" in mark}
        votes = {unit: len(ids & r.by_grade_id.keys()) for unit, r in self.releases.items()}
        best = [unit for unit, count in votes.items() if count == max(votes.values()) > 0]
        return best[0] if len(best) == 1 else ""

    def _identity(self, label: Label, unit: str) -> str:
        """The student's id; two people of one name in Moodle get the number into it."""
        plain = names.student_id(label.student)
        if label.lms != "Moodle":
            return plain
        known = {kept.arrival.number for kept in self.store.kept(plain, unit)} - {""}
        if label.number in known or not (known or label.student in self.namesakes):
            return plain
        return names.student_id(f"{label.student}-{label.number}")


def _dict(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _check_sender(label: Label) -> None:
    """Raises Refused where nothing says whose a file is, or the name cannot be a folder's."""
    if not label.student:
        raise Refused("nothing says whose it is: put it into a folder with the student's name")
    if len(names.student_id(label.student).encode()) > MAX_ID:
        raise Refused("the student's name is too long")


def _arrival(source: str, label: Label, member: Member) -> Arrival:
    return Arrival(
        file=label.file,
        lms=label.lms,
        source=source,
        number=label.number,
        serial=label.serial,
        when=label.when,
        late=label.late,
        modified=member.modified,
        version=label.version,
    )


def _people(members: list[Member]) -> dict[str, str]:
    """User names by the start of Blackboard's file names, from the .txt of each attempt."""
    people = {}
    for member in members:
        match = names.BLACKBOARD.fullmatch(member.name)
        if match and not match["file"]:
            person = names.BLACKBOARD_PERSON.search(_text(member))
            people |= {match["start"]: person["user"].strip()} if person else {}
    return people


def _times(members: list[Member]) -> dict[tuple[str, ...], datetime]:
    """By folder, what nbgrader's timestamp.txt in it says."""
    found = {m.parts[:-1]: names.read_time(_text(m)) for m in members if m.name == TIMESTAMP}
    return {folder: when for folder, when in found.items() if when}


def _text(member: Member) -> str:
    try:
        return member.read()[:10_000].decode("utf-8", "replace")
    except Refused:
        return ""
