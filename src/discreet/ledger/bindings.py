"""The budgets of described datasets and their sources, and which of them are about the same tables. Proof: docs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..datasets.extents import Extent, database_ids, extent_of
from ..datasets.sources import is_query
from ..errors import InvalidArgument, UnknownBudget
from ..payment import About
from ..tables.query_tables import QueryTables
from .periods import Period

Tables = Mapping[str, QueryTables]
"""The tables of queries that have none on record, by the text of the query."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """An owner's words on a dataset and its source.

    Attributes:
        about: the description, with the tables of its query as the catalogue tells.
        tables: those of other queries of the same database that have none on record.
        is_separate: whether the source holds the data of others than all budgets that share tables with it.
        names: the names of all tables in its database, where nothing else tells a table that was renamed.
    """

    about: About
    tables: Tables = field(default_factory=dict)
    is_separate: bool = False
    names: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class BudgetSource:
    """A source that a budget has or had.

    Attributes:
        budget: the budget.
        place: where the data are.
        tables: the tables of a query as the catalogue told, in plain values; None where nobody asked it.
    """

    budget: str
    place: Any
    tables: Any = None

    @property
    def is_unknown(self) -> bool:
        """Whether it is a query without tables on record: older versions did not ask for them."""
        return is_query(self.place) and self.tables is None

    @property
    def key(self) -> str:
        """The budget and the place as text."""
        return json.dumps([self.budget, self.place], sort_keys=True, default=repr)


def sources_of(sources: Iterable[BudgetSource]) -> list[BudgetSource]:
    """Return sources without those said twice, or said later with their tables."""
    unique: dict[tuple[str, str], BudgetSource] = {}
    for source in sources:
        if not source.is_unknown:
            unique.pop((source.key, "null"), None)
        unique.setdefault((source.key, json.dumps(source.tables, sort_keys=True)), source)
    keys = {key for key, source in unique if source != "null"}
    return [s for (key, tables), s in unique.items() if tables != "null" or key not in keys]


@dataclass(frozen=True)
class Bindings:
    """The descriptions of a ledger.

    Attributes:
        latest: the latest description of every name, by budget, in the order in which they were first described.
        periods: the calendar periods of budgets that have one, by budget.
        sources: all sources that budgets ever had, in the same order.
        separations: pairs of budgets of which their owner said that they hold the data of others.
        merged: budgets whose releases were charged to another one again.
        tables: the tables of queries that have none on record, where a catalogue was asked now.
    """

    latest: Mapping[tuple[str, str], Mapping[str, Any]]
    periods: Mapping[str, Period]
    sources: Sequence[BudgetSource]
    separations: frozenset[frozenset[str]] = frozenset()
    merges: frozenset[str] = frozenset()
    tables: Tables = field(default_factory=dict)
    _extents: dict[int, Extent | None] = field(default_factory=dict, init=False, repr=False)

    def of(self, budget: str) -> dict[str, Mapping[str, Any]]:
        """Return the datasets that a budget belongs to, by name."""
        return {name: body for (of, name), body in self.latest.items() if of == budget}

    def budgets_of_name(self, about: About) -> list[str]:
        """Return the budgets of a name, the newest last."""
        return [of for (of, name) in self.latest if name == about.name]

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
                f"the source of {about.name or 'the data'} shares tables with {' and '.join(current)}, which have "
                "budgets of their own, and a release can be charged to one: merge them, discreet ledger merge "
                f"{current[1]} --into {current[0]}; or say that they hold the data of others, --separate"
            )
        return names

    def of_source(self, about: About) -> list[str]:
        """Return the budgets to which releases about a source were or are charged, the newest last."""
        extent = self._source_extent(BudgetSource("", about.source, about.tables))
        places = range(len(self.sources)) if extent is not None else ()
        own = [
            self.sources[i].budget
            for i in places
            if (other := self._extent(i)) is not None
            and extent is not None
            and extent.overlaps(other)
        ]
        return list(dict.fromkeys(own))

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
            f"no budget of this ledger belongs to the described dataset {label}; only the owner of the data opens "
            f"one: discreet ledger open {about.name or 'NAME'}"
        )

    def current(self, budget: str) -> str:
        """Return the budget that is charged in place of another since that was renewed or merged; else itself."""
        return self._current.get(budget, budget)

    @cached_property
    def _current(self) -> Mapping[str, str]:
        newest = {name: of for of, name in self.latest}
        return {of: newest[name] for of, name in self.latest}

    def successor(self, budget: str) -> str | None:
        """Return the budget that is charged since this one was renewed; None if it was not."""
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

        A budget has the sources of those that it renews. Two sources of files are compared when a budget is
        opened, and not here.
        """
        own = self.current(budget)
        ours = [i for i, source in enumerate(self.sources) if self.current(source.budget) == own]
        others = dict[str, None]()
        for j, source in enumerate(self.sources):
            other = self.current(source.budget)
            if other in (own, *others) or self.is_separate(own, other):
                continue
            if any(self._share(i, j) for i in ours):
                others[other] = None
        return list(others)

    def without_tables(self, place: Any, names: frozenset[str] | None) -> list[str]:
        """Return the budgets with a latest table that a database has no more: it may have another name now.

        Args:
            place: where the data are: a query of the database.
            names: the names of all its tables; None where nobody need ask.
        """
        if names is None:
            return []
        ids, budgets = database_ids(place["connection"]), dict[str, None]()
        for (budget, _), body in self.latest.items():
            tables = (body.get("tables") or {}).get("tables")
            if not is_query(body["source"]) or self.successor(budget) is not None or not tables:
                continue
            here = database_ids(
                body["source"]["connection"], str(body["tables"].get("database", ""))
            )
            if ids & here and not names.issuperset(tables):
                budgets[budget] = None
        return list(budgets)

    def overlapping_pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of budgets about the same tables that no owner has told apart."""
        current = dict.fromkeys(self.current(source.budget) for source in self.sources)
        pairs = [(one, other) for one in current for other in self.overlaps(one)]
        return [
            pair for pair in pairs if list(current).index(pair[0]) < list(current).index(pair[1])
        ]

    def is_separate(self, one: str, other: str) -> bool:
        """Return whether an owner has said that two budgets hold the data of others."""
        pairs = (frozenset(map(self.current, pair)) for pair in self.separations)
        return frozenset({one, other}) in pairs

    def unknown_queries(self, place: Any, budget: str | None = None) -> tuple[str, ...]:
        """Return the queries of a place's database that have no tables on record.

        Args:
            place: where the data are.
            budget: a budget whose own queries are left out.
        """
        if not is_query(place) or not any(source.is_unknown for source in self.sources):
            return ()
        ids = database_ids(place["connection"])
        return tuple(
            source.place["query"]
            for source in self.sources
            if source.is_unknown
            and (budget is None or self.current(source.budget) != self.current(budget))
            and ids & database_ids(source.place["connection"])
        )

    def _share(self, i: int, j: int) -> bool:
        """Return whether two sources overlap, one of which is a query."""
        if not (is_query(self.sources[i].place) or is_query(self.sources[j].place)):
            return False
        one, other = self._extent(i), self._extent(j)
        return one is not None and other is not None and one.overlaps(other)

    def _extent(self, i: int) -> Extent | None:
        if i not in self._extents:
            self._extents[i] = self._source_extent(self.sources[i])
        return self._extents[i]

    def _source_extent(self, source: BudgetSource) -> Extent | None:
        """Return the extent of a source, as far as it is known."""
        tables = self.tables.get(source.place["query"]) if source.is_unknown else source.tables
        return extent_of(source.place, tables)
