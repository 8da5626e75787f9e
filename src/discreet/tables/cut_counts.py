"""How many records are below and above some numbers, counted in the engine."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from ..sampling.vectors import ExactArray
from .cells import CellNumber, constant, following, least_number, value_of
from .kinds import CELL, ColumnType
from .native import Frame

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

AT_ONCE = 2**11
"""So many numbers are compared with in one query."""


def counts_beside(
    rows: Frame,
    fetch: Callable[[Frame, ColumnType], list[ExactArray]],
    of: ColumnType,
    numbers: Sequence[Fraction],
) -> tuple[list[int], list[int]]:
    """Return how many records are below some numbers, and how many above.

    The records are cut at the least number of the column's type that is at or above a number, and at the least
    one above it. The records between two cuts are one group, and nothing of the data but its count is fetched.
    """
    less, more = list[int](), list[int]()
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        at, above = [_at(x, of) for x in some], [_above(x, of) for x in some]
        # "Lists of candidates" in docs/explanation/out_of_core.md: no guess, all between two cuts is one group.
        cuts = sorted({edge for edge in (*at, *above) if edge is not None})
        below = cumulative_counts(rows, fetch, of, cuts)
        last = len(cuts)
        less += [below[last if edge is None else bisect_left(cuts, edge)] for edge in at]
        up_to = [below[last if edge is None else bisect_left(cuts, edge)] for edge in above]
        more += [below[-1] - n for n in up_to]
    return less, more


def between(rows: Frame, of: ColumnType, low: Fraction | None, high: Fraction | None) -> Frame:
    """Return the records from one number up to another, None being no bound; they are numbers, and none missing."""
    import narwhals.stable.v2 as nw

    cell = nw.col(CELL)
    if low is not None:
        least = _at(low, of)
        rows = rows.filter(cell != cell if least is None else cell >= constant(least, of))
    above = None if high is None else _above(high, of)
    return rows if above is None else rows.filter(cell < constant(above, of))


def cumulative_counts(
    rows: Frame,
    fetch: Callable[[Frame, ColumnType], list[ExactArray]],
    of: ColumnType,
    cuts: list[CellNumber],
) -> list[int]:
    """Return how many records are below the cuts, and last how many there are."""
    import narwhals.stable.v2 as nw

    key = place_among([constant(edge, of) for edge in cuts], range(len(cuts) + 1)).alias("key")
    groups = rows.with_columns(key).group_by("key").agg(nw.len().alias("records"))
    keys, records = fetch(groups, of)
    sizes = [0] * (len(cuts) + 1)
    for place, n in zip(keys.tolist(), records.tolist(), strict=True):
        sizes[int(place)] = int(n)
    return [*accumulate(sizes)]


def place_among(cuts: Sequence[int | float | Decimal], places: range) -> "nw.Expr":
    """Return how many cuts a record is not below, by halving."""
    import narwhals.stable.v2 as nw

    if len(places) == 1:
        return nw.lit(places[0])
    middle = len(places) // 2
    below = nw.col(CELL) < cuts[places[middle] - 1]
    return (
        nw.when(below)
        .then(place_among(cuts, places[:middle]))
        .otherwise(place_among(cuts, places[middle:]))
    )


def _at(x: Fraction, of: ColumnType) -> CellNumber | None:
    """Return the least number of the type that is x or above; None if there is none."""
    return least_number(*x.as_integer_ratio(), of)


def _above(x: Fraction, of: ColumnType) -> CellNumber | None:
    """Return the least number of the type above x."""
    least = _at(x, of)
    if least is None or least in (float("inf"), float("-inf")) or value_of(least, of) != x:
        return least
    return following(least, of)
