"""Answers that are no answers: each gets a sentence that says so, in both languages."""

import pytest
import torch

from blocklab import catalogue
from blocklab.checks.candidate import LocalCandidate
from blocklab.checks.examine import examine


class EqualsEverything:
    """Claims to be whatever one asks for."""

    shape = (2, 3)
    dtype = torch.float32
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self


class LyingTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True


class NeverMade(torch.nn.Module):
    def __init__(self, *args, **kwargs):
        pass


def raises(*args):
    raise ZeroDivisionError("no reason")


def not_yet(*args):
    raise NotImplementedError


def returns_none(*args):
    return None


def leaves(*args):
    raise SystemExit(0)


def generates(*args):
    yield torch.zeros(2)


def wrong_shape(*args):
    return torch.zeros(1, 2, 3, 4, 5)


def with_nan(x, *args):
    return x * float("nan") if isinstance(x, torch.Tensor) else float("nan")


def changes_its_input(x, *args):
    result = catalogue.reference("rms_norm")(x.clone(), *args)
    x.mul_(2)
    return result


def changes_its_inputs_dtype(x, *args):
    x.data = x.data.double()
    return catalogue.reference("rms_norm")(x.float(), *args)


def comes_back(change):
    return lambda x, gain, eps: change(catalogue.reference("rms_norm")(x, gain, eps))


def deep_in(*args):
    return deep_in(*args)


RMS_NORM = {
    "raises": (raises, "ZeroDivisionError", "ZeroDivisionError"),
    "not_yet": (not_yet, "Not written yet", "아직 작성되지"),
    "none": (returns_none, "None", "None"),
    "exits": (leaves, "SystemExit", "SystemExit"),
    "generator": (generates, "generator", "generator"),
    "shape": (wrong_shape, "shape", "shape"),
    "nan": (with_nan, "NaN", "NaN"),
    "dtype": (comes_back(torch.Tensor.double), "dtype is torch.float64", "dtype이 torch.float64"),
    "in_place": (changes_its_input, "changes its input x", "입력 x의 값"),
    "in_place_dtype": (changes_its_inputs_dtype, "changes its input x", "입력 x의 값"),
    "sparse": (comes_back(torch.Tensor.to_sparse), "Tensor (sparse_coo)", "Tensor (sparse_coo)"),
    "nested": (comes_back(lambda y: torch.nested.nested_tensor([y])), "(nested)", "(nested)"),
    "elsewhere": (comes_back(lambda y: y.to("meta")), "Tensor (meta)", "Tensor (meta)"),
    "complex": (comes_back(lambda y: torch.complex(y, y)), "(complex64)", "(complex64)"),
    "liar": (lambda *a: EqualsEverything(), "EqualsEverything", "EqualsEverything"),
    "lying_tensor": (lambda x, *a: LyingTensor(x), "LyingTensor", "LyingTensor"),
    "recursion": (deep_in, "RecursionError", "RecursionError"),
    "number": (lambda *a: 3, "3 (int)", "3 (int)"),
    "list": (lambda x, *a: x.tolist(), "a list", "list"),
    "arguments": (lambda x: x, "TypeError", "TypeError"),
}


@pytest.mark.parametrize("bad", RMS_NORM)
def test_a_bad_answer_gets_a_sentence_that_says_so(bad, capfd):
    answer, en, ko = RMS_NORM[bad]
    report = examine("rms_norm", LocalCandidate({"rms_norm": answer}), 1)
    complaints = [p.message for p in report.properties if p.message]
    assert report.score == 0 if bad not in ("dtype",) else not report.passed
    assert any(en in words.en for words in complaints), complaints
    assert any(ko in words.ko for words in complaints), complaints
    assert report._repr_html_() and repr(report) == repr(float(report.score))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", catalogue.exercises())
@pytest.mark.parametrize(
    "answer",
    [
        raises, not_yet, returns_none, generates, wrong_shape, with_nan, NeverMade,
        EqualsEverything(),
    ],
    ids=lambda a: getattr(a, "__name__", "liar"),
)  # fmt: skip
def test_no_exercise_breaks_on_a_bad_answer_or_gives_points_for_it(name, answer, capfd):
    report = examine(name, LocalCandidate({name: answer}), 1)
    assert report.score == 0
    words = [report.notice, *(p.message for p in report.properties)]
    assert any(words)
    assert report.html("ko") != report.html("en")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", catalogue.exercises())
def test_a_missing_answer_is_said_to_be_missing(name):
    report = examine(name, LocalCandidate({}), 1)
    assert report.score == 0 and report.notice and "run the cell" in report.notice.en
    assert not any(p.passed for p in report.properties)


def test_warnings_prints_and_bars_of_a_right_answer_cost_nothing(capfd):
    import logging
    import sys
    import warnings

    def rms_norm(x, gain, eps):
        warnings.warn("careful", stacklevel=1)
        print("here")
        print("50%|#####", file=sys.stderr)
        logging.getLogger("mine").warning("well")
        return catalogue.reference("rms_norm")(x, gain, eps)

    report = examine("rms_norm", LocalCandidate({"rms_norm": rms_norm}), 1)
    assert report.passed
    assert capfd.readouterr() == ("", "")


def test_an_answer_that_draws_random_numbers_leaves_the_notebooks_generator_alone():
    torch.manual_seed(3)
    expected = torch.rand(2)

    def rms_norm(x, gain, eps):
        torch.rand(7)
        return catalogue.reference("rms_norm")(x, gain, eps)

    torch.manual_seed(3)
    assert examine("rms_norm", LocalCandidate({"rms_norm": rms_norm}), 1).passed
    assert torch.equal(torch.rand(2), expected)


def test_what_a_notebook_has_set_as_torchs_defaults_counts_for_its_own_tensors_alone():
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    try:
        for name in ("rms_norm", "Decoder", "mixes_positions"):
            answers = vars(catalogue.module_of("reference", name))
            assert examine(name, LocalCandidate(answers), 1).passed
        made = torch.zeros(2)
        assert (made.dtype, made.device.type) == (torch.float64, "meta")
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)


def test_a_sparse_gradient_is_a_gradient():
    class Decoder(catalogue.reference("Decoder")):
        def __init__(self, config):
            super().__init__(config)
            self.token_embedding.sparse = True

    answers = {**vars(catalogue.module_of("reference", "Decoder")), "Decoder": Decoder}
    assert examine("Decoder", LocalCandidate(answers), 1).passed


def test_an_unknown_exercise_is_an_error_that_names_near_ones():
    with pytest.raises(KeyError, match="rms_norm"):
        examine("rms_nrom", LocalCandidate({}), 1)
