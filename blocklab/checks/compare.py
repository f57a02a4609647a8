"""Comparing what an answer did with what the reference did, and saying the difference."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from blocklab.checks.places import places
from blocklab.checks.property import DEFAULT, Tolerance
from blocklab.plain import Module, Strange
from blocklab.probe import Outcome, Problem
from blocklab.text import Text, both

NOT_YET = Text(
    "Not written yet: the body still raises NotImplementedError.",
    "아직 작성되지 않았습니다. 본문이 NotImplementedError 그대로입니다.",
)


def complain(
    got: Outcome, want: Outcome, names: Sequence[str] = (), tolerance: Tolerance = DEFAULT
) -> Text | None:
    """The first difference between two outcomes, in a sentence; None where there is none.

    names: of the arguments, for sentences that speak of one.
    """
    if got.error or want.error:
        return _error(got, want)
    if got.changed:
        name = _name(str(got.changed[0]), names)
        return Text(
            "It changes its input {name}; the caller still needs the old value. "
            "(x += y writes into x; x = x + y makes a new tensor.)",
            "입력 {name}의 값을 바꿉니다. 호출한 쪽은 원래 값이 아직 필요합니다. "
            "(x += y는 x 자체에 쓰고, x = x + y는 새 tensor를 만듭니다.)",
        ).fill(name=name)
    return _difference(got, want, names, tolerance)


def _difference(
    got: Outcome, want: Outcome, names: Sequence[str], tolerance: Tolerance
) -> Text | None:
    return (
        value_complaint(got.value, want.value, tolerance)
        or _records(got, want, tolerance)
        or _gradients(got, want, names, tolerance)
    )


def same(a: Outcome, b: Outcome, tolerance: Tolerance = DEFAULT) -> bool:
    """Whether two outcomes cannot be told apart: the same error, or the same values."""
    if a.error or b.error:
        kinds = {a.error and a.error.kind, b.error and b.error.kind}
        return len(kinds) == 1 or kinds <= DELIBERATE
    if a.changed != b.changed or _flowing(a) != _flowing(b):
        return False
    return _difference(a, b, (), tolerance) is None and _records(b, a, tolerance) is None


DELIBERATE = {"ValueError", "AssertionError", "TypeError", "RuntimeError"}


def _flowing(outcome: Outcome) -> set[str]:
    """What a gradient reached."""
    return {key for key, gradient in outcome.gradients.items() if gradient is not None}


def _name(position: str, names: Sequence[str]) -> str:
    """The name of an argument; of the j-th tensor in a list, the list's name and [j]."""
    first, _, inside = position.partition(".")
    if not first.isdigit() or int(first) >= len(names):
        return position
    return names[int(first)] + (f"[{inside}]" if inside else "")


def _error(got: Outcome, want: Outcome) -> Text | None:
    if got.error is None:
        return Text(
            "This must be an error, but it returned {value}.",
            "오류를 내야 하는 호출인데 {value}을(를) 돌려주었습니다.",
        ).fill(value=kind_of(got.value))
    if got.error.kind == "NotImplementedError":
        return NOT_YET
    return None if want.error else _said(got.error)


def _said(error: Problem) -> Text:
    """What an exception means for the learner."""
    match error.kind:
        case "Missing":
            return Text(
                "An earlier call of this check failed, so there is nothing to call here.",
                "앞선 호출이 실패해서 여기서 호출할 것이 없습니다.",
            )
        case "Absent":
            return Text(
                "This check also uses your {name}, and there is none: run its cell first.",
                "이 check는 여러분의 {name}도 쓰는데, 아직 없습니다. 그 셀을 먼저 실행하세요.",
            ).fill(name=error.words)
        case "NotAModule":
            return Text(
                "It made {kind}, not an nn.Module.",
                "nn.Module이 아니라 {kind}을(를) 만들었습니다.",
            ).fill(kind=error.words)
        case "NoParameter":
            return Text(
                "The module has no parameter named {name} (it has: {own}). "
                "Is it an nn.Parameter with that name?",
                "module에 {name}(이)라는 parameter가 없습니다 (있는 것: {own}). "
                "그 이름의 nn.Parameter로 만들었나요?",
            ).fill(name=error.words, own=error.line or "—")
        case "ParameterShape":
            return Text(
                "The parameter {name} has another shape than asked for (found / asked): {shapes}.",
                "parameter {name}의 shape이 요구한 것과 다릅니다 (실제 / 요구): {shapes}.",
            ).fill(name=error.words, shapes=error.line)
    at = f" [{error.line}]" if error.line else ""
    return Text(
        "It stopped with {kind}: {words}{at}",
        "{kind} 오류로 멈췄습니다: {words}{at}",
    ).fill(kind=error.kind, words=error.words, at=at)


