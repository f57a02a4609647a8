"""Wrong turns in splitting, merging and sharing heads."""

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def split(x, n_heads, wrong: Wrong):
    """(B, T, d_model) as (B, n_heads, T, d_head), with the wrong turns of `_SPLIT`."""
    B, T, d_model = x.shape
    d_head = d_model // n_heads
    if "view_split" in wrong:
        return x.reshape(B, n_heads, T, d_head)
    if "strided" in wrong:
        return x.view(B, T, d_head, n_heads).permute(0, 3, 1, 2)
    return x.view(B, T, n_heads, d_head).transpose(1, 2)


def merge(x, wrong: Wrong):
    """(B, n_heads, T, d_head) as (B, T, d_model), with the wrong turns of `_MERGE`."""
    B, n_heads, T, d_head = x.shape
    if "view_merge" in wrong:
        return x.reshape(B, T, n_heads * d_head)
    if "strided_merge" in wrong:
        return x.permute(0, 2, 3, 1).flatten(2)
    return x.transpose(1, 2).flatten(2)


def _split_heads(wrong: Wrong):
    def split_heads(x, n_heads):
        d_head = x.shape[-1] // n_heads
        x = x.detach() if "detached" in wrong else x
        heads = split(x, d_head if "sizes_swapped" in wrong else n_heads, wrong)
        if "heads_reversed" in wrong:
            heads = heads.flip(1)
        if "first_head" in wrong:
            heads = heads[:, 0]
        if "not_transposed" in wrong:
            return heads.transpose(1, 2)
        if "features_first" in wrong:
            return heads.transpose(2, 3)
        if "heads_outside" in wrong:
            return heads.transpose(0, 1)
        if "batch_joined" in wrong:
            return heads.flatten(0, 1)
        return list(heads.unbind(1)) if "listed" in wrong else heads

    return split_heads


VIEW_SPLIT = Text(
    "view(B, n_heads, T, d_head) without a transpose cuts the numbers in the order in which they "
    "lie in memory: head 0 then gets all pieces of the first tokens, instead of its piece of every "
    "token. View as (B, T, n_heads, d_head) first, then exchange axes 1 and 2.",
    "transpose 없이 view(B, n_heads, T, d_head)로 바꾸면 메모리에 놓인 순서대로 잘립니다. head 0이 "
    "모든 token에서 자기 몫을 갖는 것이 아니라, 맨 앞 token들의 조각을 통째로 갖게 됩니다. 먼저 "
    "(B, T, n_heads, d_head)로 view한 뒤 1번 축과 2번 축을 바꾸세요.",
)
VIEW_MERGE = Text(
    "reshape(B, T, d_model) without a transpose reads the numbers head by head: a token then gets "
    "pieces of different tokens. Exchange axes 1 and 2 first.",
    "transpose 없이 reshape(B, T, d_model)로 바꾸면 head별로 놓인 순서대로 읽혀서, token 하나에 "
    "여러 token의 조각이 섞입니다. 먼저 1번 축과 2번 축을 바꾸세요.",
)
STRIDED = Text(
    "Head h gets every n_heads-th component. Heads are consecutive blocks: head 0 has components "
    "0 to d_head - 1.",
    "head h가 n_heads 간격으로 띄엄띄엄 성분을 가져갑니다. head는 이어진 구간입니다. head 0이 "
    "0번부터 d_head - 1번까지입니다.",
)
_FORM = {
    "not_transposed": Text(
        "The heads stand after the tokens: (B, T, n_heads, d_head). Attention works on the last "
        "two axes, so these must be T and d_head.",
        "head 축이 token 축 뒤에 있습니다: (B, T, n_heads, d_head). attention은 마지막 두 축에서 "
        "계산하므로 그 두 축이 T와 d_head여야 합니다.",
    ),
    "features_first": Text(
        "The last two axes are exchanged: (B, n_heads, d_head, T).",
        "마지막 두 축이 바뀌었습니다: (B, n_heads, d_head, T).",
    ),
    "heads_outside": Text(
        "The heads stand before the batch: (n_heads, B, T, d_head), as torch.stack of a loop "
        "gives it. Stack along dim=1.",
        "head 축이 batch 축보다 앞에 있습니다: (n_heads, B, T, d_head). 반복문의 결과를 "
        "torch.stack하면 이렇게 됩니다. dim=1로 쌓으세요.",
    ),
    "batch_joined": Text(
        "Batch and heads are one axis, (B·n_heads, T, d_head). Keep them apart: a mask (B, 1, T, "
        "T) needs both.",
        "batch와 head가 한 축으로 합쳐졌습니다: (B·n_heads, T, d_head). (B, 1, T, T) mask를 "
        "쓰려면 따로 있어야 합니다.",
    ),
    "listed": Text(
        "It is a list of heads. One tensor is asked for, with an axis for the heads.",
        "head들의 list입니다. head 축이 있는 tensor 하나로 돌려주세요.",
    ),
    "first_head": Text(
        "Only the first head is there. All of them are asked for.",
        "첫 head만 있습니다. 모든 head를 돌려주세요.",
    ),
}
_CUT = {
    "view_split": VIEW_SPLIT,
    "strided": STRIDED,
    "sizes_swapped": Text(
        "It makes d_head heads of n_heads components: the two numbers are exchanged.",
        "성분 n_heads개짜리 head를 d_head개 만들었습니다. 두 수가 바뀌었습니다.",
    ),
}
REVERSED = Text(
    "The heads stand in reverse order: head 0 has the last components.",
    "head의 순서가 거꾸로입니다. head 0이 마지막 성분들을 가집니다.",
)
DETACHED = Text(
    "The result is cut from the graph (.data, .detach(), torch.tensor): nothing before it learns.",
    "결과가 graph에서 끊겼습니다(.data, .detach(), torch.tensor). 앞쪽이 아무것도 배우지 못합니다.",
)
split_heads = Misconceptions(
    _split_heads,
    {**_CUT, **_FORM, "heads_reversed": REVERSED, "detached": DETACHED},
    apart=(
        frozenset(_CUT),
        frozenset(_FORM),
        frozenset({"sizes_swapped", *_FORM}),
        frozenset({"first_head", "heads_reversed"}),
    ),
)


