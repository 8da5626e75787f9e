"""Which described dataset a budget belongs to: events of the chain, and the check before a charge. Proof: docs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..datasets.extents import extent_of
from ..errors import Exhausted, InvalidArgument
from ..messages import Message
from ..payment import UNDESCRIBED, About
from ..tables.query_tables import TableCheck, changed_tables, same_tables
from . import integrity
from .bindings import Bindings, BudgetSource, sources_of
from .periods import Period
from .transaction import NewEvent, Transaction

_PARTS_IN_WORDS = {
    "source": "source",
    "privacy_unit": "privacy unit",
    "max_contributions": "max_contributions",
}
_OF_ONE_BUDGET = ("per", "period", "separate_from", "merges")
"""What a description says of one budget alone, and not of the next one."""


WHY_OVERLAPPING = (
    "another budget is about the same tables, and nothing new is answered until the owner of the data merges or "
    "separates them; discreet ledger verify names them"
)
"""Why budgets about the same tables answer nothing, for whoever asks: it names no other budget."""


def read_bindings(transaction: Transaction) -> Bindings:
    """Return the descriptions of a ledger.

    Raises:
        LedgerCorrupt: if the hash of one of them does not match.
    """
    latest: dict[tuple[str, str], Mapping[str, Any]] = {}
    periods: dict[str, Period] = {}
    pairs, merges = set[frozenset[str]](), set[str]()
    events = integrity.described_events(transaction)
    for event in events:
        latest[event.dataset, str(event.body["name"])] = event.body
        pairs.update(frozenset({event.dataset, of}) for of in event.body.get("separate_from", ()))
        merges.update(event.body.get("merges", ()))
        if "period" in event.body:
            periods[event.dataset] = Period(str(event.body["per"]), str(event.body["period"]))
    sources = [
        BudgetSource(event.dataset, event.body["source"], event.body.get("tables"))
        for event in events
    ]
    return Bindings(latest, periods, sources_of(sources), frozenset(pairs), frozenset(merges))


def set_check(transaction: Transaction, budget: str, about: About | None) -> None:
    """Tell the reading of a described query which tables are on record, before its rows are read."""
    if about is None or not isinstance(about.check, TableCheck):
        return
    bindings = read_bindings(transaction)
    body = bindings.of(budget).get(str(about.name))
    about.check.record = None if body is None else body.get("tables")
    about.check.others = bindings.unknown_queries(about.source, budget)


def check_charge(transaction: Transaction, budget: str, about: About | None) -> About | None:
    """Return the description to be recorded with a charge, as `check_about` does.

    Raises:
        Exhausted: if the budget was renewed, its period has ended, or another budget is about the same tables.
        InvalidArgument: as `check_about` does.
    """
    about, bindings = _with_catalogue(read_bindings(transaction), budget, about)
    why = bindings.closed(budget)
    if why is not None:
        raise Exhausted(
            Message(
                "the budget of {budget} cannot pay any more: {reason}", budget=budget, reason=why
            )
        )
    others = bindings.overlaps(budget)
    if others:
        raise Exhausted(f"the budget of {budget} cannot pay: {why_overlapping(budget, others)}")
    return check_about(bindings, budget, about)


def _with_catalogue(
    bindings: Bindings, budget: str, about: About | None
) -> tuple[About | None, Bindings]:
    """Return a description and the bindings with the catalogue's tables when the rows were read."""
    check = None if about is None else about.check
    if about is None or not isinstance(check, TableCheck) or check.tables is None:
        return about, bindings
    about = replace(about, tables=check.tables.as_dict)
    source = BudgetSource(budget, about.source, about.tables)
    sources = sources_of([*bindings.sources, source])
    return about, replace(bindings, sources=sources, tables=check.tables_of_others)


def why_overlapping(budget: str, others: Sequence[str]) -> str:
    """Return why budgets about the same tables answer no new question, and the remedy of their owner."""
    return (
        f"{' and '.join([budget, *others])} are budgets about the same tables, so their answers add up. Nothing "
        "new is answered until the owner of the data makes one of them, discreet ledger merge "
        f"{others[0]} --into {budget}, or says that they hold the data of others: discreet ledger describe "
        f"{budget} --separate"
    )


