"""How a solution is shown: the source, and beside its lines what is to be said of them."""

import textwrap
from html import escape

from blocklab import catalogue
from blocklab.study import prose
from blocklab.study.solutions import explanation, places, source_of
from blocklab.text import Text, language

TITLE = Text("{name}: the course's own answer", "{name}: 강좌의 답")
YOURS = Text(
    "Yours may look quite different: what its check accepts is right.",
    "여러분의 답은 이와 전혀 달라도 됩니다. check를 통과했다면 맞는 답입니다.",
)
STYLE = """<style>
.blocklab-solution { container-type: inline-size; max-width: 78em; line-height: 1.5;
  font-family: var(--jp-ui-font-family, system-ui, sans-serif); overflow-wrap: anywhere; }
.blocklab-solution:lang(ko) { word-break: keep-all; }
.blocklab-code { font-family: var(--jp-code-font-family, monospace); font-size: 92%;
  white-space: pre-wrap; }
.blocklab-lines { counter-reset: line; margin: 6px 0; }
.blocklab-line { counter-increment: line; display: grid; column-gap: 1.2em;
  grid-template-columns: 1.6em minmax(0, 1fr); }
.blocklab-line::before { content: counter(line); font-size: 85%; opacity: 0.75;
  text-align: right; }
.blocklab-said { border-left: 4px solid #d9700f; grid-column: 2; margin: 2px 0 8px;
  padding: 0 10px; }
.blocklab-said p { margin: 0 0 4px; }
@container (min-width: 56em) {
  .blocklab-line { grid-template-columns: 1.6em minmax(0, 11fr) minmax(0, 9fr); }
  .blocklab-said { grid-column: 3; margin: 2px 0; }
  .blocklab-code:only-child { grid-column: 2 / -1; }
}
</style>"""
MARGIN = "     # "


class Solution:
    """The course's own answer to an exercise, line by line, in the language in use.

    Raises FileNotFoundError where the solutions are not part of the installation.
    """

    def __init__(self, name: str) -> None:
        exercise = catalogue.exercise(name)
        self.name, self.explained = name, explanation(name)
        self.source = source_of(name, exercise.unit)
        free = callable(catalogue.reference(name))
        self._head = [str(TITLE.fill(name=name)), *([str(YOURS)] if free else [])]

    def _lines(self) -> list[tuple[str, list[str]]]:
        """Each line of the source with what is said of it, as Markdown."""
        says: dict[int, list[str]] = {}
        notes = self.explained.notes
        lines = places([note.fragment for note in notes], self.source)
        for line, note in zip(lines, notes, strict=True):
            says.setdefault(line, []).append(f"`{note.fragment}`: {note.says}")
        return [(line, says.get(i, [])) for i, line in enumerate(self.source.split("\n"))]

    def __repr__(self) -> str:
        parts = [*self._head, str(self.explained.opening)]
        for number, (line, says) in enumerate(self._lines(), 1):
            parts.append(f"{number:3}  {line}")
            parts += [textwrap.indent(textwrap.fill(words, 90), MARGIN) for words in says]
        return "\n".join(filter(None, parts))

    def _repr_html_(self) -> str:
        title, *more = map(prose.html, (*self._head, str(self.explained.opening)))
        rows = "".join(_row(line, says) for line, says in self._lines())
        paragraphs = "".join(f"<p>{words}</p>" for words in (f"<b>{title}</b>", *more) if words)
        return (
            f'{STYLE}<div class="blocklab-solution" lang="{language()}">{paragraphs}'
            f'<div class="blocklab-lines">{rows}</div></div>'
        )


def _row(line: str, says: list[str]) -> str:
    words = "".join(f"<p>{prose.html(w)}</p>" for w in says)
    said = f'<div class="blocklab-said">{words}</div>' if words else ""
    code = f'<span class="blocklab-code">{escape(line) or "&#8203;"}</span>'
    return f'<div class="blocklab-line">{code}{said}</div>'
