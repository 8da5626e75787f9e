"""Every page runs as a stranger pastes it: all blocks in order, in one folder, with nothing else installed."""

import re
from pathlib import Path

import pytest

from .pages import BLOCK, PAGES, ROOT, Reader, blocks, runs

RUN = [page for page in PAGES if runs(page)]
LONG = [page for page in RUN if any(each["mark"] == "takes seconds" for each in blocks(page))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_a_page_runs_as_it_is_pasted(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Reader(tmp_path, monkeypatch, patient=False).paste(page)


@pytest.mark.proof
@pytest.mark.parametrize("page", LONG, ids=name_of)
def test_a_page_runs_with_what_takes_seconds(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Reader(tmp_path, monkeypatch, patient=True).paste(page)


EXCEPTIONS: dict[str, list[tuple[str, str]]] = {}
"""The marks `not run` and `new folder` by page, with their reasons; `make proofs` runs what takes seconds."""


def test_exceptions_are_listed_with_their_reasons() -> None:
    marks = {
        name_of(page): [
            (each["mark"], each["reason"])
            for each in blocks(page)
            if each["mark"] in {"not run", "new folder"}
        ]
        for page in PAGES
    }
    assert {page: those for page, those in marks.items() if those} == EXCEPTIONS
    assert all(reason for those in marks.values() for _, reason in those)


def test_no_mark_stands_where_no_block_follows() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        written = len(re.findall(r"<!-- (?:takes seconds|not run|new folder)\b", text))
        assert written == sum(bool(each["mark"]) for each in BLOCK.finditer(text)), page


def test_a_package_that_nobody_installs_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nimport polars\n```\n", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError, match="polars"):
        Reader(tmp_path / "one", monkeypatch, patient=True).paste(page)
    page.write_text("```sh\npip install polars\n```\n\n```python\nimport polars\n```\n", "utf-8")
    Reader(tmp_path / "two", monkeypatch, patient=True).paste(page)


def test_the_first_screen_of_the_site_is_that_of_the_readme() -> None:
    for read, index, ends in (
        ("README.md", "index.md", "**Next:"),
        ("README.zh.md", "index.zh.md", "**接下来："),
    ):
        text = (ROOT / read).read_text(encoding="utf-8").replace("](docs/", "](")
        first = text[text.index("**discreet**") : text.index(ends)]
        assert first in (ROOT / "docs" / index).read_text(encoding="utf-8"), index
