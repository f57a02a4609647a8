"""The static site: every page of both languages in a browser, on a phone and on a desk."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import pytest

from blocklab.text import LANGUAGES
from course.site.build import build
from course.site.extension import DRAWN
from course.site.pages import places

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

PHONE, DESK = {"width": 320, "height": 700}, {"width": 1280, "height": 900}
PAGES = ["index.html"] + [
    f"{language}/{place.with_suffix('.html').as_posix()}"
    for language in LANGUAGES
    for place in [*places(language).values(), Path("search.md")]
]
WORDS = [  # of a language, and a page that must be among the results
    ("en", "overflow", "lectures/02_rms_norm"),
    ("en", "deadline", "handbook/class"),
    ("ko", "정규", "lectures/02_rms_norm"),  # the beginning of a word
    ("ko", "값", "lectures/02_rms_norm"),  # one before a particle
    ("ko", "block", "lectures/05_block_stacking"),
    ("ko", "마감", "handbook/class"),
    ("ko", "어텐션", "lectures/03_causal_mask"),  # a term that stands there in English
]
SEEN = """() => {
  const prose = document.body.cloneNode(true);
  prose.querySelectorAll('pre, code, script, style').forEach((e) => e.remove());
  return {
    links: [...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href')),
    ids: [...document.querySelectorAll('[id]')].map((e) => e.id),
    wide: document.documentElement.scrollWidth,
    alts: [...document.images].map((e) => e.alt),
    prose: prose.textContent,
  };
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, built and served."""
    folder = tmp_path_factory.mktemp("built") / "site"
    build(folder)
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def phone(chromium: Any, site: str, errors: list[str]) -> "Iterator[Page]":
    yield from _visitor(chromium, site, errors, viewport=PHONE)


@pytest.fixture
def desk(chromium: Any, site: str, errors: list[str]) -> "Iterator[Page]":
    yield from _visitor(chromium, site, errors, viewport=DESK, color_scheme="dark")


def _visitor(chromium: Any, site: str, errors: list[str], **options: Any) -> "Iterator[Page]":
    """A page that notes errors, and requests that leave the site, and fails the test by them."""
    context = chromium.new_context(**options)
    page = context.new_page()
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith(site) else errors.append(r.url))
    yield page
    context.close()
    assert errors == []


@pytest.fixture(scope="session")
def seen(chromium: Any, site: str) -> dict[str, dict[str, Any]]:
    """What each page holds, by its address, as a phone shows it; no page has an error."""
    pages, errors = {}, []
    for page in _visitor(chromium, site, errors, viewport=PHONE):
        for name in PAGES:
            page.goto(site + name)
            pages[site + name] = page.evaluate(SEEN)
    return pages


def test_no_page_is_wider_than_a_phone(seen: dict[str, Any]):
    wide = {url: page["wide"] for url, page in seen.items() if page["wide"] > PHONE["width"]}
    assert wide == {}


def test_every_link_and_anchor_leads_somewhere(seen: dict[str, Any], site: str, desk: "Page"):
    links = {urljoin(url, link) for url, page in seen.items() for link in page["links"]}
    parted = [link.partition("#")[::2] for link in sorted(links) if link.startswith(site)]
    files = {url for url, _ in parted} - seen.keys()
    assert [url for url in files if not desk.request.head(url).ok] == []
    lost = [(url, name) for url, name in parted if name and name not in seen[url]["ids"]]
    assert lost == []


def test_formulas_are_drawn_and_widgets_leave_no_complaint(seen: dict[str, Any]):
    for sign in ("$", "\\", "model not found", "Run this cell to turn"):
        assert [url for url, page in seen.items() if sign in page["prose"]] == []


def test_every_picture_has_words_in_its_place(seen: dict[str, Any]):
    alts = {alt for page in seen.values() for alt in page["alts"]}
    assert {DRAWN.en, DRAWN.ko} <= alts
    assert [alt for alt in alts if not alt or alt.endswith((".png", ".svg"))] == []


def test_a_widget_shows_its_still_picture(desk: "Page", site: str):
    for language in LANGUAGES:
        desk.goto(f"{site}{language}/lectures/02_rms_norm.html")
        still = desk.locator("[data-blocklab-still] svg")
        assert still.count() == 1
        assert still.is_visible()


def test_one_click_leads_to_the_same_page_in_the_other_language(phone: "Page", site: str):
    phone.goto(f"{site}en/lectures/03_causal_mask.html")
    phone.get_by_role("link", name="한국어").click()
    assert phone.url == f"{site}ko/lectures/03_causal_mask.html"
    phone.get_by_role("link", name="English").click()
    assert phone.url == f"{site}en/lectures/03_causal_mask.html"


@pytest.mark.parametrize(("language", "word", "page"), WORDS)
def test_search_finds(desk: "Page", site: str, language: str, word: str, page: str):
    desk.goto(f"{site}{language}/index.html")
    desk.locator("input[name=q]").fill(word)
    desk.keyboard.press("Enter")
    found = desk.locator(f"#search-results a[href*='{page}']").first
    found.wait_for()
    found.click()
    assert f"{language}/{page}.html" in desk.url


def test_pictures_for_people_to_look_at(phone: "Page", desk: "Page", site: str, output: Path):
    shots = [
        ("front", phone, "index.html", 0),
        ("home", desk, "en/index.html", 0),
        ("lecture", desk, "ko/lectures/02_rms_norm.html", 1400),
        ("lecture_phone", phone, "ko/lectures/03_causal_mask.html", 0),
        ("exercise_phone", phone, "en/exercises/02_rms_norm.html", 0),
        ("handbook", desk, "ko/handbook/class.html", 0),
        ("search", desk, "ko/search.html?q=정규", 0),
    ]
    for name, page, address, top in shots:
        page.goto(site + address)
        page.evaluate(f"window.scrollTo(0, {top})")
        page.wait_for_timeout(300)
        page.screenshot(path=output / f"site_{name}.png")
