"""count_distinct: one number that a unit moves by its number of values at most, in every engine."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.cli.application import run_command
from discreet.errors import InvalidArgument, UnreadableData
from discreet.mechanisms.accuracy import DISTINCT
from discreet.privacy import GeometricDP, PureDP
from discreet.selection.verb_calls import bill_of
from discreet.tables.engines.key_counts import TableOfKeys

from ...engines import ENGINES
from ...noisy import farthest, numbers_behind

KEYS = [*"abc"]
UNITS: list[tuple[str, ...]] = [some for n in range(4) for some in itertools.combinations(KEYS, n)]
"""All units by the values that they hold."""


def distinct(data: Any, **terms: Any) -> discreet.Release:
    return discreet.count_distinct(data, "v", **{"epsilon": 1, **terms})


def frame(units: tuple[tuple[str, ...], ...]) -> pl.DataFrame:
    rows = [(f"u{i}", v) for i, unit in enumerate(units) for v in (*unit, None)]
    return pl.DataFrame(rows, {"u": pl.String, "v": pl.String}, orient="row")


def pairs(neighbors: str) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """All tables of a unit beside another one, with all their neighbours."""
    for other in ((), ("a", "c")):
        if neighbors == "add_remove":
            yield from ((frame((other,)), frame((other, one))) for one in UNITS)
        else:
            both = itertools.islice(itertools.combinations(UNITS, 2), 0, None, 2)
            yield from ((frame((other, one)), frame((other, two))) for one, two in both)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_unit_moves_the_number_by_its_values_at_most(most: int, neighbors: str) -> None:
    """By k and no farther, if a unit is replaced too: what it empties and what it fills have opposite signs."""
    terms: dict[str, Any] = {"privacy_unit": "u", "max_groups": most, "neighbors": neighbors}
    assert farthest(pairs(neighbors), distinct, **terms) == [1]
    [behind] = numbers_behind(distinct, frame((("a", "b", "c"),)), **terms)
    assert behind.numbers == (most,)
    assert behind.sensitivity.spread == most


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_row_moves_the_number_by_one(neighbors: str) -> None:
    tables = [frame((("a",), *(() if one is None else ((one,),)))) for one in (None, *KEYS)]
    both = [(tables[0], one) for one in tables[1:]]
    both = both if neighbors == "add_remove" else [*itertools.combinations(tables[1:], 2)]
    assert farthest(both, distinct, neighbors=neighbors) == [1]


def test_an_unbounded_table_is_seen() -> None:
    """Without the bound a unit of three values moves the number by three."""
    unbounded = TableOfKeys.open

    def mutant(table: TableOfKeys) -> Any:
        from dataclasses import replace

        return unbounded(replace(table, most_keys=3))

    with patch.object(TableOfKeys, "open", mutant):
        shares = farthest(pairs("add_remove"), distinct, privacy_unit="u", max_groups=1)
    assert shares == [3]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("unit", [None, "u"])
@pytest.mark.one_in(5)
@pytest.mark.proof_in("spark")
def test_every_engine_counts_the_same(engine: str, unit: str | None, tmp_path: Path) -> None:
    arrow = pa.table({"u": [*"aabbcd"], "v": ["x", "y", "x", None, "z", "z"], "n": [*range(6)]})
    data = ENGINES[engine](arrow, tmp_path)
    terms: dict[str, Any] = {} if unit is None else {"privacy_unit": unit, "max_groups": 2}
    [behind] = numbers_behind(distinct, data, **terms)
    assert behind.numbers == (3,)
    [behind] = numbers_behind(distinct, data, where="n < 3", **terms)
    assert behind.numbers == (2,)


def test_values_without_a_column_and_empty_tables() -> None:
    [behind] = numbers_behind(discreet.count_distinct, ["a", "b", "a", None], epsilon=1)
    assert behind.numbers == (2,)
    [behind] = numbers_behind(distinct, frame(()), epsilon=1)
    assert behind.numbers == (0,)
    with pytest.raises(UnreadableData):
        distinct(pl.DataFrame({"v": [1.5, 2.5]}))


def test_it_costs_epsilon_alone_and_says_how_far_off_it_is() -> None:
    release = distinct(frame((("a",),)), epsilon="1/2")
    assert release.guarantee == PureDP(Fraction(1, 2), "add_remove")
    assert release.query == "number of distinct values of v"
    assert release.error.unit == DISTINCT  # type: ignore[union-attr]
    assert "within 6, with probability 95 %" in str(release)
    bill = bill_of(distinct, "nowhere.csv", privacy_unit="u", max_groups=4)
    assert bill.guarantee == GeometricDP(Fraction(1), 4, "add_remove")


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"epsilon": 1, "max_groups": 2}, "max_groups bounds in how many keys"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 1, "max_groups": 0}, "max_groups"),
    ],
)
def test_public_arguments_are_checked_first(terms: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        discreet.count_distinct("nowhere.csv", "v", **terms)


def test_sql_counts_the_values_of_a_column_that_is_no_unit() -> None:
    table = pa.table(
        {"who": [f"u{i}" for i in range(900)], "city": ["Bern", "Basel", "Chur"] * 300}
    )
    columns: Any = {"city": {"type": "string"}, "who": {"type": "string"}}
    described = discreet.Dataset(table, columns=columns, privacy_unit="who", max_contributions=1)
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 40)"
    for item in ("COUNT(DISTINCT city)", "APPROX_COUNT_DISTINCT(city)"):
        [row] = discreet.sql(
            described, f"{clause} {item} AS n, COUNT(DISTINCT who) AS m FROM data"
        ).value
        assert row["n"] == 3
        assert abs(row["m"] - 900) < 5
    rows = discreet.Dataset(table, columns=columns)
    [row] = discreet.sql(rows, f"{clause} COUNT(DISTINCT city) AS n FROM data").value
    assert row["n"] == 3
    with pytest.raises(InvalidArgument, match="without GROUP BY"):
        discreet.sql(
            rows,
            f"{clause} COUNT(DISTINCT who) FROM data GROUP BY city".replace(
                "(epsilon", "(delta = 1e-8, epsilon"
            ),
        )
    with pytest.raises(InvalidArgument, match="one column"):
        discreet.sql(rows, f"{clause} COUNT(DISTINCT who, city) FROM data")


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_text("city\n" + "Bern\nBasel\n" * 20, encoding="utf-8")
    assert run_command(["count-distinct", str(path), "city", "--epsilon", "50"]) == 0
    assert capsys.readouterr().out == "2\n"
