"""GPT-2 small as Hugging Face stores it: names, shapes, and where to fetch the real weights."""

import json
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file
from torch import Tensor

from blocklab.config import BlockConfig
from blocklab.text import Text

SOURCE = "https://huggingface.co/openai-community/gpt2/resolve/main/"
FILES = ("vocab.json", "model.safetensors")
NO_WEIGHTS = Text(
    "GPT-2's weights could not be fetched ({error}). Nothing below needs them.",
    "GPT-2의 weight를 내려받지 못했습니다({error}). 뒤의 내용을 보는 데는 없어도 됩니다.",
)


def state_shapes(config: BlockConfig) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight in the state dict of a Hugging Face GPT2Model.

    Layers whose names contain c_ are Conv1D layers: their weights are (in, out).
    """
    d, d_ff = config.d_model, config.d_ff
    layers = {"ln_1": (d,), "attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d)}
    layers |= {"ln_2": (d,), "mlp.c_fc": (d, d_ff), "mlp.c_proj": (d_ff, d)}
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (config.vocab_size, d)}
    shapes["wpe.weight"] = (config.max_T, d)
    for n in range(config.n_layers):
        for name, weight in layers.items():
            shapes[f"h.{n}.{name}.weight"] = weight
            shapes[f"h.{n}.{name}.bias"] = weight[-1:]
    return {**shapes, "ln_f.weight": (d,), "ln_f.bias": (d,)}


class GPT2(NamedTuple):
    """The state dict, and the vocabulary: the id of every piece of text."""

    state_dict: dict[str, Tensor]
    ids: dict[str, int]

    def encode(self, text: str) -> Tensor:
        """Ids (1, T) of words that are in the vocabulary as they stand.

        Raises KeyError for a word that GPT-2 would cut into pieces.
        """
        return torch.tensor([[self.ids[piece] for piece in text.replace(" ", " Ġ").split()]])

    def word(self, index: int) -> str:
        """The piece of text with that id, its space as a space."""
        return next(piece for piece, i in self.ids.items() if i == index).replace("Ġ", " ")


def fetch(source: str = SOURCE, folder: Path | None = None) -> GPT2 | None:
    """The real weights: downloaded once (548 MB), later read from the folder.

    Prints why and returns None if they cannot be had.
    """
    folder = folder or Path(torch.hub.get_dir()) / "gpt2"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name in FILES:
            if not (folder / name).exists():
                torch.hub.download_url_to_file(source + name, str(folder / name))
    except OSError as error:
        print(NO_WEIGHTS.fill(error=error))
        return None
    ids = json.loads((folder / FILES[0]).read_text("utf-8"))
    return GPT2(load_file(folder / FILES[1]), ids)
