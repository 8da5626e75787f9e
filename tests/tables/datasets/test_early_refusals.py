"""What cannot work is refused when discreet.toml is read, with its line; and common mistakes are told their fix."""

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import Grid
from discreet.errors import InvalidCandidates, InvalidDescription
from discreet.tables.datasets.configuration import read_configuration
from discreet.tables.engines.sql_queries import is_one_select

HEAD = """\
{ledger}
[datasets.people]
{source}
budget = {{ epsilon = "3" }}
columns.age = {{ type = "integer", minimum = 0, maximum = 120 }}
columns.city = {{ type = "string", enum = ["Bern"] }}

[datasets.people.questions.one]
"""


def read(
    folder: Path,
    question: str = "",
    *,
    ledger: str = "",
    source: str = 'source = "x.csv"',
    more: str = "",
) -> Any:
    file = folder / "discreet.toml"
    question = question or 'verb = "mode"\ncolumn = "city"\nepsilon = 1'
    file.write_text(HEAD.format(ledger=ledger, source=source) + question + "\n" + more)
    return read_configuration(file)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ('verb = "median"\ncolumn = "age"\nepsilon = -1', "line 11: datasets.people.questions.one.epsilon: eps"),
        ('verb = "median"\ncolumn = "age"\nrho = 0', "line 11: datasets.people.questions.one.rho: rho must"),
        ('verb = "median"\ncolumn = "age"\nepsilon = "much"', "line 11: datasets.people.questions.one.epsilon"),
        ('verb = "median"\ncolumn = "city"\nepsilon = 1', "line 8: datasets.people.questions.one: median is of"),
        (
            'verb = "mode"\ncolumn = "city"\nepsilon = 1\ncandidates = ["Bern", "Brn"]',
            "'Brn' is not among the declared values of column 'city' (did you mean 'Bern'?)",
        ),
        (
            'verb = "median"\ncolumn = "age"\nepsilon = 1\nby = "city"\ngroups = ["Basel"]',
            "'Basel' is not among the declared values of column 'city'",
        ),
        ('verb = "median"\ncolumn = "age"\nepsilon = 1\ncandidates = [1, 300]', "300 is beyond the maximum"),
    ],
)  # fmt: skip
def test_a_question_that_cannot_work_is_refused_with_its_line(
    question: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidDescription) as refused:
        read(tmp_path, question)
    assert reason in str(refused.value)
    assert ", line " in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://h/d?user=u&password=secret",
        "postgresql://h/d?sslpassword=secret",
        "postgresql://u:secret@h/d",
    ],
)
def test_no_password_is_in_the_url_of_a_ledger(url: str, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidDescription, match=r"line 1: ledger: .*leave the password out"
    ) as refused:
        read(tmp_path, ledger=f'ledger = "{url}"')
    assert "secret" not in str(refused.value)


def test_what_no_budget_can_pay_is_said(tmp_path: Path) -> None:
    dear = 'verb = "median"\ncolumn = "age"\nepsilon = 5'
    with pytest.warns(
        UserWarning, match="questions.one.epsilon is 5, above the budget of people, 3"
    ):
        read(tmp_path, dear)
    more = '[analysts.a]\ndatasets = ["people"]\nshare = { epsilon = "7/2" }\n'
    with pytest.warns(
        UserWarning, match="analysts.a.share.epsilon is 3.5, above the budget of people"
    ):
        read(tmp_path, more=more)
    read(tmp_path, more=more.replace("7/2", "3"))


