"""The effect of every property of another's description: taken, without effect on answers, or refused.

The same table is in docs/how-to/describe_your_data.md.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ....errors import InvalidArgument
from ...formats.date_texts import read_date_form
from ...formats.number_texts import DECIMALS, THOUSANDS
from ...formats.text_form import cell_form
from ..declarations import KeyPath, nearest, toml_text, wrong

_LONGEST_JSON = 80

Rule = Callable[[object, Mapping[str, object]], str | None]
"""Returns why a property is refused, given its value and those beside it; None if it is accepted."""


def check_properties(
    table: Mapping[str, object], rules: Mapping[str, Rule], place: KeyPath
) -> None:
    """Raise unless every property is known, and accepted.

    Raises:
        InvalidDescription: with the place and the fix.
    """
    for name, value in table.items():
        if name not in rules:
            raise wrong(
                (*place, name),
                f"there is no such property{nearest(name, rules)}. It has no meaning here, so "
                "delete it",
            )
        reason = rules[name](value, table)
        if reason is not None:
            raise wrong((*place, name), reason)


def accept(value: object, beside: Mapping[str, object]) -> None:
    """Accept a property: it is taken, and read where it is, or has no effect on answers."""


def refuse(fix: str) -> Rule:
    """Return the rule of a property that is refused."""

    def rule(value: object, beside: Mapping[str, object]) -> str:
        return f"it is {_json_in_words(value)}, and {fix}"

    return rule


def _json_in_words(value: object) -> str:
    """Return a value of JSON for a message."""
    if not isinstance(value, list | tuple | dict):
        return toml_text(value)
    text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_JSON else f"{text[:_LONGEST_JSON]}..."


def only(values: Iterable[object], fix: str) -> Rule:
    """Return the rule of a property that is accepted with some values, which are how cells are read anyway."""
    choices = list(values)

    def rule(value: object, beside: Mapping[str, object]) -> str | None:
        same = any(type(value) is type(one) and value == one for one in choices)
        return None if same else refuse(fix)(value, beside)

    return rule


def a_boolean(value: object, beside: Mapping[str, object]) -> str | None:
    """Accept true and false alone: a text such as "True" must not count as false."""
    if isinstance(value, bool):
        return None
    return f"it must be true or false, without quotes, got {toml_text(value)}"


def _flags(default: Iterable[str]) -> Rule:
    """Return the rule of the words for a truth: those that are read anyway, in any order."""
    words = set(default)

    def rule(value: object, beside: Mapping[str, object]) -> str | None:
        if (
            isinstance(value, list | tuple)
            and all(isinstance(one, str) for one in value)
            and set(value) == words
        ):
            return None
        return (
            f"it is {_json_in_words(value)}, and truths are read as {', '.join(sorted(words))}: declare the "
            "field as string, with the words in enum"
        )

    return rule


_ISO = {"date": ("default", "%Y-%m-%d"), "string": ("default", "email", "uri", "uuid", "binary")}
"""The formats in which cells are read, of types that have another one than "default"."""


def _format(value: object, beside: Mapping[str, object]) -> str | None:
    kind = beside.get("type", "string")
    if is_default_format(kind, value):
        return None
    if kind in ("date", "datetime") and isinstance(value, str) and "%" in value:
        return _reason(lambda: read_date_form(value, None))
    return (
        f"it is {toml_text(value)}, and a {kind} is read in the default format: declare the field "
        "as string, with the cells in enum as they are written. Or delete it if the table itself "
        "has a type for the column"
    )


def is_default_format(kind: Any, value: Any) -> bool:
    """Return whether cells of a type are read in a format anyway."""
    return value in _ISO.get(kind, ("default",))


def _reason(read: Callable[[], object]) -> str | None:
    """Return why a word is refused, or None."""
    try:
        read()
    except InvalidArgument as error:
        return str(error)
    return None


def _bare(value: object, beside: Mapping[str, object]) -> str | None:
    """Accept numbers with texts beside them where these are named: any others belong to no number here."""
    if value is True or (value is False and ("units" in beside or beside.get("percent"))):
        return None
    return (
        f"it is {toml_text(value)}, and only texts that are named may stand beside a number: add "
        '"units": ["CHF", "Fr."], or "percent": true'
    )


def _missing(value: object, beside: Mapping[str, object]) -> str | None:
    """Accept markers of missing cells, the empty one among them."""
    texts = missing_texts(value)
    if "" in texts:
        return _reason(lambda: cell_form({"missing": [one for one in texts if one != ""]}))
    return f'it is {_json_in_words(value)}, and empty cells are always missing here: add "" to the list'


def missing_texts(value: object) -> list[object]:
    """Return the texts of markers of missing cells, which may come with labels."""
    if not isinstance(value, list | tuple):
        return []
    return [one.get("value") if isinstance(one, Mapping) else one for one in value]


def _among_enum(value: object, beside: Mapping[str, object]) -> str | None:
    """Accept a property that is implied by a list of all values."""
    if "enum" in beside:
        return None
    return f"it is {toml_text(value)}, and cells are not compared with it: list the values in enum, or delete it"


_WRITTEN = "it is not one of the signs that are read: delete it if the table itself has a type for the column"

FIELD: Mapping[str, Rule] = {
    **dict.fromkeys(
        ("name", "type", "title", "description", "step", "constraints", "categories"), accept
    ),
    **dict.fromkeys(("example", "examples", "rdfType", "categoriesOrdered", "unit"), accept),
    "format": _format,
    "missingValues": _missing,
    **dict.fromkeys(("units", "percent", "negative"), accept),
    "decimalChar": only(DECIMALS, _WRITTEN),
    "groupChar": only(["", *THOUSANDS], _WRITTEN),
    "bareNumber": _bare,
    "trueValues": _flags(("true", "True", "TRUE", "1")),
    "falseValues": _flags(("false", "False", "FALSE", "0")),
}
"""The properties of a field of a Table Schema."""

CONSTRAINTS: Mapping[str, Rule] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum"), accept),
    **dict.fromkeys(("required", "unique"), accept),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "jsonSchema"), _among_enum),
}
"""The constraints of a field."""

SCHEMA: Mapping[str, Rule] = {
    "fields": accept,
    **dict.fromkeys(
        (
            "$schema", "profile", "name", "title", "description", "fieldsMatch", "primaryKey", "uniqueKeys",
            "foreignKeys",
        ),
        accept,
    ),
    "missingValues": _missing,
}  # fmt: skip
"""The properties of a Table Schema."""

_GROUPS = ("max_partition_length", "max_influenced_partitions", "max_partition_contributions")

METADATA: Mapping[str, Rule] = {
    "row_privacy": a_boolean,
    "max_ids": accept,
    "columns": accept,
    **dict.fromkeys(
        ("rows", "sample_max_ids", "censor_dims", "clamp_counts", "clamp_columns", "use_dpsu"),
        accept,
    ),
}
"""The properties of a table in metadata of SmartNoise and Lomas."""

METADATA_COLUMN: Mapping[str, Rule] = {
    "private_id": a_boolean,
    **dict.fromkeys(("type", "lower", "upper", "categories"), accept),
    **dict.fromkeys(
        ("name", "nullable", "cardinality", "precision", "sensitivity", *_GROUPS), accept
    ),
    "missing_value": only([None], "missing cells are left out here, not replaced: delete it"),
}
"""The properties of a column in them."""
