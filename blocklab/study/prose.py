"""The little Markdown that explanations and checklists are written in, as HTML."""

import re
from html import escape

_BOLD = re.compile(r"\*\*(.+?)\*\*")
_ITALIC = re.compile(r"(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])")


def html(markdown: str) -> str:
    """`code`, **bold** and *italic* as HTML, everything else escaped; an empty line stays one."""
    parts = escape(markdown, quote=False).replace("\n\n", "<br><br>").split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else _marked(p) for i, p in enumerate(parts))


def _marked(words: str) -> str:
    return _ITALIC.sub(r"<i>\1</i>", _BOLD.sub(r"<b>\1</b>", words))
