"""The picture of the logit lens says what was recorded, and what was recorded is real."""

import itertools
import json
import platform
import re
import time
from xml.etree import ElementTree

import pytest

import blocklab
from blocklab.explain.knobs import Sight
from blocklab.explain.logit_lens import LAST, LENS, LOGIT_LENS, settled_from
from blocklab.explain.logit_lens_picture import Lens, Place
from blocklab.lab import lens_record

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def english_again():
    yield
    blocklab.use("en")


def see(**knobs) -> Sight:
    return LOGIT_LENS.draw(**LOGIT_LENS.values(**knobs))


def cells(sight: Sight) -> list[list[str]]:
    """The favourites in the table, by state; bold ones with a star."""
    texts = list(ElementTree.fromstring(sight.drawing.svg).iter(SVG + "text"))
    shown = [str(t.text) + "*" * ("font-weight" in t.attrib) for t in texts]
    starts = [shown.index("embedding"), *(shown.index(f"block {n}") for n in range(1, LAST + 1))]
    return [shown[at + 1 : at + 1 + 2 * len(LENS.read) : 2] for at in starts]


def test_every_state_has_a_place_for_every_character():
    assert len(LENS.states) == 7
    assert all(len(places) == len(LENS.read) == len(LENS.following) for places in LENS.states)
    assert LENS.following[:-1] == LENS.read[1:]


def test_chances_are_probabilities_the_likeliest_first():
    for place in itertools.chain(*LENS.states):
        assert place.chances == sorted(place.chances, reverse=True)
        assert 0 < sum(place.chances) < 1


def test_the_chance_of_the_answer_is_that_of_the_last_state():
    for t, place in enumerate(LENS.states[-1]):
        assert place.final == place.chances[0]
        earlier = LENS.states[3][t]
        if LENS.answer(t) in earlier.best:
            assert earlier.final == earlier.chances[earlier.best.index(LENS.answer(t))]


def test_what_really_follows_is_bold():
    for state, row in enumerate(cells(see())):
        bold = [word.endswith("*") for word in row]
        right = [LENS.says(state, t) == true for t, true in enumerate(LENS.following)]
        assert bold == right


def test_what_agrees_with_the_last_state_is_bold_when_asked_for():
    table = cells(see(settled=True))
    assert all(word.endswith("*") for word in table[-1])
    assert sum(word.endswith("*") for word in table[0]) < 2


def test_a_favourite_is_settled_from_where_it_no_longer_changes():
    rows = [[Place(word, [1.0], 1.0)] for word in "abacc"]
    assert settled_from(Lens("x", "c", rows), 0) == 3
    assert settled_from(Lens("x", "c", rows[:1]), 0) == 0
    assert settled_from(Lens("x", "c", rows[:4]), 0) == 3


def test_the_sentence_says_what_the_state_the_last_state_and_the_text_say():
    sight = see(position=17, state=2)
    assert sight.sentence.en == (
        "After “…␣in␣the␣following” the state after block 2 favours ‘u’ (19 %). The last state "
        "says ‘␣’ (72 %), the favourite since block 4. The text goes on with ‘␣’ too."
    )
    assert (
        "‘u’입니다(19 %)" in sight.sentence.ko and "‘␣’(72 %)이며, block 4부터" in sight.sentence.ko
    )


def test_a_wrong_answer_is_called_wrong():
    t = next(t for t, true in enumerate(LENS.following) if LENS.answer(t) != true)
    sight = see(position=t + 1, state=LAST)
    assert f"But the text goes on with ‘{LENS.following[t]}’" in sight.sentence.en
    assert f"그러나 실제로는 ‘{LENS.following[t]}’" in sight.sentence.ko


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_setting_draws_at_once_in_both_languages(language):
    blocklab.use(language)
    see()
    places = itertools.product(range(1, len(LENS.read) + 1), range(LAST + 1))
    for position, state in places:
        start = time.process_time()
        sight = see(position=position, state=state, settled=bool(position % 2))
        assert time.process_time() - start < 0.05
        said = ElementTree.fromstring(sight.drawing.svg).attrib["aria-label"]
        assert ("가장 유력한" in said) == (language == "ko")
        assert not re.search(r"[{}]", str(sight.sentence))


@pytest.mark.full
def test_the_record_is_what_the_decoder_says():
    stored = json.loads(lens_record.FILE.read_text("utf-8"))
    if f"Python {platform.python_version().rpartition('.')[0]}" not in stored["made_by"]:
        pytest.skip("another Python ships another text to train on")
    again = lens_record.record()
    assert (again["read"], again["following"]) == (stored["read"], stored["following"])
    for ours, theirs in zip(again["states"], stored["states"], strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one["chances"] == pytest.approx(other["chances"], abs=0.02)
            assert one["final"] == pytest.approx(other["final"], abs=0.02)
