"""Pages of the owner: access of analysts, shares, tokens."""

from dataclasses import dataclass

from starlette.responses import Response

from ...ledger import Budget
from ..asking.rights import Scope
from ..asking.tokens import NewToken
from ..queue.disclosures import Disclosure
from .authenticated_request import AuthenticatedRequest
from .budget_bars import Shares, shares

_DAYS = "90d"


@dataclass(frozen=True, slots=True)
class AccessRow:
    """The access of one analyst to one dataset.

    Attributes:
        dataset: the dataset.
        share: the analyst's share that is charged now; None if none was opened.
        shares: the share as a picture.
        declared_share: the share that the description declares, in words; None if it declares none.
        disclosure: the failures and the times that the analyst can see; None without a share.
    """

    dataset: str
    share: Budget | None
    shares: Shares | None
    declared_share: str | None
    disclosure: Disclosure | None


def access(request: AuthenticatedRequest) -> Response:
    """Return the page of the access that the description gives, with the shares that were opened."""
    service, rows = request.site.service, []
    for analyst in service.analysts():
        scope = service.scope_of(analyst)
        names = (*scope.datasets, *scope.without_budget)
        access_rows = [_access_row(request, analyst, scope, name) for name in names]
        rows.append((analyst, scope, access_rows))
    return request.page(
        "access.html", rows=rows, path=service.description_name, late=service.late_answers(),
        happened=request.fields.get("done", ""),
    )  # fmt: skip


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
        "tokens.html", rows=rows, analysts=list(service.analysts()), made=new_token, days=_DAYS,
        happened=request.fields.get("done", ""),
    )  # fmt: skip


def _access_row(request: AuthenticatedRequest, analyst: str, scope: Scope, name: str) -> AccessRow:
    """Return the access of an analyst to a dataset."""
    share = scope.datasets.get(name)
    total = request.site.service.declared_share(analyst)
    words = None if total is None else str(total)
    seen = {one.dataset: one for one in request.site.service.disclosures_of(analyst)}
    picture = None if share is None else shares(share)
    return AccessRow(name, share, picture, words, seen.get(name))
