"""Publishing: the address stands in one place, and every notebook opens from there."""

import re
import shutil
import tomllib
from pathlib import Path

import nbformat
import pytest

from course import build, opening, publish


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the course that may be published."""
    for folder in publish.FOLDERS:
        shutil.copytree(build.ROOT / folder, tmp_path / folder)
    shutil.copytree(build.ROOT / "blocklab", tmp_path / "blocklab")
    shutil.copy(opening.PROJECT, tmp_path)
    monkeypatch.setattr(opening, "PROJECT", tmp_path / "pyproject.toml")
    for module in (publish, build):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    return tmp_path


def notebooks(course: Path, folder: str) -> dict[str, nbformat.NotebookNode]:
    """The notebooks in a folder by path, without the front page."""
    paths = [p for p in (course / folder).rglob("*.ipynb") if p.name != "start.ipynb"]
    return {p.relative_to(course).as_posix(): nbformat.read(p, as_version=4) for p in paths}


def rest(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.id not in opening.OPENING]


@pytest.mark.parametrize("folder", publish.FOLDERS)
def test_every_notebook_opens_with_a_link_to_itself_and_can_install_the_course(folder, course):
    assert publish.main(["ada/course"]) == 0
    for path, notebook in notebooks(course, folder).items():
        link, set_up = notebook.cells[:2]
        (url,) = re.findall(r"\]\((\S+)\)$", link.source)
        shown = path.replace("solutions/", "exercises/")
        assert url == f"https://colab.research.google.com/github/ada/course/blob/main/{shown}"
        assert '["https://github.com/ada/course/archive/HEAD.zip", *wheels]' in set_up.source


def test_all_else_stays_as_it_is_with_its_outputs(course):
    before = {f: notebooks(course, f) for f in publish.FOLDERS}
    publish.main(["ada/course"])
    for folder, was in before.items():
        for path, notebook in notebooks(course, folder).items():
            assert rest(notebook) == rest(was[path])
            assert notebook.metadata == was[path].metadata
            counts = [[c.execution_count for c in nb.cells if c.id == "install"]
                      for nb in (notebook, was[path])]  # fmt: skip
            assert counts[0] == counts[1]


def test_the_address_is_written_into_the_project_and_nothing_else_is(course):
    before = tomllib.loads(opening.PROJECT.read_text("utf-8"))
    publish.main(["ada/course"])
    after = tomllib.loads(opening.PROJECT.read_text("utf-8"))
    assert opening.repository() == "ada/course"
    before["tool"]["course"]["repository"] = "ada/course"
    assert after == before


def test_what_is_published_is_what_a_build_gives(course):
    publish.main(["ada/course"])
    assert build.check() == []


def test_a_second_time_changes_nothing_and_another_address_takes_its_place(course, capsys):
    publish.main(["ada/course"])
    capsys.readouterr()
    publish.main(["ada/course"])
    assert capsys.readouterr().out.startswith("Nothing to change")
    publish.main(["grace/blocks.2"])
    files = [*course.rglob("*.ipynb"), opening.PROJECT]
    texts = [file.read_text("utf-8") for file in files]
    assert not any("ada/course" in text for text in texts)
    assert sum("grace/blocks.2" in text for text in texts) == len(files) - 1  # not the front page


@pytest.mark.parametrize(
    "said",
    [
        *("course", "ada/", "/course", "ada/course/lectures", "owner/name", "아다/course"),
        *("-ada/course", "a--b/course", "ada/co urse", 'ada/"', "ada/..", "http://ada.org/course"),
    ],
)
def test_what_is_no_address_is_refused_and_changes_nothing(said, course, capsys):
    before = opening.PROJECT.read_text("utf-8")
    with pytest.raises(SystemExit, match="2"):
        publish.main([said])
    error = capsys.readouterr().err
    assert "owner/name" in error
    assert opening.PROJECT.read_text("utf-8") == before


@pytest.mark.parametrize("said", ["ada/course", "https://github.com/ada/course.git"])
def test_an_address_may_be_that_of_its_page(said: str) -> None:
    assert publish.address(said) == "ada/course"
