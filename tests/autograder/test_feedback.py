"""A hidden test stays hidden in what a student gets, whatever it ends in."""

import json

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.feedback import HideTests

CANARY = "canary-7f3a"
TEST = f"""assert f(1) == 2
### BEGIN HIDDEN TESTS
assert f(3) == 4, "{CANARY}"
### END HIDDEN TESTS"""


def hidden(*outputs, elsewhere=()):
    cell = new_code_cell(TEST, outputs=list(outputs))
    cell.metadata["nbgrader"] = {"grade": True, "grade_id": "t", "points": 1}
    other = new_code_cell("print(open('/proc/self/cmdline').read())", outputs=list(elsewhere))
    notebook = new_notebook(cells=[new_markdown_cell("words"), cell, other])
    return HideTests().preprocess(notebook, {})[0]


ERROR = new_output(
    "error",
    ename="AssertionError",
    evalue=CANARY,
    traceback=[f"\x1b[0;31m---> 3 assert f(3) == 4, \x1b[0;32m'{CANARY}'"],
)
PRINTED = new_output("stream", text=f"seen: {CANARY}!")
SHOWN = new_output("display_data", {"text/html": f"<b>{CANARY}</b>", "application/json": [CANARY]})


@pytest.mark.parametrize("output", [ERROR, PRINTED, SHOWN], ids=["error", "stream", "display"])
def test_nothing_of_a_hidden_test_is_left(output):
    for notebook in (hidden(output), hidden(elsewhere=[output])):
        assert CANARY not in json.dumps(notebook)
        assert "HIDDEN TESTS" not in json.dumps(notebook)
        assert notebook.cells[1].source == "assert f(1) == 2"


def test_that_a_hidden_test_failed_is_said():
    (output,) = hidden(ERROR).cells[1].outputs
    assert "AssertionError in a hidden test" in output.traceback[0]


def test_a_notebook_without_hidden_tests_stays_as_it_is():
    notebook = new_notebook(cells=[new_code_cell("1", outputs=[PRINTED])])
    before = json.dumps(notebook)
    assert json.dumps(HideTests().preprocess(notebook, {})[0]) == before
