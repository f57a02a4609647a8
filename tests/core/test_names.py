"""A name that is no exercise's, or no name, is answered in words."""

import pytest

from blocklab import check, hint, solution, text
from blocklab.catalogue import UnknownError


def rms_norm() -> None: ...


@pytest.mark.parametrize("call", [check, hint, solution])
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (rms_norm, 'Write the name in quotes: "rms_norm".'),
        ("rmsnorm", 'no exercise "rmsnorm". Did you mean RMSNorm'),
        ("xyzzy", "progress() lists them all"),
        (7, "progress() lists them all"),
    ],
)
def test_a_wrong_name_is_answered_with_the_near_ones(call, asked, words) -> None:
    with pytest.raises(UnknownError) as raised:
        call(asked)
    assert words in str(raised.value)
    assert raised.value._render_traceback_() == [str(raised.value)]


def test_it_speaks_the_language_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_current", "ko")
    with pytest.raises(UnknownError, match="혹시 rms_norm"):
        hint("rms_nrm")
