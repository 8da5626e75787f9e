"""The Chinese pages say what the English ones beside them say: the same code, outputs, numbers and outline."""

import ast
import re
import textwrap
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from .pages import BLOCK, ROOT

CHINESE = sorted((ROOT / "docs").rglob("*.zh.md"))
HAN = re.compile(r"[\u4e00-\u9fff]")


def english(page: Path) -> Path:
    """Return the original of a Chinese page."""
    return page.with_name(page.name.replace(".zh.md", ".md"))


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return BLOCK.sub("", page.read_text(encoding="utf-8"))


def same_code(ours: Any, theirs: Any) -> bool:
    """Compare two syntax trees, but for texts that are written in Chinese in ours."""
    if type(ours) is not type(theirs):
        return translated(ours) and isinstance(theirs, ast.Constant | ast.JoinedStr)
    if isinstance(ours, ast.JoinedStr) and translated(ours):
        return same_code(inserted(ours), inserted(theirs))
    if isinstance(ours, ast.AST):
        fields = [(getattr(ours, name), getattr(theirs, name)) for name in ours._fields]
        return translated(ours) or all(same_code(*pair) for pair in fields)
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same_code, ours, theirs))
    return bool(ours == theirs)


def translated(node: Any) -> bool:
    """Say whether it is a text with Chinese characters in it."""
    if isinstance(node, ast.JoinedStr):
        return any(translated(part) for part in node.values)
    return isinstance(node, ast.Constant) and bool(HAN.search(str(node.value)))


def inserted(text: ast.JoinedStr) -> list[ast.expr]:
    """Return what is computed in an f-string."""
    return [part for part in text.values if isinstance(part, ast.FormattedValue)]


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.name)
def test_the_examples_are_those_of_the_english_page(page: Path) -> None:
    ours = BLOCK.finditer(page.read_text(encoding="utf-8"))
    theirs = BLOCK.finditer(english(page).read_text(encoding="utf-8"))
    for one, other in zip_longest(ours, theirs):
        assert one is not None, f"not in {page.name}:\n{other and other[0]}"
        assert other is not None, f"only in {page.name}:\n{one[0]}"
        assert one["kind"] == other["kind"]
        if one["kind"] == "python":
            assert same_code(ast.parse(one["code"]), ast.parse(other["code"])), one["code"]
        else:
            assert one["code"] == other["code"]
        for line, original in zip_longest(
            (one["output"] or "").splitlines(), (other["output"] or "").splitlines(), fillvalue=""
        ):
            assert line == original or HAN.search(line), line


def numbers(text: str) -> set[str]:
    """Return the numbers of a page, without those of its links."""
    return set(re.findall(r"\d(?:[\d.,]*\d)?", re.sub(r"\]\([^)]*\)", "]", text)))


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.name)
def test_no_number_heading_or_picture_of_the_english_page_is_missing(page: Path) -> None:
    ours, theirs = prose(page), prose(english(page))
    assert numbers(theirs) <= numbers(ours), numbers(theirs) - numbers(ours)
    headings, pictures = r"^#+(?= )", r"!\[[^\]]*\]\(([^)]+)\)"
    assert re.findall(headings, ours, re.M) == re.findall(headings, theirs, re.M)
    assert re.findall(pictures, ours) == re.findall(pictures, theirs)


def test_the_glossary_has_the_same_words() -> None:
    page = ROOT / "docs" / "reference" / "glossary.zh.md"
    named = [set(re.findall(r"`[^`]+`", prose(each))) for each in (english(page), page)]
    assert named[0] == named[1]


@pytest.mark.parametrize("page", CHINESE, ids=lambda page: page.name)
def test_chinese_pages_lead_to_chinese_pages(page: Path) -> None:
    """Each page leads to its sister at the top; to the home page the site's switch leads."""
    text = page.read_text(encoding="utf-8")
    if page.name != "index.zh.md":
        assert f"[English]({english(page).name})" in text.split("\n## ")[0]
        original = english(page).read_text(encoding="utf-8")
        assert f"[中文]({page.name})" in original.split("\n## ")[0]
    for named, link in re.findall(r"(?<!!)\[([^\]]+)\]\(([^)#:]+\.md)[)#]", text):
        sister = page.parent / link.replace(".md", ".zh.md")
        assert link.endswith(".zh.md") or named == "English" or not sister.exists(), link


@pytest.mark.parametrize("chinese", ["'共 {} 次'", "f'共 {n + 1} 次'", "f'{n} 次'"])
def test_changed_code_is_seen_behind_translated_text(chinese: str) -> None:
    """The comparison above finds a change beside a translated text, or in what it inserts."""
    original = "for n in range(3):\n    print(f'{n} times')\n"
    here = textwrap.dedent(f"for n in range(3):\n    print({chinese})\n")
    changed = here.replace("range(3)", "range(4)")
    assert not same_code(ast.parse(changed), ast.parse(original))
    assert same_code(ast.parse(here), ast.parse(original)) is ("n + 1" not in chinese)
