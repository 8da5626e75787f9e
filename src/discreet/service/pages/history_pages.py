"""Pages of the auditor and the owner: history, verification, checkpoints, reports."""

import json
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ...base.error_boundary import public_errors
from ...errors import LedgerCorrupt, UnknownName, preview
from ...ledger import Event
from ...ledger.budget import read_amount
from ...ledger.verification import read_noted_head
from ...study.reports import budget_page
from ..asking.refusals import RefusedError, error_for_reader
from .authenticated_request import AuthenticatedRequest
from .rendering import download

_ROWS = 50


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event in a list.

    Attributes:
        event: the event.
        query: the question in words, or another note.
        amount: its cost, or the total that a budget was given.
    """

    event: Event
    query: str
    amount: str


def history(request: AuthenticatedRequest) -> Response:
    """Return the page of events, the newest first."""
    return _history_page(request)


def verify(request: AuthenticatedRequest) -> Response:
    """Compute the chain and all sums anew, and return the page of the result."""
    with public_errors():
        head = read_noted_head(request.fields.get("head") or None)
    try:
        verification = request.site.ledger.verify(head)
    except LedgerCorrupt as error:
        return _history_page(request, wrong=error_for_reader(error, request.token.role))
    return _history_page(request, verified=verification, noted=head)


def events(request: AuthenticatedRequest) -> Response:
    """Return all events as JSON lines, which `discreet ledger verify` and other programs read."""
    all_events = request.site.ledger.history()
    lines = "".join(f"{json.dumps(event.as_dict())}\n" for event in all_events)
    return download(lines, "events.jsonl", "application/jsonl")


def checkpoint(request: AuthenticatedRequest) -> Response:
    """Return the end of the chain, to be kept elsewhere."""
    return download(f"{request.site.ledger.checkpoint()}\n", "checkpoint.json", "application/json")


def budget_report(request: AuthenticatedRequest) -> Response:
    """Return the report of a budget, in the language of the visitor."""
    dataset, ledger = request.fields.get("dataset", ""), request.site.ledger
    if dataset not in {one.dataset for one in ledger.budgets()}:
        raise RefusedError(UnknownName(f"there is no budget {preview(dataset)}"))
    return download(budget_page(ledger, dataset), "privacy-budget.html", "text/html")


def _history_page(request: AuthenticatedRequest, **verification: Any) -> Response:
    """Return the page of events, with the result of a verification."""
    ledger, newest = request.site.ledger, _newer_events(request.fields.get("from", ""))
    end = ledger.events_after(0, 1)[0]
    last = max(0, end.events - newest)
    page_events = ledger.events_after(max(0, last - _ROWS), min(last, _ROWS))[1] if last else []
    page_values: dict[str, Any] = {
        "verified": None, "noted": None, "wrong": None, "end": end.events,
        "rows": [_event_row(one) for one in reversed(page_events)],
        "budgets": list(dict.fromkeys(one.dataset for one in ledger.budgets())),
        "older": newest + _ROWS if last > _ROWS else None,
        "newer": max(0, newest - _ROWS) if newest else None, **verification,
    }  # fmt: skip
    return request.page("history.html", **page_values)


def _event_row(event: Event) -> EventRow:
    """Return an event for a list. Of its costs the first is that of the dataset's own budget."""
    plain = (event.body.get("costs") or [event.body.get("total")])[0]
    amount = "" if plain is None else str(read_amount(plain))
    return EventRow(event, _words_of(event), amount)


def _words_of(event: Event) -> str:
    """Return the question of an event, or its other words."""
    body = event.body
    words = (body.get(name, "") for name in ("note", "reason", "request"))
    return next(filter(None, [event.question, *map(str, words)]), "")


def _newer_events(text: str) -> int:
    """Return how many events are newer than those of the page."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
