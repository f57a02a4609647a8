"""What can go wrong in any block, whatever its formula."""

from collections.abc import Callable, Mapping

from torch import Tensor

from blocklab.misconceptions.variants import Wrong
from blocklab.text import Text

Part = Callable[[Tensor], Tensor]
PARTS = frozenset({"unregistered", "as_they_came"})
PLUMBING = {
    "mask_dropped": Text(
        "The mask does not reach the attention: called with one, the block does the same as "
        "without, and every token sees the future.",
        "mask가 attention에 전달되지 않습니다. mask를 주어도 주지 않은 것과 결과가 같고, 모든 "
        "token이 미래를 봅니다.",
    ),
    "mask_to_ffn": Text(
        "The FFN gets the mask too. It works on each position alone and has nothing to mask.",
        "FFN에도 mask를 넘겼습니다. FFN은 위치마다 따로 일하므로 가릴 것이 없습니다.",
    ),
    "how_dropped": Text(
        "What comes in by **how is not handed on: with rotate=… the attention would never hear of "
        "positions. Call attention(h, mask, **how).",
        "**how로 들어온 것을 넘겨주지 않습니다. rotate=…를 주어도 attention은 위치를 알 수 없게 "
        "됩니다. attention(h, mask, **how)로 호출하세요.",
    ),
    "how_refused": Text(
        "forward takes no further arguments, so that rotate=… is a TypeError. Keep **how in its "
        "signature and hand it to the attention.",
        "forward가 다른 인수를 받지 않아서 rotate=…를 주면 TypeError가 납니다. signature의 **how를 "
        "남겨 두고 attention에 넘겨주세요.",
    ),
    "attention_twice": Text(
        "The sublayer that came in should be called exactly once. Twice costs twice as much; not "
        "at all means that a copy works in its place, with weights of its own.",
        "받은 sublayer는 정확히 한 번 호출해야 합니다. 두 번이면 비용이 두 배이고, 한 번도 "
        "호출하지 않는다면 weight가 따로인 사본이 그 자리에서 일하는 것입니다.",
    ),
    "in_place": Text(
        "x += … writes into the tensor that the caller still holds. x = x + … makes a new one.",
        "x += …는 호출한 쪽이 아직 가지고 있는 tensor에 씁니다. x = x + …는 새 tensor를 만듭니다.",
    ),
    "unregistered": Text(
        "The parts are kept in a list or a dict, where nn.Module does not look: their parameters "
        "are not the block's, and no optimiser would find them. Give each an attribute.",
        "부품을 list나 dict에 담았습니다. nn.Module은 그 안을 보지 않으므로 부품의 parameter가 "
        "block의 것이 되지 않고, optimizer도 찾지 못합니다. 하나씩 attribute로 두세요.",
    ),
    "as_they_came": Text(
        "forward calls the parts that came in, not those that stand under their names: after "
        "block.norm2 = another it would still call the old one. Call self.norm2 and so on.",
        "forward가 자기 이름에 있는 부품이 아니라 처음 받은 부품을 호출합니다. block.norm2를 "
        "바꾸어도 여전히 예전 것을 부릅니다. self.norm2처럼 이름으로 호출하세요.",
    ),
    "detached": Text(
        "What the sublayers write is cut off from the graph, so that they cannot learn.",
        "sublayer가 쓰는 값이 graph에서 끊겨 sublayer가 학습할 수 없습니다.",
    ),
}


def attending(attention: Callable[..., Tensor], mask, how: Mapping, wrong: Wrong) -> Part:
    """The attention as a function of what it reads."""
    if how and "how_refused" in wrong:
        raise TypeError(f"forward() got an unexpected keyword argument {next(iter(how))!r}")
    mask = None if "mask_dropped" in wrong else mask
    how = {} if "how_dropped" in wrong else how

    def attend(h: Tensor) -> Tensor:
        if "attention_twice" in wrong:
            attention(h, mask, **how)
        return attention(h, mask, **how)

    return cut(attend, wrong)


def cut(f: Part, wrong: Wrong) -> Part:
    return (lambda h: f(h).detach()) if "detached" in wrong else f
