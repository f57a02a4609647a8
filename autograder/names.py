"""What the place and name of a file say: who sent it, when, and for which unit.

The patterns are those of the LMSs' own code: Canvas `lib/content_zipper.rb`, Moodle
`mod/assign/classes/downloader.php`, Blackboard Learn's "Download Assignment Files", and nbgrader's
exchange (`USER+ASSIGNMENT+TIMESTAMP+RANDOM`).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

CANVAS = re.compile(
    r"(?P<student>.+?)(?P<late>_LATE)?_(?P<number>\d{3,})_(?P<serial>\d{3,})_(?P<file>.+)"
)
CANVAS_ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?anon_(?P<number>[^_]+)_(?P<serial>\d{3,})_(?P<file>.+)"
)
MOODLE = re.compile(
    r"(?P<student>.+)_(?P<number>\d+)_assignsubmission_(?P<plugin>[a-z]+)(_(?P<file>.*))?"
)
BLACKBOARD = re.compile(
    r"(?P<start>.+_(?P<student>[^_]+))_attempt_(?P<time>\d{4}(-\d\d){5})(_(?P<file>.+)|\.txt)"
)
BLACKBOARD_PERSON = re.compile(r"^Name:.*\((?P<user>[^()]+)\)\s*$", re.MULTILINE)
EXCHANGE = re.compile(r"(?P<student>[^+]+)\+(?P<unit>[^+]+)\+(?P<time>[^+]+)(\+.*)?")
TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T-](\d\d)[:_.-](\d\d)[:_.-](\d\d)(?:\.\d+)?\s*(.*)")

COPY_MARKS = (
    r"^LATE_", r"^Copy of ", r"^(?:복사본|사본)[ _-]+", r"의 사본$", r" ?- ?(?:복사본|사본)$",
    r" ?- ?Copy$", r"-Copy(\d+)$", r" copy(?: (\d+))?$", r" ?\((\d+)\)$",
)  # fmt: skip
NUMBERED = r"-(\d{1,2})$"  # Canvas adds it to a re-submission; in a student's name it may be meant
NOTEBOOK_ENDINGS = (".ipynb", ".ipynb.json", ".ipynb.txt")
TIMESTAMP = "timestamp.txt"  # in which nbgrader keeps when a folder was handed in


@dataclass(frozen=True)
class Label:
    """What the place and name of a file say.

    student: as the LMS writes it; number: the LMS's own for the person; serial: grows with every
    file handed in, 0 if unknown; when: without a zone if the LMS does not say which; late: the
    LMS says so; version: how many times the name was marked as a copy.
    """

    student: str
    file: str
    lms: str
    number: str = ""
    serial: int = 0
    when: datetime | None = None
    late: bool = False
    unit: str = ""

    @property
    def version(self) -> int:
        return without_copy_marks(stem(self.file))[1]


def label(parts: tuple[str, ...], units: Sequence[str]) -> Label:
    """Read one path; student is "" where nothing names one."""
    name = parts[-1]
    for folder in parts[:-1]:
        if found := EXCHANGE.fullmatch(folder):
            return _exchange(found, name)
        if found := MOODLE.fullmatch(folder):
            return Label(found["student"], name, "Moodle", found["number"])
    if found := MOODLE.fullmatch(name):
        return Label(found["student"], found["file"] or name, "Moodle", found["number"])
    if found := BLACKBOARD.fullmatch(name):
        file, moment = found["file"] or name, read_time(found["time"])
        return Label(found["student"], file, "Blackboard", when=moment)
    if found := CANVAS_ANONYMOUS.fullmatch(name) or CANVAS.fullmatch(name):
        return _canvas(found)
    return _plain(parts, units)


def _exchange(found: re.Match, name: str) -> Label:
    moment = read_time(found["time"])
    return Label(found["student"], name, "exchange", when=moment, unit=found["unit"])


def _canvas(found: re.Match) -> Label:
    """Canvas's own number goes into the name: two people may be called the same."""
    student = f"{found.groupdict().get('student', 'anon')}-{found['number']}"
    serial, late = int(found["serial"][-18:]), bool(found["late"])
    return Label(student, found["file"], "Canvas", found["number"], serial, late=late)


def _plain(parts: tuple[str, ...], units: Sequence[str]) -> Label:
    late = any(part.startswith("LATE_") for part in parts)
    first, last = next(iter(parts)), parts[-1]
    if len(parts) > 1:
        return Label(first.removeprefix("LATE_"), last, "folder", late=late)
    if not is_work(last):
        return Label("", last, "folder")
    student = without_copy_marks(stem(last), numbered=False)[0]
    for unit in units:
        tokens = r"[\W_]*".join(map(re.escape, re.split(r"[\W_]+", unit)))
        student = re.sub(tokens, "", student, flags=re.IGNORECASE)
    return Label(re.sub(r"^[\W_]+|[\W_]+$", "", student), last, "folder", late=late)


