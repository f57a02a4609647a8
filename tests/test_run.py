"""run.py: makes its environment once, says what is wrong in plain words, and hands over."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import run

COMMANDS = (
    "start",
    "test",
    "build",
    "publish",
    "colab",
    "site",
    "collect",
    "grade",
    "class",
    "deadline",
)
Watch = Callable[[str], None]


class FakeRunner:
    """Stands in for run.run: notes each step, makes the folder, fails as it is told to."""

    def __init__(self, venv: Path) -> None:
        self.venv = venv
        self.steps: list[str] = []
        self.fails: dict[str, str] = {}
        self.dies: str | None = None

    def __call__(self, command: list[str], watch: Watch) -> tuple[int, str]:
        step = " ".join(command[1:])
        self.steps.append(step)
        for part, output in self.fails.items():
            if part in step:
                return 1, output
        if "-m venv" in step:
            python = run.python_in(self.venv)
            python.parent.mkdir(parents=True, exist_ok=True)
            python.unlink(missing_ok=True)
            python.symlink_to(sys.executable)
            (self.venv / "pyvenv.cfg").touch()
            if "--clear" in step:
                (self.venv / run.STAMP).unlink(missing_ok=True)
        else:
            watch("Installing collected packages: this, that\n")
        if self.dies and self.dies in step:
            raise KeyboardInterrupt
        return 0, "fine\n"


@pytest.fixture
def venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "environment"
    monkeypatch.setenv("COURSE_VENV", str(folder))
    return folder


@pytest.fixture
def runner(venv: Path, monkeypatch: pytest.MonkeyPatch) -> FakeRunner:
    fake = FakeRunner(venv)
    monkeypatch.setattr(run, "run", fake)
    return fake


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is handed over, in place of running it; the exit code is 7."""
    calls: list[list[str]] = []

    def hand_over(_: Path, arguments: list[str], cwd: Path | None = run.ROOT) -> int:
        calls.append([*arguments, f"in {cwd.name if cwd else 'the caller'}"])
        return 7

    monkeypatch.setattr(run, "hand_over", hand_over)
    return calls


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(run.ROOT / "run.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


# ---------------------------------------------------------------- starting anywhere


def test_help_lists_every_command():
    answer = call("--help")
    assert answer.returncode == 0
    assert all(f"\n    {name} " in answer.stdout for name in COMMANDS)


@pytest.mark.parametrize("command", ["start", "test"])
def test_a_command_explains_itself_without_an_environment(command: str, venv: Path):
    answer = call(command, "--help")
    assert answer.returncode == 0
    assert f"run.py {command}" in answer.stdout
    assert not venv.exists()


def test_an_unknown_command_is_named_and_fails():
    answer = call("strat")
    assert answer.returncode == 2
    assert "strat" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_it_imports_only_the_standard_library():
    nodes = [*ast.walk(ast.parse((run.ROOT / "run.py").read_text(encoding="utf-8")))]
    imported = [alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names]
    imported += [n.module or "." for n in nodes if isinstance(n, ast.ImportFrom)]
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


def test_an_older_python_can_read_it_and_is_told_which_one_to_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    ast.parse((run.ROOT / "run.py").read_text(encoding="utf-8"), feature_version=(3, 7))
    monkeypatch.setattr(run.sys, "version_info", (3, 9, 2))
    assert run.main(["start"]) == 1
    assert "needs 3.11 or newer" in capsys.readouterr().err


# ---------------------------------------------------------------- the environment


def test_the_first_run_installs_torch_first_and_the_second_nothing(
    runner: FakeRunner, handed: list[list[str]]
):
    assert run.main(["build"]) == 7
    made, torch, rest = runner.steps
    assert "-m venv" in made
    assert "--clear" not in made
    assert torch.endswith("-c constraints.txt torch")
    assert rest.endswith("-c constraints.txt -e .[course]")
    assert run.main(["build"]) == 7
    assert len(runner.steps) == 3
    assert len(handed) == 2


def test_the_test_environment_serves_the_course_but_not_the_other_way_round(
    venv: Path, runner: FakeRunner
):
    run.prepare(venv, run.COURSE)
    assert not run.is_ready(venv, run.TEST)
    run.prepare(venv, run.TEST)
    assert runner.steps[-1].endswith("-e .[course,site,test]")
    assert run.is_ready(venv, run.COURSE)


def test_changed_versions_install_again_into_the_same_environment(
    venv: Path, runner: FakeRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text("as it was")
    monkeypatch.setattr(run, "ROOT", tmp_path)
    run.prepare(venv, run.COURSE)
    (tmp_path / "constraints.txt").write_text("other versions")
    run.prepare(venv, run.COURSE)
    assert len(runner.steps) == 6
    assert not any("--clear" in step for step in runner.steps)


def test_the_address_of_the_course_is_no_reason_to_install_again(
    venv: Path, runner: FakeRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text("as it was\n[tool.course]\n")
    monkeypatch.setattr(run, "ROOT", tmp_path)
    run.prepare(venv, run.COURSE)
    (tmp_path / "pyproject.toml").write_text('as it was\n[tool.course]\nrepository = "a/b"\n')
    assert run.is_ready(venv, run.COURSE)


@pytest.mark.parametrize("moment", ["torch", "-e .[course]"])
def test_an_interrupted_installation_is_redone_from_nothing(
    moment: str, venv: Path, runner: FakeRunner, capsys: pytest.CaptureFixture[str]
):
    runner.dies = moment
    assert run.main(["build"]) == 130
    assert "Stopped" in capsys.readouterr().err
    runner.dies = None
    run.prepare(venv, run.COURSE)
    assert "-m venv --clear" in runner.steps[-3]
    assert run.is_ready(venv, run.COURSE)


def test_a_failed_download_leaves_a_working_environment_as_it_was(venv: Path, runner: FakeRunner):
    run.prepare(venv, run.COURSE)
    before = (venv / run.STAMP).read_text()
    runner.fails = {"torch": "WARNING: Retrying after connection broken by 'NewConnectionError'"}
    with pytest.raises(run.Problem, match="could not be reached"):
        run.prepare(venv, run.TEST)
    assert (venv / run.STAMP).read_text() == before
    assert run.is_ready(venv, run.COURSE)


def test_an_environment_moved_or_without_its_python_is_made_afresh(venv: Path, runner: FakeRunner):
    run.prepare(venv, run.COURSE)
    stamp = json.loads((venv / run.STAMP).read_text())
    run.write_stamp(venv, {**stamp, "venv": str(venv.with_name("elsewhere"))})
    assert run.is_broken(venv)
    run.write_stamp(venv, stamp)
    assert not run.is_broken(venv)
    run.python_in(venv).unlink()
    assert run.is_broken(venv)


def test_a_folder_that_is_no_environment_is_never_filled_or_emptied(
    venv: Path, runner: FakeRunner, capsys: pytest.CaptureFixture[str]
):
    venv.mkdir()
    (venv / "thesis.txt").write_text("years of work")
    assert run.main(["start"]) == 1
    assert "is not a Python environment" in capsys.readouterr().err
    assert runner.steps == []
    assert (venv / "thesis.txt").exists()


def test_an_environment_of_another_place_is_not_emptied_through_a_link(
    venv: Path, runner: FakeRunner, capsys: pytest.CaptureFixture[str]
):
    run.prepare(venv, run.COURSE)
    runner.steps.clear()
    stamp = run.read_stamp(venv)
    run.write_stamp(venv, {**stamp, "venv": "elsewhere"})
    venv.symlink_to(venv.rename(venv.with_name("other")), target_is_directory=True)
    assert run.main(["start"]) == 1
    assert "Remove the link" in capsys.readouterr().err
    assert runner.steps == []


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device", "disk is full"),
        ("/usr/bin/python3: No module named venv", "python3-venv"),
        ("The virtual environment was not created: ensurepip is not available.", "python3-venv"),
        ("Retrying after connection broken by 'ProxyError'\nERROR: No matching", "HTTPS_PROXY"),
        ("ERROR: [Errno 13] Permission denied: 'x'", "COURSE_VENV"),
        ("ERROR: No matching distribution found for torch==2.13.0", "3.11 to 3.13"),
        ("something nobody foresaw", "something nobody foresaw"),
    ],
)
def test_a_failed_installation_says_what_to_do(
    output: str, advice: str, runner: FakeRunner, capsys: pytest.CaptureFixture[str]
):
    runner.fails = {"torch": output}
    assert run.main(["start"]) == 1
    message = capsys.readouterr().err
    assert advice in message
    assert "The same command will try again" in message


def test_an_error_of_the_disk_itself_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], runner: FakeRunner
):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run, "write_stamp", full)
    assert run.main(["start"]) == 1
    assert "disk is full" in capsys.readouterr().err


