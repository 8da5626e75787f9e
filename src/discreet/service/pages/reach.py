"""What a visitor may ask about, and the budgets that are charged for it."""

from collections.abc import Mapping
from typing import Any

from ...datasets.configuration import VERBS
from ...ledger import Budget
from .visit import Visit


def about_analyst(visit: Visit) -> Mapping[str, Any]:
    """Return what is declared about the visitor; nothing about an owner or an auditor."""
    found: Mapping[str, Any] = visit.site.service.declared.analysts.get(
        visit.token.analyst or "", {}
    )
    return found


def datasets(visit: Visit) -> dict[str, Budget]:
    """Return the datasets that the visitor may ask about or see, each with the budget that is charged first."""
    held, analyst = visit.site.service.held, visit.token.analyst
    if analyst is None:
        return {name: held.whole(name) for name in held.names}
    mine, allowed = held.shares(analyst), about_analyst(visit).get("datasets", ())
    return {name: mine[name] for name in allowed if name in mine}


def verbs(visit: Visit) -> tuple[str, ...]:
    """Return the verbs of free questions that the visitor may ask."""
    if visit.token.role != "analyst":
        return tuple(VERBS)
    return tuple(about_analyst(visit).get("verbs", ()))