def unwrapped(paths: Iterable[tuple[str, ...]], units: Sequence[str]) -> int:
    """How many folders stand around all that students sent, as when a whole folder was zipped."""
    whole, depth = list(paths), 0
    while whole and all(len(p) > depth + 1 for p in whole) and len({p[depth] for p in whole}) == 1:
        inside = [p[depth + 1 :] for p in whole]
        if _names_its_sender(whole[0][depth]) or not _holds_many(inside, units):
            break
        depth += 1
    return depth


def _holds_many(inside: list[tuple[str, ...]], units: Sequence[str]) -> bool:
    """Whether a folder seems to hold students, not one student's work: folders that are no units,
    or notebooks that are each named after somebody."""
    if all(len(path) > 1 for path in inside):
        return not any(path[0] in units for path in inside)
    notebooks = [path for path in inside if is_work(path[-1])]
    people = {_plain(path, units).student for path in notebooks}
    flat = all(len(path) == 1 for path in inside)
    return flat and 1 < len(people) == len(notebooks) and "" not in people


def _names_its_sender(folder: str) -> bool:
    return bool(EXCHANGE.fullmatch(folder) or MOODLE.fullmatch(folder))


def with_person(found: Label, name: str, people: dict[str, str]) -> Label:
    """A Blackboard label with the user name that the attempt's .txt gives: it may hold a _."""
    match = BLACKBOARD.fullmatch(name)
    return replace(found, student=people.get(match["start"], found.student)) if match else found


def read_time(text: str) -> datetime | None:
    """A moment as LMSs and nbgrader write it; without a zone if it names none that is known."""
    found = TIME.match(text.strip())
    if not found:
        return None
    try:
        return datetime(*(int(part) for part in found.groups()[:6]), tzinfo=_zone(found[7]))
    except (ValueError, OverflowError):
        return None


def _zone(name: str) -> timezone | ZoneInfo | None:
    if offset := re.fullmatch(r"([+-])(\d\d):?(\d\d)", name):
        minutes = int(offset[2]) * 60 + int(offset[3])
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, KeyError):  # KeyError: not in the time zone database
        return None


# ---------------------------------------------------------------- names of notebooks and units


def is_notebook(name: str) -> bool:
    return name.lower().endswith(NOTEBOOK_ENDINGS)


def is_work(name: str) -> bool:
    """Whether a file is, or may hold, a notebook."""
    return is_notebook(name) or name.lower().endswith(".zip")


def stem(name: str) -> str:
    for ending in sorted((*NOTEBOOK_ENDINGS, ".zip"), key=len, reverse=True):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def without_copy_marks(name: str, numbered: bool = True) -> tuple[str, int]:
    """A name without "Copy of", "(1)", "의 사본", …, and how much they count."""
    name, count, again = unicodedata.normalize("NFC", name).strip(), 0, True
    marks = (*COPY_MARKS, NUMBERED) if numbered else COPY_MARKS
    while again:
        again = False
        for mark in marks:
            if found := re.search(mark, name, re.IGNORECASE):
                name = (name[: found.start()] + name[found.end() :]).strip()
                number = next((group for group in found.groups() if group), "1")
                count, again = count + min(int(number[:6]), 999), True
    return name, count


def unit_in(name: str, units: Sequence[str]) -> str:
    """The one unit that a file's name means, or ""."""
    means = _bare(without_copy_marks(stem(name))[0])
    exact = [unit for unit in units if _bare(unit) == means]
    part = [unit for unit in units if _bare(unit) in means]
    return (exact or part)[0] if len(exact or part) == 1 else ""


def _bare(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


# ---------------------------------------------------------------- ids of students


def student_id(name: str) -> str:
    """A name as an id that is safe as a folder, in nbgrader and in a URL; `student_name` undoes it.

    A space becomes ~; letters and digits of any script and _ - . @ stay; the rest becomes =XX.
    """
    kept = unicodedata.normalize("NFC", name).strip()
    safe = "".join(_safe(letter) for letter in kept)
    return re.sub(r"^[-.]|\.$", lambda edge: f"={ord(edge[0]):02X}", safe)


def _safe(letter: str) -> str:
    if letter == " ":
        return "~"
    if letter in "_-.@" or unicodedata.category(letter)[0] in "LMN":
        return letter
    return "".join(f"={byte:02X}" for byte in letter.encode("utf-8", "replace"))


def student_name(identity: str) -> str:
    """The name that an id stands for."""
    raw = identity.replace("~", " ").encode()
    plain = re.sub(rb"=([0-9A-F]{2})", lambda code: bytes([int(code[1], 16)]), raw)
    return plain.decode("utf-8", "replace")
