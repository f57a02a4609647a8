"""The zip for Colab: the notebooks, their wheel, and links that lead somewhere."""

import posixpath
import re
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import nbformat
import pytest

from course import build, colab, source

LINKS = re.compile(r"\]\(([^)\s]+\.ipynb)")


@pytest.fixture
def wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for the build of the wheel, which has tests of its own."""

    def write(folder: Path) -> Path:
        (folder / "blocklab-1-py3-none-any.whl").touch()
        return folder / "blocklab-1-py3-none-any.whl"

    monkeypatch.setattr(colab, "wheel", write)


def links(packed: ZipFile) -> list[tuple[str, str]]:
    """Every link from one notebook to another: the path of the first, and the link."""
    found = []
    for path in packed.namelist():
        if path.endswith(".ipynb"):
            cells = nbformat.reads(packed.read(path).decode(), as_version=4).cells
            text = "\n".join(c.source for c in cells if c.cell_type == "markdown")
            found += [(path, link) for link in LINKS.findall(text)]
    assert found
    return found


@pytest.mark.usefixtures("wheel")
@pytest.mark.parametrize("languages", [["ko"], ["en", "ko"]])
def test_it_holds_lectures_exercises_and_the_wheel(languages: list[str], tmp_path: Path):
    target, name = colab.pack(languages, tmp_path / "new")
    units = source.units()
    lectures = [f"lectures/{lang}/{u}.ipynb" for lang in languages for u in units]
    exercises = [
        f"exercises/{lang}/{u}/{u}.ipynb" for lang in languages for u in build.graded(units)
    ]
    assert ZipFile(target).namelist() == [name, "README.txt", *lectures, *exercises]
    said = ZipFile(target).read("README.txt").decode()
    assert [name in said, "컴퓨터에" in said] == [True, "ko" in languages]


@pytest.mark.usefixtures("wheel")
def test_before_publishing_a_link_leads_to_a_file_of_the_zip(tmp_path, monkeypatch):
    monkeypatch.setattr(colab, "repository", lambda: "")
    packed = ZipFile(colab.pack(["ko"], tmp_path)[0])
    for path, link in links(packed):
        if link.startswith("https:"):  # the notebook's own, where this course is published
            continue
        assert posixpath.normpath(PurePosixPath(path).parent / link) in packed.namelist()


@pytest.mark.usefixtures("wheel")
def test_after_publishing_a_link_opens_in_colab(tmp_path, monkeypatch):
    monkeypatch.setattr(colab, "repository", lambda: "ada/course")
    for _, link in links(ZipFile(colab.pack(["en"], tmp_path)[0])):
        site, path = link.split("/github/ada/course/blob/main/")
        assert site == "https://colab.research.google.com"
        assert (build.ROOT / path).exists()


def test_the_command_says_where_how_large_and_what_to_do(wheel, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(colab, "FOLDER", tmp_path)
    assert colab.main(["--lang", "ko"]) == 0
    said = capsys.readouterr().out
    assert re.match(rf"{re.escape(str(tmp_path))}/blocklab-colab-ko\.zip: \d+\.\d MB\n", said)
    assert "drag blocklab-1-py3-none-any.whl there" in said


def test_a_wheel_that_cannot_be_built_leaves_no_half_a_zip(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(colab, "FOLDER", tmp_path)
    monkeypatch.setattr(colab, "PROJECT", ())
    assert colab.main([]) == 1
    assert "The wheel could not be built" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
