"""Pages of budgets: amounts spent and remaining, as pictures; the owner opens, extends and renews them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ...errors import InvalidArgument
from ...ledger import Budget
from ...messages import Message
from ..refusals import RefusedError
from .authenticated_request import AuthenticatedRequest
from .budget_bars import Shares, shares
from .price_sentences import relation_of
from .rendering import redirect

_UNITS = ("epsilon", "rho", "delta")


@dataclass(frozen=True, slots=True)
class BudgetCard:
    """A budget on the page.

    Attributes:
        budget: the budget.
        shares: it as a picture.
        relation: its neighbouring relation, in words.
        dataset: a dataset that is charged to it now, by which it is extended and renewed; None if there is none.
        others: the datasets of the same tables that are charged to it, and could have a budget of their own.
    """

    budget: Budget
    shares: Shares
    relation: Message
    dataset: str | None
    others: tuple[str, ...]


def budgets(request: AuthenticatedRequest) -> Response:
    """Return the page of the visitor's budgets, or of all."""
    scope = request.scope()
    cards = [_budget_card(budget, scope.datasets) for budget in request.connection().budgets()]
    names = scope.without_budget if request.token.role == "owner" else ()
    change = request.fields.get("done", "")
    return request.page("budgets.html", cards=cards, unopened=names, happened=change)


def _budget_card(budget: Budget, charged: Mapping[str, Budget]) -> BudgetCard:
    """Return a budget for the page, with the datasets that are charged to it."""
    datasets = [name for name, whole in charged.items() if whole.dataset == budget.dataset]
    others = [name for name in datasets if not f"{budget.dataset} ".startswith(f"{name} ")]
    own = [name for name in datasets if name not in others]
    return BudgetCard(
        budget, shares(budget), relation_of(budget),
        next(iter(own + others), None), () if budget.analyst else tuple(others),
    )  # fmt: skip


def extend(request: AuthenticatedRequest) -> Response:
    """Give a budget a larger total."""
    dataset, analyst = request.fields.get("dataset", ""), request.fields.get("analyst") or None
    request.connection().extend_budget(dataset, analyst=analyst, **read_amounts(request))
    return redirect("/budgets?done=extended")


def renew(request: AuthenticatedRequest) -> Response:
    """Open the next budget of a dataset."""
    dataset, period = request.fields.get("dataset", ""), request.fields.get("period") or None
    request.connection().renew_budget(dataset, period, **_form_amounts(request))
    return redirect("/budgets?done=renewed")


def reopen(request: AuthenticatedRequest) -> Response:
    """Open a dataset again that failures have closed for an analyst."""
    dataset, analyst = request.fields.get("dataset", ""), request.fields.get("analyst") or None
    request.connection().reopen(dataset, analyst=analyst)
    return redirect("/budgets?done=reopened")


def open_budget_page(request: AuthenticatedRequest) -> Response:
    """Open the budget of a dataset, or one of its own though others share its tables."""
    fields = request.fields
    dataset, is_separate = fields.get("dataset", ""), fields.get("separate") == "yes"
    request.connection().open_budget(dataset, separate=is_separate, **_form_amounts(request))
    return redirect("/budgets?done=budget_opened")


def read_amounts(request: AuthenticatedRequest) -> dict[str, Any]:
    """Return the amounts of a form, by their units.

    Raises:
        RefusedError: if there are none.
    """
    amounts = _form_amounts(request)
    if not amounts:
        raise RefusedError(InvalidArgument("Give an amount, such as 1/2."))
    return amounts


def _form_amounts(request: AuthenticatedRequest) -> dict[str, Any]:
    """Return the amounts of a form, by their units, where it has any."""
    return {unit: request.fields[unit] for unit in _UNITS if request.fields.get(unit)}
