"""What a student hands in cannot run in a grader's browser."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.clean import CleanLearners

SCRIPTS = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    '<a href="javascript:alert(1)">here</a>',
    '<svg onload="alert(1)"><circle r="3"/></svg>',
    '<iframe src="https://example.org"></iframe>',
    "<style>body{display:none}</style>",
    '<b onclick="alert(1)">bold</b>',
    "<ScRiPt >alert(1)</sCrIpT>",
]
ALIVE = ("<script", "<ScRiPt", "<img", "<svg", "<iframe", "<style", "<b on", 'href="java')


def cleaned(*cells):
    return CleanLearners().preprocess(new_notebook(cells=list(cells)), {})[0].cells


@pytest.mark.parametrize("html", SCRIPTS)
def test_neither_markdown_nor_an_output_brings_code(html):
    shown = new_output("display_data", {"text/html": html, "application/javascript": "alert(1)"})
    cells = new_markdown_cell(f"My answer. {html}"), new_code_cell("", outputs=[shown])
    words, code = cleaned(*cells)
    assert not any(alive in words.source for alive in ALIVE)
    (output,) = code.outputs
    assert not any(alive in output.data.get("text/html", "") for alive in ALIVE)
    assert "application/javascript" not in output.data


@pytest.mark.parametrize(
    "words", ["$a < b$ and x > 3", "```\nif a < b: pass\n```", "5 < 7 & 8", "**bold** `x`"]
)
def test_what_brings_no_code_stays_as_it_was_written(words):
    assert cleaned(new_markdown_cell(words))[0].source == words


def test_a_plot_a_table_and_a_report_stay():
    table = "<table><tbody><tr><td>1</td></tr></tbody></table>"
    data = {"text/html": table, "image/png": "iVBORw0=", "text/plain": "1"}
    plot = new_code_cell("", outputs=[new_output("display_data", dict(data))])
    drawn = new_output("display_data", {"text/html": "<svg/>"})
    check = new_code_cell('check("rms_norm")', outputs=[drawn])
    check.metadata["nbgrader"] = {"grade": True, "grade_id": "rms_norm"}
    shown, report = cleaned(plot, check)
    assert dict(shown.outputs[0].data) == data
    assert report.outputs[0].data["text/html"] == "<svg/>"
