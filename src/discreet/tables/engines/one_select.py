"""Whether a text of SQL is one SELECT, so it only reads."""

import json
import re
from functools import lru_cache

_TEXTS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|(\$\w*\$).*?\1", re.DOTALL)
"""Constants and quoted names in SQL."""

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
