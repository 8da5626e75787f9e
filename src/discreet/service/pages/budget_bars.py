"""Budgets as pictures: bars in SVG, drawn from public sums."""

from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from ...ledger import Budget
from ...ledger.budget import Amount


@dataclass(frozen=True, slots=True)
class Shares:
    """A budget as shares of its total: the part that was spent, and the cost of a question.

    Attributes:
        spent: the part that was spent, between 0 and 1.
        cost: the cost of the question, as far as it fits.
    """

    spent: Fraction
    cost: Fraction = Fraction(0)


def shares(budget: Budget, cost: Amount | None = None) -> Shares:
    """Return a budget as shares of its total, in a unit that it still counts."""
    unit = "epsilon" if budget.remaining.epsilon is not None else "rho"
    total, spent = getattr(budget.total, unit), getattr(budget.spent, unit)
    if not total or spent is None:
        return Shares(Fraction(1))
    spent_share = min(Fraction(1), spent / total)
    price = Fraction(0) if cost is None else getattr(cost, unit) or Fraction(0)
    return Shares(spent_share, min(1 - spent_share, price / total))


def bar(budget_shares: Shares, label: str) -> Markup:
    """Return a bar of a budget, with the same in words for screen readers."""
    start, wide = _percent(budget_shares.spent), _percent(budget_shares.cost)
    return Markup(
        '<svg class="bar" role="img" aria-label="{}" width="100%" height="10">'
        '<rect class="bar-total" width="100%" height="10" rx="5"/>'
        '<rect class="bar-spent" width="{}%" height="10" rx="5"/>'
        '<rect class="bar-cost" x="{}%" width="{}%" height="10"/></svg>'
    ).format(label, start, start, wide)


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.2f}"
