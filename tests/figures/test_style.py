"""Plots in the look of the course."""

import matplotlib as mpl
import nbformat
from nbclient import NotebookClient

from blocklab.figures.style import figure


def test_the_look_is_of_one_figure_and_changes_no_setting():
    figure()  # the first figure of a process sets the backend
    before = mpl.rcParams.copy()
    fig, (left, right) = figure(columns=2, height=2)
    assert (fig.get_figheight(), left.spines["top"].get_visible()) == (2, False)
    assert right.get_axisbelow()
    assert mpl.rcParams == before


def test_every_cell_of_a_notebook_shows_its_figure():
    plot = "fig, ax = figure()\nax.plot([1, 2])\nprint()"
    sources = ["from blocklab.figures.style import figure", plot, plot]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    for cell in notebook.cells[1:]:
        assert any("image/png" in output.get("data", {}) for output in cell.outputs)
