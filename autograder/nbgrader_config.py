"""The course as nbgrader sees it. A class folder's nbgrader_config.py calls `configure`."""

import os
import sys
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde, GenerateAssignment
from traitlets.config import Config

from autograder.clean import CleanLearners
from autograder.judge import Judge
from autograder.limit import LimitText
from autograder.pages import pages
from autograder.quick import quicken
from autograder.release import ClearSolutions
from blocklab.study.self_check import STUB

REPOSITORY = Path(__file__).resolve().parent.parent

# nbgrader runs `alembic` by name, wherever its own Python was started from.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def course(c: Config, language: str = "en") -> None:
    """The repository itself as nbgrader sees it: solutions are its source, exercises its release.

    language: "en" or "ko".
    """
    c.CourseDirectory.course_id = "transformer-block"
    c.CourseDirectory.root = str(REPOSITORY)
    c.CourseDirectory.source_directory = f"solutions/{language}"
    c.CourseDirectory.release_directory = f"exercises/{language}"
    release(c)


def configure(c: Config, folder: Path, language: str = "en") -> None:
    """Set up nbgrader for a class that lives in `folder`; the repository stays clean.

    language: "en" or "ko", of the notebooks that are released; submissions may come in either.
    """
    course(c, language)
    c.CourseDirectory.root = str(folder)
    c.CourseDirectory.db_url = f"sqlite:///{folder}/gradebook.db"
    c.CourseDirectory.source_directory = str(REPOSITORY / "solutions" / language)
    c.CourseDirectory.release_directory = "release"
    stock: Any = Autograde.class_traits()["autograde_preprocessors"].default()
    ours = {"Execute": [Judge, CleanLearners], "LimitOutput": [LimitText]}
    c.Autograde.autograde_preprocessors = [q for p in stock for q in ours.get(p.__name__, [p])]
    pages(c, REPOSITORY / "solutions" / language)
    c.Judge.secret_file = str(folder / "secret")
    c.Execute.shutdown_kernel = "immediate"
    c.Execute.timeout = 60
    c.NotebookExporter.optimistic_validation = True  # once, when all preprocessors have run
    quicken()
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")


def release(c: Config) -> None:
    """The part that decides how a release looks: what stands where the solution was."""
    ours = {"ClearSolutions": ClearSolutions}
    stock: Any = GenerateAssignment.class_traits()["preprocessors"].default()
    c.GenerateAssignment.preprocessors = [ours.get(p.__name__, p) for p in stock]
    c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # your code here"}
    c.ClearSolutions.text_stub = STUB
