"""The public parts of requests: more never has fewer, and a part of none takes much longer than a median."""

import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("sqlglot", reason="the extra sql is not installed")

import discreet
from discreet.selection.verb_calls import Call
from discreet.service.http.trial_processes import measure
from discreet.service.queue.request_parts import request_parts
from discreet.tables.datasets import Dataset
from discreet.tables.datasets.configuration import read_configuration

TEXT = """
[datasets.people]
source = "people.csv"
columns.age = { type = "integer", minimum = 0, maximum = 120 }
columns.city = { type = "string", enum = ["Bern", "Basel", "Biel", "Chur"] }
columns.pay = { type = "integer", minimum = 0, maximum = 20000 }
columns.dose = { type = "number", minimum = 0, maximum = 1000, step = "0.001" }
columns.code = { type = "integer", minimum = 0, maximum = 999 }
"""
ROWS = 100_000
MOST_TIMES = 6
"""A part of a request takes at most so many times as long as a plain median, where it takes 5 ms at least."""


@pytest.fixture
def people(tmp_path: Path) -> Dataset:
    """A dataset whose file does not exist: nothing here may read it."""
    (tmp_path / "discreet.toml").write_text(TEXT)
    return read_configuration(tmp_path / "discreet.toml").datasets["people"]


def condition(comparisons: int) -> str:
    """The text of so many comparisons."""
    return " OR ".join(f"age = {i % 121}" for i in range(comparisons))


def statement(selected: str, comparisons: int = 0, by: str | None = None) -> str:
    """A statement, with so many comparisons."""
    options = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1)"
    where = f" WHERE {condition(comparisons)}" if comparisons else ""
    return f"{options} {selected} FROM people{where}" + (f" GROUP BY {by}" if by else "")


def several(aggregate: str, number: int) -> str:
    """So many of one aggregate."""
    return ", ".join(f"{aggregate} AS a{i}" for i in range(number))


def bins(number: int) -> discreet.Bins:
    """So many bins of wages."""
    return discreet.Bins("pay", 0, 20 * number, 20)


def ask(verb: str, *columns: Any, **terms: Any) -> Call:
    """A question without its data."""
    return Call(getattr(discreet, verb), columns, {"epsilon": 1, **terms})


def in_sql(*words: Any, **more: Any) -> Call:
    """A question in SQL without its data."""
    return Call(discreet.sql, (), {"statement": statement(*words, **more)})


DRAWN = {"groups": "private", "delta": 1e-8}
EXAMPLES = [
    (ask("median", "age"), 1),
    (ask("median", "age", where="age > 1"), 2),
    (ask("median", "age", where="age IN (1, 2, 3, 4, 5, 6, 7, 8)"), 3),
    (ask("median", "age", where=condition(100)), 26),
    (Call(partial(discreet.median, score="rank"), ("age",), {}), 1),
    (ask("median", "pay", by="city"), 5),
    (ask("median", "pay", by="age"), 122),
    (ask("median", "pay", by="age", groups=[1, 2, 3]), 4),
    (ask("median", "pay", by="code", **DRAWN), 1001),
    (ask("median", "pay", by="code", **DRAWN, most_drawn=50), 51),
    (ask("sum", "pay", by="city", where=condition(100)), 30),
    (ask("mode", "city"), 1),
    (ask("mode", "city", by="code"), 2),
    (ask("mode", "pay"), 3),
    (ask("mode", "code", candidates="private", delta=1e-8), 1),
    (ask("top_k", "pay", by="city", k=3), 10),
    (ask("count", by="code"), 2),
    (ask("check"), 20),
    (ask("check", "age"), 4),
    (Call(discreet.sql, (statement("MEDIAN(age) AS age"),), {}), 1),
    (in_sql(several("MEDIAN(age)", 64)), 64),
    (in_sql(several("MEDIAN(age)", 8), 100), 208),
    (in_sql(several("COUNT(*)", 2), 0, "city"), 4),
    (in_sql(several("MEDIAN(age)", 2), 4, "city"), 12),
    (ask("counts", ["city", "code"]), 2),
    (ask("counts", ["code", "age"]), 14),
    (ask("counts", bins(10)), 2),
    (ask("counts", ["city", bins(100)]), 7),
    (ask("mode", "city", by=bins(1000)), 43),
    (ask("median", "pay", by=["city", bins(2)]), 11),
    (ask("counts", ["city", "code"], delta=1e-8), 2),
    (in_sql("COUNT(*) AS n", 0, "city, age"), 3),
]


