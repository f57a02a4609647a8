"""The masks themselves, and how an answer to one is read, changed and drawn."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocklab import text
from blocklab.reference import attention
from blocklab.text import both
from blocklab.widgets.masks import QUESTIONS, Mask, mask
from blocklab.widgets.picture import Picture

TWO = Mask(both("Two"), both(""), 2)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_right_answer_can_be_painted_row_by_row_or_cell_by_cell(name: str) -> None:
    right, asked, answer = getattr(attention, name), mask(name, 5), ""
    for i, row in enumerate(right.split()):
        seen = [j for j, sign in enumerate(row) if sign == "1"]
        for columns in [range(5)] if row == "11111" else ([j] for j in seen):
            answer = asked.turn(answer, i, columns)
    assert answer == right
    assert asked.title.ko == asked.title.en == re.sub("painted_(.*)", r"\1 mask", name).capitalize()


@pytest.mark.parametrize(
    ("answer", "row", "columns", "after"),
    [
        ("", 0, [1], "01 00"),
        ("11 11", 0, [1], "10 11"),
        ("10 11", 0, [0, 1], "11 11"),
        ("11 11", 0, [0, 1], "00 11"),
        ("x", 1, [0], "x0 10"),
        ("? ?", 0, [0], "10 ?0"),
        ("111 00 11", 1, [1], "111 01 11"),
    ],
)
def test_cells_are_turned_and_the_rest_stays(
    answer: str, row: int, columns: list[int], after: str
) -> None:
    assert TWO.turn(answer, row, columns) == after


@given(answer=st.text("01 ?<가\n", max_size=12), T=st.integers(1, 4))
def test_any_answer_is_drawn_and_can_be_painted_over(answer: str, T: int) -> None:
    asked = mask("painted_prefix", T)
    assert Picture(asked, answer)._repr_html_().count('<th scope="row">') >= T
    for i in range(T):
        answer = asked.turn(answer, i, [])
        for j in range(T):
            answer = answer if asked.rows(answer)[i][j] == "1" else asked.turn(answer, i, [j])
    assert [row[:T] for row in answer.split()[:T]] == ["1" * T] * T


def drawn(answer: str) -> list[list[str]]:
    rows = Picture(TWO, answer)._repr_html_().split("<tr>")[2:]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("", ["  ", "  "]),
        ("10 11", ["■·", "■■"]),
        ("1", ["■ ", "  "]),
        ("1x 110 0", ["■x", "■■·", "· "]),
    ],
)
def test_a_picture_shows_an_answer_as_far_as_it_goes(answer: str, shown: list[str]) -> None:
    assert drawn(answer) == [list(row) for row in shown]


def test_a_picture_is_safe_numbered_from_0_and_says_the_answer_as_text() -> None:
    html = Picture(TWO, "<b>")._repr_html_()
    assert "&lt;" in html
    assert "<td><b>" not in html
    assert re.findall(r'<th scope="(col|row)">(\d)', html) == [
        *(("col", str(j)) for j in range(3)),
        *(("row", str(i)) for i in range(2)),
    ]
    assert repr(Picture(TWO, "10 11")) == "Two: 10 11"
    assert repr(Picture(TWO, "")) == "Two: ?"


def test_a_picture_of_a_mask_speaks_the_language_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_current", "ko")
    html = Picture(mask("painted_causal", 2), "")._repr_html_()
    assert "GPT처럼" in html
    assert "행은 보는 token" in html
