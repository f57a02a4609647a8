"""Wrong turns in decoding with a KV cache, and in counting its bytes."""

import torch

from blocklab.misconceptions.attention_heads import merge, split
from blocklab.misconceptions.attention_layers import (
    KEYS_AS_VALUES,
    NO_OUT_PROJ,
    SCALE,
    SHARING,
    shared,
)
from blocklab.misconceptions.attention_scores import weights_of
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _decode_step(wrong: Wrong):
    def decode_step(layer, x_t, cache=None):
        q = split(layer.q_proj(x_t), layer.n_heads, wrong)
        k, v = _new_pair(layer, x_t, wrong)
        if cache is not None and "on_layer" in wrong:
            cache = layer.pair
        past = None if cache is None or "no_cache" in wrong else _stored(cache, wrong)
        keys, values = (k, v) if past is None else _joined(past, (k, v), wrong)
        group = 1 if "copies_cached" in wrong else layer.n_heads // layer.n_kv_heads
        read = _read(past, (k, v), (keys, values), wrong)
        heads = _attend(q, shared(read, group, wrong), x_t.shape[-1], wrong)
        output = merge(heads, wrong)
        if "no_out_proj" not in wrong:
            output = layer.out_proj(output)
        kept = layer.pair = _kept(cache, (k, v), (keys, values), wrong)
        return _returned(output, kept, wrong)

    return decode_step


