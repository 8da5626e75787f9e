"""Many exact numbers at once: the scores of one release, which are private.

A `Vector` holds doubles, 64-bit integers or Python fractions, whichever its numbers came as, and never
rounds one of them. Mechanisms see it in its normal form, the *gaps* to the best score.

Its numbers come from arrays of any library (NumPy, PyTorch, JAX, ...), none of which is imported for them, or from
Python's own. Of these those of one type go into one array: the exact type of a number decides, never how large it
is compared with the others, so an integer among floats does not pass through a float. Subclasses may do anything,
so they stay as they are.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..base.arguments import read_sequence
from ..base.numbers import nearest_double
from ..errors import InvalidScores, preview


def as_array(values: Any) -> NDArray[Any]:
    """Return an array in the memory of this computer as NumPy's, not copied where that can be avoided.

    DLPack is tried first, then `__array__`. Neither has a type for bfloat16.

    Raises:
        InvalidScores: if it offers neither, or refuses: it is on a graphics card, or tracks gradients.
    """
    if isinstance(values, np.ndarray):
        return values
    ways: list[tuple[str, Callable[[Any], NDArray[Any]]]] = [
        ("__dlpack__", np.from_dlpack),
        ("__array__", np.asarray),
    ]
    for name, convert in ways:
        if hasattr(type(values), name):
            with suppress(Exception):  # of the object's own methods, which may quote it
                return convert(values)
    raise InvalidScores(
        f"an array that NumPy can read is needed, got {preview(values)}. For a tensor give "
        "tensor.detach().cpu(), and of bfloat16 tensor.float(), which is exact"
    )


FLOATS = frozenset({float, np.float64})
"""The types whose numbers are doubles."""

INTEGERS = frozenset({int, np.int64, np.int32, np.int16, np.int8})
"""The types whose numbers are integers, of Python or of at most 63 bits and a sign."""

_FLOAT, _INTEGER, _OTHER = range(3)

Alike = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]


def types_of(values: Sequence[object]) -> set[type]:
    """Return the exact types in a list, in one pass that calls none of their methods."""
    return set(map(type, values))


def in_one_array(values: Sequence[Any], types: set[type]) -> Alike | None:
    """Return floats alone as float64, integers alone as int64, or None for other types and longer integers."""
    if types <= FLOATS:
        return np.array(values, dtype=np.float64)
    return _words(values) if types <= INTEGERS else None


def _words(values: Sequence[Any]) -> NDArray[np.int64] | None:
    """Return integers as 64-bit ones, None if one is longer."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return None


def objects(values: Sequence[object]) -> NDArray[np.object_]:
    """Return a list as an array of its objects, whatever they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def by_type(values: NDArray[Any]) -> Iterator[tuple[NDArray[np.intp], Alike]]:
    """Return the floats, the integers of at most 64 bits, and all other numbers, with their places."""
    numbers = values.tolist()
    kinds = {one: _kind(one) for one in types_of(numbers)}
    # One byte a number, which `bytes` reads in one loop in C.
    codes = np.frombuffer(bytes(map(kinds.__getitem__, map(type, numbers))), dtype=np.uint8)
    for kind in sorted(set(kinds.values())):
        places = np.flatnonzero(codes == kind)
        part = values[places]
        if kind == _FLOAT:
            yield places, part.astype(np.float64)
        elif kind == _INTEGER:
            yield from _by_length(places, part)
        else:
            yield places, part


def _kind(one: type) -> int:
    return _FLOAT if one in FLOATS else _INTEGER if one in INTEGERS else _OTHER


def _by_length(
    places: NDArray[np.intp], part: NDArray[np.object_]
) -> Iterator[tuple[NDArray[np.intp], Alike]]:
    """Return the integers of at most 64 bits, and the longer ones."""
    short = np.asarray((part >= -(2**63)) & (part < 2**63), dtype=np.bool_)
    yield places[short], part[short].astype(np.int64)
    if not short.all():
        yield places[~short], part[~short]


ExactArray = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.uint64] | NDArray[np.object_]
"""Numbers as they are stored; the objects are Python's integers and fractions."""

Table2D = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.uint64]
"""Rows of numbers as they are stored."""

Integers = NDArray[np.int64] | NDArray[np.object_]
"""Integers as they are stored; the objects are Python's, which never wrap."""

StoredNumber = np.float64 | np.int64 | np.uint64 | int | Fraction
"""One number of a vector."""

_STORED = {np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64)}
"""The types of arrays that are stored as they are."""

