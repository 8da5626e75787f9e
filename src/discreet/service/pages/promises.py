"""What a price means for the people in the data, in the sentences of the reports."""

from typing import Any

from ...ledger import Budget
from ...ledger.budget import Amount
from ...privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from ...reports.chinese import CHINESE
from ...reports.english import ENGLISH
from ...reports.prose import guarantee_in_words, neighbors_in_words
from ...reports.wording import Wording

WORDINGS: dict[str, Wording] = {"en": ENGLISH, "zh": CHINESE}
"""The sentences of the reports, by language."""


def promised(cost: Amount, budget: Budget, lang: str) -> list[str]:
    """Return the guarantee of an answer that costs so much, in plain sentences."""
    return guarantee_in_words(_guarantee(cost, budget), WORDINGS[lang])


def related(budget: Budget, lang: str) -> str:
    """Return what the budget protects, in words."""
    return neighbors_in_words(budget.neighbors, budget.unit, WORDINGS[lang])


def said(made: Any, lang: str) -> str:
    """Return what an amount or a guarantee says of itself, in a language."""
    return WORDINGS[lang].said(made)


def _guarantee(cost: Amount, budget: Budget) -> Guarantee:
    """Return the guarantee that a cost stands for, under the neighbouring relation of its budget."""
    if cost.epsilon is None:
        assert cost.rho is not None
        return ZCDP(cost.rho, budget.neighbors)
    if cost.delta:
        return ApproxDP(cost.epsilon, cost.delta, budget.neighbors)
    return PureDP(cost.epsilon, budget.neighbors)
