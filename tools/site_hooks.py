"""What the site does besides the theme: formulas, links from docstrings, languages, and the source of every page.

`make docs` runs these functions; their names are MkDocs' events.
"""

import html
import logging
import os
import posixpath
import re
import shutil
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)
_NAMED = re.compile(r"(?<![\w/\"#])docs/([\w/-]+)\.md(#[\w-]+)?")
_LANGUAGES = {"en": "English", "zh": "中文"}
_SOURCES = "sources"
_CHANGELOG = "reference/changelog.md"
_DOCS = Path(__file__).parents[1] / "docs"
_NAMES, _VERBS = "reference/api.md", "reference/verbs/"


def on_config(config: Any, **_: Any) -> Any:
    """Build quietly: what segments Chinese texts for the search says that it loads its dictionary.

    A site of several versions has a chooser: see tools/site_versions.py.
    """
    logging.getLogger("jieba").setLevel(logging.WARNING)
    if os.environ.get("DISCREET_SITE_VERSIONS"):
        config.extra["version"] = {"provider": "mike"}
    return config


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Let the changelog be a page, whose links lead to the pages beside it."""
    text = (_DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](../")
    files.append(File.generated(config, _CHANGELOG, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let the search find first what beginners look for, and the list of all names last."""
    if page.file.src_uri == _NAMES:
        page.meta["search"] = {"boost": 0.5}
    words = _search_words().get(page.file.src_uri)
    if words is not None:
        page.meta["tags"] = words
    return markdown


@cache
def _search_words() -> dict[str, list[str]]:
    """Return the words by which a page is found first."""
    return tomllib.loads((_DOCS / "search_words.toml").read_text(encoding="utf-8"))


def on_page_content(content: str, page: Any, files: Any, **_: Any) -> str:
    """Return the page with formulas as MathML, and with links where docstrings name a page.

    Of the pages of verbs the table of contents has each verb once, without its signature.
    """
    if page.file.src_uri.startswith(_VERBS):
        for verb in (section for title in page.toc for section in title.children):
            verb.children.clear()

    def formula(found: re.Match[str]) -> str:
        display = "block" if found[1] == "div" else "inline"
        return str(convert(html.unescape(found[2]), display=display))

    def link(found: re.Match[str]) -> str:
        target = posixpath.relpath(f"{found[1]}.html", posixpath.dirname(page.url) or ".")
        title = files.get_file_from_path(f"{found[1]}.md").page.title
        section, place = found[2] or "", f", {found[2][1:]}" if found[2] else ""
        return f'<a href="{target}{section}">{title}{place}</a>'

    content = _FORMULA.sub(formula, content)
    written_by_hand = page.file.src_uri != _NAMES and not page.file.src_uri.startswith(_VERBS)
    return content if written_by_hand else _NAMED.sub(link, content)


def on_page_context(context: Any, page: Any, config: Any, **_: Any) -> Any:
    """Set the language of a page, its translations, and where its source is."""
    source = page.file.src_uri
    language = "zh" if source.endswith(".zh.md") else "en"
    config.theme["language"] = language
    stem = source.removesuffix(".md").removesuffix(".zh")
    written = {"en": f"{stem}.md", "zh": f"{stem}.zh.md"}
    home = {"en": "index.html", "zh": "index.zh.html"}
    config.extra["alternate"] = [
        {
            "name": name,
            "lang": key,
            "link": written[key].replace(".md", ".html")
            if (Path(config.docs_dir) / written[key]).exists()
            else home[key],
        }
        for key, name in _LANGUAGES.items()
    ]
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]  # there is one page in it
    page.edit_url = posixpath.relpath(
        f"{_SOURCES}/{source}.txt", posixpath.dirname(page.url) or "."
    )
    return context


def on_post_build(config: Any, **_: Any) -> None:
    """Put the source of every page beside the site."""
    docs = Path(config.docs_dir)
    sources = {page.relative_to(docs).as_posix(): page for page in docs.rglob("*.md")}
    sources[_CHANGELOG] = _DOCS.parent / "CHANGELOG.md"
    for name, page in sources.items():
        copy = Path(config.site_dir) / _SOURCES / f"{name}.txt"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, copy)
