"""The masks themselves, and how an answer to one is read and drawn."""

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
def test_the_right_answer_has_the_rows_of_its_mask(name: str) -> None:
    right = getattr(attention, name)
    asked = mask(name, len(right.split()))
    assert asked.rows(right) == right.split()
    assert asked.title.ko == asked.title.en == re.sub("painted_(.*)", r"\1 mask", name).capitalize()
    assert asked.question.en != asked.question.ko


@pytest.mark.parametrize("language", text.LANGUAGES)
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_token_of_an_exercise_has_a_word_of_its_own(
    name: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "_current", language)
    T = len(getattr(attention, name).split())
    assert len(set(mask(name, T).tokens())) == T


def test_a_mask_of_more_tokens_than_the_sentence_has_numbers_only() -> None:
    assert mask("painted_causal", 8).tokens()[7] == "door"
    assert mask("painted_causal", 9).tokens() == []
    assert mask("painted_prefix", 6).tokens() == []


@given(answer=st.text("01 ?<가\n", max_size=12), T=st.integers(1, 4))
def test_any_answer_is_drawn(answer: str, T: int) -> None:
    asked = mask("painted_prefix", T)
    assert Picture(asked, answer)._repr_html_().count('<th scope="row">') >= T


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
