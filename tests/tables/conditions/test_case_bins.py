"""CASE as bins: the value that DuckDB finds for each number, date and NULL, or a refusal."""

import datetime as dt
import random
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("sqlglot", reason="the extra sql is not installed")

import duckdb
import sqlglot

from discreet.errors import InvalidArgument
from discreet.tables.conditions.sql_groups import GroupPart, part_of_tree
from discreet.tables.engines.cell_columns import words_of_objects


def part_of(text: str) -> GroupPart:
    return part_of_tree(sqlglot.parse_one(text))


def answered(part: GroupPart, cell: object) -> object:
    """The value of a cell in a column of groups; None in none."""
    [word] = words_of_objects([cell], part.part)
    label = None if word is None else word.partition(":")[2]
    return None if label is None else part.value(label)


def of_duckdb(text: str, cells: list[Any], kind: str) -> list[Any]:
    rows = f"SELECT unnest(range({len(cells)})) AS place, unnest(?)::{kind} AS x"
    found = duckdb.execute(f"SELECT {text} FROM ({rows}) ORDER BY place", [cells])
    return [row[0] for row in found.fetchall()]


NUMBERS: list[Any] = [None, -5, 0, 0.5, 1, 9.75, 10, 10.25, 17, 17.5, 18, 19, 20, 64, 64.5, 65, 1e9]
WHOLE = [None, *range(-2, 30), 63, 64, 65, 66]
DAYS = [
    None,
    *(dt.date(2023, 12, 25) + dt.timedelta(days=day) for day in range(20)),
    dt.date(9999, 12, 31),
]

HALF_OPEN = [
    "CASE WHEN x < 18 THEN 'minor' WHEN x < 65 THEN 'adult' ELSE 'senior' END",
    "CASE WHEN x < 18 THEN 'minor' WHEN x < 65 THEN 'adult' WHEN x >= 65 THEN 'senior' END",
    "CASE WHEN x >= 65 THEN 3 WHEN 18 <= x THEN 2 WHEN x IS NOT NULL THEN -1 END",
    "CASE WHEN x IS NULL THEN 'none' WHEN x < 10 THEN 'few' ELSE 'many' END",
    "CASE WHEN NOT (x >= 18) THEN 'minor' ELSE 'other' END",
    "CASE WHEN x < 10 OR x >= 20 THEN 'outside' ELSE 'inside' END",
    "CASE WHEN x >= 10 AND x < 20 THEN 'inside' ELSE NULL END",
    "CASE WHEN x < 0 THEN NULL WHEN x < 10 THEN '0' ELSE '10' END",
    "CASE WHEN NOT (x < 10 OR x >= 20) THEN 'inside' WHEN x < 100 THEN 'inside' ELSE 'outside' END",
    "IF(x < 10.25, 1, 0)",
    "CASE WHEN x >= 18 THEN 'adult' END",
]  # fmt: skip
IN_STEPS = [
    "CASE WHEN x BETWEEN 0 AND 17 THEN 'minor' WHEN x BETWEEN 18 AND 64 THEN 'adult' ELSE 'senior' END",
    "CASE WHEN x <= 17 THEN 'minor' WHEN x <= 64 THEN 'adult' WHEN x > 64 THEN 'senior' END",
    "CASE WHEN x IN (1, 2, 3) THEN 'few' WHEN x = 0 THEN 'none' ELSE 'many' END",
    "CASE WHEN x <> 9 THEN 1 ELSE 2 END",
    "CASE WHEN x > 17 THEN 1.5 ELSE 0.5 END",
]


@pytest.mark.parametrize("text", HALF_OPEN)
def test_cases_that_begin_where_others_end_are_right_of_all_numbers(text: str) -> None:
    part = part_of(text)
    assert not part.is_whole
    assert [answered(part, cell) for cell in NUMBERS] == of_duckdb(text, NUMBERS, "DOUBLE")
    assert [answered(part, cell) for cell in WHOLE] == of_duckdb(text, WHOLE, "BIGINT")


@pytest.mark.parametrize("text", IN_STEPS)
def test_other_cases_are_right_of_whole_numbers(text: str) -> None:
    part = part_of(text)
    assert part.is_whole
    found = [answered(part, cell) for cell in WHOLE]
    assert found == of_duckdb(text, WHOLE, "BIGINT")


