"""Verbs about a described dataset: what is declared is not asked again, what contradicts it reaches no data."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import Dataset, Grid
from discreet.errors import InvalidArgument, InvalidCandidates, UnreadableData

SURE = 10**6
"""An epsilon at which the best answer is drawn but for once in e**1000 times."""

COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "paid": {"type": "number", "minimum": 0, "maximum": 5, "step": 0.5},
    "rate": {"type": "number", "enum": [0.1, 0.5]},
    "rough": {"type": "number", "minimum": 0, "maximum": 5},
    "city": {"type": "string", "enum": ["Basel", "Bern", "Zürich"]},
    "free": {"type": "string"},
    "member": {"type": "boolean"},
}
ROWS: dict[str, list[Any]] = {
    "user": [f"u{i // 3}" for i in range(30)],
    "age": [30 + i % 3 for i in range(29)] + [500],
    "paid": [1.5] * 30,
    "rate": [0.1] * 20 + [0.5] * 10,
    "rough": [1.0] * 30,
    "city": ["Bern"] * 16 + ["Basel"] * 10 + ["Genf"] * 4,
    "free": ["x"] * 30,
    "member": [True] * 30,
}


class Untouched:
    """Data that fail as soon as anything of them but their class is looked at."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Untouched
        raise AssertionError(f"the data were touched: {name}")


def untouched(**named: Any) -> Dataset:
    return Dataset(
        Untouched(),
        COLUMNS,
        **{"privacy_unit": "user", "max_contributions": 2, "name": "people", **named},
    )


REFUSED: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (
        discreet.median,
        {"column": "city"},
        "median is of numbers or dates, and column 'city' of people is declared as string",
    ),
    (discreet.maximum, {"column": "member"}, "declared as boolean"),
    (discreet.median, {"column": "agee"}, "did you mean 'age'?"),
    (discreet.median, {}, "name a column of people"),
    (
        discreet.median,
        {"column": "rough"},
        "Declare a minimum and a maximum, and a step, or give candidates",
    ),
    (
        discreet.median,
        {"column": "age", "candidates": Grid(0, 121)},
        "beyond the bounds of column 'age': hi=121",
    ),
    (discreet.median, {"column": "age", "candidates": Grid(-1, 12)}, "lo=-1"),
    (discreet.median, {"column": "age", "candidates": [1, 121]}, "beyond the maximum"),
    (
        discreet.median,
        {"column": "rate", "candidates": [0.1, 0.4]},
        "not among the declared values",
    ),
    (discreet.quantiles, {"column": "rate", "alphas": [0.5]}, "must be a Grid"),
    (discreet.best_price, {"column": "city"}, "price is of numbers"),
    (discreet.mode, {"column": "city", "candidates": ["Bern", "Basle"]}, "did you mean 'Basel'?"),
    (discreet.mode, {"column": "age", "candidates": ["30"]}, "'30' is not a value of column 'age'"),
    (discreet.mode, {"column": "age", "candidates": [130]}, "beyond the maximum"),
    (discreet.mode, {"column": "age", "candidates": iter([1])}, "only once"),
    (discreet.mode, {"column": "free"}, "does not declare the values of column 'free'"),
    (discreet.mode, {"column": "city", "unsafe_candidates_from_data": True}, "contradict it"),
    (
        discreet.mode,
        {"column": "city", "by": "town"},
        "by: the description of people has no column 'town'",
    ),
    (discreet.mode, {"column": "city", "by": "city", "groups": ["Bsel"]}, "did you mean 'Basel'?"),
    (discreet.mode, {"column": "city", "by": "free"}, "groups are missing"),
    (discreet.mode, {"column": "city", "groups": ["Bern"]}, "by goes with groups"),
    (discreet.mode, {"column": "city", "privacy_unit": "person"}, "declares all rows of one user"),
    (discreet.median, {"column": "age", "max_contributions": 3}, "is declared as 2, got 3"),
    (discreet.mode, {"column": "city", "max_contributions": 2}, "max_contributions is for numbers"),
    (discreet.mode, {"column": "city", "epsilon": None}, "epsilon"),
    (discreet.mode, {"column": "city", "epsilom": 1}, "Did you mean 'epsilon'?"),
    (discreet.top_k, {"column": "city", "k": 4}, "k must be"),
    (discreet.top_k, {"k": 1}, "name a column of people"),
    (discreet.top_k, {"column": "city", "k": 1, "sensitivity": 1}, "leave out sensitivity"),
    (
        partial(discreet.select_by, lambda *_: [1, 2]),
        {"candidates": [1, 2], "sensitivity": 1},
        "say privacy_unit='user'",
    ),
    (
        partial(discreet.private_candidates, lambda *_: (1, 2)),
        {"candidates": [1, 2]},
        "private_candidates relies on what you promise",
    ),
]


