"""Numbers in rows: an array, a list, or a column, as one numpy array.

Null, NaN and values that are no numbers are left out, row by row: of lists, of arrays and of pandas columns of
Python objects. Columns of text, dates and nested ones are refused by their type, which is public.
"""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import compress, islice
from numbers import Integral, Rational, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument, UnreadableData
from ...sampling.vectors import FLOATS, INTEGERS, ExactArray, in_one_array, objects, types_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

NO_NUMBERS = frozenset({type(None), bool, str})
"""Common types none of whose values is a number."""

ONLY_NUMBERS = (FLOATS, INTEGERS, {int, float})
"""Types all of whose values are numbers, or NaN, as Python or one array has them."""

MOST_DECIMAL_DIGITS = 10_000
"""Decimals beyond it are left out: written out they would fill the memory."""


def numeric_values(data: Any) -> ExactArray:
    """Return the numbers in an array, a series or a list: float64, int64, uint64, or int, float and Fraction.

    Raises:
        UnreadableData: The data is no rows of numbers.

    Side channels: time and memory depend on the number of rows.
    """
    if isinstance(data, str | os.PathLike):
        raise InvalidArgument("a file needs the name of a column: give it after the file")
    if hasattr(data, "columns"):
        raise InvalidArgument("a table needs the name of a column: give it after the table")
    if isinstance(data, Mapping | np.ma.MaskedArray) or not isinstance(data, Iterable):
        raise UnreadableData(f"the data must be numbers in rows, got a {type(data).__name__}")
    for without_nulls in ("drop_nulls", "drop_null", "dropna"):
        if hasattr(data, without_nulls):  # before they turn integers into doubles
            data = getattr(data, without_nulls)()
            break
    return clean(np.asarray(data)) if hasattr(data, "__array__") else from_list(as_list(data))


def clean(array: ExactArray) -> ExactArray:
    """Return the numbers of the array without those that are missing."""
    if array.ndim != 1:
        raise UnreadableData(
            f"the data must be one-dimensional, got an array of {array.ndim} dimensions"
        )
    kind = array.dtype.kind
    if kind == "f" and array.dtype.itemsize <= 8:
        doubles = widen(array)
        # The largest of numbers is NaN if one of them is.
        has_nan = np.isnan(doubles.max(initial=-math.inf))
        return doubles[~np.isnan(doubles)] if has_nan else doubles
    if kind in ("i", "u"):
        return widen(array)
    if kind in ("f", "O"):
        return from_list(list(array))
    raise UnreadableData(f"the data must be numbers, got an array of type {array.dtype}")


def widen(array: ExactArray) -> ExactArray:
    """Return integers and doubles in 64 bits: arithmetic in fewer would round them."""
    return array.astype(f"{array.dtype.kind}8", copy=False)


def as_list(data: Iterable[object]) -> list[object]:
    """Return the values in a list, without asking for a length that may be a lie."""
    return list(data) if type(data) is list else [*islice(data, None)]


def from_list(values: Sequence[object]) -> ExactArray:
    """Return the numbers of a list as an array, none of them rounded."""
    return present(values)[1]


def present(values: Sequence[object]) -> tuple[NDArray[np.bool_], ExactArray]:
    """Return which values of a list are numbers, and the numbers as an array, none of them rounded."""
    there, numbers = np.ones(len(values), dtype=np.bool_), values
    types = types_of(values)
    if types & NO_NUMBERS:
        there = np.array([type(value) not in NO_NUMBERS for value in values], dtype=np.bool_)
        numbers, types = [*compress(values, there)], types - NO_NUMBERS
    if not any(types <= types_of_numbers for types_of_numbers in ONLY_NUMBERS):
        plain_numbers = [python_number(value) for value in numbers]
        there[there] = [number is not None for number in plain_numbers]
        numbers = [number for number in plain_numbers if number is not None]
        types = types_of(numbers)
    array = in_one_array(numbers, types)
    array = objects(numbers) if array is None else array
    if float in types or np.float64 in types:  # of which some may be NaN
        equal = np.asarray(array == array, dtype=np.bool_)
        there[there], array = equal, array if equal.all() else array[equal]
    return there, array


def python_number(value: object) -> int | float | Fraction | None:
    """Return a number as Python has it, with its exact value; None for a missing value or no number."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Decimal):
        if value.is_nan() or value.is_infinite():
            return None if value.is_nan() else math.copysign(math.inf, value)
        return Fraction(value) if abs(value.adjusted()) < MOST_DECIMAL_DIGITS else None
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    real: Any = value
    if np.isnan(real) or np.isinf(real) or isinstance(real, float):
        return None if np.isnan(real) else float(real)
    return Fraction(*map(int, real.as_integer_ratio()))


def from_series(series: Any) -> ExactArray:
    """Return a Narwhals series of numbers without nulls; decimals as fractions."""
    if series.dtype.is_decimal():
        return from_list(series.to_list())
    array = np.asarray(series.to_numpy())
    return widen(array) if array.dtype.kind in "iuf" else array


def from_relation(relation: "DuckDBPyRelation", of: Any) -> list[ExactArray]:
    """Return the columns of a relation without nulls, of which some have the type `of`, the others integers.

    Numbers that no word holds are fetched one by one: arrays of DuckDB would round them.
    """
    if of.kind == "decimal" or (of.kind == "integer" and of.high >= 2**64):
        rows = relation.fetchall()
        return [from_list([row[i] for row in rows]) for i in range(len(relation.columns))]
    columns = relation.fetchnumpy()
    return [widen(np.asarray(columns[name])) for name in relation.columns]
