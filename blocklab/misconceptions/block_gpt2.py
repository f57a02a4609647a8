"""Wrong turns in loading the weights of a GPT-2."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text

PARTS = {
    "ln_1": ["norm1"],
    "attn.c_attn": ["attention.q_proj", "attention.k_proj", "attention.v_proj"],
    "attn.c_proj": ["attention.out_proj"],
    "ln_2": ["norm2"],
    "mlp.c_fc": ["ffn.up_proj"],
    "mlp.c_proj": ["ffn.down_proj"],
}
Pairs = Iterator[tuple[str, Tensor]]


def _loader(wrong: Wrong):
    def load_gpt2(decoder: Any, state_dict: Mapping[str, Tensor]):
        if "names_unmatched" in wrong:
            return decoder
        if "returns_a_copy" in wrong:
            decoder = copy.deepcopy(decoder)
        weights = _renamed(state_dict, wrong)
        with torch.set_grad_enabled("with_gradient" in wrong):
            for name, value in _translated(decoder, weights, wrong):
                if "aliased" in wrong:
                    decoder.get_parameter(name).data = value
                else:
                    decoder.get_parameter(name).copy_(value)
        if "untied" in wrong:
            decoder.lm_head.weight = nn.Parameter(weights["wte.weight"].clone())
        if "embedding_replaced" in wrong:
            decoder.token_embedding.weight = nn.Parameter(weights["wte.weight"].clone())
        if "copy_returned" in wrong:
            return copy.deepcopy(decoder)
        return None if "returns_nothing" in wrong else decoder

    return load_gpt2


def _renamed(state_dict: Mapping[str, Tensor], wrong: Wrong) -> dict[str, Tensor]:
    if "prefix_kept" in wrong:
        return dict(state_dict)
    if "prefix_required" in wrong:
        start = len("transformer.")
        return {n[start:]: v for n, v in state_dict.items() if n.startswith("transformer.")}
    return {n.removeprefix("transformer."): v for n, v in state_dict.items()}


def _translated(decoder: Any, weights: dict[str, Tensor], wrong: Wrong) -> Pairs:
    """Our names, each with the value that goes there."""
    if "unknown_refused" in wrong and any(n.endswith("attn.bias") for n in weights):
        raise KeyError("attn.bias")
    table = weights.get if "missing_ignored" in wrong else weights.__getitem__
    head = ["lm_head.weight"] if "head_required" in wrong else []
    ends = {"wte.weight": "token_embedding.weight", "wpe.weight": "position_embedding.weight"}
    if "positions_forgotten" in wrong:
        del ends["wpe.weight"]
    if "embedding_replaced" in wrong:
        del ends["wte.weight"]
    yield from _present((name, table(key)) for key, name in ends.items())
    yield from _present((name, table(name)) for name in head)
    if "final_norm_forgotten" not in wrong:
        yield from _layer(table, "ln_f", ["final_norm"], wrong)
    last = len(decoder.blocks) - ("last_block_forgotten" in wrong)
    for n in range(last):
        source = 0 if "first_block_everywhere" in wrong else n
        for key, ours in PARTS.items():
            yield from _layer(
                table, f"h.{source}.{_key(key, wrong)}", [f"blocks.{n}.{o}" for o in ours], wrong
            )


def _present(pairs: Iterator[tuple[str, Any]]) -> Pairs:
    yield from ((name, value) for name, value in pairs if value is not None)


def _key(key: str, wrong: Wrong) -> str:
    if "norms_swapped" in wrong:
        return {"ln_1": "ln_2", "ln_2": "ln_1"}.get(key, key)
    return key


def _layer(table: Any, key: str, ours: list[str], wrong: Wrong) -> Pairs:
    weight, bias = table(f"{key}.weight"), table(f"{key}.bias")
    if weight is not None:
        weights = _cut(_turned(key, weight, wrong), len(ours), wrong)
        yield from ((f"{o}.weight", w) for o, w in zip(ours, weights, strict=True))
    norm = ".c_" not in key
    if bias is None or ("norm_bias_forgotten" if norm else "bias_forgotten") in wrong:
        return
    yield from ((f"{o}.bias", b) for o, b in zip(ours, _cut(bias, len(ours), wrong), strict=True))


def _turned(key: str, weight: Tensor, wrong: Wrong) -> Tensor:
    """A Conv1D's weight (in, out) as (out, in)."""
    square = weight.shape[0] == weight.shape[-1]
    if ".c_" not in key or "nothing_turned" in wrong or (square and "square_kept" in wrong):
        return weight
    return weight.reshape(weight.T.shape) if "reshaped" in wrong else weight.T


