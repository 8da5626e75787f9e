"""DATE_TRUNC in GROUP BY: the years, quarters, months, weeks and days between the declared ends of a column."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from ...errors import InvalidArgument
from ...selection.bins import MOST_BINS, Bins
from .condition_readers import Tree
from .sql_trees import column_of_tree, has_only, sqlglot_package, tree_in_words

_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY")
_EXAMPLE = "RANGE_BUCKET(x, [DATE '2024-01-01', DATE '2024-02-01'])"
_LONGEST_UNIT = dt.timedelta(days=370)
_LAST_DAY = dt.date.max - _LONGEST_UNIT


def truncates(tree: Tree) -> bool:
    """Return whether an expression truncates dates or times."""
    exp = sqlglot_package().exp
    return type(tree) in (exp.DateTrunc, exp.DatetimeTrunc, exp.TimestampTrunc)


def truncation(tree: Tree) -> tuple[str, str]:
    """Return the column that an expression truncates, and the unit: one of year, quarter, month, week and day.

    Raises:
        InvalidArgument: if it has a time zone or another unit, or weeks that begin on Sundays.
    """
    is_quoted = type(tree) is sqlglot_package().exp.DateTrunc
    words, unit = tree_in_words(tree), str(tree.args["unit"].name).upper()
    if unit == "WEEK" and not is_quoted:
        raise InvalidArgument(
            f"{words}: WEEK begins on Sundays here. Write ISOWEEK, which begins on Mondays"
        )
    unit = "WEEK" if unit == "ISOWEEK" and not is_quoted else unit
    if unit not in _UNITS:
        raise InvalidArgument(
            f"{words}: there are YEAR, QUARTER, MONTH, ISOWEEK and DAY, such as DATE_TRUNC(x, MONTH). For others "
            f"write {_EXAMPLE}"
        )
    if not has_only(tree, "this", "unit"):
        raise InvalidArgument(f"{words}: leave out the time zone, or write {_EXAMPLE}")
    return column_of_tree(tree.this), unit.lower()


def bins_of_dates(
    column: str, ends: tuple[Any, Any], unit: str
) -> tuple[Bins, Mapping[str, object]]:
    """Return the bins of a column from the unit of its least to that of its largest date, and their first moments.

    Args:
        column: the name of the column.
        ends: its declared minimum and maximum: dates, times without an offset, or None.
        unit: the unit.

    Raises:
        InvalidArgument: if the ends are not declared, have an offset or are too far apart.
    """
    low, high = ends
    what = f"DATE_TRUNC({column}, {unit.upper()})"
    if low is None or high is None:
        raise InvalidArgument(
            f"{what}: the description has no minimum and maximum of the column. Declare both, or write {_EXAMPLE}"
        )
    if getattr(low, "tzinfo", None) is not None:
        raise InvalidArgument(
            f"{what}: the column holds times with an offset, and a {unit} begins at another instant in every time "
            "zone. Write RANGE_BUCKET(x, [TIMESTAMPTZ '2024-01-01 00:00:00+01:00'])"
        )
    last, starts = _day(high), [_start(_day(low), unit)]
    while starts[-1] <= min(last, _LAST_DAY) and len(starts) <= MOST_BINS:
        starts.append(_start(starts[-1] + dt.timedelta(days=_DAYS_TO_NEXT[unit]), unit))
    if starts[-1] <= last:
        raise InvalidArgument(
            f"{what}: between the declared ends are more than {MOST_BINS:,} groups, or the last days of the "
            f"calendar. Declare nearer ends, take a longer unit, or write {_EXAMPLE}"
        )
    edges = [_as(low, start) for start in starts]
    bins = Bins(column, edges=edges)
    return bins, dict(zip(bins.labels, edges, strict=False))


_DAYS_TO_NEXT = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}
"""So many days after the first day of a unit lies the next one, and never the one behind it."""

_MONTHS = {"year": 12, "quarter": 3, "month": 1}
"""So many months the longer units have."""


def _start(day: dt.date, unit: str) -> dt.date:
    """Return the first day of the unit in which a day is."""
    if unit in _MONTHS:
        return day.replace(month=day.month - (day.month - 1) % _MONTHS[unit], day=1)
    return day - dt.timedelta(days=day.weekday() if unit == "week" else 0)


def _day(moment: Any) -> dt.date:
    """Return the day of a moment."""
    return moment.date() if isinstance(moment, dt.datetime) else moment


def _as(end: Any, day: dt.date) -> dt.date:
    """Return a day as the column has it: as a date, or as the time at midnight."""
    return dt.datetime.combine(day, dt.time()) if isinstance(end, dt.datetime) else day
