"""Names and values as discreet.toml has them, for drafts: all that others wrote is quoted."""

import datetime as dt
import json
import re
from collections.abc import Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_LINE = 100


def quote_key(name: str) -> str:
    """Return a name as a key."""
    return name if _BARE.fullmatch(name) else quote_value(name)


def table_head(*names: str) -> str:
    """Return the line that begins a table."""
    return f"[{'.'.join(map(quote_key, names))}]"


def quote_value(entry: object) -> str:
    """Return a text, a truth, a number, a date or a list of these.

    A text is as in JSON, with the one sign that only TOML forbids. A long list has a line for each of its values.
    """
    if isinstance(entry, list | tuple):
        texts = [*map(quote_value, entry)]
        line = f"[{', '.join(texts)}]"
        if len(line) <= _LONGEST_LINE:
            return line
        return "\n".join(["[", *(f"    {text}," for text in texts), "]"])
    if isinstance(entry, dt.date):
        return entry.isoformat()
    return json.dumps(entry, ensure_ascii=False).replace("\x7f", "\\u007f")


def key_lines(entries: Mapping[str, object]) -> list[str]:
    """Return the lines of some keys; a mapping among them is keys with a dot."""
    lines = []
    for name, entry in entries.items():
        if isinstance(entry, Mapping):
            lines += [f"{quote_key(name)}.{line}" for line in key_lines(entry)]
        else:
            lines.append(f"{quote_key(name)} = {quote_value(entry)}")
    return lines
