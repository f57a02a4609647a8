"""What a learner without a teacher sees: solutions, self-checks and progress, on a phone too."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import blocklab
from blocklab import catalogue, record
from blocklab.study.progress import Progress
from blocklab.study.shown import Solution
from blocklab.study.state import states
from blocklab.study.summary import page as summary
from tests.browser.notebook import THEMES, Notebook, choose_theme, faults

if TYPE_CHECKING:  # it may not be installed: then the fixtures skip
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

MINE = "A sublayer adds an update to the stream, and what was there before stays in the sum."
SETUP = "import torch\nfrom blocklab import check, progress, self_check, solution"
WRONG = "def rms_norm(x, gain, eps):\n    return x"
CELLS = (
    'solution("rms_norm")',
    WRONG,
    "check('rms_norm')",
    'self_check("what_is_lost")',
    "progress()",
)


@pytest.fixture
def opened(page: "Page", lab: str, folder: Path) -> Notebook:
    """A notebook with an answer to a written question in it, open in JupyterLab."""
    question = {"nbgrader": {"grade_id": "what_is_lost"}}
    answer = new_markdown_cell(MINE, metadata=question)
    cells = [new_code_cell(SETUP), answer, *map(new_code_cell, CELLS)]
    made = new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"display_name": "Python 3", "name": "python3"}
    file = folder / "alone.ipynb"
    nbformat.write(made, file)
    return Notebook(page, lab, file)


def test_a_learner_alone_gets_further_step_by_step(opened: Notebook, output: Path) -> None:
    page, expect = opened.page, opened.expect
    opened.run(SETUP.split("\n")[1])
    expect(opened.run('solution("rms_norm")')).to_contain_text("Try it yourself first")
    opened.run("def rms_norm")
    opened.run("check('rms_norm')")
    shown = opened.run('solution("rms_norm")')
    expect(shown).to_contain_text("rms_norm: the course's own answer")
    expect(shown).to_contain_text("mean_square = h.pow(2)")

    asked = opened.run('self_check("what_is_lost")')
    expect(asked).to_contain_text("Model answer.")
    first = asked.get_by_role("checkbox").first
    first.focus()
    page.keyboard.press("Space")
    expect(first).to_be_checked()
    again = opened.run('self_check("what_is_lost")')
    expect(again.get_by_role("checkbox").first).to_be_checked()
    expect(again.get_by_role("checkbox").nth(1)).not_to_be_checked()
    done = opened.run("progress()")
    expect(done).to_contain_text("what_is_lost answered, 1 ticked")
    for theme in THEMES:
        choose_theme(page, theme)
        done.scroll_into_view_if_needed()
        assert faults(page, ".blocklab-widget") == []
        assert faults(page, ".blocklab-progress") == []
        assert faults(page, ".blocklab-solution") == []
        page.screenshot(path=output / f"alone_progress_{theme.lower()}.png")
        shown.scroll_into_view_if_needed()
        page.screenshot(path=output / f"alone_solution_{theme.lower()}.png")
    assert "☑ What a sublayer writes" in opened.saved()


@pytest.fixture
def half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The record of somebody who has done unit 01 and part of 02."""
    monkeypatch.setenv("BLOCKLAB_HOME", str(tmp_path))
    for exercise in list(catalogue.exercises().values())[:11]:
        done = 1.0 if exercise.unit.startswith("01") else 0.5
        record.note(exercise.name, done, "", True)
    record.answer("what_is_lost", MINE)
    record.tick("what_is_lost", [0, 1, 3])
    yield record.read()
    blocklab.use("en")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_page_fits_a_phone(
    chromium: Any, output: Path, half_done: dict[str, Any], language: str, theme: str
) -> None:
    blocklab.use(language)
    done = [state for state in states(half_done) if state.done]
    pages = {
        "progress": Progress(half_done)._repr_html_(),
        "solution": Solution("input_gradient_norm")._repr_html_(),
        "summary": summary(done, "Kim Minji"),
    }
    context = chromium.new_context(viewport={"width": 320, "height": 700}, color_scheme=theme)
    for name, html in pages.items():
        page = context.new_page()
        head = "<!doctype html><title>x</title><style>:root{color-scheme:light dark}</style>"
        page.set_content(html if name == "summary" else f"{head}<body>{html}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
        page.screenshot(path=output / f"{name}_{language}_{theme}.png", full_page=True)
    context.close()


def test_the_summary_prints_on_one_page(chromium: Any, half_done: dict[str, Any]) -> None:
    page = chromium.new_page()
    page.set_content(summary(states(half_done), "Kim Minji"))
    assert page.pdf(format="A4").count(b"/Type /Page\n") == 1
    page.close()
