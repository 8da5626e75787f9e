"""Queries as DuckDB parses them, neither run nor looked up: the tables, functions and files that they name."""

import json
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from .paths import file_format

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
    rest = [value for key, value in part.items() if key != "cte_map"]
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
