"""Nothing that a student put into a notebook runs where a grader, or another student, opens it.

A page of nbgrader belongs to Jupyter's own site: code in it could do all that the grader can. And
what it loads, or a link leads to, need not be harmless there either: `/formgrader?path=FOLDER` runs
the nbgrader_config.py of that folder.
"""

import functools
import re
from typing import Any

from bleach.sanitizer import ALLOWED_TAGS, Cleaner
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import List

from autograder.judge import check_name, language_of
from blocklab.text import Text

AS_WRITTEN = Text(
    "This cell is shown as it was written: it has HTML, a picture or a link in it that a graded "
    "notebook does not show.",
    "채점한 notebook에 보여 줄 수 없는 HTML이나 그림, 링크가 들어 있어 쓴 그대로 보여 줍니다.",
)
NOT_SHOWN = Text("(This output is not shown here.)", "(이 출력은 여기에 보이지 않습니다.)")
SAFE = (
    "text/plain",
    "text/latex",
    "image/png",
    "image/jpeg",
    "image/svg+xml",
)  # the last: an <img>
TAGS = [
    *ALLOWED_TAGS,
    *("table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "div", "span", "p", "pre"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "br", "hr", "del", "sub", "sup", "img"),
]
ATTRIBUTES = {
    ("a", "href"): r"https://.*|(\.\./)+lectures/(en|ko)/\w+\.ipynb",
    ("a", "title"): ".*",
    ("code", "class"): r"language-\w+",
    ("div", "class"): "highlight",
    ("img", "alt"): ".*",
    ("img", "src"): r"data:image/(png|jpeg|gif|svg\+xml);base64,[\w+/=\s]*",
    ("ol", "start"): r"\d+",
    ("span", "class"): "[a-z][a-z0-9]{0,2}",  # of highlighted code
}
# What a renderer writes otherwise than bleach does, and no more than that.
_OTHERWISE = re.compile(r'(?<=<td|<th) style="text-align:(?:left|center|right)"(?=>)| /(?=>)')


class CleanLearners(NbGraderPreprocessor):
    """Sanitises what a learner wrote and printed; reports of our own keep their pictures."""

    display_data_priority = List(config=True)  # nbgrader sets it for all that it runs here

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        self._language = language_of(nb)
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell: NotebookNode, resources: Any, index: int) -> Any:
        if cell.cell_type == "markdown":
            cell.source = self._readable(cell.source, cell.get("attachments", {}))
        elif cell.cell_type == "raw":
            cell.source = _clean(cell.source)
        elif not check_name(cell):
            cell.outputs = [self._shown(output) for output in cell.outputs]
        return cell, resources

    def _readable(self, source: str, attachments: dict) -> str:
        """The source if all that it shows is harmless, else the source as a block of code."""
        if _renders_harmless(source) if not attachments else _is_harmless(source, attachments):
            return source
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", source)), default=0))
        note = f"*{AS_WRITTEN.to(self._language)}*"
        written = f"{note}\n\n{fence}\n{source}\n{fence}"
        return written if _is_harmless(written) else note

    def _shown(self, output: NotebookNode) -> NotebookNode:
        if output.output_type not in ("display_data", "execute_result"):
            return output
        data = {kind: said for kind, said in output.data.items() if isinstance(said, str)}
        kept = {kind: data[kind] for kind in SAFE if kind in data}
        if "text/html" in data:
            kept["text/html"] = _clean(data["text/html"])
        if "text/markdown" in data and _renders_harmless(data["text/markdown"]):
            kept["text/markdown"] = data["text/markdown"]
        output.data = NotebookNode(kept or {"text/plain": NOT_SHOWN.to(self._language)})
        output.metadata = NotebookNode(_sizes(output.metadata))
        return output


def _is_harmless(source: str, attachments: dict | None = None) -> bool:
    """Whether nothing is lost when what nbgrader makes of Markdown is sanitised.

    attachments: pictures of the cell, by name, as {type: base64}.
    """
    renderer = IPythonRenderer(escape=False, exclude_anchor_links=True, attachments=attachments)
    try:
        html = MarkdownWithMath(renderer=renderer).render(source)
    except (InvalidNotebook, ValueError, RecursionError):
        return False
    return _clean(html) == _OTHERWISE.sub("", html)


_renders_harmless = functools.lru_cache(4096)(_is_harmless)  # most cells are the course's own


def _clean(html: str) -> str:
    """The HTML with everything escaped or left out that is not known to be harmless."""
    return _cleaner().clean(html)


@functools.cache
def _cleaner() -> Cleaner:
    return Cleaner(TAGS, _is_allowed, protocols=["https", "data"])


def _is_allowed(tag: str, name: str, value: str) -> bool:
    pattern = ATTRIBUTES.get((tag, name))
    return pattern is not None and re.fullmatch(pattern, value, re.DOTALL) is not None


def _sizes(metadata: Any) -> dict[str, dict[str, int]]:
    """The sizes of pictures in an output's metadata, by type."""
    return {
        kind: {k: v for k, v in said.items() if k in ("width", "height") and isinstance(v, int)}
        for kind, said in metadata.items()
        if isinstance(said, dict)
    }
