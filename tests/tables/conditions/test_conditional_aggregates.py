"""Aggregates of conditions: answered as DuckDB executes the same statement, or refused with what would do."""

import itertools
import random
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("sqlglot", reason="the extra sql is not installed")

import duckdb

import discreet
from discreet import Dataset
from discreet.errors import InvalidArgument
from discreet.selection.verb_calls import bill_of
from discreet.tables.conditions.conditional_aggregates import conjunction
from discreet.tables.conditions.conditions import Missing, both
from discreet.tables.conditions.sql_statements import read_statement
from discreet.tables.verbs.sql import parts_of

HEAD = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) "
LOUD = HEAD.replace("epsilon = 1", "epsilon = 100000")
COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "city": {"type": "string", "enum": ["Bern", "Chur", "Genf"]},
    "pay": {"type": "number", "minimum": 0, "maximum": 10, "step": "0.5"},
    "member": {"type": "boolean"},
    "user": {"type": "integer"},
}


def rows(size: int = 400) -> dict[str, list[Any]]:
    draw = random.Random(5)
    return {
        "age": [draw.choice([None, 5, 17, 18, 40, 64, 90]) for _ in range(size)],
        "city": [draw.choice(["Bern", "Chur", "Genf", None]) for _ in range(size)],
        "pay": [draw.choice([None, 0, 1.5, 2.5, 10]) for _ in range(size)],
        "member": [draw.choice([None, True, False]) for _ in range(size)],
        "user": [draw.randrange(100) for _ in range(size)],
    }


def people(**terms: Any) -> Dataset:
    return Dataset(rows(), columns=COLUMNS, name="people", **terms)


SAME = [
    "COUNTIF(age >= 18)",
    "COUNTIF(NOT (age >= 18))",
    "COUNTIF(age IS NULL OR pay > 2)",
    "COUNT(*) FILTER (WHERE age < 18)",
    "COUNT(age) FILTER (WHERE pay > 2)",
    "COUNTIF(age < 64) FILTER (WHERE pay IS NOT NULL)",
    "COUNT(CASE WHEN age >= 18 THEN 1 END)",
    "COUNT(CASE WHEN age >= 18 THEN 'yes' ELSE NULL END)",
    "COUNT(CASE WHEN age >= 18 THEN pay END)",
    "COUNT(IF(age >= 18, 0, NULL))",
    "SUM(CASE WHEN age >= 18 THEN 1 ELSE 0 END)",
    "SUM(CASE WHEN age >= 18 AND member = TRUE THEN 1 END)",
    "SUM(IF(city IN ('Bern', 'Genf'), 1, 0))",
    "SUM(age >= 18)",
    "SUM(CAST(age BETWEEN 17 AND 40 AS INT))",
    "SUM((age <> 18)::BIGINT)",
    "SUM(CASE WHEN age >= 18 THEN pay ELSE 0 END)",
    "SUM(CASE WHEN age >= 18 THEN pay END)",
    "SUM(pay) FILTER (WHERE city = 'Chur')",
    "AVG(CASE WHEN age >= 18 THEN 1 ELSE 0 END)",
    "AVG(CASE WHEN age >= 18 THEN 1.0 ELSE 0.0 END)",
    "AVG(IF(age IS NULL, 1, 0))",
    "AVG(CAST(age >= 18 AS INT))",
    "AVG(CAST(NOT (age >= 18) AS DOUBLE))",
    "AVG(CAST(age >= 18 OR pay > 2 AS INT)) FILTER (WHERE member = TRUE)",
    "AVG(CASE WHEN age >= 18 THEN pay END)",
    "AVG(pay) FILTER (WHERE age IN (5, 17))",
    "MEDIAN(CASE WHEN pay > 2 THEN age END)",
    "COUNT(DISTINCT CASE WHEN age >= 18 THEN city END)",
]


