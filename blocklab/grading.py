"""Whether this runs while a submission is graded."""

import os


def graded() -> bool:
    """Whether nbgrader runs this, or a grader's sandbox, which has no checks."""
    try:
        import blocklab.checks  # noqa: F401
    except ModuleNotFoundError:
        return True
    return bool(os.environ.get("NBGRADER_EXECUTION"))
