"""What a reader of a page perceives, one line per text: pages compare by it, whatever their spaces are."""

import re
from html.parser import HTMLParser

_VOID = {"meta", "img", "br"}
_SILENT = {"style", "svg", "defs", "g", "path", "use", "clippath", "rect"}


class Outline(HTMLParser):
    """Reads a page, and notes its texts with the elements they stand in.

    Of a picture these are its name, its texts, and the titles of its marks.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        name = f"{tag}.{told['class']}" if told.get("class") in {"good", "bad", "lede"} else tag
        if "aria-label" in told:
            self.lines.append(f"{name}: {told['aria-label']}")
        if tag == "html":
            self.lines.append(f"language: {told['lang']}")
        if tag not in _VOID:
            self._open.append(name)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().partition(".")[0] == tag

    def handle_data(self, data: str) -> None:
        if not data.strip() or "style" in self._open:
            return
        (place,) = [name for name in self._open if name.partition(".")[0] not in _SILENT][-1:] or [
            ""
        ]
        kept = data if place == "pre" else " ".join(data.split())
        self.lines += [f"{place}: {line}" for line in kept.splitlines()]


def outline(page: str) -> str:
    """Return the texts of a page in order, without what changes from day to day and from release to release."""
    told = "\n".join(Outline(page).lines)
    told = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "TIME", told)
    told = re.sub(r"\b(discreet|python-flint|numpy|Python) [0-9][\w.+-]*", r"\1 VERSION", told)
    return re.sub(r"\b[0-9a-f]{64}\b", "HASH", told) + "\n"
