"""The course as nbgrader sees it. A class folder's nbgrader_config.py calls `configure`."""

from pathlib import Path

from nbgrader.converters import GenerateAssignment
from traitlets.config import Config

from autograder.release import ClearSolutions

REPOSITORY = Path(__file__).resolve().parent.parent


def configure(c: Config, folder: Path, language: str = "en") -> None:
    """Set up nbgrader for a class that lives in `folder`.

    language: "en" or "ko", of the notebooks that are released; submissions may come in either.
    Solutions are read from the repository and releases go to the class folder, as does all else.
    """
    c.CourseDirectory.course_id = "transformer-block"
    c.CourseDirectory.root = str(folder)
    c.CourseDirectory.db_url = f"sqlite:///{folder}/gradebook.db"
    c.CourseDirectory.source_directory = str(REPOSITORY / "solutions" / language)
    c.CourseDirectory.release_directory = str(REPOSITORY / "exercises" / language)
    release(c)


def release(c: Config) -> None:
    """The part that decides how a release looks: what stands where the solution was."""
    ours = {"ClearSolutions": ClearSolutions}
    stock = GenerateAssignment.class_traits()["preprocessors"].default()
    c.GenerateAssignment.preprocessors = [ours.get(p.__name__, p) for p in stock]
    c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # your code here"}
    c.ClearSolutions.text_stub = "*Your answer here · 여기에 답을 쓰세요*"
