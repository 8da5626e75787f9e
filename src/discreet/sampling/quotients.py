"""Exact numbers as integers over one denominator: a long list of them is compared all at once.

One by one, fractions take a hundred times as long.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation, localcontext
from fractions import Fraction
from math import lcm
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .vectors import objects

_END = 2**53
"""Integers below it, either way, are doubles."""

_LONGEST = 15
"""Numerators and denominators have at most so many figures besides the first: 10**16 is above 2**53."""

_PRIME = 2**61 - 1
_HAS_LONG_HASHES = sys.hash_info.modulus == _PRIME
"""Whether hashes of numbers are modulo that prime, as where Python is of 64 bits."""

_UNROUNDED = Context(prec=64, traps=[Inexact, InvalidOperation])
"""Sums of so many such decimals, and their products with a power of ten, have fewer figures, or it raises."""

LeastAbove = tuple[NDArray[Any], NDArray[np.bool_]]
"""For every number the least one of a type that is no less, and whether they are equal."""


class Quotients:
    """Numbers as integers over one denominator, all below 2**53; iterated, they are fractions.

    Args:
        numerators: the integers.
        denominator: the denominator, above zero. It need not be the least.
    """

    __slots__ = ("denominator", "numerators")

    def __init__(self, numerators: NDArray[np.int64], denominator: int) -> None:
        self.numerators, self.denominator = numerators, denominator

    def __len__(self) -> int:
        return len(self.numerators)

    def __iter__(self) -> Iterator[Fraction]:
        return (Fraction(one, self.denominator) for one in self.numerators.tolist())

    def fractions(self) -> NDArray[np.object_]:
        """Return the numbers in an array."""
        return objects([*self])

    def are_distinct(self) -> bool:
        """Return whether no two are equal."""
        ascending = np.sort(self.numerators)
        return bool((ascending[1:] != ascending[:-1]).all())

    def integers_up(self) -> LeastAbove:
        """Return the least integers that are no less than the numbers, and where they are equal."""
        whole, rest = np.divmod(self.numerators, self.denominator)
        return whole + (rest > 0), rest == 0

    def doubles_up(self) -> LeastAbove:
        """Return the least doubles that are no less than the numbers, and where they are equal."""
        nearest = self.numerators / np.float64(self.denominator)
        beyond = self._beyond(nearest)
        return np.where(beyond > 0, np.nextafter(nearest, np.inf), nearest), beyond == 0

    def _beyond(self, doubles: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return integers of the sign of number - double, for the doubles nearest to the numbers.

        With double = m * 2**-s, m and s integers, abs(m) <= 2**53, it is that of n * 2**s - m * d, for the number
        n / d. The double is at most 2**-53 of the number away from it, so the difference is below 2**54 and is
        exact modulo 2**64. As the number is below 2**53, s is not negative.
        """
        parts, exponents = np.frexp(doubles)
        m, s = np.ldexp(parts, 53).astype(np.int64), 53 - exponents.astype(np.int64)
        top = np.where(s < 64, self.numerators << np.minimum(s, 63), 0)
        beyond: NDArray[np.int64] = top - m * np.int64(self.denominator)
        return beyond


def read_quotients(numbers: Sequence[Any], types: set[type]) -> Quotients | None:
    """Return numbers over one denominator.

    None if they are not all finite and of Python's own types, or numerators or the denominator are not below 2**53.

    Args:
        numbers: the numbers.
        types: their exact types.
    """
    if not types <= _READER_OF.keys():
        return None
    try:
        if len(types) == 1:
            return _READER_OF[next(iter(types))](numbers)
        return _read_mixed(numbers, sorted(types, key=[*_READER_OF].index))
    except (OverflowError, ValueError, DecimalException):  # too long, or not finite
        return None


def _read_mixed(numbers: Sequence[Any], types: Sequence[type]) -> Quotients | None:
    """Return numbers of several types: those of one type are read together."""
    codes = dict(zip(types, range(len(types)), strict=True))
    kinds = np.frombuffer(bytes(map(codes.__getitem__, map(type, numbers))), dtype=np.uint8)
    numerators, denominators = np.empty((2, len(numbers)), dtype=np.int64)
    for kind, code in codes.items():
        places = np.flatnonzero(kinds == code)
        part = _READER_OF[kind]([numbers[i] for i in places.tolist()])
        if part is None:
            return None
        numerators[places], denominators[places] = part.numerators, part.denominator
    return _over_one(numerators, denominators)


