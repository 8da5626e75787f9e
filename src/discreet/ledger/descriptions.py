"""Which described dataset a budget belongs to: events of the chain, and the check before a charge. Proof: docs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..datasets.sources import same_source
from ..errors import Exhausted, InvalidArgument, UnknownBudget
from ..payment import UNDESCRIBED, About
from . import integrity
from .periods import Period
from .transaction import NewEvent, Transaction

_SAID = {
    "source": "source",
    "privacy_unit": "privacy unit",
    "max_contributions": "max_contributions",
}


@dataclass(frozen=True, slots=True)
class Bindings:
    """The descriptions of a ledger.

    Attributes:
        latest: the latest description of every name, by budget, in the order in which they were first described.
        periods: the calendar periods of budgets that have one, by budget.
        sources: the budgets with all sources that they ever had, in the same order.
    """

    latest: Mapping[tuple[str, str], Mapping[str, Any]]
    periods: Mapping[str, Period]
    sources: Sequence[tuple[str, object]]

    def of(self, budget: str) -> dict[str, Mapping[str, Any]]:
        """Return the datasets that a budget belongs to, by name."""
        return {name: body for (of, name), body in self.latest.items() if of == budget}

    def budgets(self, about: About) -> list[str]:
        """Return the budgets of a described dataset, the newest last: those of its name, or else of its source."""
        named = [of for (of, name) in self.latest if name == about.name]
        return named or self.of_source(about.source)

    def of_source(self, source: object) -> list[str]:
        """Return the budgets to which releases about a source were or are charged, the newest last."""
        if source is None:
            return []
        return list(dict.fromkeys(of for of, each in self.sources if same_source(each, source)))

    def budget(self, about: About) -> str:
        """Return the budget that is charged for releases about a dataset: the newest of them.

        Raises:
            UnknownBudget: if none was opened.
        """
        found = self.budgets(about)
        if found:
            return found[-1]
        said = about.name or "without a name"
        raise UnknownBudget(
            f"no budget of this ledger belongs to the described dataset {said}; only the owner of the data opens "
            f"one: discreet ledger open {about.name or 'NAME'}"
        )

    def successor(self, budget: str) -> str | None:
        """Return the budget that is charged since this one was renewed; None if it was not."""
        newest = {name: of for of, name in self.latest}
        last = next((newest[name] for of, name in self.latest if of == budget), budget)
        return None if last == budget else last

    def closed(self, budget: str) -> str | None:
        """Return why nothing may be charged to a budget any more, or None."""
        after, period = self.successor(budget), self.periods.get(budget)
        if after is not None:
            return (
                f"it was renewed, and releases are charged to {after}: take ledger.session(dataset)"
            )
        if period is None or not period.has_ended:
            return None
        named = next(iter(self.of(budget)), budget)
        return (
            f"its {period.per} {period.name} has ended, and only the owner of the data opens the next: "
            f"discreet ledger renew {named}"
        )


def read_bindings(transaction: Transaction) -> Bindings:
    """Return the descriptions of a ledger.

    Raises:
        LedgerCorrupt: if the hash of one of them does not match.
    """
    latest: dict[tuple[str, str], Mapping[str, Any]] = {}
    periods: dict[str, Period] = {}
    sources: list[tuple[str, object]] = []
    for event in integrity.described_events(transaction):
        latest[event.dataset, str(event.body["name"])] = event.body
        sources.append((event.dataset, event.body["source"]))
        if "period" in event.body:
            periods[event.dataset] = Period(str(event.body["per"]), str(event.body["period"]))
    return Bindings(latest, periods, sources)


def check_charge(transaction: Transaction, budget: str, about: About | None) -> About | None:
    """Return the description to be recorded with a charge, as `check_about` does.

    Raises:
        Exhausted: if the budget was renewed, or its period has ended.
        InvalidArgument: as `check_about` does.
    """
    bindings = read_bindings(transaction)
    why = bindings.closed(budget)
    if why is not None:
        raise Exhausted(f"the budget of {budget} cannot pay any more: {why}")
    return check_about(bindings, budget, about)


def check_about(bindings: Bindings, budget: str, about: About | None) -> About | None:
    """Return the description to be recorded with a charge, if its columns have changed since the last one.

    Raises:
        InvalidArgument: if the release is not about the dataset that the budget belongs to, or its owner has to
            say that the description has changed.
    """
    if about is None:
        return None
    known = bindings.of(budget)
    if not known:
        if about.name in (None, budget):
            return None
        raise _of_another(f"the budget of {budget} is not that of {about.name}", about.name)
    whose = f"the budget of {budget} belongs to {' and '.join(known)}"
    if about == UNDESCRIBED:
        raise _of_another(f"{whose}, and these data have no description", None)
    found = _match(known, about)
    if found is None:
        raise _of_another(f"{whose}, and this is about {about.name or 'other data'}", about.name)
    return change(found, about)


def change(found: Mapping[str, Any], about: About) -> About | None:
    """Return a description if its columns differ from those on record.

    Raises:
        InvalidArgument: if it is of other data, or of other records.
    """
    changed = [name for name, value in about.identity.items() if found[name] != value]
    if not changed:
        return None if found["digest"] == about.digest or about.name is None else about
    words = "; ".join(
        f"its {_SAID[n]} was {found[n]!r} and is {about.identity[n]!r}" for n in changed
    )
    raise InvalidArgument(
        f"the description of {found['name']} is not that of its budget: {words}. Its owner records the change with "
        f"ledger.describe(dataset), or discreet ledger describe {found['name']}; what was spent stays spent"
    )


def record(
    transaction: Transaction, budget: str, about: About, period: Period | None = None
) -> None:
    """Append a description to the chain, with the period of its budget where that begins."""
    body = {name: value for name, value in asdict(about).items() if name != "columns"}
    body["columns"] = list(about.columns)
    append_described(transaction, budget, body, period)


def append_described(
    transaction: Transaction, budget: str, body: Mapping[str, Any], period: Period | None
) -> None:
    """Append an event with a description. A period that the body holds is that of another budget."""
    plain = {name: value for name, value in body.items() if name not in ("per", "period")}
    begins = {} if period is None else period.as_dict
    event = NewEvent("described", budget, None, None, {**plain, **begins})
    transaction.append(event)


def _match(known: Mapping[str, Mapping[str, Any]], about: About) -> Mapping[str, Any] | None:
    """Return the description of the same name; of a name that is not known here, that of the same source."""
    if about.name is not None and about.name in known:
        return known[about.name]
    same = (body for body in known.values() if same_source(body["source"], about.source))
    return next(same, None)


def _of_another(why: str, name: str | None) -> InvalidArgument:
    fix = (
        f"take ledger.session(dataset) with the dataset {name}"
        if name
        else "ask about the described dataset, discreet.Dataset or discreet.read_dataset"
    )
    return InvalidArgument(f"{why}: {fix}")
