"""When a unit is due: a moment in the class's own time zone, kept as UTC in the gradebook."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from autograder.classroom import ClassError


def time_zone(folder: Path, name: str | None = None) -> ZoneInfo | None:
    """The class's time zone, from its file `timezone`; a name sets it where none is set yet.

    Raises ClassError if the name is unknown, or another than the one that is set.
    """
    path = folder / "timezone"
    known = path.read_text("utf-8").strip() if path.exists() else ""
    if name and known and name != known:
        raise ClassError(f"The class's time zone is {known}; to change it, edit {path}.")
    wanted = known or name
    if not wanted:
        return None
    try:
        zone = ZoneInfo(wanted)
    except (ValueError, OSError, KeyError) as error:
        raise ClassError(f"No time zone {wanted}; name one such as Asia/Seoul.") from error
    if not known:
        path.write_text(f"{zone.key}\n", "utf-8")
    return zone


def deadlines(folder: Path) -> dict[str, datetime]:
    """By unit, the deadline that the gradebook has, UTC."""
    if not (folder / "gradebook.db").exists():
        return {}
    from autograder.grade import gradebook  # nbgrader takes seconds to load

    with gradebook(folder) as book:
        return {a.name: a.duedate.replace(tzinfo=UTC) for a in book.assignments if a.duedate}


def set_deadline(folder: Path, unit: str, when: str, timezone: str | None = None) -> datetime:
    """Set when a unit is due, or move it; what is late is known anew when it is graded again.

    when: such as "2026-03-10 23:59", in the class's time zone. Returns the moment in that zone.
    Raises ClassError if the class, the time or the zone cannot be used.
    """
    from autograder.grade import gradebook, settings  # nbgrader takes seconds to load

    settings(folder)
    try:
        moment = datetime.fromisoformat(when)
    except ValueError as error:
        raise ClassError(f'{when!r} is no time; write one such as "2026-03-10 23:59".') from error
    zone = time_zone(folder, timezone)
    if zone is None:
        raise ClassError("Say once which time zone the class is in, such as --timezone Asia/Seoul.")
    due = moment.replace(tzinfo=moment.tzinfo or zone).astimezone(zone)
    with gradebook(folder) as book:
        book.update_or_create_assignment(unit, duedate=due.astimezone(UTC).replace(tzinfo=None))
    return due
