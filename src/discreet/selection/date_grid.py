"""Grids of dates and times: the answers of quantiles over a column of them.

Instants are integers, so that nothing is rounded: microseconds from 1970-01-01, by the clock where times have no
offset, in UTC where they have one. A grid of dates is a grid of integers: docs/reference/scores/of_tables.md#rank.
"""

import datetime as dt
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, Literal, Protocol, overload

import numpy as np

from ..base.arguments import choice, exact_text
from ..base.doors import spelling
from ..base.error_boundary import error_boundaries
from ..errors import InvalidArgument, InvalidCandidates, preview
from ..sampling.vectors import ExactArray, Integers
from .candidate_types import T
from .candidates import Grid, position
from .decimals import Decimals, PointCells
from .question_sentences import Facts

ClockKind = Literal["naive", "zoned"]
"""Whether times are those of a clock, without an offset, or instants. Dates are midnights of a clock."""

TimeUnit = Literal["us", "ns"]
"""The unit of integers that stand for times."""

PER_MICROSECOND: dict[TimeUnit, int] = {"us": 1, "ns": 1000}

_SECOND = 1_000_000
_HOUR = 3600 * _SECOND
_DAY = 24 * _HOUR

EvenUnit = Literal["second", "minute", "hour", "day"]
StepUnit = Literal[EvenUnit, "month"]
EVEN_UNITS: dict[StepUnit, int] = {
    "second": _SECOND, "minute": 60 * _SECOND, "hour": _HOUR, "day": _DAY,
}  # fmt: skip
"""The microseconds of units that are all equally long, days in a zone apart: the shortest first."""

STEP_UNITS: tuple[StepUnit, ...] = (*EVEN_UNITS, "month")
"""The units of a step of dates."""

_EPOCH = dt.date(1970, 1, 1).toordinal()
_MICROSECOND = dt.timedelta(microseconds=1)

_LAST_DAY = 28
"""The last day that every month has."""

_MOST_UNEVEN = 2**18
"""The most points that are not evenly spread: more than months of all years, or days of seven centuries."""

_STEP = re.compile(rf"(?:([1-9][0-9]{{0,5}})[ -]?)?({'|'.join(STEP_UNITS)})s?")

_ZONE = re.compile(r"(.*)\[([A-Za-z0-9_+/-]+)\]")


def microseconds(moment: dt.date) -> int:
    """Return the microseconds from 1970-01-01 to a date, at midnight, or to a time; with an offset, in UTC."""
    days = moment.toordinal() - _EPOCH
    if not isinstance(moment, dt.datetime):
        return days * _DAY
    seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
    offset = moment.utcoffset() or dt.timedelta()
    return days * _DAY + seconds * 10**6 + moment.microsecond - offset // _MICROSECOND


def clock_of(moment: dt.date) -> ClockKind:
    """Return whether a date or a time is of a clock, or an instant."""
    is_zoned = isinstance(moment, dt.datetime) and moment.utcoffset() is not None
    return "zoned" if is_zoned else "naive"


def read_moment(text: str) -> dt.date:
    """Return the date or the time that a text spells: 2024-12-31, 2024-12-31T12:00[Europe/Zurich].

    Raises:
        ValueError: if it spells none.
    """
    text = text.strip()
    match = _ZONE.fullmatch(text)
    if match is None:
        return (dt.date if len(text) == 10 else dt.datetime).fromisoformat(text)
    moment, zone = dt.datetime.fromisoformat(match[1]), _zone(match[2])
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)


def _zone(name: str) -> dt.tzinfo:
    from zoneinfo import ZoneInfo

    try:
        return dt.UTC if name == "UTC" else ZoneInfo(name)
    except Exception:  # of a name that is none, or no file of zones
        pass
    raise ValueError(f"there is no time zone {name!r}")


