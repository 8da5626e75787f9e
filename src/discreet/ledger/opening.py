"""What an owner does with budgets: opens, describes and renews them, each as an event of the chain."""

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import Connection

from ..errors import InvalidArgument, UnknownBudget
from ..payment import About
from ..privacy.units import one_record
from . import integrity, queries
from .budget import Amount, Budget, new_budget
from .descriptions import Bindings, change, read_bindings, record
from .events import unit_field
from .queries import NewEvent, chain_head


def open_budget(connection: Connection, budget: Budget, about: About | None) -> Budget:
    """Store a budget unless it exists; that of a described dataset under the name of its source's budget."""
    chain = chain_head(connection, exclusive=True)
    if about is not None:
        found = read_bindings(connection, chain).budgets(about)
        budget = replace(budget, dataset=found[-1] if found else budget.dataset)
    opened = _opened(connection, budget, {})
    if about is not None and budget.analyst is None:
        _describe_once(connection, opened.dataset, about)
    return opened


def describe_dataset(connection: Connection, about: About) -> None:
    """Record a description as its owner has changed it, for the budget of its name or of its source.

    Raises:
        UnknownBudget: if no budget was opened for it.
        InvalidArgument: if it is of other records than the budget, or of the source of another budget.
    """
    chain = chain_head(connection, exclusive=True)
    bindings = read_bindings(connection, chain)
    budget = _whole(connection, bindings.budget(about))
    if budget.unit != about.privacy_unit:
        raise InvalidArgument(
            f"the budget of {budget.dataset} protects {one_record(budget.unit)}, and this description "
            f"{one_record(about.privacy_unit)}: no release fits both, so they cannot have one budget"
        )
    _check_source(bindings, about)
    if bindings.of(budget.dataset).get(str(about.name), {}).get("digest") != about.digest:
        record(connection, chain, budget.dataset, about)


def renew_budget(connection: Connection, about: About, period: str, total: Amount) -> Budget:
    """Open a new budget for a described dataset, to which releases are charged from now on.

    Raises:
        UnknownBudget: if it has none to be renewed.
        InvalidArgument: if there is another budget of the name of the new one.
    """
    bindings = read_bindings(connection, chain_head(connection, exclusive=True))
    before, first = bindings.budget(about), bindings.budgets(about)[0]
    old, name = _whole(connection, before), f"{first} {period}"
    budget = new_budget(name, None, old.neighbors, total, old.unit)
    known = queries.stored_budgets(connection, name)
    if known and not bindings.of(name):
        raise InvalidArgument(f"there is a budget named {name} already; name the period otherwise")
    opened = _opened(connection, budget, {"renews": first})
    if not known:
        for body in bindings.of(before).values():
            event = NewEvent("described", name, None, None, dict(body))
            queries.append_event(connection, chain_head(connection), event)
    return opened


def _describe_once(connection: Connection, budget: str, about: About) -> None:
    """Record a description that the budget does not have yet."""
    chain = chain_head(connection)
    known = read_bindings(connection, chain).of(budget).get(str(about.name))
    if known is None or change(known, about) is not None:
        record(connection, chain, budget, about)


def _check_source(bindings: Bindings, about: About) -> None:
    """Raise if a dataset of another name has a budget for the source, and this one has its own."""
    own = {of for (of, name) in bindings.latest if name == about.name}
    for (of, name), body in bindings.latest.items():
        if about.source is not None and body["source"] == about.source and own and of not in own:
            raise InvalidArgument(
                f"the source is that of {name}, whose budget is {of}: one source has one budget, so {about.name} "
                "cannot keep its own"
            )


def _whole(connection: Connection, dataset: str) -> Budget:
    """Return the budget of a dataset."""
    found = integrity.checked_budgets(connection, chain_head(connection), dataset)
    return next(budget for budget in found if budget.analyst is None)


def _opened(connection: Connection, budget: Budget, more: Mapping[str, object]) -> Budget:
    """Store the budget unless it exists."""
    chain = chain_head(connection)
    known = {
        each.analyst: each for each in integrity.checked_budgets(connection, chain, budget.dataset)
    }
    if budget.analyst in known:
        return _unchanged(known[budget.analyst], budget)
    if budget.analyst is not None and None not in known:
        raise UnknownBudget(
            f"a share needs something to share: open a budget for the dataset {budget.dataset} first"
        )
    _check_share(budget, known.get(None, budget))
    left = [budget] if budget.analyst is None else [known[None], budget]
    body = {"neighbors": budget.neighbors, "total": budget.total.as_dict(), **unit_field(budget.unit),
            **integrity.budget_states(*left), **more}  # fmt: skip
    queries.append_event(
        connection, chain, NewEvent("opened", budget.dataset, budget.analyst, None, body)
    )
    queries.insert_budget(connection, budget)
    return budget


def _check_share(share: Budget, whole: Budget) -> None:
    """Raise if a share has another privacy unit than its dataset's budget: no release could fit both."""
    if share.unit == whole.unit:
        return
    fix = f"privacy_unit={whole.unit!r}" if whole.unit else "no privacy_unit"
    raise InvalidArgument(
        f"the budget of {whole.name} protects {one_record(whole.unit)}, so a share of it takes {fix}"
    )


def _unchanged(known: Budget, asked: Budget) -> Budget:
    """Return the existing budget if its terms are those asked for."""
    ours, theirs = ((b.terms, b.neighbors, b.unit) for b in (known, asked))
    if ours == theirs:
        return known
    raise InvalidArgument(
        f"the budget of {known.name} was opened as {_said(known)}, not as {_said(asked)}; "
        "to give it more, extend it"
    )


def _said(budget: Budget) -> str:
    per = "" if budget.unit is None else f", per {budget.unit}"
    return f"{budget.total} ({budget.neighbors}{per})"
