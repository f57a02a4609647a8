"""What every notebook opens with: a link to Colab, and the cell that sets the course up.

Both need the repository's address, which stands in pyproject.toml alone:
`python run.py publish owner/name` writes it there.
"""

import tomllib
from string import Template

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from blocklab.text import Text
from course.source import COURSE

PROJECT = COURSE.parent / "pyproject.toml"
OPENING = ("colab", "install")  # the ids of these cells
OPEN = {
    "lectures": Text("[Open this lecture in Colab]({url})", "[이 강의를 Colab에서 열기]({url})"),
    "exercises": Text(
        "[Open this exercise in Colab]({url})", "[이 연습문제를 Colab에서 열기]({url})"
    ),
}
FIRST = Text(
    "Run this cell first. Where blocklab is missing, as in Colab, it is installed here.",
    "이 셀을 먼저 실행하세요. Colab처럼 blocklab이 없는 곳이라면 여기서 설치합니다.",
)
FAILED = Text(
    "blocklab could not be installed (wheels found: {wheels or 'none'}). Upload blocklab-*.whl "
    "from the course's zip: folder icon on the left. Then run this cell again.",
    "blocklab을 설치하지 못했습니다(찾은 wheel: {wheels or '없음'}). 강좌 zip에 들어 있는 "
    "blocklab-*.whl을 왼쪽 폴더 아이콘을 눌러 올린 뒤, 이 셀을 다시 실행하세요.",
)
SET_UP = Template("""\
# $first
try:
    import blocklab
except ModuleNotFoundError:
    import glob, subprocess, sys

    drive = "/content/drive/MyDrive"
    folders = (".", "../..", "../../..", "/content", drive, f"{drive}/*")
    wheels = [wheel for folder in folders for wheel in glob.glob(f"{folder}/blocklab-*.whl")]
    pip = [sys.executable, "-m", "pip", "install", "-q"]
    if all(subprocess.call([*pip, source]) for source in $sources):
        raise RuntimeError(f"$failed") from None
    import blocklab
blocklab.use("$language")""")


def repository() -> str:
    """The course's address on GitHub as owner/name; empty until it is published."""
    return tomllib.loads(PROJECT.read_text("utf-8"))["tool"]["course"]["repository"]


def colab_url(address: str, path: str) -> str:
    """The address that opens a notebook of the repository in Colab."""
    return f"https://colab.research.google.com/github/{address}/blob/main/{path}"


def opening(folder: str, unit: str, language: str, address: str) -> list[NotebookNode]:
    """The link to Colab, where the repository has an address, and the set-up cell.

    folder: "lectures" or "exercises"; a solution links to its exercise.
    """
    cells = [new_code_cell(set_up(language, address), id="install")]
    if address:
        name = f"{unit}.ipynb" if folder == "lectures" else f"{unit}/{unit}.ipynb"
        url = colab_url(address, f"{folder}/{language}/{name}")
        cells.insert(0, new_markdown_cell(OPEN[folder].fill(url=url).to(language), id="colab"))
    return cells


def set_up(language: str, address: str) -> str:
    """The source of the set-up cell."""
    archive = f"https://github.com/{address}/archive/HEAD.zip"
    return SET_UP.substitute(
        first=FIRST.to(language),
        sources=f'["{archive}", *wheels]' if address else "wheels",
        failed=FAILED.to(language),
        language=language,
    )


def stamp(notebook: NotebookNode, folder: str, address: str) -> None:
    """Give a notebook the opening that belongs to this address; all else stays as it is."""
    said = notebook.metadata.blocklab
    cells = opening(folder, said.unit, said.language, address)
    ran = {cell.id: cell.get("execution_count") for cell in notebook.cells}
    cells[-1].execution_count = ran.get(cells[-1].id)
    notebook.cells = [*cells, *(cell for cell in notebook.cells if cell.id not in OPENING)]
