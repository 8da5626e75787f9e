"""Statements as the reference of BigQuery has them, pasted: answered, or refused with words to write."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlglot", reason="the extra sql is not installed")

import discreet
from discreet import Dataset, sql
from discreet.errors import InvalidArgument
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.privacy import GeometricDP
from discreet.selection.verb_calls import bill_of
from discreet.service.asking.connect import connect
from discreet.tables.conditions.bigquery import with_double_quotes
from discreet.tables.conditions.sql_statements import read_statement

HEAD = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) "
GROUP, ROW = "contribution_bounds_per_group", "contribution_bounds_per_row"
COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "pay": {"type": "number", "minimum": "-0.5", "maximum": "99.5", "step": "0.5"},
    "item": {"type": "string", "enum": ["pen", "pencil"]},
    "id": {"type": "integer"},
}


def people(**terms: Any) -> Dataset:
    table = {"age": [30, 40], "pay": [1.5, 2.5], "item": ["pen", "pen"], "id": [1, 1]}
    return Dataset(table, columns=COLUMNS, name="people", **terms)


SAME: dict[str, str] = {
    "COUNT(*) FROM `people`": "COUNT(*) FROM people",
    "`item`, COUNT(*) AS `n` FROM people GROUP BY `item`": "item, COUNT(*) AS n FROM people GROUP BY item",
    f"SUM(age, {GROUP} => (0, 120)) FROM people": "SUM(age) FROM people",
    f"SUM(`age`, {GROUP} => (0,120)) FROM people": 'SUM("age") FROM people',
    f"SUM(pay, {GROUP} => (-0.5, 99.5)) FROM people": "SUM(pay) FROM people",
    f"AVG(age, {GROUP} => (0, 120)) a FROM people": "AVG(age) a FROM people",
    f"AVG(age, {ROW.upper()} => (0, 120.0)) a FROM people": "AVG(age) a FROM people",
    f"PERCENTILE_DISC(age, 0.5, {ROW} => (0, 120)) q FROM people": "QUANTILE(age, 0.5) q FROM people",
    f"COUNT(*, {GROUP} => (0, 1)) FROM people": "COUNT(*) FROM people",
    f"item, SUM(age, {GROUP}=>(0,120)) s, AVG(age, {GROUP}=>(0,120)) m FROM people GROUP BY item": (
        "item, SUM(age) s, AVG(age) m FROM people GROUP BY item"
    ),
    "MODE(item) FROM `people` WHERE item = 'pen' -- `not a name": "MODE(item) FROM people WHERE item = 'pen'",
}


@pytest.mark.parametrize("text", SAME)
def test_a_pasted_statement_is_the_same_question(text: str) -> None:
    ours = bill_of(sql, people(), HEAD + SAME[text])
    assert bill_of(sql, people(), HEAD + text).digest == ours.digest


REFUSED: dict[str, str] = {
    f"SUM(age, {GROUP} => (0, 100)) FROM people": r"has the bounds \(0, 120\). Write these, or leave",
    f"SUM(pay, {GROUP} => (0, 99.5)) FROM people": r"has the bounds \(-0.5, 99.5\)",
    f"SUM(age, {GROUP} => (-120, 0)) FROM people": r"has the bounds \(0, 120\)",
    f"COUNT(*, {GROUP} => (0, 5)) FROM people": r"counts each record once. Write \(0, 1\)",
    f"MODE(item, {ROW} => (0, 5)) FROM people": f"has no bounds: leave {ROW} out",
    f"SUM(age, {GROUP} => (NULL, 1)) FROM people": "must be a number",
    f"SUM(age, {GROUP} => 5) FROM people": f"such as SUM.age, {GROUP} => .0, 120",
    f"SUM({GROUP} => (0, 120)) FROM people": "goes behind the column",
    f"{GROUP} => (0, 120) FROM people": "goes behind the column",
    f"SUM(age, {GROUP} => (0, 120), {ROW} => (0, 120)) FROM people": "is the last argument",
    f"SUM(age, {GROUP} => (0, 120, 5)) FROM people": "takes two numbers",
    f"PERCENTILE_CONT(age, 0.5, {ROW} => (0, 120)) FROM people": "rite PERCENTILE_DISC",
    f"APPROX_QUANTILES(age, 2, {ROW} => (0, 120)) FROM people": "rite PERCENTILE_DISC",
    "ANON_COUNT(*) FROM people": r"write COUNT\(\*\)",
    "ANON_SUM(age CLAMPED BETWEEN 0 AND 100) FROM people": r"write SUM\(x\).*without CLAMPED",
    "ANON_AVG(age CLAMPED BETWEEN 0 AND 100) FROM people": r"write AVG\(x\)",
    "ANON_PERCENTILE_CONT(age, 0.5 CLAMPED BETWEEN 0 AND 100) FROM people": "PERCENTILE_DISC",
    "ANON_QUANTILES(age, 4 CLAMPED BETWEEN 0 AND 100) FROM people": "one for each",
    "ANON_VAR_POP(age CLAMPED BETWEEN 0 AND 100) FROM people": "write",
    "ANON_STDDEV_POP(age) FROM people": "write",
    "ANON_NEW(age) FROM people": "write COUNT, SUM, AVG",
    "TOP 5 item, COUNT(*) FROM people GROUP BY item": "write LIMIT 5 at the end",
    "COUNT(*) FROM `people": "a name in backticks ends with one",
    'COUNT(*) FROM `peo"ple`': "has no quote in it",
    "COUNT(*) FROM `project.set.people`": "write FROM people",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_answered_is_refused_with_words_to_write(text: str) -> None:
    with pytest.raises(InvalidArgument, match=REFUSED[text]):
        bill_of(sql, people(), HEAD + text)


def test_signs_in_texts_and_comments_stay() -> None:
    for text in ("'a`b'", '"a`b"', "-- `\n", "/* ` */", "'it''s `x'"):
        assert with_double_quotes(text) == text
    assert with_double_quotes("`a`, 'b`', `c d`") == '"a", \'b`\', "c d"'
    kept = read_statement(f"{HEAD}COUNT(*) FROM p WHERE item = '{GROUP} => (0, 1)'").where
    assert GROUP in str(kept)


def test_bounds_of_a_group_are_those_of_the_total_of_a_unit() -> None:
    terms: dict[str, Any] = {"privacy_unit": "id", "max_contributions": 3}
    text = f"{HEAD}SUM(age, {GROUP} => (-5, 200)) FROM people"
    described = people(**terms)
    by_words = discreet.sum(described, "age", min_sum=-5, max_sum=200, epsilon=1)
    assert (
        bill_of(sql, described, text).guarantee
        == by_words.guarantee
        == GeometricDP(Fraction(1), 200)
    )
    for bounds, largest in (("(0, 120)", 120), ("(0, 500)", 360)):
        statement = text.replace("(-5, 200)", bounds)
        assert bill_of(sql, described, statement).guarantee == GeometricDP(Fraction(1), largest)
    with pytest.raises(InvalidArgument, match="each of up to 3 rows is clipped"):
        bill_of(sql, described, text.replace("SUM", "AVG"))
    assert bill_of(sql, described, f"{HEAD}SUM(age, {ROW} => (0, 120)) FROM people").guarantee


def test_a_connection_finds_the_dataset_in_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("starlette", reason="the extra server is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age\n30\n40\n", encoding="utf-8")
    (tmp_path / "discreet.toml").write_text(
        'ledger = "budget.db"\n[datasets.people]\nsource = "people.csv"\n'
        "budget = { epsilon = 3 }\n"
        'columns.age = { type = "integer", minimum = 0, maximum = 120 }\n',
        encoding="utf-8",
    )
    open_described(configuration(), "people")
    asking = connect(tmp_path / "discreet.toml")
    [row] = asking.sql(f"{HEAD}COUNT(*) AS n FROM `people`").value
    assert set(row) == {"n"}
    with pytest.raises(Exception, match="elsewhere"):
        asking.sql(f"{HEAD}COUNT(*) AS n FROM elsewhere")
