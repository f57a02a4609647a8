"""What blocklab/solutions.json says: explanations of exercises, and model answers with checklists.

`python -m course.answers 03_causal_mask` names what a unit lacks; without a unit, all of them.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from blocklab.study.solutions import places, source_of
from course.source import COURSE, Block, Code, Paragraph, SourceError, read, units

_ITEM = re.compile(r"^- (.*(?:\n  .*)*)", re.MULTILINE)
_NOTE = re.compile(r"`([^`]+)`: (\S.*)", re.DOTALL)
Entry = dict[str, Any]


def entries(unit: str, blocks: Iterable[Block]) -> dict[str, dict[str, Entry]]:
    """The part of one unit: {"exercises": {name: …}, "written": {name: …}}.

    Raises SourceError, naming exercise and fragment, where an explanation does not fit the source.
    """
    exercises, answers, lists = dict[str, Entry](), dict[str, Paragraph](), dict[str, Paragraph]()
    for block in blocks:
        if isinstance(block, Paragraph) and "explain" in block.options:
            name = _new(block.options["explain"], exercises)
            exercises[name] = _explained(name, unit, block)
        elif isinstance(block, Paragraph) and "answer" in block.options:
            answers[block.options["answer"]] = block
        elif isinstance(block, Paragraph) and "checklist" in block.options:
            lists[_new(block.options["checklist"], lists)] = block
    if stray := lists.keys() - answers.keys():
        raise SourceError(f"{', '.join(sorted(stray))}: a checklist without a written answer")
    written = {
        name: {"answer": [block.en, block.ko], "checklist": _checklist(name, lists.get(name))}
        for name, block in answers.items()
    }
    return {"exercises": exercises, "written": written}


def _new(name: str, found: dict[str, Any]) -> str:
    if name in found:
        raise SourceError(f"{name}: explained, or listed, twice")
    return name


def _explained(name: str, unit: str, block: Paragraph) -> Entry:
    """Opening and notes of one exercise, each in both languages."""
    (opening_en, english), (opening_ko, korean) = (_notes(name, t) for t in (block.en, block.ko))
    if [f for f, _ in english] != [f for f, _ in korean]:
        raise SourceError(f"{name}: its explanation has other fragments in the other language")
    if bool(opening_en) != bool(opening_ko):
        raise SourceError(f"{name}: its explanation opens with a paragraph in one language only")
    fragments = [fragment for fragment, _ in english]
    try:
        lines = places(fragments, source_of(name, unit))
    except KeyError:
        raise SourceError(f"{name}: is explained, and is no exercise of {unit}") from None
    if absent := [f for f, line in zip(fragments, lines, strict=True) if line < 0]:
        raise SourceError(f"{name}: `{absent[0]}` is explained, and does not stand in its source")
    pairs = zip(english, korean, strict=True)
    notes = [[fragment, en, ko] for (fragment, en), (_, ko) in pairs]
    return {"opening": [opening_en, opening_ko], "notes": notes}


def _notes(name: str, text: str) -> tuple[str, list[tuple[str, str]]]:
    """The opening, and each fragment with what is said of it."""
    opening, items = _listed(name, text)
    notes = [(item, _NOTE.fullmatch(item)) for item in items]
    for item, match in notes:
        if match is None:
            raise SourceError(f'{name}: "- {item[:40]}" should read "- `fragment`: explanation"')
    return opening, [(match[1], match[2]) for _, match in notes if match]


def _checklist(name: str, block: Paragraph | None) -> list[list[str]]:
    """The items of a checklist in both languages; none where there is no checklist yet."""
    if block is None:
        return []
    (before_en, english), (before_ko, korean) = (_listed(name, t) for t in (block.en, block.ko))
    if before_en or before_ko or len(english) != len(korean):
        raise SourceError(f"{name}: a checklist is a list, with as many items in both languages")
    return [list(pair) for pair in zip(english, korean, strict=True)]


def _listed(name: str, text: str) -> tuple[str, list[str]]:
    """What stands before a list, and its items. Raises SourceError if something stands after it."""
    if "$" in text:
        raise SourceError(f"{name}: no $math$ here, where it would be shown as it is")
    start = next(iter(_ITEM.finditer(text)), None)
    opening, rest = (text[: start.start()], text[start.start() :]) if start else (text, "")
    if _ITEM.sub("", rest).strip():
        raise SourceError(f"{name}: after the list there is more than a list")
    return _joined(opening), [_joined(match[1]) for match in _ITEM.finditer(rest)]


def _joined(text: str) -> str:
    """Paragraphs with their lines joined."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(re.sub(r"\s*\n\s*", " ", paragraph) for paragraph in paragraphs)


def lacking(blocks: Iterable[Block], built: dict[str, dict[str, Entry]]) -> Iterator[str]:
    """What the exercises of one file still lack: explanations and checklists, by name."""
    for block in blocks:
        name = block.options.get("test") or block.options.get("puzzle")
        if isinstance(block, Code) and name and name not in built["exercises"]:
            yield f"{name}: no explanation"
    yield from (f"{n}: no checklist" for n, e in built["written"].items() if not e["checklist"])


def main(chosen: list[str]) -> int:
    """Say what is missing or wrong, unit by unit; 1 if anything is."""
    found = []
    for unit in chosen or units():
        if not (COURSE / unit / "exercise.md").exists():
            continue
        blocks = read(COURSE / unit / "exercise.md")
        try:
            found += [f"{unit}: {words}" for words in lacking(blocks, entries(unit, blocks))]
        except SourceError as error:
            found.append(f"{unit}: {error}")
    print("\n".join(found) or "Every exercise is explained.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
