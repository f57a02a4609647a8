"""Progress as a page: what is done, what was tried, and what to do next."""

from html import escape

from blocklab import record
from blocklab.record import Entry
from blocklab.study import prose
from blocklab.study.state import Question, State, Tried, notebook, states
from blocklab.text import Text, language

TITLE = Text("Your progress", "지금까지의 진도")
ATTEMPTS = Text("{count} tries", "{count}번 시도")
ONE = Text("1 try", "1번 시도")
UNIT = Text(
    "{passed} of {all} exercises, {earned:g} of the {points:g} points that checks give",
    "연습문제 {all}개 중 {passed}개, check가 주는 {points:g}점 중 {earned:g}점",
)
WRITTEN = Text("In your own words", "자기 말로 설명하기")
PUZZLES = Text("Puzzles, without points", "점수 없는 퍼즐")
TICKED = Text("answered, {ticked} ticked", "답함, 목록에서 {ticked}개 확인")
NEXT = Text("Next: {name} in {title}", "다음: {title}의 {name}")
ALL_DONE = Text(
    "Every exercise is passed and every question answered. Well done!",
    "모든 연습문제를 통과하고 모든 질문에 답했습니다. 수고하셨습니다!",
)
HOW = Text(
    "After `from blocklab import export_progress, import_progress, save_summary`: "
    '`save_summary("summary.html")` writes a page to print; `export_progress("progress.json")` '
    "writes everything into one file, and `import_progress` reads it elsewhere.",
    "`from blocklab import export_progress, import_progress, save_summary`를 실행한 뒤 "
    '`save_summary("summary.html")`은 인쇄할 수 있는 페이지를 만듭니다. '
    '`export_progress("progress.json")`은 모든 기록을 파일 하나에 담고, '
    "`import_progress`는 그 파일을 다른 곳에서 읽습니다.",
)
STYLE = """<style>
.blocklab-progress { font-family: var(--jp-ui-font-family, system-ui, sans-serif);
  line-height: 1.5; max-width: 66em; overflow-wrap: anywhere; }
.blocklab-progress h4 { font-weight: 600; margin: 14px 0 2px; }
.blocklab-progress p { margin: 2px 0; }
.blocklab-bar { border: 1px solid currentColor; border-radius: 5px; height: 8px;
  max-width: 24em; overflow: hidden; }
.blocklab-bar > div { background: #2e7d32; height: 100%; }
.blocklab-items { display: grid; gap: 0 1.5em; margin: 4px 0;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 17em), 1fr)); }
.blocklab-items > div { padding-left: 1.5em; text-indent: -1.5em; }
.blocklab-progress .blocklab-next { border-left: 4px solid #d9700f; margin: 8px 0;
  padding: 2px 10px; }
.blocklab-progress .blocklab-small { font-size: 90%; }
</style>"""


class Progress(dict[str, Entry]):
    """A learner's record by name of exercise or question; shows as a page in a notebook."""

    def states(self) -> list[State]:
        return states(self)

    def __repr__(self) -> str:
        lines = [str(TITLE)]
        for state in self.states():
            lines.append(f"{state.title} · {_count(state)}")
            lines += [f"  {_mark(t)} {t.exercise.name} {_said(t)}".rstrip() for t in _tries(state)]
            lines += [f"  {_answer_mark(q)} {q.name} {_ticked(q)}".rstrip() for q in state.written]
        return "\n".join([*lines, _next(self.states())[0]])

    def _repr_html_(self) -> str:
        units = "".join(map(_unit, self.states()))
        words, link = _next(self.states())
        onward = f'<a href="{escape(link)}">{escape(words)}</a>' if link else escape(words)
        return (
            f'{STYLE}<div class="blocklab-progress" lang="{language()}">'
            f'<p><b>{escape(str(TITLE))}</b></p><p class="blocklab-next">{onward}</p>{units}'
            f'<p class="blocklab-small">{prose.html(str(HOW))}</p></div>'
        )


def progress() -> Progress:
    """What is done, by exercise, whichever language it was done in."""
    return Progress(record.read())


def _tries(state: State) -> tuple[Tried, ...]:
    return (*state.exercises, *state.puzzles)


def _count(state: State) -> Text:
    return UNIT.fill(
        passed=state.passed,
        all=len(state.exercises),
        earned=round(state.earned, 2),
        points=state.points,
    )


def _next(found: list[State]) -> tuple[str, str | None]:
    """What to do next, and a link to it where there is one."""
    for state in found:
        if name := state.next:
            return str(NEXT.fill(name=name, title=state.title)), notebook(state.unit)
    return str(ALL_DONE), None


def _unit(state: State) -> str:
    share = state.earned / state.points if state.points else 0
    bar = (
        f'<div class="blocklab-bar" aria-hidden="true"><div style="width:{share:.0%}"></div></div>'
    )
    title = escape(str(state.title))
    if link := notebook(state.unit):
        title = f'<a href="{escape(link)}">{title}</a>'
    parts = [f"<h4>{title}</h4>", f"<p>{escape(str(_count(state)))}</p>", bar]
    parts.append(_listed([(_mark(t), t.exercise.name, _said(t)) for t in state.exercises]))
    for title, rows in (
        (WRITTEN, [(_answer_mark(q), q.name, _ticked(q)) for q in state.written]),
        (PUZZLES, [(_mark(t), t.exercise.name, _said(t)) for t in state.puzzles]),
    ):
        parts += (
            [f'<p class="blocklab-small">{escape(str(title))}</p>', _listed(rows)] if rows else []
        )
    return "".join(parts)


def _listed(rows: list[tuple[str, str, str]]) -> str:
    items = (
        f'<div role="listitem">{mark} <code>{escape(name)}</code> {escape(said)}</div>'
        for mark, name, said in rows
    )
    return f'<div class="blocklab-items" role="list">{"".join(items)}</div>'


def _mark(tried: Tried) -> str:
    return "●" if tried.done else "◐" if tried.attempts else "○"


def _answer_mark(question: Question) -> str:
    return "●" if question.answered else "○"


def _said(tried: Tried) -> str:
    """The share, where there is one, and the number of attempts."""
    if not tried.attempts:
        return ""
    count = ONE if tried.attempts == 1 else ATTEMPTS.fill(count=tried.attempts)
    return str(count) if tried.done else f"{tried.best:.0%}, {count}"


def _ticked(question: Question) -> str:
    return str(TICKED.fill(ticked=question.ticked)) if question.answered else ""
