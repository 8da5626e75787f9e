"""The tables that a query reads, as the catalogue of its database tells: views are expanded, and no row is read."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..errors import DiscreetError, InvalidArgument, UnreadableData
from .engine_errors import quietly


@dataclass(frozen=True, slots=True)
class QueryTables:
    """The tables of a query: names, numbers and a hash, and no text of a view.

    Attributes:
        tables: their names with their schemas, sorted; None for all of the database.
        files: the paths and patterns of files that the query or a view names.
        views: the hash of the views and macros on the way; empty if there are none.
        numbers: by which the database knows the tables, where it has such numbers.
        database: by which a server knows itself and the database, if it tells; the device and inode of a file.
    """

    tables: tuple[str, ...] | None
    files: tuple[str, ...] = ()
    views: str = ""
    numbers: tuple[int, ...] = ()
    database: str = ""

    @property
    def as_dict(self) -> dict[str, Any]:
        """The same in plain values, as a ledger keeps them."""
        plain: dict[str, Any] = {
            "tables": None if self.tables is None else list(self.tables),
            "files": list(self.files), "views": self.views, "numbers": list(self.numbers),
            "database": self.database,
        }  # fmt: skip
        return {name: value for name, value in plain.items() if value or name == "tables"}


ALL_TABLES = QueryTables(None)
"""All of a database: of a query that cannot be taken apart."""


def read_query_tables(plain: Mapping[str, Any]) -> QueryTables:
    """Return the tables that `as_dict` wrote."""
    tables = plain["tables"]
    return QueryTables(
        None if tables is None else tuple(map(str, tables)), tuple(map(str, plain.get("files", ()))),
        str(plain.get("views", "")), tuple(map(int, plain.get("numbers", ()))), str(plain.get("database", "")),
    )  # fmt: skip


def same_tables(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether a query reads the same tables, by the same views, at two times.

    The numbers of tables change when a table is filled anew, and are not compared.
    """
    first, second = read_query_tables(one), read_query_tables(other)
    return (first.tables, first.files, first.views) == (second.tables, second.files, second.views)


def hash_of(definitions: Iterable[Iterable[object]]) -> str:
    """Return the hash of definitions of views; empty if there are none."""
    texts = [list(map(str, one)) for one in definitions]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest() if texts else ""


class Catalogue(Protocol):
    """The catalogue of an open database, in a transaction that sees one state of it."""

    def tables(self, query: str) -> QueryTables:
        """Return the tables of a query. Errors are the database's, and may quote the query."""
        ...

    def names(self) -> frozenset[str] | None:
        """Return the names of all tables; None where tables are known by numbers, which stay as names change."""
        ...

    def attempt(self) -> AbstractContextManager[Any]:
        """Return a context without a trace in the transaction, whether its work fails or not."""
        ...


def tables_or_all(catalogue: Catalogue, query: str) -> QueryTables:
    """Return the tables of a query that may not work any more: then all tables of its database."""

    def read_tables() -> QueryTables:
        with catalogue.attempt():
            return catalogue.tables(query)

    try:
        return quietly(read_tables, UnreadableData("the query does not work any more"))
    except DiscreetError:
        return ALL_TABLES


@dataclass(slots=True)
class TableCheck:
    """The tables that one question about a query is to see in the catalogue, in one snapshot with its rows.

    Attributes:
        name: the dataset, for messages.
        record: the tables on record, in plain values; None where the account has none.
        others: other queries of the same database whose tables nobody has on record.
        tables: what the catalogue said, once it was asked.
        tables_of_others: the same of the other queries.
        names: the names of all tables of the database, where nothing else tells a table that was renamed.
    """

    name: str = "the data"
    record: Mapping[str, Any] | None = None
    others: tuple[str, ...] = ()
    tables: QueryTables | None = None
    tables_of_others: dict[str, QueryTables] = field(default_factory=dict)
    names: frozenset[str] | None = None

    def ask(self, catalogue: Catalogue, query: str, file: str = "") -> None:
        """Ask the catalogue, before any row is read.

        Args:
            catalogue: the catalogue.
            query: the query.
            file: the device and the inode of the database, if it is a file.

        Raises:
            InvalidArgument: if the query does not read the tables on record, by the views on record.
        """
        self.tables_of_others = {other: tables_or_all(catalogue, other) for other in self.others}
        self.names = catalogue.names()
        tables = catalogue.tables(query)
        self.tables = replace(tables, database=file or tables.database)
        if self.record is not None and not same_tables(self.record, self.tables.as_dict):
            raise changed_tables(self.name)


def changed_tables(name: str) -> InvalidArgument:
    """Return the error for a query that reads other tables than its owner described."""
    return InvalidArgument(
        f"the database of {name} has other tables or views behind its query than those on record. Its owner looks "
        f"at them, and records the change with ledger.describe(dataset), or discreet ledger describe {name}; what "
        "was spent stays spent"
    )
