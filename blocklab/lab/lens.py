"""A small decoder trained on the text that ships with Python, to look into with the logit lens.

Token = character. The blocks are Llama's: RMSNorm, rotary positions, SwiGLU. With one thread a
training takes a few seconds. Everything is seeded; other versions of Python ship a slightly
different text.
"""

from dataclasses import replace
from pydoc_data.topics import topics
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from blocklab.config import BlockConfig
from blocklab.reference.block import Decoder, PreNormBlock

TEXT = "".join(topics.values())
ALPHABET = "".join(sorted(set(TEXT)))
T = 32
CONFIG = BlockConfig(
    d_model=64,
    n_heads=4,
    n_kv_heads=4,
    d_ff=168,
    n_layers=6,
    vocab_size=len(ALPHABET),
    max_T=T,
)


def encode(text: str) -> Int[Tensor, " T"]:
    """A text as token ids. Raises ValueError for a character that the corpus does not have."""
    return torch.tensor([ALPHABET.index(character) for character in text])


CORPUS = encode(TEXT)
TRAINING, UNSEEN = CORPUS.tensor_split([9 * len(CORPUS) // 10])


class ReplacingBlock(PreNormBlock):
    """A Pre-Norm block without residuals: each sublayer's output takes the stream's place."""

    def forward(self, x: Tensor, mask: Tensor | None = None, **how) -> Tensor:
        x = self.attention(self.norm1(x), mask, **how)
        return self.ffn(self.norm2(x))


class ReplacingDecoder(Decoder):
    """A decoder of `ReplacingBlock`s."""

    def new_block(self, config: BlockConfig) -> ReplacingBlock:
        return ReplacingBlock(*super().new_block(config).children())


def decoder(residual: bool = True, n_layers: int = CONFIG.n_layers, seed: int = 0) -> Decoder:
    """An untrained decoder with Xavier weights, with or without its residuals."""
    kind = Decoder if residual else ReplacingDecoder
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind(replace(CONFIG, n_layers=n_layers))
        for weight in model.parameters():
            if weight.dim() == 2:
                nn.init.xavier_normal_(weight)
    return model


def batch(
    text: Int[Tensor, " n"], size: int, random: torch.Generator
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    """Random pieces of a text: what the model reads, and the next character at every position."""
    start = torch.randint(len(text) - T, (size, 1), generator=random)
    piece = text[start + torch.arange(T + 1)]
    return piece[:, :-1], piece[:, 1:]


def train(model: Decoder, steps: int = 300, rate: float = 3e-3, seed: int = 0) -> Decoder:
    """Train a decoder with AdamW on batches of 8 pieces, and return it."""
    random = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    for _ in range(steps):
        ids, following = batch(TRAINING, 8, random)
        optimiser.zero_grad()
        cross_entropy(model(ids).flatten(0, 1), following.flatten()).backward()
        optimiser.step()
    return model


def unseen() -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    """256 pieces of the last tenth of the text, which no training sees, and what follows."""
    return batch(UNSEEN, 256, torch.Generator().manual_seed(99))


class Lines(NamedTuple):
    """What three simple guessers lose a character, in nats.

    uniform: every character alike, ln V. letters: by frequency. pairs: by the character before.
    """

    uniform: float
    letters: float
    pairs: float


def lines() -> Lines:
    """The three lines, counted over the whole text."""
    V = len(ALPHABET)
    count = torch.bincount(CORPUS[:-1] * V + CORPUS[1:], minlength=V * V).view(V, V).double()
    both = count / count.sum()
    entropy_of_pairs = -both.xlogy(both).sum()
    before = both.sum(1)
    letters = -before.xlogy(before).sum()
    uniform = torch.tensor(float(V)).log()
    return Lines(float(uniform), float(letters), float(entropy_of_pairs - letters))
