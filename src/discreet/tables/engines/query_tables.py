"""The tables that a query reads, as the catalogue of its database tells: views are expanded, and no row is read."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from ...errors import DiscreetError, InvalidArgument, UnreadableData
from .engine_errors import quietly
from .files import file_format

_LONGEST_PATH = 4096
_MAKERS = ("range", "generate_series", "unnest")
"""Functions in place of a table that make their rows of nothing."""

_TEXTS = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"|(\$\w*\$)(.*?)\3", re.DOTALL)
"""Constants and quoted names in SQL."""


@lru_cache(maxsize=256)
def statement(query: str) -> Any:
    """Return a query in DuckDB's parts; None if it is not one SELECT that DuckDB can parse."""
    from duckdb import Error

    from .database import connect_memory

    try:
        row = connect_memory().execute("SELECT json_serialize_sql($1)", [query]).fetchone()
        tree = json.loads(row[0] if row else "")
    except (Error, ValueError, RecursionError):
        return None
    statements = tree.get("statements", []) if isinstance(tree, dict) else []
    return statements[0] if len(statements) == 1 and not tree.get("error") else None


@lru_cache(maxsize=256)
def tables_in(query: str) -> frozenset[str] | None:
    """Return the tables that a query names, as `schema.name` in small letters; None where it cannot be told.

    A name may be that of a view. The names of common table expressions are left out, and the schema is empty where
    the query names none.
    """
    try:
        tree = statement(query)
        if tree is None or _has_readers(tree):
            return None
        return frozenset(_table_names(tree, frozenset())) or None
    except RecursionError:
        return None


def files_in(text: str) -> list[str]:
    """Return the paths and patterns of files that a text of SQL may name: among its constants and quoted names."""
    names = set[str]()
    for match in _TEXTS.finditer(text):
        constant, in_quotes, _, dollars = match.groups()
        name = (
            constant.replace("''", "'")
            if constant is not None
            else (in_quotes or dollars or "").replace('""', '"')
        )
        if _may_be_file(name):
            names.add(name if "://" in name else os.path.realpath(os.path.expanduser(name)))
    return sorted(names)


def _may_be_file(name: str) -> bool:
    if not name or "\0" in name or len(name) > _LONGEST_PATH:
        return False
    is_pattern = any(mark in name for mark in "*?[") and ("." in name or "/" in name)
    is_named = "://" in name or bool(file_format(Path(name)))
    return is_pattern or is_named or os.path.isfile(os.path.expanduser(name))


def _has_readers(part: Any) -> bool:
    """Return whether a parsed query reads more than tables: the rows of a function, or a file."""
    if isinstance(part, list):
        return any(map(_has_readers, part))
    if not isinstance(part, dict):
        return False
    if part.get("type") == "TABLE_FUNCTION":
        function = part.get("function") or {}
        if str(function.get("function_name", "")).lower() not in _MAKERS:
            return True
    is_file = part.get("type") == "BASE_TABLE" and _may_be_file(str(part["table_name"]))
    return is_file or any(map(_has_readers, part.values()))


def _table_names(part: Any, expressions: frozenset[str]) -> Iterator[str]:
    """Yield the names of tables in a parsed query that are not those of common table expressions around them."""
    if isinstance(part, list):
        for each in part:
            yield from _table_names(each, expressions)
        return
    if not isinstance(part, dict):
        return
    if part.get("type") == "BASE_TABLE":
        schema, name = str(part.get("schema_name") or ""), str(part["table_name"])
        if schema or name.lower() not in expressions:
            yield f"{schema}.{name}".lower()
    if part.get("type") == "RECURSIVE_CTE_NODE":
        yield from _table_names(part["left"], expressions)
        yield from _table_names(part["right"], expressions | {str(part["cte_name"]).lower()})
        return
    # A definition sees those before it, and not itself: there its name is that of a table.
    for entry in (part.get("cte_map") or {}).get("map") or []:
        yield from _table_names(entry["value"], expressions)
        expressions |= {str(entry["key"]).lower()}
    rest = [inner for key, inner in part.items() if key != "cte_map"]
    yield from _table_names(rest, expressions)


_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)

_SELECTS = re.compile(r"[\s(]*(select|with|values|table|from)\b", re.IGNORECASE)

_CHANGES = re.compile(
    r"\b(insert|update|delete|merge|drop|alter|create|truncate|into|copy|call|grant|attach|install|load|set)\b",
    re.IGNORECASE,
)
"""Words of statements that change something, or of a SELECT that does; a name in quotes is none."""


_CHANGES_WITHIN = re.compile(
    r"\b(insert\s+into|delete\s+from|merge\s+into|update\b.*\bset)\b", re.IGNORECASE | re.DOTALL
)
"""What a common table expression may do."""


def is_one_select(query: str) -> bool:
    """Return whether a text of SQL is one SELECT without any change.

    Where words leave a doubt, DuckDB parses it; SQL that only another database can parse is refused then.
    """
    bare = _COMMENTS.sub(" ", _TEXTS.sub("''", query)).strip().removesuffix(";")
    if not _SELECTS.match(bare) or _CHANGES_WITHIN.search(bare):
        return False
    return (";" not in bare and not _CHANGES.search(bare)) or statement(query) is not None


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
        return {name: names for name, names in plain.items() if names or name == "tables"}


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
        tables: the answer of the catalogue, once it was asked.
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
        "the database of {name} has other tables or views behind its query than those on "
        "record. Its owner looks at them, and records the change with "
        "ledger.describe(dataset), or discreet ledger describe {name}; what was spent stays "
        "spent",
        name=name,
    )
