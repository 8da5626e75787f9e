"""Columns and bins as JSON and TOML hold them, and as a text of the command line.

In JSON and TOML they are a name, an object of the arguments of `Bins`, or a list of these. An object of a column
and "missing" alone is the column `WithMissing`. As a text they are the column, then the arguments of `Bins`, with
colons between:

    age:0:120:10            the first edge, the last one and the width
    age:0,18,65,120         all edges
    age:0,18,65:above       with the cells outside: closed, below, above, missing
    day:2024-01-01:2025-01-01:1 month
    city:missing            no bins: every value, and those without one

A text of another form is the name of a column, with colons in it too.
"""

import re
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidArgument, InvalidCandidates, preview
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
from .date_grid import STEP_UNITS

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


_MOST_LETTERS = 10_000
"""Longer texts are names."""

_CLOCK = r"[T ]\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?"
_EDGE = rf"(?:\d{{4}}-\d\d-\d\d(?:{_CLOCK})?|[-+]?\.?\d[\d.eE/+-]*)"
_STEP_TEXT = rf"(?:[-+]?\.?\d[\d.eE/+-]*|(?:\d+ ?)?(?:{'|'.join(STEP_UNITS)})s?)"
_OPTION_WORDS = rf"(?P<words>(?::(?:{'|'.join(BIN_OPTIONS)}))*)"
_BY_WIDTH = (
    rf"(?P<column>.+?):(?P<lo>{_EDGE}):(?P<hi>{_EDGE}):(?P<step>{_STEP_TEXT}){_OPTION_WORDS}"
)
_BY_EDGES = rf"(?P<column>.+?):(?P<edges>{_EDGE}(?:,{_EDGE})*){_OPTION_WORDS}"
_NEARLY = rf"(?P<column>.+?):{_EDGE}[:,]{_EDGE}(?:[:,].*)?"


def column_of_text(text: str) -> str | Bins | WithMissing:
    """Return the bins that a text spells, or the column with no value as a value, or else the name that it is.

    Raises:
        InvalidCandidates: if a text that begins as bins does is none, or the edges make no bins.
    """
    if len(text) > _MOST_LETTERS:
        return text
    match = re.fullmatch(_BY_WIDTH, text, re.DOTALL)
    if match is not None:
        return Bins(match["column"], match["lo"], match["hi"], match["step"], **_options(match))
    match = re.fullmatch(_BY_EDGES, text, re.DOTALL)
    if match is not None and ("," in match["edges"] or match["words"]):
        return Bins(match["column"], edges=match["edges"].split(","), **_options(match))
    match = re.fullmatch(_NEARLY, text, re.DOTALL)
    if match is None:
        name = text.removesuffix(":missing")
        return WithMissing(name) if name not in ("", text) else text
    name = match["column"]
    raise InvalidCandidates(
        f"{preview(text)}: bins are {name}:0:120:10, with the first edge, the last one and the width, or all "
        f"edges: {name}:0,18,65,120. After that there may be {', '.join(f':{word}' for word in BIN_OPTIONS)}"
    )


def _options(match: re.Match[str]) -> dict[str, Any]:
    """Return the options of a text."""
    words = match["words"].split(":")
    return {name: name in words for name in BIN_OPTIONS}
