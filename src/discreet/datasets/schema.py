"""The JSON Schema of discreet.toml, for editors: made of the keys that the strict reader knows.

Whatever the reader accepts the schema accepts. What only the whole file tells is left to the reader, such as
whether the column of a question is declared, or a step divides its bounds.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from .column import KEYS, NUMERIC, ORDERED, TYPES
from .configuration import (
    ANALYST,
    BUDGET,
    DATASET,
    DELTA_FOR,
    PER,
    SERVER,
    SHARE,
    TOP,
    VERBS,
    keys_of,
)
from .declarations import TO_FILL_IN

Schema = dict[str, Any]

_FILLED_IN: Schema = {"not": {"type": "string", "pattern": rf"^\s*{TO_FILL_IN}"}}
_TEXT: Schema = {"type": "string", "pattern": r"\S", **_FILLED_IN}
_NUMBER = r"(?=.*\d)[\d_]*\.?[\d_]*([eE][+-]?\d+)?(/[\d_]+)?\s*$"
_TRUTH = "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[01])$"
_DIGITS: Schema = {"type": "string", "pattern": r"^\s*[+-]?\d[\d_]*\s*$"}
_NUMERAL: Schema = {"type": "string", "pattern": rf"^\s*[+-]?{_NUMBER}"}
_DATED: Schema = {"type": "string", "pattern": r"^\s*\d{4}"}
_ABOVE_ZERO: Schema = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "string", "pattern": rf"^\s*\+?{_NUMBER}"},
    ],
    "description": 'A number above zero, exact: 0.1 or "1/3".',
}
_MANY: Schema = {"type": "array", "minItems": 1}
_COUNT: Schema = {"type": "integer", "minimum": 1, "maximum": 10**6}
_VALUES: Mapping[str, Schema] = {
    "integer": {"anyOf": [{"type": "integer"}, _DIGITS]},
    "number": {"anyOf": [{"type": "number"}, _NUMERAL]},
    "string": {"type": "string", **_FILLED_IN},
    "boolean": {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": _TRUTH}]},
    "date": {**_DATED, "format": "date"},
    "datetime": {**_DATED, "format": "date-time"},
}
"""What a value of a type may be; editors give dates as text."""

_SAID = {
    "ledger": "A file, or the URL of a PostgreSQL database.",
    "source": "A path, a pattern, a folder, or a list of them, from the folder of this file.",
    "delimiter": "The character between the fields of a CSV file.",
    "names": "The names of the columns of a CSV file whose first line is a row.",
    "connection": "duckdb:///file.duckdb, sqlite:///file.db or postgresql://host/database.",
    "query": "SQL; one row of its result is one record.",
    "table": "A table of the database.",
    "privacy_unit": "The column, or a list of columns, whose equal values make rows one record.",
    "max_contributions": "How many rows of one privacy unit count, for numbers.",
    "budget": "The most that all answers may cost together.",
    "oversubscribed": "Whether shares may be more than the budget; then refusals tell analysts of each other.",
    "per": "The calendar period that the budget is for.",
    "delta_for": "What delta is for: questions that have one each, or composition.",
    "step": "The distance between answers; 1 for integers if left out.",
    "enum": "All values there can be.",
    "largest_epsilon": "The most that one free question may cost.",
    "verbs": "Free questions on declared columns, besides the named ones.",
    "slot": 'Replies leave at multiples of it, such as "250ms".',
}


def json_schema() -> Schema:
    """Return the schema, as plain values."""
    named = _TEXT | {"description": _SAID["ledger"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "discreet.toml",
        **_table(
            TOP,
            {
                "ledger": named,
                "datasets": _named(_dataset(), least=1),
                "analysts": _named(_analyst()),
                "server": _table(SERVER, {}),
            },
            required=["datasets"],
        ),
    }


def _dataset() -> Schema:
    """Return the schema of a dataset: files, or a query or a table of a database."""
    table = _table(
        DATASET,
        {
            "source": {"anyOf": [_TEXT, {**_MANY, "items": _TEXT}]},
            "delimiter": {"type": "string", "minLength": 1, **_FILLED_IN},
            "names": {**_MANY, "items": {"type": "string"}, "uniqueItems": True},
            "privacy_unit": {"anyOf": [_TEXT, {**_MANY, "items": _TEXT, "uniqueItems": True}]},
            "max_contributions": _COUNT,
            "budget": _budget(BUDGET),
            "oversubscribed": {"type": "boolean"},
            "columns": _named(_column(), least=1),
            "questions": _named({"oneOf": [_question(verb) for verb in VERBS]}),
        },
        required=["columns"],
    )
    forms = [["source"], ["connection", "query"], ["connection", "table"]]
    others = dict.fromkeys(("source", "connection", "query", "table"), False)
    return {
        **table,
        "oneOf": [
            {"required": form, "properties": {k: v for k, v in others.items() if k not in form}}
            for form in forms
        ],
        "dependentRequired": {
            "delimiter": ["source"],
            "names": ["source"],
            "oversubscribed": ["budget"],
            "max_contributions": ["privacy_unit"],
        },
    }


def _column() -> Schema:
    """Return the schema of a column: what goes with its type."""
    bounds = ("minimum", "maximum", "step")
    allowed = {
        kind: [
            key
            for key in KEYS
            if key not in bounds or kind in (NUMERIC if key == "step" else ORDERED)
        ]
        for kind in TYPES
    }
    return {"oneOf": [_column_of(kind, keys) for kind, keys in allowed.items()]}


def _column_of(kind: str, keys: list[str]) -> Schema:
    value = _VALUES[kind]
    parts = {
        "type": {"const": kind}, "minimum": value, "maximum": value, "step": _ABOVE_ZERO,
        "enum": {**_MANY, "items": value},
    }  # fmt: skip
    return {
        **_table(keys, parts, required=["type"]),
        **({"dependentRequired": {"step": ["minimum", "maximum"]}} if "step" in keys else {}),
    }


def _budget(keys: Iterable[str]) -> Schema:
    parts = {
        **dict.fromkeys(("epsilon", "rho", "delta"), _ABOVE_ZERO),
        "neighbors": {"enum": ["add_remove", "replace_one"]},
        "per": {"enum": list(PER)},
        "delta_for": {"enum": list(DELTA_FOR)},
    }
    return {
        **_table(keys, parts),
        "oneOf": [
            {"required": ["epsilon"], "properties": {"rho": False}},
            {"required": ["rho"], "properties": {"epsilon": False, "delta": False}},
        ],
    }


def _question(verb: str) -> Schema:
    parts = dict.fromkeys(keys_of(verb), _FILLED_IN)
    return _table(
        parts, {**parts, "verb": {"const": verb}, "column": _TEXT}, required=["verb", "column"]
    )


def _analyst() -> Schema:
    parts = {
        "datasets": {**_MANY, "items": _TEXT}, "share": _budget(SHARE),
        "verbs": {"type": "array", "items": {"enum": list(VERBS)}}, "largest_epsilon": _ABOVE_ZERO,
    }  # fmt: skip
    return _table(ANALYST, parts, required=["datasets"])


def _table(
    keys: Iterable[str], parts: Mapping[str, Schema], required: Iterable[str] = ()
) -> Schema:
    """Return the schema of a table with some keys and no others; those without a part are texts."""
    told = {key: {**parts.get(key, _TEXT)} for key in keys}
    for key in told:
        if key in _SAID:
            told[key].setdefault("description", _SAID[key])
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": told, "additionalProperties": False, **needed}


def _named(one: Schema, *, least: int = 0) -> Schema:
    """Return the schema of tables by names of the owner's choice."""
    return {"type": "object", "additionalProperties": one, "minProperties": least}
