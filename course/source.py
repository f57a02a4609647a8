"""Reading a unit's source: MyST Markdown, each paragraph in both languages, code once."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext

COURSE = Path(__file__).resolve().parent


class SourceError(Exception):
    """Something in the course's source that a build cannot go on with; its text names the place."""


@dataclass(frozen=True)
class Paragraph:
    """A Markdown cell: the same thing said in English and in Korean."""

    en: str
    ko: str
    options: dict[str, Any] = field(default_factory=dict)

    def to(self, language: str) -> str:
        return self.ko if language == "ko" else self.en


@dataclass(frozen=True)
class Code:
    """A code cell, shared by both languages."""

    source: str
    options: dict[str, Any] = field(default_factory=dict)


Block = Paragraph | Code


def units() -> list[str]:
    """The units' folder names, in the order of the course."""
    return sorted(p.name for p in COURSE.iterdir() if p.is_dir() and p.name[:2].isdigit())


def read(path: Path, bilingual: bool = False) -> list[Block]:
    """The blocks of one source file.

    bilingual: both languages stand in one cell, as on the front page.
    Raises SourceError, naming file and place, if a paragraph lacks a language.
    """
    cells = iter(jupytext.read(path, fmt="md:myst").cells)
    return list(_blocks(cells, path, bilingual))


def _blocks(cells: Iterator[Any], path: Path, bilingual: bool) -> Iterator[Block]:
    for cell in cells:
        options = dict(cell.metadata)
        if cell.cell_type == "code":
            yield Code(cell.source.strip("\n"), options)
        elif bilingual:
            yield Paragraph(cell.source, cell.source, options)
        else:
            yield _paired(cell, next(cells, None), path)


def _paired(first: Any, second: Any, path: Path) -> Paragraph:
    """One paragraph from its English cell and the Korean one that must follow it."""
    if first.metadata.get("lang") != "en":
        raise SourceError(f"{place(path, first.source)}: this paragraph has no English before it")
    options = {k: v for k, v in first.metadata.items() if k != "lang"}
    if second is None or second.metadata.get("lang") != "ko":
        raise SourceError(f"{place(path, first.source)}: this paragraph has no Korean after it")
    if not first.source.strip() or not second.source.strip():
        raise SourceError(f"{place(path, first.source)}: this paragraph is empty in one language")
    if options != {k: v for k, v in second.metadata.items() if k != "lang"}:
        raise SourceError(f"{place(path, first.source)}: its options differ between the languages")
    return Paragraph(first.source, second.source, options)


def place(path: Path, source: str) -> str:
    """File, line and first words of a cell, for messages."""
    start = source.strip().split("\n")[0]
    before, found, _ = path.read_text("utf-8").partition(start)
    line = before.count("\n") + 1 if found and start else "?"
    return f'{path.relative_to(COURSE.parent)}:{line} "{start[:50]}"'
