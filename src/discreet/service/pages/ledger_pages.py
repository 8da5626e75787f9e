"""Pages of budgets, access and tokens, and of the history with its verification, checkpoints and reports."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from ...base.error_boundary import public_errors
from ...base.messages import Message
from ...errors import LedgerCorrupt, UnknownName, preview
from ...ledger import Budget, Event
from ...ledger.budget import read_amount, read_total
from ...ledger.verification import read_noted_head
from ...selection.sentences import neighbors_in_words
from ...study.reports import budget_page
from ..asking.refusals import RefusedError, error_for_reader
from ..asking.tokens import NewToken
from .page_request import AuthenticatedRequest
from .rendering import download

_ROWS = 50
_DAYS = "90d"


def budgets(request: AuthenticatedRequest) -> Response:
    """Return the page of the visitor's budgets, or of all."""
    charged = request.charged()
    cards = [_budget_card(budget, charged) for budget in request.connection().budgets()]
    described = request.site.service.configuration.datasets if request.token.role == "owner" else ()
    names = [name for name in described if name not in charged]
    change = request.fields.get("done", "")
    return request.page("budgets.html", cards=cards, unopened=names, happened=change)


def _budget_card(
    budget: Budget, charged: Mapping[str, Budget]
) -> tuple[Budget, Message, str | None, tuple[str, ...]]:
    """Return a budget with its neighbouring relation, and the datasets that are charged to it now.

    By one of these it is extended and renewed. The last are those of the same tables, which could have budgets of
    their own.
    """
    datasets = [name for name, whole in charged.items() if whole.dataset == budget.dataset]
    others = [name for name in datasets if not f"{budget.dataset} ".startswith(f"{name} ")]
    own = [name for name in datasets if name not in others]
    relation = neighbors_in_words(budget.neighbors, budget.unit)
    return budget, relation, next(iter(own + others), None), () if budget.analyst else tuple(others)


def access(request: AuthenticatedRequest) -> Response:
    """Return the page of the access that the description gives, with the shares that were opened."""
    service, rows = request.site.service, []
    for analyst in service.configuration.analysts:
        rights = service.rights_of(analyst)
        charged = rights.charged()
        names = dict.fromkeys((*charged, *rights.dataset_names))
        bits = {one.dataset: one for one in service.disclosures_of(analyst)}
        shares = [(name, charged.get(name), bits.get(name)) for name in names]
        rows.append((rights.own_rights(), _declared_share(request, analyst), shares))
    return request.page(
        "access.html", rows=rows, path=service.configuration.path.name, late=service.late_answers(),
        happened=request.fields.get("done", ""),
    )  # fmt: skip


def _declared_share(request: AuthenticatedRequest, analyst: str) -> str | None:
    """Return the share that the description declares for an analyst, in words."""
    terms = request.site.service.configuration.analyst(analyst).get("share")
    if terms is None:
        return None
    return str(read_total(*(terms.get(unit) for unit in ("epsilon", "rho", "delta"))))


def tokens(request: AuthenticatedRequest) -> Response:
    """Return the page of all tokens."""
    return _tokens_page(request)


def create(request: AuthenticatedRequest) -> Response:
    """Make a token, and return the page that shows it, once."""
    role, analyst = request.fields.get("role", ""), request.fields.get("analyst") or None
    expires = request.fields.get("expires") or _DAYS
    token = request.connection().create_token(role, analyst=analyst, expires=expires)
    return _tokens_page(request, token)


def _tokens_page(request: AuthenticatedRequest, new_token: NewToken | None = None) -> Response:
    """Return the page of all tokens, with the one that was made just now."""
    service = request.site.service
    valid = {one.id for one in service.tokens.valid()}
    rows = [(one, one.id in valid) for one in reversed(request.connection().tokens())]
    return request.page(
        "tokens.html", rows=rows, analysts=list(service.configuration.analysts), made=new_token, days=_DAYS,
        happened=request.fields.get("done", ""),
    )  # fmt: skip


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


def _event_row(event: Event) -> tuple[Event, str, str]:
    """Return an event with its question or another note, and its cost or the total that a budget was given.

    Of its costs the first is that of the dataset's own budget.
    """
    plain = (event.body.get("costs") or [event.body.get("total")])[0]
    amount = "" if plain is None else str(read_amount(plain))
    return event, _words_of(event), amount


def _words_of(event: Event) -> str:
    """Return the question of an event, or its other words."""
    body = event.body
    words = (body.get(name, "") for name in ("note", "reason", "request"))
    return next(filter(None, [event.question, *map(str, words)]), "")


def _newer_events(text: str) -> int:
    """Return how many events are newer than those of the page."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
