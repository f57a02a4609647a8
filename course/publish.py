"""Tell the notebooks where the course lies on GitHub, so that they open in Colab.

Writes the address into pyproject.toml, and a link and the set-up cell that belong to it into
every notebook. Nothing is run: outputs stay. A second time changes nothing.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat

from course.opening import stamp
from course.source import COURSE

ROOT = COURSE.parent
FOLDERS = ("lectures", "solutions", "exercises")
ADDRESS = re.compile(r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}/(?!\.{1,2}$)[\w.-]{1,100}", re.ASCII)
LINE = re.compile(r'(\[tool\.course\]\nrepository = )"[^"]*"')


def address(said: str) -> str:
    """The address itself, if GitHub could have it.

    Raises ArgumentTypeError where it is not of the form owner/name.
    """
    said = said.removeprefix("https://github.com/").removesuffix("/").removesuffix(".git")
    if not ADDRESS.fullmatch(said) or said.lower() == "owner/name":
        raise argparse.ArgumentTypeError(
            f'"{said}" is no address of a repository: write your own owner/name, the last two '
            "parts of https://github.com/owner/name"
        )
    return said


def publish(repository: str) -> Iterator[Path]:
    """Write the address where it stands and where it is used; the files that changed.

    The notebooks come first, so that a run which was stopped is completed by the next.
    """
    for path in sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        if _opens(notebook) and ".ipynb_checkpoints" not in path.parts:
            folder = path.relative_to(ROOT).parts[0]
            stamp(notebook, "lectures" if folder == "lectures" else "exercises", repository)
            yield from _changed(path, nbformat.writes(notebook) + "\n")
    project = ROOT / "pyproject.toml"
    yield from _changed(project, LINE.sub(rf'\1"{repository}"', project.read_text("utf-8")))


def _opens(notebook: nbformat.NotebookNode) -> bool:
    """Whether it has a set-up cell: the front page has no code."""
    return any(cell.get("id") == "install" for cell in notebook.cells)


def _changed(path: Path, text: str) -> Iterator[Path]:
    if path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
        yield path.relative_to(ROOT)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "run.py publish",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Then commit, and push to that repository, which has to be public: Colab opens what "
        "is on its branch main.",
    )
    help = "the repository on GitHub, such as ada/transformer-block"
    parser.add_argument("repository", metavar="owner/name", type=address, help=help)
    repository = parser.parse_args(arguments).repository
    changed = list(publish(repository))
    if not changed:
        print(f"Nothing to change: the notebooks open from {repository} already.")
        return 0
    print(*changed, sep="\n")
    print(f"{len(changed)} files changed: the notebooks open from {repository}, once it is pushed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
