"""Drawings: well formed, in the language in use, and visible wherever a notebook is opened."""

import base64
import re
from xml.etree import ElementTree

import pytest

import blocklab
from blocklab.figures import diagram, stream
from blocklab.figures.diagram import Drawing, drawing
from blocklab.figures.model import model_map
from blocklab.text import Text

DRAWINGS = {
    "two_drawings": stream.two_drawings,
    "addition": lambda: stream.addition([1, 2, -1, 0], [0.2, -0.5, 0.3, 0.1]),
    "all_updates": lambda: stream.all_updates(n_blocks=12, d_model=768),
}


@pytest.fixture(autouse=True)
def english_again():
    yield
    blocklab.use("en")


def words(shown: Drawing) -> list[str]:
    root = ElementTree.fromstring(shown.svg)
    return ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("name", DRAWINGS)
def test_every_drawing_is_well_formed_and_says_what_it_shows(name, language):
    blocklab.use(language)
    root = ElementTree.fromstring(DRAWINGS[name]().svg)
    assert root.attrib["aria-label"]


def test_words_are_in_the_language_in_use():
    heading = diagram.text(0, 0, Text("The stream", "흐름"))
    blocklab.use("ko")
    assert "The stream" in heading
    assert "흐름" in diagram.text(0, 0, Text("The stream", "흐름"))


def test_words_cannot_break_out_of_the_drawing():
    shown = drawing(10, 10, diagram.text(0, 0, 'a < b & "c"'), alt='"<')
    assert words(shown) == ['a < b & "c"']


def test_a_subscript_does_not_move_what_comes_after_it():
    shown = drawing(10, 10, diagram.text(0, 0, "x + Δ_{attn} = y"), alt="sum")
    assert words(shown) == ["x + Δattn = y"]
    drops = [float(dy) for dy in re.findall(r'dy="([-\d.]+)"', shown.svg)]
    assert sum(drops) == 0


def test_the_bars_of_an_addition_carry_the_sum():
    assert {"1.2", "1.5", "−0.7", "0.1"} <= set(words(DRAWINGS["addition"]()))


def test_a_model_of_12_blocks_shows_24_updates():
    svg = stream.all_updates(n_blocks=12, d_model=768).svg
    assert svg.count('<polygon points="') == 24 + 2  # and the heads of stream and LM head
    assert "24 updates" in svg


def test_where_styles_are_dropped_a_still_image_is_left():
    html = stream.two_drawings()._repr_html_()
    untrusted = re.sub(r"<style>.*?</style>", "", html)
    image = re.search(r"base64,([^\"]+)", untrusted)
    assert image
    assert base64.b64decode(image[1]).startswith(b"<svg")
    assert 'hidden="hidden"' in untrusted


def test_the_model_map_opens_without_a_kernel_and_leads_to_existing_units():
    page = model_map()._repr_html_()
    assert page.count("<details") == page.count("<summary") == 10
    assert "<script" not in page
    assert 'href="01_residual_add.ipynb"' in page
