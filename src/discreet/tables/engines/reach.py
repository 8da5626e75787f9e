"""How far a source reaches into its database: to one ordinary table, or to all of it. Proof: docs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class BaseTable:
    """An ordinary table: no view, no partition, not foreign, not inherited, none of the system.

    Attributes:
        name: with its schema.
        query: that reads its rows and no others.
        number: by which its database knows it; 0 if that has no such numbers.
    """

    name: str
    query: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Reach:
    """The part of its database that a source may read.

    Attributes:
        table: the one ordinary table, with its schema; empty for all of the database.
        number: by which the database knows the table; 0 if that has no such numbers.
        database: by which a server knows itself and the database, if it tells; the device and inode of a file.
        views: the hash of all views of the database, and of all else that leads from one table to the rows of
            another; empty if they were not asked for.
    """

    table: str = ""
    number: int = 0
    database: str = ""
    views: str = ""

    @property
    def as_dict(self) -> dict[str, Any]:
        """The same in plain values, as a ledger keeps them."""
        return {
            "table": self.table, "number": self.number, "database": self.database, "views": self.views,
        }  # fmt: skip


def read_reach(plain: Mapping[str, Any] | None) -> Reach:
    """Return the reach that `as_dict` wrote; all of the database where none is on record."""
    return Reach() if plain is None else Reach(**plain)


def same_reach(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether a source reaches the same at two times; views are compared if both have them.

    The number of a table changes when it is filled anew, and is not compared.
    """
    first, second = read_reach(one), read_reach(other)
    same_views = first.views == second.views or "" in (first.views, second.views)
    return first.table == second.table and same_views


class Catalogue(Protocol):
    """The catalogue of an open database, in a transaction. Errors are the database's, and may quote the query."""

    def identity(self) -> str:
        """Return by which a server knows itself and the database, if it tells; of a file its device and inode."""
        ...

    def lock(self, query: str) -> None:
        """Let the database plan a query, and keep its tables as they are until the transaction ends."""
        ...

    def base_table(self, name: str) -> BaseTable | None:
        """Return the ordinary table of a name; None for anything else."""
        ...

    def views(self) -> str:
        """Return the hash of all views, and of functions, virtual tables and partitions if users can make them."""
        ...

    def names(self) -> frozenset[str] | None:
        """Return the names of all tables; None where tables are known by numbers, which stay as names change."""
        ...

    def locks(self) -> frozenset[int]:
        """Return the numbers of the locked tables and views; none where no other can write meanwhile."""
        ...


@dataclass(slots=True)
class ReachCheck:
    """The reach that one question must find in its database, in one snapshot with its rows.

    Attributes:
        name: the dataset, for messages.
        record: the reach on record, in plain values; None where the account has none.
        with_views: whether to ask for the hash of the views: an owner's word rests on them.
        reach: the answer of the catalogue, once it was asked.
        names: the names of all tables of the database, where nothing else tells a table that was renamed.
    """

    name: str = "the data"
    record: Mapping[str, Any] | None = None
    with_views: bool = False
    reach: Reach | None = None
    names: frozenset[str] | None = None
    _locks: frozenset[int] = field(default=frozenset(), repr=False)

    def ask(self, catalogue: Catalogue, query: str, table: str | None) -> str:
        """Ask the catalogue, before any row is read; return the query that is to be run then.

        Args:
            catalogue: the catalogue.
            query: the query.
            table: the table that it is a query of all rows of, as the description names it.

        Raises:
            InvalidArgument: if the source reaches further than on record, or to something else.
        """
        catalogue.lock(query)
        base = catalogue.base_table(table) if table is not None else None
        views = catalogue.views() if base is None and self.with_views else ""
        own = base or BaseTable("", query)
        self.names = catalogue.names()
        self.reach = Reach(own.name, own.number, catalogue.identity(), views)
        if self.record is not None and not same_reach(self.record, self.reach.as_dict):
            raise changed_source(self.name)
        self._locks = catalogue.locks()
        return own.query

    def confirm(self, catalogue: Catalogue) -> None:
        """Raise if the rows came from another table, which took the name meanwhile."""
        if self.reach is not None and self.reach.table and catalogue.locks() != self._locks:
            raise changed_source(self.name)


def changed_source(name: str) -> InvalidArgument:
    """Return the error for a source that is not as its owner described it."""
    return InvalidArgument(
        f"the source of {name} is not what it was in its database: a table became a view or was "
        "replaced, or views were changed on which the owner's word rests. Its owner looks at "
        "them, and records the change with ledger.describe(dataset), or discreet ledger describe "
        f"{name}. What was spent stays spent"
    )
