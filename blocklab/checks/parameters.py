"""Which parameters a module has: those that were asked for, and no others."""

from collections.abc import Mapping

from blocklab.plain import Module
from blocklab.probe import Outcome
from blocklab.text import Text, both


def only_these(got: list[Outcome], want: list[Outcome]) -> Text | None:
    """A judge: every module that a call returned has the reference's parameters, shape by shape."""
    pairs = [(g.value, w.value) for g, w in zip(got, want, strict=True)]
    modules = [(g, w) for g, w in pairs if isinstance(g, Module) and isinstance(w, Module)]
    complaints = (_complaint(g.parameters, w.parameters) for g, w in modules)
    return next(filter(None, complaints), None)


Shapes = Mapping[str, tuple[int, ...]]


def _complaint(got: Shapes, want: Shapes) -> Text | None:
    more, less = got.keys() - want.keys(), want.keys() - got.keys()
    if more:
        note = BIAS if all(name.endswith("bias") for name in more) else both("")
        return Text(
            "It also has {names}, which nobody asked for.{note}",
            "요구하지 않은 {names}도 있습니다.{note}",
        ).fill(names=_named(more), note=note)
    if less:
        return Text(
            "It has no parameter named {names}. A layer must be an attribute of the module: one "
            "in a plain list or dict, or one shared with another name, is not found.",
            "{names}(이)라는 parameter가 없습니다. layer는 module의 속성이어야 합니다. 보통 list나 "
            "dict에 넣었거나 다른 이름과 공유하는 layer는 찾지 못합니다.",
        ).fill(names=_named(less))
    wrong = [name for name in want if got[name] != want[name]]
    if not wrong:
        return None
    return Text(
        "{name} has shape {got}; asked for: {want}.",
        "{name}의 shape이 {got}입니다. 요구한 것은 {want}입니다.",
    ).fill(name=wrong[0], got=got[wrong[0]], want=want[wrong[0]])


BIAS = Text(
    " nn.Linear makes a bias unless it is told bias=False.",
    " nn.Linear는 bias=False라고 하지 않으면 bias를 만듭니다.",
)


def _named(names: set[str]) -> str:
    return ", ".join(sorted(names))
