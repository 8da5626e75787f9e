"""The tables behind a query of DuckDB, by the plan of the query before it is optimized."""

import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ...errors import UnreadableData
from .query_tables import ALL_TABLES, QueryTables, files_in, hash_of, statement

_DEFINITIONS = """
SELECT view_name, sql FROM duckdb_views() WHERE NOT internal
UNION ALL SELECT function_name, coalesce(macro_definition, '') FROM duckdb_functions()
WHERE function_type IN ('macro', 'table_macro') AND NOT internal ORDER BY ALL"""

_NAMES = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')
"""The parts of a qualified name, in quotes where they need them."""

_NO_TABLE = frozenset({
    "DUMMY_SCAN", "CTE_SCAN", "DELIM_GET", "EXPRESSION_GET", "EMPTY_RESULT", "CHUNK_GET", "COLUMN_DATA_GET",
    "RANGE", "GENERATE_SERIES", "UNNEST",
})  # fmt: skip
"""The ends of plans that read no table."""

_FILE_READERS = frozenset({
    "READ_PARQUET", "PARQUET_SCAN", "READ_CSV", "READ_CSV_AUTO", "READ_JSON", "READ_JSON_AUTO", "READ_NDJSON",
    "READ_NDJSON_AUTO", "READ_NDJSON_OBJECTS", "READ_JSON_OBJECTS", "READ_JSON_OBJECTS_AUTO", "READ_TEXT",
    "READ_BLOB", "READ_DUCKDB",
})  # fmt: skip
"""The ends of plans that read files."""


class DuckCatalogue:
    """The catalogue of DuckDB: see `query_tables.Catalogue`.

    Args:
        connection: to the database. Its setting `explain_output` is changed.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def tables(self, query: str) -> QueryTables:
        """Return the tables in the plan of a query, with the files that it reads and the hash of its views."""
        if statement(query) is None:
            return ALL_TABLES
        self._connection.execute("SET explain_output = 'all'")
        rows = self._connection.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()
        ends = list(_sources(json.loads(dict(rows)["logical_plan"])))
        [(database,)] = self._connection.execute("SELECT current_database()").fetchall()
        tables = {_table_name(table, database) for _, table in ends if table}
        others = {name for name, table in ends if not table} - _NO_TABLE
        texts, view_hash = self._definitions(query)
        files = {name for text in texts for name in files_in(text)} if others else set()
        if not files and not all(name.startswith("DUCKDB_") for name in others):
            raise UnreadableData(
                "the query reads files that it does not name: write their paths into it, in quotes"
            )
        is_whole = not others <= _FILE_READERS
        return QueryTables(
            None if is_whole else tuple(sorted(tables)), tuple(sorted(files)), view_hash
        )

    def names(self) -> frozenset[str]:
        """Return the names of all tables of the database, as `tables` spells them."""
        rows = self._connection.execute(
            "SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE database_name = current_database()"
        ).fetchall()
        return frozenset(name.lower() for (name,) in rows)

    def attempt(self) -> AbstractContextManager[Any]:
        """Return an empty context: there is no trace of a query that fails."""
        return nullcontext()

    def _definitions(self, query: str) -> tuple[list[str], str]:
        """Return the texts of a query and of the views and macros behind it, and the hash of the latter."""
        definitions = self._connection.execute(_DEFINITIONS).fetchall()
        texts, places = [query], set[int]()
        for text in texts:  # it grows
            behind = [
                i
                for i, (name, _) in enumerate(definitions)
                if i not in places and _may_name(text, name)
            ]
            places.update(behind)
            texts += [definitions[i][1] for i in behind]
        return texts, hash_of(definitions[i] for i in sorted(places))


def _sources(plans: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the operators of plans that read from no other: their names, and those of their tables."""
    for plan in plans:
        if not plan["children"]:
            table = plan.get("extra_info", {}).get("Table", "")
            # A name with line breaks is a list of lines.
            yield plan["name"].strip(), table if isinstance(table, str) else "\n".join(table)
        yield from _sources(plan["children"])


def _table_name(full_name: str, database: str) -> str:
    """Return the name of a table with its schema, from one as a plan writes it; and with another database."""
    parts = [
        with_quotes.replace('""', '"') or plain for with_quotes, plain in _NAMES.findall(full_name)
    ]
    return ".".join(parts[1:] if parts[0] == database and len(parts) > 1 else parts).lower()


def _may_name(text: str, name: str) -> bool:
    """Return whether a text of SQL may name a view: its name is in it, or it makes SQL of text."""
    plain = text.replace('""', '"').lower()
    return name.lower() in plain or bool(re.search(r"\bquery(_table)?\b", plain))