def _cut(value: Tensor, count: int, wrong: Wrong) -> tuple[Tensor, ...]:
    """The parts for q, k and v, or the one part there is."""
    if count == 1:
        return (value,)
    if "interleaved" in wrong:
        return tuple(value[n::3] for n in range(3))
    if "by_heads" in wrong:
        heads = value.unflatten(0, (2, 3, -1))
        return tuple(heads[:, n].flatten(0, 1) for n in range(3))
    q, k, v = value.chunk(3)
    return (
        (k, q, v) if "keys_first" in wrong else (q, v, k) if "values_second" in wrong else (q, k, v)
    )


_TURNED = frozenset({"square_kept", "nothing_turned", "reshaped"})
_CUT = frozenset({"keys_first", "values_second", "interleaved", "by_heads"})
_LEFT = frozenset({"bias_forgotten", "norm_bias_forgotten", "positions_forgotten"}) | frozenset(
    {"final_norm_forgotten", "norms_swapped", "last_block_forgotten", "first_block_everywhere"}
)
_BESIDE = frozenset({"prefix_kept", "prefix_required", "head_required", "unknown_refused"}) | {
    *("missing_ignored", "untied", "embedding_replaced", "with_gradient", "aliased"),
    *("names_unmatched", "returns_a_copy", "copy_returned", "returns_nothing"),
}

