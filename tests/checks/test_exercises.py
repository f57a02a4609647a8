"""Every exercise: its reference passes, right answers pass, wrong ones fail and are named."""

import importlib

import pytest

from blocklab import catalogue
from blocklab.checks.candidate import LocalCandidate
from blocklab.checks.examine import examine
from blocklab.checks.report import Report

EXERCISES = catalogue.exercises()


def checked(name: str, answer: object, seed: int) -> Report:
    """The report on an answer, in a notebook where all other answers are right."""
    others = vars(catalogue.module_of("reference", name))
    return examine(name, LocalCandidate({**others, name: answer}), seed)


def correct(name: str) -> list:
    """Answers to an exercise that are right and written differently."""
    module = catalogue.MODULES[EXERCISES[name].unit]
    return importlib.import_module(f"tests.variants.{module}").CORRECT[name]


def is_value(name: str) -> bool:
    return not callable(catalogue.reference(name))


@pytest.mark.parametrize("name", EXERCISES)
def test_the_reference_passes_on_every_seed(name, seeds):
    answer = catalogue.reference(name)
    for seed in seeds:
        report = checked(name, answer, seed)
        assert report.passed and report.score == report.points, f"seed {seed}\n{report}"


@pytest.mark.parametrize("name", EXERCISES)
def test_a_right_answer_passes_however_it_is_written(name, seeds):
    answers = correct(name)
    assert len(answers) >= (2 if is_value(name) else 4)
    for i, answer in enumerate(answers):
        for seed in seeds:
            report = checked(name, answer, seed)
            assert report.passed, f"variant {i}, seed {seed}\n{report}"


@pytest.mark.parametrize("name", EXERCISES)
def test_a_misconception_fails_and_is_named(name, few_seeds):
    known = catalogue.part("misconceptions", name)
    assert known.flags
    for wrong in known.combinations():
        for seed in few_seeds:
            report = checked(name, known.variant(wrong), seed)
            assert not report.passed, f"{sorted(wrong)} passes with seed {seed}"
            assert report.fraction < 1
            assert report.diagnosis, f"{sorted(wrong)} is not named (seed {seed})\n{report}"
            named = {m.name for m in report.diagnosis}
            if len(wrong) == 1:
                assert named == wrong or same_answer(name, named, wrong, seed)


def same_answer(name: str, named: set[str], wrong: frozenset[str], seed: int) -> bool:
    """Whether two sets of flags give answers that this check cannot tell apart."""
    known = catalogue.part("misconceptions", name)
    report = checked(name, known.variant(frozenset(named)), seed)
    other = checked(name, known.variant(wrong), seed)
    return str(report) == str(other)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_variant_with_no_flag_is_right(name, few_seeds):
    known = catalogue.part("misconceptions", name)
    for seed in few_seeds:
        report = checked(name, known.variant(frozenset()), seed)
        assert report.passed, f"seed {seed}\n{report}"


@pytest.mark.parametrize("name", EXERCISES)
def test_every_sentence_is_said_in_both_languages(name):
    known = catalogue.part("misconceptions", name)
    says = [finding.says for finding in checked(name, catalogue.reference(name), 0).properties]
    for words in [*known.flags.values(), *says, *EXERCISES[name].hints]:
        assert words.en.strip() and words.ko.strip()
        code_only = words.en == words.ko
        assert code_only or any("가" <= letter <= "힣" for letter in words.ko), words
        assert not any("가" <= letter <= "힣" for letter in words.en), words


@pytest.mark.parametrize("name", EXERCISES)
def test_there_are_three_hints(name):
    assert len(EXERCISES[name].hints) == 3


@pytest.mark.parametrize("unit", sorted({e.unit for e in EXERCISES.values()}))
def test_every_unit_has_variants_only_for_its_own_exercises(unit):
    module = importlib.import_module(f"tests.variants.{catalogue.MODULES[unit]}")
    assert set(module.CORRECT) == {e.name for e in EXERCISES.values() if e.unit == unit}
