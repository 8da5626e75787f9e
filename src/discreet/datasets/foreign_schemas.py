"""Descriptions in the words of others: Frictionless Table Schema, and metadata of SmartNoise and Lomas."""

import datetime as dt
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

from ..arguments import file_path
from ..errors import MissingPackage, shown
from .column import TYPES
from .declarations import KeyPath, read_mapping, read_text, wrong

ForeignSchema = Mapping[str, Any] | str | os.PathLike[str]
"""A mapping, or the path of a file that holds one."""

_PARTS = ("title", "description", "step")
_BOUNDS = ("minimum", "maximum", "enum")
_SMARTNOISE = {
    "int": "integer",
    "float": "number",
    "string": "string",
    "boolean": "boolean",
    "datetime": "datetime",
}
_WORDS = {"lower": "minimum", "upper": "maximum", "categories": "enum"}


def table_schema_columns(given: ForeignSchema) -> dict[str, dict[str, Any]]:
    """Return the columns that a Table Schema declares, in the words of `Dataset`.

    Fields of types that no question takes (objects, lists, places, durations) are left out, and so are constraints
    other than minimum, maximum and enum. A year is an integer.

    Args:
        given: the schema, or the path of a file with it; or a data package with one resource.

    Raises:
        InvalidDescription: if it is no Table Schema.
    """
    schema = _loaded(given, _json, "schema")
    resources = schema.get("resources")
    if isinstance(resources, list) and len(resources) == 1:
        schema = read_mapping(resources[0], ("resources",)).get("schema", {})
    fields = read_mapping(schema, ("schema",)).get("fields")
    if not isinstance(fields, list):
        raise wrong(("fields",), "a Table Schema has a list of fields, each with a name and a type")
    return dict(
        _field(one, ("fields", str(i))) for i, one in enumerate(fields, 1) if _is_asked(one)
    )


def _is_asked(field: object) -> bool:
    return not isinstance(field, Mapping) or _type_of(field) in TYPES


def _type_of(field: Mapping[str, Any]) -> object:
    kind = field.get("type", "string")
    return "integer" if kind == "year" else kind


def _field(given: object, place: KeyPath) -> tuple[str, dict[str, Any]]:
    """Return the name and the declaration of a field."""
    field = read_mapping(given, place)
    bounds = read_mapping(field.get("constraints", {}), (*place, "constraints"))
    parts = {key: field[key] for key in _PARTS if field.get(key)}
    parts |= {key: bounds[key] for key in _BOUNDS if key in bounds}
    return read_text(field.get("name"), (*place, "name")), {"type": _type_of(field), **parts}


def smartnoise_dataset(given: ForeignSchema, table: str | None) -> dict[str, Any]:
    """Return the columns, the privacy unit and its bound that metadata of SmartNoise or Lomas declare.

    Args:
        given: the metadata, or the path of a YAML or JSON file with them.
        table: the name of the table, where SmartNoise's metadata have several.

    Raises:
        InvalidDescription: if they are none.
        MissingPackage: if PyYAML is needed and not installed.
    """
    metadata = _loaded(given, _yaml, "metadata")
    if "columns" in metadata:
        return _described(metadata, read_mapping(metadata["columns"], ("columns",)), ())
    tables = {name: (place, one) for place, name, one in _tables(metadata)}
    if table is None and len(tables) == 1:
        (table,) = tables
    if table not in tables:
        known = ", ".join(tables) or "none"
        raise wrong((), f"table must be one of those in the metadata ({known}), got {shown(table)}")
    place, of = tables[table]
    columns = {name: one for name, one in of.items() if isinstance(one, Mapping)}
    return _described(of, columns, place)


def _tables(metadata: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str, Mapping[str, Any]]]:
    """Yield the tables of SmartNoise's metadata, which are in schemas of collections."""
    for collection, schemas in metadata.items():
        for schema, tables in (schemas if isinstance(schemas, Mapping) else {}).items():
            for name, table in (tables if isinstance(tables, Mapping) else {}).items():
                if isinstance(table, Mapping):
                    yield (str(collection), str(schema), str(name)), str(name), table


def _described(of: Mapping[str, Any], columns: Mapping[str, Any], place: KeyPath) -> dict[str, Any]:
    """Return the description of one table."""
    read = {name: read_mapping(one, (*place, name)) for name, one in columns.items()}
    people = [name for name, one in read.items() if one.get("private_id") is True]
    by_row = of.get("row_privacy") is True
    if len(people) > 1:
        raise wrong(
            place,
            f"one column says whose a row is, but private_id is true for {' and '.join(people)}",
        )
    most = of.get("max_ids", 1)
    if not people and not by_row and most != 1:
        raise wrong(
            place,
            f"max_ids is {shown(most)}, and no column has private_id: true, so nobody knows whose a row is",
        )
    unit = people[0] if people and not by_row else None
    declared = {name: _column(one, (*place, name)) for name, one in read.items()}
    return {
        "columns": declared,
        "privacy_unit": unit,
        "max_contributions": None if unit is None else most,
    }


def _column(given: dict[str, Any], place: KeyPath) -> dict[str, Any]:
    """Return the declaration of a column of SmartNoise's metadata."""
    kind = _SMARTNOISE.get(given.get("type", ""))
    if kind is None:
        known = ", ".join(_SMARTNOISE)
        raise wrong((*place, "type"), f"it must be one of {known}, got {shown(given.get('type'))}")
    parts = {
        ours: given[theirs] for theirs, ours in _WORDS.items() if given.get(theirs) is not None
    }
    if kind == "datetime":
        parts = {key: _moment(value) for key, value in parts.items()}
    return {"type": kind, **parts}


def _moment(value: object) -> object:
    """Return a date as a time at its beginning."""
    return dt.datetime(value.year, value.month, value.day) if type(value) is dt.date else value


def _loaded(given: ForeignSchema, load: Callable[[str], Any], what: str) -> dict[str, Any]:
    """Return a mapping that was given, or that is in a file."""
    if isinstance(given, Mapping):
        return read_mapping(given, (what,))
    path = file_path(given, what)
    try:
        found = load(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = f"it cannot be read: {error.strerror}"
    except ValueError as error:
        why = " ".join(str(error).split())
    else:
        if isinstance(found, Mapping):
            return {str(name): value for name, value in found.items()}
        why = "it must be a mapping"
    raise wrong((), f"{Path(path)}: {why}")


def _json(text: str) -> Any:
    return json.loads(text, parse_float=Decimal)


def _yaml(text: str) -> Any:
    """Return what YAML says; JSON is YAML too, and needs no package."""
    try:
        return _json(text)
    except ValueError:
        pass
    yaml = _pyyaml()
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        why = str(error)
    raise ValueError(why)


def _pyyaml() -> Any:
    """Return PyYAML, which has no types for mypy."""
    with suppress(ImportError):
        return import_module("yaml")
    raise MissingPackage("metadata in YAML need PyYAML: pip install pyyaml")
