"""A class: the folder on an instructor's disk that nbgrader works in."""

import json
import secrets
from pathlib import Path

from autograder.nbgrader_config import REPOSITORY

CONFIG = '''"""This class, as nbgrader sees it. What you set below the last line wins."""

from pathlib import Path

from autograder.nbgrader_config import configure

c = get_config()  # noqa: F821
configure(c, Path(__file__).resolve().parent, language="{language}")
'''


class ClassError(Exception):
    """A class folder that cannot be made or used; its text says what to do."""


def make_class(folder: Path, language: str = "en") -> None:
    """Make a class folder: submitted/, nbgrader_config.py and a secret. Nothing is overwritten.

    language: "en" or "ko", of the notebooks that are released.
    Raises ClassError where a class, or anything else, is there already.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise ClassError(f"{folder} is a file; name a folder for the class.")
    if folder.exists() and any(folder.iterdir()):
        raise ClassError(f"{folder} is not empty; name a new folder for the class.")
    if folder.is_relative_to(REPOSITORY):
        raise ClassError(f"{folder} lies in the course's repository; choose a folder outside it.")
    (folder / "submitted").mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(CONFIG.format(language=language), "utf-8")
    secret = folder / "secret"
    secret.touch(mode=0o600)
    secret.write_text(secrets.token_hex(32) + "\n", "utf-8")


def units() -> list[str]:
    """The units that have an exercise notebook, in order."""
    return sorted(p.name for p in (REPOSITORY / "solutions" / "en").iterdir() if p.is_dir())


def language_of(notebook: Path) -> str:
    """The language a notebook is written in, from its metadata; "en" where it does not say."""
    try:
        metadata = json.loads(notebook.read_text("utf-8-sig"))["metadata"]
        return metadata["blocklab"]["language"]
    except (OSError, ValueError, KeyError, TypeError):
        return "en"
