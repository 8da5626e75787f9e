"""Public bounds in whole steps: the sums between them, of numbers and of times, and their noise.

For the proof about times, see docs/reference/mechanisms/noisy_counts.md, "A mean of dates".
"""

import datetime as dt
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ...base.arguments import exact_text
from ...base.doors import fix, spelling
from ...base.numbers import Number, exact, positive
from ...errors import InvalidArgument, InvalidNumber, preview
from ...mechanisms.accuracy import AVERAGED_TIMES, CONFIDENCE, SUMMED, ErrorBound
from ...mechanisms.count_noise import NoiseChoice
from ...mechanisms.noisy_counts import counts_sensitivity
from ...privacy.sensitivity import ReplacedGroups, Sensitivity
from ...selection.answers import Answer
from ...selection.candidates import Grid
from ...selection.date_grid import (
    EVEN_UNITS,
    DateGrid,
    DateStep,
    EvenUnit,
    as_moment,
    clock_of,
    in_one_zone,
    microseconds,
)
from ...selection.question import Query
from ...selection.scores.distance import Lattice
from ..engines.column import Group, Numeric
from ..engines.sums import total_of_units, total_on_grid
from ..values.kinds import plain
from ..values.numeric import StandIn
from .noisy_numbers import ListNoise, NoisePrice
from .units import UnitQuery

WORD_LIMIT = 2**63
"""Steps are below it, so that 2**63 records, more than any table has, add up within 128 bits."""

LARGEST_SUM = WORD_LIMIT**2

TOTAL_LIMIT = 2**32
"""Bounds and totals of units are below it where totals are clipped, so that 2**31 rows of one add up in 64 bits."""

_DEFAULT_STEPS = 10**5
PARTS_OF_A_STEP = 1000


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
    times: "TimeBounds | None" = None

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


_FINE_STEPS = 10**5
_HOURS_OF_A_DAY = 24


def is_moment(value: object) -> bool:
    """Return whether an argument is a date or a time, or the text of one; a text of digits is a number."""
    text = exact_text(value)
    if text is not None and text.strip().isdigit():
        return False
    return as_moment(value) is not None


def read_time_bounds(minimum: object, maximum: object, step: object) -> "TimeBounds | None":
    """Return the bounds of dates or times; None where neither end is one, or one is missing.

    Raises:
        InvalidArgument: if one end alone is a number, both are not alike or not in order, or the step is not even.
    """
    if minimum is None or maximum is None or not (is_moment(minimum) or is_moment(maximum)):
        return None
    low, high = _read_ends(minimum, maximum)
    times = DateGrid(low, high, _read_step(low, high, step))
    if times.size == 1:
        raise InvalidNumber(
            f"minimum and maximum must be at least {times.step} apart, got {preview(minimum)} and "
            f"{preview(maximum)}" + ("" if step is None else ". Or give a smaller step")
        )
    return TimeBounds(times)


def _read_ends(minimum: object, maximum: object) -> tuple[dt.date, dt.date]:
    """Return two dates or two times, the earlier one first."""
    low, high = (as_moment(end) if is_moment(end) else None for end in (minimum, maximum))
    if low is None or high is None or _kind_of(low) != _kind_of(high):
        raise InvalidArgument(
            "minimum and maximum must be alike: two dates, or two times, both with an offset or both without, got "
            f"{preview(minimum)} and {preview(maximum)}"
        )
    if microseconds(low) >= microseconds(high):
        raise InvalidNumber(
            f"minimum must be before maximum, got {preview(minimum)} and {preview(maximum)}"
        )
    return in_one_zone((low, high), None, ("minimum", "maximum")) if _is_time(low) else (low, high)


def _is_time(moment: dt.date) -> bool:
    """Return whether it is a time, and no date."""
    return isinstance(moment, dt.datetime)


def _kind_of(moment: dt.date) -> object:
    """Return whether it is a date, a time of a clock, or an instant."""
    return _is_time(moment), clock_of(moment)


