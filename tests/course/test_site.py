"""What becomes a page of the site, where its links lead, and what is never overwritten."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course.opening import OPENING
from course.site.build import SiteError, build
from course.site.extension import SearchKorean, notebook_links
from course.site.pages import LIVE, places, relinked, still

KNOWN = places("en")
LECTURE = Path("lectures/en/02_rms_norm.ipynb")


def test_every_page_has_its_twin_in_the_other_language():
    assert list(KNOWN.values()) == list(places("ko").values())
    assert len(set(KNOWN.values())) == len(KNOWN)


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("03_causal_mask.ipynb", "03_causal_mask.ipynb"),
        ("../../exercises/en/02_rms_norm/02_rms_norm.ipynb", "../exercises/02_rms_norm.ipynb"),
        ("../../docs/en/handbook/class.md#release-a-unit", "../handbook/class.md#release-a-unit"),
        ("https://arxiv.org/abs/1910.07467", "https://arxiv.org/abs/1910.07467"),
        ("../../solutions/en/x.ipynb", "../../solutions/en/x.ipynb"),
    ],
)
def test_a_link_follows_its_file(link: str, leads: str):
    assert relinked(f"[a]({link})", LECTURE, KNOWN) == f"[a]({leads})"


def test_a_page_has_one_title_no_set_up_and_nothing_that_needs_a_kernel():
    outputs = [new_output("display_data", {kind: "x"}) for kind in ("text/html", LIVE)]
    notebook = new_notebook(
        cells=[
            new_code_cell("import blocklab", id=OPENING[-1]),
            new_markdown_cell("# Title"),
            new_code_cell("explain.rms_norm()", outputs=outputs),
            new_markdown_cell("---\n\n# Second sitting"),
        ]
    )
    cells = still(notebook, LECTURE, KNOWN).cells
    assert [c.source for c in cells] == [
        "# Title",
        "explain.rms_norm()",
        "---\n\n## Second sitting",
    ]
    assert [list(o.data) for o in cells[1].outputs] == [["text/html"]]


def test_a_notebook_can_be_downloaded_and_once_published_opened_elsewhere():
    page, place = "exercises/02_rms_norm", "exercises/ko/02_rms_norm/02_rms_norm.ipynb"
    (download,) = notebook_links(page, "ko", "")
    assert download[1] == "02_rms_norm.ipynb"
    addresses = [address for _, address in notebook_links(page, "ko", "ada/course")]
    assert addresses == [
        f"https://colab.research.google.com/github/ada/course/blob/main/{place}",
        f"https://github.com/ada/course/blob/main/{place}",
        "02_rms_norm.ipynb",
    ]


def test_a_korean_word_is_found_by_its_beginnings_and_apart_from_english():
    assert SearchKorean({}).split("block은 정규화") == ["block", "은", "정", "정규", "정규화"]


def test_a_folder_that_is_no_site_is_left_alone(tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("years of work")
    for place in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(SiteError, match="name a new folder"):
            build(place)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
