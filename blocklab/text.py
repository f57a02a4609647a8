"""Sentences in both languages of the course."""

import os
from typing import NamedTuple

LANGUAGES = ("en", "ko")
_current = os.environ.get("BLOCKLAB_LANG", "en")


def use(language: str) -> None:
    """Choose the language of reports, hints and widgets: "en" or "ko".

    Raises ValueError for any other language.
    """
    global _current
    if language not in LANGUAGES:
        raise ValueError(f"language {language!r}: choose one of {', '.join(LANGUAGES)}")
    _current = language


def language() -> str:
    """The language in use: "en" or "ko"."""
    return _current


class Text(NamedTuple):
    """One sentence, in English and in Korean."""

    en: str
    ko: str

    def to(self, lang: str) -> str:
        return self.ko if lang == "ko" else self.en

    def __str__(self) -> str:
        return self.to(_current)

    def fill(self, **values: object) -> "Text":
        """The same sentence with `{name}` replaced; a Text value fills in its own language."""

        def filled(lang: str) -> str:
            words = {k: v.to(lang) if isinstance(v, Text) else v for k, v in values.items()}
            return self.to(lang).format(**words)

        return Text(filled("en"), filled("ko"))


def both(words: str) -> Text:
    """A text that reads the same in both languages: a formula, a name, a number."""
    return Text(words, words)
