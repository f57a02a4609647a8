"""The widget of a mask: a grid to paint, and what softmax makes of each row under it."""

from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from blocklab.text import Text, language
from blocklab.widgets.front import STYLE, module
from blocklab.widgets.masks import Mask

WORDS = {
    "looks": Text("looks ↓", "보는 쪽 ↓"),
    "seen": Text("is looked at →", "보이는 쪽 →"),
    "shares": Text("weights after softmax", "softmax를 거친 weight"),
    "row": Text("Row {row}: paint all of it, or none", "행 {row}: 전체를 칠하거나 지우기"),
    "may": Text("Row {row}, column {column}: may look", "행 {row}, 열 {column}: 볼 수 있음"),
    "may_not": Text(
        "Row {row}, column {column}: may not look", "행 {row}, 열 {column}: 볼 수 없음"
    ),
    "weight": Text(", weight {weight}", ", weight {weight}"),
    "sees_all": Text(
        "Token {row} may look at all {T}.", "Token {row}: {T}개를 모두 볼 수 있습니다."
    ),
    "sees_some": Text(
        "Token {row} may look at {count} of {T}: {seen}. Hidden from it: {hidden}.",
        "Token {row}: {T}개 가운데 {count}개를 볼 수 있습니다({seen}). 가려진 것: {hidden}.",
    ),
    "sees_none": Text(
        "Token {row} may look at nothing. Every score becomes −∞, softmax divides 0 by 0: NaN.",
        "Token {row}: 아무것도 볼 수 없습니다. score가 모두 −∞가 되어 softmax는 0을 0으로 "
        "나눕니다: NaN.",
    ),
    "nothing": Text("sees nothing: 0/0 = NaN", "볼 것이 없음: 0/0 = NaN"),
    "region": Text(
        "{rows} × {columns} cells chosen; Space paints them.",
        "{rows} × {columns}칸을 골랐습니다. Space를 누르면 칠합니다.",
    ),
    "unread": Text(
        "The code does not say {T} rows of {T} signs 0 or 1: shown is what can be read of it.",
        "코드의 답이 0과 1로 된 {T}글자씩 {T}행이 아닙니다. 읽을 수 있는 것만 그렸습니다.",
    ),
    "how": Text(
        "Click a cell, or drag over many; the name of a row takes the whole row. By keyboard: "
        "arrows move, Shift and arrows choose a region, Space paints it.",
        "칸을 누르거나 여러 칸을 끌어서 칠합니다. 행 이름을 누르면 행 전체가 칠해집니다. "
        "키보드로는 화살표로 옮기고, Shift와 화살표로 영역을 고르고, Space로 칠합니다.",
    ),
    "scores": Text(
        "The example scores are the same in every row ({scores}). Softmax turns what the mask "
        "leaves of them into weights that sum to 1.",
        "예로 쓴 score는 어느 행이나 같습니다({scores}). softmax는 그 가운데 mask가 남긴 것만 "
        "합이 1인 weight로 바꿉니다.",
    ),
    "undo": Text("Undo", "되돌리기"),
    "clear": Text("Clear the mask", "mask 비우기"),
    "code": Text(
        "Run this cell again, and the answer moves into the code:",
        "이 셀을 다시 실행하면 답이 코드로 옮겨집니다:",
    ),
}
SCORES = 1, 0, 2  # of the keys, again and again
FEW = 8  # up to so many tokens the scores are all written out
UNDO = 50


class PaintMask(anywidget.AnyWidget):
    """A mask to paint.

    answer: its rows of 0 and 1, with a space between them; empty if nothing is painted.
    code: the line of code that gives this answer; undoable: whether there is an answer before it.
    tokens: their words, or none; scores: what softmax gets in each row, before the mask.
    """

    _esm = module("paint_mask")
    _css = STYLE
    language = traitlets.Unicode().tag(sync=True)
    still = traitlets.Unicode().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    T = traitlets.Int().tag(sync=True)
    tokens = traitlets.List().tag(sync=True)
    scores = traitlets.List().tag(sync=True)
    answer = traitlets.Unicode().tag(sync=True)
    code = traitlets.Unicode().tag(sync=True)
    undoable = traitlets.Bool().tag(sync=True)

    def __init__(self, name: str, mask: Mask, answer: str, code_of: Callable[[str], str]) -> None:
        """code_of: the line of code that gives an answer."""
        self.code_of, self.past = code_of, []
        scores = [SCORES[key % len(SCORES)] for key in range(mask.T)]
        super().__init__(
            language=language(),
            still=f"blocklab-{name}-{language()}",
            words=_words(mask, scores),
            T=mask.T,
            tokens=mask.tokens(),
            scores=scores,
            answer=answer,
            code=code_of(answer),
        )
        self.observe(self._answered, "answer")
        self.on_msg(self._received)

    def undo(self) -> None:
        """Go back to the answer before this one, if there is one."""
        if self.past:
            *past, answer = self.past
            self.answer = answer
            self._keep(past)

    def _answered(self, change: Any) -> None:
        self.code = self.code_of(change.new)
        self._keep([*self.past[1 - UNDO :], change.old])

    def _keep(self, past: list[str]) -> None:
        self.past, self.undoable = past, bool(past)

    def _received(self, _: Any, content: str, buffers: Any) -> None:
        if content == "undo":
            self.undo()


def _words(mask: Mask, scores: list[int]) -> dict[str, str]:
    """All that is said, in the language in use; the page fills in what stands in braces."""
    listed = ", ".join(map(str, scores[:FEW])) + (", …" if mask.T > FEW else "")
    known = {"scores": listed, "T": mask.T}
    said = {key: str(words) for key, words in WORDS.items()}
    said |= {key: str(WORDS[key].fill(**known)) for key in ("scores", "unread")}
    return said | {"title": str(mask.title), "question": str(mask.question)}
