"""HTML pages of sections with prose, facts, tables and plots, all text escaped."""

import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape, unescape
from importlib.metadata import version
from typing import TYPE_CHECKING, NewType

from ..errors import MissingPackage
from ..text_tables import TextTable
from .wording import Rewording, Wording, reworded

if TYPE_CHECKING:
    from ..figures import Figure

Markup = NewType("Markup", str)
"""Safe HTML: only the functions of this module make it, from text that they escape."""

_PACKAGES = ("discreet", "python-flint", "numpy")

_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --soft: #595959; --paper: #ffffff; --line: #d0d0d0;
  --good: #00664b; --bad: #a83200; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --soft: #b0b0b0; --paper: #16181c;
  --line: #44484f; --good: #4fd1a5; --bad: #ff9a70; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.25rem; max-width: 46rem; background: var(--paper);
  color: var(--ink); font: 1.0625rem/1.6 system-ui, "Segoe UI", Roboto, "Noto Sans",
  "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
.lede { font-size: 1.25rem; margin: 0 0 1rem; overflow-wrap: anywhere; }
.good, .bad { font-weight: 600; padding-left: .75rem; border-left: .3rem solid; }
.good { color: var(--good); } .bad { color: var(--bad); }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .25rem 1.25rem; margin: .75rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; overflow-wrap: anywhere;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; overflow-wrap: normal; }
figure { margin: 1rem 0; } figure svg { width: 100%; height: auto; border-radius: .25rem; }
figcaption, footer, .soft { color: var(--soft); font-size: .95rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .95rem; }
footer { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: 1rem; }
@media (max-width: 32rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
@media print { :root { --ink: #000000; --soft: #333333; --paper: #ffffff; --line: #999999; --good: #004d38;
  --bad: #8a2900; } body { max-width: none; padding: 0; font-size: 10.5pt; }
  h2 { break-after: avoid; } figure, tr, dl { break-inside: avoid; } thead { display: table-header-group; }
  .scroll { overflow: visible; } }
"""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its content."""

    title: str
    parts: tuple[Markup, ...]

    def html(self) -> str:
        """Return it as HTML."""
        return "\n".join(["<section>", f"<h2>{escape(self.title)}</h2>", *self.parts, "</section>"])


@dataclass(frozen=True, slots=True)
class Page:
    """A report.

    Attributes:
        title: the subject.
        lede: the summary below the title.
        sections: everything else, in order.
        words: the language it is in.
        private: whether it must not be published.
    """

    title: str
    lede: Markup
    sections: tuple[Section, ...]
    words: Wording
    private: bool = False

    def followed_by(self, section: Section) -> "Page":
        """Return the page with one more section."""
        return replace(self, sections=(*self.sections, section))

    def made_private(self, section: Section) -> "Page":
        """Return the page with a private section, and a warning at the top."""
        return replace(self.followed_by(section), private=True)

    def html(self) -> str:
        """Return the whole document. A content security policy forbids references to other files."""
        banner = [verdict(self.words.private, good=False)] if self.private else []
        return "\n".join([
            "<!doctype html>", f'<html lang="{self.words.lang}">', "<head>", '<meta charset="utf-8">',
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(self.title)}</title>", f"<style>{_STYLE}</style>", "</head>", "<body>",
            "<header>", *banner, f"<h1>{escape(self.title)}</h1>", self.lede, "</header>",
            "<main>", *(section.html() for section in self.sections), "</main>",
            f"<footer>{escape(_made(self.words))}</footer>", "</body>", "</html>", "",
        ])  # fmt: skip


def paragraph(text: str) -> Markup:
    """Return a paragraph."""
    return Markup(f"<p>{escape(text)}</p>")


def lede(text: str) -> Markup:
    """Return the summary below a title."""
    return Markup(f'<p class="lede">{escape(text)}</p>')


def verdict(text: str, *, good: bool) -> Markup:
    """Return a verdict in green or red, with a bar."""
    return Markup(f'<p class="{"good" if good else "bad"}">{escape(text)}</p>')


def verbatim(text: str) -> Markup:
    """Return preformatted text."""
    return Markup(f"<pre>{escape(text)}</pre>")


def facts(named: Mapping[str, str]) -> Markup:
    """Return a list of names and values."""
    rows = [f"<dt>{escape(name)}</dt><dd>{escape(said)}</dd>" for name, said in named.items()]
    return Markup("\n".join(["<dl>", *rows, "</dl>"]))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Return a table."""
    made = TextTable(tuple(head), tuple(map(tuple, rows))).html()
    return Markup(f'<div class="scroll">{made}</div>')


def picture(
    draw: Callable[[], "Figure"], says: str, words: Wording, labels: Rewording | None = None
) -> Markup:
    """Return an embedded plot with its caption, or the caption alone without matplotlib.

    The texts in the plot are put in the language of the page, by its labels if no others are given.
    """
    try:
        drawn = draw().to_svg()
    except MissingPackage as error:
        return paragraph(words.no_picture.format(says=says, reason=words.said(error)))
    drawn = _labelled(drawn, words.labels if labels is None else labels)
    return Markup(f"<figure>{drawn}<figcaption>{escape(says)}</figcaption></figure>")


def _labelled(drawn: str, labels: Rewording) -> str:
    """Return a plot with its texts, and the titles of its marks, in other words."""

    def replaced(text: re.Match[str]) -> str:
        return text[1] + escape(reworded(unescape(text[2]), labels))

    return re.sub(r'(<(?:text|title)\b[^>]*>|\baria-label=")([^<"]*)', replaced, drawn)


def _made(words: Wording) -> str:
    """Return the time of writing and the versions of the software."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    versions = [f"{name} {version(name)}" for name in _PACKAGES]
    listed = ", ".join([*versions, f"Python {platform.python_version()}"])
    return words.made.format(now=now, versions=listed)
