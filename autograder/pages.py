"""A graded notebook as a page: for the grader in the formgrader, for the student as feedback."""

import re
from html import escape
from pathlib import Path
from typing import Any

import nbformat
import nbgrader
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import GetGrades
from traitlets import Unicode
from traitlets.config import Config

from autograder.feedback import HideTests
from autograder.judge import grade_id, is_helper, language_of
from blocklab.text import Text

TEMPLATES = Path(__file__).parent / "templates"
STOCK = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
RELATIVE_LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\(\.\.?/[^\s()]*\)")
BETWEEN = "\n\n---\n\n"  # the English and the Korean model answer in one cell
MODEL_ANSWER = Text(
    "Model answer and rubric (not in the feedback)", "모범 답안과 채점 기준 (feedback에는 없음)"
)
WRITTEN = Text("Written answers", "서술형 답")
NO_RESPONSE = "No response."  # nbgrader's own words
WORDS = {
    "answer": Text("Your answer", "내 답"),
    "comment": Text("Your grader's comment", "채점자의 의견"),
    "empty": Text("Nothing was written here.", "작성한 답이 없습니다."),
    "late": Text("Taken off for lateness", "늦은 제출로 깎인 점수"),
    "points": Text(" points", "점"),
    "top": Text("to the top", "맨 위로"),
    "unread": Text("not read yet", "아직 채점 전"),
}


def pages(c: Config, source: Path) -> None:
    """Set up nbgrader's pages. source: the folder of the solution notebooks, by unit."""
    ours = {"GetGrades": Grades}
    stock: Any = GenerateFeedback.class_traits()["preprocessors"].default()
    c.GenerateFeedback.preprocessors = [HideTests, *(ours.get(p.__name__, p) for p in stock)]
    c.HTMLExporter.preprocessors = [WithoutHelpers, WithoutDeadLinks, ModelAnswers]
    c.ModelAnswers.source = str(source)
    c.HTMLExporter.extra_template_basedirs = [str(TEMPLATES), str(STOCK)]
    c.HTMLExporter.template_file = "graded.html.j2"  # extends the stock index.html.j2
    c.HTMLExporter.exclude_anchor_links = True  # a heading's id could be that of an input field
    c.HTMLExporter.exclude_input_prompt = c.HTMLExporter.exclude_output_prompt = True


class WithoutHelpers(Preprocessor):
    """Leaves out the calls of `hint` and the like, which were not run while it was graded."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        nb.cells = [cell for cell in nb.cells if not is_helper(cell)]
        return nb, resources


class WithoutDeadLinks(Preprocessor):
    """Shows links to other files of the course as words: beside a page, those files are not."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, index: int
    ) -> tuple[NotebookNode, Any]:
        if cell.cell_type == "markdown":
            cell.source = RELATIVE_LINK.sub(r"\1", cell.source)
        return cell, resources


class ModelAnswers(Preprocessor):
    """Shows the grader the model answer and the rubric under each written answer."""

    source = Unicode("", help="the folder of the solution notebooks, by unit").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        if "submission_id" not in resources:  # the formgrader alone sets it: this is feedback
            return nb, resources
        _entitle(nb)
        unit, notebook = resources["assignment_id"], resources["notebook_id"]
        answers = model_answers(Path(self.source) / unit / f"{notebook}.ipynb", language_of(nb))
        written = [c for c in nb.cells if grade_id(c) in answers]
        for cell in written:
            place = nb.cells.index(cell) + 1
            nb.cells.insert(place, new_markdown_cell(answers[cell.metadata.nbgrader.grade_id]))
        if written:
            nb.cells.insert(0, _links(written, language_of(nb)))
        return nb, resources


def model_answers(path: Path, language: str) -> dict[str, str]:
    """What to show for each written question of a solution notebook, as Markdown by grade_id.

    The answer is in the language where it has both, else as it is; without the file, none.
    """
    if not path.exists():
        return {}
    cells = nbformat.read(path, as_version=4).cells
    written = [c for c in cells if c.cell_type == "markdown" and c.metadata.get("nbgrader")]
    return {c.metadata.nbgrader.grade_id: _folded(c.source, language) for c in written}


def _folded(source: str, language: str) -> str:
    first, _, second = source.partition(BETWEEN)
    words = second if language == "ko" and second else first
    title = MODEL_ANSWER.to(language)
    details = f'<details class="model-answer" open="open"><summary>{title}</summary>'
    return f"{details}\n\n{words}\n\n</details>"


def _links(written: list[NotebookNode], language: str) -> NotebookNode:
    """A line that leads to the written answers, whose score fields have their grade_id as id."""
    graded = [cell.metadata.nbgrader for cell in written]
    links = [f'<a href="#{g.grade_id}">{escape(g.title)}</a>' for g in graded if "title" in g]
    return new_markdown_cell(f"<p>{WRITTEN.to(language)}: {' · '.join(links)}</p>")


class Grades(GetGrades):
    """Marks and comments as nbgrader puts them into feedback, with what the page says of them."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        nb, resources = super().preprocess(nb, resources)
        language = language_of(nb)
        resources["words"] = {name: words.to(language) for name, words in WORDS.items()}
        resources["language_code"] = language
        _entitle(nb)
        return nb, resources

    def _get_comment(self, cell: NotebookNode, resources: Any) -> None:
        super()._get_comment(cell, resources)
        if cell.metadata.nbgrader["comment"] == NO_RESPONSE:
            cell.metadata.nbgrader["comment"] = None
            cell.metadata.nbgrader["empty"] = True

    def _get_score(self, cell: NotebookNode, resources: Any) -> None:
        super()._get_score(cell, resources)
        mark = cell.metadata.nbgrader
        where = (mark["grade_id"], self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(*where)
        mark["unread"] = grade.needs_manual_grade and grade.manual_score is None


def _entitle(nb: NotebookNode) -> None:
    """Give each graded cell the heading that it stands under, for the table of marks."""
    title = ""
    for cell in nb.cells:
        graded = cell.metadata.get("nbgrader", {})
        if graded.get("grade") or graded.get("task"):
            graded["title"] = title or graded["grade_id"]
        elif cell.cell_type == "markdown" and (heading := re.match("#+ (.+)", cell.source)):
            title = heading[1].replace("`", "")
