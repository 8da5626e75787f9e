"""Pages of budgets: what was spent and what remains, as pictures; the owner gives more."""

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
    names = {whole.dataset: name for name, whole in visit.scope().datasets.items()}
    rows = [
        (one, shares(one), related(one, visit.asked.lang), names.get(one.dataset))
        for one in visit.connection().budgets()
    ]
    return visit.page("budgets.html", rows=rows, done=visit.fields.get("done", ""))


def extend(visit: Visit) -> Response:
    """Give a budget a larger total."""
    dataset, analyst = visit.fields.get("dataset", ""), visit.fields.get("analyst") or None
    visit.connection().extend_budget(dataset, analyst=analyst, **read_amounts(visit))
    return redirect("/budgets?done=extended")


def read_amounts(visit: Visit) -> dict[str, Any]:
    """Return the amounts of a form, by their units.

    Raises:
        RefusedError: if there are none.
    """
    found: dict[str, Any] = {unit: visit.fields[unit] for unit in _UNITS if visit.fields.get(unit)}
    if not found:
        raise RefusedError(InvalidArgument(visit.words.no_amount))
    return found
