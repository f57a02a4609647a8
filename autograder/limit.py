"""How much of what a cell shows stays in a graded notebook: enough to see what happened."""

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import LimitOutput
from traitlets import List

from autograder.judge import check_name

MOST = 50_000  # characters of one text: a page of a thousand lines
CUT = "\n… {left:,} characters left out · {left:,}글자 생략 …\n"


class LimitText(LimitOutput):
    """nbgrader's limits on lines that are printed, and one on every text: results and errors too.

    Our own reports and pictures stay whole.
    """

    display_data_priority = List(config=True)  # nbgrader sets it for all that it runs here

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> Any:
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        for output in cell.get("outputs", []) if not check_name(cell) else []:
            for holder in (output, output.get("data", {})):
                for key in holder.keys() & {"text", "evalue", "text/plain"}:
                    holder[key] = cut(holder[key])
            if "traceback" in output:
                output["traceback"] = [cut(line) for line in output["traceback"]]
        return cell, resources


def cut(text: str) -> str:
    """The start and the end of a text, with how much is missing in between."""
    if len(text) <= MOST:
        return text
    half = MOST // 2
    return text[:half] + CUT.format(left=len(text) - MOST) + text[-half:]
