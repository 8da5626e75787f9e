"""Follows every link of the built site, to the anchor: `make docs` does so after it has built it.

MkDocs knows the headings as they are written, not those that an extension has changed.
"""

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]


class Page(HTMLParser):
    """The links of a page, and the places in it to which a link can lead."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the links and the anchors of an element."""
        named = dict(attrs)
        self.anchors |= {named[key] or "" for key in ("id", "name") if key in named}
        self.links += [named[key] or "" for key in ("href", "src") if named.get(key)]


def broken(site: Path) -> Iterator[str]:
    """Yield the links that lead nowhere, with their pages."""
    read = cache(Page)
    for file in sorted(site.rglob("*.html")):
        if file.name == "404.html":  # its links are absolute: it is shown for any address
            continue
        for link in dict.fromkeys(read(file).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or parts.path.startswith("/"):
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{file.relative_to(site)}: {link}: there is no such file"
            elif target.suffix == ".html" and unquote(parts.fragment) not in read(target).anchors:
                yield f"{file.relative_to(site)}: {link}: there is no such place"


def main() -> int:
    """Print what is broken; fail if anything is."""
    wrong = list(broken(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "site"))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
