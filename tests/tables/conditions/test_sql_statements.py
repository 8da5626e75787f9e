"""Statements of SQL: 60 that are read, each with its questions, and 60 that are refused, each with its words."""

import random
import re
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import InvalidArgument
from discreet.tables.conditions.conditions import CellComparison
from discreet.tables.conditions.sql_statements import SortKey, read_statement

CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) "
HALF = {"alpha": Fraction(1, 2)}

ITEMS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "COUNT(*)": ("count", None, {}),
    "count(*)": ("count", None, {}),
    "COUNT(age)": ("count", "age", {}),
    "COUNT(DISTINCT user_id)": ("count", None, {}),
    "COUNT(DISTINCT a, b)": ("count", None, {}),
    "SUM(income)": ("sum", "income", {}),
    'SUM("my income")': ("sum", "my income", {}),
    "AVG(income)": ("mean", "income", {}),
    "MODE(city)": ("mode", "city", {}),
    "MODE() WITHIN GROUP (ORDER BY city)": ("mode", "city", {}),
    "MEDIAN(age)": ("median", "age", {}),
    "median(Age)": ("median", "Age", {}),
    "PERCENTILE_DISC(age, 0.5)": ("quantile", "age", HALF),
    "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY age)": ("quantile", "age", HALF),
    "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY age ASC)": ("quantile", "age", HALF),
    "QUANTILE(age, 0.5)": ("quantile", "age", HALF),
    "QUANTILE_DISC(age, 0.5)": ("quantile", "age", HALF),
    "QUANTILE(age, 0)": ("quantile", "age", {"alpha": Fraction(0)}),
    "QUANTILE(age, 1)": ("quantile", "age", {"alpha": Fraction(1)}),
    "QUANTILE(age, 1e-3)": ("quantile", "age", {"alpha": Fraction(1, 1000)}),
    "MIN(age)": ("minimum", "age", {}),
    "MAX(age)": ("maximum", "age", {}),
    "TOP_K(city, 3)": ("top_k", "city", {"k": 3}),
    "APPROX_TOP_COUNT(city, 3)": ("top_k", "city", {"k": 3, "method": "counts"}),
    "approx_top_count(city, 1)": ("top_k", "city", {"k": 1, "method": "counts"}),
    "top_k(city, 2)": ("top_k", "city", {"k": 2}),
    'mode("city")': ("mode", "city", {}),
    'sum("my income")': ("sum", "my income", {}),
    "PERCENTILE_DISC(age, .9)": ("quantile", "age", {"alpha": Fraction(9, 10)}),
    "quantile(age, 0.25)": ("quantile", "age", {"alpha": Fraction(1, 4)}),
    "Min(age)": ("minimum", "age", {}),
    "/* how many */ COUNT(*)": ("count", None, {}),
    "AVG(/* of what */ income)": ("mean", "income", {}),
}

STATEMENTS: dict[str, dict[str, Any]] = {
    "COUNT(*) FROM people": {"dataset": "people", "columns": ("COUNT(*)",)},
    'COUNT(*) FROM "my people"': {"dataset": "my people"},
    "COUNT(*) AS n FROM p": {"columns": ("n",)},
    "COUNT(*) n FROM p": {"columns": ("n",)},
    'COUNT(*) AS "how many" FROM p': {"columns": ("how many",)},
    "city, COUNT(*) FROM p GROUP BY city": {
        "by": "city",
        "group_names": {"city": 0},
        "columns": ("city", "COUNT(*)"),
    },
    "COUNT(*) FROM p GROUP BY city": {"by": "city", "group_names": {}},
    "city AS c, COUNT(*) FROM p GROUP BY city": {"by": "city", "group_names": {"c": 0}},
    "COUNT(*), city FROM p GROUP BY city": {"columns": ("COUNT(*)", "city")},
    "COUNT(*) FROM p WHERE age >= 18": {"where": CellComparison("age", ">=", Fraction(18))},
    "COUNT(*) FROM p WHERE age >= 18 GROUP BY city LIMIT 3": {"by": "city", "limit": 3},
    "city, COUNT(*) AS n FROM p GROUP BY city ORDER BY n": {"order": (SortKey("n", False, True),)},
    "city, COUNT(*) AS n FROM p GROUP BY city ORDER BY n DESC": {
        "order": (SortKey("n", True, False),)
    },
    "city, COUNT(*) FROM p GROUP BY city ORDER BY COUNT(*) DESC": {
        "order": (SortKey("COUNT(*)", True, False),)
    },
    "city, COUNT(*) FROM p GROUP BY city ORDER BY 2 DESC, city": {
        "order": (SortKey("COUNT(*)", True, False), SortKey("city", False, True))
    },
    "COUNT(*), MEDIAN(age) FROM p": {"columns": ("COUNT(*)", "MEDIAN(age)")},
    "MEDIAN(age) AS a, MEDIAN(age) AS b FROM p": {"columns": ("a", "b")},
    "MODE(city) -- the most common\n FROM p": {"columns": ("MODE(city)",)},
    "COUNT(*) FROM p;": {"dataset": "p"},
    "\n COUNT ( * )\tFROM\n p": {"columns": ("COUNT(*)",)},
}