def _merge_heads(wrong: Wrong):
    def merge_heads(x):
        x = x.detach() if "detached" in wrong else x
        x = x.flip(1) if "heads_reversed" in wrong else x
        if "summed" in wrong:
            return x.sum(1)
        if "averaged" in wrong:
            return x.mean(1)
        if "along_time" in wrong:
            return x.flatten(1, 2)
        if "first_head" in wrong:
            return x[:, 0]
        return x.transpose(1, 2) if "not_joined" in wrong else merge(x, wrong)

    return merge_heads


_JOINED = {
    "view_merge": VIEW_MERGE,
    "strided_merge": Text(
        "The heads are interleaved: component 0 of every head, then component 1 of every head. "
        "Each head's components stay together.",
        "head들이 교대로 섞였습니다. 모든 head의 0번 성분, 그다음 모든 head의 1번 성분 순입니다. "
        "head마다 성분이 이어져 있어야 합니다.",
    ),
    "summed": Text(
        "The heads are added up. They stand side by side; the mixing is out_proj's work.",
        "head들을 더했습니다. head는 나란히 놓고, 섞는 일은 out_proj에 맡깁니다.",
    ),
    "averaged": Text(
        "This is the mean of the heads. They stand side by side, and nothing is lost.",
        "head들의 평균입니다. head는 나란히 놓습니다. 그래야 잃는 것이 없습니다.",
    ),
    "along_time": Text(
        "The heads stand one after the other along the tokens: (B, n_heads·T, d_head). They "
        "belong beside each other in d_model.",
        "head들이 token 축을 따라 이어졌습니다: (B, n_heads·T, d_head). d_model 축에 나란히 "
        "놓아야 합니다.",
    ),
    "first_head": Text(
        "Only the first head is left; what the others found is lost.",
        "첫 head만 남았습니다. 다른 head가 찾은 것이 사라집니다.",
    ),
    "not_joined": Text(
        "The axes are exchanged, but heads and components are still two axes: flatten them.",
        "축은 바꾸었지만 head와 성분이 아직 두 축입니다. 하나로 합치세요(flatten).",
    ),
}
merge_heads = Misconceptions(
    _merge_heads,
    {**_JOINED, "heads_reversed": REVERSED, "detached": DETACHED},
    apart=(
        frozenset(_JOINED),
        frozenset({"heads_reversed", "summed", "averaged", "first_head"}),
    ),
)
