"""A draft of discreet.toml from the schema of a file: names and types of columns. No row is read."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from ..errors import InvalidArgument
from .declarations import TO_FILL_IN

_BARE = re.compile(r"[A-Za-z0-9_-]+")

_TYPES = (
    (r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?", "integer"),
    (r"FLOAT|DOUBLE|REAL|DECIMAL\(.*\)", "number"),
    (r"VARCHAR|ENUM\(.*\)", "string"),
    (r"BOOLEAN", "boolean"),
    (r"DATE", "date"),
    (r"TIMESTAMP.*", "datetime"),
)
"""The type of Table Schema for a type that DuckDB tells, as a pattern."""

_LEAST = ("minimum", f"{TO_FILL_IN}: the least value there can be")
_MOST = ("maximum", f"{TO_FILL_IN}: the largest value there can be")
_ASKED: Mapping[str, tuple[tuple[str, object], ...]] = {
    "integer": (_LEAST, _MOST),
    "number": (
        _LEAST,
        _MOST,
        ("step", f"{TO_FILL_IN}: the distance between answers, such as 0.01"),
    ),
    "string": (("enum", [f"{TO_FILL_IN}: all values there can be, or delete this line"]),),
    "boolean": (),
    "date": (_LEAST, _MOST),
    "datetime": (_LEAST, _MOST),
}
"""What has to be filled in for a type."""

_HEAD = """\
# Drafted from the names {what} in {file}. No row was read.
# Fill in what is marked, from what you know and not from the rows. Delete columns about which nobody may ask.

ledger = "budget.db"

[datasets.{name}]
source = {source}
privacy_unit = "{fill}: the column that says whose a row is, or delete this line if every row is a record"
budget = {{ epsilon = "{fill}: the most that all answers may cost together" }}
"""


def draft(source: str, name: str | None = None, *, header: bool = False) -> str:
    """Return a draft of discreet.toml for a file; what it cannot know is marked, and refused until it is filled in.

    Args:
        source: the path of a file, a pattern or a folder; the first file stands for all.
        name: the name of the dataset; that of the file if not given.
        header: whether the first line of a CSV file holds the names of its columns, as its owner says.

    Raises:
        InvalidArgument: if the file has no schema, or nobody says that its first line holds names.
        UnreadableFile: if it is missing, or not of the format of its name.
    """
    from ..tables.schemas import schema

    types = schema(source, header=header)
    if types is None:
        raise InvalidArgument(
            f"a CSV file has no schema: if the first line of {source} holds the names of its columns, say "
            "--header. Otherwise it is a row, and is not read; JSON lines have no schema: write it yourself"
        )
    called = _name_of(source) if name is None else name
    typed = any(types.values())
    what = "and types of the columns" if typed else "of the columns"
    parts = [
        _HEAD.format(
            what=what,
            file=Path(source).name,
            name=_key(called),
            source=_text(source),
            fill=TO_FILL_IN,
        )
    ]
    parts += [_column(called, column, word) for column, word in types.items()]
    return "\n".join(parts)


def _column(dataset: str, column: str, word: str | None) -> str:
    """Return the part of a column."""
    kind = _kind(word)
    if word is not None and kind is None:
        return f"# {_text(column)} has the type {word}, about which no question can be asked\n"
    if not column.isprintable() or column != column.strip() or not column:
        return f"# {_text(column)} is no name that can be described; rename the column\n"
    lines = [f"[datasets.{_key(dataset)}.columns.{_key(column)}]"]
    if kind is None:
        lines.append(
            f'type = "{TO_FILL_IN}: integer, number, string, boolean, date or datetime; then its bounds"'
        )
    else:
        lines.append(f'type = "{kind}"')
        lines += [f"{key} = {_text(value)}" for key, value in _ASKED[kind]]
    return "\n".join(lines) + "\n"


def _kind(word: str | None) -> str | None:
    """Return the type of Table Schema for a type of an engine, or None."""
    found = (kind for pattern, kind in _TYPES if word is not None and re.fullmatch(pattern, word))
    return next(found, None)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: object) -> str:
    """Return a text, or a list of one, as TOML: as in JSON, with the one sign that only TOML forbids."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _name_of(source: str) -> str:
    """Return the name of a dataset by the name of its file or folder."""
    parts = [part for part in Path(source).parts if not set(part) & set("*?[")]
    stem = parts[-1].partition(".")[0] if parts else ""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-") or "data"
