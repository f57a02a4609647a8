"""How many heads two models have."""

from blocklab.checks.property import Draw, Property
from blocklab.probe import Read
from blocklab.text import Text


def head_counts(draw: Draw) -> list[Property]:
    says = Text(
        "Six numbers: query heads, KV heads and d_head, first of GPT-2 small, then of Llama-3 8B.",
        "수 여섯 개: query head 수, KV head 수, d_head. 먼저 GPT-2 small, 다음은 Llama-3 8B.",
    )
    return [Property("counts", says, [Read()])]
