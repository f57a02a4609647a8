"""The course's one command: makes its environment when needed, then starts what you ask for.

Needs Python 3.11 or newer and, the first time, a network. Everything goes into the folder .venv
beside this file; the environment variable COURSE_VENV names another place. To remove it all,
delete that folder.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent
OLDEST = (3, 11)
STAMP = "course.json"  # in .venv: what is installed there, or that something is half installed
COURSE = ("course",)
SITE = ("course", "site")
TEST = ("course", "site", "test")
CONNECTION = "course.server.PromptConnection"  # of JupyterLab with kernels: widgets answer at once


class Problem(Exception):
    """Something the reader of the message can do something about."""


# ---------------------------------------------------------------- the environment


def venv_folder() -> Path:
    """Where the environment is: COURSE_VENV, or .venv beside this file."""
    return Path(os.path.abspath(Path(os.environ.get("COURSE_VENV") or ROOT / ".venv").expanduser()))


def python_in(venv: Path) -> Path:
    """The environment's own Python."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def version_of(python: Path) -> str | None:
    """The Python version such as "3.11", or None if it does not start."""
    try:
        tell = "import sys; print('%d.%d' % sys.version_info[:2])"
        answer = subprocess.run([python, "-c", tell], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def wanted(venv: Path) -> dict[str, object]:
    """What a finished installation has to agree with; a change in any of it installs again."""
    asked = (ROOT / "pyproject.toml").read_bytes().split(b"\n[tool.")[0]  # not how tools are set
    files = asked + b"\0" + (ROOT / "constraints.txt").read_bytes()
    return {
        "files": hashlib.sha256(files).hexdigest(),
        "project": str(ROOT),
        "venv": str(venv),
        "python": version_of(python_in(venv)),
    }


def read_stamp(venv: Path) -> dict[str, object]:
    """The stamp in the environment; empty if there is none that can be read."""
    try:
        stamp = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(venv: Path, stamp: dict[str, object]) -> None:
    """Write the stamp whole or not at all."""
    new = venv / f"{STAMP}.new"
    new.write_text(json.dumps(stamp, indent=2), encoding="utf-8")
    new.replace(venv / STAMP)


def is_ready(venv: Path, extras: tuple[str, ...]) -> bool:
    """Whether the environment holds these extras, complete and up to date."""
    stamp = read_stamp(venv)
    have = stamp.pop("extras", [])
    return isinstance(have, list) and {*extras} <= {*have} and stamp == wanted(venv)


def is_broken(venv: Path) -> bool:
    """Whether an environment is there that installing into it could not mend."""
    if not (venv / "pyvenv.cfg").exists():
        return False
    stamp, python = read_stamp(venv), version_of(python_in(venv))
    moved = stamp.get("venv", str(venv)) != str(venv) or stamp.get("python", python) != python
    return python is None or moved or "half_installed" in stamp


def prepare(venv: Path, extras: tuple[str, ...]) -> None:
    """Make the environment or bring it up to date; does nothing when it is ready."""
    if is_ready(venv, extras):
        return
    if venv.exists() and not (venv / "pyvenv.cfg").exists() and any(venv.iterdir()):
        raise Problem(
            f"{venv} exists and is not a Python environment, so nothing was put there.\n"
            "Remove it, or set COURSE_VENV to a folder that may be filled."
        )
    afresh = is_broken(venv)
    if afresh and venv.is_symlink():
        raise Problem(
            f"{venv} is a link to {venv.resolve()}, which was made for another place: to fit it\n"
            "for this one would empty it. Remove the link, or set COURSE_VENV to another folder."
        )
    say(f"Making the course's own Python environment{' afresh' * afresh} in {venv}")
    carry_out([sys.executable, "-m", "venv", *["--clear"] * afresh, str(venv)])
    say("Installing PyTorch: the largest part, a few minutes the first time")
    pip_install(venv, "torch")
    say("Installing everything else")
    pip_install(venv, "-e", f".[{','.join(extras)}]")
    write_stamp(venv, {**wanted(venv), "extras": list(extras)})
    say("Ready.")


def pip_install(venv: Path, *what: str) -> None:
    """Install with the versions in constraints.txt.

    While pip looks and downloads, the environment stays what it was. From where pip starts to
    change it until it ends well, the stamp says that it is half installed.
    """
    pip = [str(python_in(venv)), "-m", "pip", "install", "--no-input", "-c", "constraints.txt"]

    def watch(line: str) -> None:
        if line.startswith("Installing collected packages"):
            write_stamp(venv, {"half_installed": True})

    carry_out([*pip, *what], watch)
    if "half_installed" in read_stamp(venv):
        (venv / STAMP).unlink()


# ---------------------------------------------------------------- running others


def say(text: str) -> None:
    print(f"* {text}", flush=True)


def carry_out(command: list[str], watch: Callable[[str], None] = lambda line: None) -> None:
    """Run one step of the installation, or raise a Problem that says what to do."""
    code, output = run(command, watch)
    if code:
        raise Problem(explain(output))


def run(command: list[str], watch: Callable[[str], None]) -> tuple[int, str]:
    """Run a command and show its larger downloads; returns its exit code and all it printed."""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PIP_USER": "0", "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as child:
        assert child.stdout
        lines = []
        for line in child.stdout:
            lines.append(line)
            watch(line)
            if re.match(r"\s*Downloading .*[MG]B\)", line):
                print(f"    {line.strip()}", flush=True)
    return child.returncode, "".join(lines)


CAUSES = (
    (
        r"No space left on device|not enough space on the disk",
        "The disk is full. Free about 5 GB there, or set COURSE_VENV to a folder on a larger disk\n"
        "(and TMPDIR too, if the disk of temporary files is the full one).",
    ),
    (
        r"No module named .?(venv|ensurepip)|ensurepip is not available",
        "This Python cannot make environments: its venv module is missing.\n"
        "On Debian and Ubuntu: sudo apt install python3-venv. Elsewhere: install Python from\n"
        "its own site, and start this file with that one.",
    ),
    (
        r"connection broken by|Max retries exceeded|name resolution|getaddrinfo failed"
        r"|Read timed out|ReadTimeout|ConnectTimeout|ProxyError|SSLError",
        "The server for Python packages could not be reached. Check the network (behind a proxy,\n"
        "set HTTPS_PROXY).",
    ),
    (
        r"Permission denied|Access is denied|Read-only file system|WinError 32",
        "This folder may not be written to, or one of its files is open in a program. Close\n"
        "notebooks that still run, or set COURSE_VENV to a folder of yours.",
    ),
    (
        r"No matching distribution|Could not find a version|different Python|build wheel",
        f"A package is not made for this Python, {sys.version.split()[0]}. Python 3.11 to 3.13\n"
        "are safe choices: start this file with one of those.",
    ),
)


def explain(output: str) -> str:
    """What went wrong in an installation and what to do, from all that it printed."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    told, advice = [line for line in lines if line.startswith("ERROR:")][-2:] or lines[-5:], None
    for pattern, text in CAUSES:
        matching = [line for line in lines if re.search(pattern, line)]
        if matching:
            told, advice = matching[-1:], text
            break
    said = "\n".join(["It said:", *(f"    {line[:300]}" for line in told)]) if told else ""
    parts = ["The installation did not come to its end.", advice, said]
    return "\n".join([*filter(None, parts), "The same command will try again."])


def hand_over(venv: Path, arguments: list[str], cwd: Path | None = ROOT) -> int:
    """Become the environment's Python with these arguments; its exit code is ours."""
    python = python_in(venv)
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)])
    env = {**os.environ, "PATH": path, "VIRTUAL_ENV": str(venv)}
    env.pop("PYTHONHOME", None)
    command = [str(python), *arguments]
    if cwd:
        os.chdir(cwd)
    sys.stdout.flush()
    if os.name == "posix":
        os.execve(python, command, env)
    with subprocess.Popen(command, env=env) as child:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:  # the child got it too, and decides what it means
                continue


