"""The instructor's handbook: its commands exist, its numbers are true, its example works."""

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pytest
import typer
from nbgrader.apps import NbGraderApp
from traitlets.config import Config

import run
from autograder.cli import app
from autograder.judge import Judge
from autograder.nbgrader_config import configure
from autograder.sandbox import Limits
from blocklab.text import LANGUAGES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "README.ko.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = re.compile(r"(?:^|`)((?:python run\.py|nbgrader) [^`\n]+)", re.MULTILINE)
QUOTED = sorted({line for path in PAGES for line in COMMAND.findall(path.read_text("utf-8"))})
EXAMPLE = re.compile(r"^`([\w./]+)`:\n\n(`{3,})\w*\n(.*?)\n\2$", re.MULTILINE | re.DOTALL)
BUILD = """
from course import build
for path, content in build.knowledge(build.source.units()).items():
    (build.ROOT / path).write_text(content, "utf-8")
solved = build.solutions(["02_rms_norm"])
build.write(solved)
build.write(build.releases(solved))
"""


def example(language: str) -> list[tuple[str, str]]:
    """The files of the worked example, in order, with what is to be added to each."""
    text = (ROOT / "docs" / language / "handbook" / "add_an_exercise.md").read_text("utf-8")
    return [(path, words) for path, _, words in EXAMPLE.findall(text)]


def test_the_worked_example_is_short_and_the_same_in_both_languages():
    assert example("en") == example("ko")
    lines = [line for _, words in example("en") for line in words.split("\n") if line.strip()]
    assert 30 < len(lines) < 60


def test_who_follows_the_worked_example_to_the_letter_has_a_new_exercise(tmp_path: Path):
    """All of `build`, but that lectures, which do not change, are not executed again."""
    for name in ("blocklab", "course", "autograder", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for path, words in example("en"):
        with open(tmp_path / path, "a", encoding="utf-8") as file:
            file.write(f"\n\n{words}\n")
    python = [sys.executable, "-c", BUILD]
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    for command in (python, [*pytest_, "tests/checks/test_exercises.py", "-k", "peak_norm"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
    release = (tmp_path / "exercises/ko/02_rms_norm/02_rms_norm.ipynb").read_text("utf-8")
    assert 'check(\\"peak_norm\\")' in release
    assert "amax" not in release


class Understood(Exception):
    """Raised in place of what a command would do."""


@pytest.mark.parametrize("line", [line for line in QUOTED if line.startswith("python")])
def test_a_quoted_command_of_the_course_is_understood(line: str, monkeypatch: pytest.MonkeyPatch):
    named = re.sub("owner/name", "ada/course", line, flags=re.IGNORECASE)  # what a reader puts in
    words = shlex.split(named, comments=True)[2:]
    options, rest = run.parser().parse_known_args(words)
    if options.action is run.autograder:
        group: Any = typer.main.get_command(app)
        group.commands[options.command].make_context(options.command, rest)
    elif options.action is run.course:
        parse = ArgumentParser.parse_args

        def only_parse(parser: ArgumentParser, *arguments: Any) -> None:
            parse(parser, *arguments)
            raise Understood

        monkeypatch.setattr(ArgumentParser, "parse_args", only_parse)
        monkeypatch.setattr(sys, "argv", ["run.py", *rest])
        monkeypatch.delitem(sys.modules, f"course.{options.command}", raising=False)
        with pytest.raises(Understood):
            runpy.run_module(f"course.{options.command}", run_name="__main__")


@pytest.mark.parametrize("line", [line for line in QUOTED if line.startswith("nbgrader")])
def test_a_quoted_command_of_nbgrader_is_understood(line: str):
    nbgrader, words = NbGraderApp(), shlex.split(line, comments=True)[1:]
    while words and nbgrader.subcommands:
        known: Any = nbgrader.subcommands
        nbgrader = known[words.pop(0)][0]()
    said = {word.lstrip("-").split("=")[0] for word in words if word.startswith("--")}
    assert said <= {*nbgrader.flags, *nbgrader.aliases}


def test_the_bounds_of_the_sandbox_are_as_the_handbook_says():
    limits, config, megabyte = Limits(), Config(), 1 << 20
    configure(config, ROOT)
    seconds, answer = config.Execute.timeout, Judge.check_timeout.default_value
    for language, second, and_ in (("en", " s", ";"), ("ko", "초", ",")):
        text = (ROOT / "docs" / language / "handbook" / "safety.md").read_text("utf-8")
        disk = f"{limits.file_size // megabyte} MB{and_} {limits.disk // megabyte} MB"
        for cell in (
            f"{seconds}{second}{and_} {answer:g}{second}",
            f"{limits.cpu_seconds}{second}",
            f"{limits.memory // megabyte // 1024} GB",
            str(limits.processes),
            disk,
            f"{limits.output // megabyte} MB",
        ):
            assert f"| {cell} |" in text


def test_both_languages_have_the_same_pages_with_the_same_sections_and_commands():
    english, korean = (sorted((ROOT / "docs" / lang).rglob("*.md")) for lang in LANGUAGES)
    for one, other in zip(english, korean, strict=True):
        texts = [path.read_text("utf-8") for path in (one, other)]
        assert one.relative_to(ROOT / "docs" / "en") == other.relative_to(ROOT / "docs" / "ko")
        assert len({len(re.findall("^#+ ", text, re.MULTILINE)) for text in texts}) == 1
        commands = [COMMAND.findall(text.replace("--lang ko", "--lang en")) for text in texts]
        assert commands[0] == commands[1]
