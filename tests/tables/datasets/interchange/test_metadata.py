"""Descriptions in the words of others give the same dataset as our own, or are refused with their place."""

import datetime as dt
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import Dataset
from discreet.errors import InvalidArgument, InvalidDescription, MissingPackage

SCHEMA: dict[str, Any] = {
    "fields": [
        {
            "name": "age",
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": "120", "required": True},
        },
        {"name": "city", "title": "City", "constraints": {"enum": ["Bern", "Basel"]}},
        {
            "name": "paid",
            "type": "number",
            "step": 0.1,
            "constraints": {"minimum": 0.1, "maximum": 0.4},
        },
        {"name": "born", "type": "year", "constraints": {"minimum": 1900, "maximum": 2020}},
        {
            "name": "day",
            "type": "date",
            "constraints": {"minimum": "2024-01-01", "maximum": "2024-02-01"},
        },
        {"name": "home", "type": "geopoint"},
        {"name": "more", "type": "object", "constraints": {"minimum": 3}},
    ],
    "primaryKey": "age",
}
METADATA = """\
"":
  public:
    people:
      rows: 1000
      max_ids: 3
      who: {type: string, private_id: true}
      age: {type: int, lower: 0, upper: 120}
      paid: {type: float, lower: 0.5, upper: 7.25, nullable: true}
      city: {type: string, cardinality: 2, categories: [Bern, Basel]}
      at: {type: datetime, lower: 2024-01-01, upper: "2024-02-01T12:00:00"}
    others: {rows: 3, row_privacy: true, x: {type: boolean}}
"""


@pytest.mark.parametrize("form", ["dict", "file", "package"])
def test_a_table_schema_is_read(form: str, tmp_path: Path) -> None:
    given: Any = SCHEMA
    if form == "package":
        given = {"resources": [{"path": "people.csv", "schema": SCHEMA}]}
    if form == "file":
        given = tmp_path / "schema.json"
        given.write_text(json.dumps(SCHEMA))
    found = Dataset.from_table_schema(
        "people.csv", given, privacy_unit="who", max_contributions=2, name="people"
    )
    assert [str(column) for column in found.columns.values()] == [
        "age: integer 0 to 120", "city: string of 2 values", "paid: number 0.1 to 0.4 by 0.1",
        "born: integer 1900 to 2020", "day: date 2024-01-01 to 2024-02-01",
    ]  # fmt: skip
    assert found.columns["paid"].minimum == Fraction(1, 10)
    assert (found.privacy_unit, found.max_contributions, found.name) == ("who", 2, "people")


def test_metadata_of_smartnoise_are_read(tmp_path: Path) -> None:
    file = tmp_path / "people.yml"
    file.write_text(METADATA)
    found = Dataset.from_smartnoise("people.csv", file, table="people")
    assert (found.privacy_unit, found.max_contributions) == ("who", 3)
    assert [str(column) for column in found.columns.values()] == [
        "who: string", "age: integer 0 to 120", "paid: number 0.5 to 7.25", "city: string of 2 values",
        "at: datetime 2024-01-01 00:00:00 to 2024-02-01 12:00:00",
    ]  # fmt: skip
    others = Dataset.from_smartnoise("people.csv", file, table="others")
    assert (others.privacy_unit, others.max_contributions) == (None, None)
    with pytest.raises(InvalidDescription, match="people, others"):
        Dataset.from_smartnoise("people.csv", file)


def test_metadata_of_lomas_are_read() -> None:
    metadata = {
        "max_ids": 1, "rows": 344,
        "columns": {
            "species": {"type": "string", "cardinality": 2, "categories": ["Adelie", "Gentoo"]},
            "seen": {"type": "datetime", "lower": dt.date(2024, 1, 1), "upper": dt.date(2024, 2, 1)},
        },
    }  # fmt: skip
    found = Dataset.from_smartnoise("penguins.csv", metadata, name="penguins")
    assert found.privacy_unit is None
    assert found.columns["species"].enum == ("Adelie", "Gentoo")
    assert found.columns["seen"].minimum == dt.datetime(2024, 1, 1)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "a list of fields"),
        ({"fields": [3]}, "fields.1: it must be a table"),
        ({"fields": [{"type": "integer"}]}, "fields.1.name"),
        (
            {"fields": [{"name": "a", "type": "integer", "constraints": {"minimum": "x"}}]},
            "columns.a.minimum",
        ),
        ({"fields": [{"name": "a", "type": "any"}]}, "at least one"),
        ("none.json", "none.json: it cannot be read: No such file"),
    ],
)
def test_what_is_no_table_schema_is_refused(given: Any, reason: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        Dataset.from_table_schema("x.csv", given)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"columns": {"a": {"type": "int64"}}}, "a.type: it must be one of int, float"),
        ({"columns": {"a": {"type": "int"}}, "max_ids": 3}, "no column has private_id: true"),
        (
            {"columns": {n: {"type": "int", "private_id": True} for n in "ab"}},
            "private_id is true for a and b",
        ),
        (
            {"columns": {"a": {"type": "int", "lower": 3, "upper": 2}}},
            "columns.a.maximum: it is below",
        ),
        ({"x": 3}, "(none)"),
    ],
)
def test_what_is_no_metadata_is_refused(given: Any, reason: str) -> None:
    with pytest.raises(InvalidDescription) as refused:
        Dataset.from_smartnoise("x.csv", given)
    assert reason in str(refused.value)


def test_files_that_are_no_yaml_and_a_missing_package_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "m.yml"
    file.write_text("a: [1")
    with pytest.raises(InvalidDescription, match=r"m\.yml: while parsing"):
        Dataset.from_smartnoise("x.csv", file)
    file.write_text("- 1")
    with pytest.raises(InvalidDescription, match="it must be a mapping"):
        Dataset.from_smartnoise("x.csv", file)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingPackage, match="pip install pyyaml"):
        Dataset.from_smartnoise("x.csv", file)
    file.write_text('{"columns": {"a": {"type": "boolean"}}}')
    assert [*Dataset.from_smartnoise("x.csv", file).columns] == ["a"]
