"""Wrong turns in the numbers of heads."""

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.reference import attention as reference
from blocklab.text import Text

# by flag, what stands in which of the six places
_COUNTS = {
    "no_gqa": {5: "32"},
    "gpt_shares": {2: "4"},
    "one_kv_head": {5: "4"},
    "whole_width": {3: "768", 6: "4096"},
    "same_d_head": {6: "64"},
    "swapped": {4: "8", 5: "32"},
    "llama_first": {1: "32", 2: "8", 3: "128", 4: "12", 5: "12", 6: "64"},
    "depth": {2: "64", 3: "12"},
}


def _head_counts(wrong: Wrong) -> str:
    words = reference.head_counts.split()
    for flag in wrong:
        for place, count in _COUNTS[flag].items():
            words[place - 1] = count
    return " ".join(words)


head_counts = Misconceptions(
    _head_counts,
    {
        "no_gqa": Text(
            "Llama-3 8B has 32 query heads but not 32 KV heads: four query heads share one.",
            "Llama-3 8B의 query head는 32개지만 KV head는 32개가 아닙니다. query head 넷이 하나를 "
            "함께 씁니다.",
        ),
        "gpt_shares": Text(
            "GPT-2 has no GQA: every query head has a KV head of its own.",
            "GPT-2는 GQA를 쓰지 않습니다. query head마다 자기 KV head가 있습니다.",
        ),
        "one_kv_head": Text(
            "4 is how many query heads share a KV head in Llama-3 8B; asked for is how many KV "
            "heads there are.",
            "4는 Llama-3 8B에서 KV head 하나를 함께 쓰는 query head의 수입니다. 물은 것은 KV "
            "head의 수입니다.",
        ),
        "whole_width": Text(
            "d_model stands where d_head belongs. The heads divide the width between them.",
            "d_head 자리에 d_model이 있습니다. head들은 폭을 나누어 가집니다.",
        ),
        "same_d_head": Text(
            "A head of Llama-3 8B is not 64 wide: 4096 divided by 32 is more.",
            "Llama-3 8B의 head는 폭이 64가 아닙니다. 4096을 32로 나누면 그보다 큽니다.",
        ),
        "swapped": Text(
            "Query heads and KV heads are exchanged: there are fewer KV heads.",
            "query head와 KV head가 바뀌었습니다. 더 적은 쪽이 KV head입니다.",
        ),
        "llama_first": Text(
            "The numbers are right, but the first three places belong to GPT-2 small.",
            "수는 맞지만, 앞의 세 칸이 GPT-2 small의 자리입니다.",
        ),
        "depth": Text(
            "In GPT-2 small the number of KV heads and the width of a head are exchanged.",
            "GPT-2 small에서 KV head 수와 head의 폭이 바뀌었습니다.",
        ),
    },
    apart=(
        frozenset({"no_gqa", "one_kv_head", "swapped", "llama_first"}),
        frozenset({"whole_width", "same_d_head", "llama_first", "depth"}),
        frozenset({"gpt_shares", "depth", "llama_first"}),
    ),
)
