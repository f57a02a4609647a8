"""The build: the same source gives the same cells, and what is wrong in it is named."""

import ast
import shutil
from pathlib import Path

import nbformat
import pytest

from blocklab import catalogue
from blocklab.text import LANGUAGES
from course import build, notebooks, source
from course.source import Code, Paragraph, SourceError

HEAD = """---
jupytext: {formats: "md:myst"}
kernelspec: {name: python3, display_name: Python 3}
---

"""
EN, KO = '+++ {"lang": "en"}\n\n', '+++ {"lang": "ko"}\n\n'


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A function that writes a source file of a course of its own, and reads its blocks."""
    monkeypatch.setattr(source, "COURSE", tmp_path / "course")

    def write(text: str, name: str = "lecture.md") -> list[source.Block]:
        path = tmp_path / "course" / "02_rms_norm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + text, "utf-8")
        return source.read(path)

    return write


def cell(options: str, body: str = "") -> str:
    return f"```{{code-cell}} ipython3\n{options}\n\n{body}\n```\n\n"


def test_a_paragraph_is_read_in_both_languages_and_code_once(written):
    blocks = written(f"{EN}One.\n\n{KO}하나.\n\n{cell('', 'x = 1')}")
    assert blocks == [Paragraph("One.", "하나."), Code("x = 1")]


@pytest.mark.parametrize(
    "text",
    [
        f"{EN}Only English.\n",
        f"{EN}First.\n\n{EN}Only English.\n",
        f"{KO}영어가 없다.\n",
        f"{EN}Only English.\n\n{cell('', 'x = 1')}",
    ],
)
def test_a_paragraph_that_lacks_a_language_is_named_with_its_place(written, text):
    with pytest.raises(SourceError, match=r"02_rms_norm/lecture\.md:\d+ .*(no Korean|no English)"):
        written(text)


def test_options_that_differ_between_the_languages_are_named(written):
    with pytest.raises(SourceError, match="options differ"):
        written('+++ {"lang": "en", "hint": "rms_norm"}\n\nOne.\n\n' + f"{KO}하나.\n")


def exercise(blocks: list[source.Block]) -> nbformat.NotebookNode:
    notebook = notebooks.exercise("02_rms_norm", blocks, "en")
    build._complete(Path("here.ipynb"), notebook)
    return notebook


def test_a_solution_is_cut_from_the_reference(written):
    blocks = written(
        cell(":solution: rms_norm") + cell(":test: rms_norm\n:points: 3"), "exercise.md"
    )
    answer, check = exercise(blocks).cells[-2:]
    reference = Path(catalogue.module_of("reference", "rms_norm").__file__ or "").read_text("utf-8")
    lines = [line for line in answer.source.split("\n") if "SOLUTION" not in line]
    assert "\n".join(lines) in reference
    assert check.source == 'check("rms_norm")'
    assert check.metadata.nbgrader.points == 3
    ast.parse(answer.source)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (cell(":solution: rms_norm"), "no check for rms_norm"),
        (cell(":test: rms_norm\n:points: 3"), "nothing to answer for rms_norm"),
        (cell(":solution: rms_norm") + cell(":test: rms_norm"), "no points"),
        (cell(":solution: rms_nrom") + cell(":test: rms_nrom\n:points: 1"), "nothing of that name"),
        (cell(":locked: a") + cell(":locked: a"), "share the grade_id a"),
        ('+++ {"lang": "en", "written": "why", "points": 2}\n\nWhy?\n\n'
         '+++ {"lang": "ko", "written": "why", "points": 2}\n\n왜?\n', "without an answer"),
        ('+++ {"lang": "en", "answer": "why"}\n\nSo.\n\n'
         '+++ {"lang": "ko", "answer": "why"}\n\n그래서.\n', "without its question"),
    ],
)  # fmt: skip
def test_an_incomplete_exercise_is_an_error_that_names_it(written, text, complaint):
    with pytest.raises(SourceError, match=complaint):
        exercise(written(text, "exercise.md"))


def test_the_committed_notebooks_are_what_the_source_gives():
    assert build.check() == []


def committed(folder: str, language: str) -> dict[str, nbformat.NotebookNode]:
    paths = sorted((build.ROOT / folder / language).rglob("*.ipynb"))
    return {path.name: nbformat.read(path, as_version=4) for path in paths}


@pytest.mark.parametrize("folder", ["solutions", "exercises"])
def test_what_nbgrader_records_is_the_same_in_both_languages(folder):
    english, korean = committed(folder, "en"), committed(folder, "ko")
    assert english.keys() == korean.keys()
    for name in english:
        recorded = [
            [
                (c.id, c.cell_type, c.source, c.metadata)
                for c in nb.cells
                if "nbgrader" in c.metadata
            ]
            for nb in (english[name], korean[name])
        ]
        assert recorded[0] == recorded[1]


@pytest.mark.parametrize("unit", build.graded(source.units()))
def test_the_points_of_a_unit_add_up_to_20(unit):
    solved = build.solutions([unit])
    for notebook in solved.values():
        metadata = [c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata]
        assert sum(m.points for m in metadata if m.grade) == 20


def test_a_test_cell_is_a_check_and_nothing_else():
    for notebook in committed("exercises", "en").values():
        for c in notebook.cells:
            m = c.metadata.get("nbgrader", {})
            if c.cell_type == "code" and m.get("grade"):
                assert c.source == f'check("{m.grade_id}")'


def test_a_release_gives_no_solution_away():
    for language in LANGUAGES:
        for notebook in committed("exercises", language).values():
            assert "SOLUTION" not in nbformat.writes(notebook)
            assert not any("blocklab" in c.metadata for c in notebook.cells)


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the built course to spoil; gives the path of one exercise notebook."""
    for folder in ("lectures", "solutions", "exercises"):
        shutil.copytree(build.ROOT / folder, tmp_path / folder)
    (tmp_path / "blocklab").mkdir()
    for path in (build.CATALOGUE, build.UNITS, build.SOLUTIONS):
        shutil.copy(build.ROOT / path, tmp_path / path)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    return next((tmp_path / "exercises" / "ko").rglob("*.ipynb"))


def spoil(path: Path, change) -> None:
    notebook = nbformat.read(path, as_version=4)
    change(notebook)
    path.write_text(nbformat.writes(notebook), "utf-8")


def repeat_metadata_id(notebook) -> None:
    notebook.cells[1].metadata["id"] = notebook.cells[2].metadata["id"] = "abc"


def edit(notebook) -> None:
    notebook.cells[3].source += " "


def drop(notebook) -> None:
    del notebook.cells[4]


def forget(notebook) -> None:
    for c in notebook.cells:
        if c.cell_type == "code":
            c.outputs.clear()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (repeat_metadata_id, "two cells share the metadata.id abc"),
        (edit, "differs"),
        (drop, "not those of a fresh build"),
    ],
)
def test_a_notebook_that_was_edited_by_hand_is_named(copied, change, complaint):
    spoil(copied, change)
    found = [line for line in build.check() if complaint in line]
    assert found
    assert all(str(copied.name) in line for line in found)


def test_a_notebook_that_no_source_gives_is_named(copied):
    shutil.copy(copied, copied.parent / "old.ipynb")
    assert any("old.ipynb: nothing in course/" in line for line in build.check())


def test_outputs_are_not_compared(copied, tmp_path):
    lecture = next((tmp_path / "lectures" / "en").glob("01*.ipynb"))
    spoil(lecture, forget)
    assert build.check() == []
