"""The picture of a pile of blocks counts what the reference counts, at every setting."""

import itertools
import re
import time
from xml.etree import ElementTree

import pytest
import torch

import blocklab
from blocklab.config import BlockConfig, gpt2_small, llama3_8b, llama3_70b
from blocklab.explain.knobs import Menu, Sight
from blocklab.explain.stack import MODELS, STACK, numbers
from blocklab.explain.stack_picture import PIECES, TALL, TOP, readable
from blocklab.reference.block import Decoder, count_parameters

GIB = 2**30
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def english_again():
    yield
    blocklab.use("en")


def see(**knobs) -> Sight:
    return STACK.draw(**STACK.values(**knobs))


def words(sight: Sight) -> list[str]:
    return [
        "".join(t.itertext()) for t in ElementTree.fromstring(sight.drawing.svg).iter(SVG + "text")
    ]


@pytest.mark.parametrize("config", [gpt2_small, llama3_8b], ids=["gpt2_small", "llama3_8b"])
def test_the_pieces_are_those_that_pytorch_counts(config: BlockConfig):
    with torch.device("meta"):
        model = Decoder(config)
    cost = numbers(config, T=1)
    for piece in PIECES:
        part = piece.removesuffix("s")
        counted = sum(w.numel() for name, w in model.named_parameters() if part in name)
        assert cost.pieces[piece] == counted, piece


@pytest.mark.parametrize(
    ("model", "parameters", "ffn"),
    [
        ("gpt2_small", "124,439,808", "45.5"),
        ("llama3_8b", "8,030,261,248", "70.2"),
        ("llama3_70b", "70,553,706,496", "79.9"),
    ],
)
def test_the_models_have_the_numbers_of_the_lecture(model, parameters, ffn):
    sight = see(model=model)
    assert f"{parameters} parameters, {ffn} % of them in the FFNs" in sight.sentence.en
    assert f"{parameters}개이고 그중 {ffn} %가 FFN" in sight.sentence.ko
    assert {parameters, f"{ffn} %"} <= set(words(sight))


def test_the_cache_of_llama_is_1_gib_and_with_32_kv_heads_4():
    cost = numbers(llama3_8b, T=8192)
    assert (cost.cache, cost.cache_of_all) == (GIB, 4 * GIB)
    shared, own = (see(kv_heads=how, tokens=8192).sentence.en for how in ("own", "all"))
    assert (
        "8,192 tokens takes 1 GiB; with a KV head for every query head it would be 4 GiB" in shared
    )
    assert "8,192 tokens takes 4 GiB." in own


def test_one_kv_head_for_all_is_a_thirty_second_of_one_each():
    sight = see(kv_heads="one", tokens=8192)
    assert "1 KV head:" in sight.sentence.en and "takes 128 MiB" in sight.sentence.en


def test_width_takes_heads_with_it_and_parameters_of_blocks_grow_with_its_square():
    sight = see(model="llama3_8b", width=2.0)
    assert "width 8,192, 64 query heads and 16 KV heads" in sight.sentence.en
    plain = numbers(llama3_8b, 1).pieces
    shown = words(sight)
    assert f"{4 * plain['ffn']:,}" in shown and f"{2 * plain['embedding']:,}" in shown


def test_a_text_longer_than_the_model_was_made_for_is_said_so():
    said = "at most 1,024 tokens"
    assert said in see(model="gpt2_small", tokens=2048).sentence.en
    assert said not in see(model="gpt2_small", tokens=1024).sentence.en


def test_bytes_are_exact_where_they_have_no_point():
    assert [readable(n) for n in (GIB, 36 * 2**20, 3 * GIB // 2)] == ["1 GiB", "36 MiB", "1.5 GiB"]


def areas(sight: Sight) -> list[list[tuple[float, ...]]]:
    """By piece, the (y, width, height) of its areas in the tower."""
    paths = [p.attrib["d"] for p in ElementTree.fromstring(sight.drawing.svg).iter(SVG + "path")]
    pattern = r"M[-\d.]+ ([-\d.]+)h([\d.]+)v([-\d.]+)"
    return [[tuple(map(float, found)) for found in re.findall(pattern, path)] for path in paths]


def test_areas_of_the_tower_are_in_proportion_to_parameters():
    cost = numbers(llama3_70b, 1)
    embedding, attention, ffn, _ = areas(see(model="llama3_70b"))
    assert len(attention) == len(ffn) == 80
    per_block = sum(tall for _, _, tall in ffn) / 80 + sum(tall for _, _, tall in attention) / 80
    gaps = ffn[1][0] - ffn[0][0] - per_block
    blocks = cost.pieces["attention"] + cost.pieces["ffn"]
    ratio = (embedding[0][2] + gaps) / (80 * (per_block + gaps))
    assert ratio == pytest.approx(cost.pieces["embedding"] / blocks, rel=0.02)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_setting_fits_and_draws_at_once_in_both_languages(language):
    blocklab.use(language)
    see()
    menus = [knob for knob in STACK.knobs if isinstance(knob, Menu)]
    extremes = ((0.25, 2.0), (0.25, 0.75, 2.0), (1024, 131072))
    names = (*(menu.name for menu in menus), "depth", "width", "tokens")
    for chosen in itertools.product(*(menu.options for menu in menus), *extremes):
        start = time.process_time()
        sight = see(**dict(zip(names, chosen, strict=True)))
        assert time.process_time() - start < 0.05
        said = ElementTree.fromstring(sight.drawing.svg).attrib["aria-label"]
        assert ("차지하는 몫" in said) == (language == "ko")
        assert not re.search(r"[{}]", str(sight.sentence))
        for spans in areas(sight):
            assert all(y + tall <= TOP + TALL + 0.1 for y, _, tall in spans)


def test_depth_and_width_keep_every_model_whole():
    for name, (_, plain) in MODELS.items():
        for depth, width in itertools.product((n / 4 for n in range(1, 9)), repeat=2):
            sight = see(model=name, depth=depth, width=width)
            assert f"{depth * plain.n_layers:g} blocks of width {width * plain.d_model:,.0f}" in (
                sight.sentence.en
            )


def test_the_pieces_add_up():
    for _, plain in MODELS.values():
        assert sum(numbers(plain, 1).pieces.values()) == count_parameters(plain)
