"""What nbgrader does anew dozens of times for each submission, done once.

For one submission it opens the gradebook ten times, each time with an engine that compiles every
query again; it commits after every cell; and for every cell it examines its own JSON schema.
"""

import functools
from types import ModuleType, SimpleNamespace
from typing import Any

import nbgrader.api
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from nbgrader import preprocessors
from nbgrader.api import Gradebook
from nbgrader.converters import autograde
from nbgrader.nbgraderformat import common
from sqlalchemy import create_engine

USERS: tuple[ModuleType, ...] = (
    autograde,
    preprocessors.latesubmissions,
    preprocessors.overwritecells,
    preprocessors.overwritekernelspec,
    preprocessors.saveautogrades,
)


class OnceGradebook(Gradebook):
    """nbgrader's gradebook, which is written when it is left without an error, and only then."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._write, self.db.commit = self.db.commit, self.db.flush

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        try:
            if kind is None:
                self._write()
        finally:
            super().__exit__(kind, error, traceback)


def validate(instance: Any, schema: Any) -> None:
    """As `jsonschema.validate`, for a schema that is known to be one.

    Raises jsonschema.ValidationError.
    """
    errors = validator_for(schema)(schema).iter_errors(instance)
    if error := best_match(errors):
        raise error


_engine = functools.cache(create_engine)


def quicken() -> None:
    """Make nbgrader's autograding quick in this process; what it does stays the same."""
    nbgrader.api.create_engine = _engine
    for module in USERS:
        setattr(module, Gradebook.__name__, OnceGradebook)
    common.jsonschema = SimpleNamespace(validate=validate)
