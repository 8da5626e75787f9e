"""Pages as replies: templates, in which every text is escaped, and the headers of every page."""

import hashlib
from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import Response

from .bars import bar
from .chinese import WORDS_ZH
from .english import WORDS_EN

WORDS = {"en": SimpleNamespace(**WORDS_EN), "zh": SimpleNamespace(**WORDS_ZH)}
"""All sentences of the pages, by language."""

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: browsers would then send forms with Origin: null.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The headers of every page."""


def page(template: str, status: int = 200, **shown: Any) -> Response:
    """Return a page."""
    text = _templates().get_template(template).render(status=status, **shown)
    return Response(text, status, HEADERS, "text/html")


def redirect(path: str) -> Response:
    """Return a reply that leads to another page of ours."""
    return Response("", 303, {**HEADERS, "Location": path}, "text/html")


def download(text: str, name: str, kind: str) -> Response:
    """Return a file to be kept; its name is ours."""
    kept = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, 200, {**HEADERS, **kept}, kind)


def style() -> Response:
    """Return the style sheet. Its address changes with it, so browsers keep it."""
    kept = {**HEADERS, "Cache-Control": "public, max-age=31536000, immutable"}
    return Response(_style(), 200, kept, "text/css")


def visible(value: object) -> object:
    """Return a text in which every character can be seen: others could reorder or hide what stands beside them."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(letter if _is_seen(letter) else f"[U+{ord(letter):X}]" for letter in value)


def _is_seen(letter: str) -> bool:
    return letter.isprintable() or letter == "\n"


def _exactly(value: str) -> Markup:
    """Return a text for an attribute as it is, escaped: what a form sends back."""
    return escape(value)


@cache
def _style() -> str:
    return files(__package__).joinpath("style.css").read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, finalize=visible,
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.do"],
    )  # fmt: skip
    found.filters["exactly"] = _exactly
    found.globals["bar"] = bar
    found.globals["style_version"] = hashlib.sha256(_style().encode()).hexdigest()[:16]
    return found
