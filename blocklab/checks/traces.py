"""What an answer may leave behind on the tensors of whoever called it: nothing."""

from blocklab.probe import Outcome
from blocklab.text import Text

NO_TRACE = Text(
    "It leaves no trace on the caller's tensors: neither requires_grad nor a gradient.",
    "호출한 쪽의 tensor에 requires_grad나 gradient 같은 흔적을 남기지 않는다.",
)


def leaves_no_mark(got: list[Outcome], want: list[Outcome]) -> Text | None:
    """A judge for a property: no input requires a gradient, or holds one, after the call."""
    if not any(outcome.marked for outcome in got):
        return None
    return Text(
        "It leaves requires_grad or a gradient on the caller's tensor: the next .backward() adds "
        "to it, and the next answer is wrong. Work on x.detach().clone().",
        "호출한 쪽의 tensor에 requires_grad나 gradient가 남습니다. 다음번 .backward()가 거기에 "
        "더해져서 다음 답이 틀립니다. x.detach().clone()으로 계산하세요.",
    )
