"""A picture with knobs: what its call takes and shows, and what the front end gets to know."""

import os
import subprocess
import sys
import time
from typing import Any
from xml.etree import ElementTree

import pytest

import blocklab
from blocklab import explain
from blocklab.explain.ffn import FFN
from blocklab.explain.knobs import Explained, Menu, Slider, Stops, Switch
from blocklab.explain.residual_add import RESIDUAL_ADD
from blocklab.explain.rms_norm import RMS_NORM
from blocklab.text import both
from blocklab.widgets import explain as module
from blocklab.widgets import front
from tests.explain.seen import extremes, see

OURS = (RESIDUAL_ADD, RMS_NORM, FFN)


@pytest.fixture(autouse=True)
def english_again():
    yield
    blocklab.use("en")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is displayed in a notebook."""
    displayed: list[Any] = []
    for shows in (module, front):
        monkeypatch.setattr(shows, "display", lambda what, **_: displayed.append(what))
    monkeypatch.setattr(module, "notebook", lambda: True)
    return displayed


def live(explained: Explained, **start: Any) -> module.Live:
    return module.Live(explained, explained.values(**start), "token")


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("explained", OURS, ids=lambda explained: explained.name)
def test_every_setting_is_drawn_and_said_in_both_languages(
    explained: Explained, language: str
) -> None:
    blocklab.use(language)
    for values in extremes(explained):
        sight = see(explained, **values)
        root = ElementTree.fromstring(sight.drawing.svg)
        assert root.attrib["aria-label"] == sight.drawing.alt
        assert "nan" not in sight.drawing.svg + sight.sentence.en
        assert "{" not in sight.sentence.en + sight.sentence.ko + sight.drawing.alt
        assert float(root.attrib["width"]) <= 480


@pytest.mark.parametrize("explained", OURS, ids=lambda explained: explained.name)
def test_a_drawing_takes_well_under_10_ms(explained: Explained) -> None:
    times = []
    for _ in range(9):
        start = time.perf_counter()
        see(explained)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.005


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ({"scal": 1}, "rms_norm has no 'scal': its knobs are scale, shift, gain, eps, layer_norm"),
        ({"scale": 3}, "scale=3: one of 0.01, 0.02"),
        ({"scale": "1"}, "scale='1': one of"),
        ({"shift": 3.1}, "shift=3.1: a number from -3 to 3"),
        ({"shift": float("nan")}, "shift=nan: a number from -3 to 3"),
        ({"gain": True}, "gain=True: a number from 0 to 2"),
        ({"eps": "2"}, "eps='2': one of 0, 1e-6, 1e-5, 1e-2, 1"),
        ({"eps": 1e-6}, "eps=1e-06: one of 0, 1e-6"),
        ({"layer_norm": 1}, "layer_norm=1: True or False"),
    ],
)
def test_a_wrong_knob_or_value_is_a_clear_error(
    shown: list[Any], start: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match="^" + words):
        explain.rms_norm(**start)
    assert shown == []


def test_a_slider_takes_the_nearest_step_and_keeps_whole_numbers_whole() -> None:
    slider = Slider("a", both("a"), -1, 1, 0.1, 0.0, both("kg"))
    assert slider.take(0.33) == 0.3
    assert (slider.stops[0], slider.stops[10], len(slider.stops)) == (-1, 0, 21)
    assert (slider.words(-0.3), slider.words(0)) == ("−0.3 kg", "0.0 kg")
    whole = Slider("b", both("b"), 0, 8192, 1024, 1024)
    assert repr(whole.take(2000.0)) == "2048"
    assert whole.words(2048) == "2,048"
    assert Stops("c", both("c"), (0.01, 1.0, 131072.0), 1.0).words(131072) == "131,072"


@pytest.mark.parametrize("name", explain.__all__)
def test_every_picture_is_shown_still_and_live(shown: list[Any], name: str) -> None:
    getattr(explain, name)()
    still, view = shown
    assert f'data-blocklab-still="{still.token}"' in still._repr_html_()
    assert "application/vnd.jupyter.widget-view+json" in view
    assert view["text/plain"] == "Run this cell to turn the knobs."


def test_the_call_sets_where_the_knobs_start(shown: list[Any]) -> None:
    explain.rms_norm(scale=10, layer_norm=True)
    assert repr(shown[0]).startswith("A token before and after its norm: The RMS is 22.4 before")
    assert live(RMS_NORM, scale=10.0).knobs[0]["start"] == 10


def test_the_front_end_gets_every_knob_with_its_words() -> None:
    blocklab.use("ko")
    slider, menu, switch = (
        next(knob for knob in live(RMS_NORM).knobs if knob["kind"] == kind)
        for kind in ("slider", "menu", "switch")
    )
    assert slider["label"] == "x에 곱할 수"
    assert slider["stops"][0] == [0.01, "0.01"]
    assert menu["options"][1] == ["1e-6", "ε = 10⁻⁶"]
    assert switch == {
        "name": "layer_norm", "label": "RMSNorm 대신 LayerNorm", "kind": "switch", "start": False,
    }  # fmt: skip
    assert {Menu, Slider, Stops, Switch} == {type(knob) for knob in RMS_NORM.knobs}


def test_a_turned_knob_changes_drawing_and_sentence() -> None:
    widget = live(RMS_NORM)
    before = widget.drawing
    widget.values = {**widget.values, "scale": 10}
    assert widget.drawing != before
    assert widget.sentence == str(see(RMS_NORM, scale=10).sentence)


def test_a_widget_keeps_the_language_it_was_made_in() -> None:
    widget = live(RMS_NORM)
    blocklab.use("ko")
    widget.values = {**widget.values, "shift": 1.0}
    assert widget.sentence == see(RMS_NORM, shift=1.0).sentence.en
    assert blocklab.text.language() == "ko"


@pytest.mark.parametrize("grading", ["", "autograde"])
def test_without_a_front_end_the_picture_is_said_in_words(grading: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from blocklab import explain; explain.rms_norm()"],
        env={**os.environ, "NBGRADER_EXECUTION": grading}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("A token before and after its norm: The RMS is 2.24")
