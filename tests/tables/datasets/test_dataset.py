"""What may be declared about data, and what of it is refused, with its place and the fix."""

import copy
import datetime as dt
import pickle
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import Dataset, Grid
from discreet.errors import InvalidArgument, InvalidCandidates, InvalidDescription, MissingColumn
from discreet.tables.datasets.columns import read_column
from discreet.tables.datasets.configuration import read_configuration

from .test_calls import Untouched

AGE: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 120}
CITY: dict[str, Any] = {"type": "string", "enum": ["Basel", "Bern", "Zürich"]}


def column(**declared: Any) -> Any:
    return read_column("x", declared, ("columns", "x"))


@pytest.mark.parametrize(
    ("declared", "place", "reason"),
    [
        ({}, "columns.x", "the type is missing"),
        ({"type": "integr"}, "columns.x.type", "did you mean 'integer'?"),
        ({"type": "geopoint"}, "columns.x.type", "must be one of"),
        ({"type": 3}, "columns.x.type", "it must be a text, got 3"),
        ({**AGE, "minimm": 1}, "columns.x.minimm", "did you mean 'minimum'?"),
        ({**AGE, "minimum": "x"}, "columns.x.minimum", "it must be a whole number, got 'x'"),
        ({**AGE, "minimum": 0.5}, "columns.x.minimum", "it must be a whole number"),
        ({**AGE, "minimum": True}, "columns.x.minimum", "it must be a whole number"),
        ({**AGE, "minimum": "FILL IN the least"}, "columns.x.minimum", "still to be filled in"),
        ({**AGE, "maximum": -1}, "columns.x.maximum", "it is below the minimum, 0"),
        ({"type": "number", "minimum": float("nan")}, "columns.x.minimum", "it must be a number"),
        (
            {"type": "string", "minimum": 1},
            "columns.x.minimum",
            "a string has no minimum. Give enum",
        ),
        ({"type": "boolean", "maximum": 1}, "columns.x.maximum", "a boolean has no maximum"),
        ({"type": "date", "minimum": "soon"}, "columns.x.minimum", "a date such as 2024-12-31"),
        ({**AGE, "step": 0}, "columns.x.step", "above zero"),
        ({**AGE, "step": 0.5}, "columns.x.step", "a step is a whole number above zero"),
        ({**AGE, "step": 7}, "columns.x.step", "a whole number of steps above the minimum"),
        ({"type": "integer", "step": 1}, "columns.x.step", "goes with a minimum and a maximum"),
        ({**CITY, "step": 1}, "columns.x.step", "of a column of numbers"),
        ({"type": "string", "enum": []}, "columns.x.enum", "at least one value"),
        ({"type": "string", "enum": ["a", "a"]}, "columns.x.enum", "'a' stands there twice"),
        ({"type": "string", "enum": "Bern"}, "columns.x.enum", "must be a list"),
        ({"type": "string", "enum": ["a", 1]}, "columns.x.enum", "1 is not a value of column 'x'"),
        ({"type": "string", "enum": ["FILL IN"]}, "columns.x.enum", "still to be filled in"),
        ({**AGE, "enum": [1, 130]}, "columns.x.enum", "beyond the maximum"),
        ({"type": "number", "enum": [0.5, "1/2"]}, "columns.x.enum", "0.5 stands there twice"),
        ({"type": "string", "title": 3}, "columns.x.title", "it must be a text"),
    ],
)
def test_wrong_columns_are_refused_with_their_place(
    declared: dict[str, Any], place: str, reason: str
) -> None:
    with pytest.raises(InvalidDescription) as refused:
        Dataset("x.csv", {"x": declared})
    assert ".".join(refused.value.place) == place
    assert reason in refused.value.reason
    assert str(refused.value) == f"{place}: {refused.value.reason}"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"columns": {}}, "at least one"),
        ({"columns": ["x"]}, "mapping"),
        ({"columns": {"x": "integer"}}, "mapping"),
        ({"columns": {"x": AGE}, "privacy_unit": 3}, "privacy_unit must be the name of a column"),
        ({"columns": {"x": AGE}, "max_contributions": 3}, "name their column as privacy_unit"),
        ({"columns": {"x": AGE}, "privacy_unit": "u", "max_contributions": 0}, "from 1 to"),
        ({"columns": {"x": AGE}, "name": "\n"}, "printable name"),
    ],
)
def test_wrong_datasets_are_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        Dataset("x.csv", **arguments)


def test_grids_follow_from_bounds_and_steps() -> None:
    assert repr(column(**AGE).grid) == repr(Grid(0, 120))
    assert repr(column(type="number", minimum=0, maximum=1, step="0.1").grid) == repr(
        Grid(0, 1, "0.1")
    )
    assert column(type="number", minimum=0, maximum=1).grid is None
    assert column(**CITY).grid is None


def test_numbers_are_exact() -> None:
    found = column(type="number", minimum=0.1, maximum="1/3", enum=[0.1, Decimal("0.2"), "1/3"])
    assert (found.minimum, found.maximum) == (Fraction(1, 10), Fraction(1, 3))
    assert found.read(Decimal("0.1")) == Decimal("0.1")
    with pytest.raises(InvalidCandidates, match="not among the declared values"):
        found.read(0.15)
    with pytest.raises(InvalidCandidates, match="beyond the minimum"):
        found.read(Fraction(1, 11))


def test_times_with_and_without_an_offset_do_not_mix() -> None:
    found = column(type="datetime", minimum="2024-01-01T00:00:00")
    with pytest.raises(InvalidCandidates, match="offset"):
        found.read(dt.datetime(2024, 1, 1, tzinfo=dt.UTC))
    with pytest.raises(InvalidDescription, match="offset"):
        column(type="datetime", minimum="2024-01-01T00:00", maximum="2025-01-01T00:00Z")


