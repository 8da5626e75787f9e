"""sum and mean: of numbers between two bounds, with geometric noise."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Unpack

from .. import tables
from ..accuracy import CONFIDENCE, SUMMED, ErrorBound, geometric_error
from ..answers import Answer
from ..arguments import column_name
from ..candidates import Grid
from ..errors import InvalidArgument, InvalidNumber, preview
from ..mechanisms.contract import PrivacyParameter
from ..mechanisms.noisy_counts import NoisyCounts, counts_sensitivity
from ..numbers import Number, exact, positive
from ..privacy.sensitivity import Sensitivity
from ..releases import Release
from ..scores.distance import Lattice
from ..selection import Query
from ..tables.column import Numeric
from ..tables.sums import total_on_grid
from ..terms import RecordTerms, takes_terms_without
from .noisy_numbers import Noise, NoisyNumbers, names_of_terms, read_terms
from .units import UnitQuery, columns_of, read_unit_query

_TERMS = names_of_terms(RecordTerms)
_MEAN_TERMS = names_of_terms(RecordTerms, "scale")

_WORD = 2**63
"""Steps are below it, so that 2**63 records, more than any table has, add up within 128 bits."""

_LARGEST_SUM = _WORD**2
_DEFAULT_STEPS = 10**5
_PARTS_OF_A_STEP = 1000


@dataclass(frozen=True, slots=True)
class Bounds:
    """Public bounds, in whole steps: the ends as they are rounded.

    Attributes:
        low: the lower end.
        high: the upper end.
        step: the step.
    """

    low: int
    high: int
    step: Fraction

    @property
    def grid(self) -> Grid:
        """The points to which records are rounded."""
        return Grid(self.low * self.step, self.high * self.step, self.step)

    @property
    def middle(self) -> int:
        """A point in the middle, from which a mean is measured."""
        return (self.low + self.high) // 2

    def from_middle(self) -> "Bounds":
        """Return the bounds of numbers that are measured from the middle."""
        return Bounds(self.low - self.middle, self.high - self.middle, self.step)

    def sensitivity(self, unit_query: UnitQuery) -> Sensitivity:
        """Return the sensitivity of the sums of all groups, in steps: docs/reference/mechanisms/noisy_sums.md."""
        of, groups = unit_query.records, unit_query.group_count
        rows = of.rows or 1
        # A record that comes may be at either end. One that is replaced goes from one end to the other, or from
        # none to an end: rows without a number are not added, which counts as 0.
        comes = rows * max(abs(self.low), abs(self.high))
        if unit_query.neighbors == "add_remove":
            return counts_sensitivity(of.most_groups, "add_remove", change=comes)
        moves = rows * (max(self.high, 0) - min(self.low, 0))
        if groups == 1:
            return counts_sensitivity(1, "replace_one", change=moves)
        # One sum may move by as much as two do: only all together are bounded.
        spread = min(2 * of.most_groups * comes, groups * moves)
        return Sensitivity(Fraction(spread), "replace_one")


@takes_terms_without("mechanism", "size", asks="sums")
def sum(
    data: tables.Table,
    column: str | None = None,
    *,
    minimum: Number | None = None,
    maximum: Number | None = None,
    step: Number | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release the sum of numbers between two bounds, with geometric noise.

    Each number is clipped to the bounds and rounded to a multiple of the step, half up and exactly, by itself. Then
    whole numbers of steps are added, exactly. Null, NaN and, in text files, cells that spell no number are left
    out.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a histogram:
            a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        minimum: the lower bound, in units of the data; public, from what you know and not from the data. May be
            left out for a `Dataset` that declares it. The noise grows with the bound that is farther from 0.
        maximum: the upper bound, likewise.
        step: the distance of neighbouring answers, in units of the data. Without it the one that is declared, 1 for
            integers; else the power of ten with 100,000 to 1,000,000 steps between the bounds.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the data.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group; the noise
            grows with it. Needs `privacy_unit`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the noise of every sum
            grows with it. Needs `privacy_unit`.
        **terms: the shared arguments, described in `RecordTerms`.

    Returns:
        A number, a multiple of the step; with groups a dict from group to number.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the data hold no numbers.

    Side channels: the time that the engine takes to count. Drawing the noise takes as long whatever the sum is.

    Proof: docs/reference/mechanisms/noisy_sums.md.
    """
    column = None if column is None else column_name(column)
    parameter, others = read_terms(terms, _TERMS)
    bounds = _read_bounds(minimum, maximum, step)
    unit_query = read_unit_query(others, bounded=True)
    left = _in_steps(unit_query.for_answers(parameter), bounds.step)
    noise = _sum_noise(bounds, unit_query, left)
    columns = columns_of(unit_query, data, column)
    lattice = Lattice(bounds.step)

    def totals_of(one: Numeric) -> list[list[int]]:
        number, total = total_on_grid(one, bounds.grid)
        return [[total + bounds.low * number]]

    def name(numbers: Sequence[int]) -> object:
        [steps] = numbers
        return lattice[steps]

    def worst_error() -> ErrorBound:
        off = geometric_error(noise.eta, unit_query.group_count, CONFIDENCE)
        return ErrorBound((off + 1) * bounds.step if off else Fraction(0), CONFIDENCE, SUMMED)

    question = NoisyNumbers(unit_query, [noise], columns, totals_of, worst_error)
    return question.release(_query("sum", column, bounds), terms, name)


