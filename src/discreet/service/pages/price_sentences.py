"""The meaning of a price for the people in the data, in the sentences of the reports."""

from ...ledger import Budget
from ...ledger.budget import Amount
from ...messages import Message
from ...privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from ...sentences import guarantee_in_words, neighbors_in_words


def promise_of(cost: Amount, budget: Budget) -> list[Message]:
    """Return the guarantee of an answer that costs so much, in plain sentences."""
    return guarantee_in_words(_guarantee(cost, budget))


def relation_of(budget: Budget) -> Message:
    """Return the neighbouring relation of the budget, in words."""
    return neighbors_in_words(budget.neighbors, budget.unit)


def _guarantee(cost: Amount, budget: Budget) -> Guarantee:
    """Return the guarantee that a cost stands for, under the neighbouring relation of its budget."""
    if cost.epsilon is None:
        assert cost.rho is not None
        return ZCDP(cost.rho, budget.neighbors)
    if cost.delta:
        return ApproxDP(cost.epsilon, cost.delta, budget.neighbors)
    return PureDP(cost.epsilon, budget.neighbors)
