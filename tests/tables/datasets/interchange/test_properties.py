"""Each property of SmartNoise, Lomas and Table Schema is taken, has no effect, or is refused, as the docs say."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from discreet import Dataset
from discreet.errors import DiscreetError, InvalidDescription
from discreet.tables.datasets.interchange import properties as rules
from discreet.tables.datasets.interchange.dialect import DIALECT

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "describe_your_data.md"


def of_field(field: dict[str, Any], **schema: Any) -> Dataset:
    return Dataset.from_table_schema("x.csv", {"fields": [{"name": "x", **field}], **schema})


def of_table(column: dict[str, Any], **table: Any) -> Dataset:
    columns = {"x": {"type": "int", "lower": 0, "upper": 9, **column}, "y": {"type": "string"}}
    return Dataset.from_smartnoise("x.csv", {"columns": columns, **table})


# --- user-level privacy


@pytest.mark.parametrize("words", ["True", "true", "yes", 1, 0, None, "false", []])
def test_what_is_no_boolean_is_no_private_id(words: Any, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidDescription, match=r"columns\.x\.private_id: it must be true or false"
    ):
        of_table({"private_id": words})
    with pytest.raises(InvalidDescription, match="row_privacy: it must be true or false"):
        of_table({}, row_privacy=words)
    file = tmp_path / "m.yml"
    pytest.importorskip("yaml")
    file.write_text(
        f"c:\n  s:\n    t:\n      x: {{type: int, private_id: {json.dumps(words)}}}\n      y: {{type: int}}\n"
    )
    with pytest.raises(
        InvalidDescription, match=r"c\.s\.t\.x\.private_id: it must be true or false"
    ):
        Dataset.from_smartnoise("x.csv", file)


def test_booleans_of_yaml_are_booleans(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    file = tmp_path / "m.yml"
    for word in ("true", "True", "yes", "on"):
        file.write_text(f"max_ids: 2\ncolumns: {{x: {{type: int, private_id: {word}}}}}\n")
        assert Dataset.from_smartnoise("x.csv", file).privacy_unit == "x"


@pytest.mark.parametrize(
    ("column", "table", "reason"),
    [
        ({"private_id": True}, {"row_privacy": True}, "x has private_id: true. Keep one"),
        ({}, {"row_privacy": True, "max_ids": 3}, "row_privacy is true, and max_ids is 3"),
        ({}, {"row_privacy": False}, "row_privacy is false, and no column has private_id: true"),
        ({}, {"max_ids": 3}, "max_ids is 3, and no column has private_id: true"),
        ({}, {"max_ids": "3"}, "max_ids is '3', and no column"),
        ({}, {"max_ids": True}, "max_ids is True, and no column"),
        ({"private_id": True}, {"max_ids": "many"}, "max_contributions must be a whole number"),
        ({"private_id": True}, {"max_ids": 0}, "max_contributions must be a whole number"),
        ({"privat_id": True}, {}, "columns.x.privat_id: there is no such property (did you mean 'private_id'?)"),
        ({}, {"max_id": 3}, "max_id: there is no such property (did you mean 'max_ids'?)"),
        ({"missing_value": 0}, {}, "columns.x.missing_value: it is 0, and missing cells are left out here"),
    ],
)  # fmt: skip
def test_user_level_privacy_is_never_dropped(
    column: dict[str, Any], table: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DiscreetError) as refused:
        of_table(column, **table)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("column", "table", "unit", "most"),
    [
        ({"private_id": True}, {}, "x", 1),
        ({"private_id": True}, {"max_ids": 3}, "x", 3),
        ({"private_id": True}, {"max_ids": 3, "row_privacy": False}, "x", 3),
        ({"private_id": False}, {}, None, None),
        ({}, {"row_privacy": True}, None, None),
        ({}, {"row_privacy": True, "max_ids": 1}, None, None),
        ({}, {"max_ids": 1}, None, None),
    ],
)
def test_what_says_whose_a_row_is_is_taken(
    column: dict[str, Any], table: dict[str, Any], unit: str | None, most: int | None
) -> None:
    found = of_table(column, **table)
    assert (found.privacy_unit, found.max_contributions) == (unit, most)


# --- how cells are written


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ({"type": "date", "format": "%d %b %Y"}, "format: date must not have %b"),
        ({"type": "date", "format": "any"}, "declare the field as string"),
        ({"type": "datetime", "format": "%Y"}, "fields.1.format"),
        ({"type": "number", "format": "percent"}, "fields.1.format"),
        ({"type": "number", "decimalChar": ";"}, "decimalChar: it is ';', and it is not one of the signs"),
        ({"type": "number", "groupChar": "_"}, "fields.1.groupChar"),
        ({"type": "number", "groupChar": "."}, "two signs"),
        ({"type": "integer", "bareNumber": False}, "fields.1.bareNumber: it is false"),
        ({"type": "boolean", "trueValues": ["ja"]}, "declare the field as string, with the words in enum"),
        ({"type": "boolean", "falseValues": "false"}, "fields.1.falseValues"),
        ({"type": "integer", "missingValues": ["-99"]}, "fields.1.missingValues: it is [\"-99\"], and empty cells"),
        ({"type": "integer", "missingValues": ["", 99]}, "missing must be a list of texts"),
        ({"type": "number", "bareNumber": False, "units": ["5"]}, "columns.x.units"),
        ({"type": "integer", "missingValues": []}, "fields.1.missingValues"),
        ({"type": "integr"}, "fields.1.type: there is no type 'integr' (did you mean 'integer'?)"),
        ({"type": "integer", "minimum": 3}, "fields.1.minimum: there is no such property"),
        ({"constraints": {"minim": 3}}, "constraints.minim: there is no such property (did you mean"),
        ({"constraints": {"pattern": "a+"}}, "constraints.pattern: it is 'a+', and cells are not compared"),
        ({"constraints": {"maxLength": 3}}, "constraints.maxLength"),
        ({"type": "number", "constraints": {"exclusiveMinimum": 0}}, "give a minimum that may be reached"),
        ({"type": "datetime", "constraints": {"exclusiveMaximum": "2024-01-01T00:00:00"}}, "give a maximum"),
        ({"type": "integer", "constraints": {"exclusiveMinimum": 0, "minimum": 1}}, "minimum is given too"),
        ({"type": "integer", "constraints": {"exclusiveMinimum": "x"}}, "constraints.exclusiveMinimum"),
        ({"categories": ["a", "b"], "constraints": {"enum": ["a"]}}, "categories: enum lists other values"),
    ],
)  # fmt: skip
def test_what_says_how_cells_are_written_is_kept_or_refused(
    field: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InvalidDescription) as refused:
        of_field(field)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"type": "date", "format": "%Y-%m-%d"}, "date"),
        ({"format": "email"}, "string"),
        ({"type": "boolean", "trueValues": ["1", "true", "True", "TRUE"]}, "boolean"),
        ({"type": "number", "decimalChar": ".", "bareNumber": True, "missingValues": [""]}, "number"),
        ({"type": "integer", "constraints": {"exclusiveMinimum": 0, "exclusiveMaximum": "10"}}, "integer 1 to 9"),
        ({"type": "year", "constraints": {"exclusiveMaximum": 2020}}, "integer … to 2019"),
        (
            {"type": "date", "constraints": {"exclusiveMinimum": "2023-12-31", "maximum": "2024-02-01"}},
            "date 2024-01-01 to 2024-02-01",
        ),
        ({"categories": ["a", "b"], "categoriesOrdered": True}, "string of 2 values"),
        ({"type": "integer", "categories": [{"value": 1, "label": "low"}, {"value": 2}]}, "integer of 2 values"),
        ({"constraints": {"enum": ["a"], "pattern": "a+", "required": True}}, "string of 1 values"),
    ],
)  # fmt: skip
def test_what_says_what_is_read_anyway_is_accepted(field: dict[str, Any], said: str) -> None:
    assert str(of_field(field, missingValues=[""]).columns["x"]) == f"x: {said}"


@pytest.mark.parametrize(
    ("field", "form"),
    [
        ({"type": "date", "format": "%d.%m.%Y"}, {"date": "%d.%m.%Y"}),
        ({"type": "datetime", "format": "%d.%m.%Y %H:%M"}, {"date": "%d.%m.%Y %H:%M"}),
        ({"type": "number", "decimalChar": ","}, {"decimal": ",", "thousands": ""}),
        ({"type": "integer", "groupChar": ","}, {"decimal": ".", "thousands": ","}),
        ({"type": "number", "decimalChar": ",", "groupChar": "."}, {"decimal": ",", "thousands": "."}),
        ({"type": "number", "bareNumber": False, "units": ["kg"]}, {"units": ["kg"]}),
        ({"type": "number", "bareNumber": False, "percent": True}, {"percent": True}),
        ({"type": "integer", "missingValues": ["", "-99"]}, {"missing": ["-99"]}),
        ({"missingValues": ["NA", "", {"value": "k. A.", "label": "unknown"}]}, {"missing": ["NA", "k. A."]}),
        ({"type": "boolean"}, {}),
    ],
)  # fmt: skip
def test_how_cells_are_written_is_taken(field: dict[str, Any], form: dict[str, Any]) -> None:
    assert of_field(field).columns["x"].form.given == form
    own = form.get("missing", ["-"])
    assert of_field(field, missingValues=["-", ""]).columns["x"].form.given == {
        **form,
        "missing": own,
    }


def test_properties_of_the_whole_are_kept_or_refused() -> None:
    with pytest.raises(InvalidDescription, match=r'missingValues: it is \["NA"\]'):
        of_field({}, missingValues=["NA"])
    with pytest.raises(InvalidDescription, match=r"fields\.2\.name: two fields are called 'x'"):
        Dataset.from_table_schema(
            "x.csv", {"fields": [{"name": "x"}, {"name": "x", "type": "object"}]}
        )


def test_names_that_are_given_twice_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"fields": [{"name": "x", "type": "integer", "type": "number"}]}')
    with pytest.raises(InvalidDescription, match="'type' is given 2 times"):
        Dataset.from_table_schema("x.csv", file)
    file.write_text('{"columns": {"x": {"type": "int", "private_id": true, "private_id": false}}}')
    with pytest.raises(InvalidDescription, match="'private_id' is given 2 times"):
        Dataset.from_smartnoise("x.csv", file)
    pytest.importorskip("yaml")
    file = tmp_path / "m.yml"
    file.write_text("columns:\n  x: {type: int, private_id: true}\n  x: {type: int}\n")
    with pytest.raises(InvalidDescription, match="'x' is given 2 times"):
        Dataset.from_smartnoise("x.csv", file)


def of_dialect(dialect: dict[str, Any]) -> Dataset:
    resource = {"schema": {"fields": [{"name": "x"}]}, "dialect": dialect}
    return Dataset.from_table_schema("x.csv", {"resources": [resource]})


# --- the docs

TABLES = {
    "Table Schema: a field": rules.FIELD,
    "Table Schema: constraints": rules.CONSTRAINTS,
    "Table Schema: the whole": {**rules.SCHEMA, "dialect": rules.accept, "encoding": rules.accept},
    "Table Schema: the dialect": DIALECT,
    "SmartNoise and Lomas: a table": rules.METADATA,
    "SmartNoise and Lomas: a column": rules.METADATA_COLUMN,
}
OUTCOMES = ("taken", "no effect", "rejected")


def documented(title: str) -> dict[str, str]:
    """The properties of one part of the table in the docs, and what happens with them."""
    text = PAGE.read_text(encoding="utf-8")
    rows = [
        line.strip("|").split("|") for line in text.splitlines() if line.startswith(f"| {title} |")
    ]
    return {name: row[2].strip() for row in rows for name in re.findall(r"`([A-Za-z_$]+)`", row[1])}


@pytest.mark.parametrize("title", TABLES)
def test_every_property_is_in_the_docs_with_what_happens(title: str) -> None:
    told = documented(title)
    assert set(told) == set(TABLES[title])
    strange: Any = object()
    for name, happens in told.items():
        assert happens.startswith(OUTCOMES), name
        rule = TABLES[title][name]
        assert (rule is rules.accept) != happens.startswith("rejected"), name
        if rule is not rules.accept:
            assert rule(strange, {"type": "date"}) is not None


@pytest.mark.parametrize("title", TABLES)
def test_what_has_no_effect_changes_nothing(title: str) -> None:
    for name, happens in documented(title).items():
        if not happens.startswith("no effect"):
            continue
        for value in ("x", 3, True, ["x"]):
            more = {name: value}
            if title.startswith("SmartNoise"):
                table = title.endswith("table")
                with_it, without = (
                    of_table({} if table else more, **more if table else {}),
                    of_table({}),
                )
            elif title.endswith("dialect"):
                with_it, without = of_dialect(more), of_dialect({})
            elif title.endswith("whole"):
                with_it, without = of_field({}, **more), of_field({})
            elif title.endswith("constraints"):
                with_it, without = of_field({"constraints": more}), of_field({})
            else:
                with_it, without = of_field(more), of_field({})
            assert (with_it.columns, with_it.digest) == (without.columns, without.digest), name
