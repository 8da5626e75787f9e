"""Declared columns."""

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidDescription
from discreet.tables.datasets.columns import COLUMN, MOST_VALUES, TYPES
from tests.tables.datasets.test_dataset import CITY, column

KEYS = [*COLUMN.tables["integer"].keys]


@given(st.text(min_size=1, max_size=12), st.sampled_from([*TYPES]))
def test_no_unknown_key_is_accepted(key: str, kind: str) -> None:
    if key not in KEYS:
        with pytest.raises(InvalidDescription):
            column(**{"type": kind, key: 1})


_SCALARS = (
    st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.booleans()
    | st.none()
    | st.dates()
    | st.datetimes()
)


@given(
    st.sampled_from([*TYPES]),
    st.dictionaries(st.sampled_from(KEYS[1:5]), _SCALARS | st.lists(_SCALARS)),
)
def test_what_is_accepted_is_whole(kind: str, parts: dict[str, Any]) -> None:
    """Whatever was accepted has ordered bounds, and all its values are values of it."""
    place: tuple[str, ...] = ()
    try:
        found = column(type=kind, **parts)
    except InvalidDescription as error:
        place = error.place
    if place:
        assert place[:2] == ("columns", "x")
        return
    if found.minimum is not None and found.maximum is not None:
        assert found.minimum <= found.maximum
    for value in (found.enum or ())[:20]:
        assert found.read(value) == value
    if found.grid is not None:
        assert (found.grid.lo, found.grid.hi) == (found.minimum, found.maximum)
    assert str(found).startswith("x: ")


def test_values_follow_from_enum_truths_and_bounds() -> None:
    assert column(**CITY).values == ("Basel", "Bern", "Zürich")
    assert column(type="boolean").values == (False, True)
    assert list(column(type="integer", minimum=1, maximum=3).values) == [1, 2, 3]
    assert list(column(type="integer", minimum=0, maximum=9, step=3).values) == [0, 3, 6, 9]
    days = column(type="date", minimum="2024-02-28", maximum=dt.date(2024, 3, 1)).values
    assert days == [dt.date(2024, 2, 28), dt.date(2024, 2, 29), dt.date(2024, 3, 1)]
    assert column(type="number", minimum=0, maximum=1).values is None
    assert column(type="integer", minimum=0, maximum=MOST_VALUES).values is None
    assert len(column(type="integer", minimum=1, maximum=MOST_VALUES).values) == MOST_VALUES
