"""Statements of BigQuery's reference and of peers: answered, or refused with words that help, and never misread."""

from typing import Any

import pytest

pytest.importorskip("sqlglot", reason="the extra sql is not installed")

import discreet
from discreet import Dataset, sql
from discreet.errors import InvalidArgument
from discreet.selection.verb_calls import bill_of
from discreet.tables.conditions.sql_statements import read_statement

from .test_bigquery import COLUMNS, GROUP, HEAD, ROW

OPTIONS = "epsilon=10, delta=1e-8, max_groups_contributed=2, privacy_unit_column=id"
CLAUSE = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({OPTIONS}) "
LEAST = HEAD.replace("= 1", "= 1, min_privacy_units_per_group = 9")
BUCKET = "WIDTH_BUCKET(age, 0, 120, 12)"
CASE = "CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END"

ANSWERED: dict[str, str] = {
    f"{HEAD}COUNT(DISTINCT id) FROM people": "count",
    f"{HEAD}COUNT(DISTINCT item) FROM people": "count",
    f"{HEAD}APPROX_COUNT_DISTINCT(item) FROM people": "count",
    f"{HEAD}SUM(age) FROM people": "sum",
    f"{HEAD}SUM(age, {GROUP} => (0, 120)) FROM `people`": "sum",
    f"{HEAD}AVG(age) FROM people": "mean",
    f"{HEAD}AVG(age, {GROUP} => (0, 120)) FROM people": "mean",
    f"{HEAD}AVG(age, {ROW} => (0, 120)) FROM people": "mean",
    f"{HEAD}VAR_POP(age) FROM people": "variance",
    f"{HEAD}VAR_POP(age, {ROW} => (0, 120)) FROM people": "variance",
    f"{HEAD}VARIANCE(age) FROM people": "variance",
    f"{HEAD}VAR_SAMP(age) FROM people": "variance",
    f"{HEAD}STDDEV_POP(age) FROM people": "standard_deviation",
    f"{HEAD}STDDEV(age) FROM people": "standard_deviation",
    f"{HEAD}STDDEV_SAMP(age) FROM people": "standard_deviation",
    f"{HEAD}PERCENTILE_DISC(age, 0.5) FROM people": "quantile",
    f"{HEAD}QUANTILE(age, 0.9) FROM people": "quantile",
    f"{HEAD}APPROX_TOP_COUNT(item, 2) FROM people": "top_k",
    f"{HEAD}MIN(age) FROM people": "minimum",
    f"{HEAD}MAX(age) FROM people": "maximum",
    f"{HEAD}MEDIAN(age) FROM people": "median",
    f"{HEAD}MODE(item) FROM people": "mode",
    f"{HEAD}item, AVG(age) FROM people GROUP BY item": "mean",
    f"{HEAD}item, COUNT(DISTINCT id) n FROM people GROUP BY item ORDER BY n DESC LIMIT 1": "count",
    f"{CLAUSE}item, AVG(age, {GROUP} => (0,120)) average_age FROM people GROUP BY item": "mean",
    f"{CLAUSE}item, SUM(age) FROM people WHERE age > 18 GROUP BY item": "sum",
    f"{HEAD}item, AVG(age) FROM people GROUP BY 1": "mean",
    f"{HEAD}item, {BUCKET} AS decade, COUNT(DISTINCT id) FROM people GROUP BY item, decade": "count",
    f"{HEAD}{BUCKET}, MEDIAN(age) FROM people GROUP BY {BUCKET}": "median",
    f"{HEAD}RANGE_BUCKET(age, [18, 65]) AS b, COUNT(DISTINCT id) FROM people GROUP BY b": "count",
    f"{HEAD}{CASE} AS g, COUNT(DISTINCT id) FROM people GROUP BY g": "count",
    f"{HEAD}COUNT(DISTINCT id) FROM people GROUP BY item, {CASE}": "count",
    f"{HEAD}IF(age < 18, 'minor', 'adult') AS g, SUM(age) FROM people GROUP BY g": "sum",
    f"{HEAD}COUNT(DISTINCT id) FILTER (WHERE age >= 18) FROM people": "count",
    f"{HEAD}COUNT(DISTINCT CASE WHEN age >= 18 THEN id END) FROM people": "count",
    f"{HEAD}AVG(age) FILTER (WHERE item = 'pen') FROM people": "mean",
    f"{HEAD}SUM(CASE WHEN item = 'pen' THEN age ELSE 0 END) FROM people": "sum",
    f"{HEAD}MEDIAN(CASE WHEN item = 'pen' THEN age END) FROM people": "median",
    f"{HEAD}DATE_TRUNC(day, MONTH) AS m, COUNT(DISTINCT id) FROM people GROUP BY m": "count",
    f"{HEAD}date_trunc('quarter', day) AS q, SUM(age) FROM people GROUP BY 1 ORDER BY 1": "sum",
    f"{LEAST}item, COUNT(DISTINCT id) FROM people GROUP BY item": "count",
    f"{LEAST}item, COUNT(DISTINCT id), AVG(age) FROM people GROUP BY item": "count",
    f"{LEAST.replace('= 1', '= 1, delta = 1e-6')}id, COUNT(DISTINCT id) FROM people GROUP BY id": "count",
}
"""Statements with the verb that each is read as. A count of values is told from one of units by the unit."""

