"""variance and standard_deviation: of numbers between two bounds, from a noisy count and two noisy sums.

For the proof, see docs/reference/mechanisms/noisy_counts.md, "A variance".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, Unpack

from ...base.doors import spelling
from ...base.numbers import Number
from ...errors import InvalidArgument
from ...mechanisms.accuracy import (
    CONFIDENCE,
    NUMBERS_FOR_A_TENTH,
    ROOT_OF_SPREAD,
    SPREAD,
    ErrorBound,
)
from ...selection.answers import Answer
from ...selection.releases import Release
from ...selection.scores.distance import Lattice
from ...selection.terms import RecordTerms
from ..engines.column import Numeric
from ..engines.sums import squares_on_grid
from .data_terms import takes_data_terms_without
from .noisy_numbers import ListNoise, NoisyNumbers, names_of_terms, read_terms
from .sum_bounds import (
    LARGEST_SUM,
    PARTS_OF_A_STEP,
    WORD_LIMIT,
    SumBounds,
    power_of_ten,
    read_bounds,
    size_noise,
    sum_noise,
)
from .units import column_or_none, columns_of, read_unit_query

_TERMS = names_of_terms(RecordTerms, "scale")
_NUMBERS = 3
_EACH = 1 - (1 - CONFIDENCE) / _NUMBERS
"""The probability with which the error of the count, and that of each sum, are not reached."""

_ROOT_BITS = 32
_EVENLY = Fraction(1, 12)
_TENTH = Fraction(1, 10)
_PARTS_OF_AN_ERROR = 8
"""An answer is rounded to a power of ten that is at most such a part of its error."""


@takes_data_terms_without("mechanism", "scale")
def variance(
    data: object,
    column: str | None = None,
    *,
    minimum: Number | None = None,
    maximum: Number | None = None,
    step: Number | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release the variance of numbers between two bounds, from a noisy count and two noisy sums.

    Numbers are clipped and rounded as for `sum`, and measured from the middle of the bounds. One third of epsilon
    (or rho) is spent on their number, one on their sum, and one on the sum of their squares. The answer is the mean
    of the squares minus the square of the mean. This is the population variance, which divides by the number of
    records and not by one less. It needs many records. For numbers that are spread evenly between the bounds, an
    error below a tenth needs about 400 at epsilon 1, and four times as many if the numbers fill half of the bounds.
    A quote shows how many. With fewer records, ask for quantiles. If the noisy count is 0 or below, the answer is
    None.

    Args:
        data: numbers in an array, a series or a list, a table or the path of a file (with `column`), or a histogram
            (a mapping from values to how often they occur). Private.
        column: the name of the column of the table. Without it, the data are the numbers themselves.
        minimum: the lower bound, in units of the data. It is public, so choose it from your own knowledge, never
            from the data. Not needed for a `Dataset` that declares it. The noise grows with the squared distance
            between the bounds.
        maximum: the upper bound, under the same rules.
        step: the step to which numbers are rounded, in units of the data. By default the declared one or, for
            integers, 1. Otherwise it is the power of ten that puts 100,000 to 1,000,000 steps between the bounds.
        max_contributions: the most rows that one privacy unit contributes to each group, 1 by default. The noise
            grows with it. Needs `privacy_unit`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default. The noise of every answer
            grows with it. Needs `privacy_unit`.
        delta: the δ of drawn groups, only with groups="private".
        **terms: the shared arguments, described in `RecordTerms`.

    Returns:
        A number from 0 to a quarter of the squared distance between the bounds, or None. With groups, a dict from
        group to number or None. The noisy numbers of records are in `Release.counts`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the data contain no numbers.

    Side channels: the time that the engine takes to count, and to add up squares, which grows with the number of
    different points.

    For the proof, see docs/reference/mechanisms/noisy_counts.md#noisy_sums.
    """
    return _release_spread("variance", data, column, (minimum, maximum, step), terms)


