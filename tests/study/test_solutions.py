"""Solutions open after a real attempt, and show the reference with a note at the right lines."""

import pytest

import blocklab
from blocklab import catalogue, record, solution
from blocklab.api import check
from blocklab.study import opened, prose
from blocklab.study.shown import Solution
from blocklab.study.solutions import explanation, places, source_of
from blocklab.text import Said

STUB = (
    'def rms_norm(x, gain, eps):\n    """Norm."""\n    raise NotImplementedError  # your code here'
)
WRONG = "def rms_norm(x, gain, eps):\n    return x"
OWN = (
    "def rms_norm(x, gain, eps):\n    return torch.nn.functional.rms_norm(x, gain.shape, gain, eps)"
)


@pytest.fixture
def checked(monkeypatch):
    """A function that runs cells as a notebook does, and then a check."""

    def run(name: str, *cells: str):
        import torch

        namespace = {"torch": torch, "In": list(cells)}
        for cell in cells:
            exec(cell, namespace)
        monkeypatch.setattr("blocklab.api._notebook", lambda _: namespace)
        return check(name)

    return run


def test_before_an_attempt_it_says_what_to_do_first():
    said = solution("rms_norm")
    assert isinstance(said, Said)
    assert 'check("rms_norm")' in said


@pytest.mark.parametrize("cells", [[], [STUB], ["rms_norm = None"]], ids=["none", "stub", "None"])
def test_an_untouched_answer_is_no_attempt(checked, cells):
    checked("rms_norm", *cells)
    assert isinstance(solution("rms_norm"), Said)
    assert "attempts" not in record.read().get("rms_norm", {})


def test_a_wrong_answer_is_an_attempt_and_opens_the_solution(checked):
    checked("rms_norm", STUB, WRONG)
    shown = solution("rms_norm")
    assert isinstance(shown, Solution)
    assert "mean_square = h.pow(2)" in repr(shown)
    assert record.read()["rms_norm"]["attempts"] == 1


def test_a_try_with_an_answer_of_its_own_leaves_no_trace(checked):
    check("rms_norm", answer=lambda x, gain, eps: x)
    assert record.read() == {}


def test_the_last_answer_is_in_the_record_whether_it_passed_or_not(checked):
    assert checked("rms_norm", OWN).passed
    assert opened.my_answer("rms_norm") == OWN
    checked("rms_norm", OWN, WRONG)
    assert opened.my_answer("rms_norm") == WRONG
    checked("rms_norm", STUB)
    assert opened.my_answer("rms_norm") == WRONG
    entry = record.read()["rms_norm"]
    assert (entry["best"], entry["attempts"]) == (1.0, 2)


def test_a_choice_in_a_picture_is_in_the_recorded_source(checked):
    cell = 'fill_in = lambda name, answer: "norm attention"\n'
    call = 'pre_norm_places = fill_in("pre_norm_places", answer="")'
    checked("pre_norm_places", cell, call)
    assert 'answer="norm attention"' in opened.my_answer("pre_norm_places")


def test_while_grading_nothing_is_shown(monkeypatch):
    record.note("rms_norm", 0.0, WRONG, True)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert "graded" in str(solution("rms_norm"))


def test_where_the_solutions_are_missing_it_says_so(monkeypatch):
    record.note("rms_norm", 0.0, WRONG, True)

    def missing():
        raise FileNotFoundError

    monkeypatch.setattr("blocklab.study.solutions._built", missing)
    assert "not part of this installation" in str(solution("rms_norm"))


def test_a_name_that_is_no_exercise_is_an_error_with_the_nearest_names():
    with pytest.raises(KeyError, match="rms_norm"):
        solution("rms_nrom")


@pytest.mark.parametrize("name", catalogue.exercises())
def test_the_source_is_the_reference_without_docstrings(name):
    source = source_of(name, catalogue.exercise(name).unit)
    assert '"""' not in source
    namespace: dict = {**vars(catalogue.module_of("reference", name))}
    exec(source, namespace)
    made, reference = namespace[name], catalogue.reference(name)
    assert type(made) is type(reference)
    assert callable(reference) or made == reference


def test_notes_stand_at_their_lines():
    shown = repr(Solution("run_stream")).split("\n")
    line = next(i for i, words in enumerate(shown) if "states = [x0]" in words)
    assert "# `states = [x0]`: x0 is a state too" in shown[line + 1]
    source = source_of("run_stream", "01_residual_add")
    fragments = [note.fragment for note in explanation("run_stream").notes]
    assert places(fragments, source) == sorted(places(fragments, source))


def test_a_fragment_is_looked_for_from_the_one_before_it():
    assert places(["a", "b", "a"], "a\nb\na") == [0, 1, 2]
    assert places(["b", "a", "c"], "a\nb") == [1, 0, -1]


@pytest.mark.parametrize("language", ["en", "ko"])
def test_it_is_html_with_nothing_unescaped(language):
    blocklab.use(language)
    html = Solution("input_gradient_norm")._repr_html_()
    assert f'lang="{language}"' in html
    assert ") -&gt; float:" in html
    assert "<code>(gradient,) = torch.autograd.grad(</code>:" in html


def test_the_little_markdown():
    html = prose.html("`a * b` and **bold**, *it* is 2 * 3 * 4 <x>\n\nnew")
    assert html == (
        "<code>a * b</code> and <b>bold</b>, <i>it</i> is 2 * 3 * 4 &lt;x&gt;<br><br>new"
    )