def _read_step(low: dt.date, high: dt.date, step: object) -> DateStep:
    """Return an even step: as given, or a day for dates, and for times one that is fine enough."""
    is_day = not _is_time(low)
    if step is None:
        return _default_step(microseconds(high) - microseconds(low), is_day)
    whole = DateStep.read(step)
    if whole.unit == "month" or (is_day and whole.unit != "day"):
        raise InvalidArgument(
            f'the step of a mean must be even, and of dates whole days, such as "1 day", got {preview(step)}'
        )
    return _of_hours(low, whole.unit, whole.count)


def _default_step(width: int, is_day: bool) -> DateStep:
    """Return a day for dates; for times the longest of hour, minute and second with 100,000 steps in a width."""
    if is_day:
        return DateStep(1, "day")
    longer: list[EvenUnit] = ["hour", "minute"]
    fits = (unit for unit in longer if width >= _FINE_STEPS * EVEN_UNITS[unit])
    return DateStep(1, next(fits, "second"))


def _of_hours(low: dt.date, unit: EvenUnit, count: int) -> DateStep:
    """Return a step; for times a day as 24 hours, also where a clock is put forward."""
    if unit == "day" and _is_time(low):
        return DateStep(_HOURS_OF_A_DAY * count, "hour")
    return DateStep(count, unit)


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """Bounds of dates or times.

    Attributes:
        times: the points to which they are rounded, evenly apart, from the lower bound on.
    """

    times: DateGrid

    @property
    def step(self) -> int:
        """The microseconds from one point to the next."""
        unit: EvenUnit = self.times.step.unit  # type: ignore[assignment]
        return self.times.step.count * EVEN_UNITS[unit]

    def answer(self, mean: Fraction, noise: Fraction, error: Fraction, number: int) -> Answer:
        """Return a mean as an answer: a date, or a time in whole seconds, minutes, hours or days from the minimum.

        Args:
            mean: how far it is from the lower bound, in steps; private until it is rounded by public numbers alone.
            noise: about how far off it is, in steps.
            error: how far off it is at most, in steps.
            number: the noisy number of records.
        """
        low, unit = self.times.lo, self._unit(noise)
        size = EVEN_UNITS[unit]
        points = DateGrid(low, self.times.hi, _of_hours(low, unit, 1))
        index = math.floor(mean * self.step / size + Fraction(1, 2))
        off = min(error, Fraction(self.times.size - 1)) * self.step / size + 1
        return Answer(
            points[min(max(index, 0), points.size - 1)],
            counts=number,
            error=ErrorBound(off, CONFIDENCE, AVERAGED_TIMES[unit]),
        )

    def _unit(self, noise: Fraction) -> EvenUnit:
        """Return the longest unit of at most half of the noise; a day for dates, a second at least."""
        if not _is_time(self.times.lo):
            return "day"
        most = min(noise / 2, Fraction(self.times.size - 1, 10)) * self.step
        units: list[EvenUnit] = ["day", "hour", "minute"]
        return next((unit for unit in units if EVEN_UNITS[unit] <= most), "second")


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
    steps = half_up(least / bounds.step), half_up(most / bounds.step)
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
    bounds = SumBounds(half_up(low / size), half_up(high / size), size)
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
    return SumBounds(half_up(ends[0] / step), half_up(ends[1] / step), step)


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


def power_of_ten(number: Fraction) -> Fraction:
    """Return the largest power of ten that is not above a number; 0 of 0."""
    if number <= 0:
        return Fraction(0)
    if number >= 1:
        return Fraction(10) ** (len(str(math.floor(number))) - 1)
    return Fraction(1, 10 ** len(str(math.ceil(1 / number) - 1)))


def half_up(number: Fraction) -> int:
    """Return the nearest whole number, upwards from half way."""
    return math.floor(number + Fraction(1, 2))