# ---------------------------------------------------------------- commands


def start(venv: Path, options: argparse.Namespace, rest: list[str]) -> int:
    page = f"{options.lang}/00_start_here.ipynb" if options.lang else "start.ipynb"
    if options.no_browser:
        rest = ["--no-browser", *rest]
    # What the repository ships is trusted, so that its drawings show before a cell has run.
    notebooks = sorted(str(p) for p in (ROOT / "lectures").rglob("*.ipynb"))
    run([str(python_in(venv)), "-m", "nbformat.sign", *notebooks], lambda line: None)
    # The page as a plain argument would make its folder the root, from where no exercise is seen.
    where = [
        f"--ServerApp.root_dir={ROOT}",
        f"--ServerApp.kernel_websocket_connection_class={CONNECTION}",
        f"--LabApp.default_url=/lab/tree/lectures/{page}",
    ]
    return hand_over(venv, ["-m", "jupyterlab", *where, *rest])


def test(venv: Path, options: argparse.Namespace, rest: list[str]) -> int:
    full = ["--full"] if options.full else []
    return hand_over(venv, ["-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", *full, *rest])


def course(venv: Path, options: argparse.Namespace, rest: list[str]) -> int:
    return hand_over(venv, ["-m", f"course.{options.command}", *rest])


def autograder(venv: Path, options: argparse.Namespace, rest: list[str]) -> int:
    # In the caller's own folder, since the paths given are meant from there.
    return hand_over(venv, ["-m", "autograder", options.command, *rest], cwd=None)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="run.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="`run.py COMMAND --help` says more about one. What a command does not know is\n"
        "passed on: to JupyterLab by start, to pytest by test.",
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name, action, extras, text, usage, own_help=True):
        one = commands.add_parser(
            name,
            help=text,
            description=text,
            usage=f"run.py {name} {usage}",
            add_help=own_help,
            allow_abbrev=False,
        )
        one.set_defaults(action=action, extras=extras)
        return one

    one = command(
        "start",
        start,
        COURSE,
        "open the course in JupyterLab",
        "[--lang en|ko] [--no-browser] [JupyterLab arguments ...]",
    )
    one.add_argument("--lang", choices=("en", "ko"), help="go straight to the first page in it")
    one.add_argument("--no-browser", action="store_true", help="print the address, open nothing")

    one = command("test", test, TEST, "run the tests", "[--full] [pytest arguments ...]")
    one.add_argument("--full", action="store_true", help="also what takes large numbers and long")

    # These explain their own options, once they are installed.
    command("build", course, COURSE, "make the notebooks from course/", "", own_help=False)
    command("publish", course, COURSE, "tell the notebooks their address", "", own_help=False)
    command("colab", course, COURSE, "pack a zip to upload to Colab", "", own_help=False)
    command("site", course, SITE, "make the static site", "", own_help=False)
    command("collect", autograder, COURSE, "take in what students sent", "", own_help=False)
    command("grade", autograder, COURSE, "grade submissions", "", own_help=False)
    command("class", autograder, COURSE, "make an instructor's folder", "", own_help=False)
    command("deadline", autograder, COURSE, "say when a unit is due", "", own_help=False)
    command("formgrader", autograder, COURSE, "grade by hand in JupyterLab", "", own_help=False)
    return top


def main(arguments: list[str]) -> int:
    if sys.version_info < OLDEST:
        return complain(
            f"This is Python {sys.version.split()[0]} ({sys.executable}), and the course needs "
            f"{OLDEST[0]}.{OLDEST[1]} or newer.\n"
            "Start it with a newer one by name, for example: python3.12 run.py start\n"
            "(on Windows: py -3.12 run.py start)"
        )
    options, rest = parser().parse_known_args(arguments)
    venv = venv_folder()
    try:
        prepare(venv, options.extras)
        return options.action(venv, options, rest)
    except Problem as problem:
        return complain(str(problem))
    except OSError as error:
        words = {errno.ENOSPC: "No space left on device", errno.EROFS: "Read-only file system"}
        return complain(explain(words.get(error.errno or 0, "") + f"\n{error}"))
    except KeyboardInterrupt:
        return complain("Stopped. The same command starts the installation afresh.", code=130)


def complain(text: str, code: int = 1) -> int:
    print(f"\n{text}", file=sys.stderr, flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
