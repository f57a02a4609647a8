"""What the site is made of: notebooks and pages of the repository, placed for Sphinx to read."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from blocklab.text import Text
from course.opening import OPENING
from course.source import COURSE, units

ROOT = COURSE.parent
LIVE = "application/vnd.jupyter.widget-view+json"  # a widget that needs a kernel
LINK = re.compile(r"(?<=\]\()([^)\s]+\.(?:ipynb|md))(?=[)#])")
COURSE_TITLE = Text("The course", "강좌")
HANDBOOK_TITLE = Text("If you teach", "가르친다면")
HANDBOOK = ("class", "collect", "grade", "safety", "add_an_exercise")
HREF = re.compile(r'(?<=href=")([^":#]+\.ipynb)(?=["#])')  # in an output's HTML
Places = Mapping[Path, Path]


def places(language: str) -> dict[Path, Path]:
    """Where each page of one language stands: its place in the site by its path in the repository.

    The order is that of the course: a lecture, then its exercise; after all units the handbook.
    """
    docs = Path("docs", language)
    found = {docs / "index.md": Path("index.md")}
    for unit in units():
        file = f"{unit}.ipynb"
        found[Path("lectures", language, file)] = Path("lectures", file)
        found[Path("exercises", language, unit, file)] = Path("exercises", file)
    for name in HANDBOOK:
        found[docs / "handbook" / f"{name}.md"] = Path("handbook", f"{name}.md")
    return {origin: place for origin, place in found.items() if (ROOT / origin).exists()}


def stage(language: str, folder: Path) -> None:
    """Write the source of one language's site into a folder, with the notebooks to download."""
    known = places(language)
    for origin, place in known.items():
        target = folder / "source" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if place.suffix == ".md":
            target.write_text(relinked((ROOT / origin).read_text("utf-8"), origin, known), "utf-8")
            continue
        original = (ROOT / origin).read_bytes()
        copy = folder / "extra" / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(original)
        notebook = nbformat.reads(original.decode(), as_version=4)
        nbformat.write(still(notebook, origin, known), target)
    with open(folder / "source" / "index.md", "a", encoding="utf-8") as index:
        index.write(contents(known, language))


def still(notebook: NotebookNode, origin: Path, known: Places) -> NotebookNode:
    """A notebook as a page: what needs a kernel is gone, links lead to pages of the site.

    A page has one title: Sphinx would take a second one for another page.
    """
    notebook.cells = [cell for cell in notebook.cells if cell.id not in OPENING]
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            cell.source = relinked(cell.source, origin, known)
            if i > 0:
                cell.source = re.sub("^# ", "## ", cell.source, flags=re.MULTILINE)
        elif "outputs" in cell:
            cell.outputs = [o for o in cell.outputs if LIVE not in o.get("data", {})]
            for data in (o.data for o in cell.outputs if "text/html" in o.get("data", {})):
                data["text/html"] = relinked(data["text/html"], origin, known, HREF, ".html")
    return notebook


def relinked(
    text: str, origin: Path, known: Places, links: re.Pattern[str] = LINK, suffix: str = ""
) -> str:
    """A text in which links to files of the repository lead to where these stand in the site.

    suffix: of the pages made of these files, where Sphinx does not put it there itself.
    """

    def moved(match: re.Match[str]) -> str:
        target = known.get(Path(os.path.normpath(origin.parent / match[1])))
        if target is None:
            return match[1]
        page = target.with_suffix(suffix) if suffix else target
        return Path(os.path.relpath(page, known[origin].parent)).as_posix()

    return links.sub(moved, text)


def contents(known: Places, language: str) -> str:
    """The table of contents that Sphinx reads, which also decides what comes next."""
    groups: dict[Text, list[Path]] = {COURSE_TITLE: [], HANDBOOK_TITLE: []}
    for place in known.values():
        if place.name != "index.md":
            groups[HANDBOOK_TITLE if place.parts[0] == "handbook" else COURSE_TITLE].append(place)
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {title.to(language)}\n\n"
        + "".join(f"{place.with_suffix('').as_posix()}\n" for place in pages)
        + "```\n"
        for title, pages in groups.items()
    )