def _over_one(numerators: NDArray[np.int64], denominators: NDArray[np.int64]) -> Quotients | None:
    """Return quotients of integers below 2**53 over one denominator, if there is one below 2**53."""
    one = 1
    for denominator in np.unique(denominators).tolist():
        one = lcm(one, denominator)
        if one >= _END:
            return None
    return _product(numerators, one // denominators, one)


def _product(
    numerators: NDArray[np.int64], factors: NDArray[np.int64], denominator: int
) -> Quotients | None:
    """Return the products as numerators, if they and the factors are below 2**53."""
    if not _are_short(numerators):
        return None
    # Both are doubles, and their rounded product is below 2**53 if and only if the product is.
    if not bool((np.abs(numerators).astype(np.float64) * factors < _END).all()):
        return None
    return Quotients(numerators * factors, denominator)


def _are_short(numerators: NDArray[np.int64]) -> bool:
    return int(numerators.min()) > -_END and int(numerators.max()) < _END


def _read_integers(numbers: Sequence[Any]) -> Quotients | None:
    numerators = np.array(numbers, dtype=np.int64)
    return Quotients(numerators, 1) if _are_short(numerators) else None


def _read_decimals(numbers: Sequence[Any]) -> Quotients | None:
    """Return decimals over a power of ten: the exponent of an exact sum is the least of all exponents."""
    first_figures = np.fromiter(map(Decimal.adjusted, numbers), dtype=np.int64, count=len(numbers))
    if first_figures.min() < -_LONGEST or first_figures.max() > _LONGEST:
        return None
    with localcontext(_UNROUNDED):
        exponent: Any = sum(numbers).as_tuple().exponent
        if isinstance(exponent, str):  # of a NaN or an infinity
            return None
        places = max(0, -exponent)
        if max(0, int(first_figures.max())) + places > _LONGEST:
            return None
        read = _numerators_of_hashes if _HAS_LONG_HASHES else _numerators_of_products
        numerators = read(numbers, places)
    return Quotients(numerators, 10**places) if _are_short(numerators) else None


def _numerators_of_products(numbers: Sequence[Decimal], places: int) -> NDArray[np.int64]:
    """Return decimals times a power of ten, one by one."""
    whole = map(Decimal(10**places).__mul__, numbers)
    return np.fromiter(map(int, whole), dtype=np.int64, count=len(numbers))


def _numerators_of_hashes(numbers: Sequence[Decimal], places: int) -> NDArray[np.int64]:
    """Return decimals times a power of ten, all at once, from Python's definition of the hash of a number.

    Of n / d, where d is no multiple of the prime P = 2**61 - 1, it is abs(n) * d**-1 modulo P with the sign of n:
    so times d it is n, as abs(n) < 10**(_LONGEST + 1) < P. Python has -2 in place of the hash -1; where it is -2,
    the product is computed.
    """
    hashes = np.fromiter(map(hash, numbers), dtype=np.int64, count=len(numbers))
    rest = np.abs(hashes).astype(np.uint64)  # times 5 it is below 2**64
    for _ in range(places):
        rest = _fold(2 * _fold(5 * rest))
    numerators: NDArray[np.int64] = np.sign(hashes) * rest.astype(np.int64)
    odd = np.flatnonzero(hashes == -2)
    numerators[odd] = _numerators_of_products([numbers[i] for i in odd.tolist()], places)
    return numerators


def _fold(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return smaller numbers that are the same modulo P, as 2**61 is 1 modulo P.

    Of five times a number from 1 to P - 1 it is at most P + 3, and of twice a number up to there at most P - 1,
    where it is no multiple of P.
    """
    return (numbers & np.uint64(_PRIME)) + (numbers >> np.uint64(61))


def _read_floats(numbers: Sequence[Any]) -> Quotients | None:
    tops, bottoms = zip(*map(float.as_integer_ratio, numbers), strict=True)
    return _of_parts(tops, bottoms)


def _read_fractions(numbers: Sequence[Any]) -> Quotients | None:
    return _of_parts(*([*map(part, numbers)] for part in _PARTS))


def _of_parts(tops: Sequence[int], bottoms: Sequence[int]) -> Quotients | None:
    """Return the quotients of integers."""
    numerators, denominators = (np.array(part, dtype=np.int64) for part in (tops, bottoms))
    if not (_are_short(numerators) and _are_short(denominators)):
        return None
    return _over_one(numerators, denominators)


_PARTS = attrgetter("numerator"), attrgetter("denominator")

_READER_OF: dict[type, Callable[[Sequence[Any]], Quotients | None]] = {
    int: _read_integers,
    float: _read_floats,
    Fraction: _read_fractions,
    Decimal: _read_decimals,
}
