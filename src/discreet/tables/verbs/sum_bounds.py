"""Public bounds in whole steps: the sums between them, their noise, and the mean that follows."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from ...base.doors import fix, spelling
from ...base.numbers import Number, exact, positive
from ...errors import InvalidArgument, InvalidNumber, preview
from ...mechanisms.accuracy import AVERAGED, CONFIDENCE, SUMMED, ErrorBound
from ...mechanisms.count_noise import NoiseChoice
from ...mechanisms.noisy_counts import counts_sensitivity
from ...privacy.sensitivity import ReplacedGroups, Sensitivity
from ...selection.answers import Answer
from ...selection.candidates import Grid
from ...selection.question import Query
from ...selection.scores.distance import Lattice
from ..engines.column import Group, Numeric
from ..engines.sums import total_of_units, total_on_grid
from ..values.kinds import plain
from ..values.stand_ins import StandIn
from .noisy_numbers import ListNoise, NoisePrice
from .time_bounds import TimeBounds, is_moment, read_time_bounds
from .units import UnitQuery

WORD_LIMIT = 2**63
"""Steps are below it, so that 2**63 records, more than any table has, add up within 128 bits."""

LARGEST_SUM = WORD_LIMIT**2

TOTAL_LIMIT = 2**32
"""Bounds and totals of units are below it where totals are clipped, so that 2**31 rows of one add up in 64 bits."""

_DEFAULT_STEPS = 10**5
PARTS_OF_A_STEP = 1000

_EACH = (1 + CONFIDENCE) / 2
"""The probability with which the error of the count of a mean, and that of its sum, are not reached."""


@dataclass(frozen=True, slots=True)
class SumBounds:
    """Public bounds, in whole steps: the ends as they are rounded.

    Attributes:
        low: the lower end.
        high: the upper end.
        step: the step.
        of_truths: whether the numbers are truths, 0 and 1.
        times: bounds of dates or times, of which these are whole steps from the lower one; or None.
        totals: the ends to which the total of a privacy unit is clipped, in every group; or None.
    """

    low: int
    high: int
    step: Fraction
    of_truths: bool = False
    totals: tuple[int, int] | None = None
    times: TimeBounds | None = None

    @property
    def stand_in(self) -> StandIn | None:
        """The meaning of the numbers in the engine; None if the column holds them."""
        if self.times is not None:
            return self.times.times.clock
        return "truth" if self.of_truths else None

    @property
    def grid(self) -> Grid:
        """The points to which records are rounded."""
        return Grid(self.low * self.step, self.high * self.step, self.step)

    def grid_of(self, column: Numeric) -> Grid:
        """Return the points to which the records of a column are rounded, as the column has them."""
        if self.times is None:
            return self.grid
        grid: Any = self.times.times.in_numbers(column.unit)
        return grid  # type: ignore[no-any-return]

    @property
    def middle(self) -> int:
        """A point in the middle, from which a mean is measured."""
        return (self.low + self.high) // 2

    def query(self, verb: str, column: str | None) -> Query:
        """Return the question in words, and in plain values."""
        public: dict[str, Any] = {
            "column": column,
            "low": self.low,
            "high": self.high,
            "step": self.step,
        }
        public |= {"of_truths": True} if self.of_truths else {}
        facts = {"column": column, **(self.grid if self.times is None else self.times.times).facts}
        public |= {} if self.times is None else {"times": self.times.times.spelling}
        if self.totals is not None:
            public |= {"totals": self.totals}
            facts |= {"totals": tuple(str(end * self.step) for end in self.totals)}
        return Query(verb, facts, public)

    def total(self, column: Numeric) -> list[int]:
        """Return the sum of the numbers in a column, in steps. Private."""
        number, total = total_on_grid(column, self.grid_of(column))
        return [total + self.low * number]

    def total_of_units(self, group: Group) -> list[int]:
        """Return the sum of the clipped totals of privacy units, in steps. Private."""
        assert self.totals is not None
        return [total_of_units(group, self.grid, self.totals)]

    def size_and_total(self, column: Numeric) -> list[list[int]]:
        """Return how many numbers there are, and their sum from the middle, in steps. Private."""
        number, total = total_on_grid(column, self.grid_of(column))
        return [[number], [total + (self.low - self.middle) * number]]

    def from_middle(self) -> "SumBounds":
        """Return the bounds of numbers that are measured from the middle."""
        return SumBounds(self.low - self.middle, self.high - self.middle, self.step)

    def sensitivity(self, unit_query: UnitQuery) -> Sensitivity:
        """Return the sensitivity of the sums of all groups, in steps: docs/reference/mechanisms/noisy_counts.md."""
        each, groups = unit_query.parts, unit_query.group_count
        low, high = self.ends_of_record(unit_query.records.rows)
        # A record that comes may be at either end. One that is replaced goes from one end to the other, or from
        # none to an end: rows without a number are not added, which counts as 0.
        comes = max(abs(low), abs(high), 1)
        if unit_query.neighbors == "add_remove":
            return counts_sensitivity(each, "add_remove", change=comes)
        moves = max(max(high, 0) - min(low, 0), 1)
        if groups == 1:
            return counts_sensitivity(1, "replace_one", change=moves)
        if moves == comes:
            return counts_sensitivity(unit_query.moved_groups(), "replace_one", change=comes)
        # One sum may move by as much as two do.
        spread, common = min(2 * each * comes, groups * moves), max(0, 2 * each - groups)
        replacement = ReplacedGroups(each, common, comes, moves)
        return Sensitivity(Fraction(spread), "replace_one", replacement=replacement)

    def ends_of_record(self, rows: int | None) -> tuple[int, int]:
        """Return the least and the largest sum of one record, in steps, of so many rows; None for any number."""
        if rows is None and self.totals is not None:
            return self.totals
        few = rows or 1
        low, high = min(self.low, few * self.low), max(self.high, few * self.high)
        if self.totals is None:
            return low, high
        least, most = self.totals
        return min(max(low, least), most), min(max(high, least), most)


def read_sum_bounds(
    ends: tuple[Number | None, Number | None, Number | None],
    totals: tuple[Number | None, Number | None],
) -> SumBounds:
    """Return public bounds of numbers, and those of the total of a privacy unit if there are any.

    Args:
        ends: minimum, maximum and step. Of totals that are bounded they may be left out: then no number counts for
            more than a total.
        totals: the least and the largest total.

    Raises:
        InvalidArgument: as `read_bounds`, and if the least total is not below the largest one.
    """
    minimum, maximum, step = ends
    if totals == (None, None):
        return read_bounds(minimum, maximum, step)
    least, most = _read_totals(minimum, *totals)
    bounds = read_bounds(
        min(least, Fraction(0)) if minimum is None else minimum,
        max(most, Fraction(0)) if maximum is None else maximum,
        step,
    )
    steps = _round(least / bounds.step), _round(most / bounds.step)
    if max(map(abs, (*steps, bounds.low, bounds.high))) >= TOTAL_LIMIT:
        raise InvalidNumber(
            f"step {bounds.step} is too fine: where max_sum bounds totals, all bounds must be less than 2**32 "
            "steps from 0. Give a larger step"
        )
    if steps[0] == steps[1]:
        raise InvalidNumber(
            f"step {bounds.step} is too coarse: min_sum and max_sum are rounded to the same multiple of it"
        )
    return replace(bounds, totals=steps)


def _read_totals(
    minimum: Number | None, min_sum: Number | None, max_sum: Number | None
) -> tuple[Fraction, Fraction]:
    """Return the ends of the totals of privacy units: from 0 on, or from as far below it if numbers may be."""
    if max_sum is None:
        raise InvalidArgument(
            "min_sum goes with max_sum, the largest total of one privacy unit: give both"
        )
    most = exact(max_sum, "max_sum")
    if min_sum is not None:
        least = exact(min_sum, "min_sum")
    else:
        is_below = (
            minimum is not None and not isinstance(minimum, bool) and exact(minimum, "minimum") < 0
        )
        least = -most if is_below else Fraction(0)
    if least >= most:
        shown = "0" if min_sum is None else preview(min_sum)
        raise InvalidNumber(
            f"max_sum must be above min_sum, which is {shown}, got {preview(max_sum)}"
        )
    return least, most


def read_mean_bounds(minimum: object, maximum: object, step: object) -> SumBounds:
    """Return public bounds of numbers, as `read_bounds` does, or of dates or times."""
    times = read_time_bounds(minimum, maximum, step)
    if times is None:
        return read_bounds(minimum, maximum, step)
    return SumBounds(0, times.times.size - 1, Fraction(times.step), times=times)


def read_bounds(minimum: object, maximum: object, step: object) -> SumBounds:
    """Return public bounds, rounded to whole steps.

    Raises:
        InvalidArgument: if one is missing or no number, or the lower is not below the upper one, or no record
            could count; or if a sum of steps might not fit in 128 bits.
    """
    if minimum is None or maximum is None:
        raise InvalidArgument(
            "minimum and maximum are missing: give the bounds to which numbers are clipped, such "
            f"as {spelling(minimum=0, maximum=120)}, from what you know and not from the data. Or "
            f"describe the data once: {fix('a description')}. If you know no bounds, "
            f"{spelling(bounds_share='1/10')} spends a tenth of epsilon on estimating them. "
            "For the share of truths give the bounds false and true"
        )
    if (_read_truth(minimum), _read_truth(maximum)) == (False, True):
        return _bounds_of_truths(step)
    if is_moment(minimum) or is_moment(maximum):
        raise InvalidArgument(
            "minimum and maximum must be numbers: dates and times have a mean, a median and quantiles alone, got "
            f"{preview(minimum)} and {preview(maximum)}"
        )
    low, high = exact(minimum, "minimum"), exact(maximum, "maximum")
    if low >= high:
        raise InvalidNumber(
            f"minimum must be below maximum, got {preview(minimum)} and {preview(maximum)}"
        )
    size = default_step(high - low) if step is None else positive(step, "step")
    bounds = SumBounds(_round(low / size), _round(high / size), size)
    if max(abs(bounds.low), abs(bounds.high)) >= WORD_LIMIT:
        raise InvalidNumber(
            f"step {preview(step)} is too fine: bounds must be less than 2**63 steps from 0, so "
            "that the sum of any data is exact"
        )
    if bounds.low == bounds.high:
        raise InvalidNumber(
            f"step {preview(step)} is too coarse: both bounds are rounded to the same multiple of "
            "it"
        )
    Lattice(size / PARTS_OF_A_STEP)  # or it is too long
    return bounds


def _read_truth(bound: object) -> bool | None:
    """Return a bound that is False or True, or spells it on a command line; None for a number."""
    one = _SPELLED.get(bound.lower()) if isinstance(bound, str) else plain(bound)
    return one if isinstance(one, bool) else None


_SPELLED = {"false": False, "true": True}


def _bounds_of_truths(step: object) -> SumBounds:
    """Return the bounds of truths, which are 0 and 1 and public.

    Raises:
        InvalidArgument: if there is a step other than 1.
    """
    if step is None or positive(step, "step") == 1:
        return SumBounds(0, 1, Fraction(1), of_truths=True)
    raise InvalidArgument(f"truths are 0 and 1, in steps of 1: leave out step, got {preview(step)}")


def bounds_between(low: Number, high: Number) -> SumBounds:
    """Return the bounds of two numbers, the lower one first, that may be equal: then all records count as one."""
    ends = exact(low, "low"), exact(high, "high")
    width = ends[1] - ends[0] or abs(ends[0]) or Fraction(1)
    step = default_step(width)
    return SumBounds(_round(ends[0] / step), _round(ends[1] / step), step)


def default_step(width: Fraction) -> Fraction:
    """Return the power of ten of which 100,000 to 1,000,000 make the width."""
    return power_of_ten(width) / _DEFAULT_STEPS


def sum_noise(
    bounds: SumBounds, unit_query: UnitQuery, price: NoisePrice, largest: int = LARGEST_SUM
) -> ListNoise:
    """Return the noise of the sums of all groups, which are cut at the largest on both sides."""
    return price.noise(bounds.sensitivity(unit_query), unit_query.group_count, largest)


def error_of_sum(bounds: SumBounds, noise: ListNoise, groups: int = 1) -> ErrorBound:
    """Return how far off any of the sums of so many groups may be."""
    off = noise.error(groups)
    return ErrorBound((off + 1) * bounds.step if off else Fraction(0), CONFIDENCE, SUMMED)


def choice_of_sum(bounds: SumBounds, noise: ListNoise, price: NoisePrice) -> NoiseChoice | None:
    """Return which noise a sum has and why, in units of the data; None where there is no choice."""
    choice = price.choice(noise)
    return None if choice is None else choice.times(bounds.step)


def size_noise(unit_query: UnitQuery, price: NoisePrice) -> ListNoise:
    """Return the noise of the numbers of records of the groups."""
    rows = unit_query.records.rows or 1
    parts = unit_query.moved_groups()
    sensitivity = counts_sensitivity(parts, unit_query.neighbors, change=rows)
    return price.noise(sensitivity, unit_query.group_count)


def mean_noises(bounds: SumBounds, unit_query: UnitQuery, price: NoisePrice) -> list[ListNoise]:
    """Return the noise of the numbers of records of the groups, and that of their sums from the middle.

    The price is that of one of the two. Both are of one kind: geometric if that is the smaller for one of them.
    """
    size, total = size_noise(unit_query, price), sum_noise(bounds.from_middle(), unit_query, price)
    if size.mechanism.name == total.mechanism.name:
        return [size, total]
    return [size.geometric(), total.geometric()]


def name_of_mean(
    bounds: SumBounds, noises: Sequence[ListNoise], groups: int = 1
) -> Callable[[Sequence[int]], Answer]:
    """Return the function that makes a mean of a noisy count and a noisy sum of steps from the middle.

    Args:
        bounds: the bounds.
        noises: the noise of the count, and that of the sum.
        groups: how many means there are, whose errors hold together.
    """
    size, total = noises
    off = cache(lambda: [noise.error(groups, _EACH) for noise in noises])

    def name(numbers: Sequence[int]) -> Answer:
        number, steps = numbers
        if number <= 0:
            return Answer(None, counts=number)
        quotient = bounds.middle + Fraction(steps, number)
        # The noise of the sum, and that of the count times half of the width, by the count.
        noise = (total.scale + Fraction(bounds.high - bounds.low, 2) * size.scale) / number
        error = _error_of_mean(bounds, number, *off())
        if bounds.times is not None:
            return bounds.times.answer(quotient, noise, error, number)
        unit = _unit_of_mean(bounds, noise)
        bound = ErrorBound(error * bounds.step + unit, CONFIDENCE, AVERAGED)
        return Answer(_rounded(quotient, bounds, unit), counts=number, error=bound)

    return name


def _error_of_mean(bounds: SumBounds, number: int, off_size: int, off_total: int) -> Fraction:
    """Return how many steps a mean of a noisy number of records is off, before it is rounded.

    Let n records of mean m from the middle be counted as `number`, and their sum as n m + t. The quotient is off by
    |m (n - number) + t| / number, and |m| is at most the distance of the farther end. It is never off by more than
    the width, as it is cut to the bounds.
    """
    farther = max(bounds.high - bounds.middle, bounds.middle - bounds.low)
    off = Fraction(farther * off_size + off_total, number)
    return min(off, Fraction(bounds.high - bounds.low))


def _unit_of_mean(bounds: SumBounds, noise: Fraction) -> Fraction:
    """Return the unit to which a mean is rounded: the power of ten that half of its noise supports.

    Never finer than a thousandth of a step, and never coarser than a tenth of the width.
    """
    unit = power_of_ten(min(noise / 2, Fraction(bounds.high - bounds.low, 10)) * bounds.step)
    return max(unit, bounds.step / PARTS_OF_A_STEP)


def _rounded(mean: Fraction, bounds: SumBounds, unit: Fraction) -> Any:
    """Return a mean of steps between the bounds, rounded to the unit."""
    step, lattice = bounds.step, Lattice(unit)
    low, high = bounds.low * step / unit, bounds.high * step / unit
    return lattice[min(max(_round(mean * step / unit), math.ceil(low)), math.floor(high))]


def power_of_ten(number: Fraction) -> Fraction:
    """Return the largest power of ten that is not above a number; 0 of 0."""
    if number <= 0:
        return Fraction(0)
    if number >= 1:
        return Fraction(10) ** (len(str(math.floor(number))) - 1)
    return Fraction(1, 10 ** len(str(math.ceil(1 / number) - 1)))


def _round(number: Fraction) -> int:
    """Return the nearest whole number, upwards from half way."""
    return math.floor(number + Fraction(1, 2))
