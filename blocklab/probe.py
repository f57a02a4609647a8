"""A check's calls, described as data, and the small interpreter that runs them on an answer.

The interpreter runs where the answer lives: in the learner's kernel, or in a sandboxed one
that a judge talks to. What comes back is data only: an `Outcome` for each call.
"""

import contextlib
import io
import linecache
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from blocklab import functions
from blocklab.plain import NAME, parameters, plain, words
from blocklab.text import Text


@dataclass(frozen=True)
class Result:
    """Stands for an earlier result of the same probe, which stayed where the answer lives.

    item: an index into it, where it is a tuple or a list.
    """

    name: str
    item: int | None = None


@dataclass(frozen=True)
class Other:
    """Stands for another answer of the same notebook, by name."""

    name: str


@dataclass(frozen=True)
class Read:
    """Look at the answer itself: a number, a list, a string that the learner wrote down."""

    label: Text | None = None


@dataclass(frozen=True)
class Call:
    """One call of the answer, or of something that an earlier call returned.

    args: tensors, numbers, strings, lists of them, `Result`s, `Other`s, a BlockConfig, and
        described functions.
    of: the name of a kept result, or another answer, to call instead; method: one of its methods.
    keep: the name under which the result stays for later calls of the same probe.
    load: parameters to copy into the result, a module, by dotted name.
    backward: a tensor like the output; gradients of (output * backward).sum() with respect to
        every float tensor among args and every parameter of the module are part of the outcome.
    label: what is special about this call, for the learner.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    of: str | Other | None = None
    method: str | None = None
    keep: str | None = None
    load: Mapping[str, Tensor] | None = None
    backward: Tensor | None = None
    label: Text | None = None


@dataclass(frozen=True)
class Problem:
    """An exception that the answer raised: its class, its text, and the learner's own line."""

    kind: str
    words: str
    line: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one call did, as data.

    value: tensors, numbers, strings, lists and dicts of them, `Strange` or `Module`.
    changed: positions of the arguments that the call changed in place.
    gradients: by argument position, or by parameter name; None where nothing flowed.
    records: what each recording function was given.
    marked: positions of tensors that require a gradient, or hold one, since the call.
    """

    value: Any = None
    error: Problem | None = None
    changed: tuple[int, ...] = ()
    gradients: Mapping[str, Tensor | None] = field(default_factory=dict)
    records: Mapping[str, list[Tensor]] = field(default_factory=dict)
    marked: tuple[int, ...] = ()


def describe(name: str, namespace: Mapping[str, Any]) -> str:
    """What stands under a name: "missing", "none", "function", "class" or "value"."""
    if name not in namespace:
        return "missing"
    answer = namespace[name]
    if answer is None or answer is Ellipsis:
        return "none"
    if isinstance(answer, type):
        return "class"
    return "function" if callable(answer) else "value"


Step = Read | Call
MISSING = Problem("Missing", "an earlier step of this check gave no result")


Names = Mapping[str, Any]


def run(probes: Sequence[Sequence[Step]], answer: Any, others: Names) -> list[list[Outcome]]:
    """Run every probe of a check on an answer; an exception becomes part of its outcome.

    others: where `Other` answers are looked up.
    """
    with own_torch():
        return [list(outcomes(steps, answer, others)) for steps in probes]


@contextlib.contextmanager
def own_torch() -> Iterator[None]:
    """Torch's defaults inside, whatever a notebook has set; what answers do to it ends here."""
    state, device = torch.get_rng_state(), torch.get_default_device()
    gradients, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    _set_device(torch.device("cpu"))
    _set_defaults()
    try:
        yield
    finally:
        torch.set_rng_state(state)
        _set_defaults(gradients, dtype)
        _set_device(device)


def _set_defaults(gradients: bool = True, dtype: torch.dtype = torch.float32) -> None:
    torch.set_grad_enabled(gradients)
    torch.set_default_dtype(dtype)


def _set_device(device: torch.device) -> None:
    if torch.get_default_device() != device:  # a set device, even the CPU, slows every call down
        torch.set_default_device(None if device.type == "cpu" else device)


def outcomes(steps: Sequence[Step], answer: Any, others: Names) -> Iterator[Outcome]:
    """The outcomes of one probe, one at a time, so that a reader can stop early.

    What an answer draws at random, such as a module's first weights, is the same every time.
    """
    torch.default_generator.manual_seed(0)
    kept: dict[str, Any] = {}
    records: functions.Records = {}
    for step in steps:
        records.clear()
        _set_defaults()
        if isinstance(step, Read):
            yield Outcome(plain(answer))
        else:
            yield _call(step, answer, kept, others, records)


