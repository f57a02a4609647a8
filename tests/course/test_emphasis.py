"""Emphasis is shown as emphasis: CommonMark leaves `*word?*를` as it stands, with its asterisks."""

import re
from collections.abc import Iterator, Sequence

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from course import source
from course.source import COURSE, Paragraph

MATH = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$", re.DOTALL)
SOURCES = [*sorted(COURSE.glob("*/*.md")), *sorted(COURSE.parent.glob("docs/**/*.md"))]
SOURCES += [COURSE.parent / name for name in ("README.md", "README.ko.md")]
commonmark = MarkdownIt("commonmark").enable("table")


def words(tokens: Sequence[Token]) -> Iterator[str]:
    """What a reader sees as words, without code and formulas."""
    for token in tokens:
        yield from words(token.children or ())
        if token.type == "text":
            yield token.content


@pytest.mark.parametrize(
    "path", SOURCES, ids=lambda path: path.relative_to(COURSE.parent).as_posix()
)
def test_no_asterisk_is_left(path) -> None:
    if path.is_relative_to(COURSE):
        paragraphs = [b for b in source.read(path) if isinstance(b, Paragraph)]
        texts = [text for p in paragraphs for text in (p.en, p.ko)]
    else:
        texts = [path.read_text("utf-8")]
    seen = [w for t in texts for w in words(commonmark.parse(MATH.sub("formula", t)))]
    assert seen
    assert [w for w in seen if "*" in w] == []