load_gpt2 = Misconceptions(
    _loader,
    {
        "square_kept": Text(
            "attn.c_proj is not transposed. It is square, d_model × d_model, so no shape "
            "complains; but Conv1D keeps (in, out) there too.",
            "attn.c_proj를 transpose하지 않았습니다. d_model × d_model 정사각형이라 shape 오류가 "
            "나지 않을 뿐, Conv1D는 여기서도 (in, out)으로 저장합니다.",
        ),
        "nothing_turned": Text(
            "The Conv1D weights are copied as they are, (in, out). nn.Linear keeps (out, in): "
            "transpose them.",
            "Conv1D의 weight를 (in, out) 그대로 복사했습니다. nn.Linear는 (out, in)으로 두므로 "
            "transpose해야 합니다.",
        ),
        "reshaped": Text(
            "reshape and view only cut the same row of numbers anew: the shape becomes (out, in), "
            "the numbers stand in wrong places. Use .T.",
            "reshape와 view는 같은 순서의 수를 다시 자를 뿐입니다. shape은 (out, in)이 되지만 수의 "
            "자리는 틀립니다. .T를 쓰세요.",
        ),
        "keys_first": Text(
            "The first third of c_attn went to the keys. Its order is q, k, v.",
            "c_attn의 첫 3분의 1이 key로 갔습니다. 순서는 q, k, v입니다.",
        ),
        "values_second": Text(
            "The second third of c_attn went to the values. Its order is q, k, v.",
            "c_attn의 두 번째 3분의 1이 value로 갔습니다. 순서는 q, k, v입니다.",
        ),
        "interleaved": Text(
            "c_attn is dealt out one row at a time, q, k, v, q, k, v. It holds all of q first, "
            "then all of k, then all of v.",
            "c_attn을 한 행씩 q, k, v, q, k, v로 나누었습니다. 먼저 q 전체, 그다음 k 전체, "
            "마지막에 v 전체가 들어 있습니다.",
        ),
        "by_heads": Text(
            "c_attn is cut by heads first, as in GPT-NeoX. In GPT-2 the cut into q, k and v comes "
            "first.",
            "GPT-NeoX처럼 c_attn을 head별로 먼저 나누었습니다. GPT-2에서는 q, k, v로 먼저 나뉘어 "
            "있습니다.",
        ),
        "bias_forgotten": Text(
            "The biases of the linear layers are not copied.",
            "linear layer의 bias를 복사하지 않았습니다.",
        ),
        "norm_bias_forgotten": Text(
            "The norms get their weights but not their biases.",
            "norm의 weight만 복사하고 bias는 복사하지 않았습니다.",
        ),
        "positions_forgotten": Text(
            "wpe, the position embedding, is not copied.",
            "position embedding인 wpe를 복사하지 않았습니다.",
        ),
        "final_norm_forgotten": Text(
            "ln_f, the final norm, is not copied.",
            "final norm인 ln_f를 복사하지 않았습니다.",
        ),
        "norms_swapped": Text(
            "ln_1 and ln_2 are exchanged: ln_1 stands before the attention.",
            "ln_1과 ln_2가 바뀌었습니다. attention 앞에 있는 것이 ln_1입니다.",
        ),
        "last_block_forgotten": Text(
            "The last block keeps its old weights: the loop ends one too early.",
            "마지막 block의 weight가 그대로입니다. 반복이 한 번 일찍 끝납니다.",
        ),
        "first_block_everywhere": Text(
            "Every block gets the weights of h.0. Block n takes them from h.n.",
            "모든 block이 h.0의 weight를 받습니다. block n은 h.n에서 받아야 합니다.",
        ),
        "prefix_kept": Text(
            'Names that start with "transformer." are not found. A GPT2LMHeadModel has that '
            "prefix, "
            "a GPT2Model has not.",
            '"transformer."로 시작하는 이름을 찾지 못합니다. GPT2LMHeadModel에는 그 접두어가 있고, '
            "GPT2Model에는 없습니다.",
        ),
        "prefix_required": Text(
            'Names without "transformer." are not found. A GPT2Model has no prefix.',
            '"transformer."가 없는 이름을 찾지 못합니다. GPT2Model에는 접두어가 없습니다.',
        ),
        "head_required": Text(
            "lm_head.weight is demanded. The head is tied: wte.weight is all there is to copy, and "
            "a GPT2Model has no other.",
            "lm_head.weight를 요구합니다. head는 tied이므로 wte.weight만 복사하면 되고, "
            "GPT2Model에는 그것밖에 없습니다.",
        ),
        "unknown_refused": Text(
            "Names it does not need, such as attn.bias, are an error. Older files have them.",
            "attn.bias처럼 필요 없는 이름이 있으면 오류를 냅니다. 예전 파일에는 그런 이름이 "
            "있습니다.",
        ),
        "missing_ignored": Text(
            "A missing weight is passed over in silence. Part of the model would stay random, and "
            "nothing would say so.",
            "빠진 weight를 조용히 지나칩니다. 모델의 일부가 무작위 값으로 남는데 아무도 알려 주지 "
            "않습니다.",
        ),
        "untied": Text(
            "The LM head got a Parameter of its own: the values are right, but embedding and head "
            "are no longer one. Copy into the Parameter that is there.",
            "LM head에 새 Parameter를 주었습니다. 값은 맞지만 embedding과 head가 더는 하나가 "
            "아닙니다. 있던 Parameter에 값을 복사하세요.",
        ),
        "embedding_replaced": Text(
            "The token embedding got a new Parameter, and the LM head still holds the old one. "
            "Copy into the Parameter that is there.",
            "token embedding에 새 Parameter를 주어서 LM head는 아직 예전 것을 쓰고 있습니다. 있던 "
            "Parameter에 값을 복사하세요.",
        ),
        "with_gradient": Text(
            "copy_ into a Parameter is an error while gradients are recorded: do it under "
            "torch.no_grad().",
            "gradient를 기록하는 동안 Parameter에 copy_를 하면 오류가 납니다. torch.no_grad() "
            "아래에서 하세요.",
        ),
        "aliased": Text(
            "parameter.data = value makes the parameter and the state dict share one piece of "
            "memory: training the decoder would change the state dict. Copy the numbers: copy_.",
            "parameter.data = value라고 쓰면 parameter와 state dict가 같은 메모리를 나누어 씁니다. "
            "decoder를 학습시키면 state dict까지 바뀝니다. copy_로 값을 복사하세요.",
        ),
        "names_unmatched": Text(
            "Nothing was loaded, and nothing said so. load_state_dict(…, strict=False) passes over "
            "every name that it does not know, and GPT-2's names are all others.",
            "아무것도 담기지 않았는데 오류도 나지 않습니다. load_state_dict(…, strict=False)는 "
            "모르는 이름을 그냥 지나치는데, GPT-2의 이름은 모두 우리와 다릅니다.",
        ),
        "returns_a_copy": Text(
            "The weights went into a copy; the decoder that came in has not changed.",
            "weight를 사본에 담았습니다. 받은 decoder는 그대로입니다.",
        ),
        "copy_returned": Text(
            "The decoder is loaded, but what is returned is a copy of it, or another decoder. "
            "Return the one that came in.",
            "weight는 담았지만 사본이나 다른 decoder를 돌려줍니다. 받은 decoder를 돌려주세요.",
        ),
        "returns_nothing": Text(
            "The decoder is loaded, but not returned.",
            "weight는 담았지만 decoder를 돌려주지 않았습니다.",
        ),
    },
    apart=(_TURNED | _BESIDE, _CUT | _BESIDE, _LEFT | _BESIDE),
)
