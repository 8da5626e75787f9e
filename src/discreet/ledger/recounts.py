"""Changes of the rule by which the shares of a dataset's budget are paid for, as events of the chain."""

from . import queries
from .budget import Amount, Budget, ShareRule, new_budget, read_amount
from .events import CHARGED
from .shares import with_rule
from .transaction import NewEvent, Transaction
from .verification import verify_chain


def recount_shares(transaction: Transaction, whole: Budget, rule: ShareRule) -> Budget:
    """Record that the shares of a dataset are paid for in another way from now on.

    The charges are added up from all events, so the whole chain is verified first.

    Raises:
        InvalidArgument: if they are more than the budget, or of another kind.
        LedgerCorrupt: if the events, sums or tables differ from those that were written.
    """
    verify_chain(transaction.connection, None)
    others = [
        b for b in queries.checked_budgets(transaction, whole.dataset) if b.analyst is not None
    ]
    after = with_rule(whole, others, _direct_charges(transaction, whole), rule)
    body = {"shares": rule, **queries.budget_states(after)}
    transaction.append(NewEvent("recounted", whole.dataset, None, None, body))
    queries.update_budget(transaction.database, after)
    return after


def _direct_charges(transaction: Transaction, whole: Budget) -> Amount:
    """Return the sum of the charges to a dataset's budget without a share.

    It is added up from the events: sums are rounded up, so the difference of two of them could be too small.
    """
    so_far = new_budget(
        whole.dataset, None, whole.neighbors, whole.total, delta_for=whole.delta_for
    ).spent
    for event in queries.all_events(transaction.connection, whole.dataset):
        if event.kind in CHARGED and event.analyst is None:
            so_far += read_amount(event.body["costs"][0])
    return so_far
