"""What a file holds: S07 to S09, and outputs that are too large."""

import json
from typing import Any

import nbformat
import pytest

from autograder import parse
from autograder.archives import Refused
from tests.autograder.repairing import WRITTEN, Nbgrader, answers, find, fixed, place, submission
from tests.autograder.test_archives import zipped


@pytest.fixture(scope="module")
def nbgrader(tmp_path_factory) -> Nbgrader:
    return Nbgrader(tmp_path_factory.mktemp("nbgrader"))


# ---------------------------------------------------------------- S07: what a file holds


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b'{"cells": [{"cell_type": "co', "ends in the middle"),
        (b"<html>Please log in</html>", "does not begin like one"),
        (b'{"cells": [}', "damaged"),
        (b"[1, 2]", "no notebook"),
        (b'{"a": 1}', "no cells"),
        (b'{"worksheets": [3]}', "old format"),
        (b"[" * 100_000, "nested"),
        (b'{"cells": ' + b"[" * 300 + b"]" * 300 + b"}", "nested"),
        (zipped({"a.ipynb": b"{}", "b.ipynb": b"{}"}), "2 notebooks"),
        (zipped({"a.zip": zipped({"a.ipynb": b"{}"})}), "0 notebooks"),
        (b"PK\x03\x04 and no more", "no zip that can be read"),
    ],
)
def test_s07_a_file_without_a_notebook_is_refused_with_the_reason(data, reason):
    with pytest.raises(Refused, match=reason):
        fixed(data)


def test_s07_a_byte_order_mark_utf_16_and_a_zip_are_read(nbgrader):
    text = json.dumps(submission("ko"), ensure_ascii=False)
    plain = fixed(text.encode()).written()
    whole = [
        b"\xef\xbb\xbf" + text.encode(),
        text.encode("utf-16"),
        zipped({"a.ipynb": text.encode()}),
    ]
    for data in whole:
        assert fixed(data).written() == plain
    assert fixed(whole[-1]).notes == ["is a zip; the one notebook in it was read"]


def test_s07_damaged_characters_are_said():
    repaired = fixed(json.dumps(submission()).encode().replace(b"I am kim", b"I am k\xffm"))
    assert repaired.notes == ["some characters in the file are damaged"]
    assert answers(repaired.notebook)[WRITTEN] == "I am k\ufffdm, and I think so."


def test_an_nbformat_3_notebook_is_read(nbgrader):
    old: Any = nbformat.convert(nbformat.from_dict(submission()), 3)
    repaired = fixed(json.loads(json.dumps(old)))
    assert answers(repaired.notebook) == answers(submission())
    nbgrader.takes(repaired)


# ---------------------------------------------------------------- S08, S09: Colab, nbformat


def saved_by_colab() -> dict[str, Any]:
    """A submission as Colab writes it."""
    sent = submission()
    user = {"displayName": "Kim Minji", "userId": "0123456", "photoUrl": "https://photo"}
    ran = {"status": "ok", "user": user, "user_tz": -540, "timestamp": 1}
    for cell in sent["cells"]:
        name = cell.pop("id")
        cell["metadata"] |= {"id": name, "colab": {"base_uri": "https://localhost"}}
        if cell["cell_type"] == "code":
            cell["metadata"] |= {"executionInfo": ran, "outputId": "abc"}
    badge = '<a href="https://colab.research.google.com/x"><img src="badge.svg"></a>'
    view = {"id": "view-in-github", "colab_type": "text"}
    sent["cells"].insert(0, {"cell_type": "markdown", "metadata": view, "source": [badge]})
    widgets = {"application/vnd.jupyter.widget-state+json": {"abc": {"model_name": "X"}}}
    colab = {"provenance": [{"file_id": "1"}], "authorship_tag": "ABX9"}
    sent["metadata"] |= {"colab": colab, "widgets": widgets, "accelerator": "GPU"}
    return sent | {"nbformat_minor": 0}


def test_s08_a_notebook_saved_by_colab_is_graded_and_holds_nothing_personal(nbgrader):
    repaired = fixed(saved_by_colab())
    text = repaired.written().decode()
    for word in ("Kim Minji", "0123456", "photoUrl", "executionInfo", "authorship_tag", "outputId"):
        assert word not in text
    assert "widgets" not in repaired.notebook.metadata
    assert repaired.notebook.cells[0].metadata == {}
    assert "colab.research" in repaired.notebook.cells[0].source
    assert answers(repaired.notebook) == answers(submission())
    assert repaired.notes == []
    nbgrader.takes(repaired)


def test_s08_widgets_with_their_state_stay():
    sent = submission()
    state = {parse.WIDGETS: {"state": {"a": {}}, "version_major": 2, "version_minor": 0}}
    sent["metadata"]["widgets"] = state
    assert fixed(sent).notebook.metadata["widgets"] == state


@pytest.mark.parametrize("minor", [4, 5, 0, 99, "5", None])
@pytest.mark.parametrize("ids", [True, False])
def test_s09_any_minor_version_with_or_without_ids_is_graded(nbgrader, minor, ids):
    sent = submission() | {"nbformat_minor": minor}
    for cell in sent["cells"]:
        cell.pop("id") if not ids else None
    repaired = fixed(sent)
    assert answers(repaired.notebook) == answers(submission())
    nbgrader.takes(repaired)


# ---------------------------------------------------------------- outputs


def test_outputs_stay_unless_they_are_larger_than_the_bound(nbgrader):
    sent = submission()
    for name, size in (("rms_norm-answer", 10), ("RMSNorm-answer", parse.MAX_OUTPUT)):
        text = {"output_type": "stream", "name": "stdout", "text": "x" * size}
        find(sent, name)["outputs"] = [text]
    repaired = fixed(sent)
    cells = repaired.notebook.cells
    assert cells[place(repaired, "rms_norm-answer")].outputs[0].text == "x" * 10
    assert cells[place(repaired, "RMSNorm-answer")].outputs == []
    assert len(repaired.notes) == 1
    nbgrader.takes(repaired)