CHANGES = [
    "SELECT 1; DROP TABLE t",
    "DELETE FROM t",
    "SELECT 1; SELECT 2",
    "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
    "CREATE TABLE u AS SELECT 1",
    "SELECT * INTO u FROM t",
    "/* SELECT */ UPDATE t SET a = 1",
    "COPY t TO 'x.csv'",
    "EXPLAIN SELECT 1",
    "SELECT 1 AS age -- '\n; COMMIT; CREATE TABLE u (i int); SELECT 1 AS age -- '",
    r"SELECT E'\'' AS age; COMMIT; CREATE TABLE u (i int); --'",
    "/* /* */ ' */ SELECT 1; COMMIT; DROP TABLE t -- '",
    "SELECT 1 AS a$b$; DROP TABLE t; SELECT 1 AS a$b$",
    "",
]
SELECTS = [
    "SELECT * FROM t;",
    "select a, 'x; DROP TABLE t' from t -- ; DELETE",
    "WITH q AS (SELECT 1 AS a) SELECT * FROM q",
    '(SELECT "delete" FROM t)',
    "SELECT a AS load FROM t",
    "SELECT * FROM ONLY people NOT INDEXED",
    "FROM t",
    "SELECT a FROM t -- don't; DROP it",
    "SELECT '--' AS a, E'\\\\' AS b, $x$; DROP TABLE t$x$ AS c FROM t",
]


@pytest.mark.parametrize("query", CHANGES)
def test_a_query_is_one_select(query: str, tmp_path: Path) -> None:
    assert not is_one_select(query)
    if query:
        source = f'connection = "duckdb:///x.duckdb"\nquery = {json.dumps(query)}'
        with pytest.raises(
            InvalidDescription, match=r"line 4: datasets\.people\.query: it must be one SELECT"
        ):
            read(tmp_path, source=source)


@pytest.mark.parametrize("query", SELECTS)
def test_other_selects_are_accepted(query: str) -> None:
    assert is_one_select(query)


# --- common mistakes

DATES = pd.DataFrame({"x": pd.to_datetime(["2024-01-01"]), "g": ["a"]})


def closed() -> Any:
    connection = duckdb.connect()
    relation = connection.sql("SELECT 1 AS x")
    connection.close()
    return relation


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "times": (lambda: DATES, "give candidates=DateGrid"),
    "dates": (lambda: pa.table({"x": [dt.date(2024, 1, 1)]}), "give candidates=DateGrid"),
    "truths": (lambda: pl.DataFrame({"x": [True]}), "for the share of True ask mean without bounds"),
    "text": (lambda: pl.DataFrame({"x": ["1"]}), "cast it"),
    "groups of pandas": (lambda: DATES.groupby("g"), "the column of groups as by="),
    "groups of a column": (lambda: DATES.groupby("g")["x"], "the column of groups as by="),
    "groups of Polars": (lambda: pl.DataFrame({"x": [1]}).group_by("x"), "the column of groups as by="),
    "a closed connection": (closed, "Is its connection still open"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_common_mistake_is_told_its_fix(mistake: str) -> None:
    make, fix = MISTAKES[mistake]
    with pytest.raises(discreet.DiscreetError) as refused:
        discreet.median(make(), "x", candidates=Grid(0, 9), epsilon=1)
    assert fix in str(refused.value)


def test_files_of_other_forms_are_told_their_fix(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("31,Bern\n32,Basel\n")
    with pytest.raises(
        discreet.DiscreetError, match=r"discreet\.scan_csv\(path, names=\[\.\.\.\]\)"
    ):
        discreet.median(tmp_path / "t.csv", "age", candidates=Grid(0, 9), epsilon=1)
    (tmp_path / "t.xls").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1"))
    with pytest.raises(discreet.DiscreetError, match=r"xlsx"):
        discreet.median(tmp_path / "t.xls", "age", candidates=Grid(0, 9), epsilon=1)


def test_weights_and_two_candidates_are_told_their_fix() -> None:
    with pytest.raises(TypeError, match="every record counts once"):
        discreet.median([1, 2], candidates=Grid(0, 9), epsilon=1, weights=[1, 2])  # type: ignore[call-overload]
    with pytest.raises(InvalidCandidates, match=r"candidates=Grid\(0, 120\)"):
        discreet.median([1, 2], candidates=(0, 120), epsilon=1)
    with pytest.warns(UserWarning, match=r"candidates are two numbers, 0, 120.*Grid\(0, 120\)"):
        discreet.median([1, 2], candidates=[0, 120], epsilon=1)