def value_complaint(got: Any, want: Any, tolerance: Tolerance) -> Text | None:
    """The first difference between two values as data."""
    if isinstance(got, Strange) or isinstance(want, Strange):
        return None if got == want else _strange(got, want)
    if got is None and want is not None:
        return Text(
            "It is None. A function needs a return at its end; a value must be filled in.",
            "값이 None입니다. 함수라면 끝에 return이 있어야 하고, 값이라면 채워 넣어야 합니다.",
        )
    match want:
        case Tensor():
            return _tensor(got, want, tolerance)
        case bool() | str() | None:
            got = _number(got) if isinstance(got, Tensor) else got
            wrong_kind = type(got) is not type(want)
            return _other_kind(got, want) if wrong_kind else _plain(got, want)
        case int() | float():
            return _scalar(got, want, tolerance)
        case list():
            return _list(got, want, tolerance)
        case dict():
            return _dict(got, want, tolerance)
        case Module():
            return None if isinstance(got, Module) else _other_kind(got, want)
    raise TypeError(f"the reference gave {want!r}, which is not data")


def _strange(got: Any, want: Any) -> Text:
    if got == Strange("generator"):
        return Text(
            "It is a generator, whose values do not exist yet; make a list of them.",
            "generator라서 값이 아직 만들어지지 않았습니다. list로 만들어 돌려주세요.",
        )
    return _other_kind(got, want)


def kind_of(value: Any) -> Text:
    """What a value is, in a few words."""
    match value:
        case Tensor():
            dtype = str(value.dtype).removeprefix("torch.")
            shape = tuple(value.shape)
            return Text(f"a {dtype} tensor of shape {shape}", f"shape {shape}의 {dtype} tensor")
        case list():
            return Text(f"a list or tuple of {len(value)}", f"원소 {len(value)}개의 list나 tuple")
        case Strange():
            return Text(f"an object of type {value.kind}", f"{value.kind} 타입의 객체")
        case Module():
            return both("nn.Module")
        case str():
            return both(f'"{value[:40]}"')
        case dict():
            return both("dict")
    return both(f"{value!r} ({type(value).__name__})" if value is not None else "None")


def _other_kind(got: Any, want: Any) -> Text:
    return Text(
        "Asked for: {want}. This is {got}.",
        "요구한 것은 {want}인데, 이것은 {got}입니다.",
    ).fill(want=_wanted(want), got=kind_of(got))


def _wanted(want: Any) -> Text:
    """What kind of value is asked for, without giving the value away."""
    match want:
        case bool():
            return both("True / False")
        case int() | float():
            return Text("a number", "수 하나")
        case str():
            return Text("a string", "문자열")
    return kind_of(want)


def _plain(got: Any, want: Any) -> Text | None:
    if got == want or (isinstance(want, str) and _words(got) == _words(want)):
        return None
    if isinstance(got, str) and isinstance(want, str) and " " in want:
        return places(_words(got), _words(want))
    return Text("It says {got}; that is not so here.", "답이 {got}인데, 맞지 않습니다.").fill(
        got=repr(got)[:200]
    )


def _words(value: str) -> list[str]:
    """A string as its words: blanks and capitals make no difference."""
    return value.lower().split()


def _number(value: Any) -> Any:
    """The number in a tensor of one element; anything else as it is."""
    return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value


def _scalar(got: Any, want: float, tolerance: Tolerance) -> Text | None:
    got = _number(got)
    if isinstance(got, bool) or not isinstance(got, int | float):
        return _other_kind(got, want)
    if math.isnan(got) and not math.isnan(want):
        return Text("It is NaN (not a number).", "NaN(수가 아님)입니다.")
    allowed = max(tolerance.relative * abs(want), tolerance.absolute) if math.isfinite(want) else 0
    if got == want or abs(got - want) <= allowed or (math.isnan(got) and math.isnan(want)):
        return None
    return Text(
        "It is {got:.6g}; that is too {which}.",
        "값이 {got:.6g}입니다. 너무 {which}.",
    ).fill(got=got, which=Text("large", "큽니다") if got > want else Text("small", "작습니다"))


def _list(got: Any, want: list[Any], tolerance: Tolerance) -> Text | None:
    if isinstance(got, Tensor) and got.dim() == 1 and not any(isinstance(w, Tensor) for w in want):
        got = got.tolist()
    if not isinstance(got, list):
        return _other_kind(got, want)
    if len(got) != len(want):
        return Text(
            "The list has {got} elements; asked for: {want}.",
            "list의 원소가 {got}개입니다. 요구한 것은 {want}개입니다.",
        ).fill(got=len(got), want=len(want))
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        if complaint := value_complaint(g, w, tolerance):
            return Text(
                "Number {n} of {all}: {words}",
                "{all}개 가운데 {n}번째: {words}",
            ).fill(n=i + 1, all=len(want), words=complaint)
    return None


