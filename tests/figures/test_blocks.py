"""Figures of whole blocks: what the drawings of lecture 05 say, and what its plots show."""

from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.axes import Axes

import blocklab
from blocklab.figures import block_plots, block_weights, blocks
from blocklab.figures.diagram import Drawing
from blocklab.lab.lens import Lines
from blocklab.lab.stack import Timed

SVG = "{http://www.w3.org/2000/svg}"
LENS = [
    [block_weights.Guess("h", 0.5, right=True), block_weights.Guess("x", 0.9, right=False)],
    [block_weights.Guess("h", 0.8, right=True), block_weights.Guess("e", 0.6, right=True)],
]
DRAWINGS = {
    "whole_decoder": blocks.whole_decoder,
    "serial_and_parallel": blocks.serial_and_parallel,
    "own_and_shared": block_weights.own_and_shared,
    "low_rank": block_weights.low_rank,
    "lens_table": lambda: block_weights.lens_table("T ", LENS),
}


@pytest.fixture(autouse=True)
def as_before():
    yield
    blocklab.use("en")
    plt.close("all")


def words(shown: Drawing) -> list[str]:
    return ["".join(t.itertext()) for t in ElementTree.fromstring(shown.svg).iter(SVG + "text")]


def heads(shown: Drawing, colour: str) -> int:
    root = ElementTree.fromstring(shown.svg)
    return sum(head.attrib["fill"] == colour for head in root.iter(SVG + "polygon"))


def heights(axis: Axes) -> list[list[float]]:
    return [np.asarray(line.get_ydata()).tolist() for line in axis.lines]


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("name", DRAWINGS)
def test_every_drawing_is_well_formed_and_says_what_it_shows(name, language):
    blocklab.use(language)
    root = ElementTree.fromstring(DRAWINGS[name]().svg)
    assert root.attrib["aria-label"]


def test_the_decoder_has_its_nodes_in_the_order_of_computation():
    shown = words(blocks.whole_decoder())
    nodes = ["Embedding", "x₀", "Causal Attention", "x₁", "FFN (= MLP)", "x₂", "Final Norm"]
    places = [shown.index(node) for node in (*nodes, "LM head", "Logits")]
    assert places[:2] == sorted(places[:2])
    assert places[-3:] == sorted(places[-3:])
    assert [word for word in shown if word in "123456"] == list("123456")


def test_one_arrow_of_the_decoder_is_history_and_all_others_carry_numbers():
    shown, legend = blocks.whole_decoder(), 1
    assert heads(shown, blocks.HISTORY) == 1 + legend
    assert heads(shown, blocks.INPUT) > 4
    assert heads(shown, blocks.PROCESSING) > 4


def test_a_serial_block_hands_its_state_on_twice_and_a_parallel_one_once():
    stream = 2
    assert heads(blocks.serial_and_parallel(), blocks.INPUT) == 2 + 1 + stream


def test_a_state_favours_its_largest_logit_and_is_right_if_that_comes_next():
    logits = torch.tensor([[[0.0, 5.0, 0.0], [9.0, 0.0, 0.0]]])
    first, second = block_weights.guesses(logits, following=[1, 2], words="a b")[0]
    assert (first.word, first.right) == ("␣", True)
    assert (second.word, second.right) == ("a", False)
    assert 0.99 < second.probability <= 1


def test_the_lens_table_counts_what_is_right_in_the_end():
    assert "2 of 2" in DRAWINGS["lens_table"]().alt


def test_the_shares_of_a_model_fill_its_bar():
    counted = {"embeddings": 39, "attention": 28, "FFN": 57, "norms": 1, "LM head": 0}
    block_plots.plot_shares({"one": counted, "other": {**counted, "FFN": 900}})
    widths = [bar.get_width() for bars in plt.gca().containers for bar in bars]
    assert sum(widths) == pytest.approx(200)


def test_the_plots_show_what_they_are_given():
    block_plots.plot_times([1, 2], [Timed(5, 1.0), Timed(9, 2.0)], [(1, 8)], [Timed(9, 1.5)])
    left, right = plt.gcf().axes
    assert heights(left) == [[1.0, 2.0]]
    assert [label.get_text() for label in right.texts] == ["1.5"]

    block_plots.plot_lens({"with": [4.0, 2.0]}, Lines(4.6, 3.2, 2.5))
    assert heights(plt.gca()) == [[4.0, 2.0]]

    block_plots.plot_stream([1.0, 2.0, 4.0], [0.5, 1.0])
    assert heights(plt.gcf().axes[1]) == [[0.5], [0.5]]
