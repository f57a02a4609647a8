"""Where everything that belongs to an exercise is found: its name is the key.

`catalogue.json` and `units.json` are built from the course's source: points, hints, titles and
order stand there once.
"""

import difflib
import functools
import importlib
import inspect
import json
from collections.abc import Iterable
from importlib import resources
from types import ModuleType
from typing import Any, NamedTuple

from blocklab.text import Text

MODULES = {
    "01_residual_add": "residual",
    "02_rms_norm": "norm",
    "03_causal_mask": "attention",
    "04_ffn_expansion": "ffn",
    "05_block_stacking": "block",
    "06_why_these_four": "lab",
}


QUOTES = Text('Write the name in quotes: "{name}".', '이름을 따옴표 안에 쓰세요: "{name}".')
NEAR = Text(
    'There is no exercise "{name}". Did you mean {near}?',
    '이름이 "{name}"인 연습문제는 없습니다. 혹시 {near} 말인가요?',
)
UNKNOWN = Text(
    'There is no exercise "{name}"; progress() lists them all.',
    '이름이 "{name}"인 연습문제는 없습니다. progress()를 실행하면 전체 목록이 나옵니다.',
)
WRITTEN = Text(
    '"{name}" is a written question, which has no check. Write your answer, then run '
    '`self_check("{name}")`.',
    '"{name}"은(는) 서술형 문제라서 check가 없습니다. 답을 쓴 다음 `self_check("{name}")`를 '
    "실행하세요.",
)


class Exercise(NamedTuple):
    """One item with a check: its unit, its points, what it builds on, and its hints.

    puzzle: whether it is there for the joy of it: no points, and nobody grades it.
    """

    name: str
    unit: str
    points: float
    uses: tuple[str, ...]
    hints: tuple[Text, ...]
    puzzle: bool = False


class Unit(NamedTuple):
    """A unit with exercises: its title, and the names of its written questions."""

    title: Text
    written: tuple[str, ...]


class UnknownError(KeyError):
    """A name that no exercise has; a notebook shows its words without a traceback."""

    def __init__(self, asked: object, known: Iterable[str]) -> None:
        """asked: what was given for a name; the answer itself, by mistake, has one too."""
        name = str(getattr(asked, "__name__", asked))[:60]
        near = nearest(name, known)
        said = QUOTES if name in near else NEAR if near else UNKNOWN
        if any(name in unit.written for unit in units().values()):
            said = WRITTEN
        super().__init__(str(said.fill(name=name, near=", ".join(near))))

    def __str__(self) -> str:
        return self.args[0]

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The names that look most like it, whatever their capitals; at most three, perhaps none."""
    folded: dict[str, list[str]] = {}
    for one in known:
        folded.setdefault(one.lower(), []).append(one)
    near = difflib.get_close_matches(name.lower(), folded, 3, 0.5)
    return [one for form in near for one in folded[form]][:3]


@functools.cache
def exercises() -> dict[str, Exercise]:
    """All exercises by name, in the order of the course."""
    return {
        name: Exercise(
            name,
            entry["unit"],
            entry["points"],
            tuple(entry["uses"]),
            tuple(Text(*hint) for hint in entry["hints"]),
            entry.get("puzzle", False),
        )
        for name, entry in built("catalogue").items()
    }


@functools.cache
def units() -> dict[str, Unit]:
    """The units that have exercises, by the name of their folder, in the order of the course."""
    return {
        name: Unit(Text(*entry["title"]), tuple(entry["written"]))
        for name, entry in built("units").items()
    }


def built(name: str) -> dict[str, Any]:
    """What the build has left in `<name>.json`. Raises FileNotFoundError if it is not there."""
    return json.loads(resources.files("blocklab").joinpath(f"{name}.json").read_text("utf-8"))


def exercise(name: str) -> Exercise:
    """The exercise of that name.

    Raises UnknownError, a KeyError with the nearest names, if there is none.
    """
    known = exercises()
    if not isinstance(name, str) or name not in known:
        raise UnknownError(name, known)
    return known[name]


def part(package: str, name: str) -> Any:
    """What `blocklab.<package>` holds for an exercise: its reference, check or misconceptions."""
    return getattr(module_of(package, name), name)


def module_of(package: str, name: str) -> ModuleType:
    module = MODULES[exercise(name).unit]
    return importlib.import_module(f"blocklab.{package}.{module}")


def reference(name: str) -> Any:
    """The course's own answer to an exercise: a function, a class or a value."""
    return part("reference", name)


class Arguments(NamedTuple):
    """Names of an exercise's arguments: of the function or constructor, and of forward."""

    own: tuple[str, ...] = ()
    forward: tuple[str, ...] = ()


def argument_names(name: str) -> Arguments:
    """The arguments of an exercise, none where it asks for a value."""
    answer = reference(name)
    if not callable(answer):
        return Arguments()
    forward = getattr(answer, "forward", None) if isinstance(answer, type) else None
    inner = tuple(inspect.signature(forward).parameters)[1:] if forward else ()
    return Arguments(tuple(inspect.signature(answer).parameters), inner)
