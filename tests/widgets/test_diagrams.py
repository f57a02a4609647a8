"""The diagrams themselves, and how an answer is drawn."""

from xml.etree import ElementTree

import pytest

from blocklab import text
from blocklab.misconceptions.block import arrows as wrong_arrows
from blocklab.misconceptions.block import block_nodes as wrong_nodes
from blocklab.misconceptions.ffn import ffn_widths as wrong_widths
from blocklab.misconceptions.variants import Misconceptions
from blocklab.reference import attention, block, ffn, norm, residual
from blocklab.text import LANGUAGES
from blocklab.widgets.diagrams import DIAGRAMS, Diagram, diagram
from blocklab.widgets.drawing import draw
from blocklab.widgets.picture import Picture

each = pytest.mark.parametrize("name", DIAGRAMS)


@pytest.fixture
def right(name: str) -> list[str]:
    """The words of the right answer to a diagram."""
    modules = (attention, block, ffn, norm, residual)
    return next(getattr(m, name) for m in modules if hasattr(m, name)).split()


@each
def test_the_right_answer_can_be_put_together_and_something_wrong_too(
    name: str, right: list[str]
) -> None:
    shown = DIAGRAMS[name]
    assert len(right) == shown.slots
    assert set(right) < set(shown.labels)
    assert shown.once == (len(set(right)) == len(right))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("ffn_widths", wrong_widths), ("block_nodes", wrong_nodes), ("arrows", wrong_arrows)],
)
def test_what_is_known_to_be_got_wrong_can_be_put_together(
    name: str, wrong: Misconceptions
) -> None:
    for flags in wrong.combinations():
        assert set(wrong.variant(flags).split()) <= set(DIAGRAMS[name].labels)


@each
def test_the_order_of_the_labels_tells_nothing(name: str) -> None:
    labels = list(DIAGRAMS[name].labels)
    assert labels == sorted(labels, key=lambda label: (int(label) if label.isdigit() else 0, label))


@each
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_labels_read_the_same(name: str, language: str) -> None:
    words = [label.to(language) for label in DIAGRAMS[name].labels.values()]
    assert len(set(words)) == len(words)


def test_an_unknown_diagram_names_the_near_ones() -> None:
    with pytest.raises(KeyError, match="no diagram is called 'nine_node'; there is nine_nodes"):
        diagram("nine_node")


NINE, PRE = DIAGRAMS["nine_nodes"], DIAGRAMS["pre_norm_places"]


@pytest.mark.parametrize(
    ("shown", "answer", "slot", "name", "after"),
    [
        (NINE, "", 0, "x0", "x0"),
        (NINE, "", 2, "x0", "? ? x0"),
        (NINE, "x0 x1 x2", 0, "x2", "x2 x1"),
        (NINE, "? my_own x1", 0, "x0", "x0 my_own x1"),
        (PRE, "norm", 3, "norm", "norm ? ? norm"),
        (PRE, "a b c d e f too many", 5, "add", "a b c d e add too many"),
    ],
)
def test_a_label_goes_where_it_is_put(
    shown: Diagram, answer: str, slot: int, name: str, after: str
) -> None:
    assert shown.put(answer, slot, name) == after


def nodes(answer: str, shown: Diagram) -> list[str]:
    """The names of a drawing's nodes, place by place; fails where it is not XML."""
    drawn = ElementTree.fromstring(draw(shown, answer, 0))
    groups = (g for g in drawn.iter() if g.get("role") == "button")
    return [str(g.get("aria-label")).split(": ", 1)[1] for g in groups]


def test_a_drawing_shows_every_place_and_empty_ones_too() -> None:
    names = ["Norm", "empty", "+ add to the stream", "empty", "empty", "empty"]
    assert nodes("norm ? add", PRE) == names


def test_unknown_words_are_shown_as_they_are() -> None:
    answer = "<script> norm, 정규화 & ' \" ? a b c"
    assert "<script>" not in Picture(PRE, answer)._repr_html_()
    assert nodes(answer, PRE) == answer.replace("?", "empty").split()


def test_an_addition_is_drawn_with_the_stream_it_adds_to() -> None:
    assert draw(PRE, "norm attention").count("polyline") + 1 == draw(
        PRE, "norm attention add"
    ).count("polyline")
    assert draw(PRE, "norm attention").count("<circle") == 0
    assert draw(PRE, "norm attention add").count("<circle") == 1


def test_a_picture_speaks_the_language_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_current", "ko")
    drawn = Picture(PRE, "add")
    assert 'lang="ko"' in drawn._repr_html_()
    assert "stream에 더하기" in drawn._repr_html_()
    assert repr(drawn) == "Pre-Norm: + stream에 더하기 → ? → ? → ? → ? → ?"


def test_parts_are_named_and_no_arrow_leads_from_one_to_the_next() -> None:
    drawn = Picture(DIAGRAMS["ffn_widths"], "768 3072 768 4096 ? 4096 5")
    words = "GPT-2 small 768 → 3072 → 768 Llama-3 8B 4096 → ? → 4096 → 5"
    assert repr(drawn) == f"The widths of two FFNs: {words}"
    assert "Llama-3 8B" in drawn._repr_html_()