def _call(
    call: Call, answer: Any, kept: dict[str, Any], others: Names, records: functions.Records
) -> Outcome:
    try:
        target = _target(call.of, answer, kept, others)
        args = [_real(a, kept, others, records) for a in call.args]
        kwargs = {k: _real(a, kept, others, records) for k, a in call.kwargs.items()}
    except LookupError:
        absent = [o.name for o in (call.of, *call.args) if isinstance(o, Other)]
        absent = [name for name in absent if name not in others]
        return Outcome(error=Problem("Absent", absent[0]) if absent else MISSING)
    lists = [list(a) if isinstance(a, list) else a for a in args]
    if call.backward is not None:
        for leaf in _leaves(args).values():
            leaf.requires_grad_()
    before = call.args, lists
    try:
        with _quiet():
            value = (getattr(target, call.method) if call.method else target)(*args, **kwargs)
            gradients = {}
            if call.backward is not None:
                gradients = _gradients(value, call.backward, args, target)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        changed = _changed(args, *before)
        return Outcome(error=_problem(error), changed=changed, records=dict(records))
    if call.keep is not None:
        kept[call.keep] = value
    if call.load is not None and (problem := _load(value, call.load)):
        kept.pop(call.keep or "", None)
        return Outcome(plain(value), error=problem)
    changed = _changed(args, *before)
    marked = _marked(args) if call.backward is None else ()
    return Outcome(plain(value), None, changed, gradients, dict(records), marked)


def _target(of: str | Other | None, answer: Any, kept: Names, others: Names) -> Any:
    """What a call calls. Raises LookupError if an earlier step gave no result."""
    if isinstance(of, Other):
        return others[of.name]
    return answer if of is None else kept[of]


def _real(described: Any, kept: Names, others: Names, records: functions.Records) -> Any:
    """The argument itself: tensors copied, functions built, earlier results looked up."""
    match described:
        case Tensor():
            return described.detach().clone(memory_format=torch.contiguous_format)
        case Result():
            found = kept[described.name]
            return found if described.item is None else found[described.item]
        case Other():
            return others[described.name]
        case list():
            return [_real(a, kept, others, records) for a in described]
        case dict():
            return {k: _real(a, kept, others, records) for k, a in described.items()}
        case functions.Function():
            return functions.build(described, records)
    return described


def _changed(args: Sequence[Any], given: Sequence[Any], lists: Sequence[Any]) -> tuple[int, ...]:
    """The positions of the arguments that are not what they were when the call began."""
    return tuple(
        i
        for i, (described, was, now) in enumerate(zip(given, lists, args, strict=True))
        if _differs(described, now) or (isinstance(now, list) and not _same_things(was, now))
    )


def _same_things(was: list[Any], now: list[Any]) -> bool:
    return len(was) == len(now) and all(a is b for a, b in zip(was, now, strict=True))


def _marked(args: Sequence[Any]) -> tuple[int, ...]:
    """Where an answer left a gradient, or the wish for one, on a tensor of the caller's."""
    return tuple(
        i
        for i, a in enumerate(args)
        if isinstance(a, Tensor) and (a.requires_grad or a.grad is not None)
    )


def _differs(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        alike = a.shape == b.shape and a.dtype == b.dtype
        return not alike or not (torch.equal(a, b) or torch.allclose(a, b, 0, 0, equal_nan=True))
    if isinstance(a, list):
        return len(a) != len(b) or any(_differs(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() != b.keys() or any(_differs(a[key], b[key]) for key in a)
    return False


def _leaves(args: Sequence[Any]) -> dict[str, Tensor]:
    """The float tensors among the arguments, by position, and those in a list by its position."""
    found = {}
    for i, a in enumerate(args):
        inside = a if isinstance(a, list) else []
        named = {str(i): a} | {f"{i}.{j}": v for j, v in enumerate(inside)}
        found |= {k: v for k, v in named.items() if isinstance(v, Tensor) and v.is_floating_point()}
    return found


def _gradients(
    value: Any, backward: Tensor, args: Sequence[Any], target: Any
) -> dict[str, Tensor | None]:
    leaves = {key: leaf for key, leaf in _leaves(args).items() if leaf.requires_grad}
    owner = getattr(target, "__self__", target)
    found: dict[str, Tensor | None] = dict.fromkeys(leaves)
    if isinstance(owner, nn.Module):
        own = parameters(owner)
        found |= dict.fromkeys(own)
        leaves |= {name: p for name, p in own.items() if p.requires_grad}
    outputs = value if isinstance(value, list | tuple) else [value]
    fitting = [v for v in outputs if isinstance(v, Tensor) and v.shape == backward.shape]
    if not fitting:
        return {}
    output = fitting[-1]
    if output.requires_grad:
        total = (output * backward).sum()
        flowed = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
        found |= zip(
            leaves, (None if g is None else g.detach().to_dense() for g in flowed), strict=True
        )
    return found


def _load(module: Any, values: Mapping[str, Tensor]) -> Problem | None:
    if not isinstance(module, nn.Module):
        return Problem("NotAModule", words(type(module).__name__, NAME))
    own = parameters(module)
    for name, value in values.items():
        if name not in own:
            return Problem("NoParameter", name, words(", ".join(own)))
        if own[name].shape != value.shape:
            found, wanted = tuple(own[name].shape), tuple(value.shape)
            return Problem("ParameterShape", name, f"{found} / {wanted}")
        own[name].data.copy_(value)
    return None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Printing, warnings and progress bars of the answer cost nothing and show nothing."""
    nowhere = io.StringIO()
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        warnings.simplefilter("ignore")
        yield


def _problem(error: BaseException) -> Problem:
    """The exception, with the last line of the learner's own code that it passed through."""
    line = ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "ipykernel" in frame.filename or frame.filename.startswith("<"):
            line = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
            break
    return Problem(words(type(error).__name__, 100), words(str(error), 300), words(line, 200))
