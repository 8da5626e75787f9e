"""Pages of the auditor and the owner: history, verification, checkpoints, reports."""

import json
from typing import Any

from starlette.responses import Response

from ...errors import LedgerCorrupt
from ...reports.budgets import about_budget
from .promises import WORDINGS
from .rendering import download
from .visit import Visit

_ROWS = 50


def history(visit: Visit) -> Response:
    """Return the page of what happened, the newest first."""
    return _history(visit)


def verify(visit: Visit) -> Response:
    """Compute the chain and all sums anew, and return the page that says what holds."""
    head = visit.fields.get("head") or None
    try:
        verified = visit.site.ledger.verify(head)
    except LedgerCorrupt as error:
        return _history(visit, wrong=str(error))
    return _history(visit, verified=verified, noted=head)


def events(visit: Visit) -> Response:
    """Return all events as JSON lines, which `discreet ledger verify` and other programs read."""
    found = visit.site.ledger.history()
    lines = "".join(f"{json.dumps(event.as_dict())}\n" for event in found)
    return download(lines, "events.jsonl", "application/jsonl")


def checkpoint(visit: Visit) -> Response:
    """Return the end of the chain, to be kept elsewhere."""
    return download(f"{visit.site.ledger.checkpoint()}\n", "checkpoint.json", "application/json")


def budget_report(visit: Visit) -> Response:
    """Return the report of a budget, in the language of the visitor."""
    wording = WORDINGS[visit.asked.lang]
    made = about_budget(visit.site.ledger, visit.fields.get("dataset", ""), wording).html()
    return download(made, "privacy-budget.html", "text/html")


def _history(visit: Visit, **shown: Any) -> Response:
    """Return the page of events, with what a verification found."""
    found = visit.site.ledger.history()[::-1]
    first = _first(visit.fields.get("from", ""))
    budgets = list(dict.fromkeys(one.dataset for one in visit.site.ledger.budgets()))
    given: dict[str, Any] = {
        "verified": None, "noted": None, "wrong": None, "rows": found[first : first + _ROWS], "budgets": budgets,
        "end": visit.site.ledger.checkpoint(), "older": first + _ROWS if first + _ROWS < len(found) else None,
        "newer": max(0, first - _ROWS) if first else None, **shown,
    }  # fmt: skip
    return visit.page("history.html", **given)


def _first(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
