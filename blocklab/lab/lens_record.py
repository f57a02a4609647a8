"""Record what a small trained decoder says through the logit lens, for the picture with knobs.

`python -m blocklab.lab.lens_record` trains lecture 05's decoder again, some seconds on one thread,
and writes blocklab/explain/logit_lens.json.
"""

import json
import platform
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from blocklab.lab import lens
from blocklab.reference.block import Decoder, logit_lens

FILE = Path(__file__).parents[1] / "explain" / "logit_lens.json"
SENTENCE = "The operations in the following "
SHOWN = 17  # of its last characters that are read
BEST, DIGITS = 5, 4  # favourites of each state; digits of a chance


def record(seed: int = 0) -> dict:
    """What every state of the decoder favours at the last positions of the sentence.

    read, following: the characters read, and the one that comes next at each of them.
    states: by state and position, the BEST characters, likeliest first, their `chances`, and
    `final`, the chance of the character that the last state likes best there.
    """
    chances = _chances(lens.train(lens.decoder(seed=seed), seed=seed))
    answers = chances[-1].argmax(dim=-1).tolist()
    versions = f"Python {platform.python_version()}, torch {torch.__version__.split('+')[0]}"
    return {
        "made_by": f"blocklab.lab.lens_record.record(seed={seed}), {versions}",
        "read": SENTENCE[-SHOWN - 1 : -1],
        "following": SENTENCE[-SHOWN:],
        "states": [
            [_one(place, answer) for place, answer in zip(state, answers, strict=True)]
            for state in chances
        ],
    }


@torch.no_grad()
def _chances(model: Decoder) -> Float[Tensor, "states T vocab_size"]:
    ids = lens.encode(SENTENCE)[None, :-1]
    logits = logit_lens(model.states(ids), model.final_norm, model.lm_head)
    return logits[:, 0, -SHOWN:].softmax(dim=-1)


def _one(chances: Float[Tensor, " vocab_size"], answer: int) -> dict:
    best = chances.topk(BEST)
    return {
        "best": "".join(lens.ALPHABET[i] for i in best.indices.tolist()),
        "chances": [round(chance, DIGITS) for chance in best.values.tolist()],
        "final": round(float(chances[answer]), DIGITS),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    FILE.write_text(json.dumps(record(), ensure_ascii=False) + "\n", "utf-8")
