"""The bytes a student sent as a clean notebook: valid nbformat 4.5, no personal fields.

What can be understood is kept as it is; what cannot be is left out and said. Only a file that holds
no notebook at all is refused.
"""

import hashlib
import json
import math
import re
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.archives import MAX_FILE, MEGABYTE, Refused, is_zip, notebook_inside

MAX_OUTPUT = MEGABYTE  # characters of one cell's outputs, as JSON; larger ones are dropped
MAX_DEPTH = 100  # of lists and dictionaries in one another
PERSONAL = "executionInfo"  # Colab: the name, the photo and the user id of who ran a cell
COLAB = ("id", "colab", "colab_type", "outputId")
WIDGETS = "application/vnd.jupyter.widget-state+json"
KINDS = ("code", "markdown", "raw")
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def parse(data: bytes) -> dict[str, Any]:
    """The JSON of a notebook, also from a zip that holds just one, with a byte order mark or not.

    Raises Refused with the reason where there is no notebook in it.
    """
    if is_zip(data):
        data = notebook_inside(data)
    if len(data) > MAX_FILE:
        raise Refused(f"is {len(data) // MEGABYTE} MB large, more than {MAX_FILE // MEGABYTE}")
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf"):
        raise Refused("is empty")
    raw = _json(data)
    if not isinstance(raw, dict):
        raise Refused("is JSON, but no notebook")
    if not isinstance(raw.get("cells"), list):
        raw = _upgraded(raw)
    return raw


def said_of_file(data: bytes) -> list[str]:
    """What had to be done to a file that `parse` could read."""
    if is_zip(data):
        return ["is a zip; the one notebook in it was read"]
    try:
        data.decode(json.detect_encoding(data))
    except UnicodeDecodeError:
        return ["some characters in the file are damaged"]
    return []


def _json(data: bytes) -> Any:
    try:
        text = data.decode(json.detect_encoding(data), "replace")
        return _tidy(json.loads(text, parse_constant=lambda _: None), MAX_DEPTH)
    except RecursionError as error:
        raise Refused(f"is nested more than {MAX_DEPTH} deep") from error
    except ValueError as error:
        raise Refused(f"{_broken(data)} ({error})") from error


def _broken(data: bytes) -> str:
    """What seems to be wrong with a file that is no JSON."""
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return "is no notebook: it does not begin like one"
    if not data.rstrip().endswith(b"}"):
        return "ends in the middle: was it saved and uploaded whole?"
    return "is damaged in the middle"


