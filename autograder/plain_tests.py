"""What a plain test is worth: a cell of an instructor's own that a learner's kernel ran.

nbgrader takes a result for partial credit only if its text is a plain number. np.float64(0.0), '0',
-1.0 and False it takes for full marks, 3.0 of 2 for a crash, and a warning for a failure.
"""

import ast

from nbformat import NotebookNode

LONGEST = 200  # characters of a result that may be a score


def is_plain_test(cell: NotebookNode) -> bool:
    marks = cell.metadata.get("nbgrader", {})
    return cell.cell_type == "code" and bool(marks.get("grade")) and not marks.get("solution")


def settle(cell: NotebookNode) -> None:
    """Make the outputs of a plain test say what it is worth, in the way that nbgrader reads."""
    points = float(cell.metadata["nbgrader"].get("points", 0))
    for output in cell.outputs:
        if output.output_type == "stream":
            output["name"] = "stdout"  # a warning costs nothing
        elif output.output_type == "execute_result":
            value = score(output.data.get("text/plain", ""))
            if value is not None:
                output.data["text/plain"] = repr(min(max(value, 0.0), points))


def score(text: str) -> float | None:
    """The number that a result's text means, NaN as 0; None where it means none, or True."""
    try:
        value = _number(ast.parse(text.strip(), mode="eval").body) if len(text) < LONGEST else None
    except (SyntaxError, ValueError):
        return None
    return 0.0 if value is not None and value != value else value


def _number(node: ast.expr) -> float | None:
    match node:
        case ast.Constant(value=bool(value)):
            return None if value else 0.0
        case ast.Constant(value=int(value) | float(value) | str(value)):
            return float(value)
        case ast.Name(id="nan" | "inf" as value):
            return float(value)
        case ast.Attribute(attr="False_"):
            return 0.0
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _number(operand)
            return None if value is None else -value
        case ast.Call(args=[inner]) | ast.List(elts=[inner]) | ast.Tuple(elts=[inner]):
            return _number(inner)  # np.float64(0.0), tensor(0., dtype=…), array([0.])
    return None
