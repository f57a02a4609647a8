"""The diagrams themselves, and how an answer is drawn."""

import re
from html.parser import HTMLParser

import pytest

from blocklab import text
from blocklab.text import LANGUAGES
from blocklab.widgets.diagrams import DIAGRAMS, EMPTY, Diagram, diagram
from blocklab.widgets.picture import Picture

RIGHT = {
    "nine_nodes": "x0 norm_attention add_attention x1 norm_ffn add_ffn x2 repeat final_norm",
    "pre_norm_places": "norm attention add norm ffn add",
    "post_norm_places": "attention add norm ffn add norm",
}
each = pytest.mark.parametrize("name", DIAGRAMS)


@each
def test_the_right_answer_can_be_put_together_and_something_wrong_too(name: str) -> None:
    shown, right = DIAGRAMS[name], RIGHT[name].split()
    assert len(right) == shown.slots
    assert set(right) < set(shown.labels)
    assert shown.once == (len(set(right)) == len(right))


@each
def test_the_order_of_the_labels_tells_nothing(name: str) -> None:
    assert list(DIAGRAMS[name].labels) == sorted(DIAGRAMS[name].labels)


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


class Boxes(HTMLParser):
    """The words of a list's items; fails where tags do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.items: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.open.append(tag)
        self.items += [""] if tag == "li" else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "li" in self.open:
            self.items[-1] += data


def test_a_picture_numbers_its_boxes_and_shows_empty_ones() -> None:
    boxes = Boxes(Picture(PRE, "norm ? add")._repr_html_()).items
    labels = ["Norm", EMPTY, "+ add to the stream", EMPTY, EMPTY, EMPTY]
    assert [re.sub(r"^→?\d ", "", box) for box in boxes] == labels


def test_unknown_words_are_shown_as_they_are() -> None:
    answer = "<script> norm, 정규화 & ' \" ? a b c"
    html = Picture(PRE, answer)._repr_html_()
    assert "<script>" not in html
    assert [box.split(" ")[-1] for box in Boxes(html).items] == answer.split()


def test_a_picture_speaks_the_language_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_current", "ko")
    drawn = Picture(PRE, "add")
    assert 'lang="ko"' in drawn._repr_html_()
    assert "stream에 더하기" in drawn._repr_html_()
    assert repr(drawn) == "Pre-Norm: + stream에 더하기 → ? → ? → ? → ? → ?"
