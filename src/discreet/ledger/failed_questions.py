"""Questions that fail because of the data, and the datasets that they close for an analyst.

For the proof, see docs/explanation/threat_model.md, "Endings". Whether a question fails may depend on the data, and
    no epsilon covers it. So failures are charged, stored and counted. At a number that its owner declares a dataset
    is closed for the analyst. The rule reads events of the analyst's own questions alone, so it tells nothing of
    others.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from ..base.error_boundary import public_errors
from ..base.messages import Message, plural
from ..errors import Exhausted, InvalidArgument, Unanswerable
from . import queries
from .bindings import read_bindings
from .budget import Amount, Budget, read_amount
from .delays import Delay, new_delay, why_waiting
from .transaction import NewEvent, Transaction, time_text

MAX_FAILURES = 3
"""How many questions of an analyst may fail before a dataset is closed, if its owner does not say."""

LEAST_PART = 1000
"""A question costs at least a share divided by this, if the owner does not say."""


_NO_LEAST = Amount()


class QuestionFailed(Exception):
    """Raised by a draw that fails because of the data: the failure is stored in place of an answer.

    Args:
        error: the error, for whoever may see it.
        reason: why, in few words, for the owner. By default that it was the data.
    """

    def __init__(self, error: Exception, reason: str = "the data") -> None:
        super().__init__()
        self.error, self.reason = error, reason


def stored_failure() -> QuestionFailed:
    """Return the failure of a question that failed before. Its reason is not stored."""
    return QuestionFailed(
        Unanswerable(
            "this question failed before because of the data, which are not read again for it"
        )
    )


@dataclass(frozen=True, slots=True)
class Allowance:
    """The terms on which an analyst asks about a dataset, in addition to the budgets.

    Attributes:
        dataset: the name of the dataset, by which its owner opens it again.
        analyst: the analyst.
        max_failures: how many questions may fail until the dataset is closed.
        least: the least that a question may cost, in the units of the share. None of a unit: as little as it likes.
        since: the time of the public reset before the question: see `delays`.
    """

    dataset: str
    analyst: str
    max_failures: int = MAX_FAILURES
    least: Amount = _NO_LEAST
    since: str = ""

    def check_cost(self, cost: Amount) -> None:
        """Raise if a question costs less than the least.

        Raises:
            InvalidArgument: with the least that it may cost.
        """
        pairs = (("epsilon", cost.epsilon, self.least.epsilon), ("rho", cost.rho, self.least.rho))
        for unit, amount, least in pairs:
            if amount is not None and least is not None and amount < least:
                price, bound = (read_amount({unit: str(number)}) for number in (amount, least))
                with public_errors():
                    raise InvalidArgument(
                        f"this costs {price}, and a question here costs at least {bound}: ask with "
                        f"a larger {unit}"
                    )

    def closed(self, failures: int) -> Message | None:
        """Return why the dataset is closed after so many failures, or None."""
        if failures < self.max_failures:
            return None
        return Message(
            "closed after {failures}. The owner opens it again: discreet ledger reopen {dataset} "
            "--analyst {analyst}",
            failures=plural("{count:,} failure", "{count:,} failures", failures),
            dataset=self.dataset, analyst=self.analyst,
        )  # fmt: skip

    def questions(self, share: Budget) -> int:
        """Return how many questions a share can pay at most, as none costs less than the least."""
        totals, least = share.counted_total, self.least
        pairs = (totals.epsilon, least.epsilon), (totals.rho, least.rho)
        return max(total // each for total, each in pairs if total is not None and each)


def least_cost(share: Budget, declaration: Amount, cheapest: Amount) -> Amount:
    """Return the least that a question may cost an analyst, in the units that the share counts.

    Args:
        share: the analyst's share.
        declaration: the least that the owner declares. None of a unit for the default.
        cheapest: the costs of the cheapest named question, which may always be asked.
    """
    total = share.counted_total
    return Amount(
        _least(total.epsilon, declaration.epsilon, cheapest.epsilon),
        _least(total.rho, declaration.rho, cheapest.rho),
    )


def _least(
    total: Fraction | None, declaration: Fraction | None, cheapest: Fraction | None
) -> Fraction | None:
    if total is None:
        return None
    least = total / LEAST_PART if declaration is None else declaration
    return least if cheapest is None else min(least, cheapest)


def failures(transaction: Transaction, dataset: str, analyst: str | None) -> int:
    """Return how many questions of an analyst have failed since the dataset was last opened again for them.

    A renewed budget does not open it: failures of all budgets of a dataset are counted together.
    """
    names = read_bindings(transaction).renewals(dataset)
    return sum(queries.failures_of(transaction, name, analyst) for name in names)


def why_closed(transaction: Transaction, dataset: str, allowance: Allowance) -> Message | None:
    """Return why a dataset is closed for an analyst, for good or until the next reset, or None."""
    delay = queries.delay_of(transaction, dataset, allowance.analyst).after_reset(allowance.since)
    count = failures(transaction, dataset, allowance.analyst)
    return allowance.closed(count) or why_waiting(delay)


def check_open(transaction: Transaction, dataset: str, allowance: Allowance) -> None:
    """Raise if a dataset is closed for an analyst.

    Args:
        transaction: where the failures are read.
        dataset: the budget that is charged.
        allowance: the terms of the analyst.

    Raises:
        Exhausted: if as many questions have failed, or were given up, as may.
    """
    why = why_closed(transaction, dataset, allowance)
    if why is not None:
        raise Exhausted(f"the budget of {dataset} cannot pay any more: {why}")


def new_failure(
    transaction: Transaction, names: tuple[str, str | None, str], reason: str, at: str | None
) -> NewEvent:
    """Return the event of a question that failed, by the dataset, the analyst and the request.

    It has a reason, which its owner and auditors see, and no duration.
    """
    count = queries.failures_of(transaction, *names[:2]) + 1
    return NewEvent("failed", *names, {"failures": count, "reason": reason}, at)


def reset_delays(transaction: Transaction, dataset: str, analyst: str | None) -> list[Budget]:
    """Let delays, and the count of questions given up, begin again; return the shares of which they were longer.

    Args:
        transaction: where it is recorded.
        dataset: the budget that is charged.
        analyst: the analyst. None for all, and for the owner.
    """
    rows: list[Budget] = []
    for share in queries.stored_budgets(transaction.database, dataset):
        before = queries.delay_of(transaction, dataset, share.analyst)
        if analyst in {None, share.analyst} and before != Delay(since=before.since):
            since = max(before.since, time_text(datetime.now(UTC)))
            new_delay(transaction, "reset", (dataset, share.analyst), Delay(since=since))
            rows.append(share)
    return rows


def reopen_dataset(transaction: Transaction, dataset: str, analyst: str | None) -> list[Budget]:
    """Open a dataset again for an analyst, or for all with failed questions, and return their shares.

    Args:
        transaction: where it is recorded.
        dataset: the budget that is charged.
        analyst: the analyst. None for all.
    """
    names, analysts = read_bindings(transaction).renewals(dataset), dict[str, None]()
    for name in names:
        for share in queries.stored_budgets(transaction.database, name):
            if share.analyst is None or analyst not in {None, share.analyst}:
                continue
            if queries.failures_of(transaction, name, share.analyst):
                event = NewEvent("reopened", name, share.analyst, None, {"failures": 0})
                transaction.append(event)
                analysts[share.analyst] = None
    shares = queries.checked_budgets(transaction, dataset)
    return [share for share in shares if share.analyst in analysts]
