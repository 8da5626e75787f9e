"""The built site: every link leads to a place that is there, and the search finds the right page."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tools import site_anchors

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