@dataclass(frozen=True, slots=True)
class DateStep:
    """The step of a grid of dates: so many seconds, minutes, hours, days or months."""

    count: int
    unit: StepUnit

    @classmethod
    def read(cls, step: object) -> "DateStep":
        """Return the step that a text such as "1 month" spells, or a time difference of whole seconds.

        Raises:
            InvalidCandidates: if it is none.
        """
        if isinstance(step, DateStep):
            return step
        if isinstance(step, dt.timedelta):
            size = step // _MICROSECOND
            units = reversed(EVEN_UNITS)
            whole = (unit for unit in units if size > 0 and size % EVEN_UNITS[unit] == 0)
            unit = next(whole, None)
            if unit is not None:
                return cls(size // EVEN_UNITS[unit], unit)
        match = _STEP.fullmatch((exact_text(step) or "").strip().lower())
        if match is None:
            raise InvalidCandidates(
                'a step of dates must be seconds, minutes, hours, days or months, such as "1 month", got '
                f"{preview(step)}"
            )
        return cls(int(match[1] or 1), match[2])  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{self.count} {self.unit}{'s' if self.count > 1 else ''}"


@dataclass(frozen=True)
class CutCells:
    """Cells of integers that are not evenly spread: `cuts[i]` is the least number with an index above i."""

    cuts: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.cuts) + 1

    @cached_property
    def _words(self) -> Any:
        """The cuts as words; None if one is longer."""
        try:
            return np.array(self.cuts, dtype=np.int64)
        except OverflowError:
            return None

    def nearest(self, values: ExactArray) -> Integers:
        """Return the indices of the cells of integers: how many cuts are not above them. It never falls."""
        if values.dtype.kind == "i" and self._words is not None:
            indices: Integers = np.searchsorted(self._words, values, side="right").astype(np.int64)
            return indices
        return np.array(
            [bisect_right(self.cuts, instant) for instant in values.tolist()], dtype=np.int64
        )


