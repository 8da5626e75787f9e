"""The descriptions of a ledger: budgets of described datasets and their sources, which may be the same tables.

They are events of the chain. Proof: docs.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from ..errors import InvalidArgument, UnknownBudget
from ..selection.payment import About
from ..tables.datasets.extents import Extent, database_ids, extent_of, is_now_at
from ..tables.datasets.sources import is_in_database
from ..tables.engines.reach import read_reach
from .budget import Budget
from .events import Event, EventBody
from .periods import Period
from .queries import checked_budgets, checked_paying_budgets, described_events
from .transaction import NewEvent, Transaction

_OF_ONE_BUDGET = ("per", "period", "separate_from", "merges")
"""What a description says of one budget alone, and not of the next one."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """An owner's words on a dataset and its source.

    Attributes:
        about: the description, with the reach of its source as the catalogue tells.
        is_separate: whether the source holds the data of others than all budgets of its database.
        names: the names of all tables in its database, where nothing else tells a table that was renamed.
    """

    about: About
    is_separate: bool = False
    names: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class BudgetSource:
    """A source that a budget has or had.

    Attributes:
        budget: the budget.
        place: where the data are.
        reach: in its database as the catalogue told, in plain values. None for all of it.
    """

    budget: str
    place: Any
    reach: Any = None

    @property
    def key(self) -> str:
        """All of it as text."""
        return json.dumps([self.budget, self.place, self.reach], sort_keys=True, default=repr)


def sources_of(sources: Iterable[BudgetSource]) -> list[BudgetSource]:
    """Return sources without those said twice."""
    return list({source.key: source for source in sources}.values())


@dataclass(frozen=True)
class Bindings:
    """The descriptions of a ledger.

    Attributes:
        latest: the latest description of every name, by budget, in the order in which they were first described.
        periods: the calendar periods of budgets that have one, by budget.
        sources: all sources that budgets ever had, in the same order.
        separations: pairs of budgets of which their owner said that they hold the data of others.
        merges: budgets whose releases were charged to another one again.
    """

    latest: Mapping[tuple[str, str], EventBody]
    periods: Mapping[str, Period]
    sources: Sequence[BudgetSource]
    separations: frozenset[frozenset[str]] = frozenset()
    merges: frozenset[str] = frozenset()
    _extents: dict[int, Extent | None] = field(default_factory=dict, init=False, repr=False)
    _overlaps: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False)

    def forget_files(self) -> None:
        """Forget the files and databases that were looked up, as they may have changed places."""
        self._extents.clear()
        self._overlaps.clear()

    def of(self, budget: str) -> Mapping[str, EventBody]:
        """Return the datasets that a budget belongs to, by name."""
        return self._of.get(budget, {})

    @cached_property
    def _of(self) -> Mapping[str, Mapping[str, EventBody]]:
        datasets: dict[str, dict[str, EventBody]] = {}
        for (of, name), body in self.latest.items():
            datasets.setdefault(of, {})[name] = body
        return datasets

    def budgets_of_name(self, about: About) -> list[str]:
        """Return the budgets of a name, the newest last."""
        return list(self._of_name.get(str(about.name), ())) if about.name is not None else []

    @cached_property
    def _of_name(self) -> Mapping[str, Sequence[str]]:
        budgets: dict[str, list[str]] = {}
        for of, name in self.latest:
            budgets.setdefault(name, []).append(of)
        return budgets

    def budgets(self, about: About) -> list[str]:
        """Return the budgets of a described dataset, the newest last: those of its name, or else of its source.

        Raises:
            InvalidArgument: if its source is that of several budgets, which are no renewals of one another.
        """
        names = self.budgets_of_name(about)
        return names or self._of_source(about)

    def _of_source(self, about: About) -> list[str]:
        names = self.of_source(about)
        current = sorted({self.current(name) for name in names})
        if len(current) == 1:
            return [*(name for name in names if name != current[0]), *current]
        if current:
            raise InvalidArgument(
                f"the source of {about.name or 'the data'} may hold the records of "
                f"{' and '.join(current)}, which have budgets of their own, and a release can be "
                f"charged to one only. Merge them: discreet ledger merge {current[1]} --into "
                f"{current[0]}. Or say that they hold other people's data, --separate"
            )
        return names

    def of_source(self, about: About) -> list[str]:
        """Return the budgets to which releases about a source were or are charged, the newest last."""
        extent = extent_of(about.source, about.reach or self._reaches.get(_text_of(about.source)))
        places = range(len(self.sources)) if extent is not None else ()
        own = [
            self.sources[i].budget
            for i in places
            if (other := self._extent(i)) is not None
            and extent is not None
            and extent.overlaps(other)
        ]
        return list(dict.fromkeys(own))

    @cached_property
    def _reaches(self) -> Mapping[str, Any]:
        """The latest reach on record by place: it finds a budget, and a charge checks it."""
        return {_text_of(source.place): source.reach for source in self.sources}

    def budget(self, about: About) -> str:
        """Return the budget that is charged for releases about a dataset: the newest of them.

        Raises:
            UnknownBudget: if none was opened.
        """
        budgets = self.budgets(about)
        if budgets:
            return budgets[-1]
        label = about.name or "without a name"
        raise UnknownBudget(
            f"no budget of this ledger belongs to the described dataset {label}. Only the owner of "
            f"the data opens one: discreet ledger open {about.name or 'NAME'}"
        )

    def current(self, budget: str) -> str:
        """Return the budget that is charged in place of another since that was renewed or merged; else itself."""
        return self._current.get(budget, budget)

    @cached_property
    def _current(self) -> Mapping[str, str]:
        newest = {name: of for of, name in self.latest}
        return {of: newest[name] for of, name in self.latest}

    def renewals(self, budget: str) -> list[str]:
        """Return the budgets that are, or were, charged for the same datasets, this one among them."""
        own = self.current(budget)
        names = list(self._renewals.get(own, ()))
        return names if budget in names else [*names, budget]

    @cached_property
    def _renewals(self) -> Mapping[str, Sequence[str]]:
        budgets: dict[str, list[str]] = {}
        for of, after in self._current.items():
            budgets.setdefault(after, []).append(of)
        return budgets

    def successor(self, budget: str) -> str | None:
        """Return the budget that is charged since this one was renewed, or None if it was not."""
        after = self.current(budget)
        return None if after == budget else after

    def closed(self, budget: str) -> str | None:
        """Return why no release may be charged to a budget any more, or None."""
        after, period = self.successor(budget), self.periods.get(budget)
        if after is not None:
            return (
                f"it was renewed, and releases are charged to {after}: take ledger.session(dataset)"
            )
        if period is None or not period.has_ended:
            return None
        name = next(iter(self.of(budget)), budget)
        return (
            f"its {period.per} {period.name} has ended, and only the owner of the data opens the next: "
            f"discreet ledger renew {name}"
        )

    def overlaps(self, budget: str) -> list[str]:
        """Return the other budgets about the same tables, unless their owner said that they are separate.

        A budget has the sources of those that it renews. Two sources of files are compared in
        `charge_checks`: which files they are changes without a word to the ledger.
        """
        others = self._overlaps.get(budget)
        if others is None:
            others = self._overlaps[budget] = self._find_overlaps(budget)
        return list(others)

    def _find_overlaps(self, budget: str) -> list[str]:
        own = self.current(budget)
        ours = self._sources_of_budget.get(own, ())
        has_database = any(is_in_database(self.sources[i].place) for i in ours)
        others = dict[str, None]()
        for j in range(len(self.sources)) if has_database else self._in_databases:
            other = self.current(self.sources[j].budget)
            if other == own or other in others or self.is_separate(own, other):
                continue
            if any(self._share(i, j) for i in ours):
                others[other] = None
        return list(others)

    @cached_property
    def _sources_of_budget(self) -> Mapping[str, Sequence[int]]:
        """The places of sources among all, by the budget that is charged for them."""
        places: dict[str, list[int]] = {}
        for i, source in enumerate(self.sources):
            places.setdefault(self.current(source.budget), []).append(i)
        return places

    @cached_property
    def _in_databases(self) -> Sequence[int]:
        """The places of the sources in databases among all: two of files are not compared here."""
        return [i for i, source in enumerate(self.sources) if is_in_database(source.place)]

    def budgets_now_at(self, place: Any) -> list[str]:
        """Return the budgets with a database whose file may be at a place now, and another file at its own."""
        if not is_in_database(place):
            return []
        budgets = dict.fromkeys(
            self.current(source.budget)
            for source in self.sources
            if is_in_database(source.place)
            and is_now_at(
                source.place["connection"], read_reach(source.reach).database, place["connection"]
            )
        )
        return list(budgets)

    def without_tables(self, place: Any, names: frozenset[str] | None) -> list[str]:
        """Return the budgets with a latest table that a database has no more: it may have another name now.

        Args:
            place: where the data are: a table of the database.
            names: the names of all its tables. None if nobody need ask.
        """
        if names is None:
            return []
        ids, budgets = database_ids(place["connection"]), dict[str, None]()
        for (budget, _), body in self.latest.items():
            reach = read_reach(body.get("reach"))
            if reach.table in names | {""} or self.successor(budget) is not None:
                continue
            if ids & database_ids(body["source"]["connection"], reach.database):
                budgets[budget] = None
        return list(budgets)

    def overlapping_pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of budgets about the same tables that no owner has told apart."""
        places = {budget: place for place, budget in enumerate(self._sources_of_budget)}
        pairs = [(one, other) for one in places for other in self.overlaps(one)]
        return [(one, other) for one, other in pairs if places[one] < places[other]]

    def is_separate(self, one: str, other: str) -> bool:
        """Return whether an owner has said that two budgets hold the data of others."""
        return frozenset({one, other}) in self._separate_pairs

    @cached_property
    def _separate_pairs(self) -> frozenset[frozenset[str]]:
        return frozenset(frozenset(map(self.current, pair)) for pair in self.separations)

    def is_told_apart(self, budget: str) -> bool:
        """Return whether an owner's word tells a budget from another one."""
        own = self.current(budget)
        return any(own in pair for pair in self._separate_pairs)

    def _share(self, i: int, j: int) -> bool:
        """Return whether two sources overlap, one of which is in a database."""
        if not any(is_in_database(self.sources[place].place) for place in (i, j)):
            return False
        one, other = self._extent(i), self._extent(j)
        return one is not None and other is not None and one.overlaps(other)

    def _extent(self, i: int) -> Extent | None:
        extent = self._extents.get(i)
        if extent is None:
            extent = self._extents[i] = extent_of(self.sources[i].place, self.sources[i].reach)
        return extent


