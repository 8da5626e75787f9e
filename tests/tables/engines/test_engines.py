"""Every verb over every engine: the same scores, hence the same law, and only counts leave Spark."""

import csv
import datetime as dt
import sys
import types
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    InvalidCandidates,
    MissingPackage,
    UnreadableData,
)
from discreet.tables.engines import count
from discreet.tables.engines.engine_errors import needing
from discreet.tables.engines.records import Records

from ...columns import numbers_of, recorded
from ...engines import ENGINES, TYPED

CENSUS = Path(__file__).parents[3] / "examples" / "marital_status.csv"
MARKER = "s3cr3t-m4rk3r"
Make = Callable[[pa.Table], Any]


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda table: ENGINES[request.param](table, tmp_path)


@pytest.fixture(params=TYPED)
def make_typed(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda table: TYPED[request.param](table, tmp_path)


def has_objects(data: Any) -> bool:
    """Whether pandas keeps a column as Python objects, which may be anything."""
    return isinstance(data, pd.DataFrame) and "object" in map(str, data.dtypes)


# --- the census


def census() -> pa.Table:
    with CENSUS.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return pa.table({name: [row[name] for row in rows] for name in rows[0]})


@pytest.mark.one_in(3)
def test_the_census_has_the_same_law_everywhere(make: Make) -> None:
    table = census()
    [name] = table.column_names
    counter = Counter(table[name].to_pylist())
    statuses = sorted(counter)
    assert count(make(table), name, statuses) == [counter[status] for status in statuses]
    answer = discreet.mode(make(table), name, candidates=statuses, epsilon=50)
    assert answer.value == counter.most_common(1)[0][0]


# --- the hour that clocks repeat

PARIS = ZoneInfo("Europe/Paris")
TWICE = [dt.datetime(2024, 10, 27, hour, 30, tzinfo=dt.UTC) for hour in (0, 1)]
"""Half past two in Paris, and an hour later, when it is half past two again."""


@pytest.mark.parametrize("kept", ["UTC", "Europe/Paris"])
@pytest.mark.parametrize("asked", [dt.UTC, PARIS, ZoneInfo("America/New_York")])
@pytest.mark.one_in(5)
def test_instants_are_told_apart_whatever_the_zone(
    make_typed: Make, kept: str, asked: dt.tzinfo
) -> None:
    moments = [TWICE[0]] * 2 + [TWICE[1]] * 3
    table = pa.table(
        {"at": pa.array(moments, pa.timestamp("us", tz=kept)), "who": ["a", "b", "a", "b", "c"]}
    )
    data, candidates = make_typed(table), [moment.astimezone(asked) for moment in TWICE]
    assert count(data, "at", candidates) == [2, 3]
    assert recorded(data, "at", Records("who")).tally(candidates) == [[2, 3]]
    groups = Records(by="at", groups=tuple(candidates))
    assert recorded(data, "who", groups).tally(["a", "b", "c"]) == [[1, 1, 0], [1, 1, 1]]


def test_one_row_does_not_change_how_other_objects_are_compared() -> None:
    """For Python the two times of Paris are equal: whichever came first would stand for all."""
    first, again = (moment.astimezone(PARIS) for moment in TWICE)
    assert first == again
    for rows, expected in (([first] + [again] * 9, [1, 9]), ([again] * 9, [0, 9])):
        data = pd.DataFrame({"at": pd.Series(rows, dtype="object")})
        assert count(data, "at", TWICE) == expected
        records = Records(by="at", groups=tuple(TWICE))
        tallied = recorded(data.assign(drink="tea"), "drink", records).tally(["tea"])
        assert tallied == [[n] for n in expected]


def test_objects_written_alike_are_one_person() -> None:
    """As pandas reads a file in pieces: integers where a piece has no text."""
    data = pd.DataFrame(
        {"who": pd.Series([7, "7", "07", None, True], dtype="object"), "drink": "tea"}
    )
    assert recorded(data, "drink", Records("who")).tally(["tea"]) == [[2]]


def test_one_instant_is_one_candidate() -> None:
    paris = TWICE[0].astimezone(PARIS)
    assert paris != TWICE[0]
    for same in ([paris, TWICE[0]], [TWICE[0], paris], [paris, TWICE[1].astimezone(PARIS)]):
        with pytest.raises(InvalidCandidates, match="distinct"):
            discreet.mode(pa.table({"at": TWICE}), "at", candidates=same, epsilon=1)
        with pytest.raises(InvalidCandidates, match="groups must be distinct"):
            discreet.mode(
                pa.table({"at": TWICE}), "at", candidates=TWICE, by="at", groups=same, epsilon=1
            )


# --- every verb, where the answer is all but certain


def visits() -> pa.Table:
    """Person i comes i % 3 + 1 times; 300 of them, and rows of nobody that must not count."""
    rows = [
        (f"p{i}", "north" if i % 2 else "süd", "tea" if i % 2 else "café", float(i % 5))
        for i in range(300)
        for _ in range(i % 3 + 1)
    ]
    rows += [(None, "north", "milk", 9.0)] * 900  # type: ignore[list-item]
    persons, regions, drinks, ages = zip(*rows, strict=True)
    return pa.table(
        {
            "person": pa.array(persons, pa.string()),
            "region": regions,
            "drink": drinks,
            "age": pa.array(ages, pa.float64()),
        }
    )


SURE: Any = {"epsilon": 200}
GRID = discreet.Grid(0, 10)
PEOPLE: Any = {"privacy_unit": "person", "by": "region", "groups": ["north", "süd"], **SURE}


@pytest.mark.proof_in("spark")
@pytest.mark.one_in(3)
def test_verbs_that_count(make: Make) -> None:
    data, drinks = make(visits()), ["tea", "café", "milk"]
    assert discreet.mode(data, "drink", candidates=drinks, **SURE).value == "milk"
    assert discreet.mode(data, "drink", candidates=drinks, **PEOPLE).value == {
        "north": "tea",
        "süd": "café",
    }
    listed = discreet.top_k(data, "drink", k=1, candidates=drinks, **PEOPLE)
    assert listed.value == {"north": ["tea"], "süd": ["café"]}
    assert listed.unit == "person"


@pytest.mark.one_in(3)
def test_verbs_over_numbers(make: Make) -> None:
    data = make(visits())
    assert discreet.maximum(data, "age", candidates=GRID, **SURE).value >= 9
    assert discreet.median(data, "age", candidates=GRID, privacy_unit="person", **SURE).value == 2
    assert discreet.quantile(data, "age", alpha="0.9", candidates=GRID, **PEOPLE).value == {
        "north": 4,
        "süd": 4,
    }
    quartiles = discreet.quantiles(
        data, "age", alphas=["0.3", "0.7"], candidates=GRID, privacy_unit="person", epsilon=900
    )
    assert quartiles.value == [1, 3]
    assert discreet.best_price(
        data, "age", candidates=GRID, privacy_unit="person", **SURE
    ).value in (
        2,
        3,
    )
    assert discreet.minimum(data, "age", candidates=GRID, **PEOPLE).value == {"north": 0, "süd": 0}


def test_groups_that_cannot_be_compared_are_called_groups(make: Make) -> None:
    with pytest.raises(InvalidCandidates, match=r"the group 1\.5 is"):
        discreet.mode(
            make(visits()), "drink", candidates=["tea"], by="region", groups=[1.5], epsilon=1
        )
    with pytest.raises(InvalidCandidates, match="groups must be a list, got 'north'"):
        discreet.mode(
            make(visits()), "drink", candidates=["tea"], by="region", groups="north", epsilon=1
        )


def test_groups_without_rows_answer(make: Make) -> None:
    data = make(visits())
    answer = discreet.mode(
        data, "drink", candidates=["tea"], by="region", groups=["nowhere"], epsilon=1
    )
    assert answer.value == {"nowhere": "tea"}
    answer = discreet.median(
        data, "age", candidates=GRID, by="region", groups=["nowhere"], epsilon=1
    )
    assert answer.value["nowhere"] in range(11)


# --- types of persons, groups and numbers

DAY = dt.date(2024, 2, 29)
UTC = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
COLUMNS: dict[str, tuple[pa.Array, list[Any]]] = {
    "integers": (pa.array([2**53, 2**53 + 1, None]), [2**53 + 1, 2**53]),
    "unsigned": (pa.array([2**64 - 1, 1, None], pa.uint64()), [1, 2**64 - 1]),
    "decimals": (pa.array([Decimal("1.10"), Decimal("2.00"), None]), [Decimal(2), Decimal("1.1")]),
    "booleans": (pa.array([True, False, None]), [False, True]),
    "dates": (pa.array([DAY, dt.date(1, 1, 1), None]), [dt.date(1, 1, 1), DAY]),
    "zoned": (
        pa.array([UTC, UTC.replace(year=1996), None], pa.timestamp("us", "UTC")),
        [UTC.replace(year=1996), UTC],
    ),
    "categories": (pa.array(["é", "e\u0301", None]).dictionary_encode(), ["e\u0301", "é"]),
    "floats": (pa.array([-0.0, 1.5, None]), [1.5, 0]),
}


@pytest.mark.parametrize("of", COLUMNS)
@pytest.mark.one_in(5)
def test_groups_of_every_type(make_typed: Make, of: str) -> None:
    values, groups = COLUMNS[of]
    data = make_typed(pa.table({"g": values, "c": ["a", "b", "a"], "n": [1, 2, 3]}))
    plan = Records(by="g", groups=tuple(groups))
    assert recorded(data, "c", plan).tally(["a", "b"]) == [[0, 1], [1, 0]]
    held = recorded(data, "n", plan)
    assert [sorted(numbers_of(group).tolist()) for group in held.groups] == [[2], [1]]


@pytest.mark.parametrize("of", ["integers", "unsigned", "decimals"])
@pytest.mark.one_in(5)
def test_numbers_of_every_type(make_typed: Make, of: str) -> None:
    values, wanted = COLUMNS[of]
    data = make_typed(pa.table({"p": ["a", "a", "b"], "v": values}))
    held = recorded(data, "v", Records("p", rows=2))
    [group] = held.groups
    assert sorted(map(Fraction, numbers_of(group).tolist())) == sorted(map(Fraction, wanted))


@pytest.mark.parametrize("of", ["integers", "unsigned", "categories"])
def test_persons_of_every_type(make_typed: Make, of: str) -> None:
    persons, _ = COLUMNS[of]
    data = make_typed(pa.table({"p": pa.concat_arrays([persons] * 3), "c": ["a"] * 9}))
    assert recorded(data, "c", Records("p")).tally(["a"]) == [[2]]


@pytest.mark.parametrize("of", ["floats", "booleans", "dates"])
def test_persons_that_cannot_be_told_apart(make_typed: Make, of: str) -> None:
    persons, _ = COLUMNS[of]
    data = make_typed(pa.table({"p": persons, "c": [MARKER] * 3, "n": [1, 2, 3]}))
    if has_objects(data):
        pytest.skip("pandas keeps these as Python objects, of which none is a person")
    for ask in (
        lambda: recorded(data, "c", Records("p")).tally(["a"]),
        lambda: recorded(data, "n", Records("p", rows=1)).bounded,
    ):
        with pytest.raises(UnreadableData, match="cannot be the privacy_unit") as caught:
            ask()
        assert MARKER not in str(caught.value)
        assert caught.value.__context__ is None


# --- Spark: only counts come to the driver


def test_a_missing_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql.functions", None)
    with pytest.raises(MissingPackage, match=r"pip install 'discreet\[spark\]'") as caught:
        needing("pyspark.sql.functions", "spark")
    assert isinstance(caught.value, DiscreetError | ImportError)
    assert caught.value.__context__ is None
    assert isinstance(needing("json", "none"), types.ModuleType)


def test_errors_of_groups_are_made_for_groups() -> None:
    """No word of a value is taken for a word of the message."""
    data = pl.DataFrame({"c": ["x"], "g": ["of answers candidates"]})
    twice = ["of answers candidates"] * 2
    for wrong, message in (
        (twice, "groups must be distinct, 'of answers candidates' is there twice"),
        ([], "groups must not be empty: there must be something to answer"),
        ("candidates", "groups must be a list, got 'candidates'"),
    ):
        with pytest.raises(InvalidCandidates) as refusal:
            discreet.mode(data, "c", candidates=["x"], by="g", groups=wrong, epsilon=1)
        assert str(refusal.value) == message
    with pytest.raises(InvalidArgument, match=r"^groups can be read only once"):
        discreet.mode(data, "c", candidates=["x"], by="g", groups=iter(["a"]), epsilon=1)
