"""The files as a whole: versions that agree, nothing of one machine in them, clean to the tools."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
Need = Callable[[str, str], str]


def pins(lines: list[str]) -> dict[str, str]:
    """Versions by package, from lines such as torch==2.13.0."""
    pairs = (line.split("==") for line in lines if not line.startswith(("#", "-")))
    return {canonicalize_name(name): version for name, version in pairs}


CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


def test_constraints_are_sorted_exact_versions_that_any_machine_can_install():
    lines = [line for line in CONSTRAINTS if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    assert lines == sorted(lines, key=lambda line: line.split("==")[0].lower())


@pytest.mark.parametrize("line", [*PROJECT["dependencies"], *chain(*EXTRAS.values())])
def test_what_the_project_asks_for_is_pinned_within_its_range(line: str):
    wanted = Requirement(line)
    assert wanted.specifier.contains(pins(CONSTRAINTS)[canonicalize_name(wanted.name)])


def test_the_conda_environment_has_the_versions_of_the_constraints():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert conda["name"] == PROJECT["name"]
    assert "pip" in conda["dependencies"]
    (lines,) = (item["pip"] for item in conda["dependencies"] if isinstance(item, dict))
    assert {"-c constraints.txt", "-e .[course]"} <= {*lines}
    direct = [*PROJECT["dependencies"], *EXTRAS["course"]]
    names = {canonicalize_name(Requirement(line).name) for line in direct}
    assert pins(lines) == {name: pins(CONSTRAINTS)[name] for name in names}


# Written in two parts, so that this file does not find itself
HOSTS = [("pypi", ".org"), ("pythonhosted", ".org"), ("npmjs", ".org"), ("anaconda", ".org")]
HOSTS += [("download.pytorch", ".org"), ("deb.debian", ".org"), ("conda", "-mirror")]
FOREIGN = re.compile(
    "|".join(re.escape("".join(parts)) for parts in HOSTS) + r"|(?<![\w.+/-])/" + "work/"
)


def test_no_file_names_a_package_registry_or_a_path_of_one_machine(need: Need):
    git = need("git", "lists the files that belong to the repository")
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: its files cannot be told from others")
    command = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    found = []
    for name in filter(None, names.split("\0")):
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):  # not a text; deleted, not yet committed
            continue
        found += [f"{name}: {match.group()}" for match in FOREIGN.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check"],
        ["ruff", "format", "--check"],
        ["pyright", "--pythonpath", sys.executable],
    ],
    ids=["ruff check", "ruff format", "pyright"],
)
def test_the_code_is_clean_to(command: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYRIGHT_PYTHON_IGNORE_WARNINGS", "1")  # else it asks for a newer release
    answer = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
