"""Whether a text of SQL is one SELECT, so it only reads."""

import json
import re
from functools import lru_cache

_WITHOUT_WORDS = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*.*?\*/ )
    | (?<![\w$]) e'(?:[^'\\]|\\.|'')*'
    | '(?:[^']|'')*'
    | "(?:[^"]|"")*"
    | (?<![\w$]) (?P<mark>\$(?:[^\W\d]\w*)?\$) .*? (?P=mark)
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
"""Comments, constants and quoted names in SQL, as they come: a quote within a comment begins no constant."""

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
    if any("/*" in (part["comment"] or "")[2:] for part in _WITHOUT_WORDS.finditer(query)):
        return False  # a comment within a comment ends at different places in different databases
    bare = _WITHOUT_WORDS.sub(lambda part: " " if part["comment"] else "''", query)
    bare = bare.strip().removesuffix(";")
    if not _SELECTS.match(bare) or _CHANGES_WITHIN.search(bare):
        return False
    return (";" not in bare and not _CHANGES.search(bare)) or _is_parsed(query)


@lru_cache(maxsize=256)
def _is_parsed(query: str) -> bool:
    """Return whether DuckDB parses a query as one SELECT; it is not run."""
    from duckdb import Error

    from .database import connect_memory

    try:
        row = connect_memory().execute("SELECT json_serialize_sql($1)", [query]).fetchone()
        tree = json.loads(row[0] if row else "")
    except (Error, ValueError, RecursionError):
        return False
    return isinstance(tree, dict) and len(tree.get("statements", [])) == 1 and not tree.get("error")