def of_duckdb(text: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.register("people", pa.table(rows()))
        return connection.execute(text).fetchall()


@pytest.mark.parametrize("where", ["", " WHERE pay > 1 OR member = FALSE"])
@pytest.mark.parametrize("item", SAME)
def test_an_aggregate_is_what_duckdb_executes(item: str, where: str) -> None:
    [(wanted,)] = of_duckdb(f"SELECT {item} FROM people{where}")
    [row] = discreet.sql(people(), f"{LOUD}{item} AS x FROM people{where}").value
    assert float(row["x"]) == pytest.approx(float(wanted), abs=0.01)


@pytest.mark.parametrize("item", [item for item in SAME if "DISTINCT" not in item])
def test_groups_have_those_of_duckdb(item: str) -> None:
    listed = of_duckdb(f"SELECT city, {item} FROM people WHERE city IS NOT NULL GROUP BY 1")
    wanted = {city: number or 0 for city, number in listed}  # the sum of no rows is NULL there
    found = discreet.sql(people(), f"{LOUD}city, {item} AS x FROM people GROUP BY city").value
    for row in found:
        assert float(row["x"]) == pytest.approx(float(wanted[row["city"]]), abs=0.05)
    assert len(found) == 3


def test_units_with_a_true_row_are_counted() -> None:
    data = people(privacy_unit="user", max_contributions=9)
    for item in (
        "COUNT(DISTINCT user) FILTER (WHERE age < 17)",
        "COUNT(DISTINCT CASE WHEN age < 17 THEN user END)",
    ):
        quoted = item.replace("user", '"user"')
        [(wanted,)] = of_duckdb(f"SELECT {quoted} FROM people")
        [row] = discreet.sql(data, f"{LOUD}{quoted} AS x FROM people").value
        assert row["x"] == wanted


REFUSED = {
    "COUNTIF(member)": "COUNTIF takes comparisons",
    "COUNTIF(DISTINCT age > 1)": "COUNTIF takes comparisons",
    "COUNTIF(COUNT(*) > 1)": "aggregates",
    "COUNT(*) FILTER (WHERE age > pay)": "FILTER takes comparisons",
    "COUNT(*) FILTER (WHERE age > 1) OVER ()": "windows",
    "COUNT(CASE WHEN age > 1 THEN 1 ELSE 0 END)": "COUNTIF",
    "COUNT(CASE WHEN age > 1 THEN NULL END)": "COUNTIF",
    "COUNT(DISTINCT CASE WHEN age > 1 THEN city ELSE 'none' END)": "THEN column END",
    "COUNT(DISTINCT CASE WHEN age > 1 THEN 1 END)": "THEN column END",
    "SUM(CASE WHEN age > 1 THEN 0 ELSE 1 END)": "write AVG(CASE WHEN",
    "SUM(CASE WHEN age > 1 THEN 2 ELSE 0 END)": "write AVG(CASE WHEN",
    "SUM(CASE WHEN age > 1 THEN 1 ELSE pay END)": "write AVG(CASE WHEN",
    "SUM(CASE WHEN age > 1 THEN pay ELSE 1 END)": "write AVG(CASE WHEN",
    "SUM(CASE WHEN age > 1 THEN '1' ELSE 0 END)": "write AVG(CASE WHEN",
    "SUM(CASE WHEN age > 1 THEN 1 WHEN pay > 1 THEN 1 ELSE 0 END)": "one condition",
    "SUM(CASE age WHEN 1 THEN 1 ELSE 0 END)": "nothing between CASE and WHEN",
    "SUM(CAST(age > 1 AS VARCHAR))": "of a column",
    "SUM(DISTINCT CASE WHEN age > 1 THEN 1 END)": "DISTINCT goes with COUNT",
    "AVG(CASE WHEN age > 1 THEN 1 END)": "the share",
    "AVG(CASE WHEN age > 1 THEN 100 ELSE 0 END)": "the share",
    "AVG(CASE WHEN age > 1 THEN 0 ELSE 1 END)": "the share",
    "AVG(CASE WHEN age > 1 THEN pay ELSE 0 END)": "the share",
    "MAX(CASE WHEN age > 1 THEN 1 ELSE 0 END)": "COUNTIF",
    "MAX(age > 1)": "of a column",
    "COUNT(age > 1)": "COUNT(*) counts records",
    "MEDIAN(CASE WHEN age > 1 THEN pay ELSE 0 END)": "THEN column END",
    "MEDIAN(CASE WHEN age > 1 THEN age + 1 END)": "THEN column END",
    "100 * AVG(CASE WHEN age > 1 THEN 1 ELSE 0 END)": "is not answered",
    "BOOL_OR(age > 1)": "write COUNTIF(...)",
    "LOGICAL_AND(age > 1)": "write COUNTIF(...)",
}


@pytest.mark.parametrize("item", REFUSED)
def test_another_meaning_is_refused_with_what_would_do(item: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        bill_of(discreet.sql, people(), f"{HEAD}{item} FROM people")
    assert REFUSED[item] in str(error.value)


OF_ROWS = {
    "COUNTIF(age > 17)": "write COUNT(DISTINCT user) FILTER (WHERE age > 17)",
    "SUM(CASE WHEN age > 17 THEN 1 ELSE 0 END)": "write COUNT(DISTINCT user) FILTER (WHERE age > 17)",
    "AVG(CASE WHEN age > 17 THEN 1 ELSE 0 END)": (
        "write COUNT(DISTINCT user) FILTER (WHERE age > 17), and COUNT(DISTINCT user), of which it is a share"
    ),
}


@pytest.mark.parametrize("item", OF_ROWS)
def test_rows_that_are_no_records_are_not_counted(item: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        bill_of(discreet.sql, people(privacy_unit="user"), f"{HEAD}{item} FROM people")
    assert OF_ROWS[item] in str(error.value)


@pytest.mark.parametrize("item", ["COUNTIF(age > 1)", "AVG(CAST(age > 1 AS INT))"])
def test_groups_that_are_drawn_are_those_of_all_rows(item: str) -> None:
    """FILTER keeps groups without a true row, and WHERE does not: the draw would leave them out."""
    loose = HEAD.replace("= 1", "= 1, delta = 1e-6")
    with pytest.raises(InvalidArgument, match="Write the condition in WHERE"):
        bill_of(discreet.sql, people(), f'{loose}"user", {item} FROM people GROUP BY "user"')


def test_bounds_may_be_named_beside_a_condition() -> None:
    for item in (
        "SUM(pay, contribution_bounds_per_group => (0, 10)) FILTER (WHERE age > 17)",
        "SUM(CASE WHEN age > 17 THEN 1 ELSE 0 END, contribution_bounds_per_group => (0, 1))",
        "AVG(CASE WHEN age > 17 THEN 1 ELSE 0 END, contribution_bounds_per_group => (0, 1))",
    ):
        assert bill_of(discreet.sql, people(), f"{HEAD}{item} FROM people").guarantee
    wrong = "AVG(IF(age > 17, 1, 0), contribution_bounds_per_row => (0, 5))"
    with pytest.raises(InvalidArgument, match="has the bounds"):
        bill_of(discreet.sql, people(), f"{HEAD}{wrong} FROM people")


def test_a_share_is_asked_as_its_two_readings() -> None:
    """So that rights, lengths and readings know of every condition."""
    text = f"{HEAD}AVG(CAST(age > 17 AS INT)) FROM people WHERE pay > 1"
    asked = [(one.verb.__name__, str(one.terms["where"])) for one in parts_of(text)]
    known = "pay > 1 AND (age > 17 OR NOT (age > 17))"
    assert asked == [("mean", known), ("mean", f"{known} AND age > 17")]
    [filtered] = parts_of(f"{HEAD}COUNT(*) FILTER (WHERE age > 17) FROM people WHERE pay > 1")
    assert str(filtered.terms["where"]) == "pay > 1 AND age > 17"


def test_all_conditions_together_are_bounded() -> None:
    few = " OR ".join(["age > 1"] * 500)
    items = ", ".join(f"COUNTIF({few}) AS c{i}" for i in range(21))
    with pytest.raises(InvalidArgument, match="at most"):
        read_statement(f"{HEAD}{items} FROM people")


def test_conditions_are_joined_where_there_are_any() -> None:
    some = [Missing("a"), Missing("b")]
    for first, second in itertools.product([None, *some], repeat=2):
        there = [one for one in (first, second) if one is not None]
        assert conjunction(first, second) == (
            both(*there) if len(there) == 2 else [*there, None][0]
        )


CONDITIONS = [
    "age >= 18", "age < 64", "age IS NULL", "pay > 2", "pay BETWEEN 1 AND 3", "city = 'Bern'", "pay <> 0",
    "city IN ('Bern', 'Genf')", "member = TRUE", "NOT (age >= 18)", "NOT (pay > 1 OR age < 18)",
    "age < 64 AND member = FALSE", "pay > 2 OR city IS NULL",
]  # fmt: skip
VALUES = ["1", "0", "1.0", "NULL", "TRUE", "FALSE", "age", "pay", "2", "'x'", "-1"]


def statement(draw: random.Random) -> str:
    """Any aggregate of a condition, most of them of a meaning that is refused."""
    when = draw.choice(CONDITIONS)
    then, otherwise = draw.choice(VALUES), draw.choice([*VALUES, "0", "0", "NULL"])
    second = draw.choice(["", "", "", f" WHEN {draw.choice(CONDITIONS)} THEN {then}"])
    inside = draw.choice(
        [
            f"CASE WHEN {when} THEN {then}{second} ELSE {otherwise} END",
            f"CASE WHEN {when} THEN {then}{second} END", f"IF({when}, {then}, {otherwise})",
            f"CAST({when} AS {draw.choice(['INT', 'DOUBLE', 'VARCHAR'])})", f"({when})::INT", "age", "*",
        ]
    )  # fmt: skip
    function = draw.choice(["COUNT", "SUM", "AVG"])
    item = draw.choice([f"{function}({inside})", f"{function}({inside})", f"COUNTIF({when})"])
    item += draw.choice(["", "", f" FILTER (WHERE {draw.choice(CONDITIONS)})"])
    where = draw.choice(["", f" WHERE {draw.choice(CONDITIONS)}"])
    return f"{item} AS x FROM people{where}"


def answers_as_duckdb(draw: random.Random, size: int) -> int:
    """Assert that each of so many statements is refused or right, and return how many are answered."""
    answered, data = 0, people()
    for text in (statement(draw) for _ in range(size)):
        try:
            [row] = discreet.sql(data, LOUD + text).value
        except InvalidArgument:
            continue
        try:
            [(wanted,)] = of_duckdb(f"SELECT {text}")
        except duckdb.Error:  # it mixes types, which are refused there
            continue
        assert float(row["x"] or 0) == pytest.approx(float(wanted or 0), abs=0.05), text
        answered += 1
    return answered


def test_statements_at_random_are_refused_or_right() -> None:
    assert 0 < answers_as_duckdb(random.Random(1), 6) < 6


@pytest.mark.proof
def test_1000_statements_at_random_are_refused_or_right() -> None:
    assert 200 < answers_as_duckdb(random.Random(2), 1000) < 800
