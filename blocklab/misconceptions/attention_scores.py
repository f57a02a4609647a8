"""Wrong turns on the way from queries and keys to weights, and from weights to values."""

import torch

from blocklab.misconceptions.attention_words import (
    FLOW,
    MASK,
    NUMBERS,
    OVER_QUERIES,
    SCALE,
    SOFTMAX,
    SWAPPED,
)
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text

_LATE = frozenset({"after_softmax", "renormalised", "renormalised_eps"})


def weights_of(q, k, mask, wrong: Wrong):
    """Attention weights with the wrong turns of SCALE, SOFTMAX, MASK, NUMBERS, FLOW, SWAPPED."""
    if "swapped" in wrong:
        q, k = k, q
    scores = q @ k.transpose(-2, -1) * _factor(q, k, wrong)
    mask = _allowed(mask, scores, wrong)
    weights = _softmax(scores if mask is None else _masked(scores, mask, wrong), wrong)
    if mask is not None and wrong & _LATE:
        weights = weights * mask
    if wrong & {"renormalised", "renormalised_eps"}:
        least = 1e-9 if "renormalised_eps" in wrong else 0.0
        weights = weights / (weights.sum(-1, keepdim=True) + least)
    if "scale_late" in wrong:
        weights = weights / q.shape[-1] ** 0.5
    return weights.detach() if "detached" in wrong else weights


def _factor(q, k, wrong: Wrong) -> float:
    d = q.shape[-1]
    if "uniform" in wrong:
        return 0.0
    if wrong & {"no_scale", "scale_late"}:
        return 1.0
    if "scale_d" in wrong:
        return 1 / d
    if "scale_times" in wrong:
        return d**0.5
    if "scale_floor" in wrong:
        return 1 / int(d**0.5)
    return (k.shape[-2] if "scale_keys" in wrong else d) ** -0.5


def _allowed(mask, scores, wrong: Wrong):
    if "always_causal" in wrong or ("causal_instead" in wrong and mask is not None):
        return torch.ones(scores.shape[-2:]).tril().bool()
    if mask is None or "mask_ignored" in wrong:
        return None
    if "mask_transposed" in wrong:
        return mask.transpose(-2, -1)
    return ~mask if "inverted" in wrong else mask


def _masked(scores, mask, wrong: Wrong):
    if wrong & _LATE:
        return scores
    if "mask_added" in wrong:
        return scores + mask.float()
    if "zero_scores" in wrong:
        return scores * mask
    fill = torch.inf if "plus_inf" in wrong else -1e4 if "small_fill" in wrong else -torch.inf
    return scores.masked_fill(~mask, fill)


def _softmax(scores, wrong: Wrong):
    if "over_all" in wrong:
        return scores.flatten(-2).softmax(-1).view_as(scores)
    if wrong & {"overflow", "global_max"}:
        e = (scores - scores.max() if "global_max" in wrong else scores).exp()
        return e / e.sum(-1, keepdim=True)
    if "no_softmax" in wrong:
        return scores
    if "linear" in wrong:
        return scores / scores.sum(-1, keepdim=True)
    if "sigmoid" in wrong:
        return scores.sigmoid()
    if "log_softmax" in wrong:
        return scores.log_softmax(-1)
    if "hard_max" in wrong:
        return torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).float()
    dim = -2 if "over_queries" in wrong else 1 if "over_heads" in wrong else -1
    return scores.softmax(dim)


def _attention_weights(wrong: Wrong):
    def attention_weights(q, k, mask=None):
        if "query_in_place" in wrong:
            q /= q.shape[-1] ** 0.5
            return weights_of(q, k, mask, wrong | {"no_scale"})
        return weights_of(q, k, mask, wrong)

    return attention_weights


_ODD_SOFTMAX = frozenset(SOFTMAX) - frozenset(OVER_QUERIES)
attention_weights = Misconceptions(
    _attention_weights,
    {
        **SCALE,
        **SOFTMAX,
        **MASK,
        **NUMBERS,
        **FLOW,
        **SWAPPED,
        "query_in_place": Text(
            "q /= … writes into the caller's queries, so a second call would scale them again. q "
            "= q / … makes a new tensor.",
            "q /= …는 호출한 쪽의 query에 직접 씁니다. 다시 호출하면 또 나누게 됩니다. q = q / "
            "…는 새 tensor를 만듭니다.",
        ),
    },
    apart=(
        frozenset({*SCALE, *_ODD_SOFTMAX, "query_in_place"}),
        frozenset({*MASK, *_ODD_SOFTMAX, *NUMBERS}),
        frozenset({*OVER_QUERIES, *NUMBERS}),
        frozenset({*FLOW, *SWAPPED, *_ODD_SOFTMAX}),
        frozenset({*FLOW, *NUMBERS}),
    ),
)


