"""Public bounds of dates and times, in even steps, and the mean between them.

For the proof, see docs/reference/mechanisms/noisy_counts.md, "A mean of dates".
"""

import datetime as dt
import math
from dataclasses import dataclass
from fractions import Fraction

from ...base.arguments import exact_text
from ...errors import InvalidArgument, InvalidNumber, preview
from ...mechanisms.accuracy import AVERAGED_TIMES, CONFIDENCE, ErrorBound
from ...selection.answers import Answer
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
