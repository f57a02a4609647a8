"""The start page leads to every unit and names what a learner can call."""

import nbformat
import pytest

import blocklab
from blocklab.text import LANGUAGES
from course import build, source

TEXT = "\n".join(
    cell.source for cell in nbformat.read(build.ROOT / "lectures/start.ipynb", as_version=4).cells
)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("unit", source.units())
def test_it_leads_to_every_lecture_and_exercise(unit, language):
    assert f"]({language}/{unit}.ipynb)" in TEXT
    if unit in build.graded([unit]):
        assert f"](../exercises/{language}/{unit}/{unit}.ipynb)" in TEXT


@pytest.mark.parametrize("name", sorted({*blocklab.__all__} - {"fill_in", "paint_mask", "use"}))
def test_it_names_everything_a_learner_calls(name):
    assert f"{name}(" in TEXT