@pytest.mark.parametrize(("call", "parts"), EXAMPLES)
def test_parts_are_readings_of_columns_with_their_comparisons(
    people: Dataset, call: Call, parts: int
) -> None:
    assert request_parts(call, people) == parts


def test_more_never_has_fewer_parts(people: Dataset) -> None:
    """More groups, candidates, comparisons or aggregates, each alone, on 40 random questions."""
    drawn = random.Random(20261129)
    for _ in range(40):
        verb = drawn.choice(("median", "sum", "mode", "top_k", "counts", "mean", "quantiles"))
        sizes = {name: drawn.randrange(1, 300) for name in ("groups", "candidates", "comparisons")}
        larger = drawn.choice(list(sizes))
        more = {**sizes, larger: sizes[larger] + drawn.randrange(1, 20_000)}
        fewer_parts, more_parts = (
            request_parts(_of_sizes(verb, **each), people) for each in (sizes, more)
        )
        assert fewer_parts <= more_parts, (verb, sizes, more)
        number, comparisons = drawn.randrange(1, 50), drawn.randrange(0, 20)
        by = drawn.choice((None, "city"))
        one, other = (
            in_sql(several("MEDIAN(age)", n), comparisons, by) for n in (number, number + 1)
        )
        assert request_parts(one, people) < request_parts(other, people)


def _of_sizes(verb: str, groups: int, candidates: int, comparisons: int) -> Call:
    """A question of so many groups, candidates and comparisons."""
    terms = {"by": "code", "groups": range(groups), "candidates": range(candidates)}
    return ask(verb, "code", **terms, where=condition(min(comparisons, 300)))


TIMED = [
    *(call for call, parts in EXAMPLES if parts < 1_000 and not isinstance(call.verb, partial)),
    ask("median", "dose"), ask("median", "dose", by="city"), ask("best_price", "pay"), ask("mean", "pay", by="age"),
    ask("quantiles", "pay", alphas=tuple(i / 20 for i in range(1, 20))), ask("bounds", "pay", by="age"),
    ask("keys", "code", delta=1e-8), ask("mode", "code", by="age"), ask("mode", "pay", by="age"),
    ask("counts", "code", by="age"), ask("mode", "city", where=condition(960)),
    ask("median", "age", where=condition(960)), in_sql(several("AVG(pay)", 8), 0, "city"),
    in_sql(several("MODE(code)", 8), 0, "age"), in_sql(several("MEDIAN(pay)", 64), 100),
    ask("counts", ["city", bins(1000)]), ask("median", "age", by=bins(100)), ask("keys", [bins(1000)], delta=1e-8),
]  # fmt: skip


@pytest.mark.proof
def test_a_part_of_no_request_takes_much_longer_than_a_median(
    people: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    """By processor time, over verbs, groups, grids, comparisons and SQL: 0.2 to 3.6 times where it was fitted."""
    drawn = random.Random(1)
    lines = (
        f"{drawn.randrange(121)},{drawn.choice(('Bern', 'Basel', 'Biel'))},{drawn.randrange(20_001)},"
        f"{drawn.randrange(1_000_001) / 1000},{drawn.randrange(1000)}"
        for _ in range(ROWS)
    )
    Path(str(people.source)).write_text("\n".join(["age,city,pay,dose,code", *lines, ""]))
    plain = _processor_time(ask("median", "pay"), people)
    for call in TIMED:
        parts = request_parts(call, people)
        seconds = _processor_time(call, people, 3 if parts < 100 else 1)
        times = seconds / parts / plain
        asked = call.verb.__name__, call.arguments, str(call.terms)[:60]
        with capsys.disabled():
            print(f"{seconds:7.3f} s {parts:5} parts {times:6.2f} medians", *asked)
        assert times <= MOST_TIMES or seconds / parts < 0.005


def _processor_time(call: Call, people: Dataset, answers: int = 3) -> float:
    """The least processor time of so many answers."""
    found = [measure(call, people, "epsilon") for _ in range(answers)]
    assert not any(one.failure for one in found), call
    return min(one.processor for one in found)