OF_ROWS: dict[str, str] = {
    f"{HEAD}COUNTIF(age > 18) FROM people": "count",
    f"{HEAD}COUNT_IF(age > 18) FROM people": "count",
    f"{HEAD}COUNT(*) FILTER (WHERE age BETWEEN 18 AND 64) FROM people": "count",
    f"{HEAD}COUNT(*) FILTER (WHERE age > 18), COUNT(*) FROM people": "count",
    f"{HEAD}COUNT(CASE WHEN age >= 18 THEN 1 END) AS adults FROM people": "count",
    f"{HEAD}SUM(CASE WHEN age >= 18 THEN 1 ELSE 0 END) FROM people": "count",
    f"{HEAD}SUM(IF(age >= 18, 1, 0)) FROM people": "count",
    f"{HEAD}AVG(CASE WHEN age >= 18 THEN 1 ELSE 0 END) FROM people": "mean",
    f"{HEAD}AVG(CASE WHEN age >= 18 THEN 1.0 ELSE 0.0 END) FROM people": "mean",
    f"{HEAD}AVG(IF(age >= 18, 1, 0)) FROM people": "mean",
    f"{HEAD}item, AVG((age >= 18)::INT) AS adults FROM people GROUP BY item": "mean",
    f"{HEAD}AVG(CAST(age >= 18 AS FLOAT64)) FROM people": "mean",
    f"{HEAD}item, COUNT(*) FROM people GROUP BY item ORDER BY COUNT(*) DESC LIMIT 1": "count",
}
"""Statements that count rows, of a description without a privacy unit."""

REFUSED: dict[str, str] = {
    f"{HEAD}COUNT(*) FROM people": r"write COUNT\(DISTINCT id\)",
    f"{HEAD}COUNT(item) FROM people": r"write COUNT\(DISTINCT id\) \.\.\. WHERE item IS NOT NULL",
    f"{HEAD}COUNT(age, {GROUP} => (0, 2)) FROM people": "WHERE age IS NOT NULL",
    f"{HEAD}COUNTIF(age > 18) FROM people": r"write COUNT\(DISTINCT id\) FILTER \(WHERE age > 18\)",
    f"{HEAD}AVG(IF(age >= 18, 1, 0)) FROM people": r"FILTER .*, and COUNT\(DISTINCT id\)",
    f"{HEAD}AVG(CASE WHEN age >= 18 THEN 100 ELSE 0 END) FROM people": "THEN 1 ELSE 0 END",
    f"{HEAD}COUNT(CASE WHEN age >= 18 THEN 1 ELSE 0 END) FROM people": "COUNTIF",
    f"{HEAD}item, COUNT(DISTINCT id) FROM people GROUP BY item HAVING COUNT(*) > 9": "min_privacy_units_per_group",
    f"{LEAST}item, AVG(age) FROM people GROUP BY item": r"select COUNT\(\*\), or COUNT\(DISTINCT unit\)",
    f"{LEAST}COUNT(DISTINCT id) FROM people": "goes with GROUP BY",
    f"{HEAD}COUNT(DISTINCT id) FROM people GROUP BY DATE_TRUNC(day, WEEK)": "Write ISOWEEK",
    f"{HEAD}COUNT(DISTINCT id) FROM people GROUP BY DATE_TRUNC('hour', day)": "RANGE_BUCKET",
    f"{HEAD}COUNT(DISTINCT id) FROM people GROUP BY DATE_TRUNC(free, MONTH)": "Declare both",
    f"{HEAD}COUNT(DISTINCT id) FROM people GROUP BY EXTRACT(YEAR FROM day)": "DATE_TRUNC",
    f"{HEAD}SUM(DISTINCT age) FROM people": "Leave it out",
    f"{HEAD}SUM(age * 2) FROM people": "in the query of the description",
    f"{HEAD}PERCENTILE_CONT(age, 0.5) FROM people": "Write PERCENTILE_DISC",
    f"{HEAD}PERCENTILE_CONT(age, 0.5, {ROW} => (0, 120)) FROM people": "Write PERCENTILE_DISC",
    f"{HEAD}APPROX_QUANTILES(age, 4) FROM people": "write PERCENTILE_DISC",
    f"{HEAD}APPROX_TOP_SUM(item, age, 3) FROM people": "write SUM",
    f"{HEAD}ANY_VALUE(item) FROM people": "write MODE",
    f"{HEAD}ARRAY_AGG(item) FROM people": "Write TOP_K",
    f"{HEAD}STRING_AGG(item) FROM people": "Write TOP_K",
    f"{HEAD}LOGICAL_OR(age > 18) FROM people": "write COUNTIF",
    f"{HEAD}CORR(age, pay) FROM people": "have the product as a column",
    f"{HEAD}COVAR_POP(age, pay) FROM people": "have the product as a column",
    f"{HEAD}BIT_AND(age) FROM people": "There are COUNT, SUM",
    f"{HEAD}item, AVG(age) FROM people GROUP BY item HAVING AVG(age) > 3": "filter the released rows",
    f"{HEAD}COUNT(DISTINCT id) FROM people GROUP BY FLOOR(age / 10)": "WIDTH_BUCKET",
    f"{HEAD}COUNT(DISTINCT id) FROM people GROUP BY ROLLUP(item, age)": "each by itself",
    f"{HEAD}COUNT(DISTINCT id) FROM people GROUP BY CASE WHEN pay <= 1 THEN 1 ELSE 0 END": "declared as number",
    f"{HEAD}COUNT(DISTINCT id) FROM people GROUP BY CASE WHEN pay <= 1.5 THEN 1 ELSE 0 END": "Compare with <",
    f"{HEAD}COUNT(DISTINCT id) FROM people GROUP BY CASE WHEN age < pay THEN 1 ELSE 0 END": "with a constant",
    f"{HEAD}* FROM people": "Name aggregates",
    f"{HEAD}item FROM people": "add it to GROUP BY",
    f"{HEAD}DISTINCT item FROM people": "GROUP BY are released",
    f"{HEAD}COUNT(DISTINCT id) FROM people JOIN others USING (id)": "join in the query",
    f"{HEAD}COUNT(DISTINCT id) FROM (SELECT * FROM people)": "Describe the query",
    f"{HEAD}COUNT(DISTINCT id) FROM people TABLESAMPLE SYSTEM (10 PERCENT)": "Leave the rest out",
    f"{HEAD}COUNT(DISTINCT id) OVER () FROM people": "Write GROUP BY",
    "SELECT COUNT(*) FROM people": "There is no default ε",
    "SELECT WITH ANONYMIZATION OPTIONS(epsilon=10, kappa=2) ANON_AVG(age) FROM people": r"write AVG\(x\)",
    HEAD.replace("= 1", "= 1, group_selection_strategy = PUBLIC_GROUPS")
    + "COUNT(*) FROM people": "Leave it out",
    HEAD.replace("= 1", "= 1, max_rows_contributed = 2")
    + "COUNT(DISTINCT id) FROM people": "Leave it out",
    HEAD.replace("epsilon = 1", "delta = 1e-8") + "COUNT(DISTINCT id) FROM people": "needs epsilon",
    "SELECT WITH DIFFERENTIAL_PRIVACY COUNT(DISTINCT id) FROM people": "begins with SELECT WITH",
}


