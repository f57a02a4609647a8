"""A notebook as sent, made into one that nbgrader can grade: S01 to S05, and 2,000 by chance."""

import copy

import pytest

from autograder.archives import Refused
from autograder.match import mark
from autograder.repair import repair
from tests.autograder.mutate import spoil
from tests.autograder.repairing import (
    STUB,
    UNIT,
    WRITTEN,
    Nbgrader,
    answers,
    find,
    fixed,
    place,
    release,
    sources,
    submission,
)


@pytest.fixture(scope="module")
def nbgrader(tmp_path_factory) -> Nbgrader:
    return Nbgrader(tmp_path_factory.mktemp("nbgrader"))


@pytest.mark.parametrize("language", ["en", "ko"])
def test_an_honest_notebook_keeps_every_cell_and_needs_no_repair(nbgrader, language):
    sent = submission(language)
    repaired = fixed(sent)
    assert repaired.notes == []
    assert sources(repaired.notebook) == sources(sent)
    assert [c["id"] for c in repaired.notebook.cells] == [c["id"] for c in sent["cells"]]
    assert repaired.notebook.metadata["blocklab"] == {"language": language, "unit": UNIT}
    nbgrader.takes(repaired)


def test_repairing_twice_is_repairing_once():
    once = fixed(submission())
    again = fixed(once.written())
    assert again.written() == once.written()
    assert again.notes == []


# ---------------------------------------------------------------- S01: one grade_id twice


@pytest.mark.parametrize("above", [True, False])
def test_s01_an_edited_copy_counts_against_an_untouched_stub(nbgrader, above):
    sent = submission()
    cell = find(sent, "rms_norm-answer")
    worked = copy.deepcopy(cell) | {"source": STUB, "id": "pasted"}
    cell["source"] = release().cells[release().by_grade_id["rms_norm-answer"]].source
    stub = cell["source"]
    sent["cells"].insert(sent["cells"].index(cell) + (not above), worked)
    repaired = fixed(sent)
    assert answers(repaired.notebook)["rms_norm-answer"] == STUB
    assert stub not in sources(repaired.notebook)  # it would undo the answer above it
    assert repaired.notes == ["rms_norm-answer: found 2 times, the edited one counts"]
    nbgrader.takes(repaired)


def test_s01_an_edited_copy_below_its_test_goes_where_the_stub_stood(nbgrader):
    sent = submission()
    cell = find(sent, "rms_norm-answer")
    sent["cells"].append(copy.deepcopy(cell) | {"source": STUB})
    cell["source"] = release().cells[release().by_grade_id["rms_norm-answer"]].source
    repaired = fixed(sent)
    assert answers(repaired.notebook)["rms_norm-answer"] == STUB
    assert place(repaired, "rms_norm") == place(repaired, "rms_norm-answer") + 1
    nbgrader.takes(repaired)


def test_s01_of_two_edited_ones_the_last_counts_and_the_first_is_still_there(nbgrader):
    sent = submission()
    cell = find(sent, "rms_norm-answer")
    first = cell["source"]
    sent["cells"].insert(sent["cells"].index(cell) + 1, copy.deepcopy(cell) | {"source": STUB})
    repaired = fixed(sent)
    assert answers(repaired.notebook)["rms_norm-answer"] == STUB
    assert first in sources(repaired.notebook)
    assert repaired.notes == ["rms_norm-answer: found 2 times, the last one counts"]
    nbgrader.takes(repaired)


def test_s01_two_written_answers_both_stay_and_the_last_counts(nbgrader):
    sent = submission()
    sent["cells"].append(copy.deepcopy(find(sent, WRITTEN)) | {"source": "On second thought"})
    repaired = fixed(sent)
    assert answers(repaired.notebook)[WRITTEN] == "On second thought"
    assert "I am kim, and I think so." in sources(repaired.notebook)
    nbgrader.takes(repaired)


def test_s01_a_test_twice_counts_once(nbgrader):
    sent = submission()
    sent["cells"].append(copy.deepcopy(find(sent, "rms_norm")))
    repaired = fixed(sent)
    assert repaired.notes == ["rms_norm: found 2 times, one counts"]
    nbgrader.takes(repaired)


# ---------------------------------------------------------------- S02, S03: deleted, edited


@pytest.mark.parametrize("gone", [["rms_norm"], ["setup"], ["rms_norm-answer"], [WRITTEN], "all"])
def test_s02_deleted_cells_are_put_back_where_they_stood(nbgrader, gone):
    sent = submission()
    names = [*release().by_grade_id] if gone == "all" else gone
    for name in names:
        sent["cells"].remove(find(sent, name))
    repaired = fixed(sent)
    said = [note.partition(": not there; put back")[0] for note in repaired.notes]
    assert sorted(", ".join(said).split(", ")) == sorted(names)
    order = [m["grade_id"] for c in repaired.notebook.cells if (m := mark(c))]
    assert order == [*release().by_grade_id]
    nbgrader.takes(repaired)


