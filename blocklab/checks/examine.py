"""One check from start to end: probe the answer, compare, name the misconception, report."""

import functools
import secrets
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from blocklab import catalogue, probe
from blocklab.checks.again import once_more
from blocklab.checks.candidate import Candidate
from blocklab.checks.compare import complain, same, value_complaint
from blocklab.checks.property import Draw, Property, Tolerance
from blocklab.checks.report import Example, Finding, Misconception, Report
from blocklab.misconceptions.variants import Wrong
from blocklab.probe import Outcome, Read
from blocklab.text import Text

MISSING = Text(
    "There is no {name} yet: run the cell that defines it.",
    "아직 {name}이(가) 없습니다. 정의하는 셀을 먼저 실행하세요.",
)
EMPTY = Text(
    "{name} is still empty: put your answer in its place.",
    "{name}이(가) 아직 비어 있습니다. 그 자리에 답을 적으세요.",
)
ANOTHER_KIND = Text(
    "{name} should be a {want}; this is a {got}.",
    "{name}은(는) {want}이어야 하는데, 이것은 {got}입니다.",
)
CAME_BACK = Text(
    "What comes out is {name}, just as it went in.", "{name}이(가) 들어간 그대로 나옵니다."
)
EARLIER = Text(
    "{name}, which this one uses, does not pass its own check yet. Look there first.",
    "여기서 쓰는 {name}이(가) 아직 자기 check를 통과하지 못했습니다. 거기부터 살펴보세요.",
)


@probe.own_torch()
def examine(name: str, candidate: Candidate, seed: int | None = None) -> Report:
    """Check the answer called `name` and report on it.

    seed: of the drawn inputs; a fresh one each time where it is None.
    Raises KeyError if no exercise has that name.
    """
    seed = secrets.randbits(32) if seed is None else seed
    points = catalogue.exercise(name).points
    properties = once_more(catalogue.part("checks", name)(Draw(seed)))
    probes, names = [p.steps for p in properties], catalogue.argument_names(name)
    kind, got = candidate.run(name, probes)
    if notice := _not_there(name, kind, got):
        return unanswered(name, seed, notice)
    want = probe.run(probes, catalogue.reference(name), _references(name))
    seen = list(zip(properties, got, want, strict=True))
    findings = tuple(_finding(p, g, w, names) for p, g, w in seen)
    if all(f.passed for f in findings):
        return Report(name, points, seed, findings)
    diagnosis = diagnose(name, seen)
    remarks = (_earlier(name, candidate, seed),)
    return Report(name, points, seed, findings, diagnosis, remarks=tuple(filter(None, remarks)))


@probe.own_torch()
def unanswered(name: str, seed: int, why: Text) -> Report:
    """The report of a check that could not be carried out; nothing of it counts as passed."""
    properties = catalogue.part("checks", name)(Draw(seed))
    unseen = tuple(_unseen(p) for p in properties)
    return Report(name, catalogue.exercise(name).points, seed, unseen, notice=why)


def _references(name: str) -> Mapping[str, object]:
    """The course's own answers, as the other answers of a notebook."""
    return vars(catalogue.module_of("reference", name))


def _not_there(name: str, kind: str, got: list[list[Outcome]]) -> Text | None:
    """Why the answer could not be probed at all, if it could not; what it did tells nothing then.

    kind: what it is, as `probe.describe` says.
    """
    if kind in ("missing", "none"):
        return (MISSING if kind == "missing" else EMPTY).fill(name=name)
    reference = catalogue.reference(name)
    want = "class" if isinstance(reference, type) else "function"
    if not callable(reference):
        blank = kind == "value" and got[0][0].value in ("", [])
        return EMPTY.fill(name=name) if blank else None
    if kind == want or (want == "function" and kind == "class"):
        return None
    return ANOTHER_KIND.fill(name=name, want=want, got=kind)


def _unseen(p: Property) -> Finding:
    return Finding(p.name, p.says, False, p.weight)


def _finding(
    p: Property, got: list[Outcome], want: list[Outcome], names: catalogue.Arguments
) -> Finding:
    """Whether one property holds, and if not, its smallest failing example."""
    failures = [
        ((g.error == probe.MISSING, _size(step)), step, g, w, complaint)
        for step, g, w in zip(p.steps, got, want, strict=True)
        if (complaint := complain(g, w, _names_for(step, names), p.tolerance))
    ]
    if failures:
        _, step, g, w, complaint = min(failures, key=lambda failure: failure[0])
        example = None
        if not isinstance(step, Read) and _shows(g, w, p.tolerance):
            example = Example.of(step, _names_for(step, names), g, w)
            complaint = _came_back(example) or complaint
        return Finding(p.name, p.says, False, p.weight, complaint, example)
    complaint = p.judge(got, want) if p.judge else None
    return Finding(p.name, p.says, complaint is None, p.weight, complaint)


