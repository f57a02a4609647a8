"""The safe way to grade gives the marks of the plain one to honest work.

Safe: the judge asks a kernel in the sandbox. Plain: nbgrader's own Execute in an ordinary kernel,
where check() itself runs, and its report's repr is the score.
"""

import copy
import html
import itertools
import os
import re
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from nbgrader.utils import determine_grade

from autograder.demo import Student, hand_in, solution_cells
from autograder.judge import ENDED, TIMED_OUT, Judge, check_name
from autograder.nbgrader_config import REPOSITORY
from blocklab import catalogue
from blocklab.checks.report import DIAGNOSIS, UNJUDGED
from blocklab.text import LANGUAGES
from tests.autograder.kernels import need_sandbox

pytestmark = pytest.mark.xdist_group("kernel")

# Known wrong turns by exercise: what to replace in the course's own answer, and by what.
MISTAKES = {
    "residual_add": ("return x + delta", "x += delta\n    return x"),
    "ResidualBlock": ("torch.zeros", "torch.ones"),
    "updates": ("states[n + 1] - states[n]", "states[n + 1] - states[0]"),
    "rms_norm": ("(mean_square + eps).sqrt()", "(mean_square.sqrt() + eps)"),
    "pre_norm_places": ("norm attention add norm ffn add", "attention add norm ffn add norm"),
    "deep_norm_step": ("norm(alpha * x", "norm(x"),
    "painted_causal": ("10000 11000 11100 11110 11111", "00000 10000 11000 11100 11110"),
    "attention_weights": (" / q.shape[-1] ** 0.5", ""),
    "GroupedQueryAttention": (".repeat_interleave(group, dim=1)", ".repeat(1, group, 1, 1)"),
    "kv_cache_bytes": ("2 * n_layers", "n_layers"),
    "SwiGLU": (
        "silu(self.gate_proj(x)) * self.up_proj(x)",
        "silu(self.gate_proj(x) * self.up_proj(x))",
    ),
    "ffn_parameters": ("3 if gated else 2", "2"),
    "PreNormBlock": ("self.ffn(self.norm2(x))", "self.ffn(x)"),
    "LoRALinear": ("alpha / rank", "alpha"),
}
# Answers that end in an exception, cells that cannot run, answers that nobody wrote.
CRASHES = {
    "run_stream": "def run_stream(x0, sublayers):\n    return undefined_name",
    "layer_norm": "def layer_norm(x, gain, bias, eps):\n    return x / 0 + y",
    "post_norm_step": "def post_norm_step(x, norm, sublayer)\n    return x",
    "which_mask": "which_mask = 1 / 0",
    "decode_step": "def decode_step(layer, x_t, cache):\n    raise ValueError('no' * 100)",
    "gelu": "def gelu(x):\n    return gelu(x)",
    "mixes_positions": "class mixes_positions:\n    def __call__(self): return True",
    "Decoder": "class Decoder(nn.Module):\n    def __init__(self, config):\n        pass",
    "logit_lens": "import no_such_package\nlogit_lens = no_such_package.logit_lens",
}
MISSING = {
    "growth_by_hand": "", "norm_position": "norm_position = None", "cross_attention": "",
    "ffn_widths": 'ffn_widths = fill_in("ffn_widths", answer="")', "arrows": "",
}  # fmt: skip
UNITS = sorted({exercise.unit for exercise in catalogue.exercises().values()})


def mistaken(unit: str) -> dict[str, str]:
    """The course's own answers to a unit with a mistake in them, by exercise."""
    made = {}
    for name, source in solution_cells(unit).items():
        if name in MISTAKES:
            old, new = MISTAKES[name]
            assert old in source, f"{name}: no {old!r} in the course's own answer any more"
            made[name] = source.replace(old, new)
    return made


def mixture(unit: str, language: str) -> NotebookNode:
    own = {**CRASHES, **MISSING, **mistaken(unit)}
    return hand_in(unit, Student("kim", language, own=own))


def solution(unit: str, language: str) -> NotebookNode:
    path = REPOSITORY / "solutions" / language / unit / f"{unit}.ipynb"
    return nbformat.read(path, as_version=4)


def release(unit: str, language: str) -> NotebookNode:
    return hand_in(unit, Student("kim", language, only=0, writes=False))


def executed(notebook: NotebookNode, folder: Any, by: type[Execute]) -> NotebookNode:
    """A copy of a notebook, after its cells have run as they do when nbgrader grades."""
    resources = {"metadata": {"path": str(folder)}, "nbgrader": {"student": "kim"}}
    done = copy.deepcopy(notebook)
    by(shutdown_kernel="immediate", timeout=60).preprocess(done, resources)
    return done


def checks(notebook: NotebookNode) -> dict[str, NotebookNode]:
    return {name: cell for cell in notebook.cells if (name := check_name(cell))}


def marks(notebook: NotebookNode) -> dict[str, float | None]:
    """What nbgrader reads from every check, out of the full marks."""
    return {name: determine_grade(cell)[0] for name, cell in checks(notebook).items()}


_SAYS = [t.to(language) for t in (UNJUDGED, ENDED, TIMED_OUT) for language in LANGUAGES]
OF_ONE = re.compile("|".join(re.escape(words).replace(r"\{error\}", r"\w+") for words in _SAYS))


def said(cell: NotebookNode) -> list[str]:
    """What a report says of the whole answer, such as the mistake by its name.

    Without what only one of the two knows: that nobody judges, and how the answer's cell ended.
    """
    (page,) = [o.data["text/html"] for o in cell.outputs if "text/html" in o.get("data", {})]
    found = map(html.unescape, re.findall(r'<p class="why">(.*?)</p>', page))
    return [words for words in found if not OF_ONE.fullmatch(words)]


def both(notebook: NotebookNode, folder: Any, monkeypatch: Any) -> tuple[NotebookNode, ...]:
    need_sandbox()
    safe = executed(notebook, folder, Judge)
    monkeypatch.setitem(os.environ, "NBGRADER_EXECUTION", "autograde")
    return safe, executed(notebook, folder, Execute)


def cases() -> list[Any]:
    """Every kind, unit and language; without --full, mixtures with the languages in turns."""
    found = []
    for i, unit in enumerate(UNITS):
        for kind, language in itertools.product((mixture, solution, release), ("en", "ko")):
            always = kind is mixture and (i % 2 == 0) == (language == "en")
            marks_ = [] if always else [pytest.mark.full]
            name = f"{kind.__name__}-{unit}-{language}"
            found.append(pytest.param(kind, unit, language, id=name, marks=marks_))
    return found


@pytest.mark.parametrize(("kind", "unit", "language"), cases())
def test_the_safe_marks_are_the_plain_marks(kind, unit, language, tmp_path, monkeypatch):
    safe, plain = both(kind(unit, language), tmp_path, monkeypatch)
    assert marks(safe) == marks(plain)
    reports = {name: said(cell) for name, cell in checks(safe).items()}
    assert reports == {name: said(cell) for name, cell in checks(plain).items()}
    full = {name: catalogue.exercise(name).points for name in reports}
    if kind is solution:
        assert marks(safe) == full
    elif kind is release:
        assert not any(marks(safe).values())
    else:
        lost = {name for name, mark in marks(safe).items() if mark != full[name]}
        assert {*full} > lost >= {*full} & {*MISTAKES, *CRASHES, *MISSING}
        named = {n for n, words in reports.items() if DIAGNOSIS.to(language) in str(words)}
        assert named >= {*full} & {*MISTAKES}