@takes_terms_without("mechanism", "size", "scale", asks="sums")
def mean(
    data: tables.Table,
    column: str | None = None,
    *,
    minimum: Number | None = None,
    maximum: Number | None = None,
    step: Number | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release the mean of numbers between two bounds: a noisy sum over a noisy count.

    Numbers are clipped and rounded as for `sum`, and measured from the middle of the bounds. One half of epsilon
    (or rho) buys how many numbers there are, the other half their sum, both with geometric noise; their quotient is
    cut to the bounds and rounded to a thousandth of a step. How many there are is never taken as public. Where the
    noisy count is 0 there is no mean, and the answer is None: ask with a larger epsilon, or of more records.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a histogram:
            a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        minimum: the lower bound, in units of the data; public, from what you know and not from the data. May be
            left out for a `Dataset` that declares it. The noise grows with the distance of the bounds.
        maximum: the upper bound, likewise.
        step: the step to which numbers are rounded, in units of the data. Without it the one that is declared, 1
            for integers; else the power of ten with 100,000 to 1,000,000 steps between the bounds.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group; the noise
            grows with it. Needs `privacy_unit`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the noise of every mean
            grows with it. Needs `privacy_unit`.
        **terms: the shared arguments, described in `RecordTerms`.

    Returns:
        A number from `minimum` to `maximum`, or None; with groups a dict from group to number or None. The noisy
        numbers of records are in `Release.counts`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the data hold no numbers.

    Side channels: the time that the engine takes to count. Drawing the noise takes as long whatever the data are.

    Proof: docs/reference/mechanisms/noisy_sums.md.
    """
    column = None if column is None else column_name(column)
    parameter, others = read_terms(terms, _MEAN_TERMS)
    bounds = _read_bounds(minimum, maximum, step)
    unit_query = read_unit_query(others, bounded=True)
    left = unit_query.for_answers(parameter)
    half = PrivacyParameter(left.kind, left.value / 2)
    noises = [_size_noise(unit_query, half), _sum_noise(bounds.from_middle(), unit_query, half)]
    columns = columns_of(unit_query, data, column)

    def totals_of(one: Numeric) -> list[list[int]]:
        number, total = total_on_grid(one, bounds.grid)
        return [[number], [total + (bounds.low - bounds.middle) * number]]

    question = NoisyNumbers(unit_query, noises, columns, totals_of, lambda: None)
    return question.release(_query("mean", column, bounds), terms, _name_of_mean(bounds))


def _name_of_mean(bounds: Bounds) -> Callable[[Sequence[int]], Answer]:
    """Return the function that makes a mean of a noisy count and a noisy sum of steps from the middle."""
    lattice = Lattice(bounds.step / _PARTS_OF_A_STEP)

    def name(numbers: Sequence[int]) -> Answer:
        number, steps = numbers
        if number <= 0:
            return Answer(None, counts=number)
        quotient = bounds.middle + Fraction(steps, number)
        quotient = min(max(quotient, Fraction(bounds.low)), Fraction(bounds.high))
        return Answer(lattice[_round(quotient * _PARTS_OF_A_STEP)], counts=number)

    return name


def _query(verb: str, column: str | None, bounds: Bounds) -> Query:
    """Return the query in words, and in plain values."""
    words = f"{verb} of {column or 'numbers'}, {bounds.grid!r}"
    public = {"column": column, "low": bounds.low, "high": bounds.high, "step": bounds.step}
    return Query(verb, words, public)


def _sum_noise(bounds: Bounds, unit_query: UnitQuery, parameter: PrivacyParameter) -> Noise:
    """Return the noise of the sums of all groups."""
    mechanism = NoisyCounts(-_LARGEST_SUM, _LARGEST_SUM)
    return Noise(mechanism, bounds.sensitivity(unit_query), parameter)


def _size_noise(unit_query: UnitQuery, parameter: PrivacyParameter) -> Noise:
    """Return the noise of how many numbers there are in each group."""
    rows = unit_query.records.rows or 1
    parts = unit_query.moved_groups()
    sensitivity = counts_sensitivity(parts, unit_query.neighbors, change=rows)
    return Noise(NoisyCounts(), sensitivity, parameter)


def _in_steps(parameter: PrivacyParameter, step: Fraction) -> PrivacyParameter:
    """Return the privacy parameter, a scale in steps."""
    if parameter.kind != "scale":
        return parameter
    return PrivacyParameter("scale", parameter.value / step)


def _read_bounds(minimum: object, maximum: object, step: object) -> Bounds:
    """Return public bounds, rounded to whole steps.

    Raises:
        InvalidArgument: if one is missing or no number, or the lower is not below the upper one, or no record
            could count; or if a sum of steps might not fit in 128 bits.
    """
    if minimum is None or maximum is None:
        raise InvalidArgument(
            "minimum and maximum are missing: give the bounds to which numbers are clipped, such as minimum=0, "
            "maximum=120, from what you know and not from the data; or describe the data once with discreet.Dataset"
        )
    low, high = exact(minimum, "minimum"), exact(maximum, "maximum")
    if low >= high:
        raise InvalidNumber(
            f"minimum must be below maximum, got {preview(minimum)} and {preview(maximum)}"
        )
    size = _default_step(high - low) if step is None else positive(step, "step")
    bounds = Bounds(_round(low / size), _round(high / size), size)
    if max(abs(bounds.low), abs(bounds.high)) >= _WORD:
        raise InvalidNumber(
            f"step {preview(step)} is too fine: bounds must be less than 2**63 steps from 0, so that whatever the "
            "data are, their sum is exact"
        )
    if bounds.low == bounds.high:
        raise InvalidNumber(
            f"step {preview(step)} is too coarse: both bounds are rounded to the same multiple of it"
        )
    Lattice(size / _PARTS_OF_A_STEP)  # or it is too long
    return bounds


def _default_step(width: Fraction) -> Fraction:
    """Return the power of ten of which 100,000 to 1,000,000 make the width."""
    power = Fraction(10) ** (len(str(math.floor(width))) - 1) if width >= 1 else Fraction(1)
    while power > width:
        power /= 10
    return power / _DEFAULT_STEPS


def _round(number: Fraction) -> int:
    """Return the nearest whole number, upwards from half way."""
    return math.floor(number + Fraction(1, 2))
