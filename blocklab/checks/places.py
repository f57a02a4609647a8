"""What is wrong with a picture that was filled in or painted: how much, not where."""

from collections.abc import Sequence

from blocklab.text import Text

NUMBER = Text(
    "Filled: {got} of the {all} places.", "{all}칸이 있어야 하는데 {got}칸이 채워져 있습니다."
)
WRONG = Text(
    "Not right yet: {wrong} of the {all} places.", "{all}칸 가운데 {wrong}칸이 아직 맞지 않습니다."
)
FORM = Text(
    "A mask is {all} rows of {all} signs, 0 or 1, with a space between the rows.",
    "mask는 0과 1을 {all}개씩 쓴 행 {all}개이고, 행 사이에는 빈칸을 둡니다.",
)
ROWS = Text(
    "Not right yet: {wrong} of the {all} rows.", "{all}행 가운데 {wrong}행이 아직 맞지 않습니다."
)


def places(got: Sequence[str], want: Sequence[str]) -> Text:
    """What to say of words that are not those wanted: labels in places, or rows of a mask."""
    wrong = sum(a != b for a, b in zip(got, want, strict=False))
    if set("".join(want)) <= {"0", "1"}:
        formed = len(got) == len(want) and all(
            len(row) == len(want) and set(row) <= {"0", "1"} for row in got
        )
        return (ROWS if formed else FORM).fill(wrong=wrong, all=len(want))
    empty = sum(word == "?" for word in got)
    filled = len(got) - empty
    return (WRONG if filled == len(want) else NUMBER).fill(wrong=wrong, got=filled, all=len(want))
