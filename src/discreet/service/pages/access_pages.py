"""Pages of the owner: access of analysts, shares, tokens."""

from dataclasses import dataclass

from starlette.responses import Response

from ...ledger import Budget
from ..rights import Scope
from ..tokens import NewToken
from .authenticated_request import Visit
from .budget_bars import Shares, shares
from .budget_pages import read_amounts
from .rendering import redirect

_DAYS = "90d"


@dataclass(frozen=True, slots=True)
class AccessRow:
    """The access of one analyst to one dataset.

    Attributes:
        dataset: the dataset.
        share: the analyst's share that is charged now; None if none was opened.
        shares: the share as a picture.
        declared: the share that the description declares, in words; None if it declares none.
    """

    dataset: str
    share: Budget | None
    shares: Shares | None
    declared: str | None


def access(visit: Visit) -> Response:
    """Return the page of the access that the description gives, with the shares that were opened."""
    service, rows = visit.site.service, []
    for analyst in service.analysts():
        scope = service.scope_of(analyst)
        names = (*scope.datasets, *scope.without_budget)
        rows.append((analyst, scope, [_access_row(visit, analyst, scope, name) for name in names]))
    return visit.page(
        "access.html", rows=rows, path=service.description_name, slots=service.slots,
        happened=visit.fields.get("done", ""),
    )  # fmt: skip


def open_share(visit: Visit) -> Response:
    """Open the share of an analyst: the one that is declared, or the one in the form."""
    analyst, dataset = visit.fields.get("analyst", ""), visit.fields.get("dataset", "")
    is_declared = visit.site.service.declared_share(analyst) is not None
    amounts = {} if is_declared else read_amounts(visit)
    visit.connection().open_budget(dataset, analyst=analyst, **amounts)
    return redirect("/access?done=opened")


def tokens(visit: Visit) -> Response:
    """Return the page of all tokens."""
    return _tokens_page(visit)


def create(visit: Visit) -> Response:
    """Make a token, and return the page that shows it, once."""
    role, analyst = visit.fields.get("role", ""), visit.fields.get("analyst") or None
    expires = visit.fields.get("expires") or _DAYS
    token = visit.connection().create_token(role, analyst=analyst, expires=expires)
    return _tokens_page(visit, token)


def revoke(visit: Visit) -> Response:
    """Revoke a token, with all that were made with it, and end its sessions; others end when they are used."""
    token = visit.connection().revoke_token(visit.fields.get("id", ""))
    visit.site.sessions.end_all(token.id)
    return redirect("/tokens?done=revoked")


def _tokens_page(visit: Visit, new_token: NewToken | None = None) -> Response:
    """Return the page of all tokens, with the one that was made just now."""
    service = visit.site.service
    valid = {one.id for one in service.tokens.valid()}
    rows = [(one, one.id in valid) for one in reversed(visit.connection().tokens())]
    return visit.page(
        "tokens.html", rows=rows, analysts=list(service.analysts()), made=new_token, days=_DAYS,
        happened=visit.fields.get("done", ""),
    )  # fmt: skip


def _access_row(visit: Visit, analyst: str, scope: Scope, dataset: str) -> AccessRow:
    """Return the access of an analyst to a dataset."""
    share = scope.datasets.get(dataset)
    total = visit.site.service.declared_share(analyst)
    words = None if total is None else str(total)
    return AccessRow(dataset, share, None if share is None else shares(share), words)
