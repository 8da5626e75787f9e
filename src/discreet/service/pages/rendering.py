"""Pages as replies: templates, in which every text is escaped, and the headers of every page."""

import hashlib
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from ...base.messages import translate
from ...ledger import Budget
from ...ledger.budget import Amount
from ...selection.question_sentences import verb_of
from ...tables.templates import render_template

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


def bar(budget: Budget, cost: Amount | None = None) -> Markup:
    """Return a bar of a budget and of the cost of a question, with the budget in words for screen readers."""
    unit = "epsilon" if budget.remaining.epsilon is not None else "rho"
    total, spent = getattr(budget.total, unit), getattr(budget.spent, unit)
    spent_share, cost_share = Fraction(1), Fraction(0)
    if total and spent is not None:
        spent_share = min(spent_share, spent / total)
        price = None if cost is None else getattr(cost, unit)
        cost_share = min(1 - spent_share, (price or cost_share) / total)
    start, wide = (f"{float(100 * share):.2f}" for share in (spent_share, cost_share))
    return Markup(
        '<svg class="bar" role="img" aria-label="{}" width="100%" height="10">'
        '<rect class="bar-total" width="100%" height="10" rx="5"/>'
        '<rect class="bar-spent" width="{}%" height="10" rx="5"/>'
        '<rect class="bar-cost" x="{}%" width="{}%" height="10"/></svg>'
    ).format(translate(budget), start, start, wide)