@error_boundaries
class DateGrid(Generic[T]):
    """Dates or times from lo to hi, in steps from a second to months. They are exact and never listed.

    Points are dates if lo is a date, otherwise times. With a time zone, hours are elapsed hours, and days and
    months follow the calendar there, so an answer shows the same clock time as lo in summer and in winter.

    Args:
        lo: the least answer: a date, a time, or a text such as "2020-01-01", "2020-01-01T06:00" or
            "2020-01-01T06:00+01:00". For steps of months, the day is at most 28.
        hi: the end, which no answer exceeds. A date if lo is one, or a time with an offset if lo has one.
        step: the distance between neighbouring points: "1 day" (the default), "7 days", "6 hours", "1 month", "3
            months".
        zone: the name of the time zone, such as "Europe/Zurich", of times without an offset and of answers. By
            default that of lo.
    """

    @overload
    def __init__(
        self: "DateGrid[dt.datetime]",
        lo: dt.datetime, hi: dt.datetime, step: object = ..., *, zone: str | None = None,
    ) -> None: ...  # fmt: skip

    @overload
    def __init__(
        self: "DateGrid[dt.date]", lo: dt.date, hi: dt.date, step: object = ..., *, zone: None = None
    ) -> None: ...  # fmt: skip

    @overload
    def __init__(
        self: "DateGrid[Any]", lo: object, hi: object, step: object = ..., *, zone: str | None = None
    ) -> None: ...  # fmt: skip

    def __init__(
        self, lo: object, hi: object, step: object = "1 day", *, zone: str | None = None
    ) -> None:
        """Keep the ends and the step.

        Raises:
            InvalidCandidates: if one is none, both are not alike, hi is before lo, the day of months is above 28,
                or lo or a day is not there in the zone.
        """
        self.lo, self.hi = _read_ends(lo, hi, zone)
        self.step, self.clock = DateStep.read(step), clock_of(self.lo)
        if not isinstance(self.lo, dt.datetime) and self.step.unit not in ("day", "month"):
            raise InvalidCandidates(
                f'a step of {self.step.unit}s is of times, so give lo as one, such as "{self.lo}T00:00"'
            )
        if self.step.unit == "month" and self.lo.day > _LAST_DAY:
            raise InvalidCandidates(
                f"steps of months begin on a day that every month has, from 1 to {_LAST_DAY}, got "
                f"{self.lo}"
            )
        last = self._steps_to_end()
        if last < 0:
            raise InvalidCandidates(
                f"hi must not be before lo, got {spelling(lo=self.lo, hi=self.hi)}"
            )
        if not self._is_even and last >= _MOST_UNEVEN:
            raise InvalidCandidates(
                f"a grid in a time zone must have at most {_MOST_UNEVEN:,} points"
            )
        self.size = last + 1
        self.hi = self._point(last)
        if not self._is_even and any(most <= first for first, most in pairwise(self._instants)):
            raise InvalidCandidates(
                f"a day between lo and hi is not there in the zone {self.zone}: take steps of hours"
            )

    @property
    def zone(self) -> str | None:
        """The name of the time zone of the points. None if they have none."""
        return None if self.clock == "naive" else str(self._zone)

    @property
    def _zone(self) -> dt.tzinfo | None:
        return self.lo.tzinfo if isinstance(self.lo, dt.datetime) else None

    @property
    def _is_even(self) -> bool:
        """Whether the points are evenly spread as instants."""
        if self.step.unit == "day":
            return self._zone is None or isinstance(self._zone, dt.timezone)
        return self.step.unit != "month"

    @property
    def _width(self) -> int:
        """The microseconds of a step, of days of 24 hours; of months there are none."""
        return self.step.count * EVEN_UNITS[self.step.unit]

    def _steps_to_end(self) -> int:
        """Return how many steps the last point not after hi is from lo; negative if hi is before lo."""
        if self._is_even:
            return (microseconds(self.hi) - microseconds(self.lo)) // self._width
        lo, hi = self.lo, self.hi
        months = (hi.year - lo.year) * 12 + hi.month - lo.month
        whole = (hi.toordinal() - lo.toordinal()) if self.step.unit == "day" else months
        steps = whole // self.step.count
        if microseconds(hi) < microseconds(lo) or steps <= 0:
            return min(steps, 0) if microseconds(hi) >= microseconds(lo) else -1
        return steps if microseconds(self._point(steps)) <= microseconds(hi) else steps - 1

    def __getitem__(self, index: int) -> T:
        index = position(index)
        if not 0 <= index < self.size:
            raise IndexError(f"the grid has {self.size:,} points, got the index {preview(index)}")
        point: Any = self._point(index)
        return point  # type: ignore[no-any-return]

    def _point(self, index: int) -> dt.date:
        """Return a point; in a zone as its clock shows it."""
        if index == 0:
            return self.lo
        if self.step.unit not in ("day", "month") and self._zone is not None:
            assert isinstance(self.lo, dt.datetime)
            later = self.lo.astimezone(dt.UTC) + index * self._width * _MICROSECOND
            return later.astimezone(self._zone)
        if self.step.unit != "month":
            point = self.lo + index * self._width * _MICROSECOND
        else:
            years, month = divmod(self.lo.month - 1 + index * self.step.count, 12)
            point = self.lo.replace(year=self.lo.year + years, month=month + 1)
        if not isinstance(point, dt.datetime) or self._zone is None:
            return point
        return point.replace(fold=0).astimezone(dt.UTC).astimezone(self._zone)

    @cached_property
    def _instants(self) -> tuple[int, ...]:
        """The points as integers."""
        return tuple(microseconds(self._point(place)) for place in range(self.size))

    def in_numbers(self, unit: TimeUnit) -> Grid | CutCells:
        """Return the grid of integers that stands for this one, in the unit of a column.

        A time has index i there if the i-th point is nearest. Of two equally near points, the later one counts.

        Raises:
            UnknownName: if there is no such unit.
        """
        choice(unit, "unit", PER_MICROSECOND)
        per = PER_MICROSECOND[unit]
        if self._is_even:
            lo, width = microseconds(self.lo) * per, self._width * per
            return Grid(lo, lo + (self.size - 1) * width, width)
        # Half way between neighbours, rounded up: no integer is between a number and the next integer.
        return CutCells(
            tuple(-(-(first + last) * per // 2) for first, last in pairwise(self._instants))
        )

    def find(self, answer: object) -> int | None:
        """Return the index of a point. None if it is not a point."""
        if not isinstance(answer, dt.date) or clock_of(answer) != self.clock:
            return None
        if isinstance(answer, dt.datetime) != isinstance(self.lo, dt.datetime):
            return None
        index = self.at_or_below(microseconds(answer))
        return (
            index
            if index >= 0 and microseconds(self._point(index)) == microseconds(answer)
            else None
        )

    def at_or_below(self, instant: int) -> int:
        """Return the index of the last point that is not after an instant, in microseconds, or -1 if all are.

        Raises:
            InvalidArgument: if the instant is not an integer.
        """
        if not isinstance(instant, int):
            raise InvalidArgument(
                f"an instant must be a whole number of microseconds from 1970, got {preview(instant)}"
            )
        if not self._is_even:
            return bisect_right(self._instants, instant) - 1
        steps = (instant - microseconds(self.lo)) // self._width
        return min(max(steps, -1), self.size - 1)

    @property
    def description(self) -> dict[str, object]:
        """The first and the last point, the step and the zone."""
        ends = {"lo": self.lo, "hi": self.hi, "step": str(self.step)}
        return ends if self.zone is None else {**ends, "zone": self.zone}

    @property
    def facts(self) -> Facts:
        """The first and the last point, the step and the zone."""
        zone = () if self.zone is None else (str(self.zone),)
        return {"range": (str(self.lo), str(self.hi), str(self.step), *zone)}

    @property
    def spelling(self) -> tuple[str, str, str, str]:
        """Texts of lo, hi, the step and the zone that give the same grid."""
        # The text of a time has its offset, and not the name of its zone.
        name = "" if self._zone is None or isinstance(self._zone, dt.timezone) else str(self._zone)
        return (self.lo.isoformat(), self.hi.isoformat(), str(self.step), name)

    def __repr__(self) -> str:
        zone = "" if self.zone is None else f", {self.zone}"
        return f"DateGrid({self.lo}, {self.hi}, step {self.step}{zone}; {self.size:,} points)"


class HasUnit(Protocol):
    """A column that has times as integers of a unit."""

    @property
    def unit(self) -> TimeUnit:
        """The unit."""


AnyGrid = Grid | DateGrid | Decimals
"""Candidates of quantiles that are never listed."""

NumberCells = Grid | CutCells | Decimals | PointCells
"""What has the nearest index of numbers."""


def number_grid(candidates: AnyGrid, column: HasUnit) -> NumberCells:
    """Return candidates that are numbers as they are, and of dates the grid of the integers that stand for them."""
    if isinstance(candidates, DateGrid):
        return candidates.in_numbers(column.unit)
    return candidates


def clock_of_candidates(candidates: object) -> ClockKind | None:
    """Return the clock of a grid of dates or times; None for other candidates."""
    return candidates.clock if isinstance(candidates, DateGrid) else None


def as_moment(value: object) -> dt.date | None:
    """Return a date or a time of Python, pandas or numpy, or the text of one, as Python's own; None for others."""
    text = exact_text(value)
    if text is not None:
        try:
            return read_moment(text)
        except (ValueError, OverflowError):
            return None
    if isinstance(value, np.datetime64):
        value = value.item()
    if not isinstance(value, dt.date) or value != value:  # NaT
        return None
    if getattr(value, "nanosecond", None):
        return None
    if not isinstance(value, dt.datetime):
        return dt.date(value.year, value.month, value.day)
    try:
        zone = _plain_zone(value.tzinfo)
    except ValueError:
        return None
    return dt.datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond,
        zone, fold=value.fold,
    )  # fmt: skip


def _plain_zone(zone: dt.tzinfo | None) -> dt.tzinfo | None:
    """Return a time zone as one of Python's own, which are told apart by their names.

    Raises:
        ValueError: if it has no name: its calendar is not known.
    """
    if zone is None or isinstance(zone, dt.timezone):
        return zone
    return _zone(str(getattr(zone, "key", None) or getattr(zone, "zone", "")))  # of Python, of pytz


def _read_ends(lo: object, hi: object, zone: str | None) -> tuple[dt.date, dt.date]:
    """Return both ends, alike: two dates, or two times in one zone or in none."""
    ends = []
    for name, value in (("lo", lo), ("hi", hi)):
        moment = as_moment(value)
        if moment is None:
            raise InvalidCandidates(
                f'{name} must be a date or a time, such as "2024-12-31" or "2024-12-31T12:00", got '
                f"{preview(value)}"
            )
        ends.append(moment)
    kinds = {isinstance(end, dt.datetime) for end in ends}
    if len(kinds) > 1 or (zone is not None and False in kinds):
        raise InvalidCandidates(
            "lo and hi must both be dates, or both "
            f"times{'' if zone is None else ', in a zone times'}, got {preview(lo)} and "
            f"{preview(hi)}"
        )
    return in_one_zone(ends, zone) if True in kinds else (ends[0], ends[1])


def in_one_zone(
    ends: Iterable[Any], zone: str | None, names: tuple[str, str] = ("lo", "hi")
) -> tuple[dt.datetime, dt.datetime]:
    """Return two times in a zone, by default that of the first.

    Args:
        ends: the times.
        zone: the name of the zone, or None.
        names: what the caller calls them.

    Raises:
        InvalidCandidates: if there is no such zone, only one has an offset, or one cannot be written in UTC.
    """
    lo, hi = ends
    try:
        if zone is not None:
            place = _zone(zone)
            lo, hi = (
                moment.replace(tzinfo=place) if moment.tzinfo is None else moment
                for moment in (lo, hi)
            )
            lo = lo.astimezone(place)
        reason = "one has an offset, and the other has none"
        if clock_of(lo) == clock_of(hi):
            hi = hi.astimezone(dt.UTC).astimezone(lo.tzinfo) if lo.tzinfo else hi
            reason = "with an offset the years are 2 to 9998"
            if lo.tzinfo is None or (lo.year > dt.MINYEAR and hi.year < dt.MAXYEAR):
                if not _is_skipped(lo):
                    return lo, hi
                reason = f"the clock of that zone skips {names[0]}"
    except (ValueError, OverflowError) as error:
        reason = str(error)
    first, last = names
    raise InvalidCandidates(f"{first} and {last} do not go together: {reason}, got {lo} and {hi}")


def _is_skipped(moment: dt.datetime) -> bool:
    """Return whether no clock of its zone ever shows a time, as where summer begins."""
    if moment.tzinfo is None:
        return False
    again = moment.astimezone(dt.UTC).astimezone(moment.tzinfo)
    return again.replace(tzinfo=None, fold=0) != moment.replace(tzinfo=None, fold=0)
