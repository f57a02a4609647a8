"""A grader's day: open the formgrader, read and mark what students wrote, give it back.

One of the students is hostile: whatever can bring code, load something or cover the page stands in
the text, the outputs and the metadata of that notebook.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from autograder import demo_answers
from autograder.classroom import make_class
from autograder.demo import UNIT, Student, submit
from autograder.formgrader import command
from autograder.grade import grade, gradebook
from tests.browser.conftest import TOKEN, free_port, options, serving

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser
WRITTEN = "norm_is_not_residual"
ADA = Student("ada", own=demo_answers.EPS_AFTER_ROOT)
BORA = Student("bora", "ko", own=demo_answers.EPS_AFTER_ROOT)
MALLORY = Student("mallory", own=demo_answers.EPS_AFTER_ROOT)
LATER = Student("noor")  # handed in when the others are graded already
RUN = "parent.hacked = window.hacked = true; alert(1)"
HTML = f"""
<script>{RUN}</script> <img src=x onerror="{RUN}"> <svg onload="{RUN}"></svg>
<a id="trap" href="javascript:{RUN}">here</a> <iframe srcdoc="<script>{RUN}</script>"></iframe>
<form action="https://outside.invalid/form"><input class="score" autofocus onfocus="{RUN}"></form>
<style>body * {{ display: none }} @import "https://outside.invalid/style.css";</style>
<div style="position:fixed;inset:0;z-index:9999;background:red">all of it</div>
<div class="modal-backdrop in">all of it</div> <h2 id="{WRITTEN}">the score's own id</h2>
<meta http-equiv="refresh" content="0;url=https://outside.invalid/refresh">
<img src="https://outside.invalid/html.png"> <b onmouseover="{RUN}">bold</b>
"""
MARKDOWN = f"""# rms_norm

# {WRITTEN}

