"""Spark: few rows are sent, a job that fails is not quoted and costs nothing, and names are as they are."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import discreet
from discreet.errors import UnreadableData
from discreet.tables.engines import count
from discreet.tables.engines.grid_counts import GridCounts
from discreet.tables.engines.in_spark import InSpark
from discreet.tables.engines.records import Records

from ...columns import numbers_of, recorded
from ...engines import spark
from .test_engines import GRID, MARKER


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each action on a Spark DataFrame brought to the driver."""
    spark()
    from pyspark.sql.classic.dataframe import DataFrame

    rows: list[int] = []

    def counting(name: str) -> Any:
        original = getattr(DataFrame, name)

        def action(self: Any, *args: Any, **kwargs: Any) -> Any:
            found = original(self, *args, **kwargs)
            rows.append(len(found) if hasattr(found, "__len__") else 1)
            return found

        return action

    for name in ("collect", "toArrow", "toPandas", "take", "head", "toLocalIterator", "count"):
        monkeypatch.setattr(DataFrame, name, counting(name))
    return rows


def test_spark_sends_one_row_for_each_candidate(fetched: list[int]) -> None:
    from pyspark.sql import functions

    table = (
        spark()
        .range(100_000)
        .select(
            functions.col("id").cast("string").alias("person"),
            (functions.col("id") % 1000).cast("string").alias("drink"),
            (functions.col("id") % 2).alias("region"),
        )
    )
    drinks = [str(i) for i in range(10)]
    assert count(table, "drink", drinks) == [100] * 10
    assert discreet.mode(table, "drink", candidates=drinks, epsilon=1).value in drinks
    assert max(fetched) <= len(drinks)
    plan = Records("person", by="region", groups=(0, 1))
    assert np.sum(recorded(table, "drink", plan).tally(drinks)) == 1000
    assert max(fetched) <= 2 * len(drinks)
    assert fetched