OPTIONS: dict[str, dict[str, Any]] = {
    "epsilon = 1": {"epsilon": Fraction(1)},
    "epsilon=0.1": {"epsilon": Fraction(1, 10)},
    "EPSILON = 1e-2": {"epsilon": Fraction(1, 100)},
    "epsilon = 1, delta = 1e-6": {"delta": Fraction(1, 10**6)},
    "epsilon = 1, privacy_unit_column = user_id": {"privacy_unit": ("user_id",)},
    "epsilon = 1, privacy_unit_column = (a, b)": {"privacy_unit": ("a", "b")},
    "epsilon = 1, max_groups_contributed = 2": {"max_groups": 2},
    "epsilon = 1, delta = 1e-6, min_privacy_units_per_group = 10": {"minimum_count": 10},
}

REFUSED: dict[str, str] = {
    "COUNT(1) FROM p": "COUNT(*) counts records",
    "COUNT() FROM p": "COUNT(*) counts records",
    "COUNT(DISTINCT x + 1) FROM p": "named by itself",
    "COUNTIF(x) FROM p": "COUNTIF takes comparisons",
    "SUM(x + 1) FROM p": "no expression",
    "SUM(DISTINCT x) FROM p": "DISTINCT goes with COUNT",
    "SUM(x) FILTER (WHERE y = z) FROM p": "FILTER takes comparisons",
    "SUM(x) OVER () FROM p": "windows",
    "AVG(x, y) FROM p": "cannot be read",
    "MIN(x, 2) FROM p": "the column alone",
    "MEDIAN(t.x) FROM p": "without its table",
    "MEDIAN(1) FROM p": "no expression",
    "MEDIAN(*) FROM p": "no expression",
    "MEDIAN(CAST(x AS INT)) FROM p": "no expression",
    "PERCENTILE_CONT(x, 0.5) FROM p": "interpolates",
    "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) FROM p": "interpolates",
    "QUANTILE_CONT(x, 0.5) FROM p": "interpolates",
    "PERCENTILE_DISC(x, 2) FROM p": "from 0 to 1",
    "PERCENTILE_DISC(x, y) FROM p": "must be a number",
    "PERCENTILE_DISC(x) FROM p": "a fraction",
    "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x DESC) FROM p": "ascending",
    "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x, y) FROM p": "one column",
    "APPROX_QUANTILES(x, 4) FROM p": "PERCENTILE_DISC",
    "TOP_K(x, 0) FROM p": "at least 1",
    "TOP_K(x, 1.5) FROM p": "at least 1",
    "TOP_K(x) FROM p": "TOP_K",
    "ANY_VALUE(x) FROM p": "releases a record",
    "ARRAY_AGG(x) FROM p": "releases records",
    "STRING_AGG(x, ',') FROM p": "releases records",
    "MY_FUNCTION(x) FROM p": "is not answered",
    "COUNT(*) + 1 FROM p": "is not answered",
    "1 FROM p": "is not answered",
    "* FROM p": "releases records",
    "x FROM p": "neither an aggregate",
    "x FROM p GROUP BY x": "needs an aggregate",
    "y, COUNT(*) FROM p GROUP BY x": "neither an aggregate",
    "COUNT(*), COUNT(*) FROM p": "give one an alias",
    "COUNT(*)": "needs FROM",
    "COUNT(*) FROM (SELECT 1)": "no subquery",
    "COUNT(*) FROM p q": "no alias",
    "COUNT(*) FROM d.p": "nothing before it",
    "COUNT(*) FROM p, q": "one dataset",
    "COUNT(*) FROM p JOIN q ON p.a = q.a": "one dataset",
    "COUNT(*) FROM p TABLESAMPLE (10 PERCENT)": "alone",
    "COUNT(*) FROM f(1)": "the name of a dataset",
    "COUNT(*) FROM p GROUP BY x, x": "twice",
    "COUNT(*) FROM p GROUP BY ROLLUP (x)": "each by itself",
    "COUNT(*) FROM p GROUP BY ALL": "Name each of them",
    "COUNT(*) FROM p GROUP BY x HAVING COUNT(*) > 1": "HAVING",
    "COUNT(*) FROM p QUALIFY x > 1": "windows",
    "COUNT(*) FROM p ORDER BY x": "not a column of the answer",
    "TOP_K(x, 2) AS t FROM p ORDER BY t": "no order",
    "COUNT(*) FROM p LIMIT 0": "at least 1",
    "COUNT(*) FROM p LIMIT x": "must be a number",
    "COUNT(*) FROM p LIMIT 3 OFFSET 1": "OFFSET",
    "COUNT(*) FROM p UNION SELECT 1": "one SELECT",
    "COUNT(*) FROM p; SELECT 1": "one statement",
    "DISTINCT COUNT(*) FROM p": "SELECT DISTINCT",
    "COUNT(*) FROM p WHERE COUNT(*) > 1": "aggregates",
    "COUNT(*) FROM p WHERE x IN (SELECT 1)": "subquery",
    "COUNT(*) FROM p WHERE x": "a column alone",
    "COUNT(*) FROM p FOR UPDATE": "only reads",
    "COUNT(*) INTO t FROM p": "only reads",
}

