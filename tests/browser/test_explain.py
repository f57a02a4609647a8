"""Knobs are turned in JupyterLab, and the picture and its sentence follow."""

import re
import statistics
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from blocklab.explain.rms_norm import RMS_NORM
from blocklab.text import LANGUAGES
from tests.browser.notebook import THEMES, Notebook, choose_theme, faults, write
from tests.explain.seen import see

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

ROOT = Path(__file__).parents[2]
IMPORT = "from blocklab import explain"
ERRORS = re.compile("error|not found|traceback", re.IGNORECASE)
ROUND_TRIP = """
async (widget) => {
  const [slider, picture] = ["input", "svg"].map((tag) => widget.querySelector(tag));
  const holder = picture.parentElement, times = [];
  for (let i = 0; i < 24; i++) {
    const drawn = new Promise((done) => {
      const seen = new MutationObserver(() => (seen.disconnect(), done()));
      seen.observe(holder, { childList: true });
    });
    const start = performance.now();
    slider.value = i % 2 ? 3 : 8;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await drawn;
    times.push(performance.now() - start);
    await new Promise((rested) => setTimeout(rested, 250)); // a step at a time, as by hand
  }
  return times;
}
"""


def sentence(cell: "Locator") -> "Locator":
    return cell.locator(".blocklab-widget p")


def said(**values: object) -> str:
    return see(RMS_NORM, **values).sentence.en


def opened(page: "Page", lab: str, file: Path) -> tuple[Notebook, "Locator"]:
    """A notebook that shows the picture of a norm, and the cell that does."""
    notebook = Notebook(page, lab, write(file, IMPORT, "explain.rms_norm()"))
    notebook.run(IMPORT)
    cell = notebook.run("explain.rms_norm")
    notebook.expect(sentence(cell)).to_have_text(said())
    return notebook, cell


def test_the_mouse_turns_a_knob(page: "Page", lab: str, folder: Path) -> None:
    notebook, cell = opened(page, lab, folder / "mouse.ipynb")
    notebook.expect(cell.locator("[data-blocklab-still]")).to_be_hidden()
    before = cell.locator(".blocklab-widget svg").inner_html()
    slider = cell.get_by_role("slider", name="x times", exact=True)
    box = slider.bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.67 * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] / 2, steps=9)
    notebook.expect(sentence(cell)).to_have_text(said(scale=10))
    page.mouse.up()
    assert cell.locator(".blocklab-widget svg").inner_html() != before
    notebook.expect(slider).to_be_focused()
    cell.get_by_label("LayerNorm instead of RMSNorm").click()
    notebook.expect(sentence(cell)).to_have_text(said(scale=10, layer_norm=True))
    cell.get_by_label("Epsilon").select_option("1e-2")
    notebook.expect(sentence(cell)).to_have_text(said(scale=10, layer_norm=True, eps="1e-2"))
    cell.get_by_role("button", name="Start again").click()
    notebook.expect(sentence(cell)).to_have_text(said())
    notebook.expect(slider).to_have_attribute("aria-valuetext", "1")


def test_the_keyboard_turns_a_knob_and_the_focus_stays(
    page: "Page", lab: str, folder: Path
) -> None:
    notebook, cell = opened(page, lab, folder / "keyboard.ipynb")
    slider = cell.get_by_role("slider", name="x times", exact=True)
    slider.focus()
    for key, scale in (("ArrowRight", 2), ("ArrowUp", 5), ("End", 10), ("Home", 0.01)):
        page.keyboard.press(key)
        notebook.expect(sentence(cell)).to_have_text(said(scale=scale))
        notebook.expect(slider).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    notebook.expect(sentence(cell)).to_have_text(said(scale=0.01, shift=0.1))
    for key in ("Tab", "Tab", "Tab", "Space"):
        page.keyboard.press(key)
    notebook.expect(sentence(cell)).to_have_text(said(scale=0.01, shift=0.1, layer_norm=True))
    notebook.expect(cell.get_by_role("checkbox")).to_be_focused()
    page.keyboard.press("x")  # "cut this cell", if it reached the notebook
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    notebook.expect(sentence(cell)).to_have_text(said())
    assert page.locator(".jp-CodeCell").count() == 2


