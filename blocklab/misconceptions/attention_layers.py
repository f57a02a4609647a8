"""Wrong turns in a whole attention layer, with a KV head for each head or with shared ones."""

from collections.abc import Collection

from torch import nn

from blocklab.misconceptions.attention_heads import (
    STRIDED,
    VIEW_MERGE,
    VIEW_SPLIT,
    merge,
    split,
)
from blocklab.misconceptions.attention_scores import WORDS, weights_of
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


class Layer(nn.Module):
    """A grouped-query attention layer with wrong turns; n_kv_heads = n_heads is multi-head."""

    def __init__(self, d_model, n_heads, n_kv_heads, bias, wrong: Wrong) -> None:
        super().__init__()
        self.wrong, self.n_heads, self.n_kv_heads = wrong, n_heads, n_kv_heads
        d_kv = n_kv_heads * (d_model // n_heads)
        self.q_proj = nn.Linear(d_model, d_model, bias)
        self.k_proj = nn.Linear(d_model, d_kv, bias)
        self.v_proj = nn.Linear(d_model, d_kv, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None, rotate=None):
        q, k, v = self.heads(x, rotate)
        k, v = shared((k, v), self.n_heads // self.n_kv_heads, self.wrong)
        if "scale_model" in self.wrong:
            q = q * (q.shape[-1] / x.shape[-1]) ** 0.5
        output = merge(weights_of(q, k, mask, self.wrong) @ v, self.wrong)
        if "no_out_proj" not in self.wrong:
            output = self.out_proj(output)
        return x + output if "plus_x" in self.wrong else output

    def heads(self, x, rotate):
        """Queries, keys and values, split and rotated."""
        wrong = self.wrong
        q, k, v = self.projected(x)
        one = "one_head" in wrong
        q = split(q, 1 if one else self.n_heads, wrong)
        k = split(k, 1 if one else self.n_kv_heads, wrong)
        v = split(v, 1 if one else self.n_kv_heads, wrong)
        if rotate is None or "rotate_ignored" in wrong:
            return q, k, v
        q, k = rotate(q), k if "rotate_queries" in wrong else rotate(k)
        return q, k, rotate(v) if "rotate_values" in wrong else v

    def projected(self, x):
        wrong = self.wrong
        q, k = self.q_proj(x), self.k_proj(x)
        if "roles_swapped" in wrong:
            q, k = k, q
        if "queries_as_keys" in wrong:
            k = q
        if "no_projections" in wrong:
            return x, x, x
        return q, k, k if "keys_as_values" in wrong else self.v_proj(x)


def shared(pair, group: int, wrong: Wrong):
    """Keys and values with a head for every query head, copied in the wrong order or number."""
    k, v = pair
    if "averaged_kv" in wrong:
        k, v = k.mean(1, keepdim=True), v.mean(1, keepdim=True)
    if "first_kv" in wrong:
        k, v = k[:, :1], v[:, :1]
    if wrong & {"averaged_kv", "first_kv"}:
        return k, v
    together, tiled = k.repeat_interleave(group, 1), k.repeat(1, group, 1, 1)
    k = tiled if wrong & {"tiled", "keys_tiled"} else together
    together, tiled = v.repeat_interleave(group, 1), v.repeat(1, group, 1, 1)
    return k, tiled if wrong & {"tiled", "values_tiled"} else together


def _multi_head(wrong: Wrong):
    class MultiHeadAttention(Layer):
        def __init__(self, d_model, n_heads, bias=False):
            super().__init__(d_model, n_heads, n_heads, bias, wrong)

    return MultiHeadAttention


def _grouped(wrong: Wrong):
    class GroupedQueryAttention(Layer):
        def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
            super().__init__(d_model, n_heads, n_kv_heads, bias, wrong)

    return GroupedQueryAttention


SCALE = {
    "scale_model": Text(
        "The scores are divided by √d_model. Each head's score is a sum over its own d_head "
        "components, so it is √d_head. With one head the two are equal, which hides the mistake.",
        "score를 √d_model로 나누었습니다. head 하나의 score는 자기 성분 d_head개에 대한 합이므로 "
        "√d_head로 나눕니다. head가 하나면 둘이 같아서 드러나지 않습니다.",
    ),
    **{flag: WORDS[flag] for flag in ("no_scale", "scale_d", "over_queries", "over_heads")},
}
_MASK = ("mask_ignored", "after_softmax", "zero_scores", "inverted")
_CAUSAL = ("always_causal", "causal_instead")
MASK = {flag: WORDS[flag] for flag in (*_MASK, *_CAUSAL)}
NO_OUT_PROJ = Text(
    "out_proj is not used. The heads then stand side by side and cannot combine what they found.",
    "out_proj를 쓰지 않았습니다. head들이 나란히 놓일 뿐, 찾은 것을 서로 섞지 못합니다.",
)
KEYS_AS_VALUES = Text(
    "The values come from k_proj. What a token is found by and what it gives are two things: use "
    "v_proj.",
    "value가 k_proj에서 나옵니다. token을 찾는 데 쓰는 것과 token이 내주는 것은 다릅니다. "
    "v_proj를 쓰세요.",
)
PROJECTIONS = {
    "no_out_proj": NO_OUT_PROJ,
    "queries_as_keys": Text(
        "The keys come from q_proj. Then every token looks for what it is itself; use k_proj.",
        "key가 q_proj에서 나옵니다. 그러면 token이 자기와 닮은 것만 찾게 됩니다. k_proj를 쓰세요.",
    ),
    "keys_as_values": KEYS_AS_VALUES,
    "one_head": Text(
        "There is one head as wide as the model: n_heads is not used, and every token has a "
        "single set of weights.",
        "d_model 전체를 쓰는 head 하나뿐입니다. n_heads를 쓰지 않아서 token마다 weight가 한 "
        "벌밖에 없습니다.",
    ),
}
MULTI_HEAD = {
    "roles_swapped": Text(
        "q_proj makes the keys, and k_proj the queries. The scores come out transposed.",
        "q_proj로 key를, k_proj로 query를 만들었습니다. score가 전치되어 나옵니다.",
    ),
    "no_projections": Text(
        "Queries, keys and values are x itself: q_proj, k_proj and v_proj are not used.",
        "query, key, value가 모두 x 자체입니다. q_proj, k_proj, v_proj를 쓰지 않았습니다.",
    ),
}
SPLIT = {"view_split": VIEW_SPLIT, "strided": STRIDED}
MERGE = {"view_merge": VIEW_MERGE}
ROTATE = {
    "rotate_ignored": Text(
        "rotate is not used: positions do not enter the scores.",
        "rotate를 쓰지 않았습니다. 위치가 score에 들어가지 않습니다.",
    ),
    "rotate_values": Text(
        "rotate goes over the values too. It is there to make scores depend on the distance; what "
        "is fetched stays as it is.",
        "rotate를 value에도 적용했습니다. rotate는 score가 거리에 따라 달라지게 하는 것이고, "
        "가져올 내용은 그대로 둡니다.",
    ),
    "rotate_queries": Text(
        "rotate goes over the queries alone. A score depends on the distance only if both sides "
        "are turned.",
        "rotate를 query에만 적용했습니다. 양쪽을 모두 돌려야 score가 거리에 따라 달라집니다.",
    ),
}
EXTRA = {
    "plus_x": Text(
        "x is added to the result. The residual add belongs to the block; the layer gives only "
        "its update.",
        "결과에 x를 더했습니다. residual add는 block이 할 일이고, layer는 update만 돌려줍니다.",
    ),
    "detached": WORDS["detached"],
}
ALONE = {*MASK, *ROTATE, *EXTRA}


def _apart(alone: set[str], *groups: Collection[str]) -> list[frozenset[str]]:
    """Groups of which one flag at a time makes sense, and flags that go with no other at all."""
    return [frozenset(alone.union(group)) for group in groups]


MultiHeadAttention = Misconceptions(
    _multi_head,
    {**SCALE, **PROJECTIONS, **MULTI_HEAD, **SPLIT, **MERGE, **MASK, **ROTATE, **EXTRA},
    apart=[
        *_apart(ALONE, SCALE, {**PROJECTIONS, **MULTI_HEAD}, SPLIT, MERGE),
        frozenset({"one_head", *SPLIT}),
        frozenset({"one_head", *MERGE}),
        frozenset({"one_head", "scale_model"}),
    ],
)
SHARING = {
    "tiled": Text(
        "The KV heads are tiled: 0, 1, 0, 1 (repeat). Consecutive query heads share one: 0, 0, 1, "
        "1 (repeat_interleave). Trained weights count on it.",
        "KV head를 0, 1, 0, 1 순서로 늘어놓았습니다(repeat). 이웃한 query head가 하나를 함께 "
        "씁니다: 0, 0, 1, 1 (repeat_interleave). 학습된 weight는 이 순서를 전제로 합니다.",
    ),
    "first_kv": Text(
        "All query heads read the first KV head. Each group has its own.",
        "모든 query head가 첫 KV head를 읽습니다. group마다 자기 KV head가 있습니다.",
    ),
}
_GROUPS = {
    **SHARING,
    "keys_tiled": Text(
        "The values are shared as they should be, but the keys are tiled: 0, 1, 0, 1.",
        "value는 제대로 나누어 썼지만 key는 0, 1, 0, 1 순서로 늘어놓았습니다.",
    ),
    "values_tiled": Text(
        "The keys are shared as they should be, but the values are tiled: 0, 1, 0, 1.",
        "key는 제대로 나누어 썼지만 value는 0, 1, 0, 1 순서로 늘어놓았습니다.",
    ),
    "averaged_kv": Text(
        "The KV heads are averaged, and all query heads read the mean. (Checkpoints are converted "
        "to GQA that way, but once, and within a group.)",
        "KV head들의 평균을 모든 query head가 읽습니다. (checkpoint를 GQA로 바꿀 때 평균을 "
        "쓰지만, 한 번만, 그것도 group 안에서 합니다.)",
    ),
}
GroupedQueryAttention = Misconceptions(
    _grouped,
    {**_GROUPS, **SCALE, **PROJECTIONS, **SPLIT, **MERGE, **MASK, **ROTATE, **EXTRA},
    apart=[
        *_apart(ALONE | _GROUPS.keys() - SHARING.keys(), SCALE, PROJECTIONS, SPLIT, MERGE, SHARING),
        frozenset({"one_head", *SPLIT}),
        frozenset({"one_head", *SHARING}),
        frozenset({"one_head", *MERGE}),
    ],
)