@pytest.mark.parametrize(("verb", "arguments", "reason"), REFUSED)
def test_what_contradicts_the_description_is_refused_before_the_data_are_touched(
    verb: Callable[..., Any], arguments: dict[str, Any], reason: str
) -> None:
    with pytest.raises((discreet.DiscreetError, TypeError)) as refused:
        verb(data=untouched(), **{"epsilon": 1, **arguments})
    assert reason in str(refused.value)


def test_the_data_are_touched_by_what_is_not_refused() -> None:
    """So the test above could fail."""
    with pytest.raises(UnreadableData):
        discreet.median(untouched(), "age", epsilon=1)
    with pytest.raises(InvalidArgument, match="declares every row as a record"):
        discreet.median(
            untouched(privacy_unit=None, max_contributions=None),
            "age",
            epsilon=1,
            privacy_unit="user",
        )


def sources(folder: Path) -> dict[str, Any]:
    frame = pl.DataFrame(ROWS)
    frame.write_csv(folder / "rows.csv")
    frame.write_parquet(folder / "rows.parquet")
    frame.write_ndjson(folder / "rows.ndjson")
    return {
        "polars": frame,
        "lazy": frame.lazy(),
        "pandas": pd.DataFrame(ROWS),
        "arrow": pa.table(ROWS),
        "dict": ROWS,
        "csv": folder / "rows.csv",
        "parquet": str(folder / "rows.parquet"),
        "json lines": folder / "rows.ndjson",
        "files": [folder / "rows.csv"],
        "duckdb": duckdb.sql("SELECT * FROM frame"),
        "sql": discreet.scan_query(
            "SELECT * FROM frame", duckdb.connect().register("frame", frame)
        ),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "polars",
        "lazy",
        "pandas",
        "arrow",
        "dict",
        "csv",
        "parquet",
        "json lines",
        "files",
        "duckdb",
        "sql",
    ],
)
@pytest.mark.one_in(3)
def test_the_declaration_is_enough_in_every_engine(kind: str, tmp_path: Path) -> None:
    people = Dataset(sources(tmp_path)[kind], COLUMNS)
    assert discreet.median(people, "age", epsilon=SURE).value == 31
    assert discreet.median(people, "age", score="median_distance", epsilon=SURE).value == 31
    assert discreet.maximum(people, "age", epsilon=SURE).value == 120
    assert discreet.quantiles(people, "age", alphas=[0.1, 0.5], epsilon=SURE).value == [30, 31]
    assert discreet.mode(people, "city", epsilon=SURE).value == "Bern"
    assert str(discreet.mode(people, "rate", epsilon=SURE).value) == "0.1"
    assert discreet.top_k(people, "city", k=2, epsilon=SURE).value == ["Bern", "Basel"]
    assert discreet.best_price(people, "paid", epsilon=SURE).value == Fraction(3, 2)
    assert discreet.median(people, "rate", epsilon=SURE).value == 0.1
    by = discreet.median(people, "age", by="city", epsilon=SURE)
    assert [*by.value] == ["Basel", "Bern", "Zürich"]
    drawn = discreet.mode(people, "age", epsilon=SURE).value
    assert drawn in (30, 31)
    assert type(drawn) is int