# ---------------------------------------------------------------- handing over


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("start", "-m jupyterlab ROOT --LabApp.default_url=/lab/tree/lectures/start.ipynb in REPO"),
        (
            "start --lang ko --no-browser --port 9",
            "-m jupyterlab ROOT --LabApp.default_url=/lab/tree/lectures/ko/00_start_here.ipynb"
            " --no-browser --port 9 in REPO",
        ),
        ("test", "-m pytest -q -n 2 --dist loadgroup in REPO"),
        (
            "test --full -n 0 -k norm tests",
            "-m pytest -q -n 2 --dist loadgroup --full -n 0 -k norm tests in REPO",
        ),
        ("build --check norm", "-m course.build --check norm in REPO"),
        ("build --help", "-m course.build --help in REPO"),
        ("publish ada/course", "-m course.publish ada/course in REPO"),
        ("colab --lang ko", "-m course.colab --lang ko in REPO"),
        ("site elsewhere", "-m course.site elsewhere in REPO"),
        ("grade a b --scheduler s", "-m autograder grade a b --scheduler s in the caller"),
        (
            "collect winter a.zip --unit 02_rms_norm",
            "-m autograder collect winter a.zip --unit 02_rms_norm in the caller",
        ),
        ("class winter --lang ko", "-m autograder class winter --lang ko in the caller"),
    ],
)
def test_each_command_hands_over_what_it_was_given(
    arguments: str, expected: str, runner: FakeRunner, handed: list[list[str]]
):
    assert run.main(arguments.split()) == 7
    connection = f"--ServerApp.kernel_websocket_connection_class={run.CONNECTION}"
    expected = expected.replace("ROOT", f"--ServerApp.root_dir={run.ROOT} {connection}")
    assert " ".join(handed[0]) == expected.replace("REPO", run.ROOT.name)


def test_the_child_finds_the_environments_programs_and_its_exit_code_is_ours(venv: Path):
    run.python_in(venv).parent.mkdir(parents=True)
    run.python_in(venv).symlink_to(sys.executable)
    child = "import os, sys; print(os.environ['PATH'], os.getcwd(), sep='\\n'); sys.exit(3)"
    code = f"import run; raise SystemExit(run.hand_over(run.venv_folder(), ['-c', {child!r}]))"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=run.ROOT
    )
    path, folder = answer.stdout.splitlines()
    assert path.startswith(str(run.python_in(venv).parent))
    assert Path(folder) == run.ROOT
    assert answer.returncode == 3