def _tidy(value: Any, depth: int) -> Any:
    """The same without what no file can hold (lone surrogates, infinities) or should (PERSONAL)."""
    if depth < 0:
        raise Refused(f"is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_tidy(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {_tidy(k, 0): _tidy(v, depth - 1) for k, v in value.items() if k != PERSONAL}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _upgraded(raw: dict[str, Any]) -> dict[str, Any]:
    """A notebook of the time before nbformat 4."""
    if not isinstance(raw.get("worksheets"), list):
        raise Refused("is JSON, but no notebook: it has no cells")
    try:
        return nbformat.convert(nbformat.from_dict({**raw, "nbformat": 3}), 4)
    except Exception as error:
        raise Refused(f"is in an old format that cannot be read: {error!r}") from error


# ---------------------------------------------------------------- from JSON to a valid notebook


def clean(raw: dict[str, Any]) -> tuple[NotebookNode, list[str]]:
    """A valid notebook from `parse`, and what had to be left out.

    Cells keep their id where it is valid and the first of its name, Colab's too; the others get
    one that depends only on place and content.
    """
    cells = [cell for cell in raw["cells"] if isinstance(cell, dict)]
    notes = [] if len(cells) == len(raw["cells"]) else ["what was no cell was left out"]
    made = [_cell(cell) for cell in cells]
    dropped = sum(note for _, note in made)
    if dropped:
        notes.append(f"outputs or metadata of {dropped} cells left out: too large or not valid")
    notebook = _notebook([cell for cell, _ in made], _notebook_metadata(raw))
    distinct_ids(notebook.cells)
    return notebook, notes


def _cell(raw: dict[str, Any]) -> tuple[NotebookNode, bool]:
    """One valid cell, and whether something of it had to be left out."""
    metadata = raw.get("metadata") if isinstance(raw.get("metadata"), dict) else {}
    assert isinstance(metadata, dict)
    cell = {
        "cell_type": _kind(raw),
        "id": _id(raw.get("id")) or _id(metadata.get("id")) or "none",
        "metadata": {key: value for key, value in metadata.items() if key not in COLAB},
        "source": _source(raw),
    }
    if cell["cell_type"] == "code":
        count, outputs = raw.get("execution_count"), raw.get("outputs", [])
        cell["execution_count"] = count if type(count) is int and count >= 0 else None
        cell["outputs"] = outputs if len(json.dumps(outputs)) <= MAX_OUTPUT else None
    elif "attachments" in raw:
        cell["attachments"] = raw["attachments"]
    return _valid(cell)


def _valid(cell: dict[str, Any]) -> tuple[NotebookNode, bool]:
    """The cell with as little left out as makes it valid."""
    without: list[dict[str, Any]] = [{}]
    if cell["cell_type"] == "code":
        without.append({"outputs": []})
    cell_without_attachments = {k: v for k, v in cell.items() if k != "attachments"}
    for base in (cell, cell_without_attachments):
        for change in without:
            if _is_valid(made := _node({**base, **change})):
                return made, made != cell
    marks = {"nbgrader": cell["metadata"]["nbgrader"]} if "nbgrader" in cell["metadata"] else {}
    change = {**without[-1], "metadata": marks}
    return _node({**cell_without_attachments, **change}), True


def _node(value: dict[str, Any]) -> NotebookNode:
    made: Any = nbformat.from_dict(value)
    return made


def _notebook(cells: list[NotebookNode], metadata: dict[str, Any]) -> NotebookNode:
    return _node({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _is_valid(cell: NotebookNode) -> bool:
    try:
        nbformat.validate(_notebook([cell], {}))
    except nbformat.ValidationError:
        return False
    return True


def _kind(raw: dict[str, Any]) -> str:
    if raw.get("cell_type") in KINDS:
        return raw["cell_type"]
    return "code" if "outputs" in raw or "execution_count" in raw else "markdown"


def _source(raw: dict[str, Any]) -> str:
    """The text of a cell: a string, or lines; anything else is written out, since it is theirs."""
    source = raw.get("source", raw.get("input", ""))
    lines = source if isinstance(source, list) else [source]
    return "".join(line if isinstance(line, str) else json.dumps(line) for line in lines)


def _id(found: Any) -> str:
    return found if isinstance(found, str) and CELL_ID.fullmatch(found) else ""


def distinct_ids(cells: list[NotebookNode]) -> None:
    """Give every cell an id of its own; the first of a name keeps it."""
    seen: set[str] = set()
    for place, cell in enumerate(cells):
        if cell["id"] in seen or cell["id"] == "none":
            words = f"{place} {cell['source']}".encode()
            cell["id"] = f"cell-{hashlib.sha1(words).hexdigest()[:16]}"
        seen.add(cell["id"])


def _notebook_metadata(raw: dict[str, Any]) -> dict[str, Any]:
    metadata = raw.get("metadata") if isinstance(raw.get("metadata"), dict) else {}
    assert isinstance(metadata, dict)
    kept = {key: value for key, value in metadata.items() if key not in ("colab", "widgets")}
    widgets = metadata.get("widgets")
    if _is_widget_state(widgets) and len(json.dumps(widgets)) <= MAX_OUTPUT:
        kept["widgets"] = widgets
    try:
        nbformat.validate(_notebook([], kept))
    except nbformat.ValidationError:
        kept = {"blocklab": kept["blocklab"]} if "blocklab" in kept else {}
    return kept


def _is_widget_state(widgets: Any) -> bool:
    """Whether feedback can show it: nbconvert needs a `state`, which Colab leaves out."""
    bundle = widgets.get(WIDGETS) if isinstance(widgets, dict) else None
    state = bundle.get("state") if isinstance(bundle, dict) else None
    return isinstance(state, dict) and all(isinstance(v, dict) for v in state.values())
