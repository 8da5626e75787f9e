"""Pages of budgets: amounts spent and remaining, as pictures."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

from ...base.messages import Message
from ...ledger import Budget
from ...selection.sentences import neighbors_in_words
from .authenticated_request import AuthenticatedRequest
from .budget_bars import Shares, shares


@dataclass(frozen=True, slots=True)
class BudgetCard:
    """A budget on the page.

    Attributes:
        budget: the budget.
        shares: it as a picture.
        relation: its neighbouring relation, in words.
        dataset: a dataset that is charged to it now, by which it is extended and renewed. None if there is none.
        others: the datasets of the same tables that are charged to it, and could have a budget of their own.
    """

    budget: Budget
    shares: Shares
    relation: Message
    dataset: str | None
    others: tuple[str, ...]


def budgets(request: AuthenticatedRequest) -> Response:
    """Return the page of the visitor's budgets, or of all."""
    charged = request.charged()
    cards = [_budget_card(budget, charged) for budget in request.connection().budgets()]
    described = request.site.service.configuration.datasets if request.token.role == "owner" else ()
    names = [name for name in described if name not in charged]
    change = request.fields.get("done", "")
    return request.page("budgets.html", cards=cards, unopened=names, happened=change)


def _budget_card(budget: Budget, charged: Mapping[str, Budget]) -> BudgetCard:
    """Return a budget for the page, with the datasets that are charged to it."""
    datasets = [name for name, whole in charged.items() if whole.dataset == budget.dataset]
    others = [name for name in datasets if not f"{budget.dataset} ".startswith(f"{name} ")]
    own = [name for name in datasets if name not in others]
    return BudgetCard(
        budget, shares(budget), neighbors_in_words(budget.neighbors, budget.unit),
        next(iter(own + others), None), () if budget.analyst else tuple(others),
    )  # fmt: skip