def test_spark_bounds_groups_of_units_without_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the physical plan, where no table is small enough to be sent whole unless it is asked for."""
    plans, fetch = list[str](), InSpark.fetch

    def planned(self: InSpark, rows: Any, of: Any) -> Any:
        plans.append(rows.to_native()._jdf.queryExecution().executedPlan().toString())
        return fetch(self, rows, of)

    rows = [
        (f"{i * 7919 % 97}", None if i % 13 == 0 else f"{i % 11}", i * 31 % 5) for i in range(2000)
    ]
    session, threshold = spark(), "spark.sql.autoBroadcastJoinThreshold"
    table = session.createDataFrame(rows, "person string, drink string, region int")
    memory: Any = {"person": [], "drink": [], "region": []}
    for row in rows:
        for name, cell in zip(memory, row, strict=True):
            memory[name].append(cell)
    monkeypatch.setattr(InSpark, "fetch", planned)
    before, drinks = session.conf.get(threshold), [f"{i}" for i in range(10)]
    session.conf.set(threshold, "-1")
    try:
        for most_groups, most in ((2, None), (1, 3), (3, 1)):
            terms: Any = {"by": "region", "groups": (3, 0, 9, 1, 2), "most_groups": most_groups}
            plan = Records("person", **terms, most_candidates=most)
            counts = recorded(table, "drink", plan).tally(drinks)
            assert counts == recorded(memory, "drink", plan).tally(drinks)
            assert np.sum(counts) > 100
            [text] = plans
            assert len(re.findall(r"\bExchange ", text)) == 3
            assert not re.findall(r"\b(Sort|SortMergeJoin|SortAggregate|Window) ?[\[(]", text)
            plans.clear()
        with patch("discreet.tables.engines.expressions.MOST_IN_A_UNIT", 1):
            assert recorded(table, "drink", plan).tally(drinks) == counts
        assert all(re.findall(rf"\b{node} ?[\[(]", plans[0]) for node in ("Sort", "Window"))
    finally:
        session.conf.set(threshold, before)


@pytest.mark.proof
def test_spark_sends_no_rows_for_prices_and_quantiles(fetched: list[int]) -> None:
    table = spark().range(50_000).selectExpr("id % 7000 / 1000.0D AS bid")
    prices, bids = discreet.Grid(0, 5, "0.5"), np.arange(50_000) % 7000 / 1000.0
    assert sure(discreet.best_price, table, "bid", candidates=prices) == sure(
        discreet.best_price, bids, candidates=prices
    )
    few = 2 * prices.size + 2
    assert 0 < max(fetched) <= few
    for method in ("recursive", "joint", "independent"):
        terms: Any = {"epsilon": 10**6, "method": method}
        found = discreet.quantiles(table, "bid", alphas=["0.25"], candidates=prices, **terms).value
        assert found == discreet.quantiles(bids, alphas=["0.25"], candidates=prices, **terms).value
    assert max(fetched) <= few
    fine = discreet.Grid(0, 1, "1e-30")  # too fine to be counted in the engine
    assert 0.999 < sure(discreet.best_price, table, "bid", candidates=fine) <= 1
    assert max(fetched) <= 7000  # the distinct numbers


def sure(verb: Any, *arguments: Any, **named: Any) -> Any:
    return verb(*arguments, **named, epsilon=10**6).value


def test_spark_that_fails_midway_is_not_quoted(tmp_path: Path) -> None:
    texts = spark().createDataFrame([("1",), (MARKER,)], "c string")
    broken = texts.selectExpr("c", "cast(c as int) AS n", "raise_error(c) AS p")
    for ask in (
        lambda: count(broken, "n", [1]),
        lambda: recorded(broken, "c", Records("p")).tally(["1"]),
        lambda: discreet.mode(broken, "n", candidates=[1, 2], epsilon=1),
        lambda: discreet.median(broken, "n", candidates=GRID, epsilon=1),
    ):
        with pytest.raises(UnreadableData, match="not shown") as caught:
            ask()
        error = caught.value
        assert MARKER not in f"{error} {error!r} {error.args} {vars(error)}"
        assert error.__context__ is None


def fragile(flag: Path) -> Any:
    """A Spark table whose numbers cannot be computed, in the executors, while the flag is there."""
    from pyspark.sql import functions

    def fails_while_flagged(n: int) -> int:
        if flag.exists():
            raise ValueError(f"{MARKER} {n}")
        return n

    session = spark()
    number = functions.udf(fails_while_flagged, "int", useArrow=False)
    numbered = session.range(400).select((functions.col("id") % 40).cast("int").alias("n"))
    return numbered.select(number("n").alias("n"))


def paying() -> tuple[discreet.Ledger, Any]:
    ledger = discreet.Ledger()
    ledger.open("fragile", epsilon=200)
    return ledger, ledger.session("fragile")


def refused(ask: Callable[[], Any]) -> None:
    with pytest.raises(UnreadableData, match="not shown") as caught:
        ask()
    error = caught.value
    assert MARKER not in f"{error} {error!r} {error.args} {vars(error)}"
    assert error.__context__ is None


@pytest.mark.parametrize("verb", ["mode", "median", "price", "quantiles"])
def test_a_spark_job_that_fails_costs_nothing_and_answers_once(tmp_path: Path, verb: str) -> None:
    flag, (ledger, session) = tmp_path / "flag", paying()
    table, terms = fragile(flag), {"epsilon": 150, "ledger": session, "request": "monday"}
    ask: Callable[[], Any] = {
        "mode": lambda: discreet.mode(table, "n", candidates=[1, 2, 99], **terms),
        "median": lambda: discreet.median(table, "n", candidates=discreet.Grid(0, 40), **terms),
        "price": lambda: discreet.best_price(table, "n", candidates=discreet.Grid(0, 40), **terms),
        "quantiles": lambda: discreet.quantiles(
            table, "n", alphas=["1/2"], candidates=discreet.Grid(0, 40), **terms
        ),
    }[verb]
    flag.touch()
    refused(ask)
    assert [event.kind for event in ledger.history()] == ["opened"]
    flag.unlink()
    answer = ask().value
    assert ledger.budgets()[0].spent.epsilon == 150
    flag.touch()  # what is stored needs no job
    assert ask().value == answer
    assert [event.kind for event in ledger.history()] == ["opened", "charged", "answered"]


@pytest.mark.proof
def test_a_spark_job_that_fails_at_its_second_query_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flag, (ledger, session) = tmp_path / "flag", paying()
    table, passes, histogram = fragile(flag), list[int](), GridCounts.histogram

    def flagged(self: GridCounts, parts: Any) -> Any:
        passes.append(len(parts))
        if len(passes) == 2:
            flag.touch()
        return histogram(self, parts)

    def ask() -> Any:
        grid, terms = discreet.Grid(0, 10**6), {"ledger": session, "request": "monday"}
        return discreet.median(table, "n", candidates=grid, epsilon=150, **terms).value

    monkeypatch.setattr(GridCounts, "histogram", flagged)
    refused(ask)
    assert len(passes) == 2
    assert [event.kind for event in ledger.history()] == ["opened"]
    flag.unlink()
    answer = ask()
    assert ask() == answer
    assert [event.kind for event in ledger.history()] == ["opened", "charged", "answered"]


def test_spark_collations_do_not_make_words_or_persons_equal() -> None:
    table = spark().sql("SELECT c COLLATE UNICODE_CI AS c FROM VALUES ('a'), ('A') AS t(c)")
    assert count(table, "c", ["a"]) == [1]
    assert recorded(table, "c", Records("c")).tally(["a", "A"]) == [[1, 1]]
    [group] = recorded(table.selectExpr("c", "1 AS n"), "n", Records("c", rows=1)).groups
    assert numbers_of(group).tolist() == [1, 1]


def test_spark_columns_of_any_name() -> None:
    table = spark().createDataFrame([("a", 1), ("b", 2)], ["a.b`c", "*"])
    assert count(table, "a.b`c", ["a"]) == [1]
    assert recorded(table, "*", Records(by="a.b`c", groups=("b",))).tally([2]) == [[1]]
