"""What floods a graded notebook is cut; what explains a mark stays whole."""

import copy

import pytest
from nbformat.v4 import new_code_cell, new_output

from autograder.limit import MOST, LimitText

LONG = "start " + "again " * MOST + "end"


def limited(source, *outputs, **metadata):
    cell = new_code_cell(source, outputs=copy.deepcopy([*outputs]), metadata=metadata)
    return LimitText().preprocess_cell(cell, {}, 0)[0].outputs


@pytest.mark.parametrize(
    "output",
    [
        new_output("stream", text=LONG),
        new_output("execute_result", {"text/plain": LONG}),
        new_output("error", ename="E", evalue=LONG, traceback=[LONG]),
    ],
    ids=lambda output: output.output_type,
)
def test_c03_a_text_of_any_kind_is_cut_in_its_middle(output):
    (shown,) = limited("f()", output)
    for text in [shown.get("text"), shown.get("evalue"), *shown.get("traceback", [])]:
        if text:
            assert len(text) < MOST + 100
            assert text.startswith("start") and text.endswith("end") and "글자 생략" in text
    assert len(shown.get("data", {}).get("text/plain", "")) < MOST + 100


def test_c03_lines_are_cut_as_nbgrader_does():
    (shown,) = limited("f()", new_output("stream", text="x\n" * 5000))
    assert len(shown.text.splitlines()) == 1000


def test_pictures_short_texts_and_our_reports_stay_whole():
    picture = new_output("display_data", {"image/png": "A" * 2 * MOST, "text/plain": "<Figure>"})
    report = new_output("execute_result", {"text/html": LONG, "text/plain": "1.0"})
    graded = {"nbgrader": {"grade": True, "grade_id": "rms_norm"}}
    assert limited("plot()", picture) == [picture]
    assert limited('check("rms_norm")', report, **graded) == [report]
