"""Arrows to be labelled: how they are drawn and named, and what is said of their labels."""

import itertools
from xml.etree import ElementTree

import pytest

from blocklab import text
from blocklab.reference import block
from blocklab.widgets.arrow_readings import FITS, read_arrows
from blocklab.widgets.arrows import ARROWS
from blocklab.widgets.diagrams import DIAGRAMS, EMPTY
from blocklab.widgets.drawing import WIDTH, draw
from blocklab.widgets.picture import Picture

SHOWN = DIAGRAMS["arrows"]
RIGHT = block.arrows.split()
LABELS = list(SHOWN.labels)
EQUATIONS = (
    "x₁ = x₀ + Attention(Norm(x₀))",
    "x₂ = x₁ + FFN(Norm(x₁))",
    "block 2: x₀ = x₂",
    "logits = LM head(Norm(x₂))",
)
WRONG = [(n, label) for n in range(len(ARROWS)) for label in LABELS if label != RIGHT[n]]


def buttons(answer: str) -> list[ElementTree.Element]:
    drawn = ElementTree.fromstring(draw(SHOWN, answer, 0))
    return [g for g in drawn.iter() if g.get("role") == "button"]


def words(button: ElementTree.Element) -> list[str]:
    return ["".join(part.itertext()) for part in button.iter() if part.tag.endswith("text")]


def frame(button: ElementTree.Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what a label stands in."""
    (rect,) = (part for part in button if part.tag.endswith("rect"))
    x, y, wide, high = (float(str(rect.get(k))) for k in ("x", "y", "width", "height"))
    return x, y, x + wide, y + high


def test_an_arrow_is_named_by_its_two_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    assert buttons("")[0].get("aria-label") == "Place 1, from x₀ to Norm 1, chosen: empty"
    name = "Place 2, from x₀ to the first add: history"
    assert buttons("input history")[1].get("aria-label") == name
    monkeypatch.setattr(text, "_current", "ko")
    name = "4번 칸, Attention에서 첫째 덧셈으로: 비어 있음"
    assert buttons("")[3].get("aria-label") == name
    assert buttons("")[8].get("aria-label") == "9번 칸, GPT-1에서 GPT-2로: 비어 있음"


def test_a_label_is_written_on_its_arrow() -> None:
    answer = ["recurrence", *RIGHT[1:]]
    drawn = [words(button) for button in buttons(" ".join(answer))]
    assert drawn == [[str(n), label] for n, label in enumerate(answer, 1)]


def test_labels_are_in_the_drawing_and_apart_from_each_other() -> None:
    frames = [frame(button) for button in buttons(" ".join([*RIGHT, *LABELS]))]
    assert all(left > 0 and right < WIDTH for left, _, right, _ in frames)
    for a, b in itertools.combinations(frames, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_a_place_can_be_hit_in_the_middle_of_all_that_belongs_to_it() -> None:
    """Where a label's box is not, the arrow is: a click on the middle must find the box."""
    for button in buttons(""):
        points = [p for part in button for p in str(part.get("points") or "").split()]
        xs, ys = zip(*(map(float, point.split(",")) for point in points), strict=True)
        left, top, right, bottom = frame(button)
        assert left < (min(xs) + max(xs)) / 2 < right
        assert top < (min(ys) + max(ys)) / 2 < bottom


def test_words_beyond_the_last_arrow_are_shown() -> None:
    drawn = buttons(" ".join([*RIGHT, "one", "more"]))
    assert [words(button) for button in drawn[10:]] == [["11", "one"], ["12", "more"]]
    assert drawn[10].get("aria-label") == "Place 11: one"


def test_a_picture_says_every_arrow_with_its_label() -> None:
    said = "Kinds of arrow: x₀ → Norm 1: input · x₀ → the first add: ? · Norm 1 → Attention: ?"
    assert repr(Picture(SHOWN, "input")).startswith(said)


def test_the_right_labels_give_the_block_as_it_is() -> None:
    read = read_arrows(RIGHT)
    assert tuple(read.lines) == EQUATIONS
    assert "10 of the 10" in read.says.en
    assert not any("would mean" in note.en for note in read.notes)


def test_what_fits_is_the_reference() -> None:
    assert [FITS[arrow.start.kind] for arrow in ARROWS] == RIGHT


@pytest.mark.parametrize(("place", "label"), WRONG)
def test_a_wrong_label_is_told_by_where_its_arrow_starts(place: int, label: str) -> None:
    read = read_arrows([label if n == place else word for n, word in enumerate(RIGHT)])
    start, end = ARROWS[place].start.name.en, ARROWS[place].end.name.en
    (said,) = (note for note in read.notes if "would mean" in note.en)
    assert said.en.startswith(f"{place + 1}. {start} → {end}: {label} would mean that ")
    assert f"{label}{'이라면' if label in ('input', 'processing') else '라면'} " in said.ko
    assert ARROWS[place].follows.get(label, said).en in said.en
    assert "9 of the 10" in read.says.en
    flows = ARROWS[place].start.kind != "design"
    assert (tuple(read.lines) != EQUATIONS) == flows


@pytest.mark.parametrize("place", range(len(ARROWS)))
def test_nothing_is_said_of_an_empty_place(place: int) -> None:
    alone = read_arrows([label if n == place else EMPTY for n, label in enumerate(RIGHT)])
    assert [note.en.split(".")[0] for note in alone.notes] == [str(place + 1)]
    others = read_arrows([EMPTY if n == place else label for n, label in enumerate(RIGHT)])
    assert not any(note.en.startswith(f"{place + 1}.") for note in others.notes)
    assert (tuple(others.lines) != EQUATIONS) == (ARROWS[place].start.kind != "design")


@pytest.mark.parametrize(
    ("answer", "line", "symbol"),
    [
        ("input processing", "x₁ = f(x₀) + Attention(Norm(x₀))", "f is what"),
        ("input history", "x₁ = ∅ + Attention(Norm(x₀))", "∅: nothing"),
        ("input input input", "x₁ = x₀ + Attention(x₀)", ""),
        ("input input processing recurrence", "x₁ = x₀ + before(Attention(Norm(x₀)))", "before(…)"),
    ],
)
def test_a_wrong_label_shows_in_the_equation(answer: str, line: str, symbol: str) -> None:
    given = answer.split()
    read = read_arrows([*given, *RIGHT[len(given) :]])
    assert read.lines[0] == line
    assert any(note.en.startswith(symbol) for note in read.notes)


def test_a_word_that_is_no_label_is_told_so() -> None:
    read = read_arrows(["output{", *[EMPTY] * 9])
    assert read.notes[0].en == "1. x₀ → Norm 1: “output{” is none of the labels."
    assert not read.lines
