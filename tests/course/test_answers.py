"""Explanations and checklists: what does not fit the reference is an error that names it."""

import json

import pytest

from blocklab import catalogue
from course import answers, build, source
from course.source import Code, Paragraph, SourceError

UNIT = "01_residual_add"
RIGHT = "First.\n\n- `states = [x0]`: a state\n  of `its` own.\n- `for`: one after the other."


def explain(en: str, ko: str | None = None, name: str = "run_stream") -> Paragraph:
    return Paragraph(en, en if ko is None else ko, {"explain": name})


def entries(*blocks: source.Block) -> dict:
    return answers.entries(UNIT, blocks)


def test_an_explanation_is_an_opening_and_notes_in_both_languages():
    korean = "먼저.\n\n- `states = [x0]`: state 하나.\n- `for`: 차례로."
    assert entries(explain(RIGHT, korean))["exercises"]["run_stream"] == {
        "opening": ["First.", "먼저."],
        "notes": [
            ["states = [x0]", "a state of `its` own.", "state 하나."],
            ["for", "one after the other.", "차례로."],
        ],
    }


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        (explain("- `states = []`: no."), r"run_stream: `states = \[\]` is explained, and does"),
        (explain("- `L + 1 states`: in a docstring."), "does not stand in its source"),
        (explain(RIGHT, "- `for`: 차례로."), "run_stream: .* other fragments"),
        (explain(RIGHT, RIGHT.removeprefix("First.\n\n")), "in one language only"),
        (explain("- for: no fragment."), 'should read "- `fragment`: explanation"'),
        (explain("- `for`:"), "should read"),
        (explain("- `for`: $x$."), r"no \$math\$"),
        (explain(f"{RIGHT}\n\nAnd more."), "more than a list"),
        (explain("Words.", name="runstream"), "runstream: .* no exercise of 01"),
    ],
)  # fmt: skip
def test_an_explanation_that_does_not_fit_is_named(block, complaint):
    with pytest.raises(SourceError, match=complaint):
        entries(block)


def test_an_exercise_is_explained_once():
    with pytest.raises(SourceError, match=r"run_stream: .* twice"):
        entries(explain(RIGHT), explain(RIGHT))


ANSWER = Paragraph("So.", "그래서.", {"answer": "why"})


@pytest.mark.parametrize(
    ("blocks", "complaint"),
    [
        ([Paragraph("- A.", "- 가.", {"checklist": "why"})], "without a written answer"),
        ([ANSWER, Paragraph("- A.\n- B.", "- 가.", {"checklist": "why"})], "as many items"),
        ([ANSWER, Paragraph("A.", "가.", {"checklist": "why"}) ] * 2, "twice"),
        ([ANSWER, Paragraph("My list:\n\n- A.", "- 가.", {"checklist": "why"})], "is a list"),
    ],
)  # fmt: skip
def test_a_checklist_that_does_not_fit_is_named(blocks, complaint):
    with pytest.raises(SourceError, match=f"why: .*{complaint}"):
        entries(*blocks)


def test_what_is_lacking_is_named():
    blocks = [Code("", {"test": "updates"}), Code("", {"puzzle": "fold_gain"}), ANSWER]
    lacking = list(answers.lacking(blocks, entries(*blocks)))
    assert lacking == [
        "updates: no explanation",
        "fold_gain: no explanation",
        "why: no checklist",
    ]


def test_unit_01_lacks_nothing():
    blocks = source.read(source.COURSE / UNIT / "exercise.md")
    assert list(answers.lacking(blocks, answers.entries(UNIT, blocks))) == []


def test_every_written_question_is_in_the_outline_and_has_a_model_answer():
    written = json.loads((build.ROOT / build.SOLUTIONS).read_text("utf-8"))["written"]
    assert [q for u in catalogue.units().values() for q in u.written] == list(written)
    assert all(part.strip() for entry in written.values() for part in entry["answer"])
