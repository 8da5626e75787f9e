"""Descriptions in the words of others: Frictionless Table Schema, and metadata of SmartNoise and Lomas."""

import datetime as dt
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

from ....base.arguments import file_path
from ....errors import MissingPackage, preview
from ..columns import TYPES, read_column
from ..declarations import KeyPath, nearest, read_list, read_mapping, read_text, wrong
from .dialect import form_of_resource
from .properties import (
    CONSTRAINTS,
    FIELD,
    METADATA,
    METADATA_COLUMN,
    SCHEMA,
    check_properties,
    is_default_format,
    missing_texts,
)

ForeignSchema = Mapping[str, Any] | str | os.PathLike[str]
"""A mapping, or the path of a file that holds one."""

_PARTS = ("title", "description", "step")
_BOUNDS = ("minimum", "maximum", "enum")
_LEFT_OUT = (
    "object", "array", "list", "time", "yearmonth", "duration", "geopoint", "geojson", "any",
)  # fmt: skip
"""The types of Table Schema that no question takes."""

_SIGNS = {"decimalChar": "decimal", "groupChar": "thousands"}
_PLAIN = {"decimal": ".", "thousands": ""}
"""The signs of numbers in Table Schema, unless a field says others."""

_NEXT: dict[object, Any] = {"integer": 1, "year": 1, "date": dt.timedelta(days=1)}
"""How far the next value is, of types that have one."""

_SMARTNOISE = {
    "int": "integer",
    "float": "number",
    "string": "string",
    "boolean": "boolean",
    "datetime": "datetime",
}
_WORDS = {"lower": "minimum", "upper": "maximum", "categories": "enum"}


