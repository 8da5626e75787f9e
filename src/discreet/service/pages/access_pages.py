"""Pages of the owner: access of analysts, shares, tokens."""

from dataclasses import dataclass

from starlette.responses import Response

from ...ledger import Budget
from ...ledger.budget import read_total
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
        share: the analyst's share that is charged now. None if none was opened.
        shares: the share as a picture.
        declared_share: the share that the description declares, in words. None if it declares none.
        disclosure: the failures and the times that the analyst can see. None without a share.
    """

    dataset: str
    share: Budget | None
    shares: Shares | None
    declared_share: str | None
    disclosure: Disclosure | None


def access(request: AuthenticatedRequest) -> Response:
    """Return the page of the access that the description gives, with the shares that were opened."""
    service, rows = request.site.service, []
    for analyst in service.configuration.analysts:
        rights = service.rights_of(analyst)
        charged = rights.charged()
        names = dict.fromkeys((*charged, *rights.dataset_names))
        share, seen = _declared_share(request, analyst), service.disclosures_of(analyst)
        bits = {one.dataset: one for one in seen}
        access_rows = [
            _access_row(name, charged.get(name), share, bits.get(name)) for name in names
        ]
        rows.append((rights.own_rights(), access_rows))
    return request.page(
        "access.html", rows=rows, path=service.configuration.path.name, late=service.late_answers(),
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
        "tokens.html", rows=rows, analysts=list(service.configuration.analysts), made=new_token, days=_DAYS,
        happened=request.fields.get("done", ""),
    )  # fmt: skip


def _declared_share(request: AuthenticatedRequest, analyst: str) -> str | None:
    """Return the share that the description declares for an analyst, in words."""
    terms = request.site.service.configuration.analyst(analyst).get("share")
    if terms is None:
        return None
    return str(read_total(*(terms.get(unit) for unit in ("epsilon", "rho", "delta"))))


def _access_row(
    name: str, share: Budget | None, declared_share: str | None, disclosure: Disclosure | None
) -> AccessRow:
    """Return the access of an analyst to a dataset."""
    picture = None if share is None else shares(share)
    return AccessRow(name, share, picture, declared_share, disclosure)
