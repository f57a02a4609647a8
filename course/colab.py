"""Pack what Colab needs into one zip: the notebooks, and the wheel that their first cell installs.

Needs no network. Where the course has been published, links lead from one notebook to another
inside Colab; else they lead to the file in its place in the zip.
"""

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from zipfile import ZIP_DEFLATED, ZipFile

import nbformat
from nbformat import NotebookNode

from blocklab.text import LANGUAGES, Text
from course.opening import colab_url, repository
from course.source import COURSE

ROOT = COURSE.parent
FOLDER = ROOT / "dist"
PROJECT = ("pyproject.toml", "README.md", "LICENSE", "LICENSE-text")
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]+\.ipynb)")
README = "README.txt"
NEXT = Text(
    "1. Unpack the zip on your computer.\n"
    "2. Open https://colab.research.google.com, File > Upload notebook, and choose one of\n"
    "   lectures/ or exercises/.\n"
    "3. In Colab, click the folder icon on the left, drag {wheel} there, and run the first cell.\n"
    "A new session starts empty: upload {wheel} again, and the progress.json that\n"
    "export_progress wrote, if there is one.",
    "1. 컴퓨터에서 zip의 압축을 풉니다.\n"
    "2. https://colab.research.google.com에서 파일 > 노트 업로드를 누르고, lectures/나\n"
    "   exercises/에 있는 notebook을 고릅니다.\n"
    "3. Colab 왼쪽의 폴더 아이콘을 누르고 {wheel} 파일을 끌어다 놓은 뒤 첫 셀을 실행합니다.\n"
    "세션을 새로 시작하면 비어 있으니 {wheel} 파일을 다시 올리고, export_progress로\n"
    "저장한 progress.json이 있다면 그것도 올립니다.",
)


def wheel(folder: Path) -> Path:
    """Build blocklab's wheel into a folder, from a clean copy and without a network.

    Raises RuntimeError with what pip said, if it could not.
    """
    with tempfile.TemporaryDirectory() as copy:
        for name in PROJECT:
            shutil.copy(ROOT / name, copy)
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "blocklab", Path(copy, "blocklab"), ignore=unwanted)
        offline = ("--no-deps", "--no-build-isolation", "--no-index")
        pip = [sys.executable, "-m", "pip", "wheel", "-q", *offline, "-w", str(folder), copy]
        done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"The wheel could not be built:\n{done.stderr}")
    (made,) = folder.glob("blocklab-*.whl")
    return made


def notebooks(languages: Iterable[str]) -> Iterator[tuple[str, NotebookNode]]:
    """Lectures and exercises by their path in the zip, with links that work there."""
    address = repository()
    for folder in ("lectures", "exercises"):
        for language in languages:
            for file in sorted((ROOT / folder / language).rglob("*.ipynb")):
                if ".ipynb_checkpoints" not in file.parts:
                    path = file.relative_to(ROOT).as_posix()
                    yield path, relinked(nbformat.read(file, as_version=4), path, address)


def relinked(notebook: NotebookNode, path: str, address: str) -> NotebookNode:
    """The notebook with its links to others leading to Colab, where there is an address."""

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(PurePosixPath(path).parent / match[1])
        return f"]({colab_url(address, target)}"

    for cell in notebook.cells:
        if address and cell.cell_type == "markdown":
            cell.source = LINK.sub(link, cell.source)
    return notebook


def pack(languages: Iterable[str], folder: Path) -> tuple[Path, str]:
    """Write the zip into a folder; its path, and the name of the wheel in it."""
    languages = list(languages)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"blocklab-colab-{'-'.join(languages)}.zip"
    with tempfile.TemporaryDirectory() as place:
        built = wheel(Path(place))
        with ZipFile(target, "w", ZIP_DEFLATED) as packed:
            packed.write(built, built.name)
            steps = NEXT.fill(wheel=built.name)
            packed.writestr(README, "\n\n".join(map(steps.to, languages)) + "\n")
            for path, notebook in notebooks(languages):
                packed.writestr(path, nbformat.writes(notebook) + "\n")
    return target, built.name


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "run.py colab",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--lang", choices=LANGUAGES, help="only in this language; both by default")
    options = parser.parse_args(arguments)
    try:
        target, name = pack([options.lang] if options.lang else LANGUAGES, FOLDER)
    except (OSError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB\n{NEXT.fill(wheel=name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
