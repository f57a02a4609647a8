"""What a learner has done so far, kept in one small file across restarts and languages."""

import contextlib
import json
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
FIELDS: dict[str, Any] = {
    "best": int | float,  # the best share of the points so far, 0 to 1
    "attempts": int,
    "source": str,  # of the last answer, whether it passed or not
    "tried": str,  # when that was, as all times in UTC
    "passed": str,  # when all points were first earned
    "kept": str,  # when an answer was last kept for later units
    "written": str,  # the text under a written question
    "answered": str,  # when the model answer was first shown
    "ticked": list,  # the items of the checklist, from 0
}


def folder() -> Path:
    """Where progress is kept: $BLOCKLAB_HOME, else .blocklab in the home folder."""
    return Path(os.environ.get("BLOCKLAB_HOME") or Path.home() / ".blocklab")


def read() -> dict[str, Entry]:
    """Everything recorded, by the name of the exercise or the written question; see FIELDS.

    An unreadable file counts as empty.
    """
    return _stored() or {}


def _stored() -> dict[str, Entry] | None:
    """The record as it is on the disk; None if there is none, or none that can be read."""
    with contextlib.suppress(OSError, ValueError):
        return entries(json.loads(_file().read_text("utf-8")))
    return None


def entries(content: Any) -> dict[str, Entry]:
    """What can be used of a record as it was read from a file."""
    found = content.items() if isinstance(content, dict) else ()
    return {name: _usable(entry) for name, entry in found if isinstance(entry, dict)}


def _usable(entry: Entry) -> Entry:
    return {k: v for k, v in entry.items() if k in FIELDS and isinstance(v, FIELDS[k])}


def note(name: str, fraction: float, source: str, real: bool) -> None:
    """Note one attempt at an exercise: the best share of its points so far, and the answer.

    source: of the answer, "" where it is not known.
    real: whether something was tried; what is not leaves no trace but the first source.
    """
    entry = read().get(name, {})
    if source and (real or "source" not in entry):
        entry |= {"source": source, "tried": now()}
    if real:
        entry["best"] = max(fraction, float(entry.get("best", 0)))
        entry["attempts"] = int(entry.get("attempts", 0)) + 1
    if fraction >= 1:
        entry.setdefault("passed", now())
    if entry:
        write({name: entry})


def answer(name: str, text: str) -> None:
    """Note the learner's answer to a written question."""
    entry = read().get(name, {})
    write({name: {"answered": now(), **entry, "written": text, "tried": now()}})


def tick(name: str, items: list[int]) -> None:
    """Note which items of a written question's checklist are ticked."""
    write({name: {**read().get(name, {}), "ticked": items, "tried": now()}})


def write(changed: dict[str, Entry]) -> None:
    """Put these entries into the record; the others stay.

    A folder that cannot be written to loses the record, never the learner's check. A record that
    could not be read is kept beside it.
    """
    everything = {**read(), **changed}
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        if _file().exists() and _stored() is None:
            os.replace(_file(), _file().with_suffix(".unreadable"))
        handle, draft = tempfile.mkstemp(dir=folder(), suffix=".json")
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(everything, file, ensure_ascii=False, indent=1)
        os.replace(draft, _file())


def now() -> str:
    """The time in UTC, as it is recorded."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _file() -> Path:
    return folder() / "progress.json"