def test_a_cell_that_does_not_fit_is_left_out_by_itself(tmp_path: Path) -> None:
    """Text in a column of integers, and values that are not declared, count for nothing."""
    file = tmp_path / "rows.csv"
    rows = ["old,Genf"] * 90 + ["41,Bern"] * 9 + ["40,Bern"] * 2
    file.write_text("age,city\n" + "\n".join(rows), encoding="utf-8")
    people = Dataset(file, {"age": COLUMNS["age"], "city": COLUMNS["city"]})
    assert discreet.median(people, "age", epsilon=SURE).value == 41
    assert discreet.mode(people, "age", epsilon=SURE).value == 41
    assert discreet.mode(people, "city", epsilon=SURE).value == "Bern"
    objects = Dataset({"age": ["old"] * 90 + [41] * 9}, {"age": COLUMNS["age"]})
    assert discreet.median(objects, "age", epsilon=SURE).value == 41


def test_the_unit_and_its_bound_are_taken_from_the_description() -> None:
    people = Dataset(pl.DataFrame(ROWS), COLUMNS, privacy_unit="user", max_contributions=2)
    asked = discreet.median(people, "age", epsilon=1)
    spelled = discreet.median(
        pl.DataFrame(ROWS),
        "age",
        candidates=Grid(0, 120),
        privacy_unit="user",
        max_contributions=2,
        epsilon=1,
    )
    assert (asked.unit, asked.guarantee, asked.query) == (
        spelled.unit,
        spelled.guarantee,
        spelled.query,
    )
    assert asked.unit == "user"
    assert discreet.mode(people, "city", epsilon=1, privacy_unit="user").unit == "user"
    assert discreet.median(people, "age", epsilon=1, max_contributions=2).unit == "user"


def test_a_bound_that_is_not_declared_may_be_given() -> None:
    people = Dataset(pl.DataFrame(ROWS), COLUMNS, privacy_unit="user")
    assert (
        "2 rows of each user"
        in discreet.median(people, "age", epsilon=1, max_contributions=2).query
    )


def test_the_price_and_the_distribution_are_those_of_the_spelled_question() -> None:
    frame = pl.DataFrame(ROWS)
    people = Dataset(frame, COLUMNS)
    spelled: dict[str, Any] = {"candidates": ["Basel", "Bern", "Zürich"], "epsilon": "1/2"}
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=1)
    session = ledger.session("people")
    first = session.mode(people, "city", epsilon="1/2", request="a")
    again = session.mode(
        frame, "city", **spelled, request="a"
    )  # the same question: nothing is paid
    assert first.value == again.value
    assert session.quote(discreet.mode, people, "city", epsilon="1/2") == session.quote(
        discreet.mode, frame, "city", **spelled
    )
    of, to = (discreet.distribution(discreet.mode, d, "city", **spelled) for d in (people, frame))
    assert repr(of.entropy()) == repr(to.entropy())


def test_quotes_do_not_touch_the_data() -> None:
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=1, privacy_unit="user")
    quote = ledger.session("people").quote(discreet.median, untouched(), "age", epsilon=1)
    assert quote.fits


def test_a_function_of_ones_own_gets_the_source_where_its_unit_is_said() -> None:
    frame = pl.DataFrame(ROWS)
    people = Dataset(frame, COLUMNS, privacy_unit="user")
    seen: list[object] = []

    def u(data: object, candidates: object) -> list[int]:
        seen.append(data)
        return [1, 2]

    found = discreet.select_by(u, people, [1, 2], sensitivity=1, epsilon=1, privacy_unit="user")
    assert seen == [frame] or seen[0] is frame
    assert found.unit == "user"
    tried = discreet.private_candidates(
        lambda data, candidate, share: (1, candidate), people, [1], epsilon=1, privacy_unit="user"
    )
    assert tried.unit == "user"


def test_tables_of_candidates_serve_where_no_values_are_declared(tmp_path: Path) -> None:
    file = tmp_path / "public.csv"
    file.write_text("free\nx\ny\n", encoding="utf-8")
    listed = discreet.CandidateTable(file, "free")
    pl.DataFrame(ROWS).write_parquet(tmp_path / "rows.parquet")
    people = Dataset(tmp_path / "rows.parquet", COLUMNS)
    assert discreet.mode(people, "free", candidates=listed, epsilon=SURE).value == "x"
    with pytest.raises(InvalidCandidates, match="Leave out the table"):
        discreet.mode(people, "city", candidates=listed, epsilon=1)


def test_without_a_description_candidates_are_still_asked_for() -> None:
    with pytest.raises(InvalidCandidates, match="candidates are missing: give the smallest"):
        discreet.best_price([1, 2], epsilon=1)
