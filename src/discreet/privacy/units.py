"""The privacy unit: which rows of a table together are one record."""

from collections.abc import Sequence
from typing import TypeAlias

from ..base.arguments import exact_text
from ..base.messages import Message
from ..errors import InvalidArgument, preview

Unit: TypeAlias = str | tuple[str, ...]
"""A column, whose rows of one value are one unit; or several, sorted, whose rows of equal values in all are."""

UnitNames: TypeAlias = str | Sequence[str]
"""A privacy unit as a caller names it: a column, or several in any order."""

_BETWEEN = "\x1f"
"""What separates the columns of a unit where it is stored as one text; no name of a column holds it."""


def read_unit(unit: object) -> Unit | None:
    """Return the column of the privacy unit, or its columns in alphabetical order. None if every row is a record.

    Raises:
        InvalidArgument: if it is not the name of a column, or distinct names of several.
    """
    if unit is None:
        return None
    names = [exact_text(name) for name in (unit if isinstance(unit, list | tuple) else [unit])]
    columns = sorted(name for name in names if name and _BETWEEN not in name)
    if columns and len({*columns}) == len(names):
        return columns[0] if len(columns) == 1 else tuple(columns)
    raise InvalidArgument(
        "privacy_unit must be the name of a column, or a list of distinct names, got "
        f"{preview(unit)}"
    )


def columns_of_unit(unit: Unit | None) -> tuple[str, ...]:
    """Return the columns of a privacy unit, or none if every row is a record."""
    if unit is None:
        return ()
    return (unit,) if isinstance(unit, str) else unit


def unit_in_words(unit: Unit) -> str:
    """Return a privacy unit as a noun: its column, or its columns in parentheses, as in (household, person)."""
    if isinstance(unit, str):
        return unit
    import json  # for units of several columns alone: it takes long to import

    # In quotes, where a comma in a name would make two names of it.
    names = (name if name.isidentifier() else json.dumps(name, ensure_ascii=False) for name in unit)
    return f"({', '.join(names)})"


def one_record(unit: Unit | None) -> Message:
    """Return in words the record that a guarantee about this privacy unit protects."""
    if unit is None:
        return Message("one row")
    return Message("all rows of one {unit}", unit=unit_in_words(unit))


def plain_unit(unit: Unit | None) -> str | list[str] | None:
    """Return a privacy unit as JSON has it, a text or a list of texts; `read_unit` reads both."""
    return [*unit] if isinstance(unit, tuple) else unit


def stored_unit(unit: Unit | None) -> str:
    """Return a privacy unit as one text, which tells it from all others; '' if every row is a record."""
    return _BETWEEN.join(columns_of_unit(unit))


def read_stored_unit(text: str) -> Unit | None:
    """Return the privacy unit that `stored_unit` wrote."""
    return read_unit(text.split(_BETWEEN)) if text else None
