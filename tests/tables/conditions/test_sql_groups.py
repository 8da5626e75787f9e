"""GROUP BY: which columns and bins a statement means, and what is refused."""

from fractions import Fraction
from typing import Any

import pytest

pytest.importorskip("sqlglot", reason="the extra sql is not installed")

from discreet import Bins
from discreet.errors import DiscreetError
from discreet.selection.bins import read_columns
from discreet.tables.conditions.sql_statements import SqlStatement, read_statement

HEAD = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) "
OUTSIDE: Any = {"below": True, "above": True}


def read(text: str) -> SqlStatement:
    return read_statement(HEAD + text)


MEANT: dict[str, tuple[Any, dict[str, int]]] = {
    "x, y, COUNT(*) FROM p GROUP BY x, y": (["x", "y"], {"x": 0, "y": 1}),
    "COUNT(*), y b, x a FROM p GROUP BY x, y": (["x", "y"], {"b": 1, "a": 0}),
    "x, x AS again, COUNT(*) FROM p GROUP BY x": ("x", {"x": 0, "again": 0}),
    "y, COUNT(*) FROM p GROUP BY x, y": (["x", "y"], {"y": 1}),
    "y, COUNT(*) FROM p GROUP BY 1": ("y", {"y": 0}),
    "y AS x, COUNT(*) FROM p GROUP BY x": ("y", {"x": 0}),
    "(x), COUNT(*) FROM p GROUP BY (x)": ("x", {"(x)": 0}),
    "WIDTH_BUCKET(x, 0, 1, 2) AS b, COUNT(*) FROM p GROUP BY b": (
        [Bins("x", edges=[0, Fraction(1, 2), 1], **OUTSIDE)], {"b": 0},
    ),
    "COUNT(*) FROM p GROUP BY width_bucket(x, -1, 1, 3), y": (
        [Bins("x", edges=[-1, "-1/3", "1/3", 1], **OUTSIDE), "y"], {},
    ),
    "RANGE_BUCKET(x, [0, 18, 65]) AS b, COUNT(*) FROM p GROUP BY b": (
        [Bins("x", edges=[0, 18, 65], **OUTSIDE)], {"b": 0},
    ),
    "COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x, ARRAY[DATE '2024-01-01', DATE '2025-01-01'])": (
        [Bins("x", edges=["2024-01-01", "2025-01-01"], **OUTSIDE)], {},
    ),
    "COUNT(*) FROM p GROUP BY RANGE_BUCKET(x, [5])": ([Bins("x", edges=[5], **OUTSIDE)], {}),
}  # fmt: skip


@pytest.mark.parametrize("text", MEANT)
def test_groups_are_columns_and_bins(text: str) -> None:
    by, names = MEANT[text]
    statement = read(text)
    assert statement.by == (by if isinstance(by, str) else read_columns(by))
    assert statement.group_names == names


def test_buckets_have_their_numbers() -> None:
    [part] = read("COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x, 0, 30, 3)").groups.parts
    labels = ("below 0", "[0, 10)", "[10, 20)", "[20, 30)", "30 or above")
    assert [part.value(label) for label in labels] == [0, 1, 2, 3, 4]


REFUSED = {
    "COUNT(*) FROM p GROUP BY x, WIDTH_BUCKET(x, 0, 1, 2)": "twice",
    "COUNT(*) FROM p GROUP BY 2": "columns 1 to 1",
    "COUNT(*) FROM p GROUP BY 0": "columns 1 to 1",
    "COUNT(*) FROM p GROUP BY 1": "each by itself",
    "COUNT(*) AS n FROM p GROUP BY n": "each by itself",
    "COUNT(*) FROM p GROUP BY p.x": "without its table",
    "COUNT(*) FROM p GROUP BY x + 1": "each by itself",
    "COUNT(*) FROM p GROUP BY (x, y)": "without brackets",
    "COUNT(*) FROM p GROUP BY CUBE (x, y)": "each by itself",
    "COUNT(*) FROM p GROUP BY x WITH ROLLUP": "Name each of them",
    "COUNT(*) FROM p GROUP BY EXTRACT(YEAR FROM x)": "in the query of the description",
    "WIDTH_BUCKET(x, 0, 1, 3), COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x, 0, 1, 2)": "neither an aggregate",
    "x, COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x, 0, 1, 2)": "neither an aggregate",
    "COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x, 0, 1)": "with the ends and how many",
    "COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x, 1, 0, 2)": "must be below",
    "COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x, 0, 1, 1.5)": "number of buckets",
    "COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x, 0, 1, 1001)": "1,000",
    "COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x, 0, y, 2)": "must be a number",
    "COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x + 1, 0, 1, 2)": "named by itself",
    "COUNT(*) FROM p GROUP BY WIDTH_BUCKET(x, DATE '2024-01-01', DATE '2025-01-01', 2)": "RANGE_BUCKET",
    "COUNT(*) FROM p GROUP BY RANGE_BUCKET(x, [2, 1])": "must rise",
    "COUNT(*) FROM p GROUP BY RANGE_BUCKET(x, [])": "from 1 to",
    "COUNT(*) FROM p GROUP BY RANGE_BUCKET(x, y)": "RANGE_BUCKET",
    "COUNT(*) FROM p GROUP BY RANGE_BUCKET(x, [1, y])": "in place of a constant",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_group_is_refused_with_what_would_do(text: str) -> None:
    with pytest.raises(DiscreetError) as error:
        read(text)
    assert REFUSED[text] in str(error.value)
