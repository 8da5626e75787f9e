"""sql: the same answers as the verbs on the same bits, one price, all or nothing."""

import random
import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import discreet
from discreet import Bins, Dataset, Ledger
from discreet.errors import DiscreetError, Exhausted, InvalidArgument, MissingColumn, UnreadableData
from discreet.ledger.budget import Amount
from discreet.selection.verb_calls import bill_of
from discreet.service.asking.wire import read_quote, read_release, write_release
from discreet.tables.conditions.sql_statements import read_statement
from discreet.tables.verbs.sql import parts_of

from ...scripted_words import Words, on_words
from ...selection.test_payment import Unread
from ..conditions.test_sql_statements import ITEMS, STATEMENTS

CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) "
COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "minimum": 0, "maximum": 99},
    "city": {"type": "string", "enum": ["Basel", "Bern", "Chur"]},
    "drink": {"type": "string", "enum": ["tea", "milk"]},
    "user": {"type": "integer"},
}


def table(rows: int = 60) -> dict[str, list[Any]]:
    draw = random.Random(5)
    return {
        "age": [draw.choice([None, 17, 18, 40, 64]) for _ in range(rows)],
        "city": [draw.choice(["Basel", "Bern", "Chur", "x", None]) for _ in range(rows)],
        "user": [draw.randrange(rows // 2) for _ in range(rows)],
        "drink": [draw.choice(["tea", "milk", None]) for _ in range(rows)],
    }


def people(**terms: Any) -> Dataset:
    return Dataset(table(), columns=COLUMNS, name="people", **terms)


def per_user() -> Dataset:
    return people(privacy_unit="user", max_contributions=2)


SINGLE: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "COUNT(*)": ("count", (), {}),
    "SUM(age)": ("sum", ("age",), {}),
    "AVG(age)": ("mean", ("age",), {}),
    "VAR_POP(age)": ("variance", ("age",), {}),
    "STDDEV_POP(age)": ("standard_deviation", ("age",), {}),
    "MODE(city)": ("mode", ("city",), {}),
    "MEDIAN(age)": ("median", ("age",), {}),
    "PERCENTILE_DISC(age, 0.9)": ("quantile", ("age",), {"alpha": "0.9"}),
    "MIN(age)": ("minimum", ("age",), {}),
    "MAX(age)": ("maximum", ("age",), {}),
    "TOP_K(city, 2)": ("top_k", ("city",), {"k": 2}),
}

WORDS = [random.Random(9).getrandbits(64) for _ in range(997)]


def answered(call: Callable[[], discreet.Release]) -> discreet.Release:
    release: discreet.Release = on_words(WORDS, call)
    return release


@pytest.mark.parametrize("item", SINGLE)
@pytest.mark.parametrize("where", [None, "age >= 18"])
@pytest.mark.parametrize("by", [None, "city"])
def test_one_aggregate_is_the_verb_on_the_same_bits(
    item: str, where: str | None, by: str | None
) -> None:
    if item in ("MODE(city)", "TOP_K(city, 2)") and by is not None:
        pytest.skip("by the column itself")
    name, columns, terms = SINGLE[item]
    shared: dict[str, Any] = {"epsilon": 1, **({} if where is None else {"where": where})}
    shared |= {} if by is None else {"by": by}
    verb = getattr(discreet, name)
    release = answered(lambda: verb(people(), *columns, **terms, **shared))
    text = f"{CLAUSE}{item} AS x FROM people"
    text += "" if where is None else f" WHERE {where}"
    text += "" if by is None else f" GROUP BY {by}"
    rows = answered(lambda: discreet.sql(people(), text))
    expected = [release.value] if by is None else list(release.value.values())
    assert [row["x"] for row in rows.value] == expected
    assert rows.guarantee == release.guarantee
    assert rows.unit == release.unit


BUCKETS = "WIDTH_BUCKET(age, 18, 66, 2)"
CASES = "CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'none' END"
CELLS: dict[str, tuple[Any, list[Any]]] = {
    "city, drink": (["city", "drink"], [(c, d) for c in ("Basel", "Bern", "Chur") for d in ("tea", "milk")]),
    f"city, {BUCKETS}": (
        ["city", Bins("age", 18, 66, 24, below=True, above=True)],
        [(city, number) for city in ("Basel", "Bern", "Chur") for number in range(4)],
    ),
    BUCKETS: (Bins("age", 18, 66, 24, below=True, above=True), [0, 1, 2, 3]),
    f"{CASES}, drink": (
        [
            Bins(
                "age",
                edges=[18, 65],
                below=True,
                above=True,
                missing=True,
                labels=["minor", "adult", "none", "none"],
            ),
            "drink",
        ],
        [(age, drink) for age in ("minor", "adult", "none") for drink in ("tea", "milk")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("item", "by"),
    [*((item, BUCKETS) for item in SINGLE), *(("COUNT(*)", by) for by in CELLS if by != BUCKETS)],
)
def test_groups_of_several_columns_are_those_of_the_verb_on_the_same_bits(
    item: str, by: str
) -> None:
    name, columns, terms = SINGLE[item]
    cells, groups = CELLS[by]
    verb = getattr(discreet, name)
    release = answered(lambda: verb(people(), *columns, **terms, epsilon=1, by=cells))
    text = f"{CLAUSE}{item} AS x, {by} FROM people GROUP BY {by}"
    rows = answered(lambda: discreet.sql(people(), text))
    assert [row.pop("x") for row in rows.value] == list(release.value.values())
    assert [tuple(row.values()) for row in rows.value] == [
        one if isinstance(one, tuple) else (one,) for one in groups
    ]
    assert rows.guarantee == release.guarantee
    assert rows.guarantee.pure == 1


def test_counts_of_cells_are_those_of_the_rows() -> None:
    loud = CLAUSE.replace("epsilon = 1", "epsilon = 10000")
    items = f"{CASES} AS g, drink, COUNT(*) AS n, COUNT(age) AS a"
    text = f"{loud}{items} FROM people GROUP BY drink, g ORDER BY g, drink"
    rows = discreet.sql(people(), text).value
    cells = [
        ("none" if age is None or age >= 65 else "minor" if age < 18 else "adult", drink, age)
        for age, drink in zip(table()["age"], table()["drink"], strict=True)
    ]
    assert rows == [
        {
            "g": group,
            "drink": drink,
            "n": sum(cell[:2] == (group, drink) for cell in cells),
            "a": sum(cell[:2] == (group, drink) and cell[2] is not None for cell in cells),
        }
        for group in ("adult", "minor", "none")
        for drink in ("milk", "tea")
    ]


@pytest.mark.parametrize("function", ["COALESCE", "IFNULL"])
def test_coalesce_is_the_group_of_null(function: str) -> None:
    loud = CLAUSE.replace("epsilon = 1", "epsilon = 10000")
    rows = table()
    alone = f"{function}(city, 'none') AS c, COUNT(*) AS n FROM people GROUP BY c ORDER BY c"
    listed = "city IS NULL OR city IN ('Basel', 'Bern', 'Chur')"
    both = (
        f"{function}(city, 'none') AS c, {function}(drink, 'water') AS d, COUNT(*) AS n FROM people"
    )
    two = f"{both} GROUP BY 1, 2 ORDER BY c, d"
    frame = pa.table(rows)  # noqa: F841  # DuckDB finds it by its name
    for text in (alone, two):
        of_frame = text.replace("FROM people", f"FROM frame WHERE {listed}")
        truth = duckdb.execute(f"SELECT {of_frame}").fetchall()
        answer = discreet.sql(people(), f"{loud}{text}").value
        assert [
            tuple(row.values()) for row in answer if row["n"]
        ] == truth  # declared ones may be empty
    one = discreet.sql(
        people(), f"{CLAUSE}{function}(city, 'none') AS c, COUNT(*) FROM people GROUP BY c"
    )
    assert one.guarantee.pure == 1


def test_cells_that_nobody_lists_are_released_with_a_delta() -> None:
    declared = {**COLUMNS, "city": {"type": "string"}}
    rows = {name: column * 40 for name, column in table().items()}
    data = Dataset(rows, columns=declared, name="people")
    loose = CLAUSE.replace("epsilon = 1", "epsilon = 20, delta = 1e-6")
    text = f"{loose}{BUCKETS} AS b, city, COUNT(*) FROM people GROUP BY city, b"
    release = discreet.sql(data, text)
    found = {(row["city"], row["b"]) for row in release.value}
    assert {city for city, _ in found} == {"Basel", "Bern", "Chur", "x"}
    assert {bucket for _, bucket in found} == {0, 1, 2}
    assert release.guarantee.slack == Fraction(1, 10**6)


def test_cells_of_units_are_bounded() -> None:
    text = f"{CLAUSE}city, drink, COUNT(DISTINCT user) AS n FROM people GROUP BY city, drink"
    terms: Any = {"epsilon": 1, "by": ["city", "drink"], "max_groups": 2}
    count = answered(lambda: discreet.count(per_user(), **terms))
    two = text.replace("epsilon = 1", "epsilon = 1, max_groups_contributed = 2")
    release = answered(lambda: discreet.sql(per_user(), two))
    assert [row["n"] for row in release.value] == list(count.value.values())
    assert release.guarantee == count.guarantee
    assert release.guarantee.pure == 1
    assert release.unit == "user"


def test_count_of_a_column_is_of_the_records_with_a_value() -> None:
    count = answered(lambda: discreet.count(people(), "age", epsilon=1))
    assert answered(
        lambda: discreet.sql(people(), f"{CLAUSE}COUNT(age) AS n FROM people")
    ).value == [{"n": count.value}]
    with pytest.raises(InvalidArgument, match=r"COUNT\(DISTINCT user\) ... WHERE age IS NOT NULL"):
        discreet.sql(per_user(), f"{CLAUSE}COUNT(age) FROM people")


def test_several_aggregates_share_epsilon_and_draw_one_after_the_other() -> None:
    text = (
        f"{CLAUSE}city, COUNT(*) AS n, MEDIAN(age) AS m FROM people WHERE age >= 18 GROUP BY city"
    )
    half: dict[str, Any] = {"epsilon": "1/2", "by": "city", "where": "age >= 18"}
    data = people()

    def one_by_one() -> tuple[Any, Any]:
        return discreet.count(data, **half), discreet.median(data, "age", **half)

    count, median = on_words(WORDS, one_by_one)
    release = answered(lambda: discreet.sql(data, text))
    assert release.value == [
        {"city": city, "n": count.value[city], "m": median.value[city]}
        for city in COLUMNS["city"]["enum"]
    ]
    assert release.guarantee == discreet.compose([count.guarantee, median.guarantee])
    assert release.guarantee.pure == 1


def test_privacy_units_are_counted_and_bounded() -> None:
    text = f"{CLAUSE}COUNT(DISTINCT user) AS n FROM people"
    count = answered(lambda: discreet.count(per_user(), epsilon=1))
    release = answered(lambda: discreet.sql(per_user(), text))
    assert release.value == [{"n": count.value}]
    assert release.unit == "user"
    with_option = text.replace("(epsilon = 1)", "(epsilon = 1, privacy_unit_column = user)")
    assert answered(lambda: discreet.sql(per_user(), with_option)).value == release.value


def test_a_least_count_leaves_listed_groups_out_by_their_noisy_counts() -> None:
    text = (
        f"{CLAUSE}city, MEDIAN(age) AS m, COUNT(*) AS n, COUNT(age) AS a FROM people GROUP BY city"
    )
    every = answered(lambda: discreet.sql(people(), text))
    least = sorted(row["n"] for row in every.value)[1]
    some = text.replace("epsilon = 1", f"epsilon = 1, min_privacy_units_per_group = {least}")
    shown = answered(lambda: discreet.sql(people(), some))
    assert shown.value == [row for row in every.value if row["n"] >= least]
    assert len(shown.value) == 2
    assert shown.guarantee == every.guarantee
    assert f"without counts below {least}" in shown.query
    digests = {bill_of(discreet.sql, people(), one).digest for one in (text, some)}
    assert len(digests) == 2


def test_a_least_count_of_groups_that_are_drawn_is_that_of_the_draw() -> None:
    """As BigQuery means it: no group of fewer units is there, whatever its noisy count is."""
    declared = {**COLUMNS, "city": {"type": "string"}}
    rows = {"city": ["Basel"] * 400 + ["Bern"] * 349, "age": [1] * 749}
    data = Dataset(rows, columns=declared, name="people")
    options = "epsilon = 40, delta = 1e-6, min_privacy_units_per_group = 350"
    text = f"{CLAUSE.replace('epsilon = 1', options)}city, COUNT(*) AS n FROM people GROUP BY city"
    assert [row["city"] for row in discreet.sql(data, text).value] == ["Basel"]
    asked = discreet.count(
        data, by="city", groups="private", epsilon=40, delta="1e-6", minimum_count=350
    )
    assert bill_of(discreet.sql, data, text).guarantee == asked.guarantee
    [part] = parts_of(text)
    assert part.terms["minimum_count"] == 350
    with pytest.raises(InvalidArgument, match="compares a count"):
        discreet.sql(data, text.replace("COUNT(*)", "MEDIAN(age)"))


@pytest.mark.parametrize("data", [table(), None, "people.csv", [1]])
def test_data_without_a_description_are_refused(data: Any) -> None:
    with pytest.raises(InvalidArgument, match="with a description"):
        discreet.sql(data, f"{CLAUSE}COUNT(*) FROM people")


def test_rows_are_sorted_and_cut_after_the_draw() -> None:
    text = f"{CLAUSE}city, COUNT(*) AS n FROM people GROUP BY city"
    rows = answered(lambda: discreet.sql(people(), text)).value
    falling = answered(lambda: discreet.sql(people(), f"{text} ORDER BY n DESC, city")).value
    assert falling == sorted(rows, key=lambda row: (-row["n"], row["city"]))
    assert (
        answered(lambda: discreet.sql(people(), f"{text} ORDER BY 2 DESC, 1 LIMIT 1")).value
        == falling[:1]
    )
    assert answered(lambda: discreet.sql(people(), f"{text} LIMIT 2")).value == rows[:2]


def test_a_request_is_paid_once_and_answered_again_the_same(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=3)
    session = ledger.session("people")
    text = f"{CLAUSE}city, COUNT(*) AS n, TOP_K(city, 2) AS t FROM people GROUP BY city ORDER BY n"
    first = session.sql(people(), text, request="a")
    again = session.sql(people(), text, request="a")
    assert first.value == again.value
    assert (first.charged, again.charged) == (True, False)
    assert ledger.budgets()[0].spent.epsilon == 1
    with pytest.raises(DiscreetError, match="another question"):
        session.sql(
            people(), text.replace("18", "19").replace("n FROM", "n FROM") + " LIMIT 1", request="a"
        )


def test_all_is_paid_or_nothing_is_read(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon="1/2")
    with pytest.raises(Exhausted):
        ledger.session("people").sql(people(), f"{CLAUSE}COUNT(*), MEDIAN(age) FROM people")
    assert ledger.budgets()[0].spent.epsilon == 0


def test_what_cannot_be_read_fails_before_anything_is_drawn_or_paid(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=3)
    broken = {**table(), "age": ["no number"] * 60}
    data = Dataset(broken, columns=COLUMNS, name="people")
    del broken["city"]
    words = Words([1])
    with pytest.raises((UnreadableData, MissingColumn)):
        ledger.session("people").sql(data, f"{CLAUSE}COUNT(*), MODE(city) FROM people")
    assert words._read == 0
    assert ledger.budgets()[0].spent.epsilon == 0


def test_the_quote_is_the_bill(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=3)
    session = ledger.session("people")
    text = f"{CLAUSE}city, COUNT(*), MEDIAN(age) FROM people GROUP BY city"
    quote = session.quoted([bill_of(discreet.sql, people(), text)])
    assert quote.cost.epsilon == Fraction(1)
    session.sql(people(), text)
    assert ledger.budgets()[0].spent.epsilon == quote.cost.epsilon


def test_a_quote_shows_the_parts_of_the_price_and_how_far_off_they_are() -> None:
    text = f"{CLAUSE}city, COUNT(*) AS n, MEDIAN(age) FROM people WHERE age >= 18 GROUP BY city"
    bill = bill_of(discreet.sql, people(), text)
    half: dict[str, Any] = {"epsilon": "1/2", "by": "city", "where": "age >= 18"}
    parts = [
        bill_of(discreet.count, people(), **half),
        bill_of(discreet.median, people(), "age", **half),
    ]
    assert [one.name for one in bill.parts] == ["n", "MEDIAN(age)"]
    assert [one.guarantee for one in bill.parts] == [one.guarantee for one in parts]
    assert [one.worst_error for one in bill.parts] == [one.worst_error for one in parts]
    assert all(one.worst_error is not None for one in bill.parts)
    assert bill.worst_error is None
    alone = bill_of(discreet.sql, people(), f"{CLAUSE}COUNT(*) FROM people")
    assert alone.parts == ()
    assert alone.worst_error == bill_of(discreet.count, people(), epsilon=1).worst_error


def test_a_quote_of_a_statement_says_its_parts(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=3)
    bill = bill_of(discreet.sql, people(), f"{CLAUSE}COUNT(*) AS n, MEDIAN(age) AS m FROM people")
    quote = ledger.session("people").quoted([bill])
    first, *lines = str(quote).splitlines()
    assert "would leave" in first
    assert [line.split(": ")[0] for line in lines] == ["  n", "  m"]
    assert all("worst error" in line for line in lines)
    assert read_quote(quote.as_dict()) == quote
    assert ledger.session("people").quoted([bill, bill]).parts == ()


def test_counts_are_beside_the_values_where_the_function_has_them() -> None:
    text = f"{CLAUSE}APPROX_TOP_COUNT(city, 2) AS t, TOP_K(city, 2) AS k FROM people"
    [row] = answered(lambda: discreet.sql(people(), text)).value
    assert [set(one) for one in row["t"]] == [{"value", "count"}] * 2
    assert {type(one["count"]) for one in row["t"]} == {int}
    assert set(row["k"]) <= set(COLUMNS["city"]["enum"])


def test_replace_one_is_passed_on() -> None:
    text = f"{CLAUSE}COUNT(*) FROM people"
    assert (
        discreet.sql(people(), text, neighbors="replace_one").guarantee.neighbors == "replace_one"
    )


def test_groups_that_nobody_lists_are_released_with_a_delta() -> None:
    declared = {**COLUMNS, "city": {"type": "string"}}
    data = Dataset(
        {name: column * 20 for name, column in table().items()}, columns=declared, name="people"
    )
    text = (
        CLAUSE.replace("epsilon = 1", "epsilon = 4, delta = 1e-6")
        + "city, MEDIAN(age) AS m FROM people GROUP BY city"
    )
    release = discreet.sql(data, text)
    assert {row["city"] for row in release.value} == {"Basel", "Bern", "Chur", "x"}
    assert release.guarantee.slack == Fraction(1, 10**6)
    with pytest.raises(InvalidArgument, match="one aggregate"):
        discreet.sql(data, text.replace("MEDIAN(age) AS m", "MEDIAN(age), COUNT(*)"))


CITIES = [f"city {i}" for i in range(40)]
LOOSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 3, delta = 2e-6, max_groups_contributed = 20) "


def many_cities() -> Dataset:
    rows = {
        "age": [30 + i % 9 for i in range(400)],
        "city": [CITIES[i % 40] for i in range(400)],
        "user": [i // 20 for i in range(400)],
    }
    declared = {**COLUMNS, "city": {"type": "string", "enum": CITIES}}
    return Dataset(rows, columns=declared, name="people", privacy_unit="user", max_contributions=1)


def test_aggregates_of_listed_groups_share_a_delta_that_they_can_use() -> None:
    text = f"{LOOSE}city, COUNT(DISTINCT user) AS n, SUM(age) AS s, MEDIAN(age) AS m FROM people GROUP BY city"
    data = many_cities()
    release = answered(lambda: discreet.sql(data, text))
    part: dict[str, Any] = {"by": "city", "groups": CITIES, "max_groups": 20, "epsilon": 1}
    draws = [
        partial(discreet.count, data, delta="1e-6", **part),
        partial(discreet.sum, data, "age", delta="1e-6", **part),
        partial(discreet.median, data, "age", **part),
    ]
    expected = answered(lambda: [draw() for draw in draws])  # type: ignore[arg-type, return-value]
    for name, answer in zip("nsm", expected, strict=True):  # type: ignore[call-overload]
        assert [row[name] for row in release.value] == list(answer.value.values())
    assert release.mechanism == "gaussian, exponential"
    assert release.guarantee.delta_at(3) <= Fraction(2, 10**6)
    for columns in ("city, MEDIAN(age)", "city, MODE(city)"):
        with pytest.raises(InvalidArgument, match="leave it out"):
            discreet.sql(data, f"{LOOSE}{columns} FROM people GROUP BY city")


def test_each_column_says_which_noise_it_has(tmp_path: Path) -> None:
    """In the quote, in the answer, in words and as JSON; of a single column like the verb."""
    options = LOOSE.replace(", max_groups_contributed = 20", "")
    text = f"{options}COUNT(DISTINCT user) AS n, MEDIAN(age) AS m FROM people"
    data = many_cities()
    ledger = Ledger(tmp_path / "budget.db")
    terms: dict[str, Any] = {"epsilon": 9, "delta": "1e-5", "delta_for": "questions"}
    ledger.open("people", privacy_unit="user", **terms)
    session = ledger.session("people")
    quote = session.quote(discreet.sql, data, text)
    counted, selected = quote.parts
    assert counted.noise is not None
    assert (counted.noise.name, selected.noise, quote.noise) == ("geometric", None, None)
    assert f"{counted}".endswith(str(counted.noise))
    assert read_quote(quote.as_dict()).as_dict() == quote.as_dict()
    release = session.sql(data, text)
    assert release.noise == {"n": counted.noise, "m": None}
    assert f"n: {counted.noise}" in str(release)
    assert release.as_dict()["noise"] == {"n": counted.noise.as_dict(), "m": None}
    assert write_release(read_release(write_release(release))) == write_release(release)
    alone = f"{options}COUNT(DISTINCT user) AS n FROM people"
    noise = session.quote(discreet.sql, data, alone).noise
    assert session.sql(data, alone).noise == noise
    assert noise is not None
    assert noise.name == "geometric"


def test_a_statement_is_charged_with_the_delta_that_it_uses() -> None:
    text = f"{LOOSE}city, COUNT(DISTINCT user), MEDIAN(age) FROM people GROUP BY city"
    terms: dict[str, dict[str, Any]] = {
        "sums": {"epsilon": 9, "delta": "1e-5", "delta_for": "questions"},
        "pure": {"epsilon": 9},
        "rho": {"rho": 9},
    }
    ledgers = {name: Ledger() for name in terms}
    for name, ledger in ledgers.items():
        ledger.open("people", privacy_unit="user", **terms[name])
    found = {
        name: ledger.session("people").sql(many_cities(), text) for name, ledger in ledgers.items()
    }
    mechanisms = {name: release.mechanism for name, release in found.items()}
    wide, narrow = "gaussian, exponential", "geometric, exponential"
    assert mechanisms == {"sums": wide, "pure": narrow, "rho": wide}
    spent = {name: ledger.budgets()[0].spent for name, ledger in ledgers.items()}
    assert spent["pure"] == Amount(Fraction(3))
    assert spent["sums"] == Amount(Fraction(3), delta=Fraction(2, 10**6))
    few = text.replace("max_groups_contributed = 20", "max_groups_contributed = 1")
    ledgers["sums"].session("people").sql(many_cities(), few)
    both = ledgers["sums"].budgets()[0].spent
    assert both == Amount(Fraction(6), delta=Fraction(2, 10**6))


def test_lists_by_counts_of_groups_share_a_delta_too() -> None:
    data = many_cities()
    declared: Any = {**data.columns, "age": {"type": "integer", "enum": list(range(30, 39))}}
    data = Dataset(
        data.source, columns=declared, name="people", privacy_unit="user", max_contributions=1
    )
    text = f"{LOOSE}city, COUNT(DISTINCT user) AS n, APPROX_TOP_COUNT(age, 2) AS a FROM people GROUP BY city"
    release: Any = discreet.sql(data, text)
    assert release.mechanism == "gaussian"
    assert {kind: one.name for kind, one in release.noise.items()} == {
        "n": "gaussian",
        "a": "gaussian",
    }
    assert release.guarantee.delta_at(3) <= Fraction(2, 10**6)


def test_without_groups_a_list_by_counts_may_use_a_delta() -> None:
    loose = CLAUSE.replace("epsilon = 1", "epsilon = 1, delta = 1e-6")
    text = f"{loose}APPROX_TOP_COUNT(city, 3) AS c FROM people"
    release = discreet.sql(many_cities(), text)
    assert release.mechanism == "gaussian"
    assert len(release.value[0]["c"]) == 3


NAMES = ("age", "Age", "income", "my income")
BILLED: dict[str, Any] = {
    **{name: {"type": "number", "minimum": 0, "maximum": 99, "step": 1} for name in NAMES},
    "city": {"type": "string", "enum": ["Basel", "Bern", "Chur", "Genf"]},
    **{name: {"type": "integer"} for name in ("user_id", "a", "b")},
}


def undivided(name: str, unit: Any) -> Dataset:
    terms: Any = {} if unit is None else {"privacy_unit": unit, "max_contributions": 1}
    return Dataset({name: [] for name in BILLED}, columns=BILLED, name=name, **terms)


def expected_verbs(text: str) -> list[str]:
    """The verbs of a statement by the names of its functions, in their order, read by a pattern."""
    names = {"COUNT": "count", "SUM": "sum", "AVG": "mean", "VAR_POP": "variance",
             "STDDEV_POP": "standard_deviation", "MODE": "mode", "MEDIAN": "median", "MIN": "minimum",
             "MAX": "maximum", "TOP_K": "top_k", "APPROX_TOP_COUNT": "top_k", "QUANTILE": "quantile",
             "QUANTILE_DISC": "quantile", "PERCENTILE_DISC": "quantile"}  # fmt: skip
    selected = re.split(r"\bFROM\b", re.sub(r"/\*.*?\*/|--[^\n]*", " ", text))[0]
    functions = [name.upper() for name in re.findall(r"(\w+)\s*\(", selected)]
    return [names[name] for name in functions if name != "GROUP"]


@pytest.mark.parametrize("text", [f"{item} FROM p" for item in ITEMS] + [*STATEMENTS])
def test_a_statement_is_billed_the_epsilon_that_it_names(text: str) -> None:
    counted = re.search(r"COUNT\(DISTINCT ([\w, ]+)\)", text)
    unit = None if counted is None else counted[1].split(", ")
    name = read_statement(CLAUSE + text).dataset
    bill = bill_of(discreet.sql, undivided(name, unit), CLAUSE + text)
    assert bill.guarantee.pure == 1
    assert [verb.__name__ for verb, _, _ in parts_of(CLAUSE + text)] == expected_verbs(text)


NASTY = [
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM people--; DROP TABLE people",
    CLAUSE + "COUNT(*) FROM people/*",
    CLAUSE + "/* /* */ COUNT(*) FROM people */",
    CLAUSE + "COUNT(*) FROM people; DROP TABLE people",
    CLAUSE + "COUNT(*) FROM people WHERE 1 = 1",
    CLAUSE + "COUNT(*) FROM people WHERE age = age",
    CLAUSE + "COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM people)",
    CLAUSE + "COUNT(*) FROM people WHERE city LIKE '%'",
    CLAUSE + "COUNT(*) FROM people WHERE city ~ 'a'",
    CLAUSE + "COUNT(*) FROM people WHERE age IN (SELECT age FROM people)",
    CLAUSE + "COUNT(*) FROM people WHERE age > ALL (SELECT 1)",
    CLAUSE + "COUNT(*) FROM people WHERE age > 'NaN'",
    CLAUSE + "COUNT(*) FROM people WHERE age > 1e400000",
    CLAUSE + "COUNT(*) FROM people WHERE age > " + "9" * 5000,
    CLAUSE + "COUNT(*) FROM people WHERE " + " AND ".join(["age > 1"] * 3000),
    CLAUSE + "COUNT(*) FROM people WHERE " + "NOT " * 3000 + "age > 1",
    CLAUSE + "COUNT(*) FROM people WHERE " + "(" * 400 + "age > 1" + ")" * 400,
    CLAUSE + "СOUNT(*) FROM people",  # a Cyrillic letter
    CLAUSE + "COUNT(*) FROM реople",
    CLAUSE + "COUNT(*) FROM people\u202e",
    CLAUSE + "COUNT(*) FROM people\x00",
    CLAUSE + "COUNT(＊) FROM people",
    CLAUSE + 'COUNT(*) AS "a""; b" FROM people, secret',
    CLAUSE + "COUNT(*) FROM read_csv('/etc/passwd')",
    CLAUSE + "COUNT(*) FROM '/etc/passwd'",
    CLAUSE + "COUNT(*) FROM people.people",
    CLAUSE + "COUNT(*) FROM people AS OF TIMESTAMP '2020-01-01'",
    CLAUSE + "COUNT(*) FROM people FOR SYSTEM_TIME AS OF '2020-01-01'",
    CLAUSE + "COUNT(*) FROM LATERAL (SELECT 1) people",
    CLAUSE + "COUNT(*) FROM people CROSS JOIN UNNEST([1, 2])",
    CLAUSE + "COUNT(*) FROM people USING SAMPLE 10%",
    CLAUSE + "(SELECT MAX(age) FROM people) FROM people",
    CLAUSE + "CASE WHEN MAX(age) > 1 THEN 1 ELSE 1 / 0 END FROM people",
    CLAUSE + "MAX(age) - MIN(age) FROM people",
    CLAUSE + "MAX(MAX(age)) FROM people",
    CLAUSE + "MODE(city ORDER BY age) FROM people",
    CLAUSE + "LISTAGG(city) FROM people",
    CLAUSE + "GETVARIABLE('x') FROM people",
    CLAUSE + "pg_read_file('/etc/passwd') FROM people",
    CLAUSE + "@@version FROM people",
    CLAUSE + "? FROM people",
    CLAUSE + ":epsilon FROM people",
    CLAUSE + "COUNT(*) FROM people GROUP BY 1",
    CLAUSE + "COUNT(*) FROM people GROUP BY city WITH ROLLUP",
    CLAUSE + "COUNT(*) FROM people GROUP BY GROUPING SETS ((city), ())",
    CLAUSE + "COUNT(*) FROM people LIMIT 1 WITH TIES",
    CLAUSE + "COUNT(*) FROM people FETCH FIRST 1 ROWS ONLY WITH TIES",
    CLAUSE + "COUNT(*) FROM people INTERSECT SELECT 1",
    CLAUSE + "COUNT(*) FROM people SETTINGS allow_all = 1",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) OPTIONS (epsilon = 2) COUNT(*) FROM people",
    'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, "epsilon" = 100) COUNT(*) FROM people',
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1e999999999) COUNT(*) FROM people",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = (SELECT 1)) COUNT(*) FROM people",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1 + 1) COUNT(*) FROM people",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1), COUNT(*) FROM people",
    "SELECT 1; " + CLAUSE + "COUNT(*) FROM people",
    "/*" + CLAUSE + "*/ SELECT * FROM people",
    "SELECT 'WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1)', age FROM people",
]
"""Statements that are refused, or answered as what stands in them; the first is COUNT(*) with a comment."""


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_nasty_statements_are_refused_before_anything_is_read(text: str) -> None:
    assert len(NASTY) >= 50
    data = Dataset(Unread(), columns=COLUMNS, name="people")
    if text == NASTY[0]:
        assert bill_of(discreet.sql, data, text).guarantee.pure == 1
        return
    with pytest.raises(DiscreetError) as refusal:
        discreet.sql(data, text)
    is_of_data = isinstance(refusal.value, UnreadableData)
    assert not is_of_data or isinstance(refusal.value, MissingColumn)
    assert len(str(refusal.value)) < 500