def _text_of(place: Any) -> str:
    return json.dumps(place, sort_keys=True, default=repr)


def read_bindings(transaction: Transaction) -> Bindings:
    """Return the descriptions of a ledger, of which the files are looked up again: others may be in their places.

    Raises:
        LedgerCorrupt: if the hash of one of them does not match.
    """

    def read() -> Bindings:
        return _bindings_of(*described_events(transaction))

    bindings = transaction.state.recall("bindings", None, read)
    bindings.forget_files()
    return bindings


@lru_cache(maxsize=16)
def _bindings_of(*events: Event) -> Bindings:
    """Return the descriptions in events. A release reads the same ones several times, so they are remembered."""
    latest: dict[tuple[str, str], EventBody] = {}
    periods: dict[str, Period] = {}
    pairs, merges = set[frozenset[str]](), set[str]()
    for event in events:
        latest[event.dataset, str(event.body["name"])] = event.body
        pairs.update(frozenset({event.dataset, of}) for of in event.body.get("separate_from", ()))
        merges.update(event.body.get("merges", ()))
        if "period" in event.body:
            periods[event.dataset] = Period(str(event.body["per"]), str(event.body["period"]))
    sources = [
        BudgetSource(event.dataset, event.body["source"], event.body.get("reach"))
        for event in events
    ]
    return Bindings(latest, periods, sources_of(sources), frozenset(pairs), frozenset(merges))


