"""A notebook in JupyterLab, used as a learner does, and what is asked of its widgets."""

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.classroom import make_class
from autograder.grade import grade, gradebook

if TYPE_CHECKING:  # it may not be installed: then the fixtures skip
    from playwright.sync_api import Locator, Page

THEMES = ("Light", "Dark")
SERIOUS = ("serious", "critical")


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


def choose_theme(page: "Page", theme: str) -> None:
    command = "name => window.jupyterapp.commands.execute('apputils:change-theme', name)"
    page.evaluate(command, {"theme": f"JupyterLab {theme}"})
    page.locator(f"body[data-jp-theme-name$={theme}]").wait_for(state="attached")
    page.locator("#jupyterlab-splash").wait_for(state="detached")


def faults(page: "Page", selector: str = ".blocklab-widget") -> list[str]:
    """What axe-core finds serious in the elements of that selector: rule, and where."""
    from axe_playwright_python.sync_playwright import Axe

    found: Any = Axe().run(page, context=selector)
    violations = found.response["violations"]
    return [
        f"{v['id']}: {v['help']}: {json.dumps([node['html'][:200] for node in v['nodes'][:3]])}"
        for v in violations
        if v["impact"] in SERIOUS
    ]


def scores(file: Path, unit: str, folder: Path) -> dict[str, float]:
    """What nbgrader gives for a notebook as it was handed in, by the name of the check."""
    make_class(folder)
    place = folder / "submitted" / "ada" / unit
    place.mkdir(parents=True)
    shutil.copy(file, place / f"{unit}.ipynb")
    assert list(grade(folder, unit)) == [("ada", "")]
    with gradebook(folder) as book:
        graded = book.find_submission_notebook(unit, unit, "ada").grades
        return {str(one.name): float(one.score) for one in graded}