def check_about(bindings: Bindings, budget: str, about: About | None) -> About | None:
    """Return the description to be recorded with a charge, if its columns have changed since the last one.

    Raises:
        InvalidArgument: if the release is not about the dataset that the budget belongs to, or its owner has to
            say that the description has changed.
    """
    if about is None:
        return None
    bodies = bindings.of(budget)
    if not bodies:
        if about.name in (None, budget):
            return None
        raise _of_another(f"the budget of {budget} is not that of {about.name}", about.name)
    whose = f"the budget of {budget} belongs to {' and '.join(bodies)}"
    if about == UNDESCRIBED:
        raise _of_another(f"{whose}, and these data have no description", None)
    body = _find_body(bodies, about)
    if body is None:
        raise _of_another(f"{whose}, and this is about {about.name or 'other data'}", about.name)
    return change(body, about)


def change(body: Mapping[str, Any], about: About) -> About | None:
    """Return a description if its columns differ from those on record, or no tables are on record yet.

    Raises:
        InvalidArgument: if it is of other data, or of other records.
    """
    differences = [name for name, value in about.identity.items() if body[name] != value]
    if differences:
        words = "; ".join(
            f"its {_PARTS_IN_WORDS[n]} was {body[n]!r} and is {about.identity[n]!r}"
            for n in differences
        )
        raise InvalidArgument(
            f"the description of {body['name']} is not that of its budget: {words}. Its owner records the change "
            f"with ledger.describe(dataset), or discreet ledger describe {body['name']}; what was spent stays "
            "spent"
        )
    tables = body.get("tables")
    if tables is not None and about.tables is not None and not same_tables(tables, about.tables):
        raise changed_tables(str(body["name"]))
    if about.tables is None and tables is not None:
        about = replace(about, tables=tables)
    is_same = body["digest"] == about.digest and (tables is not None or about.tables is None)
    return None if is_same or about.name is None else about


def record(  # noqa: PLR0913  # a description, and what the owner says with it
    transaction: Transaction,
    budget: str,
    about: About,
    period: Period | None = None,
    separate_from: Sequence[str] = (),
    at: str | None = None,
) -> None:
    """Append a description to the chain, with the period of its budget where that begins.

    Args:
        transaction: where it is appended.
        budget: the budget.
        about: the description.
        period: the period.
        separate_from: other budgets about the same tables that hold the data of others, as the owner says.
        at: the time of the event; None for that of the clock.
    """
    body: dict[str, Any] = {
        "name": about.name, "digest": about.digest, **about.identity, "columns": list(about.columns),
    }  # fmt: skip
    if about.tables is not None:
        body["tables"] = about.tables
    append_described(transaction, budget, body, period, at, separate_from=list(separate_from))


def append_described(
    transaction: Transaction,
    budget: str,
    body: Mapping[str, Any],
    period: Period | None,
    at: str | None = None,
    **words: list[str],
) -> None:
    """Append an event with a description. A period that the body holds is that of another budget.

    Args:
        transaction: where it is appended.
        budget: the budget.
        body: the description, as an event holds it.
        period: the period that begins.
        at: the time of the event; None for that of the clock.
        **words: the owner's words on this budget and others: the budgets that it merges, or is separate from.
    """
    plain = {name: value for name, value in body.items() if name not in _OF_ONE_BUDGET}
    begins = {} if period is None else period.as_dict
    more = {name: budgets for name, budgets in words.items() if budgets}
    event = NewEvent("described", budget, None, None, {**plain, **begins, **more}, at)
    transaction.append(event)


def _find_body(bodies: Mapping[str, Mapping[str, Any]], about: About) -> Mapping[str, Any] | None:
    """Return the description of the same name; of a name that is not known here, that of the same source."""
    if about.name is not None and about.name in bodies:
        return bodies[about.name]
    extent = extent_of(about.source, about.tables)
    for body in bodies.values() if extent is not None else ():
        other = extent_of(body["source"], body.get("tables"))
        if extent is not None and other is not None and extent.overlaps(other):
            return body
    return None


def _of_another(why: str, name: str | None) -> InvalidArgument:
    fix = (
        f"take ledger.session(dataset) with the dataset {name}"
        if name
        else "ask about the described dataset, discreet.Dataset or discreet.read_dataset"
    )
    return InvalidArgument(f"{why}: {fix}")
