"""GPT-2's state dict, as lecture 05 describes it."""

import json

import pytest
import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2Model

from blocklab.config import BlockConfig, gpt2_small
from blocklab.lab import gpt2


def theirs(config: BlockConfig) -> dict[str, tuple[int, ...]]:
    with torch.device("meta"):
        model = GPT2Model(
            GPT2Config(
                vocab_size=config.vocab_size,
                n_positions=config.max_T,
                n_embd=config.d_model,
                n_layer=config.n_layers,
                n_head=config.n_heads,
            )
        )
    return {name: tuple(weight.shape) for name, weight in model.named_parameters()}


def test_names_and_shapes_are_those_of_hugging_face():
    assert gpt2.state_shapes(gpt2_small) == theirs(gpt2_small)


def test_the_numbers_in_it_add_up_to_gpt2_small():
    shapes = gpt2.state_shapes(gpt2_small).values()
    assert sum(torch.Size(shape).numel() for shape in shapes) == 124_439_808


def test_without_a_connection_it_says_so_and_goes_on(tmp_path, capsys):
    assert gpt2.fetch((tmp_path / "nowhere").as_uri() + "/", tmp_path / "kept") is None
    assert "could not be fetched" in capsys.readouterr().out


def test_what_was_fetched_is_kept_and_read(tmp_path):
    there, kept = tmp_path / "there", tmp_path / "kept"
    there.mkdir()
    (there / "vocab.json").write_text(json.dumps({"The": 0, "Ġcapital": 1}), "utf-8")
    save_file({"wte.weight": torch.ones(2, 3)}, there / "model.safetensors")
    assert gpt2.fetch(there.as_uri() + "/", kept)
    for file in there.iterdir():
        file.unlink()
    found = gpt2.fetch(there.as_uri() + "/", kept)
    assert found
    assert found.state_dict["wte.weight"].shape == (2, 3)
    assert found.encode("The capital").tolist() == [[0, 1]]
    assert found.word(1) == " capital"


def test_a_word_that_gpt2_would_cut_into_pieces_is_refused():
    with pytest.raises(KeyError):
        gpt2.GPT2({}, {"The": 0}).encode("Unsplittable")
