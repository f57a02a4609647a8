"""What a grader's page adds to a notebook, and a student's feedback does not have."""

import copy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.classroom import ClassError, units
from autograder.formgrader import command
from autograder.nbgrader_config import REPOSITORY
from autograder.pages import ModelAnswers, WithoutDeadLinks, WithoutHelpers
from blocklab.text import LANGUAGES

TITLES = {"en": "Model answer and rubric", "ko": "모범 답안과 채점 기준"}
FIRST = {"en": "**Model answer.**", "ko": "**모범 답안.**"}


def submission(unit: str, language: str):
    path = REPOSITORY / "exercises" / language / unit / f"{unit}.ipynb"
    return nbformat.read(path, as_version=4)


def shown(notebook, **resources):
    source = str(REPOSITORY / "solutions" / "en")
    return ModelAnswers(source=source).preprocess(copy.deepcopy(notebook), resources)[0]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("unit", units())
def test_every_written_answer_is_followed_by_its_model_answer(unit, language):
    notebook = submission(unit, language)
    where = {"assignment_id": unit, "notebook_id": unit, "submission_id": "1"}
    cells = shown(notebook, **where).cells
    (other,) = set(LANGUAGES) - {language}
    written = [
        i
        for i, cell in enumerate(cells)
        if cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("grade")
    ]
    assert written
    for i in written:
        assert TITLES[language] in cells[i + 1].source and FIRST[language] in cells[i + 1].source
        assert FIRST[other] not in cells[i + 1].source
        assert f'href="#{cells[i].metadata.nbgrader.grade_id}"' in cells[0].source


def test_feedback_has_no_model_answer():
    notebook = submission("02_rms_norm", "en")
    assert shown(notebook, nbgrader={"assignment": "02_rms_norm"}) == notebook


def test_a_unit_of_the_instructors_own_is_shown_without_model_answers():
    notebook = submission("02_rms_norm", "en")
    there = {"assignment_id": "07_mine", "notebook_id": "07_mine", "submission_id": "1"}
    assert [c.source for c in shown(notebook, **there).cells] == [c.source for c in notebook.cells]


def test_calls_for_help_are_left_out_and_answers_never_are():
    answer = new_code_cell('hint("rms_norm")', metadata={"nbgrader": {"solution": True}})
    kept = [answer, new_code_cell('x = hint("rms_norm")'), new_code_cell("progress(); y = 1")]
    left_out = [new_code_cell('hint("rms_norm")'), new_code_cell("progress()\n")]
    notebook = new_notebook(cells=[*kept, *left_out])
    assert WithoutHelpers().preprocess(notebook, {})[0].cells == kept


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("Read the [lecture](../../../lectures/en/02.ipynb) first.", "Read the lecture first."),
        ("[강의](../02.ipynb#mask)와 [문제](./03.ipynb)", "강의와 문제"),
        ("[nbgrader](https://nbgrader.readthedocs.io)", None),
        ("[below](#rms) ![plot](../plot.png)", None),
        ("x[0](.5) is mine", None),
    ],
)
def test_a_link_to_a_file_of_the_course_is_shown_as_words(source, words):
    notebook = new_notebook(cells=[new_markdown_cell(source), new_code_cell(source)])
    cells = WithoutDeadLinks().preprocess(notebook, {})[0].cells
    assert [cell.source for cell in cells] == [words or source, source]


def test_the_formgrader_of_a_folder_that_is_no_class_says_how_to_make_one(tmp_path):
    with pytest.raises(ClassError, match=r"run\.py class"):
        command(tmp_path)