def _attention(wrong: Wrong):
    def attention(q, k, v, mask=None):
        if "scale_values" in wrong:
            q = q * (q.shape[-1] / v.shape[-1]) ** 0.5
        weights = weights_of(q, k, mask, wrong)
        if "weights_only" in wrong:
            return weights
        if "weights_transposed" in wrong:
            weights = weights.transpose(-2, -1)
        output = weights @ (k if "keys_again" in wrong else q if "queries_again" in wrong else v)
        if "plus_query" in wrong:
            output = q + output
        if "softmax_again" in wrong:
            output = output.softmax(-1)
        return (output, weights) if "both_returned" in wrong else output

    return attention


_TAKEN = (
    "no_scale",
    "scale_d",
    "over_queries",
    "hard_max",
    "uniform",
    "no_softmax",
    "overflow",
    "detached",
)
_MASKS = (
    "mask_ignored",
    "after_softmax",
    "renormalised",
    "renormalised_eps",
    "small_fill",
    "zero_scores",
    "inverted",
    "always_causal",
    "causal_instead",
)
_OUTPUT = {
    "scale_values": Text(
        "The scores are divided by the root of the width of the values. It is the width of queries "
        "and keys: a score is their dot product.",
        "score를 value의 폭의 제곱근으로 나누었습니다. query와 key의 폭을 쓰세요. score는 둘의 "
        "내적입니다.",
    ),
    "keys_again": Text(
        "The weights are applied to the keys. Keys are for being found; what is fetched is v.",
        "weight를 key에 곱했습니다. key는 찾는 데 쓰고, 가져오는 것은 v입니다.",
    ),
    "queries_again": Text(
        "The weights are applied to the queries. What is fetched is v.",
        "weight를 query에 곱했습니다. 가져오는 것은 v입니다.",
    ),
    "weights_transposed": Text(
        "The weights are transposed before they meet the values: token j then gives what it "
        "should take.",
        "weight를 전치해서 value에 곱했습니다. 그러면 가져와야 할 token이 오히려 내주게 됩니다.",
    ),
    "weights_only": Text(
        "These are the weights. They still have to be applied to the values: weights @ v.",
        "이것은 weight입니다. 이것을 value에 적용하는 일이 남았습니다: weights @ v.",
    ),
    "both_returned": Text(
        "It returns a pair, the output and the weights. Only the output is asked for.",
        "출력과 weight를 쌍으로 돌려주었습니다. 출력만 돌려주세요.",
    ),
    "plus_query": Text(
        "The queries are added to the result. The residual add belongs to the block, and adds to "
        "the stream.",
        "결과에 query를 더했습니다. residual add는 block이 할 일이고, 더하는 상대도 stream입니다.",
    ),
    "softmax_again": Text(
        "There is a second softmax, over the components of the result. Values pass as they are.",
        "결과의 성분에 softmax를 한 번 더 취했습니다. value는 그대로 지나갑니다.",
    ),
}
WORDS = {**SCALE, **SOFTMAX, **MASK, **NUMBERS, **FLOW, **SWAPPED}
attention = Misconceptions(
    _attention,
    {**{flag: WORDS[flag] for flag in (*_TAKEN, *_MASKS, "swapped")}, **_OUTPUT},
    apart=(
        frozenset(_OUTPUT),
        frozenset({*_TAKEN, "swapped"}),
        frozenset(_MASKS),
        frozenset({"hard_max", "no_softmax", "overflow", *_MASKS}),
        frozenset({"detached", "weights_only", "both_returned"}),
    ),
)


