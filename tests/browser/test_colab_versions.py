"""The widgets with the versions that Colab has, in the notebook that goes with them."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from blocklab.reference import attention, norm
from tests.browser.conftest import ROOT, TOKEN, free_port, wait_for
from tests.browser.notebook import faults, write

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

CELLS = (
    "from blocklab import explain, fill_in, paint_mask",
    'pre = fill_in("pre_norm_places", answer="")',
    'mask = paint_mask("painted_causal", T=5, answer="")',
    "explain.rms_norm()",
)


@pytest.fixture(scope="module")
def classic(colab_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a notebook in Jupyter Notebook 6, which has Colab's ipywidgets."""
    home, port = tmp_path_factory.mktemp("classic"), free_port()
    (home / "notebooks").mkdir()
    write(home / "notebooks" / "widgets.ipynb", *CELLS)
    options = {
        "NotebookApp.allow_root": True,
        "NotebookApp.notebook_dir": home / "notebooks",
        "NotebookApp.open_browser": False,
        "NotebookApp.port": port,
        "NotebookApp.token": TOKEN,
    }
    command = [colab_python, "-m", "notebook", *(f"--{k}={v}" for k, v in options.items())]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "NBGRADER"))}
    folders = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    ours = {variable: str(home / variable) for variable in (*folders, "BLOCKLAB_HOME")}
    with open(home / "log", "wb") as log:
        server = subprocess.Popen(
            command, env={**kept, **ours, "PYTHONPATH": str(ROOT)}, stdout=log, stderr=log
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(server, f"{address}/api?token={TOKEN}", home / "log")
        yield f"{address}/notebooks/widgets.ipynb?token={TOKEN}"
    finally:
        server.terminate()
        server.wait(15)


@pytest.fixture(scope="module")
def cells(chromium: Any, classic: str) -> Iterator[list["Locator"]]:
    """The notebook's cells, all run."""
    page = chromium.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    page.set_default_timeout(90_000)
    page.goto(classic)
    page.wait_for_function("window.Jupyter && Jupyter.notebook?.kernel?.is_connected()")
    page.wait_for_function("Jupyter.notebook._fully_loaded")
    found = [page.locator(".code_cell").nth(i) for i in range(len(CELLS))]
    for i, cell in enumerate(found):
        run(page, i)
        if i:
            cell.locator(".blocklab-widget").wait_for()
    yield found
    page.context.close()


def run(page: "Page", index: int) -> None:
    """Run a cell and wait for its end."""
    page.evaluate(f"Jupyter.notebook.execute_cells([{index}])")
    page.wait_for_function(f"!Jupyter.notebook.get_cell({index}).element.hasClass('running')")


def code(cell: "Locator") -> "Locator":
    return cell.locator(".blocklab-widget code")


def test_keys_stay_in_the_widgets(cells: list["Locator"]) -> None:
    _, diagram, mask, knobs = cells
    page = diagram.page
    for focused in (
        diagram.locator(".blocklab-node").first,
        mask.get_by_role("gridcell").first,
        knobs.locator("input").first,
    ):
        focused.focus()
        for key in ("x", "d", "d", "b", "ArrowDown", "ArrowRight"):
            page.keyboard.press(key)
    assert page.locator(".code_cell").count() == len(CELLS)


def test_a_knob_is_turned(cells: list["Locator"]) -> None:
    from playwright.sync_api import expect

    knobs = cells[-1]
    sentence = knobs.locator(".blocklab-widget p")
    before = sentence.inner_text()
    knobs.locator("input[type=range]").first.press("ArrowRight")
    expect(sentence).not_to_have_text(before)


def test_answers_are_given_and_move_into_the_code(cells: list["Locator"], output: Path) -> None:
    from playwright.sync_api import expect

    _, diagram, mask, _ = cells
    page = diagram.page
    diagram.locator('[data-place="0"]').click()
    for word in norm.pre_norm_places.split():
        diagram.locator(f'[data-label="{word}"]').click()
    expect(code(diagram)).to_contain_text(f'answer="{norm.pre_norm_places}"')
    grid = mask.get_by_role("grid")
    for i, row in enumerate(attention.painted_causal.split()):
        for j, sign in enumerate(row):
            if sign == "1":
                grid.get_by_role("row").nth(i + 1).get_by_role("gridcell").nth(j).click()
    expect(code(mask)).to_contain_text(f'answer="{attention.painted_causal}"')
    page.screenshot(path=output / "colab_versions.png", full_page=True)
    assert faults(page) == []
    for i, answer in ((1, norm.pre_norm_places), (2, attention.painted_causal)):
        run(page, i)
        page.wait_for_function(f"Jupyter.notebook.get_cell({i}).get_text().includes('{answer}')")
        page.wait_for_timeout(500)
        expect(code(cells[i])).to_contain_text(answer)  # the picture stays where it was