def test_the_repr_says_what_is_declared_and_nothing_of_the_data() -> None:
    described = Dataset(
        pl.DataFrame({"age": [77]}),
        {"age": AGE, "city": CITY},
        privacy_unit="user",
        max_contributions=3,
        name="people",
    )
    assert repr(described) == (
        "Dataset(a polars.DataFrame, columns=[age: integer 0 to 120; city: string of 3 values], "
        "privacy_unit='user', max_contributions=3, name='people')"
    )
    assert repr(Dataset("people.csv", {"age": {"type": "integer", "minimum": 0}})) == (
        "Dataset('people.csv', columns=[age: integer 0 to …])"
    )


def test_a_description_does_not_change() -> None:
    declared = {"age": dict(AGE)}
    described = Dataset("x.csv", declared)
    declared["age"]["maximum"] = 7
    declared["city"] = {}
    assert [*described.columns] == ["age"]
    assert described.columns["age"].maximum == 120
    with pytest.raises(TypeError):
        described.columns["b"] = 1  # type: ignore[index]
    with pytest.raises(AttributeError):
        described.name = "other"  # type: ignore[misc]
    for other in (pickle.loads(pickle.dumps(described)), copy.deepcopy(described)):
        assert other.digest == described.digest
        assert repr(other) == repr(described)


def test_the_digest_is_of_all_that_is_declared_and_stays() -> None:
    one = Dataset("/data/x.csv", {"age": AGE}, privacy_unit="user", max_contributions=2)
    assert one.digest == "2:619dfbe454c88a0bf536a19678f6e5f53240b03720ba7a1336227af015db5e90"
    others = [
        Dataset("/data/y.csv", {"age": AGE}, privacy_unit="user", max_contributions=2),
        Dataset("/data/x.csv", {"age": AGE}, privacy_unit="other", max_contributions=2),
        Dataset("/data/x.csv", {"age": AGE}, privacy_unit="user", max_contributions=3),
        Dataset(
            "/data/x.csv", {"age": {**AGE, "maximum": 99}}, privacy_unit="user", max_contributions=2
        ),
        Dataset("/data/x.csv", {"ages": AGE}, privacy_unit="user", max_contributions=2),
    ]
    assert len({each.digest for each in (one, *others)}) == 6
    same = Dataset(
        "/data/./x.csv",
        {"age": {**AGE, "title": "Age", "minimum": "0"}},
        privacy_unit="user",
        max_contributions=2,
        name="p",
    )
    assert same.digest == one.digest


def test_missing_columns_are_named() -> None:
    described = Dataset("x.csv", {"age": AGE}, name="people")
    with pytest.raises(MissingColumn, match="no column 'agee'"):
        discreet.median(described, "agee", epsilon=1)
    with pytest.raises(MissingColumn, match=r"name a column of people. It has 'age'"):
        discreet.median(described, epsilon=1)


def test_a_description_of_a_description_is_refused() -> None:
    described = Dataset("x.csv", {"age": AGE})
    with pytest.raises(InvalidArgument, match="not another description"):
        Dataset(described, {"age": AGE})
    with pytest.raises(InvalidArgument, match="only once"):
        Dataset(iter([1]), {"age": AGE})


def test_paths_are_read_once_and_as_plain_values() -> None:
    class Loud(str):
        def __repr__(self) -> str:
            raise AssertionError("its own methods were called")

        __str__ = __hash__ = __fspath__ = __repr__  # type: ignore[assignment]

    described = Dataset(Loud("people.csv"), {"age": AGE})
    assert type(described.source) is str
    assert repr(described).startswith("Dataset('people.csv'")
    with pytest.raises(InvalidArgument, match="path must name a file"):
        discreet.read_dataset("people", 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="path must name a file"):
        discreet.read_dataset("people", "a\udfffb")


def test_what_notebooks_show_is_declared_and_escaped_and_reads_nothing(tmp_path: Path) -> None:
    columns: Any = {
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "<b>city": {"type": "string", "enum": ["<script>", *map(str, range(20))]},
    }
    people = Dataset(Untouched(), columns, privacy_unit="user", max_contributions=2, name="<i>p")
    html = people._repr_html_()
    assert "&lt;i&gt;p: " in html
    assert "all rows of one user are a record, 2 rows each" in html
    assert "<td" in html
    assert "&lt;script&gt;, 0, 1, 2, 3, 4, 5, 6, 7, 8, …" in html
    assert not any(tag in html for tag in ("<b>", "<i>", "<script>"))
    city = people.columns["<b>city"]
    assert repr(city) == "Column(<b>city: string of 21 values)"
    assert "<th scope" in city._repr_html_()
    assert "<b>" not in city._repr_html_()
    many = Dataset("a.csv", {f"c{i}": {"type": "boolean"} for i in range(1000)})
    assert repr(many).endswith("c19: boolean; 980 more])")
    assert "every row is a record" in many._repr_html_()


def test_a_description_shows_its_datasets(tmp_path: Path) -> None:
    file = tmp_path / "discreet.toml"
    file.write_text(
        '[datasets.people]\nsource = "a.csv"\nbudget = { epsilon = "1/2", period = "year" }\n'
        'columns.age = { type = "integer" }\nquestions.old = { verb = "maximum", column = "age" }\n'
    )
    found = read_configuration(file)
    assert repr(found) == f"Configuration({str(file)!r}: people)"
    shown = str(found.rows())
    assert "epsilon 1/2, per year" in shown
    assert "old" in found._repr_html_()
