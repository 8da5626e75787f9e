"""Several vectors as rows of a table."""

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InvalidScores
from discreet.mechanisms.testing import SeededBits
from discreet.sampling.bits import LazyUniform
from discreet.sampling.categorical import Categorical
from discreet.sampling.categorical_rows import WIDEST, CategoricalRows, serves_rows
from discreet.sampling.enclosures import NaturalRate
from discreet.sampling.rows import read_rows
from discreet.sampling.vectors import Vector
from tests.sampling.test_categorical_rows import HALF, beside_boundaries

pytestmark = pytest.mark.usefixtures("fast_pass")


TABLES: list[Any] = [
    np.array([[0.0], [5.0]]),
    np.array([[0.0, 0.0], [0.5, -3.0]]),
    np.array([[1, 2, 3], [3, 3, 3]]),
    np.array([[2**63, 2**64 - 1], [0, 1]], dtype=np.uint64),
    np.array([[-(2**63), 2**63 - 1], [0, 1]]),
    np.array([[1e308, -1e308, 1e308], [5e-324, 0.0, -0.0]]),
    np.arange(35.0).reshape(7, 5)[:, ::-1] % 3,
]


@pytest.mark.parametrize("rate", [HALF, NaturalRate(Fraction(9)), NaturalRate(Fraction("1e-200"))])
@pytest.mark.parametrize("table", TABLES)
def test_the_answers_are_those_of_each_row_from_the_same_words(table: Any, rate: Any) -> None:
    rows = read_rows(table).as_table()
    assert rows is not None
    law = CategoricalRows(rows, rate)
    for seed in range(20):
        words = SeededBits(seed).words(len(rows))
        spare = SeededBits(seed + 100)
        alone = [
            Categorical(Vector(row), rate).settle(LazyUniform.of_word(int(word), spare))
            for row, word in zip(rows, words, strict=True)
        ]
        assert law.draw(SeededBits(seed)) == alone


@pytest.mark.parametrize("table", TABLES)
def test_words_beside_every_boundary_are_right_or_left_open(table: Any) -> None:
    rows = read_rows(table).as_table()
    assert beside_boundaries(rows)


def test_which_tables_are_served() -> None:
    assert serves_rows(np.zeros((2, WIDEST)), HALF)
    assert not serves_rows(np.zeros((2, WIDEST + 1)), HALF)
    assert not serves_rows(np.zeros((2, 3)), NaturalRate(Fraction(10) ** 300))
    for dtype in ("f4", ">f8", "i1", ">i4", "u2", "f2"):
        stored = read_rows(np.array([[1, 2], [3, 4]], dtype=dtype)).as_table()
        assert stored is not None
        assert stored.tolist() == [[1, 2], [3, 4]]
        assert stored.dtype.isnative
        assert stored.dtype.itemsize == 8
    strided = np.arange(24.0).reshape(4, 6)[::2, ::3]
    assert read_rows(strided).as_table() is not None
    for other in ([[1, 2]], np.array([[Fraction(1, 3)]]), np.array([[1]], dtype=np.longdouble)):
        assert read_rows(other).as_table() is None


class OnlyDLPack:
    """A tensor that numpy reads by DLPack alone."""

    def __init__(self, values: Any) -> None:
        self._values = np.array(values, dtype=float)

    def __dlpack__(self, **_: Any) -> Any:
        return self._values.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()


class OnlyArray:
    """A table that numpy reads by `__array__` alone."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("table", [OnlyDLPack([[1, 2], [3, 4]]), OnlyArray()])
def test_a_tensor_of_another_library_is_a_table(table: Any) -> None:
    read = read_rows(table).as_table()
    assert read is not None
    assert read.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (5, "got 5"),
        (None, "got None"),
        ({1}, "got a set"),
        ("12", "got '12'"),
        (pd.DataFrame({"a": [1]}), "For a DataFrame give frame.to_numpy"),
        (np.ma.masked_array([[1]], [[True]]), "got"),
        (np.zeros(3), "got an array of 1 dimensions"),
        (np.zeros((1, 1, 1)), "got an array of 3 dimensions"),
        ([], "at least one row"),
        ([[1], [1, 2]], "of several lengths"),
        ([5], "got a row that is"),
        (["ab"], "got a row that is"),
        ([np.zeros((1, 1))], "got a row that is"),
    ],
    ids=repr,
)
def test_what_is_no_table_is_refused(values: Any, words: str) -> None:
    with pytest.raises(InvalidScores, match=re.escape(words)):
        read_rows(values)
