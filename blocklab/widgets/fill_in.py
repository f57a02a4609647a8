"""A diagram to fill in whose answer is code in the cell."""

from blocklab.widgets.cell import run
from blocklab.widgets.diagrams import diagram


def fill_in(name: str, *, answer: str = "") -> str:
    """Show a diagram to fill in, and return the answer: names of labels in order, by spaces.

    answer: what stands in the code. In a notebook a choice made in the picture replaces it when
    the cell runs again, unless the code has been changed by hand since. Elsewhere it is returned.
    Raises KeyError if no diagram has that name.
    """
    return run(name, diagram(name), str(answer))
