"""The widget of a mask: its answer, its code and what it takes back, as Python has them."""

import json
import re

import pytest

from blocklab import text
from blocklab.widgets import paint_mask
from blocklab.widgets.front import FOLDER
from blocklab.widgets.masks import mask
from blocklab.widgets.paint_mask import WORDS, PaintMask


def painter(T: int = 2, answer: str = "") -> PaintMask:
    return PaintMask("painted_causal", mask("painted_causal", T), answer, lambda a: f"code {a!r}")


def test_the_code_follows_the_answer() -> None:
    made = painter(answer="10 11")
    assert (made.answer, made.code) == ("10 11", "code '10 11'")
    made.answer = "11 11"
    assert made.code == "code '11 11'"
    made.set_state({"answer": "01 11"})  # as the page does
    assert made.code == "code '01 11'"


def test_every_answer_can_be_taken_back_to_the_first() -> None:
    made = painter(answer="nonsense")
    assert not made.undoable
    for answer in ("10 00", "10 11", ""):
        made.answer = answer
    assert made.undoable
    for answer in ("10 11", "10 00", "nonsense", "nonsense"):
        made._received(made, "undo", [])
        assert (made.answer, made.code) == (answer, f"code {answer!r}")
    assert not made.undoable


def test_the_same_answer_again_is_no_step_to_take_back() -> None:
    made = painter(answer="10 11")
    made.answer = "10 11"
    made._received(made, "something else", [])
    assert not made.undoable


def test_the_steps_to_take_back_do_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paint_mask, "UNDO", 3)
    made = painter()
    for n in range(9):
        made.answer = str(n)
    assert made.past == ["5", "6", "7"]


@pytest.mark.parametrize("language", text.LANGUAGES)
def test_all_words_are_in_the_language_in_use(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "_current", language)
    made = painter(5)
    assert made.language == language
    assert made.still == f"blocklab-painted_causal-{language}"
    assert made.tokens[0] == {"en": "the", "ko": "검은"}[language]
    for key, words in made.words.items():
        if key not in ("title", "weight"):
            assert bool(re.search("[가-힣]", words)) == (language == "ko"), key


@pytest.mark.parametrize(("T", "stated"), [(2, "(1, 0)"), (9, "(1, 0, 2, 1, 0, 2, 1, 0, …)")])
def test_the_scores_are_stated(T: int, stated: str) -> None:
    made = painter(T)
    assert stated in made.words["scores"]
    assert len(made.scores) == T
    assert f"{T} rows of {T}" in made.words["unread"]


def test_the_page_uses_every_word_and_has_none_of_its_own() -> None:
    script = (FOLDER / "paint_mask.js").read_text("utf-8")
    used = set(re.findall(r"words\.(\w+)", script)) | set(re.findall(r'"(sees_\w+)"', script))
    assert used == {*WORDS, "title", "question"}
    assert not re.search("[가-힣]", script)


def test_what_goes_to_the_page_is_plain_data() -> None:
    state = painter(64, " ".join(["1" * 64] * 64)).get_state()
    own = {key for key, trait in PaintMask.class_own_traits(sync=True).items()}
    assert len(json.dumps({key: state[key] for key in own - {"_esm", "_css"}})) < 20_000