def budgets_of_datasets(
    transaction: Transaction, whose: Sequence[About | str] | None
) -> list[list[Budget]]:
    """Return the budgets of every dataset, that which is charged last. For none in particular, all in one list."""
    bindings = read_bindings(transaction)
    if whose is None:
        return [[_with_period(bindings, budget) for budget in checked_budgets(transaction)]]
    return [
        [_with_period(bindings, one) for name in of for one in checked_budgets(transaction, name)]
        for of in _budget_names(bindings, whose)
    ]


def payer_budgets(
    transaction: Transaction, whose: Sequence[About | str], analyst: str | None
) -> list[list[Budget]]:
    """Return an analyst's shares of every dataset, or the datasets' own budgets. No others are read.

    Args:
        transaction: where they are read.
        whose: the datasets.
        analyst: the analyst, or None.
    """
    bindings = read_bindings(transaction)
    return [
        [
            _with_period(bindings, one)
            for name in of
            for one in checked_paying_budgets(transaction, name, analyst)
            if one.analyst == analyst
        ]
        for of in _budget_names(bindings, whose)
    ]


def _budget_names(bindings: Bindings, whose: Sequence[About | str]) -> list[list[str]]:
    """Return the names of the budgets of every dataset, that which is charged last."""
    return [[one] if isinstance(one, str) else bindings.budgets(one) for one in whose]


def _with_period(bindings: Bindings, budget: Budget) -> Budget:
    """Return a budget with its period, and whether it was renewed."""
    period, after = bindings.periods.get(budget.dataset), bindings.successor(budget.dataset)
    period_name = None if period is None else period.name
    return replace(budget, period=period_name, is_current=after is None)


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
        at: the time of the event. None for that of the clock.
    """
    body: dict[str, Any] = {
        "name": about.name, "digest": about.digest, **about.identity, "columns": list(about.columns),
    }  # fmt: skip
    if about.reach is not None:
        body["reach"] = about.reach
    append_described(transaction, budget, body, period, at, separate_from=list(separate_from))


def append_described(
    transaction: Transaction,
    budget: str,
    body: EventBody,
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
        at: the time of the event. None for that of the clock.
        **words: the owner's words on this budget and others: the budgets that it merges, or is separate from.
    """
    plain = {name: term for name, term in body.items() if name not in _OF_ONE_BUDGET}
    begins = {} if period is None else period.as_dict
    more = {name: budgets for name, budgets in words.items() if budgets}
    event = NewEvent("described", budget, None, None, {**plain, **begins, **more}, at)
    transaction.append(event)
