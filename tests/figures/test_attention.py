"""Drawings of unit 03: they say what the functions compute, in both languages."""

import re
from xml.etree import ElementTree

import pytest
import torch

import blocklab
from blocklab.figures import attention as figures
from blocklab.figures.diagram import Drawing
from blocklab.reference.attention import painted_bidirectional, painted_causal, painted_prefix

X = torch.tensor([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1.0]])
W_Q = torch.tensor([[0, 0, 2, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 0, 0.0]])
W_K = torch.diag(torch.tensor([2, 2, 2, 1.0]))
W_V = torch.tensor([[4, 0], [0, 4], [2, 2], [0, 0.0]])

DRAWINGS = {
    "looking": lambda: figures.looking([1, 3, 1, -1]),
    "three_vectors": figures.three_vectors,
    "by_hand": lambda: figures.by_hand(X, W_Q, W_K, W_V),
    "viewpoints": figures.viewpoints,
    "four_masks": figures.four_masks,
    "additive_form": lambda: figures.additive_form(torch.eye(3)),
    "reach": figures.reach,
    "next_tokens": figures.next_tokens,
    "split_and_merge": figures.split_and_merge,
    "clocks": figures.clocks,
    "sharing": lambda: figures.sharing(n_heads=32, n_kv_heads=8),
    "cache_steps": figures.cache_steps,
    "after_the_past": figures.after_the_past,
    "second_sequence": figures.second_sequence,
    "pieces": figures.pieces,
    "translation": figures.translation,
}

HANGUL = re.compile("[가-힣]")
EXAMPLES = re.compile("나는|밥을|먹었다")  # words of the sentence that both languages speak about


@pytest.fixture(autouse=True)
def english_again():
    yield
    blocklab.use("en")


def words(shown: Drawing) -> list[str]:
    root = ElementTree.fromstring(shown.svg)
    return ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", DRAWINGS)
def test_every_drawing_is_well_formed_and_speaks_both_languages(name):
    said = []
    for language in ("en", "ko"):
        blocklab.use(language)
        shown = DRAWINGS[name]()
        said.append(ElementTree.fromstring(shown.svg).attrib["aria-label"])
    assert not HANGUL.search(EXAMPLES.sub("", said[0]))
    assert HANGUL.search(said[1])


def test_the_four_masks_are_the_tables_of_ones_and_zeros():
    cells = re.findall(r"</title><rect[^>]*><text[^>]*>([01])<", DRAWINGS["four_masks"]().svg)
    painted = (painted_bidirectional, painted_causal, painted_prefix)
    assert "".join(cells) == "".join(painted).replace(" ", "") + 15 * "1"


def test_by_hand_ends_with_what_attention_computes():
    assert words(DRAWINGS["by_hand"]())[-6:] == ["4", "0", "2", "2", "1.16", "2.84"]


def test_in_a_decoder_the_other_weights_share_what_a_later_token_had():
    verdicts = [w for w in words(DRAWINGS["looking"]()) if "weight" in w]
    assert verdicts[3].endswith("weight 0.01") and verdicts[7] == "not there yet: weight 0"
    assert sum(float(v.split()[-1]) for v in verdicts[4:7]) == pytest.approx(1, abs=0.015)


def test_eight_kv_heads_serve_four_query_heads_each():
    svg = figures.sharing(n_heads=32, n_kv_heads=8).svg
    ends = re.findall(r'points="[-\d.]+,[-\d.]+ ([-\d.]+,[-\d.]+)"', svg)
    assert sorted(ends.count(end) for end in set(ends)) == 32 * [1] + 8 * [4] + [32]


def test_a_plot_marks_exact_zeros_and_only_those():
    fig = figures.plot_moved({"one": torch.tensor([[1, 0], [1e-9, 1]]), "two": torch.ones(2, 2)})
    assert [[(t.get_position(), t.get_text()) for t in ax.texts] for ax in fig.axes] == [
        [((1, 0), "0")],
        [],
    ]