DAYS = {"type": "date", "minimum": "2024-01-01", "maximum": "2024-12-31"}


def people(ids: int = 1, unit: str | None = "id") -> Dataset:
    table: dict[str, Any] = {
        "age": [30, 40] * ids, "pay": [1.5, 2.5] * ids, "item": ["pen", "pencil"] * ids,
        "id": [*range(2 * ids)],
    }  # fmt: skip
    columns = {**COLUMNS, "day": DAYS, "free": {"type": "date"}}
    return Dataset(table, columns=columns, name="people", privacy_unit=unit)


@pytest.mark.parametrize("text", ANSWERED | OF_ROWS)
def test_a_statement_is_answered_as_the_verb_that_it_names(text: str) -> None:
    aggregate, *_ = read_statement(text).aggregates
    assert aggregate.verb == (ANSWERED | OF_ROWS)[text]
    assert bill_of(sql, people(unit="id" if text in ANSWERED else None), text).guarantee


@pytest.mark.parametrize("text", REFUSED)
def test_another_one_is_refused_with_words_that_help(text: str) -> None:
    with pytest.raises(InvalidArgument, match=REFUSED[text]):
        bill_of(sql, people(), text)


@pytest.mark.parametrize(
    ("item", "wanted", "error"),
    [
        ("COUNT(DISTINCT id)", 800, 3), ("COUNT(DISTINCT item)", 2, 3), ("SUM(age)", 28_000, 200),
        ("AVG(age)", 35, 1), ("VAR_POP(age)", 25, 10), ("STDDEV(age)", 5, 1.5), ("MEDIAN(age)", 35, 6),
    ],
)  # fmt: skip
def test_answers_are_those_of_the_data(item: str, wanted: float, error: float) -> None:
    text = HEAD.replace("= 1", "= 50") + f"{item} AS x FROM people"
    [row] = discreet.sql(people(400), text).value
    assert abs(float(row["x"]) - wanted) <= error


def test_the_list_is_long_enough() -> None:
    assert len(ANSWERED) + len(OF_ROWS) >= 50
    assert len(ANSWERED) + len(OF_ROWS) + len(REFUSED) >= 92
