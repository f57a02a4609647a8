"""A mask to paint whose answer is code in the cell."""

from blocklab.widgets.cell import run
from blocklab.widgets.masks import mask


def paint_mask(name: str, T: int, *, answer: str = "") -> str:
    """Show a T by T grid to paint, and return the answer: a row of 0 and 1 a token, by spaces.

    Row i is the token that looks, column j the token that is looked at, 1 means that it may.
    answer: what stands in the code, empty if nothing is painted yet; as in `fill_in`.
    Raises KeyError if no mask has that name.
    """
    return run(name, mask(name, T), str(answer))
