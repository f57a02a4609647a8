"""What a check found: a score, a table for the learner, and the name of the mistake."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import torch
from torch import Tensor

from blocklab import text
from blocklab.checks import picture
from blocklab.checks.compare import kind_of
from blocklab.probe import Call, Outcome
from blocklab.text import Text, both


@dataclass(frozen=True)
class Misconception:
    """A known wrong turn that explains an answer, and what to tell the learner about it."""

    name: str
    message: Text


@dataclass(frozen=True)
class Example:
    """The smallest call that failed: inputs by name, what was expected and what came."""

    label: Text | None
    inputs: tuple[tuple[str, Any], ...]
    expected: Any
    got: Any

    @classmethod
    def of(cls, call: Call, names: Sequence[str], got: Outcome, want: Outcome) -> "Example":
        named = tuple(
            (names[i] if i < len(names) else f"input {i + 1}" if len(call.args) > 1 else "input", a)
            for i, a in enumerate(call.args)
        )
        expected = f"{want.error.kind}" if want.error else want.value
        return cls(call.label, named, expected, None if got.error else got.value)


@dataclass(frozen=True)
class Finding:
    """One property: what must hold, whether it does, and if not, why and for which input."""

    name: str
    says: Text
    passed: bool
    weight: float = 1.0
    message: Text | None = None
    example: Example | None = None


SCORE = Text("{score} of {points} points", "{points}점 중 {score}점")
PUZZLE = Text("a puzzle, no points", "점수 없는 퍼즐")
DIAGNOSIS = Text("What happened", "잘못된 점")
EXPECTED, GOT = Text("expected", "기대한 값"), Text("yours", "내 답")
FOR = Text("for example, with", "예를 들어")
UNJUDGED = Text(
    "Graded in the learner's own process, without a judge.",
    "judge 없이 학습자의 프로세스에서 채점했습니다.",
)
STYLE = (
    "<style>.blocklab-report{font-family:var(--jp-ui-font-family,sans-serif);max-width:66em}"
    ".blocklab-report pre{margin:2px 0;background:none;color:inherit;font-size:85%}"
    ".blocklab-report .pair{display:flex;gap:4px 2em;flex-wrap:wrap}"
    ".blocklab-report .why{border-left:4px solid #d9700f;padding:2px 10px;margin:6px 0}"
    "</style>"
)
SENTENCE, WORDS, LIST = 4000, 200, 64  # characters, characters, elements: more is not shown
# A front end has a table style of its own, which only a style on the element itself overrides.
CELL = '<td style="text-align:left;vertical-align:top;padding:3px 8px;white-space:normal">'
TABLE = '<table style="margin:4px 0;border-collapse:collapse;font-size:inherit">'


@dataclass(frozen=True)
class Report:
    """The result of one check. Its repr is the score, as nbgrader reads partial credit.

    name, points, seed: the exercise, its points, and the seed that draws the same inputs again.
    properties: what was looked at, one `Finding` each.
    diagnosis: the misconceptions that explain the answer, best first; empty where none does.
    notice: what stands in the way of the whole check; remarks: what else to know.
    """

    name: str
    points: float
    seed: int
    properties: tuple[Finding, ...]
    diagnosis: tuple[Misconception, ...] = ()
    notice: Text | None = None
    remarks: tuple[Text, ...] = ()

    @property
    def fraction(self) -> float:
        """The share of the points, 0 to 1. Without the first property nothing else counts."""
        if not self.properties or not self.properties[0].passed:
            return 0.0
        total = sum(p.weight for p in self.properties)
        return sum(p.weight for p in self.properties if p.passed) / total

    @property
    def score(self) -> float:
        return round(self.fraction * self.points, 2)

    @property
    def passed(self) -> bool:
        return all(p.passed for p in self.properties)

    def _head(self) -> Text:
        if not self.points:
            return PUZZLE
        return SCORE.fill(score=f"{self.score:g}", points=f"{self.points:g}")

    def __repr__(self) -> str:
        return repr(float(self.score))

    def __str__(self) -> str:
        """The report as plain text, in the language in use."""
        lines = [f"{self.name}: {self._head()}"]
        lines += [f"  {words}" for words in (self.notice, *self.remarks) if words]
        lines += [f"  > {m.message}" for m in self.diagnosis]
        for p in self.properties if not self.notice else ():
            lines.append(f"  {'✓' if p.passed else '✗'} {p.says}")
            lines += [f"      {p.message}"] if p.message else []
        return text.visible("\n".join(lines))

    def _repr_html_(self) -> str:
        return self.html(text.language())

    def html(self, language: str) -> str:
        """The report as HTML: a table, and for the first failure expected beside got."""

        def say(words: Text) -> str:
            return escape(text.visible(words.to(language)[:SENTENCE])).replace("\n", "<br>")

        mark = "✓" if self.passed else "✗"
        parts = [f"<p><b>{mark} <code>{escape(self.name)}</code> — {say(self._head())}</b></p>"]
        parts += [f'<p class="why">{say(w)}</p>' for w in (self.notice, *self.remarks) if w]
        if self.diagnosis:
            why = "<br>".join(say(m.message) for m in self.diagnosis)
            parts.append(f'<p class="why"><b>{say(DIAGNOSIS)}.</b> {why}</p>')
        if not self.notice:
            parts.append(f"{TABLE}{''.join(_row(p, say) for p in self.properties)}</table>")
            failed = next((p.example for p in self.properties if p.example), None)
            parts += [_shown(failed, say)] if failed else []
        return f'{STYLE}<div class="blocklab-report" lang="{language}">{"".join(parts)}</div>'


def _row(p: Finding, say: Any) -> str:
    mark = "✓" if p.passed else "✗"
    why = f"<br><b>{say(p.message)}</b>" if p.message else ""
    return f"<tr>{CELL}{mark}</td>{CELL}{say(p.says)}{why}</td></tr>"


def _shown(example: Example, say: Any) -> str:
    """Inputs, then expected beside got: figures where they are few, and a picture of arrays.

    Of long arrays the figures of the row that differs most, and of the input's row in its place.
    """
    label, row = f" ({say(example.label)})" if example.label else "", _worst(example)
    inputs = "".join(
        f"<div>{escape(name)}{_figures_at(value, row, say)}</div>"
        for name, value in example.inputs
        if not _is_long(value) or _has_row(value, row)
    )
    sides = [
        f"<div>{say(title)}{_figures_at(value, row, say)}{_picture(value, example)}</div>"
        for title, value in ((EXPECTED, example.expected), (GOT, example.got))
        if value is not None
    ]
    return (
        f'<div>{say(FOR)}{label}<div class="pair">{inputs}</div>'
        f'<div class="pair">{"".join(sides)}</div></div>'
    )


def _is_long(value: Any) -> bool:
    return isinstance(value, Tensor) and value.numel() > 64


def _worst(example: Example) -> tuple[int, ...]:
    """The place of the row in which two long arrays differ most; () where that tells nothing."""
    want, got = example.expected, example.got
    if not _is_long(want) or want.dim() < 2 or want.shape != getattr(got, "shape", None):
        return ()
    apart = (got.detach().double() - want.detach().double()).abs()
    rows = apart.nan_to_num(math.inf, math.inf).amax(dim=-1)
    return tuple(int(i) for i in torch.unravel_index(rows.argmax(), rows.shape))


def _has_row(value: Any, row: tuple[int, ...]) -> bool:
    if not row or not isinstance(value, Tensor) or value.dim() != len(row) + 1:
        return False
    return all(i < size for i, size in zip(row, value.shape, strict=False))


def _figures_at(value: Any, row: tuple[int, ...], say: Any) -> str:
    if not _is_long(value) or not _has_row(value, row):
        return f"<pre>{_figures(value, say)}</pre>"
    place = ", ".join(map(str, row))
    return f"[{place}]<pre>{escape(picture.numbers(value[row]))}</pre>"


def _figures(value: Any, say: Any) -> str:
    match value:
        case Tensor() if value.numel() and not _is_long(value):
            return escape(picture.numbers(value))
        case float():
            return f"{value:.6g}"
        case int() | str() | None:
            return say(both(_brief(value)))
        case list() if value and all(isinstance(v, int | float | str) for v in value):
            more = ["…"] if len(value) > LIST else []
            return say(both(", ".join([*map(_brief, value[:LIST]), *more])))
        case list() if 0 < len(value) <= 4:
            return "[" + "\n ".join(_figures(v, say) for v in value) + "]"
    return say(kind_of(value)) if not _described(value) else escape(_described(value))


def _brief(value: float | str | None) -> str:
    """A number in five digits, or the beginning of a string."""
    words = f"{value:.5g}" if isinstance(value, float) else str(value)
    return words if len(words) <= WORDS else f"{words[:WORDS]}…"


def _described(value: Any) -> str:
    """A described function in a word, for the list of inputs."""
    return type(value).__name__ if type(value).__module__ == "blocklab.functions" else ""


def _picture(value: Any, example: Example) -> str:
    want, got = example.expected, example.got
    if isinstance(want, list) and isinstance(got, list) and isinstance(value, list):
        pairs = [p for p in zip(value, want, got, strict=False) if isinstance(p[0], Tensor)][:6]
        return "<br>".join(_picture(v, Example(None, (), w, g)) for v, w, g in pairs)
    if not isinstance(value, Tensor) or not isinstance(want, Tensor):
        return ""
    if value.numel() <= 3 or not isinstance(got, Tensor) or got.shape != want.shape:
        return ""
    return picture.heat(value, want, want if value is got else value)