[here](javascript:{RUN.replace(" ", "")}) ![seen](https://outside.invalid/markdown.png)
![config](/formgrader?path=submitted/mallory/{UNIT})

```mermaid
<img src=x onerror="{RUN}">
```

$\\href{{javascript:{RUN}}}{{x}}$ $\\class{{modal-backdrop in}}{{y}}$
"""
CODE = f'''
from IPython.display import display

HTML = """{HTML}"""
MARKDOWN = r"""{MARKDOWN}"""
PIXEL = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
RUN = """{RUN}"""
for kind, said in {{
    "text/html": HTML, "text/markdown": HTML, "application/javascript": RUN,
    "text/latex": r"$\\href{{javascript:" + RUN + "}}{{x}}$", "application/pdf": "JVBERi0=",
    "image/svg+xml": f'<svg xmlns="http://www.w3.org/2000/svg" onload="{{RUN}}"><script>{{RUN}}'
    "</script></svg>",
    "application/vnd.jupyter.widget-view+json": {{"model_id": "1", "version_major": 2}},
}}.items():
    display({{kind: said}}, raw=True)
display({{"text/markdown": MARKDOWN, "text/plain": HTML}}, raw=True)
display({{"text/html": HTML}}, raw=True, metadata={{"text/html": {{"isolated": True}}}})
sizes = {{"width": f"1 onload={{RUN!r}}"}}
display({{"image/png": PIXEL}}, raw=True, metadata={{"image/png": sizes, **sizes}})
print(HTML)
raise ValueError(HTML)
'''


@dataclass
class Watch:
    """What a page did that it should not: requests to elsewhere, dialogs, new windows."""

    address: str
    found: list[str] = field(default_factory=list)

    def over(self, page: "Page") -> None:
        page.on("dialog", lambda dialog: self._note(f"dialog {dialog.message}", dialog.dismiss))
        page.on("popup", lambda popup: self._note(f"popup {popup.url}", popup.close))
        page.on("request", lambda request: self._request(request.url))

    def _note(self, what: str, then: Callable[[], Any]) -> None:
        self.found.append(what)
        then()

    def _request(self, url: str) -> None:
        path = url.removeprefix(self.address)
        inside = url.startswith((self.address, "data:", "blob:", "about:", "file:"))
        if not inside or path.startswith("/formgrader?path="):
            self.found.append(f"request {url}")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, need: Callable[[str, str], str]) -> Path:
    """A class folder with three graded submissions, and one that just came in."""
    need("bwrap", "submissions are graded in it")
    folder = tmp_path_factory.mktemp("formgrader") / "class"
    make_class(folder)
    for student in (ADA, BORA, MALLORY):
        submit(folder, UNIT, student)
    make_hostile(folder / "submitted" / "mallory" / UNIT / f"{UNIT}.ipynb")
    assert list(grade(folder, UNIT)) == [("ada", ""), ("bora", ""), ("mallory", "")]
    submit(folder, UNIT, LATER)
    return folder


def make_hostile(path: Path) -> None:
    """Put everything of the above into a submission; nbgrader's own cells keep their place."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        graded = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown":
            cell.source = f"My answer. {HTML}\n\n{MARKDOWN}" if graded else cell.source
            cell.metadata |= {"tags": [HTML], "alt": HTML}
        elif graded.get("grade_id") == "rms_by_hand-answer":
            cell.source += CODE
    hostile = nbformat.v4.new_markdown_cell(MARKDOWN), nbformat.v4.new_markdown_cell(HTML)
    raw = nbformat.v4.new_raw_cell(HTML, metadata={"raw_mimetype": "text/html"})
    notebook.cells[2:2] = [*hostile, raw]
    notebook.metadata["title"] = HTML
    notebook.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": {"state": {"1": {}}}
    }
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def server(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of what `python run.py formgrader` starts."""
    home, port = tmp_path_factory.mktemp("home"), free_port()
    with serving(command(course, options(port)), home, port, course) as address:
        yield address


@pytest.fixture
def watch(server: str) -> Watch:
    return Watch(server)


@pytest.fixture
def tab(chromium: Any, server: str, watch: Watch, errors: list[str]) -> Iterator["Page"]:
    """A page that is watched; the test fails if it had an error or went anywhere else."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    context.request.get(f"{server}/lab?token={TOKEN}")
    page = context.new_page()
    page.set_default_timeout(40_000)
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    watch.over(page)
    yield page
    context.close()
    assert (watch.found, errors) == ([], [])


def submission_of(folder: Path, student: str) -> str:
    with gradebook(folder) as book:
        return book.find_submission_notebook(UNIT, UNIT, student).id


def read(page: "Page", server: str, course: Path, student: str) -> "Locator":
    """Open a student's submission in the formgrader; the panel of the written answer."""
    page.goto(f"{server}/formgrader/submissions/{submission_of(course, student)}/")
    page.wait_for_function("window.formgrader && formgrader.loaded && MathJax.loaded")
    page.wait_for_function("formgrader.grades.loaded && formgrader.comments.loaded")
    return page.locator(".nbgrader_cell", has=page.locator(f"input#{WRITTEN}"))


def row(page: "Page", server: str, student: str) -> "Locator":
    page.goto(f"{server}/formgrader/manage_submissions/{UNIT}")
    named = page.locator(".student-id", has_text=student)
    return page.locator("#main-table tr", has=named)


def click_and_wait(page: "Page", link: "Locator", words: str) -> None:
    """Click what nbgrader does at once, and close what it says then."""
    link.click()
    modal = page.locator("#success-modal")
    modal.get_by_text(words).wait_for()
    modal.get_by_role("button", name="OK").click()
    modal.wait_for(state="detached")


def is_narrow(page: "Page") -> bool:
    """Whether the page has nothing that has to be scrolled to sideways."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_one_command_opens_jupyterlab_with_the_formgrader(
    tab: "Page", server: str, output: Path
) -> None:
    tab.goto(f"{server}/")
    frame = tab.frame_locator("#formgrader iframe, #formgrader-iframe iframe")
    frame.get_by_role("link", name=UNIT).first.wait_for()
    tab.screenshot(path=output / "formgrader.png")
    tab.goto(f"{server}/formgrader/gradebook/{UNIT}/{UNIT}")
    tab.get_by_role("link", name="Submission #3").wait_for()
    assert tab.locator("#main-table tr").count() == 3
    tab.screenshot(path=output / "formgrader-list.png")


@pytest.mark.parametrize(
    ("student", "model", "other", "says"),
    [
        (ADA, "Two questions are mixed up", "모범 답안", "epsilon is added after the root"),
        (
            BORA,
            "residual은 두 모델에 모두 있습니다",
            "Model answer",
            "epsilon을 제곱근을 취한 뒤에 더했습니다",
        ),
    ],
    ids=["en", "ko"],
)
def test_a_written_answer_is_marked_beside_its_model_answer_and_comes_back(
    tab: "Page", server: str, course: Path, output: Path, student: Student, model, other, says
) -> None:
    panel = read(tab, server, course, student.name)
    folded = tab.locator("details.model-answer")
    assert model in folded.inner_text() and other not in folded.inner_text()
    assert tab.locator(".blocklab-report", has_text=says).first.locator("svg").first.is_visible()
    assert tab.locator(".output_svg img").count() == 2  # the blocks that were filled in
    assert tab.locator(".MathJax").count() > 5
    assert is_narrow(tab)
    tab.screenshot(path=output / f"submission-{student.language}.png", full_page=True)

    panel.locator(f"input#{WRITTEN}").fill("1.5")
    panel.locator("textarea").fill("Good, but **f = 0** is missing. 좋습니다.")
    tab.keyboard.press("Escape")  # leaves the field, and nbgrader saves
    tab.wait_for_load_state("networkidle")
    panel = read(tab, server, course, student.name)
    assert panel.locator(f"input#{WRITTEN}").input_value() == "1.5"
    assert "좋습니다" in panel.locator("textarea").input_value()
    with gradebook(course) as book:
        marked = book.find_grade(WRITTEN, UNIT, UNIT, student.name)
        assert (marked.manual_score, marked.needs_manual_grade) == (1.5, False)

    feedback = row(tab, server, student.name).locator(".generate-feedback a")
    click_and_wait(tab, feedback, "Successfully generated feedback")
    page = tab.context.new_page()
    page.route(re.compile("^https:"), lambda route: route.fulfill(body=""))  # MathJax's server
    page.goto((course / "feedback" / student.name / UNIT / f"{UNIT}.html").as_uri())
    assert page.locator(f"#{WRITTEN} .comment strong").inner_text() == "f = 0"
    assert page.locator(".marks tr").last.inner_text().split("\t")[-1] == "1.5 / 2"
    assert page.locator(".blocklab-report", has_text=says).first.locator("svg").first.is_visible()
    assert page.locator(".output_svg img").count() == 2
    assert model not in page.content() and "model-answer" not in page.content()
    assert page.locator("html").get_attribute("lang") == student.language
    assert is_narrow(page)
    page.screenshot(path=output / f"feedback-{student.language}.png", full_page=True)


def test_nothing_of_a_hostile_submission_runs_where_it_is_read(
    tab: "Page", server: str, course: Path, output: Path
) -> None:
    panel = read(tab, server, course, "mallory")
    tab.get_by_text("as it was written").first.wait_for()
    tab.screenshot(path=output / "submission-hostile.png", full_page=True)
    assert not tab.evaluate("window.hacked || parent.hacked || false")
    assert tab.locator("iframe, #trap, form, .modal-backdrop, a[href^='javascript']").count() == 0
    assert panel.count() == 1
    panel.locator(f"input#{WRITTEN}").fill("0.5")  # neither covered nor a field of the student's
    with tab.expect_response(re.compile("/api/grade/")):
        tab.keyboard.press("Escape")
    with gradebook(course) as book:
        submission = book.find_submission_notebook(UNIT, UNIT, "mallory")
        by_hand = {g.name: g.manual_score for g in submission.grades if g.manual_score is not None}
        assert by_hand == {WRITTEN: 0.5}

    click_and_wait(
        tab, row(tab, server, "mallory").locator(".generate-feedback a"), "Successfully generated"
    )
    page = tab.context.new_page()
    page.route(re.compile("^https:"), lambda route: route.fulfill(body=""))
    seen = Watch("https://cdnjs.cloudflare.com/ajax/libs/mathjax/")
    seen.over(page)
    page.goto((course / "feedback" / "mallory" / UNIT / f"{UNIT}.html").as_uri())
    page.get_by_text("as it was written").first.wait_for()
    assert not page.evaluate("window.hacked || false")
    assert page.locator("iframe, #trap, form, .modal-backdrop, a[href^='javascript']").count() == 0
    assert seen.found == []


def test_the_autograde_button_grades_as_the_command_does(
    tab: "Page", server: str, course: Path
) -> None:
    line = row(tab, server, LATER.name)
    line.get_by_text("needs autograding").wait_for()
    click_and_wait(tab, line.locator(".autograde a"), "Successfully autograded")
    line.get_by_text("needs manual grading").wait_for()
    with gradebook(course) as book:
        assert book.find_submission(UNIT, LATER.name).score == 18.0
    graded = course / "autograded" / LATER.name / UNIT / f"{UNIT}.ipynb"
    assert "without a judge" not in graded.read_text("utf-8")
