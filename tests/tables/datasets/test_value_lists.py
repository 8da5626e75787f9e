"""The values that an answer may name are counted before a tuple is made."""

from typing import Any

import pytest

from discreet import Bins, Dataset
from discreet.errors import MissingColumn
from discreet.selection.bins import CellColumns
from discreet.tables.datasets.value_lists import cells_of, lists_of_values

AGES = Bins("age", 0, 120, 60, above=True)
DATA = Dataset(
    {"city": [], "age": [], "drink": []},
    columns={
        "city": {"type": "string", "enum": ["York", "Leeds"]},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "drink": {"type": "string"},
    },
)


@pytest.mark.parametrize(
    ("column", "labels", "sizes"),
    [
        ("city", None, "2"),
        ("age", None, "121"),
        ("drink", None, None),
        ("drink", ["tea"], "1"),
        ("drink", "private", None),
        (AGES, None, "3"),
        ([AGES], None, "3"),
        (["city", AGES], None, "2 × 3 = 6"),
        (["age", "city"], None, "121 × 2 = 242"),
        (["city", "drink"], None, None),
        (["city", "drink"], {"city": ["York"]}, None),
        (["city", "drink"], {"city": ["York"], "drink": ["tea", "milk"]}, "1 × 2 = 2"),
        (["city", "drink"], [("York", "tea")], "1"),
        (["city", "drink"], "private", None),
    ],
    ids=repr,
)
def test_their_number(column: Any, labels: Any, sizes: str | None) -> None:
    values = lists_of_values(DATA, column, labels)
    assert (None if values is None else str(values)) == sizes
    if values is not None:
        assert f"{values.size:,}" == str(sizes).rpartition(" ")[2]


@pytest.mark.parametrize(
    "column", ["SALARY", ["city", "SALARY"], Bins("SALARY", 0, 1, 1)], ids=repr
)
def test_no_column_is_counted_that_is_not_declared(column: Any) -> None:
    with pytest.raises(MissingColumn):
        lists_of_values(DATA, column, None)


def test_cells_are_told_from_a_column() -> None:
    assert (cells_of("city"), cells_of(None), cells_of(5)) == (None, None, None)
    assert (
        cells_of([AGES]) == cells_of(AGES) == cells_of(CellColumns((AGES,))) == CellColumns((AGES,))
    )
