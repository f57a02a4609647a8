"""What is read off a diagram: the equations, their values, and what is said of them."""

import pytest

from blocklab.text import both
from blocklab.widgets.diagrams import DIAGRAMS
from blocklab.widgets.readings import NO_MASK, read_block, read_heads, read_widths

KEPT = "x₀ is still in the sum"


def test_pre_norm_is_two_additions_to_the_stream() -> None:
    read = read_block(["norm", "attention", "add", "norm", "ffn", "add"])
    assert list(read.lines) == [
        "x₀ = [1, 2, −1, 0]",
        "x₁ = x₀ + Attention(Norm(x₀)) = [1, 2.33, −0.35, −0.33]",
        "x₂ = x₁ + FFN(Norm(x₁)) = [1.39, 3.23, −0.35, −0.33]",
    ]
    assert read.says.en.startswith(KEPT)
    assert read.skips == [(-1, 2), (2, 5)]


def test_post_norm_puts_its_norms_round_the_sums() -> None:
    read = DIAGRAMS["post_norm_places"].read(["attention", "add", "norm", "ffn", "add", "norm"])
    assert read.lines[1].startswith("x₁ = Norm(x₀ + Attention(x₀)) = ")
    assert read.lines[2].startswith("x₂ = Norm(x₁ + FFN(x₁)) = ")
    assert "rescales" in read.says.en


@pytest.mark.parametrize(
    ("words", "line", "says"),
    [
        ("norm attention replace norm ffn add", "x₁ = Attention(Norm(x₀)) = ", "lost at place 3"),
        ("x0 norm_attention x1", "x₁ = Attention(Norm(x₀)) = ", "lost at place 3"),
        ("norm attention add norm ffn norm", "x₂ = Norm(FFN(Norm(x₁))) = ", "lost at place 6"),
        ("add attention add norm ffn add", "x₁ = x₀ + x₀ = [2, 4, −2, 0]", "added to itself"),
        ("x0 norm_attention add_attention norm_after_add", "x₁ = Norm(x₀ + ", "rescales"),
    ],
)
def test_a_wrong_turn_shows_what_it_computes(words: str, line: str, says: str) -> None:
    read = read_block(words.split())
    assert any(found.startswith(line) for found in read.lines)
    assert says in read.says.en


def test_an_empty_place_ends_the_reading() -> None:
    read = read_block(["norm", "attention", "?", "add"])
    assert list(read.lines) == ["x₀ = [1, 2, −1, 0]"]
    assert not read.skips


def test_attention_without_a_mask_is_noted() -> None:
    assert NO_MASK in read_block(["x0", "norm", "full_attention", "add_attention"]).notes
    assert NO_MASK not in read_block(["x0", "norm", "causal_attention", "add_attention"]).notes


@pytest.mark.parametrize("name", DIAGRAMS)
def test_any_words_can_be_read(name: str) -> None:
    shown = DIAGRAMS[name]
    for label in [*shown.labels, "nonsense"]:
        read = shown.read([label] * shown.slots)
        assert read.says.en
        assert read.says.ko


def test_widths_that_come_back_wider_cannot_be_added() -> None:
    models = both("A"), both("B")
    read = read_widths(["768", "3072", "768", "4096", "14336", "8192"], models)
    assert "4,718,592 weights" in read.says.en
    assert "B: 4096 → 14336 → 8192. The stream is 4096 wide" in read.says.en


def test_heads_share_kv_heads_evenly_or_not_at_all() -> None:
    models = both("A"), both("B")
    read = read_heads(["12", "8", "64", "32", "8", "128"], models)
    assert "A: 12 query heads cannot share 8 KV heads evenly." in read.says.en
    assert "4 of them each. Heads × d_head = 4,096. A token leaves 2,048 numbers" in read.says.en
