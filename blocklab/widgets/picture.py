"""A diagram as it is filled in: HTML that needs no kernel, and plain text."""

from html import escape

from blocklab.text import Text, language
from blocklab.widgets.diagrams import EMPTY, Diagram

RUN = Text(
    "Choose below, then run this cell again: the choice moves into the code. "
    "No buttons below? Run the cell.",
    "아래에서 고른 뒤 이 셀을 다시 실행하면 고른 답이 코드로 옮겨집니다. "
    "아래에 버튼이 없으면 셀을 실행하세요.",
)
# JupyterLab says "model not found" where the buttons were, once their kernel has gone.
_STYLE = (
    "<style>.jp-OutputArea-child:has(.blocklab-picture) + .jp-OutputArea-child"
    " > .jp-OutputArea-output:not(:has(*)) { display: none }</style>"
)
_ROW = (
    "display:flex;flex-wrap:wrap;gap:6px;align-items:center;list-style:none;margin:8px 0;padding:0"
)
_STEP = "display:flex;align-items:center;gap:6px;margin:0"
_BOX = "border-radius:5px;padding:4px 9px;min-width:2em;text-align:center"
_FILLED, _OPEN = "1.5px solid currentColor", "1.5px dashed currentColor;opacity:.65"
_SMALL = "font-size:85%;opacity:.8"


class Picture:
    """One answer to one diagram, as text and as an ordered list of boxes."""

    def __init__(self, diagram: Diagram, answer: str) -> None:
        self.diagram = diagram
        self.words = diagram.words(answer)

    def __repr__(self) -> str:
        shown = " → ".join(map(self.diagram.label, self.words))
        return f"{self.diagram.title}: {shown}"

    def _repr_html_(self) -> str:
        steps = "".join(self._step(n, word) for n, word in enumerate(self.words, 1))
        return (
            f'{_STYLE}<div class="blocklab-picture" lang="{language()}">'
            f"<b>{escape(str(self.diagram.title))}.</b> {escape(str(self.diagram.question))}"
            f'<ol style="{_ROW}">{steps}</ol>'
            f'<span style="{_SMALL}">{escape(str(RUN))}</span></div>'
        )

    def _step(self, number: int, word: str) -> str:
        border = _OPEN if word == EMPTY else _FILLED
        arrow = '<span aria-hidden="true">→</span>' if number > 1 else ""
        return (
            f'<li style="{_STEP}">{arrow}<span style="{_BOX};border:{border}">'
            f'<span style="{_SMALL}">{number}</span> {escape(self.diagram.label(word))}</span></li>'
        )
