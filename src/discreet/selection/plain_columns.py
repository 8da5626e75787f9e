"""Columns and bins as JSON and TOML hold them: a name, an object of the arguments of `Bins`, or a list of these.

An object of a column and "missing" alone is the column `WithMissing`.
"""

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidArgument, preview
from .any_column import AnyColumn
from .bins import (
    BIN_OPTIONS,
    MOST_BINS,
    MOST_TOGETHER,
    Bins,
    CellColumns,
    WithMissing,
    edge_text,
    read_columns,
)

OF_BINS = ("column", "lo", "hi", "step", "edges", *BIN_OPTIONS, "labels")
"""The arguments of `Bins`, by which an object says them."""

_BOUND = {"type": ["number", "string"]}
_NAME: Mapping[str, object] = {"type": "string", "minLength": 1}
_BINS: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "column": _NAME,
        **dict.fromkeys(("lo", "hi", "step"), _BOUND),
        "edges": {"type": "array", "items": _BOUND, "minItems": 1, "maxItems": MOST_BINS + 1},
        "labels": {"type": "array", "items": {"type": "string"}},
        **{key: {"type": "boolean"} for key in BIN_OPTIONS},
    },
    "required": ["column"],
    "additionalProperties": False,
}
_SEVERAL: Mapping[str, object] = {
    "type": "array", "items": {"anyOf": [_NAME, _BINS]}, "minItems": 1, "maxItems": MOST_TOGETHER
}  # fmt: skip
COLUMNS_SCHEMA = {"anyOf": [_NAME, _BINS, _SEVERAL]}
"""The JSON Schema of columns: it accepts all that `columns_of_plain` accepts."""

_EXAMPLE = '{"column": "age", "lo": 0, "hi": 120, "step": 10}'


def columns_of_plain(plain: object, name: str = "column") -> AnyColumn:
    """Return a column, bins, or a list of these, as a verb takes them.

    Args:
        plain: the columns in plain values; bins may be `Bins` already.
        name: the name of the argument.

    Raises:
        InvalidArgument: if they are no columns, of which none is there twice, or bins cannot be read.
    """
    several = list(plain) if isinstance(plain, list | tuple) else None
    parts = [_bins_or_name(one, name) for one in ([plain] if several is None else several)]
    cells = read_columns(parts[0] if several is None else parts, name)
    column: AnyColumn = parts[0] if several is None or cells is None else parts
    return column


def _bins_or_name(plain: object, name: str) -> Any:
    """Return the name of a column as it is, or bins, or a column with no value as a value."""
    if not isinstance(plain, Mapping):
        return plain
    for key in plain:
        if key not in OF_BINS:
            raise InvalidArgument(
                f"{name}: bins have no {preview(key)}. They have {', '.join(OF_BINS)}"
            )
    if plain.get("missing") and {*plain} == {"column", "missing"}:
        return WithMissing(plain["column"])
    if "column" not in plain:
        raise InvalidArgument(f"{name}: bins need the name of their column, as in {_EXAMPLE}")
    return Bins(**{str(key): one for key, one in plain.items() if one is not None})


def plain_columns(column: AnyColumn) -> object:
    """Return columns for `columns_of_plain`: bins with all their edges as texts."""
    if isinstance(column, CellColumns):
        column = list(column.parts)
    if isinstance(column, list | tuple):
        return list(map(plain_columns, column))
    if isinstance(column, WithMissing):
        return column.description
    if not isinstance(column, Bins):
        return column
    return {**column.description, "edges": list(map(edge_text, column.edges))}
