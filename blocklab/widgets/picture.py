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
    """One answer to one diagram, as text and as ordered lists of boxes."""

    def __init__(self, diagram: Diagram, answer: str) -> None:
        self.diagram = diagram
        self.rows = diagram.rows(answer)

    def __repr__(self) -> str:
        rows = (" → ".join(map(self.diagram.label, row)) for row in self.rows)
        return f"{self.diagram.title}: {' | '.join(rows)}"

    def _repr_html_(self) -> str:
        number, lists = 1, ""
        for part, row in zip(self.diagram.parts, self.rows, strict=True):
            steps = "".join(self._step(n, w, n > number) for n, w in enumerate(row, number))
            lists += f'{escape(str(part))}<ol start="{number}" style="{_ROW}">{steps}</ol>'
            number += len(row)
        return _framed(self.diagram, lists)

    def _step(self, number: int, word: str, follows: bool) -> str:
        border = _OPEN if word == EMPTY else _FILLED
        arrow = '<span aria-hidden="true">→</span>' if follows else ""
        return (
            f'<li style="{_STEP}">{arrow}<span style="{_BOX};border:{border}">'
            f'<span style="{_SMALL}">{number}</span> {escape(self.diagram.label(word))}</span></li>'
        )


class PaintedMask:
    """One answer to one mask, as text and as a table; what is missing in the answer is blank."""

    def __init__(self, mask: Mask, answer: str) -> None:
        self.mask, self.answer = mask, answer

    def __repr__(self) -> str:
        return f"{self.mask.title}: {self.answer or EMPTY}"

    def _repr_html_(self) -> str:
        rows = self.mask.rows(self.answer)
        heads = "".join(f'<th scope="col">{j}</th>' for j in range(max(map(len, rows), default=0)))
        body = "".join(
            f'<tr><th scope="row">{i}</th>{_cells(row)}</tr>' for i, row in enumerate(rows)
        )
        table = f'<table style="margin:8px 0"><tr><td></td>{heads}</tr>{body}</table>'
        return _framed(self.mask, f"<br>{escape(str(LEGEND))}{table}")


def _cells(row: str) -> str:
    return "".join(f'<td style="{_CELL}">{escape(SIGNS.get(c, c))}</td>' for c in row)


def _framed(asked: Diagram | Mask, drawn: str) -> str:
    return (
        f'{_STYLE}<div class="blocklab-picture" lang="{language()}">'
        f"<b>{escape(str(asked.title))}.</b> {escape(str(asked.question))}"
        f'{drawn}<span style="{_SMALL}">{escape(str(RUN))}</span></div>'
    )
