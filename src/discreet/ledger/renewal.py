"""How an older ledger becomes a newer one: its tables, and what its events say from then on."""

from sqlalchemy import Connection

from . import checked, rows
from .events import STATED_SINCE
from .rows import News
from .schema import migrate, version_of
from .verification import verify


def renew(connection: Connection) -> None:
    """Bring what is stored to the newest schema, from nothing if need be.

    A ledger whose events do not say what they left the budgets as is read once from its first event on. Then
    an event for each budget says it, so that a release can rely on the latest from there.

    Raises:
        LedgerCorrupt: if the older ledger does not agree with itself.
    """
    before = version_of(connection)
    migrate(connection)
    if 0 < before < STATED_SINCE:
        verify(connection, None)
        _carry(connection)


def _carry(connection: Connection) -> None:
    """Write what each budget is, as events."""
    wholes = {each.dataset: each for each in rows.budgets(connection) if each.analyst is None}
    for budget in rows.budgets(connection):
        whole = wholes[budget.dataset]
        left = [whole] if budget.analyst is None else [whole, budget]
        news = News("carried", budget.dataset, budget.analyst, None, checked.stated(*left))
        rows.append(connection, rows.tip_of(connection), news)
