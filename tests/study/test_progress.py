"""Progress says what is done, what is next, and prints only what is complete."""

from pathlib import Path

import pytest

import blocklab
from blocklab import catalogue, progress, record, save_summary
from blocklab.study.state import states

UNIT = "01_residual_add"
ANSWER = "A sublayer adds an update to the stream."


def exercises(unit: str = UNIT) -> list[str]:
    return [e.name for e in catalogue.exercises().values() if e.unit == unit and not e.puzzle]


def complete(unit: str = UNIT) -> None:
    for name in exercises(unit):
        record.note(name, 1.0, f"{name} = 1", True)
    for question in catalogue.units()[unit].written:
        record.answer(question, ANSWER)


def test_a_new_learner_begins_at_the_beginning():
    shown = repr(progress())
    assert shown.count("○ ") == len(catalogue.exercises()) + sum(
        len(unit.written) for unit in catalogue.units().values()
    )
    assert "Next: add_by_hand in 01 · The residual stream" in shown


def test_attempts_and_the_best_share_are_shown():
    record.note("rms_norm", 0.5, "rms_norm = 1", True)
    record.note("rms_norm", 0.25, "rms_norm = 2", True)
    shown = repr(progress())
    assert "◐ rms_norm 50%, 2 tries" in shown
    assert "0 of 12 exercises, 1.5 of the 18 points that checks give" in shown
    assert progress()["rms_norm"]["best"] == 0.5


def test_the_next_thing_is_the_first_that_is_open_then_the_question_then_the_next_unit():
    for name in exercises():
        record.note(name, 1.0, "", True)
    assert "Next: what_is_lost in 01" in repr(progress())
    record.answer("what_is_lost", ANSWER)
    assert "Next: rms_by_hand in 02" in repr(progress())


def test_a_puzzle_stands_apart_and_holds_nobody_up():
    for unit in catalogue.units():
        complete(unit)
    done = progress()
    assert "Every exercise is passed" in repr(done)
    assert all(state.done for state in done.states())
    html = done._repr_html_()
    assert html.index("Puzzles, without points") < html.index("○ <code>fold_gain</code>")


def test_inside_the_course_the_next_exercise_is_a_link(monkeypatch):
    root = Path(catalogue.__file__).parents[1]
    monkeypatch.chdir(root / "lectures" / "en")
    target = "../../exercises/en/01_residual_add/01_residual_add.ipynb"
    assert f'<a href="{target}">' in progress()._repr_html_()


def test_elsewhere_it_is_words_alone():
    assert "<a " not in progress()._repr_html_()


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_page_speaks_the_language_in_use(language):
    blocklab.use(language)
    record.note("rms_norm", 0.5, "", True)
    html = progress()._repr_html_()
    assert f'lang="{language}"' in html
    assert ("지금까지의 진도" in html) == (language == "ko")
    assert "{" not in html.split("</style>")[1]


def test_an_unreadable_record_counts_as_empty_and_is_kept_aside(home):
    home.mkdir()
    (home / "progress.json").write_text("{broken")
    assert repr(progress()).count("●") == 0
    record.note("rms_norm", 1.0, "", True)
    assert (home / "progress.unreadable").read_text() == "{broken"
    assert record.read()["rms_norm"]["best"] == 1.0


@pytest.mark.parametrize("content", ["[]", '{"rms_norm": 3}', '{"rms_norm": {"best": "much"}}'])
def test_what_makes_no_sense_in_a_record_is_passed_over(home, content):
    home.mkdir()
    (home / "progress.json").write_text(content)
    assert "○ rms_norm" in repr(progress())
    assert "0 of the 18 points" in progress()._repr_html_()


def test_nothing_is_printed_before_a_unit_is_complete(capsys):
    complete()
    record.write({"what_is_lost": {}})
    save_summary("page.html")
    said = capsys.readouterr().out
    assert "No unit is complete yet" in said
    assert "8 of 8 exercises passed and 0 of 1 questions answered" in said
    assert not Path("page.html").exists()


def test_the_summary_has_the_complete_units_their_dates_and_no_authority(capsys):
    complete()
    record.note("rms_norm", 1.0, "", True)
    save_summary("page.html", name="Kim <Minji>")
    assert str(Path("page.html").resolve()) in capsys.readouterr().out
    html = Path("page.html").read_text("utf-8")
    assert "Self-study by Kim &lt;Minji&gt;" in html
    assert "01 · The residual stream" in html
    assert "02 · RMSNorm" not in html
    assert states(record.read())[0].last in html
    assert "no institution stands behind" in html
    assert "{" not in html.split("</style>")[1]
