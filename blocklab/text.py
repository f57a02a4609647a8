"""Sentences in both languages of the course."""

import os
import re
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
            said = self.to(lang).format(**words)
            return with_particles(said) if lang == "ko" else said

        return Text(filled("en"), filled("ko"))


class Said(str):
    """Words to a learner, in the language in use, which show as Markdown in a notebook."""

    def __new__(cls, words: str | Text) -> "Said":
        return super().__new__(cls, str(words))

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return f"> {self}"


def both(words: str) -> Text:
    """A text that reads the same in both languages: a formula, a name, a number."""
    return Text(words, words)


_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def visible(words: str) -> str:
    """The words with what cannot be seen, or turns a line round, such as U+202E, written out."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), words)


_PARTICLES = {
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "은(는)": ("은", "는"),
    "(이)": ("이", ""),
    "(으)": ("으", ""),
}
_NOUN = re.compile(rf"(\w?\w)(\W{{0,2}}?)({'|'.join(map(re.escape, _PARTICLES))})")
_CLOSED = re.compile(r"(?:[013678lmn]|ng|ck|[aeiou]p)$", re.IGNORECASE)


def with_particles(words: str) -> str:
    """The words with each Korean particle as its noun asks for it: `x을(를)` becomes `x를`."""

    def chosen(match: re.Match[str]) -> str:
        noun, sign, particle = match.groups()
        closed = _ends_in_consonant(noun) and not (particle == "(으)" and noun[-1] in "178lL")
        return noun + sign + _PARTICLES[particle][not closed]

    return _NOUN.sub(chosen, words)


def _ends_in_consonant(noun: str) -> bool:
    """Whether the last syllable, as spoken in Korean, ends in one.

    An English noun is judged by its spelling, which is right for nearly all names in the course.
    """
    last = noun[-1]
    if "가" <= last <= "힣":
        return (ord(last) - ord("가")) % 28 > 0
    return bool(_CLOSED.search(noun))