def _shows(got: Outcome, want: Outcome, tolerance: Tolerance) -> bool:
    """Whether what came shows the difference; a gradient, or a changed input, it does not."""
    return bool(got.error or want.error or value_complaint(got.value, want.value, tolerance))


def _came_back(example: Example) -> Text | None:
    """That an answer gave back one of its arguments as it was where a tensor was asked for."""
    got = example.got
    if not isinstance(got, Tensor) or not isinstance(example.expected, Tensor):
        return None
    for name, given in example.inputs:
        alike = isinstance(given, Tensor) and given.dtype == got.dtype
        if alike and torch.equal(given, got):
            return CAME_BACK.fill(name=name)
    return None


def _names_for(step: probe.Step, names: catalogue.Arguments) -> Sequence[str]:
    """The names of a call's arguments: the answer's own, or those of its forward."""
    if isinstance(step, Read) or step.of is None:
        return names.own
    return names.forward if step.method in (None, "forward") else ()


def _size(step: probe.Step) -> int:
    return 0 if isinstance(step, Read) else sum(_elements(a) for a in step.args)


def _elements(value: object) -> int:
    if isinstance(value, list | tuple):
        return sum(map(_elements, value))
    return getattr(value, "numel", lambda: 1)()


def _earlier(name: str, candidate: Candidate, seed: int) -> Text | None:
    """The first of the answers that this one uses which fails its own check."""
    for used in catalogue.exercise(name).uses:
        if candidate.run(used, [])[0] != "missing" and not examine(used, candidate, seed).passed:
            return EARLIER.fill(name=used)
    return None


Seen = tuple[Property, Sequence[Outcome], Sequence[Outcome]]  # the answer's, the reference's


def diagnose(name: str, seen: Sequence[Seen]) -> tuple[Misconception, ...]:
    """The misconceptions that explain what an answer did, best first; () if none does.

    First whatever agrees with the answer in every call of the check. If nothing does, what agrees
    wherever the answer gave a value at all; last, in the first property that has a wrong value,
    and in every one that holds.
    """
    if all(g.error for _, got, _ in seen for g in got):
        return ()
    known = catalogue.part("misconceptions", name)
    variant = functools.cache(known.variant)

    @functools.cache
    def agrees(flags: Wrong, i: int, steps: tuple[int, ...]) -> bool:
        """Whether what these flags give is what was seen in these steps of the i-th property."""
        p, got, want = seen[i]
        mine = probe.outcomes(p.steps, variant(flags), _references(name))
        return all(
            j not in steps or _alike(m, got[j], want[j], p.tolerance) for j, m in enumerate(mine)
        )

    def wrong(i: int, steps: tuple[int, ...]) -> bool:
        p, got, want = seen[i]
        return not all(same(got[j], want[j], p.tolerance) for j in steps)

    whole = [tuple(range(len(got))) for _, got, _ in seen]
    valued = [
        tuple(j for j in whole[i] if not got[j].error or want[j].error)
        for i, (_, got, want) in enumerate(seen)
    ]
    attempts = [(whole, 2)]
    if first := [i for i, steps in enumerate(valued) if wrong(i, steps)][:1]:
        holding = [i for i, steps in enumerate(whole) if not wrong(i, steps)]
        least = [steps if i in first + holding else () for i, steps in enumerate(valued)]
        attempts += [(valued, 2), (least, 1)]
    for evidence, largest in attempts:
        for flags in known.combinations():
            seen_in = (agrees(flags, i, steps) for i, steps in enumerate(evidence) if steps)
            if len(flags) <= largest and all(seen_in):
                return tuple(Misconception(f, known.flags[f]) for f in known.flags if f in flags)
    return ()


def _alike(mine: Outcome, got: Outcome, want: Outcome, tolerance: Tolerance) -> bool:
    """Whether a misconception does what was seen; an exception must be the same to the word.

    Many mistakes end in an exception of one kind. Only where the reference raises one as well,
    which no two people word alike, is any that is meant as good as another.
    """
    if got.error and not want.error:
        words = got.error.kind, got.error.words
        return mine.error is not None and (mine.error.kind, mine.error.words) == words
    return same(mine, got, tolerance)