def test_picture_and_python_answer_within_50_ms(page: "Page", lab: str, folder: Path) -> None:
    _, cell = opened(page, lab, folder / "speed.ipynb")
    times = cell.locator(".blocklab-widget").evaluate(ROUND_TRIP)
    median = statistics.median(times)
    print(f"\nknob to picture: median {median:.1f} ms, slowest {max(times):.1f} ms")
    assert median < 50


def test_two_pictures_live_side_by_side(page: "Page", lab: str, folder: Path) -> None:
    file = write(folder / "two.ipynb", IMPORT, "explain.rms_norm()", "explain.ffn()")
    notebook = Notebook(page, lab, file)
    notebook.run(IMPORT)
    first, second = notebook.run("rms_norm"), notebook.run("ffn()")
    notebook.expect(sentence(second)).to_contain_text("hidden units are on")
    first.get_by_role("slider", name="x times", exact=True).focus()
    page.keyboard.press("End")
    notebook.expect(sentence(first)).to_have_text(said(scale=10))
    notebook.expect(second.get_by_role("slider", name="x times")).to_have_attribute(
        "aria-valuetext", "1.0"
    )


def test_reopened_without_a_kernel_the_still_picture_is_there(
    page: "Page", lab: str, folder: Path, errors: list[str]
) -> None:
    notebook, cell = opened(page, lab, folder / "again.ipynb")
    notebook.saved()
    page.evaluate("window.jupyterapp.serviceManager.sessions.shutdownAll()")
    cell = Notebook(page, lab, notebook.file).cell("explain.rms_norm")
    lost = cell.get_by_text("model not found")
    lost.wait_for(state="attached")
    notebook.expect(lost).to_be_hidden()
    shows_a_picture_and_no_error(notebook, cell, said())
    errors[:] = [e for e in errors if "widget model not found" not in e]


def shows_a_picture_and_no_error(notebook: Notebook, cell: "Locator", words: str) -> None:
    still = cell.locator("[data-blocklab-still], .jp-RenderedHTMLCommon").first
    notebook.expect(still).to_contain_text(words)
    notebook.expect(still.locator("svg:visible, img:visible")).to_have_count(1)
    assert not ERRORS.search(cell.locator(".jp-Cell-outputArea").inner_text())


@pytest.mark.parametrize("unit", ["01_residual_add", "02_rms_norm", "04_ffn_expansion"])
def test_a_lecture_opened_and_not_run_shows_its_picture(
    page: "Page", lab: str, folder: Path, unit: str
) -> None:
    saved = nbformat.read(ROOT / f"lectures/en/{unit}.ipynb", as_version=4)
    shown = [c for c in saved.cells if c.cell_type == "code" and "explain." in c.source]
    saved.cells = shown
    nbformat.write(saved, folder / f"{unit}.ipynb")
    notebook = Notebook(page, lab, folder / f"{unit}.ipynb")
    for code in shown:
        words = re.findall(r"<p>(.*)</p>", "".join(code.outputs[0].data["text/html"]))
        shows_a_picture_and_no_error(notebook, notebook.cell(code.source), unescape(words[0]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_accessible_and_fits_a_phone(
    page: "Page", lab: str, folder: Path, output: Path, language: str
) -> None:
    pictures = "explain.residual_add()", "explain.rms_norm()", "explain.ffn()"
    start = f"import blocklab\n\nblocklab.use('{language}')\n{IMPORT}"
    file = write(folder / f"looks_{language}.ipynb", start, *pictures)
    notebook = Notebook(page, lab, file)
    for words in ("import", *pictures):
        notebook.run(words)
    for theme in THEMES:
        choose_theme(page, theme)
        assert faults(page) == []
        for picture in pictures:
            shot = output / f"{picture[8:-2]}_{language}_{theme}.png"
            notebook.cell(picture).locator(".blocklab-widget").screenshot(path=shot)
    page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": 320, "height": 800})
    for picture in pictures:
        widget = notebook.cell(picture).locator(".blocklab-widget")
        widget.scroll_into_view_if_needed()
        assert widget.evaluate("e => e.scrollWidth <= e.clientWidth")
        widget.screenshot(path=output / f"{picture[8:-2]}_{language}_320.png")
    assert page.evaluate("document.documentElement.scrollWidth") == 320