REFUSED_OPTIONS: dict[str, str] = {
    "": "needs epsilon",
    "delta = 1": "needs epsilon",
    "epsilon = 1, epsilon = 2": "twice",
    "epsilon = 0": "greater than zero",
    "epsilon = -1": "must be a number",
    "epsilon = 'a'": "must be a number",
    "epsilon = x": "must be a number",
    "epsilon > 1": "NAME = VALUE",
    "epsilon": "NAME = VALUE",
    "epsilon = 1, kappa = 2": "max_groups_contributed",
    "epsilon = 1, foo = 2": "not supported",
    "epsilon = 1, max_groups_contributed = 0": "at least 1",
    "epsilon = 1, max_groups_contributed = 1.5": "at least 1",
    "epsilon = 1 FROM x": "NAME = VALUE",
    "epsilon = 1, group_selection_strategy = LAPLACE_THRESHOLD": "Leave it out",
}


def test_there_are_as_many_as_the_page_of_sql_needs() -> None:
    assert len(ITEMS) + len(STATEMENTS) + len(OPTIONS) >= 60
    assert len(REFUSED) >= 60


@pytest.mark.parametrize("item", ITEMS)
def test_aggregates_are_verbs(item: str) -> None:
    [aggregate] = read_statement(f"{CLAUSE}{item} FROM p").aggregates
    assert (aggregate.verb, aggregate.column, dict(aggregate.terms)) == ITEMS[item]


def test_distinct_names_the_privacy_unit() -> None:
    units = [
        one.units
        for one in read_statement(f"{CLAUSE}COUNT(DISTINCT a, b), COUNT(*) FROM p").aggregates
    ]
    assert units == [("a", "b"), None]


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements_are_read(text: str) -> None:
    statement = read_statement(CLAUSE + text)
    for name, value in STATEMENTS[text].items():
        assert getattr(statement, name) == value


@pytest.mark.parametrize("text", OPTIONS)
def test_options_are_read(text: str) -> None:
    options = read_statement(
        f"select with differential_privacy options({text}) COUNT(*) FROM p GROUP BY x"
    ).options
    for name, value in OPTIONS[text].items():
        assert getattr(options, name) == value


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_answered_is_refused_with_what_would_do(text: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        read_statement(CLAUSE + text)
    assert REFUSED[text] in str(error.value)


@pytest.mark.parametrize("text", REFUSED_OPTIONS)
def test_options_are_honoured_or_refused(text: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        read_statement(
            f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({text}) COUNT(*) FROM p GROUP BY x"
        )
    assert REFUSED_OPTIONS[text] in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM p",
        "SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM p",
        "",
        "SELECT",
        "DROP TABLE p",
        "WITH q AS (SELECT 1) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM q",
        "SELECT WITH ANONYMIZATION OPTIONS (epsilon = 1) COUNT(*) FROM p",
        "EXPLAIN " + CLAUSE + "COUNT(*) FROM p",
    ],
)
def test_without_the_clause_there_is_no_answer_and_no_default(text: str) -> None:
    with pytest.raises(InvalidArgument, match=r"[Tt]here is no default"):
        read_statement(text)