def _new_pair(layer, x_t, wrong: Wrong):
    """Keys and values of the new tokens."""
    k = split(layer.k_proj(x_t), layer.n_kv_heads, wrong)
    if "keys_as_values" in wrong:
        return k, k
    v = split(layer.v_proj(x_t), layer.n_kv_heads, wrong)
    if "copies_cached" in wrong:
        return shared((k, v), layer.n_heads // layer.n_kv_heads, wrong)
    return k, v


def _stored(cache, wrong: Wrong):
    """The cache as (B, heads, t, d_head), from the layout in which it is wrongly kept."""
    if "tokens_first" in wrong:
        return cache[0].transpose(1, 2), cache[1].transpose(1, 2)
    return cache[::-1] if "values_first" in wrong else cache


def _joined(past, new, wrong: Wrong):
    """Old and new keys, old and new values."""

    def join(old, x):
        if "buffer" in wrong:
            return _written(old, x)
        pair = (x, old) if "in_front" in wrong else (old, x)
        return torch.cat(pair, dim=2)

    return join(past[0], new[0]), join(past[1], new[1])


def _written(old, new):
    """The new tokens behind the old ones, in the buffer that the old ones are a part of."""
    base = old._base
    t, T = old.shape[2], new.shape[2]
    base[:, :, t : t + T] = new
    return base[:, :, : t + T]


def _read(past, new, joined, wrong: Wrong):
    """The keys and values that the new tokens attend to."""
    if past is None:
        return joined
    return past if "without_itself" in wrong else new if "past_unread" in wrong else joined


def _attend(q, pair, d_model, wrong: Wrong):
    k, v = pair
    T, S = q.shape[2], k.shape[2]
    mask = torch.ones(T, S).tril(0 if "top_left" in wrong else S - T).bool()
    if "no_mask" in wrong or ("start_open" if S == T else "later_open") in wrong:
        mask = None
    if "scale_model" in wrong:
        q = q * (q.shape[-1] / d_model) ** 0.5
    return weights_of(q, k, mask, wrong) @ v


def _kept(cache, new, joined, wrong: Wrong):
    """What is returned as the cache."""
    keys, values = joined
    if "not_grown" in wrong and cache is not None:
        return cache
    if "only_new" in wrong:
        keys, values = new
    if "tokens_first" in wrong:
        keys, values = keys.transpose(1, 2), values.transpose(1, 2)
    if "buffer" in wrong and cache is None:
        return tuple(_roomy(x) for x in (keys, values))
    if "into_cache" in wrong:
        if cache is None:
            return [keys, values]
        cache[:] = keys, values
        return cache
    return (values, keys) if "values_first" in wrong else (keys, values)


def _roomy(x):
    """x as the front part of a buffer with room for more tokens."""
    buffer = x.new_zeros(*x.shape[:2], 64, x.shape[3])
    buffer[:, :, : x.shape[2]] = x
    return buffer[:, :, : x.shape[2]]


def _returned(output, kept, wrong: Wrong):
    if "last_only" in wrong:
        output = output[:, -1:]
    if "no_cache_returned" in wrong:
        return output
    return (kept, output) if "cache_first" in wrong else (output, kept)


_CACHE = {
    "no_cache": Text(
        "The cache is not used: the new tokens see one another only, and what is returned holds "
        "nothing of the past.",
        "cache를 쓰지 않았습니다. 새 token들이 자기들끼리만 보고, 돌려주는 cache에도 과거가 "
        "없습니다.",
    ),
    "past_unread": Text(
        "The cache grows as it should, but the new tokens attend to one another only. Attend to "
        "the joined keys and values.",
        "cache는 제대로 늘어나지만 새 token들은 자기들끼리만 봅니다. 이어 붙인 key와 value에 "
        "attention을 하세요.",
    ),
    "without_itself": Text(
        "The new tokens attend to the cache as it came in, without themselves. Join first, then "
        "attend: the diagonal is allowed.",
        "새 token이 받은 cache만 보고 자기 자신은 보지 못합니다. 먼저 이어 붙이고 나서 "
        "attention을 하세요. 대각선은 허용됩니다.",
    ),
    "not_grown": Text(
        "The cache that came in is returned: the next step does not know of this token.",
        "받은 cache를 그대로 돌려주었습니다. 다음 step은 이번 token을 알지 못합니다.",
    ),
    "only_new": Text(
        "The cache that is returned holds the new tokens only: the next step has lost the past.",
        "돌려준 cache에 새 token만 있습니다. 다음 step은 과거를 잃습니다.",
    ),
    "in_front": Text(
        "The new tokens are put before the old ones. For one new token the output does not show "
        "it (attention does not know the order of keys), but masks and positions rely on it.",
        "새 token을 옛 token 앞에 붙였습니다. 새 token이 하나면 출력에는 드러나지 "
        "않지만(attention은 key의 순서를 모릅니다), mask와 위치는 순서를 믿고 계산됩니다.",
    ),
    "into_cache": Text(
        "The cache that came in is changed: the list is written into. A second continuation from "
        "the same cache (beam search, a shared prompt) then starts from the wrong tokens.",
        "받은 cache를 바꿉니다. list에 직접 썼습니다. 같은 cache에서 다른 갈래로 이어 갈 때(beam "
        "search, 공유 prompt) 엉뚱한 token에서 시작하게 됩니다.",
    ),
    "buffer": Text(
        "New tokens are written into a buffer that earlier caches share. Two continuations of one "
        "cache overwrite each other; torch.cat makes a new tensor.",
        "이전 cache들과 공유하는 buffer에 새 token을 썼습니다. 같은 cache에서 나온 두 갈래가 "
        "서로를 덮어씁니다. torch.cat은 새 tensor를 만듭니다.",
    ),
    "on_layer": Text(
        "Keys and values are remembered inside the layer, and the cache that is passed in is not "
        "read. One layer serves many texts in turn: only the argument says which one goes on.",
        "key와 value를 layer 안에 기억해 두고, 받은 cache는 읽지 않습니다. layer 하나가 여러 글을 "
        "번갈아 다룹니다. 어느 글을 이어 가는지는 인자로만 알 수 있습니다.",
    ),
}
_LAYOUT = {
    "copies_cached": Text(
        "The cache holds a copy of the KV heads for every query head. It is as large as without "
        "GQA: keep n_kv_heads, and copy when attending.",
        "cache에 query head마다 KV head의 사본이 들어 있습니다. GQA를 쓰지 않은 크기와 같습니다. "
        "n_kv_heads만 보관하고, attention을 할 때 복사하세요.",
    ),
    "tokens_first": Text(
        "The cache is (B, t, n_kv_heads, d_head). Asked for: (B, n_kv_heads, t, d_head).",
        "cache가 (B, t, n_kv_heads, d_head)입니다. 요구한 것은 (B, n_kv_heads, t, d_head)입니다.",
    ),
    "values_first": Text(
        "The cache is (values, keys). Keys come first.",
        "cache가 (value, key) 순서입니다. key가 먼저입니다.",
    ),
}
_CAUSAL = {
    "no_mask": Text(
        "There is no mask. One new token may see everything, but of several each sees the others' "
        "future: a prompt read at once gives other numbers than one read token by token.",
        "mask가 없습니다. 새 token이 하나면 모두 봐도 되지만, 여럿이면 서로의 미래를 봅니다. "
        "prompt를 한 번에 읽은 값이 token을 하나씩 읽은 값과 달라집니다.",
    ),
    "start_open": Text(
        "There is no mask when there is no cache yet: the tokens of a prompt then see their own "
        "future. They are as causal as all others.",
        "cache가 아직 없을 때는 mask를 쓰지 않습니다. prompt의 token들이 서로의 미래를 봅니다. "
        "prompt도 다른 token과 똑같이 causal입니다.",
    ),
    "later_open": Text(
        "There is a mask for the first call, but none once there is a cache. For one new token "
        "that is right; several new ones must not see one another's future.",
        "첫 호출에만 mask를 쓰고 cache가 생긴 뒤에는 쓰지 않습니다. 새 token이 하나면 맞지만, "
        "여럿이면 서로의 미래를 보면 안 됩니다.",
    ),
    "top_left": Text(
        "The mask starts in the top left corner, as is_causal=True has it: with one query and "
        "five keys only key 0 is visible. Shift it by the past: causal_mask(T, past).",
        "mask가 왼쪽 위 구석에서 시작합니다(is_causal=True가 이렇게 합니다). query 하나와 key "
        "다섯이면 0번 key만 보입니다. 과거만큼 옮기세요: causal_mask(T, past).",
    ),
}
_OUTPUT = {
    "no_out_proj": NO_OUT_PROJ,
    "last_only": Text(
        "Only the last new token's output is returned. There is one for each.",
        "마지막 새 token의 출력만 돌려주었습니다. 새 token마다 출력이 있습니다.",
    ),
    "no_cache_returned": Text(
        "The cache is not returned. The next step needs it: return output, (k, v).",
        "cache를 돌려주지 않았습니다. 다음 step에 필요합니다: return output, (k, v).",
    ),
    "cache_first": Text(
        "The cache stands before the output. Asked for: (output, cache).",
        "cache가 출력보다 앞에 있습니다. (output, cache) 순서로 돌려주세요.",
    ),
}
_SHARED = {**SHARING, "keys_as_values": KEYS_AS_VALUES}
_SCALE = {flag: SCALE[flag] for flag in ("scale_model", "no_scale", "over_queries")}
_FIRST_STEP = {*_SHARED, *_SCALE, "no_out_proj"}
_LATER = {*_CACHE, *_LAYOUT, *_CAUSAL, *_OUTPUT} - _FIRST_STEP
decode_step = Misconceptions(
    _decode_step,
    {**_CACHE, **_LAYOUT, **_CAUSAL, **_OUTPUT, **_SHARED, **_SCALE},
    apart=(
        frozenset(_LATER - {"top_left"}),
        frozenset({"top_left", "without_itself", "past_unread"}),
        frozenset({"top_left", "no_mask", *_OUTPUT, *_LAYOUT}),
        frozenset({*_LATER - {"not_grown", "only_new", "no_mask"}, *_FIRST_STEP}),
        frozenset({*_SHARED, "no_out_proj"}),
        frozenset(_SCALE),
    ),
)


def _kv_cache_bytes(wrong: Wrong):
    def kv_cache_bytes(n_layers, n_kv_heads, d_head, T, batch=1, bytes_per_value=2):
        pair = 1 if "keys_only" in wrong else 3 if "queries_too" in wrong else 2
        layers = 1 if "one_layer" in wrong else n_layers
        heads = 1 if "one_head" in wrong else n_kv_heads
        tokens = 1 if "one_token" in wrong else T * T if "pairs_of_tokens" in wrong else T
        texts = 1 if "batch_ignored" in wrong else batch
        size = 2 if "always_two" in wrong else 1 if "values_counted" in wrong else bytes_per_value
        total = pair * layers * heads * d_head * tokens * texts * size
        if "bits" in wrong:
            return total * 8
        if "gigabytes" in wrong:
            return total / 1e9
        return total / 2**30 if "gibibytes" in wrong else total

    return kv_cache_bytes


_COUNT = {
    "keys_only": Text(
        "A factor of 2 is missing: keys and values are both kept.",
        "2배가 빠졌습니다. key와 value를 둘 다 보관합니다.",
    ),
    "queries_too": Text(
        "There is a factor of 3. A query is used once, by its own token, and never kept.",
        "3배를 했습니다. query는 자기 token이 한 번 쓰고 마는 것이라 보관하지 않습니다.",
    ),
}
_SIZES = {
    "one_layer": Text(
        "This is one layer's cache. Every layer keeps its own.",
        "layer 하나의 cache입니다. layer마다 따로 보관합니다.",
    ),
    "one_head": Text(
        "This is one KV head's cache. There are n_kv_heads of them.",
        "KV head 하나의 cache입니다. KV head는 n_kv_heads개입니다.",
    ),
    "one_token": Text(
        "This is the cache of one token. T of them are kept.",
        "token 하나의 cache입니다. token T개를 보관합니다.",
    ),
    "pairs_of_tokens": Text(
        "It grows as T². The scores do; keys and values are one pair for each token.",
        "T²에 비례합니다. score라면 그렇지만, key와 value는 token마다 한 쌍입니다.",
    ),
}
_OPTIONS = {
    "batch_ignored": Text(
        "batch is not used: every text has a cache of its own.",
        "batch를 쓰지 않았습니다. 글마다 자기 cache가 있습니다.",
    ),
    "always_two": Text(
        "Every value is counted as 2 bytes. Use bytes_per_value: float32 has 4, int8 has 1.",
        "모든 값을 2 byte로 셌습니다. bytes_per_value를 쓰세요. float32는 4, int8은 1입니다.",
    ),
    "values_counted": Text(
        "This is the number of values, not of bytes. Multiply by bytes_per_value.",
        "byte 수가 아니라 값의 개수입니다. bytes_per_value를 곱하세요.",
    ),
}
_UNITS = {
    "bits": Text(
        "These are bits, 8 to a byte. Bytes are asked for.",
        "bit 수입니다(8 bit가 1 byte). byte 수로 답하세요.",
    ),
    "gigabytes": Text(
        "The result is in GB (1e9 bytes). Bytes are asked for.",
        "GB(1e9 byte) 단위입니다. byte 수로 답하세요.",
    ),
    "gibibytes": Text(
        "The result is in GiB (2^30 bytes). Bytes are asked for.",
        "GiB(2^30 byte) 단위입니다. byte 수로 답하세요.",
    ),
}
kv_cache_bytes = Misconceptions(
    _kv_cache_bytes,
    {**_COUNT, **_SIZES, **_OPTIONS, **_UNITS},
    apart=(
        frozenset(_COUNT),
        frozenset({"one_token", "pairs_of_tokens"}),
        frozenset({"always_two", "values_counted"}),
        frozenset(_UNITS),
    ),
)