def table_schema_columns(
    source: ForeignSchema,
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the columns that a Table Schema declares, in the words of `Dataset`, and the form of its file.

    Fields of types that questions don't support (objects, lists, places, durations) are skipped. A year is an
    integer. The effect of every property is in docs/how-to/describe_your_data.md.

    Args:
        source: the schema, or the path of a file with it; or a data package with one resource.

    Raises:
        InvalidDescription: if it is no Table Schema, or has a property that cannot be kept.
    """
    schema: dict[str, Any] = _load_mapping(source, _json, "schema")
    place: KeyPath = ()
    form: dict[str, Any] = {}
    resources = schema.get("resources")
    if isinstance(resources, list) and len(resources) == 1:
        resource, place = read_mapping(resources[0], ("resources",)), ("resources", "1")
        form = form_of_resource(resource, place)
        schema, place = read_mapping(resource.get("schema", {}), ("schema",)), (*place, "schema")
    fields = schema.get("fields")
    if not isinstance(fields, list):
        raise wrong(("fields",), "a Table Schema has a list of fields, each with a name and a type")
    check_properties(schema, SCHEMA, place)
    columns: dict[str, dict[str, Any]] = {}
    for i, one in enumerate(fields, 1):
        name, declaration = _field(one, ("fields", str(i)), schema.get("missingValues"))
        if name in columns:
            raise wrong(
                ("fields", str(i), "name"), f"two fields are called {preview(name)}. Keep one"
            )
        columns[name] = declaration
    return {name: declaration for name, declaration in columns.items() if declaration}, form


def _field(entry: object, place: KeyPath, missing: object) -> tuple[str, dict[str, Any]]:
    """Return the name and the declaration of a field; an empty one of a type that no question takes.

    Args:
        entry: the field.
        place: where it stands.
        missing: the markers of missing cells of the whole schema, or None.
    """
    field = read_mapping(entry, place)
    name, kind = read_text(field.get("name"), (*place, "name")), field.get("type", "string")
    if kind in _LEFT_OUT:
        return name, {}
    if kind not in (*TYPES, "year"):
        types = (*TYPES, "year", *_LEFT_OUT)
        raise wrong((*place, "type"), f"there is no type {preview(kind)}{nearest(kind, types)}")
    bounds = read_mapping(field.get("constraints", {}), (*place, "constraints"))
    check_properties(field, FIELD, place)
    if "categories" in field:
        bounds.setdefault("enum", _categories(field["categories"], bounds, place))
    check_properties(bounds, CONSTRAINTS, (*place, "constraints"))
    parts = {key: field[key] for key in _PARTS if field.get(key)}
    parts |= {key: bounds[key] for key in _BOUNDS if key in bounds}
    parts |= _cell_words({"missingValues": missing, **field}, kind)
    for word, sign in (("Minimum", 1), ("Maximum", -1)):
        if f"exclusive{word}" in bounds:
            here = (*place, "constraints", f"exclusive{word}")
            parts[word.lower()] = _inclusive(bounds, word, sign, kind, here)
    return name, {"type": "integer" if kind == "year" else kind, **parts}


def _cell_words(field: Mapping[str, Any], kind: object) -> dict[str, Any]:
    """Return how the cells of a field are written, in our words."""
    markers = [one for one in missing_texts(field["missingValues"]) if one != ""]
    words: dict[str, Any] = {"missing": markers} if markers else {}
    if kind in ("date", "datetime") and not is_default_format(kind, field.get("format", "default")):
        words["date"] = field["format"]
    if kind in ("integer", "number"):
        words |= {word: field[word] for word in ("units", "percent", "negative") if word in field}
        signs = {ours: field[theirs] for theirs, ours in _SIGNS.items() if theirs in field}
        if {**_PLAIN, **signs} != _PLAIN:
            words |= {**_PLAIN, **signs}
    return words


def _categories(entry: object, bounds: Mapping[str, Any], place: KeyPath) -> list[Any]:
    """Return the values of categories, which may come with labels."""
    here = (*place, "categories")
    values = [
        one.get("value") if isinstance(one, Mapping) else one for one in read_list(entry, here)
    ]
    if "enum" in bounds and bounds["enum"] != values:
        raise wrong(here, "enum lists other values. Keep one of them")
    return values


def _inclusive(
    bounds: Mapping[str, Any], word: str, sign: int, kind: object, place: KeyPath
) -> object:
    """Return the bound that a value may reach, for one that it may not."""
    if word.lower() in bounds:
        raise wrong(place, f"{word.lower()} is given too. Keep one of them")
    if kind not in _NEXT:
        raise wrong(
            place,
            f"between a {kind} and it are always more: give a {word.lower()} that may be reached",
        )
    bare = "date" if kind == "date" else "integer"
    bound: Any = read_column(
        "it", {"type": bare, "minimum": bounds[f"exclusive{word}"]}, place
    ).minimum
    return bound + sign * _NEXT[kind]


def smartnoise_dataset(source: ForeignSchema, table: str | None) -> dict[str, Any]:
    """Return the columns, the privacy unit and its bound that metadata of SmartNoise or Lomas declare.

    Args:
        source: the metadata, or the path of a YAML or JSON file with them.
        table: the name of the table, if the metadata have several.

    Raises:
        InvalidDescription: if they are none.
        MissingPackage: if PyYAML is needed and not installed.
    """
    metadata = _load_mapping(source, _yaml, "metadata")
    if "columns" in metadata:
        columns = read_mapping(metadata["columns"], ("columns",))
        return _describe_table(metadata, columns, (), ("columns",))
    tables = {name: (place, one) for place, name, one in _tables(metadata)}
    if table is None and len(tables) == 1:
        (table,) = tables
    if table not in tables:
        names = ", ".join(tables) or "none"
        raise wrong(
            (), f"table must be one of those in the metadata ({names}), got {preview(table)}"
        )
    place, of = tables[table]
    columns = {name: one for name, one in of.items() if isinstance(one, Mapping)}
    rest = {name: value for name, value in of.items() if name not in columns}
    return _describe_table(rest, columns, place, place)


def _tables(metadata: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str, Mapping[str, Any]]]:
    """Yield the tables of SmartNoise's metadata, which are in schemas of collections."""
    for collection, schemas in metadata.items():
        for schema, tables in (schemas if isinstance(schemas, Mapping) else {}).items():
            for name, table in (tables if isinstance(tables, Mapping) else {}).items():
                if isinstance(table, Mapping):
                    yield (str(collection), str(schema), str(name)), str(name), table


def _describe_table(
    of: Mapping[str, Any], columns: Mapping[str, Any], place: KeyPath, above: KeyPath
) -> dict[str, Any]:
    """Return the description of one table; its columns are below another place."""
    check_properties(of, METADATA, place)
    entries = {name: read_mapping(one, (*above, name)) for name, one in columns.items()}
    for name, one in entries.items():
        check_properties(one, METADATA_COLUMN, (*above, name))
    people = [name for name, one in entries.items() if one.get("private_id") is True]
    unit, most = _find_unit(of, people, place), of.get("max_ids", 1)
    declarations = {
        name: _read_smartnoise_column(one, (*above, name)) for name, one in entries.items()
    }
    return {
        "columns": declarations,
        "privacy_unit": unit,
        "max_contributions": None if unit is None else most,
    }


def _find_unit(of: Mapping[str, Any], people: list[str], place: KeyPath) -> str | None:
    """Return the column of the privacy unit, or None if the metadata say that a row is a record.

    Raises:
        InvalidDescription: if they say both, or neither.
    """
    by_row, most = of.get("row_privacy"), of.get("max_ids", 1)
    reason = None
    if len(people) > 1:
        reason = (
            "one column says which person a row is about, but private_id is true for "
            f"{' and '.join(people)}"
        )
    elif by_row is True and people:
        reason = f"row_privacy is true, and {people[0]} has private_id: true. Keep one of them"
    elif not people and type(most) is int and most == 1 and by_row is not False:
        return None
    elif not people and by_row is True:
        reason = f"row_privacy is true, and max_ids is {preview(most)}: a row is of one, so keep one of them"
    elif not people:
        problem = f"max_ids is {preview(most)}" if by_row is None else "row_privacy is false"
        reason = (
            f"{problem}, and no column has private_id: true, so it is not known which person a row "
            "is about. Give a column private_id: true, or row_privacy: true if each row is one "
            "person"
        )
    if reason is not None:
        raise wrong(place, reason)
    return people[0]


def _read_smartnoise_column(entry: dict[str, Any], place: KeyPath) -> dict[str, Any]:
    """Return the declaration of a column of SmartNoise's metadata."""
    kind = _SMARTNOISE.get(entry.get("type", ""))
    if kind is None:
        types = ", ".join(_SMARTNOISE)
        raise wrong(
            (*place, "type"), f"it must be one of {types}, got {preview(entry.get('type'))}"
        )
    parts = {
        ours: entry[theirs] for theirs, ours in _WORDS.items() if entry.get(theirs) is not None
    }
    if kind == "datetime":
        parts = {key: _date_as_time(value) for key, value in parts.items()}
    return {"type": kind, **parts}


def _date_as_time(value: object) -> object:
    """Return a date as a time at its beginning."""
    return dt.datetime(value.year, value.month, value.day) if type(value) is dt.date else value


def _load_mapping(source: ForeignSchema, load: Callable[[str], Any], what: str) -> dict[str, Any]:
    """Return a mapping that was given, or that is in a file."""
    if isinstance(source, Mapping):
        return read_mapping(source, (what,))
    path = file_path(source, what)
    try:
        content = load(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = f"it cannot be read: {error.strerror}"
    except ValueError as error:
        why = " ".join(str(error).split())
    else:
        if isinstance(content, Mapping):
            return {str(name): value for name, value in content.items()}
        why = "it must be a mapping"
    raise wrong((), f"{Path(path)}: {why}")


def _json(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; its names must differ."""
    _refuse_twice([name for name, _ in pairs])
    return dict(pairs)


def _refuse_twice(names: list[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"{preview(name)} is given {times} times. Keep one of them")


def _refuse_repeats(node: Any) -> None:
    """Raise if a mapping of YAML has a name twice."""
    if node is None or isinstance(node.value, str):
        return
    pairs = [pair for pair in node.value if isinstance(pair, tuple)]
    _refuse_twice([name.value for name, _ in pairs if isinstance(name.value, str)])
    for inner in [value for _, value in pairs] if pairs else node.value:
        _refuse_repeats(inner)


def _yaml(text: str) -> Any:
    """Return the value of a YAML text; JSON is YAML too, and needs no package."""
    if text.lstrip().startswith("{"):
        with suppress(json.JSONDecodeError):
            return _json(text)
    yaml = _pyyaml()
    try:
        _refuse_repeats(yaml.compose(text, yaml.SafeLoader))
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        why = str(error)
    raise ValueError(why)


def _pyyaml() -> Any:
    """Return PyYAML, which has no types for mypy."""
    with suppress(ImportError):
        return import_module("yaml")
    raise MissingPackage("metadata in YAML need PyYAML: pip install pyyaml")