@pytest.mark.parametrize(
    "text", [CLAUSE.rstrip(") "), "x" * 30_000, CLAUSE + "(" * 3000, None, 5, b"SELECT"]
)
def test_what_is_no_statement_is_refused(text: Any) -> None:
    with pytest.raises(InvalidArgument):
        read_statement(text)


def mutated(draw: random.Random) -> str:
    texts = [CLAUSE + text for text in STATEMENTS] + [f"{CLAUSE}{item} FROM p" for item in ITEMS]
    words = [
        "COUNT",
        "DISTINCT",
        "(",
        ")",
        "*",
        ",",
        "FROM",
        "p",
        "GROUP BY",
        "city",
        "WHERE",
        "age",
        ">=",
        "18",
        "AS",
        "ORDER BY",
        "LIMIT",
        "SUM",
        "MEDIAN",
        "OVER",
        "'",
        '"',
        ";",
        "--",
        "NULL",
        "NOT",
        "0.5",
        "SELECT",
    ]
    parts = draw.choice(texts).split(" ")
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(8, len(parts) + 1)
        parts[place : place + draw.randint(0, 1)] = [draw.choice(words)] * draw.randint(0, 2)
    return " ".join(parts)


VERBS = {
    "COUNT": "count", "SUM": "sum", "AVG": "mean", "MODE": "mode", "MEDIAN": "median", "MIN": "minimum",
    "MAX": "maximum", "TOP_K": "top_k", "APPROX_TOP_COUNT": "top_k", "QUANTILE": "quantile",
    "QUANTILE_DISC": "quantile", "PERCENTILE_DISC": "quantile",
}  # fmt: skip


def parts_in(text: str) -> tuple[list[tuple[str, str, bool]], bool, bool]:
    """The functions of a statement with what stands in their brackets, and whether it has WHERE and GROUP BY.

    Read by patterns, and not by a parser: names, texts and comments are taken out first.
    """
    rest = text.removeprefix(CLAUSE)
    quoted: list[str] = []

    def mark(match: re.Match[str]) -> str:
        if match[0].startswith(("--", "/*")):
            return " "
        quoted.append(match[0][1:-1])
        return f"Q{len(quoted) - 1}Q"

    rest = re.sub(r"--[^\n]*|/\*.*?\*/|'[^']*'|\"[^\"]*\"", mark, rest, flags=re.S)
    selected = re.split(r"\bFROM\b", rest, flags=re.I)[0]
    found = re.findall(r"(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", selected)
    calls = [(name.upper(), inside) for name, inside in found if name.upper() != "GROUP"]
    named = [
        (
            name,
            re.sub(r"Q(\d+)Q", lambda one: quoted[int(one[1])], inside),
            "DISTINCT" in inside.upper(),
        )
        for name, inside in calls
    ]
    words = re.findall(r"\w+", rest.upper())
    return named, "WHERE" in words, "GROUP" in words[words.index("FROM") :]


def is_what_it_says(text: str) -> bool:
    """Assert that a statement is refused, or has the functions that stand in it and no others, in their order."""
    try:
        statement = read_statement(text)
    except InvalidArgument:
        return False
    calls, has_where, has_group = parts_in(text)
    assert [one.verb for one in statement.aggregates] == [VERBS[name] for name, _, _ in calls], text
    for aggregate, (_, inside, is_distinct) in zip(statement.aggregates, calls, strict=True):
        assert aggregate.column is None or aggregate.column in inside or "ORDER BY" in text.upper()
        assert (aggregate.units is not None) == is_distinct, text
    assert has_where == (statement.where is not None), text
    assert has_group == (statement.by is not None), text
    assert statement.options.epsilon == 1
    return True


def test_mutated_statements_are_refused_or_right() -> None:
    draw = random.Random(3)
    answered = sum(is_what_it_says(mutated(draw)) for _ in range(500))
    assert 20 < answered < 400


@pytest.mark.proof
def test_5000_mutated_statements_are_refused_or_right() -> None:
    draw = random.Random(4)
    answered = sum(is_what_it_says(mutated(draw)) for _ in range(5000))
    assert 200 < answered < 4000


def test_the_condition_counts_for_every_aggregate() -> None:
    """A hundred aggregates where a thousand comparisons hold took seconds to be priced."""
    counts = ", ".join(f"COUNT(*) AS c{number}" for number in range(100))

    def statement(comparisons: int) -> str:
        where = " OR ".join(["age > 1"] * comparisons)
        return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) {counts} FROM people WHERE {where}"

    assert len(read_statement(statement(100)).aggregates) == 100
    with pytest.raises(InvalidArgument, match="at most 10,000 comparisons"):
        read_statement(statement(101))
