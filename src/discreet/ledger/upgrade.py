"""Upgrades an older ledger: its tables, and the states of budgets in its events."""

from sqlalchemy import Connection

from ..errors import InvalidArgument
from . import queries
from .events import SHARES_SINCE_SCHEMA, STATES_SINCE_SCHEMA
from .recounts import recount_verified
from .schema import MIGRATIONS, migrate, version_of
from .transaction import NewEvent, Transaction
from .verification import verify_chain


def upgrade(connection: Connection) -> None:
    """Migrate a ledger to the newest schema; create it in an empty database.

    An older ledger is verified once from its first event on. Where events do not hold the states of budgets, one
    "carried" event per budget records its state, so that releases can rely on the latest event.

    In a ledger whose shares were not paid for when they were opened, one "recounted" event per dataset says that
    they are from now on; or, where they are more than the budget or of another kind, that they are oversubscribed.

    Raises:
        LedgerCorrupt: if the older ledger is inconsistent.
    """
    before = version_of(connection)
    is_older = 0 < before < len(MIGRATIONS)
    migrate(connection)
    if is_older:
        verify_chain(connection, None, before)
    if 0 < before < STATES_SINCE_SCHEMA:
        _carry(connection)
    if 0 < before < SHARES_SINCE_SCHEMA:
        _recount(connection)


def _carry(connection: Connection) -> None:
    """Append an event with the state of every budget."""
    transaction = Transaction(connection, writing=True)
    wholes = {
        each.dataset: each for each in queries.stored_budgets(connection) if each.analyst is None
    }
    for budget in queries.stored_budgets(connection):
        whole = wholes[budget.dataset]
        states = [whole] if budget.analyst is None else [whole, budget]
        event = NewEvent(
            "carried", budget.dataset, budget.analyst, None, queries.budget_states(*states)
        )
        transaction.append(event)
    transaction.store_end()


def _recount(connection: Connection) -> None:
    """Append an event with the rule for the shares of every dataset."""
    transaction = Transaction(connection, writing=True)
    for budget in queries.stored_budgets(connection):
        if budget.analyst is None:
            try:
                recount_verified(transaction, budget, "reserved")
            except InvalidArgument:  # more than the budget, or of another kind
                recount_verified(transaction, budget, "oversubscribed")
    transaction.store_end()
