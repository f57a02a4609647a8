"""What Sphinx lacks for this course: formulas, Korean words, links of a page.

Formulas become MathML: browsers draw it and screen readers read it, without a script or a server.
"""

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.search import SearchLanguage, languages

from blocklab.text import LANGUAGES, Text
from course.opening import colab_url

NAMES = {"en": "English", "ko": "한국어"}
COLAB = Text("Open in Colab", "Colab에서 열기")
REPOSITORY = Text("In the repository", "저장소에서 보기")
DOWNLOAD = Text("Download the notebook", "notebook 내려받기")
DRAWN = Text("The picture that the code above draws", "위 코드가 그린 그림")
WORDS = {  # what people may type in Hangul for terms that the course writes in English
    "어텐션": "attention", "마스크": "mask", "마스킹": "mask", "트랜스포머": "transformer",
    "임베딩": "embedding", "토큰": "token", "레이어": "layer", "블록": "block", "헤드": "head",
    "소프트맥스": "softmax", "그래디언트": "gradient", "로짓": "logits", "캐시": "cache",
    "디코더": "decoder", "인코더": "encoder", "잔차": "residual", "편향": "bias",
    "활성화": "activation", "텐서": "tensor", "스트림": "stream", "게이트": "gate",
    "전문가": "expert", "노름": "norm", "노트북": "notebook",
}  # fmt: skip


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("repository", "", "html")
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    languages["ko"] = SearchKorean
    app.connect("html-page-context", _add_links)
    app.connect("doctree-read", _say_what_pictures_are)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="formula" tabindex="0">{formula}</div>\n')
    raise nodes.SkipNode


class SearchKorean(SearchLanguage):
    """Korean words by their beginnings: what follows a noun is a particle or an ending.

    So "정규" and "정규화" both find "정규화를", and "block" finds "block은". A term in Hangul, such
    as "어텐션", finds the English one.
    """

    lang = "ko"
    language_name = "Korean"
    js_splitter_code = rf"""
const inEnglish = new Map(Object.entries({json.dumps(WORDS, ensure_ascii=False)}));
var splitQuery = (query) =>
  (query.match(/[가-힣]+|(?:(?![가-힣])[\p{{Letter}}\p{{Number}}_])+/gu) || [])
    .map((word) => inEnglish.get(word) ?? word);
"""
    _word_re = re.compile(r"[가-힣]+|[^\W가-힣]+")

    def split(self, input: str) -> list[str]:
        words = self._word_re.findall(input)
        return [part for word in words for part in _beginnings(word)]


def _beginnings(word: str) -> list[str]:
    if not "가" <= word[0] <= "힣":
        return [word]
    return [word[:end] for end in range(1, len(word) + 1)]


def _say_what_pictures_are(app: Sphinx, doctree: nodes.document) -> None:
    """Words in place of a picture among a cell's outputs, which would be the path of its file."""
    for image in doctree.findall(nodes.image):
        image.setdefault("alt", DRAWN.to(app.config.language))


def _add_links(app: Sphinx, page: str, template: str, context: dict[str, Any], _: Any) -> None:
    """What the template shows above a page: the other language, and the notebook to open."""
    language, repository = app.config.language, app.config.repository
    other = next(name for name in LANGUAGES if name != language)
    up = "../" * (page.count("/") + 1)
    context["other_language"] = (other, NAMES[other], f"{up}{other}/{page}.html")
    context["notebook_links"] = []
    if page.split("/")[0] in ("lectures", "exercises"):
        context["notebook_links"] = notebook_links(page, language, repository)


def notebook_links(page: str, language: str, repository: str) -> list[tuple[str, str]]:
    """Words and addresses by which a notebook can be opened; repository: owner/name, or empty."""
    kind, unit = page.split("/")
    folder = Path(kind, language) / (unit if kind == "exercises" else "")
    file = (folder / f"{unit}.ipynb").as_posix()
    links = [(DOWNLOAD.to(language), f"{unit}.ipynb")]
    if repository:
        shown = f"https://github.com/{repository}/blob/main/{file}"
        links.insert(0, (COLAB.to(language), colab_url(repository, file)))
        links.insert(1, (REPOSITORY.to(language), shown))
    return links
