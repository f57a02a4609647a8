"""The picture of one query at work says what attention computes."""

import itertools
import re
import time
from xml.etree import ElementTree

import pytest
import torch

import blocklab
from blocklab.explain.attention import ATTENTION, GIVEN, ORDERS, W_K, W_Q, W_V, WORDS, look
from blocklab.explain.attention_picture import COMPONENTS
from blocklab.explain.knobs import Menu, Sight
from blocklab.reference.attention import attention, causal_mask

HANGUL = re.compile("[가-힣]")


@pytest.fixture(autouse=True)
def english_again():
    yield
    blocklab.use("en")


def see(**knobs) -> Sight:
    return ATTENTION.draw(**ATTENTION.values(**knobs))


def words(sight: Sight) -> list[str]:
    root = ElementTree.fromstring(sight.drawing.svg)
    return ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]


def test_three_words_have_the_vectors_of_the_lecture():
    x = torch.tensor([WORDS[word][1] for word in ("I", "rice", "ate")]).float()
    assert torch.equal(x, torch.tensor([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1.0]]))
    mixed = attention(x @ W_Q, x @ W_K, x @ W_V, causal_mask(3))
    assert mixed[-1].tolist() == pytest.approx([1.16, 2.84], abs=0.005)


def test_the_scores_are_those_of_the_lecture():
    seen = look("korean", "ate", "causal", 1.0)
    assert seen.scores.tolist() == pytest.approx([1, 0, 1, 2, 0, 0])


def test_the_korean_verb_comes_last_and_reads_its_object():
    sight = see(order="korean", query="ate")
    assert "takes most from ‘밥을 (rice)’, weight 0.47" in sight.sentence.en
    assert "hides nothing" in sight.sentence.en
    assert "볼 수 있는 token 6개 중 4.4개" in sight.sentence.ko


def test_the_english_verb_comes_before_its_object_and_cannot():
    sight = see(order="english", query="ate")
    assert "hides ‘warm’ and ‘rice’; without it 64 %" in sight.sentence.en
    assert "‘warm’, ‘rice’입니다" in sight.sentence.ko
    assert words(sight).count("0") == 2 and words(sight).count("−∞") == 2


def test_word_order_does_not_matter_without_a_mask():
    korean, english = (look(order, "ate", "bidirectional", 1.0).weights for order in ORDERS)
    by_word = [dict(zip(ORDERS[o], w.tolist(), strict=True))
               for o, w in (("korean", korean), ("english", english))]  # fmt: skip
    assert by_word[0] == pytest.approx(by_word[1])


def test_tokens_that_are_given_see_one_another():
    assert look("korean", "warm", "prefix", 1.0).allowed.tolist() == [True] * GIVEN + [False] * 2


def test_the_first_token_of_a_decoder_reads_itself_whatever_the_scores():
    for scale in (0.0, 3.0):
        sight = see(query="I", scale=scale)
        assert "nothing but itself: weight 1" in sight.sentence.en
        assert words(sight)[-4:] == ["나는", "4.00", "what", "0.00"]


def test_scores_of_zero_give_a_plain_average():
    assert "the same from all 6 tokens" in see(scale=0.0).sentence.en


def test_equal_weights_share_the_first_place():
    assert "from ‘나는 (I)’ and ‘밥을 (rice)’, weight 0.34 each" in see(query="rice").sentence.en


def test_leaving_out_the_root_is_the_same_as_doubling_the_scores():
    assert see(root=False).sentence == see(scale=2.0).sentence


def test_only_what_is_hidden_has_a_weight_written_as_0():
    shown = words(see(query="ate", scale=3.0, root=False))
    assert "< 0.0001" in shown and "0" not in shown


def test_the_bars_of_the_mix_are_weight_times_value():
    seen = look("english", "ate", "bidirectional", 1.5)
    shown = words(see(order="english", query="ate", mask="bidirectional", scale=1.5))
    for component, total in zip(COMPONENTS, (seen.weights @ seen.values).tolist(), strict=True):
        assert f"{total:.2f}" in shown[shown.index(component.en) :]


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_setting_draws_at_once_in_both_languages(language):
    blocklab.use(language)
    see()
    menus = [knob for knob in ATTENTION.knobs if isinstance(knob, Menu)]
    for chosen in itertools.product(*(menu.options for menu in menus), (0.0, 3.0), (True, False)):
        names = (*(menu.name for menu in menus), "scale", "root")
        start = time.process_time()
        sight = see(**dict(zip(names, chosen, strict=True)))
        assert time.process_time() - start < 0.05
        said = ElementTree.fromstring(sight.drawing.svg).attrib["aria-label"]
        assert ("의 weight" in said) == (language == "ko")
        assert not re.search(r"[{}]|nan", f"{sight.sentence}{sight.drawing.svg}")
    assert HANGUL.search(see().sentence.ko)