_EXPECTED = "scores must be finite numbers (int, float, Fraction or Decimal)"
_WORD = 2**64
_WHOLE = 2**53
"""Integers up to it, either way, are doubles."""

_SUMS = 2**62

_SCORE_DIGITS = 3_000
"""The longest numerator or denominator of a score. An answer may be next to it, and Python spells 4,300."""

_TOO_LONG = 10**_SCORE_DIGITS


def not_finite() -> InvalidScores:
    """Return the error for scores with a NaN or an infinity among them."""
    error = InvalidScores(f"{_EXPECTED}. There is a NaN or an infinity among them")
    error.is_finite = False
    return error


class Vector:
    """A vector of exact finite numbers. Its repr shows how many, never which."""

    __slots__ = ("_values", "integral")

    def __init__(self, values: ExactArray, *, integral: bool | None = None) -> None:
        self._values = values
        self.integral = values.dtype.kind in "iu" if integral is None else integral
        """Whether the types of the numbers, not their values, say that they are integers."""

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<Vector of {len(self)} private numbers>"

    @property
    def values(self) -> ExactArray:
        """The numbers as they are stored: float64, int64, uint64, or objects (int and Fraction)."""
        return self._values

    def copy(self) -> "Vector":
        """Return the same numbers in an array of their own: a caller may change theirs between charge and draw."""
        return Vector(self._values.copy(), integral=self.integral)

    def part(self, start: int, stop: int) -> "Vector":
        """Return the numbers from `start` up to `stop`, without copying them."""
        return Vector(self._values[start:stop], integral=self.integral)

    def take(self, places: NDArray[np.int64]) -> "Vector":
        """Return the numbers at these places, in this order."""
        return Vector(self._values[places], integral=self.integral)

    def exact(self, index: int) -> Fraction:
        """Return one number as a fraction; a double means exactly its binary value."""
        return _fraction(self._values[index])

    def best(self) -> StoredNumber:
        """Return the largest number, after making sure that all of them are finite.

        Raises:
            InvalidScores: if there is a NaN or an infinity.
        """
        best: StoredNumber = np.maximum.reduce(self._values)
        is_float = self._values.dtype.kind == "f"
        if is_float and not (
            math.isfinite(best) and math.isfinite(np.minimum.reduce(self._values))
        ):
            raise not_finite()
        return best

    def gaps(
        self, best: StoredNumber, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return best - number for all numbers, as doubles with relative error at most 2**-53.

        Integers are subtracted exactly before they are rounded; a gap above the largest double is
        infinite, and numpy warns of it unless told not to. `best` is the result of `best` for this
        vector or for one that holds it. The result may be written to `out`, to spare the allocator.
        """
        values = self._values
        if values.dtype.kind == "f":
            return np.subtract(cast(np.float64, best), values, out=out)
        if values.dtype.kind == "O":
            return np.array([nearest_double(best - value) for value in values], dtype=np.float64)
        # Modulo 2**64 the difference is exact, and it lies in [0, 2**64).
        return (np.uint64(int(best) % _WORD) - values.view(np.uint64)).astype(np.float64)

    def doubles(self) -> NDArray[np.float64]:
        """Return the numbers as doubles, rounded at most once."""
        if self._values.dtype.kind == "O":
            return np.array([nearest_double(value) for value in self._values], dtype=np.float64)
        return self._values.astype(np.float64)

    def exact_gap(self, index: int, best: StoredNumber) -> Fraction:
        """Return best - number for one number, exactly."""
        return _fraction(best) - _fraction(self._values[index])


def read_vector(values: object) -> Vector:
    """Return the numbers in an array, a series or any iterable as a `Vector`, exactly.

    Raises:
        InvalidScores: if there are none, if they are not in one row, or if one is not a number.
    """
    if isinstance(values, Vector):
        return values
    if type(values) is np.ndarray and values.dtype in _STORED and values.ndim == 1 and len(values):
        return Vector(values)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidScores(
            f"{_EXPECTED}, one for each candidate, got a single {type(values).__name__}"
        )
    if isinstance(values, Set | np.ma.MaskedArray) or hasattr(values, "columns"):
        raise InvalidScores(f"{_EXPECTED} in order, got {preview(values)}. Give a list or an array")
    several = None if hasattr(values, "__array__") else read_sequence(values, "scores")
    types = set[type]() if several is None else types_of(several)
    array = np.asarray(values) if several is None else _from_list(several, types)
    if array.ndim != 1:
        raise InvalidScores(
            f"scores must be one-dimensional, got an array of {array.ndim} dimensions"
        )
    if len(array) == 0:
        raise InvalidScores("scores must not be empty: there must be at least one candidate")
    return Vector(_exact_array(array), integral=None if several is None else types == {int})


def integers(values: Sequence[int]) -> NDArray[Any]:
    """Return integers as an array in which the sum of any of them is exact, and twice that sum.

    They are 64-bit integers where all together are below 2**62, else Python's.
    """
    total = sum(map(abs, values))
    return np.array(values, dtype=np.int64) if total < _SUMS else objects([int(v) for v in values])


def _exact_array(array: NDArray[Any]) -> ExactArray:
    """Return the array in one of the four exact types."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and size <= 8:
        return array.astype(np.float64, copy=False)
    if kind == "i":
        return array.astype(np.int64, copy=False)
    if kind == "u":
        return array.astype(np.uint64, copy=False)
    if kind in ("f", "O"):
        return objects([_score(value) for value in array])
    hint = ". Make it float32, which is exact" if array.dtype.name == "bfloat16" else ""
    raise InvalidScores(f"{_EXPECTED}, got an array of type {array.dtype}{hint}")


def _from_list(values: list[Any], types: set[type]) -> ExactArray:
    """Return the list as an array, without the rounding numpy does when types are mixed."""
    array = in_one_array(values, types)
    if array is None and types == {int, float}:
        array = _as_doubles(objects(values))
    return objects(values) if array is None else array


def _as_doubles(values: NDArray[np.object_]) -> NDArray[np.float64] | None:
    """Return integers and floats as doubles, or None if an integer might be rounded, or a float is not finite."""
    doubles = np.empty(len(values), dtype=np.float64)
    for places, part in by_type(values):
        limit = np.finfo(np.float64).max if part.dtype.kind == "f" else _WHOLE
        if part.dtype.kind == "O" or not np.all((part >= -limit) & (part <= limit)):
            return None
        doubles[places] = part
    return doubles


def _score(value: object) -> int | Fraction:
    """Return one score as an integer or a fraction."""
    score = _exact_score(value)
    if max(abs(score.numerator), score.denominator) >= _TOO_LONG:
        raise InvalidScores(f"{_EXPECTED}. There is one of more than {_SCORE_DIGITS:,} digits")
    return score


def _exact_score(value: object) -> int | Fraction:
    """Return one score, however long."""
    if isinstance(value, Fraction):
        return Fraction(
            int(value.numerator), int(value.denominator)
        )  # its parts may be numpy's, which wrap
    if not isinstance(value, bool) and isinstance(value, Integral):
        return int(value)
    if not isinstance(value, bool) and isinstance(value, Decimal | Real):
        if not _is_finite(value):
            raise not_finite()
        return Fraction(*cast(Any, value).as_integer_ratio())
    raise InvalidScores(f"{_EXPECTED}. There is one of type {type(value).__name__}")


def _is_finite(value: Any) -> bool:
    if isinstance(value, Decimal):  # written out, one of a larger exponent would fill the memory
        return value.is_finite() and (not value or abs(value.adjusted()) < _SCORE_DIGITS)
    return bool(np.isfinite(value))


def _fraction(value: object) -> Fraction:
    """Return the exact value of a number that a vector stores."""
    if isinstance(value, float):
        return Fraction(float(value))
    return Fraction(int(value)) if isinstance(value, Integral) else cast(Fraction, value)


def gaps_to(bests: NDArray[Any], values: ExactArray) -> NDArray[np.float64]:
    """Return best - value for numbers with bests of their own, as doubles of relative error at most 2**-53.

    No value is above its best. A gap above the largest double is infinite.
    """
    kind = values.dtype.kind
    if kind == "f":
        return cast(NDArray[np.float64], np.subtract(bests, values))
    if kind == "O":
        return np.array([nearest_double(gap) for gap in bests - values], dtype=np.float64)
    # Modulo 2**64 the difference is exact, and it lies in [0, 2**64).
    return (bests.view(np.uint64) - values.view(np.uint64)).astype(np.float64)


def differences(values: ExactArray, others: NDArray[Any]) -> NDArray[np.float64]:
    """Return value - other for all pairs, of either sign, as doubles of relative error at most 2**-53."""
    if values.dtype.kind == "f":
        return cast(NDArray[np.float64], np.subtract(values, others))
    gaps = gaps_to(np.maximum(values, others), np.minimum(values, others))
    return np.where(values >= others, gaps, -gaps)
