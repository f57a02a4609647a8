"""An answer as a picture: HTML that needs no kernel, and plain text."""

from html import escape

from blocklab.figures.diagram import Drawing
from blocklab.text import Text
from blocklab.widgets.diagrams import Diagram
from blocklab.widgets.drawing import draw
from blocklab.widgets.front import as_still
from blocklab.widgets.masks import Mask

RUN = Text(
    "Run this cell to answer in the picture. Run it again, and the answer moves into the code.",
    "이 셀을 실행하면 그림에서 답할 수 있습니다. 다시 실행하면 고른 답이 코드로 옮겨집니다.",
)
LEGEND = Text(
    "A row is the token that looks, a column the token that is looked at. ■ may look, · may not.",
    "행은 보는 token, 열은 보이는 token입니다. ■는 볼 수 있다, ·는 볼 수 없다는 뜻입니다.",
)
SIGNS = {"1": "■", "0": "·"}
_SMALL = "font-size:85%;opacity:.8"
_CELL = "border:1px solid currentColor;min-width:1.2em;padding:3px 6px;text-align:center"


class Picture:
    """One answer to one question, as text, and as a drawing or a table.

    still: what a live widget of the question knows it by, to hide it while it is shown itself.
    """

    def __init__(self, asked: Diagram | Mask, answer: str, still: str = "") -> None:
        self.asked, self.answer, self.still = asked, answer, still

    def __repr__(self) -> str:
        return f"{self.asked.title}: {self.asked.text(self.answer)}"

    def _repr_html_(self) -> str:
        asked = self.asked
        return as_still(
            self.still,
            f"<b>{escape(str(asked.title))}.</b> {escape(str(asked.question))}"
            f'{self._drawn()}<span style="{_SMALL}">{escape(str(RUN))}</span>',
            kind="blocklab-picture",
        )

    def still_data(self) -> dict[str, str]:
        """The answer alone, by type, for a page that shows no SVG or style in a learner's HTML."""
        if isinstance(self.asked, Mask):
            return {"text/html": _table(self.asked, self.answer), "text/plain": repr(self)}
        return {"image/svg+xml": draw(self.asked, self.answer), "text/plain": repr(self)}

    def _drawn(self) -> str:
        if isinstance(self.asked, Mask):
            return _table(self.asked, self.answer)
        return Drawing(draw(self.asked, self.answer), repr(self))._repr_html_()


def _table(mask: Mask, answer: str) -> str:
    """The answer's rows, numbered; blank where it has none, other characters as they are."""
    rows = mask.rows(answer)
    heads = "".join(f'<th scope="col">{j}</th>' for j in range(max(map(len, rows), default=0)))
    lines = f"<tr><td></td>{heads}</tr>"
    for i, row in enumerate(rows):
        cells = (f'<td style="{_CELL}">{escape(SIGNS.get(c, c))}</td>' for c in row)
        lines += f'<tr><th scope="row">{i}</th>{"".join(cells)}</tr>'
    return f'<br>{escape(str(LEGEND))}<table style="margin:8px 0">{lines}</table>'
