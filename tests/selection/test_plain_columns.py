"""Columns and bins in plain values and in texts: what is one, what is a name, and what is nearly one."""

import datetime as dt
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Bins, WithMissing
from discreet.errors import DiscreetError, InvalidArgument
from discreet.selection.bins import CellColumns
from discreet.selection.plain_columns import (
    OF_BINS,
    column_of_text,
    columns_of_plain,
    plain_columns,
)

NUMBERS = st.fractions(-(10**6), 10**6, max_denominator=1000)
DAYS = st.dates()
TIMES = st.datetimes(timezones=st.just(dt.UTC))


@st.composite
def any_bins(draw: st.DrawFn) -> Bins:
    kind: Any = draw(st.sampled_from([NUMBERS, DAYS, TIMES]))
    edges = sorted(draw(st.lists(kind, min_size=2, max_size=5, unique=True)))
    options: Any = {name: draw(st.booleans()) for name in ("closed", "below", "above", "missing")}
    return Bins("age", edges=edges, **options)


@given(bins=any_bins())
def test_bins_are_read_as_they_were_written(bins: Bins) -> None:
    several: list[Any] = [bins, [bins], ["city", bins]]
    for columns in several:
        sent = json.loads(json.dumps(plain_columns(columns)))
        assert columns_of_plain(sent) == columns
        assert columns_of_plain(columns) == columns
    assert plain_columns(CellColumns(("city", bins))) == plain_columns(["city", bins])


def test_a_column_with_missing_values_is_an_object() -> None:
    plain = {"column": "city", "missing": True}
    assert columns_of_plain(plain) == WithMissing("city")
    assert plain_columns(WithMissing("city")) == plain
    assert plain_columns(columns_of_plain([plain, "drink"])) == [plain, "drink"]
    with pytest.raises(InvalidArgument, match="Bins need edges"):
        columns_of_plain({"column": "city", "missing": False})


def test_every_argument_of_bins_may_be_said() -> None:
    assert {*Bins.__init__.__annotations__} - {"return"} == {*OF_BINS}
    months = {"column": "day", "lo": "2024-01-01", "hi": dt.date(2024, 4, 1), "step": "1 month"}
    read = columns_of_plain(months)
    assert read == Bins("day", "2024-01-01", "2024-04-01", "1 month")
    of_numbers: Any = columns_of_plain({"column": "x", "edges": [0, 0.1, "1/3"]})
    assert of_numbers.edges == (
        0, Fraction(1, 10), Fraction(1, 3),
    )  # fmt: skip
    assert columns_of_plain({"column": "x", "edges": [0, 1], "lo": None}) == Bins("x", edges=[0, 1])


@pytest.mark.parametrize("plain", ["city", None, 5, ["city", "age"]])
def test_names_stay_as_they_are(plain: Any) -> None:
    assert columns_of_plain(plain) == plain == plain_columns(plain)


def test_the_name_of_the_argument_is_in_the_error() -> None:
    for plain in ({"place": "age"}, {}, ["age", "age"], ["age"]):
        with pytest.raises(InvalidArgument, match=r"^by"):
            columns_of_plain(plain, "by")


@pytest.mark.parametrize("name", ["edges", "labels"])
def test_an_object_in_place_of_a_list_is_refused(name: str) -> None:
    """It would be read as its keys."""
    bins: dict[str, Any] = {"column": "x", "edges": [0, 1], "labels": ["few"]}
    with pytest.raises(InvalidArgument, match=f"{name} must be a list"):
        columns_of_plain({**bins, name: {"0": "few", "1": "many"}})


BINS: dict[str, Bins] = {
    "age:0:120:10": Bins("age", 0, 120, 10),
    "age:-10:10:2.5": Bins("age", -10, 10, "2.5"),
    "x:0:1:1/3": Bins("x", 0, 1, "1/3"),
    "x:1e-3,1e3": Bins("x", edges=["1e-3", "1e3"]),
    "age:0,18,65,120": Bins("age", edges=[0, 18, 65, 120]),
    "age:0:120:10:missing:closed": Bins("age", 0, 120, 10, missing=True, closed=True),
    "age:18:below:above": Bins("age", edges=[18], below=True, above=True),
    "a:b:0:1:1": Bins("a:b", 0, 1, 1),
    "my age:0:1:1": Bins("my age", 0, 1, 1),
    "d:2024-01-01:2025-01-01:1 month": Bins("d", "2024-01-01", "2025-01-01", "1 month"),
    "t:2024-01-01T00:00:2024-01-01T01:00:10 minutes": Bins(
        "t", "2024-01-01T00:00", "2024-01-01T01:00", "10 minutes"
    ),
    "d:2024-01-01:2025-01-01:month": Bins("d", "2024-01-01", "2025-01-01", "1 month"),
    "t:2024-01-01T00:00:2024-01-02T00:00:6 hours": Bins("t", "2024-01-01T00:00", "2024-01-02T00:00", "6 hours"),
    "t:2024-01-01T00:00:00+01:00,2024-01-02T00:00+01:00": Bins(
        "t", edges=["2024-01-01T00:00+01:00", "2024-01-02T00:00+01:00"]
    ),
}  # fmt: skip


def test_a_column_may_have_missing_values() -> None:
    assert column_of_text("city:missing") == WithMissing("city")
    assert column_of_text("a:b:missing") == WithMissing("a:b")
    assert column_of_text(":missing") == ":missing"


@pytest.mark.parametrize("text", BINS)
def test_texts_are_bins(text: str) -> None:
    assert column_of_text(text) == BINS[text]


@pytest.mark.parametrize(
    "text",
    [
        "age",
        "a:b",
        "a:1",
        "12:30",
        "a:b:c:d",
        ":",
        "",
        "1",
        "0,1",
        "age:ten:twenty:1",
        "a:" + "1:" * 9999,
    ],
)
def test_other_texts_are_names(text: str) -> None:
    assert column_of_text(text) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("age:0:120", "bins are age:0:120:10"),
        ("age:0:120:x", "bins are age:0:120:10"),
        ("age:0:120:10:odd", ":missing"),
        ("age:0,1,odd", "bins are age"),
        ("age:0:120:7", "whole number of steps"),
        ("age:1,0", "must rise"),
        ("age:0,2024-01-01", "an edge must be"),
        ("age:18:above:closed", "from 2 to"),
    ],
)
def test_what_is_nearly_bins_is_refused(text: str, words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        column_of_text(text)


def test_the_arguments_are_those_of_bins() -> None:
    options: dict[str, Any] = dict.fromkeys(("closed", "below", "above", "missing"), True)
    text = ":".join(["x:0,1", *options])
    assert column_of_text(text) == Bins("x", edges=[0, 1], **options)
