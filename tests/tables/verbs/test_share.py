"""share_of_rows: the mean of truths on the same bits, and numbers that neighbours move as those."""

import itertools
from fractions import Fraction
from typing import Any

import pytest

pytest.importorskip("sqlglot", reason="the extra sql is not installed")

import discreet
from discreet import Dataset
from discreet.privacy.sensitivity import Neighbors
from discreet.selection.verb_calls import bill_of, delivery_of
from discreet.tables.conditions.condition_readers import read_condition
from discreet.tables.verbs.sum import share_of_rows

from ...noisy import Numbers, loss, numbers_behind
from ...scripted_words import on_words
from .test_sql import WORDS

AGES = [None, 5, 17, 18, 40] * 60
TABLE: dict[str, list[Any]] = {
    "age": AGES, "adult": [age is not None and age >= 18 for age in AGES], "city": [*"xy"] * 150,
}  # fmt: skip
COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "adult": {"type": "boolean"},
    "city": {"type": "string", "enum": ["x", "y"]},
}
ITEM = "AVG(CASE WHEN age >= 18 THEN 1 ELSE 0 END) AS s"


def people() -> Dataset:
    return Dataset(TABLE, columns=COLUMNS, name="people")


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("tail", ["", " WHERE age > 5", " GROUP BY city"])
@pytest.mark.parametrize("options", ["epsilon = 1", "epsilon = 2, delta = 1e-6"])
def test_a_share_is_the_mean_of_a_column_of_truths_on_the_same_bits(
    options: str, tail: str, neighbors: Neighbors
) -> None:
    clause = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({options}) "

    def answer(item: str) -> discreet.Release:
        text = f"{clause}{item} FROM people{tail}"
        release: discreet.Release = on_words(
            WORDS, lambda: discreet.sql(people(), text, neighbors=neighbors)
        )
        return release

    ours, theirs = answer(ITEM), answer("AVG(adult) AS s")
    assert ours.value == theirs.value
    assert ours.guarantee == theirs.guarantee
    assert ours.error == theirs.error


CELLS = [(None,), (5,), (18,)]


def numbers(rows: Any) -> list[int]:
    """The number of rows and of true ones, as they are before their noise."""
    table = {"age": [age for (age,) in rows] + [99]}  # so that the column has a type
    where = read_condition("age < 90 OR age IS NULL")
    true = read_condition("(age < 90 OR age IS NULL) AND age >= 18")
    assert true is not None
    order = delivery_of(share_of_rows, table, true, epsilon=1, where=where).order
    assert order.lists is not None
    noisy: Any = order.lists()
    [lists] = noisy.groups
    return [one.number for one in lists]


def test_neighbours_move_both_numbers_by_one_at_most() -> None:
    """All tables of up to three rows: a row that comes moves the one by one, and the other by no more."""
    held = {
        rows: numbers(rows)
        for size in range(4)
        for rows in itertools.combinations_with_replacement(CELLS, size)
    }
    moves = set()
    for rows, (size, true) in held.items():
        assert (size, true) == (len(rows), rows.count((18,)))
        for row in CELLS:
            more = tuple(sorted((*rows, row), key=CELLS.index))
            if more in held:
                moves.add((held[more][0] - size, held[more][1] - true))
    assert moves == {(1, 0), (1, 1)}


def test_the_price_is_that_of_both_numbers() -> None:
    true = read_condition("age >= 18")
    assert true is not None
    for neighbors in ("add_remove", "replace_one"):
        bill = bill_of(share_of_rows, "no.csv", true, epsilon=1, neighbors=neighbors)
        mean = bill_of(
            discreet.mean,
            "no.csv",
            "adult",
            minimum=False,
            maximum=True,
            epsilon=1,
            neighbors=neighbors,
        )
        assert bill.guarantee == mean.guarantee
        assert bill.guarantee.pure == Fraction(1)
    others = [read_condition(text) for text in ("age >= 18", "age >= 19")]
    digests = {bill_of(share_of_rows, "no.csv", one, epsilon=1).digest for one in others}
    assert len(digests) == 2


# --- conditions of aggregates that stand beside others: each answers for the whole table

BESIDE = {
    "a count of all": "COUNT(*) AS a, COUNT(*) FILTER (WHERE age >= 18) AS b",
    "a share": "COUNTIF(age >= 18) AS a, AVG(CASE WHEN age >= 18 THEN 1 ELSE 0 END) AS b",
    "another filter": "AVG(age) FILTER (WHERE city = 'x') AS a, SUM(age) FILTER (WHERE age >= 18) AS b",
}
ROWS: list[tuple[int | None, str | None]] = [(None, "x"), (0, "y"), (120, "x"), (18, None)]


@pytest.mark.parametrize("tail", ["", " WHERE city = 'x'", " GROUP BY city"])
@pytest.mark.parametrize("items", BESIDE.values(), ids=BESIDE)
@pytest.mark.one_in(3)
def test_aggregates_with_conditions_together_cost_epsilon(items: str, tail: str) -> None:
    """Of a row more, and of a row replaced by another, in both relations."""
    text = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) {items} FROM people{tail}"

    def behind(neighbors: Neighbors, *more: tuple[int | None, str | None]) -> list[Numbers]:
        ages, cities = zip((40, "x"), (None, "y"), *more, strict=True)
        columns = {name: COLUMNS[name] for name in ("age", "city")}
        data = Dataset({"age": [*ages], "city": [*cities]}, columns=columns, name="people")
        return numbers_behind(discreet.sql, data, text, neighbors=neighbors)

    base = behind("add_remove")
    coming = [loss(base, behind("add_remove", row)) for row in ROWS]
    assert max(coming) == 1
    replaced = [behind("replace_one", row) for row in ROWS]
    assert Fraction(1, 2) <= max(loss(*pair) for pair in itertools.combinations(replaced, 2)) <= 1
