"""Drawings and plots of lecture 04: what they show is what the lecture says."""

from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.patches import Rectangle

import blocklab
from blocklab import config
from blocklab.figures import ffn, ffn_plots

SVG = "{http://www.w3.org/2000/svg}"
X = torch.tensor([2.0, -1.0])
KEYS = torch.tensor([[1.0, 0], [0, 1], [1, 1], [1, -1]])
VALUES = torch.tensor([[1.0, 0], [1, 1], [0, 2], [-1, 0]])
SCORES = KEYS @ X
DELTA = SCORES.relu() @ VALUES
DRAWINGS = {
    "widths": ffn.widths,
    "by_hand": lambda: ffn.by_hand(X, SCORES, SCORES.relu(), DELTA),
    "sentence": ffn.sentence,
    "plain_and_gated": ffn.plain_and_gated,
    "memories": lambda: ffn.memories(X, KEYS, VALUES),
    "two_axes": ffn.two_axes,
}


@pytest.fixture(autouse=True)
def clean():
    yield
    blocklab.use("en")
    plt.close("all")


def shapes(name: str, kind: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(DRAWINGS[name]().svg).iter(SVG + kind))


def words(name: str) -> list[str]:
    return ["".join(text.itertext()) for text in shapes(name, "text")]


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("name", DRAWINGS)
def test_every_drawing_is_well_formed_and_says_what_it_shows(name, language):
    blocklab.use(language)
    assert ElementTree.fromstring(DRAWINGS[name]().svg).attrib["aria-label"]


def test_the_widths_are_to_scale_and_those_of_the_models():
    bars = [float(bar.attrib["height"]) for bar in shapes("widths", "rect")]
    for preset in (config.gpt2_small, config.llama3_8b):
        for numbers in (preset.d_model, preset.d_ff):
            assert str(numbers) in words("widths")
            assert round(numbers * ffn.PIXELS, 1) in bars


def test_a_memory_that_does_not_match_adds_nothing():
    assert words("memories").count("nothing") == 1
    assert words("memories")[-1] == "Δ = [−1, 2]"
    assert {"[2, 0]", "[0, 2]", "[−3, 0]"} <= set(words("memories"))


def test_attention_brings_a_token_only_what_came_before_it_and_the_ffn_brings_nothing():
    heads = 1 + 2 + 3  # attention: the token itself and those before it
    into_and_out_of_ffn = 2 * 3
    assert len(shapes("sentence", "polygon")) == heads + into_and_out_of_ffn
    assert words("sentence").count("FFN") == 3


def test_the_shares_of_a_model_fill_its_bar():
    parts = {
        "one": {"rest": 1, "attention": 2, "FFN": 97},
        "two": {"rest": 5, "attention": 5, "FFN": 10},
    }
    ffn_plots.plot_shares(parts)
    axis = plt.gcf().axes[0]
    bars = [bar for bar in axis.patches if isinstance(bar, Rectangle)]
    ends = [bar.get_x() + bar.get_width() for bar in bars]
    assert ends == pytest.approx([1, 3, 100, 25, 50, 100])
    assert [text.get_text() for text in axis.texts] == [
        "",
        "",
        "97.0 %",
        "25.0 %",
        "25.0 %",
        "50.0 %",
    ]


def test_a_memory_that_does_not_fire_is_left_white():
    coefficients = torch.tensor([[0.0, 2.0], [1.0, 0.0]])
    ffn_plots.plot_recall([1, 2], {"ReLU": [0.5, 1], "no activation": [0.1, 0.1]}, coefficients)
    shown = plt.gcf().axes[1].images[0].get_array()
    assert shown is not None
    assert np.ma.getmaskarray(shown).tolist() == [[True, False], [False, True]]


def test_the_two_gelus_are_at_most_47_hundred_thousandths_apart():
    ffn_plots.plot_activations({"SiLU": torch.sigmoid})
    difference = plt.gcf().axes[2].lines[0].get_ydata()
    assert np.abs(np.asarray(difference)).max() == pytest.approx(4.7e-4, abs=5e-6)
