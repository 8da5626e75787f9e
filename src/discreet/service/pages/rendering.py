"""Pages as replies: templates, in which every text is escaped, and the headers of every page."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.responses import Response

from ...selection.question_sentences import verb_of
from ...tables.templates import render_template
from .budget_bars import bar

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


def page(template: str, status: int = 200, **page_values: Any) -> Response:
    """Return a page."""
    text = render_template(
        f"pages/{template}",
        status=status,
        bar=bar,
        is_sentence=verb_of,
        style_version=_style_version(),
        **page_values,
    )
    return Response(text, status, HEADERS, "text/html")


def redirect(path: str) -> Response:
    """Return a reply that leads to another page of ours."""
    return Response("", 303, {**HEADERS, "Location": path}, "text/html")


def download(text: str, name: str, kind: str) -> Response:
    """Return a file to be kept. Its name is ours."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, 200, {**HEADERS, **headers}, kind)


def style() -> Response:
    """Return the style sheet. Its address changes with it, so browsers keep it."""
    headers = {**HEADERS, "Cache-Control": "public, max-age=31536000, immutable"}
    return Response(_style(), 200, headers, "text/css")


@cache
def _style() -> str:
    return files(__package__).joinpath("style.css").read_text(encoding="utf-8")


@cache
def _style_version() -> str:
    return hashlib.sha256(_style().encode()).hexdigest()[:16]