def test_s02_no_solution_of_the_course_is_given_away():
    repaired = fixed({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert "rsqrt" not in repaired.written().decode()
    assert "NotImplementedError" in answers(repaired.notebook)["rms_norm-answer"]


def test_s03_an_edited_test_and_one_turned_into_markdown_are_restored(nbgrader):
    sent = submission()
    find(sent, "rms_norm")["source"] = "3.0"
    imports = find(sent, "setup")["source"] + "\nimport os"
    find(sent, "setup")["source"] = imports
    find(sent, "RMSNorm")["cell_type"] = "markdown"
    find(sent, "layer_norm-answer").update(cell_type="raw")
    repaired = fixed(sent)
    assert {*repaired.notes[-4:]} == {
        "setup: was changed; restored",
        "rms_norm: was changed; restored",
        "RMSNorm: was turned into markdown; restored",
        "layer_norm-answer: was turned into raw; restored",
    }
    assert answers(repaired.notebook) == answers(submission())
    assert sources(repaired.notebook)[place(repaired, "setup") - 1] == imports  # it may be needed
    nbgrader.takes(repaired)


def test_s03_a_test_above_its_answer_and_imports_at_the_end_are_moved(nbgrader):
    sent = submission()
    for name, where in (("rms_norm", 0), ("setup", 99)):
        cell = find(sent, name)
        sent["cells"].remove(cell)
        sent["cells"].insert(where, cell)
    repaired = fixed(sent)
    assert place(repaired, "rms_norm") == place(repaired, "rms_norm-answer") + 1
    assert place(repaired, "setup") < place(repaired, "rms_by_hand-answer")
    assert len(repaired.notes) == 2
    nbgrader.takes(repaired)


def test_cells_of_the_release_have_its_ids_whatever_else_has_them():
    sent = submission()
    sent["cells"].remove(find(sent, "rms_norm"))
    own = {"cell_type": "code", "id": "rms_norm", "metadata": {}, "source": "1", "outputs": []}
    sent["cells"].insert(0, own | {"execution_count": None, "metadata": {"nbgrader": {}}})
    find(sent, "rms_norm-answer")["id"] = "mine"
    ids = {mark(c)["grade_id"]: c["id"] for c in fixed(sent).notebook.cells if mark(c)}
    assert all(grade_id == name for grade_id, name in ids.items())


# ---------------------------------------------------------------- S04, S05: metadata


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("way", ["id", "metadata id", "content"])
def test_s04_cells_without_metadata_are_found_again(nbgrader, way, language):
    sent = submission(language)
    sent["metadata"] = {}
    for cell in sent["cells"]:
        cell["metadata"] = {}
        if way != "id":
            name = cell.pop("id")
            cell["metadata"] = {"id": name} if way == "metadata id" else {}
    repaired = fixed(sent)
    assert answers(repaired.notebook) == answers(submission(language))
    assert sources(repaired.notebook) == sources(submission(language))
    assert repaired.notebook.metadata["blocklab"]["language"] == language
    assert all("found again" in note for note in repaired.notes)
    nbgrader.takes(repaired)


def test_s04_what_cannot_be_found_is_empty_and_said(nbgrader):
    sent = submission()
    cell = find(sent, "rms_norm-answer")
    cell.update(metadata={}, source="def another_name(x):\n    return x", id="new")
    repaired = fixed(sent)
    assert "NotImplementedError" in answers(repaired.notebook)["rms_norm-answer"]
    assert "def another_name(x):\n    return x" in sources(repaired.notebook)
    assert repaired.notes == ["rms_norm-answer: not there; put back as an empty answer"]
    nbgrader.takes(repaired)


def test_s04_a_long_training_is_still_not_run_by_grading():
    sent = submission()
    trainings = [c["id"] for c in sent["cells"] if c["metadata"].get("run")]
    for cell in sent["cells"]:
        cell["metadata"] = {}
    repaired = fixed(sent)
    assert trainings == [c["id"] for c in repaired.notebook.cells if c["metadata"].get("run")]


@pytest.mark.parametrize("version", [1, 2, 4, "3", None])
def test_s05_other_schema_versions_are_graded(nbgrader, version):
    sent = submission()
    find(sent, "rms_norm")["metadata"]["nbgrader"]["schema_version"] = version
    if version == 1:
        del find(sent, "rms_norm")["metadata"]["nbgrader"]["task"]
    nbgrader.takes(fixed(sent))


# ---------------------------------------------------------------- chance


def check_spoilt(nbgrader: Nbgrader, seed: int) -> None:
    """A spoilt notebook is refused with a reason, or graded with all that the student wrote."""
    sent = submission("en" if seed % 2 else "ko")
    kind, data = spoil(sent, seed)
    try:
        repaired = repair(data, release(), UNIT)
    except Refused:
        assert kind in ("bytes", "json")
        return
    nbgrader.takes(repaired)
    assert repair(data, release(), UNIT).written() == repaired.written()
    if kind in ("metadata", "order"):
        lost = {*answers(sent).values()} - {*sources(repaired.notebook)}
        assert lost - release().by_source.keys() == set()


@pytest.mark.parametrize("part", range(4))
def test_a_hundred_spoilt_notebooks_have_a_result_or_a_reason(nbgrader, part):
    for seed in range(25 * part, 25 * (part + 1)):
        check_spoilt(nbgrader, seed)


@pytest.mark.full
@pytest.mark.parametrize("part", range(20))
def test_two_thousand_spoilt_notebooks_have_a_result_or_a_reason(nbgrader, part):
    for seed in range(100 * part, 100 * (part + 1)):
        check_spoilt(nbgrader, seed)
