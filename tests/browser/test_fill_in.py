"""A diagram is filled in in JupyterLab, and the answer is in the code and in the file."""

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

if TYPE_CHECKING:  # it may not be installed: then the fixtures skip
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

ROOT = Path(__file__).parents[2]
RIGHT = "x0 norm_attention add_attention x1 norm_ffn add_ffn x2 repeat final_norm"
BUTTONS = {
    "en": "x₀|Norm → Attention|+ Δ attention|x₁|Norm → FFN|+ Δ FFN|x₂|repeat N times|Final Norm",
    "ko": "x₀|Norm → Attention|+ Δ attention|x₁|Norm → FFN|+ Δ FFN|x₂|N번 반복|Final Norm",
}
POINTS = {"en": "2 of 2 points", "ko": "2점 중 2점"}


class Notebook:
    """A notebook open in JupyterLab, used by mouse and keyboard."""

    def __init__(self, page: "Page", address: str, file: Path) -> None:
        from playwright.sync_api import expect

        expect.set_options(timeout=40_000)
        self.page, self.file, self.expect = page, file, expect
        page.goto(f"{address}/lab/tree/{file.name}?reset")
        page.locator("#jupyterlab-splash").wait_for(state="detached")
        page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()

    def cell(self, words: str) -> "Locator":
        return self.page.locator(".jp-CodeCell", has_text=words).first

    def run(self, words: str) -> "Locator":
        """Run the cell that says this, and wait for its end."""
        cell = self.cell(words)
        prompt = cell.locator(".jp-InputPrompt")
        before = re.sub(r"\D", "", prompt.inner_text())
        cell.locator(".cm-content").click()
        self.expect(cell).to_have_class(re.compile("jp-mod-active"))
        self.page.keyboard.press("Control+Enter")
        self.expect(prompt).to_have_text(re.compile(rf"\[(?!{before or '-'}\])\d+\]"))
        return cell

    def saved(self) -> str:
        """The notebook as it is on the disk after Ctrl+S."""
        self.page.keyboard.press("Control+s")
        dirty = self.page.locator("#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current.jp-mod-dirty")
        self.expect(dirty).to_have_count(0)
        return self.file.read_text("utf-8")


def write(file: Path, *cells: str) -> Path:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    made.metadata["kernelspec"] = kernel
    nbformat.write(made, file)
    return file


def picture(cell: "Locator") -> "Locator":
    return cell.locator(".blocklab-picture")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_an_exercise_is_answered_in_its_picture(
    page: "Page", lab: str, folder: Path, language: str
) -> None:
    file = folder / f"exercise_{language}.ipynb"
    shutil.copy(ROOT / f"exercises/{language}/01_residual_add/01_residual_add.ipynb", file)
    notebook = Notebook(page, lab, file)
    for words in ("blocklab.use", "from blocklab import"):
        notebook.run(words)
    cell = notebook.run('fill_in("nine_nodes"')
    for label in BUTTONS[language].split("|"):
        cell.get_by_role("button", name=label).click()
    notebook.expect(picture(cell).locator("li").last).to_contain_text("9 Final Norm")
    notebook.run('fill_in("nine_nodes"')
    notebook.expect(cell.locator(".cm-content")).to_contain_text(f'answer="{RIGHT}"')
    checked = notebook.run('check("nine_nodes")')
    report = checked.locator(".blocklab-report")
    notebook.expect(report).to_contain_text(POINTS[language])
    notebook.expect(report.locator("table")).to_be_visible()
    assert not picture(checked).count()
    cells = json.loads(notebook.saved())["cells"]
    (written,) = (c for c in cells if 'fill_in("nine_nodes"' in "".join(c["source"]))
    assert f'fill_in("nine_nodes", answer="{RIGHT}")' in "".join(written["source"])
    assert "Final Norm" in json.dumps(written["outputs"])


SMALL = (
    "from blocklab import fill_in",
    '# 첫째\npre = fill_in("pre_norm_places", answer="norm")',
    'post = fill_in("post_norm_places", answer="")',
)


def test_keys_alone_are_enough_and_dark_is_as_readable_as_light(
    page: "Page", lab: str, folder: Path, tmp_path: Path
) -> None:
    notebook = Notebook(page, lab, write(folder / "keys.ipynb", *SMALL))
    first, second, _ = (notebook.run(words) for words in ("import", "pre_", "post_"))
    assert not first.locator(".jp-OutputArea-output").count()
    second.get_by_role("button", name="Empty all places").focus()
    code = second.get_by_label("As code")
    for keys, answer in (
        ("Tab Enter", "norm add"),
        ("Tab Space", "norm add attention"),
        ("Shift+Tab " * 7 + "Enter Tab Tab Tab Tab Tab Tab Tab Tab Enter", "norm ffn attention"),
    ):
        for key in keys.split():
            page.keyboard.press(key)
        notebook.expect(code).to_have_value(re.compile(f'answer="{answer}"'))
    notebook.expect(picture(second).locator("li").nth(1)).to_contain_text("2 FFN")
    for theme in ("Light", "Dark"):
        command = "name => window.jupyterapp.commands.execute('apputils:change-theme', name)"
        page.evaluate(command, {"theme": f"JupyterLab {theme}"})
        page.locator(f"body[data-jp-theme-name$={theme}]").wait_for(state="attached")
        page.locator("#jupyterlab-splash").wait_for(state="detached")
        page.screenshot(path=tmp_path / f"{theme}.png")
        assert contrast(page) > 4.5


def contrast(page: "Page") -> float:
    """The contrast of the picture's text with the page behind it, as WCAG counts it."""
    colour = "(e, what) => getComputedStyle(e)[what].match(/[0-9.]+/g).slice(0, 3).map(Number)"
    ink = page.locator(".blocklab-picture").first.evaluate(colour, "color")
    paper = page.locator(".jp-NotebookPanel-notebook").evaluate(colour, "backgroundColor")

    def light(rgb: list[float]) -> float:
        linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

    pair = sorted((light(ink), light(paper)))
    return pair[1] / pair[0]


def test_a_notebook_reopened_without_its_kernel_still_shows_the_answer(
    page: "Page", lab: str, folder: Path, errors: list[str]
) -> None:
    file = write(folder / "again.ipynb", *SMALL)
    notebook = Notebook(page, lab, file)
    for words in ("import", "pre_"):
        cell = notebook.run(words)
    cell.get_by_role("button", name="FFN", exact=True).click()
    notebook.expect(picture(cell)).to_contain_text("2 FFN")
    notebook.run("pre_")
    assert 'answer=\\"norm ffn\\"' in notebook.saved()
    page.evaluate("window.jupyterapp.serviceManager.sessions.shutdownAll()")
    cell = Notebook(page, lab, file).cell("pre_")
    notebook.expect(picture(cell)).to_contain_text("2 FFN")
    lost = cell.get_by_text("model not found")
    lost.wait_for(state="attached")
    notebook.expect(lost).to_be_hidden()
    errors[:] = [e for e in errors if "widget model not found" not in e]
