"""What a learner has done so far, kept in one small file across restarts and languages."""

import contextlib
import html
import json
import os
import tempfile
from pathlib import Path

from blocklab import catalogue
from blocklab.text import Text, language

TITLE = Text("Your progress", "지금까지의 진도")
ATTEMPTS = Text("{count} tries", "{count}번 시도")


def folder() -> Path:
    """Where progress is kept: $BLOCKLAB_HOME, else .blocklab in the home folder."""
    return Path(os.environ.get("BLOCKLAB_HOME") or Path.home() / ".blocklab")


def _read() -> dict[str, dict]:
    """Everything recorded; an unreadable file counts as empty, and is kept aside on writing."""
    with contextlib.suppress(OSError, ValueError):
        content = json.loads((folder() / "progress.json").read_text("utf-8"))
        if isinstance(content, dict):
            return {k: v for k, v in content.items() if isinstance(v, dict)}
    return {}


def note(name: str, fraction: float) -> None:
    """Note one attempt at an exercise and the best share of its points so far.

    A folder that cannot be written to loses the record, never the learner's check.
    """
    done = _read()
    entry = done.get(name, {})
    best = max(fraction, float(entry.get("best", 0)))
    done[name] = {"best": best, "attempts": int(entry.get("attempts", 0)) + 1}
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=folder(), suffix=".json")
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(done, file)
        os.replace(draft, folder() / "progress.json")


class Progress(dict[str, dict]):
    """Best share and number of attempts by exercise; shows as a table in a notebook."""

    def _rows(self) -> list[tuple[str, str, float, int]]:
        return [
            (
                e.unit,
                e.name,
                self.get(e.name, {}).get("best", 0.0),
                self.get(e.name, {}).get("attempts", 0),
            )
            for e in catalogue.exercises().values()
        ]

    def __repr__(self) -> str:
        lines = [
            f"{_mark(best, tries)} {unit} {name}: {best:.0%}"
            for unit, name, best, tries in self._rows()
        ]
        return "\n".join([str(TITLE), *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{_mark(best, tries)}</td><td>{unit}</td><td><code>{html.escape(name)}</code>"
            f"</td><td>{best:.0%}</td><td>{ATTEMPTS.fill(count=tries) if tries else ''}</td></tr>"
            for unit, name, best, tries in self._rows()
        )
        title = html.escape(TITLE.to(language()))
        return f"<p><b>{title}</b></p><table>{rows}</table>"


def _mark(best: float, tries: int) -> str:
    return "●" if best >= 1 else "◐" if tries else "○"


def progress() -> Progress:
    """What is done, by exercise, whichever language it was done in."""
    return Progress(_read())