def _dict(got: Any, want: dict[str, Any], tolerance: Tolerance) -> Text | None:
    if not isinstance(got, dict):
        return _other_kind(got, want)
    for key, w in want.items():
        if key not in got:
            return Text("{key} is missing.", "{key}이(가) 없습니다.").fill(key=repr(key))
        if complaint := value_complaint(got[key], w, tolerance):
            return both("{key}: {words}").fill(key=key, words=complaint)
    return None


def _tensor(got: Any, want: Tensor, tolerance: Tolerance) -> Text | None:
    if not isinstance(got, Tensor):
        return _other_kind(got, want)
    if got.shape != want.shape:
        return Text(
            "The shape is {got}; asked for: {want}.",
            "shape이 {got}입니다. 요구한 것은 {want}입니다.",
        ).fill(got=tuple(got.shape), want=tuple(want.shape))
    if got.dtype != want.dtype:
        return Text(
            "The dtype is {got}; asked for: {want}.",
            "dtype이 {got}입니다. 요구한 것은 {want}입니다.",
        ).fill(got=got.dtype, want=want.dtype)
    close = close_to(got, want, tolerance)
    if bool(close.all()):
        return None
    if bool((got.isnan() & ~want.isnan()).any()):
        return Text(
            "There is NaN (not a number) in it where a number belongs.",
            "수가 있어야 할 자리에 NaN(수가 아님)이 있습니다.",
        )
    return Text(
        "{wrong} of {all} values differ.",
        "값 {all}개 가운데 {wrong}개가 다릅니다.",
    ).fill(wrong=int((~close).sum()), all=close.numel())


def close_to(got: Tensor, want: Tensor, tolerance: Tolerance) -> Tensor:
    """Where two tensors of one shape agree (bool, same shape); the bound grows with the dtype."""
    if not want.is_floating_point():
        return got == want
    coarse = torch.finfo(want.dtype).eps * 4
    share = tolerance.share if want.dtype.itemsize >= 4 else coarse / 4
    got, want = got.double(), want.double()
    largest = float(want.nan_to_num(0.0, 0.0, 0.0).abs().max()) if want.numel() else 0.0
    relative, absolute = max(tolerance.relative, coarse), tolerance.absolute + share * largest
    return torch.isclose(got, want, relative, absolute, equal_nan=True)


def _records(got: Outcome, want: Outcome, tolerance: Tolerance) -> Text | None:
    for name, seen in want.records.items():
        given = got.records.get(name, [])
        if len(given) != len(seen):
            return Text(
                "{name} is called {got} times; it should be {want}.",
                "{name}이(가) {got}번 호출됩니다. {want}번이어야 합니다.",
            ).fill(name=name, got=len(given), want=len(seen))
        for g, w in zip(given, seen, strict=True):
            if g.shape != w.shape or not bool(close_to(g, w, tolerance).all()):
                return Text(
                    "{name} is given the wrong input.",
                    "{name}에 잘못된 입력을 줍니다.",
                ).fill(name=name)
    return None


def _gradients(
    got: Outcome, want: Outcome, names: Sequence[str], tolerance: Tolerance
) -> Text | None:
    for key, w in want.gradients.items():
        name, g, own = _name(key, names), got.gradients.get(key), not key[0].isdigit()
        if w is None:
            if own and g is not None and bool(g.any()):
                return _not_frozen(name)
            continue
        if own and key not in got.gradients:
            return _said(Problem("NoParameter", key, ", ".join(filter(str.isalpha, got.gradients))))
        if g is None:
            return _no_gradient(name)
        if g.shape != w.shape or not bool(close_to(g, w, tolerance).all()):
            return Text(
                "The values are right, but the gradient with respect to {name} is not.",
                "값은 맞지만 {name}에 대한 gradient가 다릅니다.",
            ).fill(name=name)
    return None


def _not_frozen(name: str) -> Text:
    return Text(
        "The values are right, but a gradient reaches {name}, which must not learn.",
        "값은 맞지만 학습되지 않아야 할 {name}에 gradient가 흐릅니다.",
    ).fill(name=name)


def _no_gradient(name: str) -> Text:
    return Text(
        "The values are right, but no gradient flows back to {name}: something leaves the graph "
        "(.item(), .data, .detach(), torch.tensor(...)), or it is frozen (requires_grad=False).",
        "값은 맞지만 {name}(으)로 gradient가 흐르지 않습니다. 어딘가에서 계산 graph가 "
        "끊기거나(.item(), .data, .detach(), torch.tensor(...)) requires_grad=False로 고정되어 "
        "있습니다.",
    ).fill(name=name)
