"""What is done once instead of again and again does the same."""

from pathlib import Path

import jsonschema
import pytest
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.nbgraderformat import MetadataValidator, common
from nbgrader.preprocessors import saveautogrades

from autograder.quick import OnceGradebook, quicken, validate


@pytest.fixture
def address(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/gradebook.db"
    Gradebook(url).close()
    return url


def test_a_gradebook_is_written_when_it_is_left(address: str) -> None:
    with OnceGradebook(address) as book:
        book.add_student("minji")
        with Gradebook(address) as other, pytest.raises(MissingEntry):
            other.find_student("minji")
    with Gradebook(address) as other:
        assert str(other.find_student("minji").id) == "minji"


def test_after_an_error_nothing_of_it_is_written(address: str) -> None:
    def fail() -> None:
        with OnceGradebook(address) as book:
            book.add_student("minji")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with Gradebook(address) as other, pytest.raises(MissingEntry):
        other.find_student("minji")


def test_a_gradebook_that_was_deleted_is_made_anew(address: str, tmp_path: Path) -> None:
    for student in ("minji", "jun"):
        with OnceGradebook(address) as book:
            assert not book.students
            book.add_student(student)
        with OnceGradebook(address) as book:
            assert [s.id for s in book.students] == [student]
        (tmp_path / "gradebook.db").unlink()


def test_nbgrader_uses_it_and_the_gradebook_of_the_formgrader_stays_what_it_was() -> None:
    quicken()
    assert vars(saveautogrades)["Gradebook"] is OnceGradebook
    assert common.jsonschema.validate is validate
    from nbgrader.apps import api

    assert api.Gradebook is Gradebook


@pytest.mark.parametrize(
    "cell",
    [
        {"schema_version": 3, "grade": True, "locked": False, "solution": False, "grade_id": "a"},
        {"schema_version": 3, "grade": "yes", "locked": False, "solution": False, "grade_id": "a"},
        {"schema_version": 3, "grade": True, "locked": False, "solution": False, "grade_id": "a b"},
        {"schema_version": 3, "points": -1},
        {},
    ],
)
def test_metadata_are_judged_alike(cell: dict) -> None:
    schema = MetadataValidator().schema

    def complaint(judge) -> str:
        try:
            judge(cell, schema)
        except jsonschema.ValidationError as error:
            return error.message
        return ""

    assert complaint(validate) == complaint(jsonschema.validate)
