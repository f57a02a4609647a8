"""The instructor's commands: `python run.py class`, `collect` and `grade`."""

import tempfile
import warnings
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from autograder.classroom import ClassError, make_class, units

app = typer.Typer(add_completion=False, help=__doc__, no_args_is_help=True)
console = Console()
BAR = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
Isolation = Literal["bwrap", "none"]
Language = Annotated[str, typer.Option(help="en or ko: the language of what is released")]


@app.command("class")
def make(
    folder: Annotated[Path, typer.Argument(help="a new folder, outside the repository")],
    lang: Language = "en",
) -> None:
    """Make a class folder, where nbgrader's own commands and `grade` work."""
    if lang not in ("en", "ko"):
        raise typer.BadParameter("choose en or ko", param_hint="--lang")
    make_class(folder, lang)
    console.print(
        f"A class is in {folder}. Hand out a notebook of exercises/{lang}; what comes back goes in "
        f"with: python run.py collect {folder} SOURCE"
    )


@app.command("collect")
def collect_sent(
    folder: Annotated[Path, typer.Argument(help="a class folder", metavar="CLASS")],
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...",
            help="zips of Canvas, Moodle or Blackboard, folders such as STUDENT/FILE.ipynb or "
            "nbgrader's exchange, notebooks named after their students",
        ),
    ],
    unit: Annotated[str | None, typer.Option(help="take only this unit")] = None,
    timezone: Annotated[
        str | None, typer.Option(help="of the class, such as Asia/Seoul; needed once")
    ] = None,
) -> None:
    """Bring what students sent into submitted/, repaired; all of it stays in received/ as it was.

    A table, and received/report.csv, say what was repaired, what is late, and what was refused.
    Where something was refused, this ends with exit code 1.
    """
    from autograder.deadline import time_zone
    from autograder.intake import collect
    from autograder.rows import COLLECTED, REFUSED, table

    rows = collect(folder, sources, unit, timezone)
    console.print(table(rows, time_zone(folder)))
    number = sum(row.status == COLLECTED for row in rows)
    console.print(f"{number} to grade. The same table: {folder / 'received' / 'report.csv'}")
    if any(row.status == REFUSED for row in rows):
        raise typer.Exit(1)


@app.command("deadline")
def set_when_due(
    folder: Annotated[Path, typer.Argument(help="a class folder", metavar="CLASS")],
    unit: Annotated[str, typer.Argument(help="a unit such as 02_rms_norm")],
    when: Annotated[str, typer.Argument(help='such as "2026-03-10 23:59", time of the class')],
    timezone: Annotated[
        str | None, typer.Option(help="of the class, such as Asia/Seoul; needed once")
    ] = None,
) -> None:
    """Set or move the deadline of a unit. What is late by it, `collect` and `grade` say."""
    from autograder.deadline import set_deadline

    _must_exist(unit)
    due = set_deadline(folder, unit, when, timezone)
    console.print(
        f"{unit} is due {due:%Y-%m-%d %H:%M} {due.tzinfo}. What is graded already: grade it again."
    )


@app.command("grade")
def grade_class(
    folder: Annotated[Path | None, typer.Argument(help="a class folder")] = None,
    unit: Annotated[str | None, typer.Argument(help="a unit such as 02_rms_norm")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="make a demo class and grade it")] = False,
    isolation: Annotated[
        Isolation | None, typer.Option(help="what walls students' code in; none: nothing does")
    ] = None,
) -> None:
    """Grade every submission of a unit and print the table of marks."""
    if demo:
        from autograder.demo import make_demo

        folder = folder or Path(tempfile.mkdtemp(prefix="demo-class-")) / "class"
        unit = unit or "02_rms_norm"
        make_demo(folder, unit)
        console.print(f"A demo class is in {folder}.")
    if folder is None or unit is None:
        raise typer.BadParameter("name a class folder and a unit, or use --demo")
    _must_exist(unit)
    _grade(folder, unit, isolation)


def _must_exist(unit: str) -> None:
    if unit not in units():
        raise typer.BadParameter(f"no unit {unit}; there is {', '.join(units())}")


def _grade(folder: Path, unit: str, isolation: Isolation | None) -> None:
    from autograder.grade import grade, marks, refusals, submitted

    students, troubled = submitted(folder, unit), dict[str, str]()
    with Progress(*BAR, console=console, transient=True) as bar:
        task = bar.add_task(unit, total=len(students))
        try:
            for student, trouble in grade(folder, unit, isolation):
                bar.advance(task)
                if trouble:
                    troubled[student] = trouble
        except KeyboardInterrupt:
            _interrupted(students, int(bar.tasks[0].completed))
    table = Table("student", "language", "score", "late", "written answers", title=unit)
    for mark in marks(folder, unit):
        late = f"{mark.late_seconds / 3600:.1f} h" if mark.late_seconds else ""
        score = f"{mark.score:g} / {mark.maximum:g}"
        table.add_row(mark.student, mark.language, score, late, "to read" if mark.to_read else "")
    console.print(table)
    if words := refusals(folder, unit):
        console.print(words, markup=False)
    for student, trouble in troubled.items():
        console.print(f"{student} could not be graded:\n{trouble}", style="red")
    if troubled:
        raise typer.Exit(1)


def _interrupted(students: list[str], done: int) -> NoReturn:
    """Say what is graded and what is not, and end."""
    console.print(f"Stopped: {done} of {len(students)} are graded, and their marks stay.")
    console.print(f"Not graded in this run: {', '.join(students[done:])}")
    console.print("The same command starts over; who is graded already gets the same marks again.")
    raise typer.Exit(130)


@app.command(
    "formgrader", context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def open_formgrader(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="a class folder", metavar="CLASS")],
    browser: Annotated[
        bool, typer.Option(help="open it in a browser, or print its address")
    ] = True,
) -> None:
    """Open JupyterLab in a class folder, with nbgrader's formgrader; it takes more arguments."""
    from autograder.formgrader import serve

    raise typer.Exit(serve(folder, context.args, browser))


def main() -> None:
    warnings.filterwarnings("ignore", module="nbgrader")  # SQLAlchemy's, about its own session
    try:
        app(prog_name="run.py")
    except ClassError as error:
        console.print(str(error), style="red")
        raise SystemExit(1) from error
