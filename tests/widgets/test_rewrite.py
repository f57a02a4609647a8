"""An answer is written into a cell, and nothing else of the cell changes."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocklab.widgets.rewrite import rewrite

CASES = {
    "the answer is replaced": ('fill_in("one", answer="x")', 'fill_in("one", answer="y z")'),
    "an answer is added": ('fill_in("one")', 'fill_in("one", answer="y z")'),
    "a trailing comma stays": ('fill_in("one",)', 'fill_in("one", answer="y z",)'),
    "a name by keyword": ('fill_in(name="one")', 'fill_in(name="one", answer="y z")'),
    "the module's name in front": ("b.fill_in('one')", "b.fill_in('one', answer=\"y z\")"),
    "spaces and comments stay": (
        'x = fill_in( "one",  # 첫째\n  answer = "x" )  # end\n\n',
        'x = fill_in( "one",  # 첫째\n  answer = "y z" )  # end\n\n',
    ),
    "wide characters before the call": (
        '가 = "🧱"; 나 = fill_in("one", answer="x₀"); 다 = "é"',
        '가 = "🧱"; 나 = fill_in("one", answer="y z"); 다 = "é"',
    ),
    "quotes inside the old answer": (
        "fill_in('one', answer='a \"b\\' )')",
        "fill_in('one', answer=\"y z\")",
    ),
    "an answer over several lines": (
        'fill_in("one", answer="""x\nx""")\nfill_in("one", answer="x"\n "x")',
        'fill_in("one", answer="y z")\nfill_in("one", answer="y z")',
    ),
    "an answer that is computed": (
        'fill_in("one", answer=" ".join(["x"]))',
        'fill_in("one", answer="y z")',
    ),
    "a mask": (
        'paint_mask("one", 5); b.paint_mask("one", T=5, answer="")',
        'paint_mask("one", 5, answer="y z"); b.paint_mask("one", T=5, answer="y z")',
    ),
    "a check of the same name": (
        'fill_in("one"); check("one"); hint("one")',
        'fill_in("one", answer="y z"); check("one"); hint("one")',
    ),
    "another call in the cell": (
        'fill_in("two", answer="x"); fill_in("one", answer="x"); fill_in("two", answer="x")',
        'fill_in("two", answer="x"); fill_in("one", answer="y z"); fill_in("two", answer="x")',
    ),
    "a call in a string or a comment": (
        'fill_in("one")\n# fill_in("one")\ns = \'fill_in("one")\'',
        'fill_in("one", answer="y z")\n# fill_in("one")\ns = \'fill_in("one")\'',
    ),
    "the same answer in other quotes": ("fill_in('one', answer='y z')",) * 2,
    "lines of IPython": (
        '%%time\n!ls\nfill_in("one", answer="x")\nif 1:\n    %pwd\nfill_in?',
        '%%time\n!ls\nfill_in("one", answer="y z")\nif 1:\n    %pwd\nfill_in?',
    ),
    "line ends of Windows": (
        'a = 1\r\nfill_in("one",\r\n answer="x")\r\n',
        'a = 1\r\nfill_in("one",\r\n answer="y z")\r\n',
    ),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_only_the_answer_changes(before: str, after: str) -> None:
    assert rewrite(before, "one", "y z") == after
    assert rewrite(after, "one", "y z") == after


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(answer=words, before=words, after=words)
def test_any_answer_reads_back_among_any_text(answer: str, before: str, after: str) -> None:
    start, end = f"{before!r}; a = ", f"; {after!r}"
    written = rewrite(f'{start}fill_in("one", answer="old"){end}', "one", answer)
    assert written.startswith(start)
    assert written.endswith(end)
    call = ast.parse(written).body[1]
    assert isinstance(call, ast.Assign)
    assert isinstance(call.value, ast.Call)
    assert ast.literal_eval(call.value.keywords[0].value) == answer


@pytest.mark.parametrize("cell", ['fill_in("two")', "fill_in(name)", "one = 1", "fill_in()", ""])
def test_a_cell_without_the_call_is_an_error(cell: str) -> None:
    with pytest.raises(ValueError, match="no call of fill_in"):
        rewrite(cell, "one", "y z")


def test_a_cell_that_is_not_python_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        rewrite('fill_in("one"', "one", "y z")