@pytest.mark.parametrize(
    "text",
    [
        "CASE WHEN x < DATE '2024-01-01' THEN 'old' ELSE 'new' END",
        "CASE WHEN x <= DATE '2023-12-31' THEN 'old' WHEN x > DATE '2023-12-31' THEN 'new' END",
        "CASE WHEN x BETWEEN DATE '2023-12-30' AND DATE '2024-01-02' THEN 'turn' ELSE 'other' END",
        "CASE WHEN x = DATE '2024-01-01' THEN 'first' ELSE 'other' END",
    ],
)
def test_cases_of_dates_are_those_of_duckdb(text: str) -> None:
    part = part_of(text)
    assert [answered(part, day) for day in DAYS] == of_duckdb(text, DAYS, "DATE")


def drawn(draw: random.Random) -> str:
    """A CASE with random conditions of whole numbers from 0 to 12."""
    constant: Callable[[], int] = lambda: draw.randint(0, 12)  # noqa: E731  # one word for many places

    def test() -> str:
        kind = draw.randrange(7)
        if kind < 3:
            return f"x {draw.choice(['<', '<=', '>', '>=', '=', '<>'])} {constant()}"
        if kind == 3:
            return f"x BETWEEN {constant()} AND {constant()}"
        if kind == 4:
            return f"x IN ({constant()}, {constant()})"
        return f"x IS {draw.choice(['', 'NOT '])}NULL" if kind == 5 else f"NOT ({test()})"

    tests = [f"{test()} {draw.choice(['AND', 'OR'])} {test()}" for _ in range(draw.randint(1, 4))]
    cases = " ".join(f"WHEN {one} THEN {draw.randint(1, 3)}" for one in tests)
    return f"CASE {cases} {draw.choice(['', 'ELSE 4', 'ELSE NULL'])} END"


def test_random_cases_are_those_of_duckdb_or_refused() -> None:
    draw, answers = random.Random(7), 0
    cells = [None, *range(-2, 15)]
    for _ in range(80):
        text = drawn(draw)
        try:
            part = part_of(text)
        except InvalidArgument:
            continue
        answers += 1
        assert [answered(part, cell) for cell in cells] == of_duckdb(text, cells, "BIGINT"), text
    assert answers > 30


REFUSED = {
    "CASE WHEN x <= 1.5 THEN 1 ELSE 0 END": "Compare with < and >=",
    "CASE WHEN x < 5 THEN 1 WHEN x >= 7 THEN 2 END": "numbers from 5 to before 7 have no case",
    "CASE WHEN x < 5 THEN 1 ELSE 'a' END": "not both",
    "CASE WHEN x < 5 THEN 1 ELSE 1 END": "one case",
    "CASE WHEN x < 5 THEN NULL END": "one case",
    "CASE WHEN x < 5 THEN y ELSE 1 END": "a text or a number",
    "CASE WHEN x < 5 AND y < 5 THEN 1 ELSE 2 END": "one column",
    "CASE WHEN x < 5 OR x < DATE '2024-01-01' THEN 1 ELSE 2 END": "of one kind",
    "CASE WHEN x = 'a' THEN 1 ELSE 2 END": "of one kind",
    "CASE WHEN x IS NULL THEN 1 ELSE 2 END": "of one kind",
    "CASE x WHEN 1 THEN 'a' ELSE 'b' END": "CASE WHEN x = 1",
    "CASE WHEN x > DATE '9999-12-31' THEN 1 ELSE 2 END": "no date comes after",
    "CASE WHEN x + 1 < 5 THEN 1 ELSE 2 END": "CASE WHEN takes .* Not arithmetic",
    "CASE WHEN x = TRUE THEN 1 ELSE 2 END": "of one kind",
    f"CASE WHEN x IN ({', '.join(map(str, range(101)))}) THEN 1 ELSE 2 END": "at most 100",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_other_cases_are_refused_with_what_would_do(text: str) -> None:
    with pytest.raises(InvalidArgument, match=REFUSED[text]):
        part_of(text)
