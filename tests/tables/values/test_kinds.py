"""Kinds of storage."""

import datetime as dt
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidCandidates
from discreet.selection.candidates import Labels
from discreet.tables.values.kinds import ColumnType, nearest_float
from discreet.tables.values.meanings import meanings
from tests.tables.datasets.test_meanings import D


@given(
    st.fractions(-(10**6), 10**6) | st.floats(-70000, 70000).map(Fraction),
    st.sampled_from([("<f", 24), ("<e", 11)]),
)
def test_the_nearest_number_of_a_short_format(number: Fraction, short: tuple[str, int]) -> None:
    layout, _ = short
    of = ColumnType("x", "float", "float", layout=layout)
    value = nearest_float(number, of)
    if value is None:
        assert abs(number) > 65504
        return
    word = layout.replace("e", "H").replace("f", "I")
    [bits] = struct.unpack(word, struct.pack(layout, abs(value)))
    sides = [struct.unpack(layout, struct.pack(word, b))[0] for b in {max(bits - 1, 0), bits + 1}]
    away = abs(abs(number) - Fraction(abs(value)))
    for side in sides:
        if np.isfinite(side):
            other = abs(abs(number) - Fraction(side))
            assert away < other or (away == other and bits % 2 == 0) or side == abs(value)


def test_half_way_is_not_rounded_twice() -> None:
    # Just above the middle of two floats, and the double nearest to it is the middle itself.
    number = 1 + Fraction(1, 2**24) + Fraction(1, 2**60)
    assert float(number) == 1 + 2.0**-24
    assert nearest_float(number, ColumnType("x", "float", "Float32", layout="<f")) == 1 + 2.0**-23


def column(kind: str, **more: Any) -> ColumnType:
    return ColumnType("x", kind, more.pop("name", kind), **more)


INT8 = column("integer", name="Int8", low=-128, high=127)


PRICE = column("decimal", name="Decimal(10, 2)", low=-(10**10) + 1, high=10**10 - 1, scale=2)


SINGLE = column("float", name="Float32", layout="<f")


ENUM = column("text", name="Enum", enum_categories=("a", "b"))


SECONDS = column("timestamp", name="Datetime(s)", low=-(2**63) + 1, high=2**63 - 1, unit="s")


IMPOSSIBLE: list[tuple[ColumnType, Any, Any, str]] = [
    (INT8, 300, 7, "300 is no number of column 'x', of type Int8; they are from -128 to 127"),
    (INT8, 1.5, 7, "1.5 is no number of column 'x', of type Int8"),
    (PRICE, 0.1, 0.5, r"0.1 is no number of column 'x', of type Decimal(10, 2); Decimal('0.10') is"),
    (SINGLE, 0.1, 0.5, "0.1 is no number of column 'x', of type Float32; 0.10000000149011612 is"),
    (column("float", name="Float64"), D("0.1"), 0.5, "of type Float64; 0.1 is"),
    (ENUM, "c", "a", "'c' is not one of the categories of column 'x', of type Enum"),
    (SECONDS, dt.datetime(2024, 1, 1, 0, 0, 0, 1), dt.datetime(2024, 1, 1), "is no time of"),
]  # fmt: skip


@pytest.mark.parametrize(("of", "never", "possible", "words"), IMPOSSIBLE)
def test_a_candidate_that_no_cell_can_equal_is_said(
    of: ColumnType, never: Any, possible: Any, words: str
) -> None:
    with pytest.warns(UserWarning, match="so it counts 0") as warned:
        assert len(meanings(Labels([never, possible]), of)[0]) == 0
    assert words in str(warned[0].message)
    assert warned[0].filename == __file__
    with pytest.raises(InvalidCandidates, match="no candidate can count") as refused:
        meanings(Labels([never]), of)
    assert words in str(refused.value)
