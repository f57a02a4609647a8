"""Make the static site in site/: the lectures with their outputs, the exercises, the handbook.

Each language is a site of its own, with its own search, under one front page. Nothing is executed
and nothing is fetched.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

from fontTools import subset

from blocklab.text import LANGUAGES, Text
from course.opening import repository
from course.site.pages import ROOT, stage

HERE = Path(__file__).resolve().parent
MARK = ".nojekyll"  # tells GitHub Pages to take the files as they are, and us that they are ours
SIGNS = "20-7E,A0-FF,370-3FF,2000-23FF,27E6-27EF,25A0-25FF,2A00-2AFF,1D400-1D7FF"
TITLE = Text("The Transformer block", "Transformer block")


class SiteError(Exception):
    """A site that could not be made; its text says why."""


def build(folder: Path) -> None:
    """Make the site in a folder, in place of the one that is there.

    Raises SiteError if the folder holds anything else, or if Sphinx warns of anything.
    """
    if folder.is_file() or (
        folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists()
    ):
        raise SiteError(f"{folder} is something else than a site; name a new folder.")
    with tempfile.TemporaryDirectory() as name:
        made = Path(name, "site")
        shutil.copytree(HERE / "front", made)
        (made / MARK).touch()
        running = [_sphinx(language, Path(name, language)) for language in LANGUAGES]
        said = [process.communicate()[0] for process in running]
        if any(process.returncode for process in running):
            raise SiteError("\n".join(said))
        for language in LANGUAGES:
            shutil.move(Path(name, language, "made"), made / language)
            _math_font(made / language / "_static" / "math.woff")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(made, folder)


def _sphinx(language: str, work: Path) -> subprocess.Popen[str]:
    """Sphinx at work in a folder on one language, whose site becomes `made` in it."""
    stage(language, work)
    shutil.copytree(HERE / "locales", work / "source" / "locales")
    values = {
        "language": language,
        "project": TITLE.to(language),
        "html_title": TITLE.to(language),
        "html_extra_path": str(work / "extra"),
        "repository": repository(),
    }
    options = ["-q", "-W", "--keep-going", "-c", str(HERE), "-d", str(work / "trees")]
    options += [f"--define={key}={value}" for key, value in values.items()]
    folders = [str(work / "source"), str(work / "made")]
    return subprocess.Popen(
        [sys.executable, "-m", "sphinx", *options, *folders],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _math_font(path: Path) -> None:
    """The letters and signs of formulas as a web font: not every system has one for them."""
    font = distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
    subset.main([str(font), f"--unicodes={SIGNS}", "--flavor=woff", f"--output-file={path}"])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("run.py site", description=(__doc__ or "").split("\n")[0])
    help = "where to, from the repository; a site that is there is replaced; site by default"
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "site", help=help)
    folder = parser.parse_args(arguments).folder
    try:
        build(folder)
    except SiteError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The site is in {folder}. To look at it: python -m http.server -d {folder}")
    return 0