@takes_data_terms_without("mechanism", "scale")
def standard_deviation(
    data: object,
    column: str | None = None,
    *,
    minimum: Number | None = None,
    maximum: Number | None = None,
    step: Number | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release the standard deviation of numbers between two bounds, the square root of their variance.

    It costs the same as `variance`, and needs the same number of records.

    Args:
        data: as for `variance`. Private.
        column: the name of the column of the table. Without it, the data are the numbers themselves.
        minimum: the lower bound, as for `variance`.
        maximum: the upper bound, under the same rules.
        step: the step to which numbers are rounded, as for `variance`.
        max_contributions: the most rows that one privacy unit contributes to each group, 1 by default. The noise
            grows with it. Needs `privacy_unit`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default. The noise of every answer
            grows with it. Needs `privacy_unit`.
        delta: the δ of drawn groups, only with groups="private".
        **terms: the shared arguments, described in `RecordTerms`.

    Returns:
        A number from 0 to half of the distance between the bounds, or None. With groups, a dict from group to
        number or None. The noisy numbers of records are in `Release.counts`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the data contain no numbers.

    Side channels: those of `variance`.

    For the proof, see docs/reference/mechanisms/noisy_counts.md#noisy_sums.
    """
    return _release_spread("standard_deviation", data, column, (minimum, maximum, step), terms)


def _release_spread(
    verb: Literal["variance", "standard_deviation"],
    table: object,
    column: str | None,
    ends: Sequence[Number | None],
    terms: RecordTerms,
) -> Release:
    """Release a variance, or its root."""
    column = column_or_none(column)
    own = read_terms(terms, _TERMS)
    if own.delta is not None:
        raise InvalidArgument(
            f"delta is that of groups that nobody lists: it goes with {spelling(groups='private')}"
        )
    unit_query = read_unit_query(own.of_units, bounded=True)
    bounds = read_bounds(*ends)
    Lattice(_finest(bounds.step, 2))  # or it is too long
    price = own.price(unit_query)
    each, squares = price.part(_NUMBERS), squares_of(bounds)
    noises = [
        size_noise(unit_query, each),
        sum_noise(bounds.from_middle(), unit_query, each),
        sum_noise(squares, unit_query, each, LARGEST_SUM * WORD_LIMIT),
    ]
    if len({one.mechanism.name for one in noises}) > 1:
        noises = [one.geometric() for one in noises]
    spread = Spread(bounds, tuple(noises), unit_query.group_count, is_root=verb != "variance")
    question = NoisyNumbers(
        unit_query,
        noises,
        columns_of(unit_query, table, column, bounds.stand_in),
        spread.numbers,
        spread.needs,
        price,
    )
    return question.release(bounds.query(verb, column), spread.name)


def squares_of(bounds: SumBounds) -> SumBounds:
    """Return the bounds of squares of steps from the middle, which are measured from their own middle."""
    reach = (bounds.high - bounds.middle) ** 2
    return SumBounds(-(reach // 2), reach - reach // 2, bounds.step**2)


@dataclass(frozen=True)
class Spread:
    """The variance of numbers between bounds, or its root, from a count and two sums. Public.

    Attributes:
        bounds: the bounds.
        noises: the noise of the count, of the sum from the middle, and of the sum of squares.
        groups: how many groups there are, whose errors hold together.
        is_root: whether the root is released.
    """

    bounds: SumBounds
    noises: tuple[ListNoise, ListNoise, ListNoise] | tuple[ListNoise, ...]
    groups: int
    is_root: bool

    def numbers(self, column: Numeric) -> list[list[int]]:
        """Return how many numbers there are, their sum from the middle, and that of their squares. Private."""
        bounds, squares = self.bounds, squares_of(self.bounds)
        number, total, squared = squares_on_grid(column, bounds.grid, bounds.middle - bounds.low)
        return [[number], [total], [squared + squares.low * number]]

    def needs(self) -> ErrorBound:
        """Return how many numbers, spread evenly between the bounds, keep the error below a tenth of the variance.

        Of n of them it is P/n + (Q/n)**2, as their mean is the middle. It is at most T where n is at least the root
        of T n**2 - P n - Q**2.
        """
        slope, tilt = self._offs
        most = self._width**2 * _EVENLY * _TENTH
        root = _root(slope**2 + 4 * most * tilt**2) + Fraction(1, 1 << _ROOT_BITS)
        return ErrorBound(
            Fraction(math.ceil((slope + root) / (2 * most))), CONFIDENCE, NUMBERS_FOR_A_TENTH
        )

    def name(self, numbers: Sequence[int]) -> Answer:
        """Return the answer of drawn numbers; None where the noisy count is 0 or below it."""
        number, total, squared = numbers
        if number <= 0:
            return Answer(None, counts=number)
        reach, slope_and_tilt = self.bounds.from_middle(), self._offs
        mean = min(max(Fraction(total, number), Fraction(reach.low)), Fraction(reach.high))
        raw = Fraction(squared, number) - squares_of(self.bounds).low - mean**2
        slope, tilt = (one / number for one in slope_and_tilt)
        answer, most = min(max(raw, Fraction(0)), self._most), self._most
        error = min(slope + tilt * (2 * abs(mean) + tilt), most)
        power, unit_of_error = 2, SPREAD
        if self.is_root:
            answer, error = _root(answer), _error_of_root(answer, error)
            most, power, unit_of_error = self._width / 2, 1, ROOT_OF_SPREAD
        scale = self.bounds.step**power
        finest = _finest(self.bounds.step, power)
        noise = min(error / _PARTS_OF_AN_ERROR, most * _TENTH) * scale
        unit = max(power_of_ten(noise), finest)
        index = min(math.floor(answer * scale / unit + Fraction(1, 2)), most * scale // unit)
        bound = ErrorBound(error * scale + unit, CONFIDENCE, unit_of_error)
        return Answer(Lattice(unit)[index], counts=number, error=bound)

    @property
    def _width(self) -> Fraction:
        """The distance of the bounds, in steps."""
        return Fraction(self.bounds.high - self.bounds.low)

    @property
    def _most(self) -> Fraction:
        """The largest variance that there is between the bounds, in squares of steps."""
        return self._width**2 / 4

    @cached_property
    def _offs(self) -> tuple[Fraction, Fraction]:
        """By how much the mean of squares, and that of numbers, are off, times the noisy count.

        Let n numbers of mean m be counted as `number`, and their sum as n m + t. The quotient is off by
        |m (n - number) + t| / number, and |m| is at most the distance of the farther end.
        """
        size, total, squared = (one.error(self.groups, _EACH) for one in self.noises)
        most_squared, most = squares_of(self.bounds).high, self.bounds.from_middle().high
        return Fraction(most_squared * size + squared), Fraction(most * size + total)


def _finest(step: Fraction, power: int) -> Fraction:
    """Return the finest unit of an answer: the power of ten below a thousandth of a step, or of its square."""
    return power_of_ten(step**power / PARTS_OF_A_STEP)


def _root(number: Fraction) -> Fraction:
    """Return the root of a number, rounded down to 32 bits behind the point."""
    scaled = (number.numerator << 2 * _ROOT_BITS) // number.denominator
    return Fraction(math.isqrt(scaled), 1 << _ROOT_BITS)


def _error_of_root(variance: Fraction, error: Fraction) -> Fraction:
    """Return how far off the root of a variance is, if that is off by an error.

    Roots r and s differ by |r**2 - s**2| / (r + s), which is at most |r**2 - s**2| / r, and at most the root of it.
    """
    tiny = Fraction(1, 1 << _ROOT_BITS)
    by_root, root = _root(error) + tiny, _root(variance)
    return min(by_root, error / root) + tiny if root else by_root + tiny
