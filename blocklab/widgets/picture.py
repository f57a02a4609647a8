"""An answer as a picture: HTML that needs no kernel, and plain text."""

from html import escape

from blocklab.text import Text, language
from blocklab.widgets.diagrams import EMPTY, Diagram
from blocklab.widgets.masks import Mask

RUN = Text(
    "Choose below, then run this cell again: the choice moves into the code. "
    "No buttons below? Run the cell.",
    "아래에서 고른 뒤 이 셀을 다시 실행하면 고른 답이 코드로 옮겨집니다. "
    "아래에 버튼이 없으면 셀을 실행하세요.",
)
LEGEND = Text(
    "A row is the token that looks, a column the token that is looked at. ■ may look, · may not.",
    "행은 보는 token, 열은 보이는 token입니다. ■는 볼 수 있다, ·는 볼 수 없다는 뜻입니다.",
)
SIGNS = {"1": "■", "0": "·"}
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
_CELL = "border:1px solid currentColor;min-width:1.2em;padding:3px 6px;text-align:center"


class Picture:
    """One answer to one question, as text, and as an ordered list of boxes or a table."""

    def __init__(self, asked: Diagram | Mask, answer: str) -> None:
        self.asked, self.answer = asked, answer

    def __repr__(self) -> str:
        return f"{self.asked.title}: {self.asked.text(self.answer)}"

    def _repr_html_(self) -> str:
        asked, answer = self.asked, self.answer
        drawn = _table(asked, answer) if isinstance(asked, Mask) else _boxes(asked, answer)
        return (
            f'{_STYLE}<div class="blocklab-picture" lang="{language()}">'
            f"<b>{escape(str(asked.title))}.</b> {escape(str(asked.question))}"
            f'{drawn}<span style="{_SMALL}">{escape(str(RUN))}</span></div>'
        )


def _boxes(diagram: Diagram, answer: str) -> str:
    steps = (_step(diagram, n, word) for n, word in enumerate(diagram.words(answer)))
    return f'<ol style="{_ROW}">{"".join(steps)}</ol>'


def _step(diagram: Diagram, slot: int, word: str) -> str:
    border = _OPEN if word == EMPTY else _FILLED
    lead = diagram.lead(slot).replace("→", '<span aria-hidden="true">→</span>')
    return (
        f'<li style="{_STEP}">{lead}<span style="{_BOX};border:{border}">'
        f'<span style="{_SMALL}">{slot + 1}</span> {escape(diagram.label(word))}</span></li>'
    )


def _table(mask: Mask, answer: str) -> str:
    """The answer's rows, numbered; blank where it has none, other characters as they are."""
    rows = mask.rows(answer)
    heads = "".join(f'<th scope="col">{j}</th>' for j in range(max(map(len, rows), default=0)))
    lines = f"<tr><td></td>{heads}</tr>"
    for i, row in enumerate(rows):
        cells = (f'<td style="{_CELL}">{escape(SIGNS.get(c, c))}</td>' for c in row)
        lines += f'<tr><th scope="row">{i}</th>{"".join(cells)}</tr>'
    return f'<br>{escape(str(LEGEND))}<table style="margin:8px 0">{lines}</table>'
