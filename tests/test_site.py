"""The built site: every link leads to a place that is there, and the search finds the right page."""

import json
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from tools import search_check, site_anchors, site_versions

ROOT = Path(__file__).parents[1]


def write(site: Path, **pages: str) -> Path:
    for name, text in pages.items():
        (site / f"{name}.html").write_text(text, encoding="utf-8")
    return site


def test_links_are_followed_to_the_anchor(tmp_path: Path) -> None:
    site = write(
        tmp_path,
        one='<h1 id="a">A</h1><a href="two.html#b">b</a><a href="#a">a</a><img src="https://x/y">',
        two='<a name="b"></a><a href="one.html">one</a><a href="three.html#a">three</a>',
    )
    assert list(site_anchors.broken(site)) == ["two.html: three.html#a: there is no such file"]
    write(site, three='<p id="c"></p>')
    assert list(site_anchors.broken(site)) == ["two.html: three.html#a: there is no such place"]


def test_the_chooser_knows_every_version_the_newest_first(tmp_path: Path) -> None:
    for name in ("1.9.0", "1.10.0", "1.0.0rc1", "1.0.0"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, index="")
    (tmp_path / "no-version").mkdir()
    assert site_versions.write_chooser(tmp_path) == ["1.10.0", "1.9.0", "1.0.0", "1.0.0rc1"]
    rows = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))
    assert [row["version"] for row in rows if "latest" in row["aliases"]] == ["1.10.0"]
    assert list(site_anchors.broken(tmp_path)) == []
    assert "1.10.0/index.html" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_words_that_are_searched_for_lead_to_one_page() -> None:
    words = tomllib.loads((ROOT / "docs" / "search_words.toml").read_text(encoding="utf-8"))
    for page in words:
        assert page == "reference/changelog.md" or (ROOT / "docs" / page).is_file(), page
    given = [word for page in words.values() for word in page]
    assert len(given) == len(set(given))
    phrases = [phrase for those in search_check.WANTED.values() for phrase in those.split("|")]
    assert len(set(phrases)) == len(phrases) >= 40
    assert {page.replace(".html", ".md") for page in search_check.WANTED} <= set(words)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("mkdocs") is None:
        pytest.skip("the group docs is not installed: pip install --group docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, env={"NO_MKDOCS_2_WARNING": "1", "PATH": ""})
    return folder


@pytest.mark.proof
def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    assert list(site_anchors.broken(site)) == []


@pytest.mark.proof
def test_the_search_finds_first_what_beginners_look_for(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["search_check", str(site)])
    assert search_check.main() == 0, capsys.readouterr().out
