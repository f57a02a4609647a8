"""Wrong turns in building a decoder and in running it."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from blocklab.config import BlockConfig
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.reference import block as reference
from blocklab.reference.attention import causal_mask
from blocklab.rotary import Rotary
from blocklab.text import Text

# Where a parameter is not found, or has another shape, nothing else can be seen.
BUILT = {
    "plain_list": Text(
        "The decoder has no parameters under the names of its blocks: blocks.0.attention, and so "
        "on. Either they are called something else, or the blocks are in a Python list, where "
        "nn.Module does not look: they would never be trained or saved. Use nn.ModuleList.",
        "blocks.0.attention처럼 block에 속하는 이름의 parameter가 decoder에 없습니다. 다른 이름을 "
        "썼거나, block들을 Python list에 담은 것입니다. nn.Module은 list 안을 보지 않으므로 그 "
        "parameter는 학습되지도 저장되지도 않습니다. nn.ModuleList를 쓰세요.",
    ),
    "one_block": Text(
        "There is only one block's set of weights: with [block] * n_layers all blocks are one and "
        "the same. Each of the n_layers blocks has weights of its own, so build a new one each "
        "time.",
        "weight가 block 하나의 것 한 벌뿐입니다. [block] * n_layers라고 쓰면 block이 모두 같은 "
        "객체 하나가 됩니다. block n_layers개가 저마다 자기 weight를 가져야 하니, 매번 새로 "
        "만드세요.",
    ),
    "always_layer_norm": Text(
        'The norms are LayerNorms whatever the config says. With norm="rms" they are RMSNorms.',
        'config와 상관없이 norm이 모두 LayerNorm입니다. norm="rms"이면 RMSNorm이어야 합니다.',
    ),
    "always_rms_norm": Text(
        'The norms are RMSNorms whatever the config says. With norm="layer" they are '
        "nn.LayerNorms.",
        'config와 상관없이 norm이 모두 RMSNorm입니다. norm="layer"이면 nn.LayerNorm이어야 합니다.',
    ),
    "norms_exchanged": Text(
        'The two kinds of norm are exchanged: "rms" gives a LayerNorm and "layer" an RMSNorm.',
        '두 종류의 norm이 바뀌었습니다. "rms"에서 LayerNorm이, "layer"에서 RMSNorm이 나옵니다.',
    ),
    "bias_ignored": Text(
        "config.bias is not handed to the attention, so its projections have no biases.",
        "config.bias를 attention에 넘기지 않아서 projection에 bias가 없습니다.",
    ),
    "kv_heads_ignored": Text(
        "k_proj and v_proj are too large: there are as many KV heads as query heads. "
        "config.n_kv_heads of them are asked for, the third argument of the attention.",
        "k_proj와 v_proj가 너무 큽니다. KV head가 query head만큼 있습니다. 필요한 것은 "
        "config.n_kv_heads개이고, attention의 셋째 인수입니다.",
    ),
    "width_for_vocabulary": Text(
        "d_model and vocab_size are exchanged in the token embedding: nn.Embedding takes the "
        "number of tokens first, then the width.",
        "token embedding에서 d_model과 vocab_size가 바뀌었습니다. nn.Embedding은 token의 개수를 "
        "먼저, 폭을 나중에 받습니다.",
    ),
    "no_positions": Text(
        "There is no nn.Embedding called position_embedding. Learned positions are looked up "
        "there; without them only the causal mask says something about order, and the first block "
        "sees the earlier tokens as a set.",
        "position_embedding이라는 nn.Embedding이 없습니다. 학습된 위치는 여기서 찾습니다. 위치가 "
        "없으면 순서는 causal mask를 통해서만 드러나고, 첫 block에게 앞의 token들은 순서 없는 "
        "집합입니다.",
    ),
    "no_final_norm": Text(
        "There is no norm called final_norm. Pre-Norm never normalises the stream on its way, so "
        "without one the LM head would get it at whatever scale the updates have piled up.",
        "final_norm이라는 norm이 없습니다. Pre-Norm은 가는 길에 stream을 정규화하지 않으므로, "
        "final norm이 없으면 LM head는 update가 쌓인 크기 그대로의 값을 받게 됩니다.",
    ),
}
CHOSEN = {
    "post_blocks": Text(
        "The blocks are Post-Norm. This decoder is made of PreNormBlocks.",
        "block이 Post-Norm입니다. 이 decoder는 PreNormBlock으로 만듭니다.",
    ),
    "eps_ignored": Text(
        "config.eps is not handed to the norms: they use PyTorch's default, or RMSNorm's.",
        "config.eps를 norm에 넘기지 않아서 norm이 기본값을 씁니다.",
    ),
    "final_eps_ignored": Text(
        "The final norm does not get config.eps; those in the blocks do.",
        "block 안의 norm에는 config.eps를 넘겼지만 final norm에는 넘기지 않았습니다.",
    ),
    "final_norm_unused": Text(
        "The final norm is there, but forward does not call it: the LM head reads the last state "
        "as it is.",
        "final norm이 있지만 forward에서 부르지 않습니다. LM head가 마지막 state를 그대로 "
        "읽습니다.",
    ),
    "theta_ignored": Text(
        "config.theta is not handed to Rotary, which then uses 10,000.",
        "config.theta를 Rotary에 넘기지 않아서 10,000이 쓰입니다.",
    ),
    "always_exact_gelu": Text(
        "The activation is the exact GELU whatever the config says. GPT-2 was trained with the "
        "tanh form, others with ReLU: look the name up in ACTIVATIONS.",
        "config와 상관없이 activation이 정확한 GELU입니다. GPT-2는 tanh 꼴로, 다른 모델은 ReLU로 "
        "학습되었습니다. 이름을 ACTIVATIONS에서 찾으세요.",
    ),
    "never_tied": Text(
        "With tied=True the LM head still has a weight of its own. Even if both start with the "
        "same values, they drift apart: assign the Parameter itself.",
        "tied=True인데도 LM head가 자기 weight를 따로 가집니다. 같은 값으로 시작하더라도 "
        "학습하면서 서로 달라집니다. Parameter 자체를 대입하세요.",
    ),
    "always_tied": Text(
        "The LM head uses the token embedding's weight although the config is not tied.",
        "config가 tied가 아닌데도 LM head가 token embedding의 weight를 씁니다.",
    ),
    "head_bias": Text(
        "The LM head has a bias. nn.Linear has one unless told otherwise: bias=False.",
        "LM head에 bias가 있습니다. nn.Linear는 따로 말하지 않으면 bias를 만듭니다: bias=False.",
    ),
}
RUN = {
    "no_mask": Text(
        "No mask reaches the blocks: every token sees the future, and with it the answer it is to "
        "predict.",
        "block에 mask가 전달되지 않습니다. 모든 token이 미래를, 곧 자기가 예측할 답을 봅니다.",
    ),
    "mask_flipped": Text(
        "The mask is turned round: each token sees itself and what comes after it, and nothing "
        "that came before.",
        "mask가 뒤집혔습니다. token마다 자기 자신과 뒤의 것만 보고, 앞의 것은 보지 못합니다.",
    ),
    "positions_from_one": Text(
        "Positions start at 1. The first token stands at 0; with T = max_T the last one would fall "
        "off the end of the table.",
        "위치가 1에서 시작합니다. 첫 token의 위치는 0입니다. 이대로라면 T = max_T일 때 마지막 "
        "token이 표 밖으로 나갑니다.",
    ),
    "all_at_zero": Text(
        "Every token gets the embedding of position 0. Each needs its own: torch.arange(T).",
        "모든 token이 위치 0의 embedding을 받습니다. 저마다 자기 위치가 필요합니다: "
        "torch.arange(T).",
    ),
    "positions_are_ids": Text(
        "The position embedding is looked up with the token ids. It takes positions: "
        "torch.arange(T).",
        "position embedding을 token id로 찾았습니다. 위치로 찾아야 합니다: torch.arange(T).",
    ),
    "rotate_dropped": Text(
        "With rotary positions the blocks are called without rotate=…, so the attention never "
        "hears of positions.",
        "rotary 위치인데 block을 rotate=… 없이 부릅니다. 위치가 attention에 전달되지 않습니다.",
    ),
    "embedding_scaled": Text(
        "The embedding is multiplied by sqrt(d_model). The first Transformer and Gemma do that; "
        "GPT-2 and Llama do not.",
        "embedding에 sqrt(d_model)을 곱했습니다. 최초의 Transformer와 Gemma는 그렇게 하지만 "
        "GPT-2와 Llama는 하지 않습니다.",
    ),
    "probabilities": Text(
        "forward gives probabilities. It gives logits: the loss, and whoever samples, applies the "
        "softmax.",
        "forward가 확률을 돌려줍니다. 돌려줄 것은 logits입니다. softmax는 loss를 계산하거나 "
        "sampling할 때 적용합니다.",
    ),
    "last_only": Text(
        "Only the logits of the last token are returned. Training needs all T of them.",
        "마지막 token의 logits만 돌려줍니다. 학습에는 T개가 모두 필요합니다.",
    ),
}
STATES = {
    "no_embedding": Text(
        "The first state is missing: the embedding, before any block.",
        "첫 번째 state가 빠졌습니다. 어느 block도 지나기 전의 embedding입니다.",
    ),
    "last_normalised": Text(
        "The last state has gone through the final norm. A state is the stream as it is; forward "
        "normalises it afterwards.",
        "마지막 state가 final norm을 지났습니다. state는 stream 그대로이고, 정규화는 그 뒤에 "
        "forward에서 합니다.",
    ),
    "all_normalised": Text(
        "Every state has gone through the final norm. That is the logit lens's business; a state "
        "is the stream as it is.",
        "모든 state가 final norm을 지났습니다. 그것은 logit lens가 할 일이고, state는 stream "
        "그대로입니다.",
    ),
    "updates": Text(
        "After the embedding come the updates, not the states: what each block added, instead of "
        "the stream after it.",
        "embedding 다음에 state가 아니라 update가 옵니다. block을 지난 stream이 아니라 block이 "
        "더한 것입니다.",
    ),
}


def _misread(config: BlockConfig, wrong: Wrong) -> BlockConfig:
    """The config as a mistaken constructor understands it."""
    if "always_layer_norm" in wrong or ("norms_exchanged" in wrong and config.norm == "rms"):
        config = replace(config, norm="layer")
    elif "always_rms_norm" in wrong or "norms_exchanged" in wrong:
        config = replace(config, norm="rms")
    if "eps_ignored" in wrong:
        config = replace(config, eps=1e-6 if config.norm == "rms" else 1e-5)
    if "bias_ignored" in wrong:
        config = replace(config, bias=False)
    if "kv_heads_ignored" in wrong:
        config = replace(config, n_kv_heads=config.n_heads)
    if "theta_ignored" in wrong:
        config = replace(config, theta=10_000.0)
    if "always_exact_gelu" in wrong and not config.gated:
        config = replace(config, activation="gelu")
    if wrong & {"never_tied", "always_tied"}:
        config = replace(config, tied="always_tied" in wrong)
    return config


def _decoder(wrong: Wrong) -> type[nn.Module]:
    class Decoder(reference.Decoder):
        def __init__(self, config: BlockConfig) -> None:
            super().__init__(_misread(config, wrong))
            _damage_blocks(self, config, wrong)
            _damage_ends(self, config, wrong)

        def states(self, ids):
            states = _run(self, ids, wrong)
            norm = self.final_norm
            if "last_normalised" in wrong:
                states[-1] = norm(states[-1])
            if "all_normalised" in wrong:
                states = [norm(state) for state in states]
            if "updates" in wrong:
                steps = (after - before for before, after in pairwise(states))
                states = [states[0], *steps]
            return states[1:] if "no_embedding" in wrong else states

        def forward(self, ids):
            x = _run(self, ids, wrong)[-1]
            if self.final_norm is not None and "final_norm_unused" not in wrong:
                x = self.final_norm(x)
            logits = self.lm_head(x)
            logits = logits[:, -1] if "last_only" in wrong else logits
            return logits.softmax(-1) if "probabilities" in wrong else logits

    return Decoder


def _damage_blocks(decoder: Any, config: BlockConfig, wrong: Wrong) -> None:
    blocks = list(decoder.blocks)
    if "post_blocks" in wrong:
        blocks = [reference.PostNormBlock(b.attention, b.ffn, b.norm1, b.norm2) for b in blocks]
    if "one_block" in wrong:
        blocks = [blocks[0]] * len(blocks)
    del decoder.blocks
    decoder.blocks = blocks if "plain_list" in wrong else nn.ModuleList(blocks)


def _damage_ends(decoder: Any, config: BlockConfig, wrong: Wrong) -> None:
    """What stands before the blocks and after them."""
    if "width_for_vocabulary" in wrong:
        decoder.token_embedding = nn.Embedding(config.d_model, config.vocab_size)
    for flag, name in (("no_positions", "position_embedding"), ("no_final_norm", "final_norm")):
        if flag in wrong:
            delattr(decoder, name)
            setattr(decoder, name, None)
    if "final_eps_ignored" in wrong:
        decoder.final_norm.eps = 1e-6 if config.norm == "rms" else 1e-5
    if "head_bias" in wrong:
        decoder.lm_head.bias = nn.Parameter(torch.zeros(config.vocab_size))


def _run(decoder: Any, ids: torch.Tensor, wrong: Wrong) -> list[torch.Tensor]:
    T = ids.shape[1]
    x = decoder.token_embedding(ids)
    if "embedding_scaled" in wrong:
        x = x * x.shape[-1] ** 0.5
    if decoder.position_embedding is not None:
        x = x + decoder.position_embedding(_positions(ids, wrong))
    mask = None if "no_mask" in wrong else causal_mask(T)
    if mask is not None and "mask_flipped" in wrong:
        mask = mask.T
    rotate: Rotary | None = None if "rotate_dropped" in wrong else decoder.rotate
    states = [x]
    for block in decoder.blocks:
        states.append(block(states[-1], mask, rotate=rotate))
    return states


def _positions(ids: torch.Tensor, wrong: Wrong) -> torch.Tensor:
    T = ids.shape[1]
    if "positions_are_ids" in wrong:
        return ids
    if "all_at_zero" in wrong:
        return torch.zeros(T, dtype=torch.long)
    return torch.arange(T) + ("positions_from_one" in wrong)


_ALONE = frozenset(
    {*BUILT, "positions_are_ids", "embedding_scaled", "probabilities", "last_only", "updates"}
)

Decoder = Misconceptions(
    _decoder,
    {**CHOSEN, **RUN, **STATES, **BUILT},
    apart=(
        _ALONE | frozenset(RUN),
        _ALONE | frozenset(CHOSEN),
        _ALONE | frozenset(STATES),
        frozenset({*CHOSEN, *STATES}),
    ),
)
