"""What a student hands in cannot run in a grader's browser, and what is harmless stays as it is."""

import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from autograder.clean import CleanLearners
from blocklab.widgets.masks import mask
from blocklab.widgets.picture import Picture

ROOT = Path(__file__).parents[2]
HOSTILE = [
    "<script>alert(1)</script>",
    "<ScRiPt >alert(1)</sCrIpT>",
    '<img src=x onerror="alert(1)">',
    '<a href="javascript:alert(1)">here</a>',
    "[here](javascript:alert(1))",
    "[here](java&#9;script:alert(1))",
    "[here](data:text/html;base64,AAAA)",
    "![a picture](/formgrader?path=submitted/mallory)",
    "![a picture](https://example.org/seen.png)",
    "[![a picture](https://example.org/seen.png)](https://example.org)",
    "[my page](evil.html)",
    "![a picture](attachment:there-is-none.png)",
    '<svg onload="alert(1)"><circle r="3"/></svg>',
    '<iframe src="https://example.org"></iframe>',
    '<form action="/x"><input name="score" class="score"><button>Go</button></form>',
    "<style>body{display:none}</style>",
    '<div style="position:fixed;inset:0">all of it</div>',
    '<div class="modal-backdrop in">all of it</div>',
    '<h2 id="rms_norm">an id of the page</h2>',
    '<meta http-equiv="refresh" content="0;url=https://example.org">',
    '<b onclick="alert(1)">bold</b>',
    "```mermaid\n<img src=x onerror=alert(1)>\n```",
    "$x$ <math><mtext></mtext><mglyph><style><!--</style><img onerror=alert(1) src=x>",
    "`````\n</code></pre>\n`````\n<script>alert(1)</script>",
    "<!--> <script>alert(1)</script> -->",
]
TAGS = {
    *("script", "style", "iframe", "form", "input", "button", "svg", "math", "meta", "link"),
    *("object", "embed", "base"),
}
PIXEL = "iVBORw0KGgo="


class Live(HTMLParser):
    """What in a page could run, cover it, or load something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag] if tag in TAGS else []
        self.found += [
            f"{tag} {name}={value}" for name, value in attrs if _is_live(name, value or "")
        ]


def _is_live(name: str, value: str) -> bool:
    if name in ("src", "href"):
        return not value.startswith(("data:image/", "https://"))
    if name == "id":
        return not value.startswith("cell-id=")  # nbconvert's own
    return name.startswith("on") or name in ("style", "action") or "modal" in value


def cleaned(*cells):
    notebook = new_notebook(cells=list(cells))
    notebook.metadata["blocklab"] = {"language": "en"}
    return CleanLearners().preprocess(notebook, {})[0]


def page(notebook) -> str:
    exporter = HTMLExporter(template_name="basic", exclude_anchor_links=True)
    return exporter.from_notebook_node(notebook)[0]


@pytest.mark.parametrize("source", HOSTILE)
def test_neither_markdown_nor_an_output_brings_code(source):
    data = {"text/html": source, "text/markdown": source, "application/javascript": "alert(1)"}
    cells = [new_markdown_cell(f"My answer. {source}"), new_markdown_cell(source)]
    cells += [new_raw_cell(source)]
    cells += [
        new_code_cell("", outputs=[new_output("display_data", dict([d]))]) for d in data.items()
    ]
    shown = page(cleaned(*cells))
    assert Live(shown).found == []
    assert "My answer." in shown


@pytest.mark.parametrize("source", HOSTILE)
def test_a_grader_can_still_read_what_was_written(source):
    cell = cleaned(new_markdown_cell(source)).cells[0]
    assert source in cell.source
    assert "as it was written" in cell.source


def test_sizes_of_pictures_bring_no_code():
    metadata = {"image/png": {"width": "1 onerror=alert(1)", "height": 4}, "isolated": True}
    output = new_output("display_data", {"image/png": PIXEL}, metadata=metadata)
    notebook = cleaned(new_code_cell("", outputs=[output]))
    assert Live(page(notebook)).found == []
    assert notebook.cells[0].outputs[0].metadata == {"image/png": {"height": 4}}


def test_an_svg_is_shown_as_a_picture_in_which_nothing_runs():
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
    )
    output = new_output("display_data", {"image/svg+xml": svg, "text/plain": "a drawing"})
    shown = page(cleaned(new_code_cell("", outputs=[output])))
    assert "<img" in shown and "data:image/svg+xml;base64," in shown
    assert Live(shown).found == []


def test_a_painted_mask_can_be_read():
    output = new_output("display_data", Picture(mask("painted_causal", 2), "10 11").still_data())
    shown = page(cleaned(new_code_cell("", outputs=[output])))
    assert re.findall("[■·]", shown.split("<table>")[1]) == ["■", "·", "■", "■"]


def test_an_output_with_nothing_to_show_says_so():
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "1", "version_major": 2}}
    cell = new_code_cell("", outputs=[new_output("display_data", widget)])
    assert cleaned(cell).cells[0].outputs[0].data == {
        "text/plain": "(This output is not shown here.)"
    }


@pytest.mark.parametrize(
    "words",
    [
        "$a < b$ and $i<j$ and x > 3",
        "the token `<eos>`, and `<b>`",
        "```\nif a < b: pass\n```",
        "```python\nx: list[int] = [1 < 2]\n```",
        "5 < 7 & 8, &lt;b&gt; and &amp;",
        '**bold** `x` ~~no~~ *"so"* it\'s',
        "| a | b |\n|:-:|---|\n| 1 | 2 |",
        "3. three\n4. four\n\n> quoted\n\n- a list",
        "see https://arxiv.org/abs/1910.07467 or [it](https://arxiv.org 'RMSNorm')",
        "\\begin{align} a &< b \\\\ c \\end{align}",
        "한국어로 쓴 **답**입니다.",
    ],
)
def test_what_brings_no_code_stays_as_it_was_written(words):
    shown = new_output("display_data", {"text/markdown": words, "text/plain": "…"})
    cell, code = cleaned(new_markdown_cell(words), new_code_cell("", outputs=[shown])).cells
    assert cell.source == words
    assert code.outputs[0].data["text/markdown"] == words


def test_a_pasted_picture_stays():
    cell = new_markdown_cell("![drawn](attachment:a.png)")
    cell["attachments"] = {"a.png": {"image/png": PIXEL}}
    assert f"data:image/png;base64,{PIXEL}" in page(cleaned(cell))


def test_a_pasted_picture_of_a_type_that_is_none_does_not():
    cell = new_markdown_cell("![drawn](attachment:a.png)")
    cell["attachments"] = {"a.png": {'image/png" onerror="alert(1)': PIXEL}}
    assert Live(page(cleaned(cell))).found == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("exercises/*/*/*.ipynb")), ids=lambda p: p.stem)
def test_the_courses_own_text_stays(path):
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown"]
    before = [cell.source for cell in cells]
    assert [cell.source for cell in cleaned(*cells).cells] == before


def test_a_plot_a_table_and_a_report_stay():
    table = "<table><tbody><tr><td>1</td></tr></tbody></table>"
    data = {"text/html": table, "image/png": PIXEL, "text/plain": "1"}
    plot = new_code_cell("", outputs=[new_output("display_data", dict(data))])
    drawn = new_output("display_data", {"text/html": "<svg/>"})
    check = new_code_cell('check("rms_norm")', outputs=[drawn])
    check.metadata["nbgrader"] = {"grade": True, "grade_id": "rms_norm"}
    shown, report = cleaned(plot, check).cells
    assert dict(shown.outputs[0].data) == data
    assert report.outputs[0].data["text/html"] == "<svg/>"
