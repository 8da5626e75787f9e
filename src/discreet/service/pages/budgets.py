"""Pages of budgets: what was spent and what remains, as pictures; the owner opens, extends and renews them."""

from typing import Any

from starlette.responses import Response

from ...errors import InvalidArgument
from ..refusals import RefusedError
from .bars import shares
from .promises import related
from .rendering import redirect
from .visit import Visit

_UNITS = ("epsilon", "rho", "delta")


def budgets(visit: Visit) -> Response:
    """Return the page of the visitor's budgets, or of all."""
    scope = visit.scope()
    names = {whole.dataset: name for name, whole in scope.datasets.items()}
    rows = [
        (one, shares(one), related(one, visit.asked.lang), names.get(one.dataset))
        for one in visit.connection().budgets()
    ]
    unopened = scope.unopened if visit.token.role == "owner" else ()
    done = visit.fields.get("done", "")
    return visit.page("budgets.html", rows=rows, unopened=unopened, done=done)


def extend(visit: Visit) -> Response:
    """Give a budget a larger total."""
    dataset, analyst = visit.fields.get("dataset", ""), visit.fields.get("analyst") or None
    visit.connection().extend_budget(dataset, analyst=analyst, **read_amounts(visit))
    return redirect("/budgets?done=extended")


def renew(visit: Visit) -> Response:
    """Open the next budget of a dataset."""
    dataset, period = visit.fields.get("dataset", ""), visit.fields.get("period") or None
    visit.connection().renew_budget(dataset, period, **_amounts(visit))
    return redirect("/budgets?done=renewed")


def open_budget(visit: Visit) -> Response:
    """Open the budget of a dataset, or one of its own though others share its tables."""
    dataset, is_separate = visit.fields.get("dataset", ""), visit.fields.get("separate") == "yes"
    visit.connection().open_budget(dataset, separate=is_separate, **_amounts(visit))
    return redirect("/budgets?done=budget_opened")


def read_amounts(visit: Visit) -> dict[str, Any]:
    """Return the amounts of a form, by their units.

    Raises:
        RefusedError: if there are none.
    """
    amounts = _amounts(visit)
    if not amounts:
        raise RefusedError(InvalidArgument(visit.words.no_amount))
    return amounts


def _amounts(visit: Visit) -> dict[str, Any]:
    """Return the amounts of a form, by their units, where it has any."""
    return {unit: visit.fields[unit] for unit in _UNITS if visit.fields.get(unit)}
