"""Nothing that a student put into a notebook runs where a grader, or another student, opens it."""

import re
from typing import Any

from bleach import ALLOWED_TAGS
from nbconvert.preprocessors.sanitize import SanitizeHTML
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import List

from autograder.judge import check_name

_LIVE = re.compile(r"<[a-zA-Z/!?]|javascript:|data:|vbscript:", re.IGNORECASE)
TABLES = ["table", "thead", "tbody", "tr", "th", "td", "div", "span", "p", "br", "pre", "hr"]


class CleanLearners(NbGraderPreprocessor, SanitizeHTML):
    """Sanitises what a learner wrote and printed; reports of our own keep their pictures."""

    display_data_priority = List(config=True)  # nbgrader sets it for all that it runs here
    tags = List([*ALLOWED_TAGS, *TABLES]).tag(config=True)

    def preprocess_cell(  # pyright: ignore[reportIncompatibleMethodOverride]: the two disagree
        self, cell: NotebookNode, resources: Any, cell_index: int
    ) -> Any:
        if check_name(cell):
            return cell, resources
        if cell.cell_type == "markdown" and not _LIVE.search(cell.source):
            return cell, resources  # as it was written: no "<" of a formula is touched
        return SanitizeHTML.preprocess_cell(self, cell, resources, cell_index)
