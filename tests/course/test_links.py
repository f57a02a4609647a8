"""Every link from a notebook or a README to another file of the course leads somewhere."""

import re
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest

from course import build

PAGES = sorted(
    path.relative_to(build.ROOT)
    for folder in ("lectures", "exercises", "solutions")
    for path in (build.ROOT / folder).rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)
DOCS = sorted(path.relative_to(build.ROOT) for path in (build.ROOT / "docs").rglob("*.md"))


def text(path: Path) -> str:
    if path.suffix == ".md":
        return path.read_text("utf-8")
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(c.source for c in cells if c.cell_type == "markdown")


@pytest.mark.parametrize("page", [Path("README.md"), Path("README.ko.md"), *DOCS, *PAGES], ids=str)
def test_every_link_to_a_file_leads_somewhere(page):
    links = re.findall(r"\]\(([^)\s]+)\)", text(build.ROOT / page))
    files = [link.split("#")[0] for link in links if not re.match(r"[a-z]+:|#", link)]
    lost = [f for f in files if not (build.ROOT / page).parent.joinpath(unquote(f)).exists()]
    assert lost == []