def _cross_attention(wrong: Wrong):
    def cross_attention(x, memory, w_q, w_k, w_v):
        if "roles_swapped" in wrong:
            x, memory = memory, x
        both = torch.cat([memory, x], 1) if "reads_itself" in wrong else memory
        q = _mapped(memory if "queries_from_memory" in wrong else x, w_q, wrong)
        k = _mapped(x if wrong & {"keys_from_x", "self_attention"} else both, w_k, wrong)
        v = _mapped(x if wrong & {"values_from_x", "self_attention"} else both, w_v, wrong)
        if "weights_swapped" in wrong:
            k, v = _mapped(both, w_v, wrong), _mapped(both, w_k, wrong)
        mask = None
        if "causal" in wrong:
            mask = torch.ones(q.shape[1], k.shape[1]).tril().bool()
        output = weights_of(q, k, mask, wrong) @ v
        return x + output if "plus_x" in wrong else output

    return cross_attention


def _mapped(x, weight, wrong: Wrong):
    return x @ (weight if "layout" in wrong else weight.T)


_SOURCES = {
    "self_attention": Text(
        "The memory is never read: queries, keys and values all come from x. That is "
        "self-attention.",
        "memory를 전혀 읽지 않습니다. query, key, value가 모두 x에서 나옵니다. 그것은 "
        "self-attention입니다.",
    ),
    "keys_from_x": Text(
        "The keys come from x, the values from the memory: a token is found by what another one "
        "holds. Keys and values belong together, one pair for each token of the memory.",
        "key는 x에서, value는 memory에서 가져옵니다. 엉뚱한 token의 내용으로 찾는 셈입니다. key와 "
        "value는 memory의 token마다 한 쌍입니다.",
    ),
    "values_from_x": Text(
        "The values come from x: the memory is searched, but nothing is fetched from it.",
        "value를 x에서 가져옵니다. memory를 뒤지기만 하고 아무것도 꺼내 오지 않습니다.",
    ),
    "queries_from_memory": Text(
        "The queries come from the memory too, so the memory reads itself, and x is not used.",
        "query까지 memory에서 나옵니다. memory가 자기 자신을 읽고, x는 쓰이지 않습니다.",
    ),
    "roles_swapped": Text(
        "x and memory have changed roles: the memory asks, and x is read. The result has a row "
        "for each token of the memory.",
        "x와 memory의 역할이 바뀌었습니다. memory가 묻고 x를 읽습니다. 결과의 행이 memory의 "
        "token에 해당합니다.",
    ),
    "reads_itself": Text(
        "Keys and values come from memory and x put together. That is what a decoder with a "
        "prefix does; cross-attention reads the memory alone.",
        "memory와 x를 이어 붙인 것에서 key와 value를 만들었습니다. prefix를 둔 decoder가 그렇게 "
        "합니다. cross-attention은 memory만 읽습니다.",
    ),
    "weights_swapped": Text(
        "w_k and w_v have changed places: what should be found is fetched.",
        "w_k와 w_v가 바뀌었습니다. 찾는 데 쓸 것을 가져오고 있습니다.",
    ),
    "layout": Text(
        "The weights are not transposed. In the PyTorch layout (out, in) it is x @ w.T; a square "
        "weight hides the mistake.",
        "weight를 전치하지 않았습니다. PyTorch의 (out, in) 배치에서는 x @ w.T입니다. 정사각형 "
        "weight라면 오류 없이 틀린 값이 나옵니다.",
    ),
}
_AFTER = {
    "causal": Text(
        "A causal mask stands between x and memory. They are two sequences: no position of one "
        "comes before a position of the other.",
        "x와 memory 사이에 causal mask를 두었습니다. 서로 다른 두 시퀀스이므로 한쪽의 위치가 다른 "
        "쪽의 위치보다 앞선다고 할 수 없습니다.",
    ),
    "plus_x": Text(
        "x is added to the result. That residual add belongs to the block.",
        "결과에 x를 더했습니다. residual add는 block이 할 일입니다.",
    ),
}
_CROSS = ("no_scale", "scale_d", "over_queries", "hard_max", "uniform")
cross_attention = Misconceptions(
    _cross_attention,
    {**_SOURCES, **_AFTER, **{flag: WORDS[flag] for flag in _CROSS}},
    apart=(
        frozenset(_SOURCES),
        frozenset(_AFTER),
        frozenset(_CROSS),
        frozenset({*_AFTER, "hard_max"}),
    ),
)
