"""Sums of numbers that are rounded to a grid, one by one: whole numbers, and exact."""

import numpy as np

from ...errors import UnreadableData
from ...sampling.vectors import Integers
from ...selection.candidates import Grid
from ..values.kinds import INTEGER_TYPE
from .column import Group, Numeric, Source
from .engine_errors import quietly
from .expressions import COUNT
from .native import POSITION, Frame
from .records import PART, PERSON
from .server_session import ServerRows

_BLOCK = 2**20
_HALF_WORD = 31


def total_on_grid(column: Numeric, grid: Grid) -> tuple[int, int]:
    """Return how many numbers there are, and the sum of the indices of their nearest points. Private.

    A number is rounded half up, by itself and exactly; one outside the grid counts as its end. Engines count the
    records of each point, so what leaves them grows with the points that records have, and not with the records.
    """
    nearest, multiplicities = _nearest_points(column, grid)
    if multiplicities is None:
        return len(nearest), exact_sum(nearest)
    times = multiplicities.tolist()
    pairs = zip(nearest.tolist(), times, strict=True)
    return sum(times), sum(index * many for index, many in pairs)


def squares_on_grid(column: Numeric, grid: Grid, middle: int) -> tuple[int, int, int]:
    """Return how many numbers there are, their sum, and that of their squares, in steps from a point. Private."""
    nearest, multiplicities = _nearest_points(column, grid)
    is_counted = multiplicities is not None
    counted = (nearest, multiplicities) if is_counted else np.unique(nearest, return_counts=True)
    points, times = (one.tolist() for one in counted if one is not None)
    pairs = [(index - middle, many) for index, many in zip(points, times, strict=True)]
    number = sum(many for _, many in pairs)
    return number, sum(x * many for x, many in pairs), sum(x * x * many for x, many in pairs)


def _nearest_points(column: Numeric, grid: Grid) -> tuple[Integers, Integers | None]:
    """Return the indices of the nearest points of numbers, and how often each occurs; None for once."""
    source = column.on_grid(grid)
    if source is not None:
        return source.occupancy(grid.nearest)
    values, multiplicities = column.numbers()
    return grid.nearest(values), multiplicities


def exact_sum(indices: Integers) -> int:
    """Return the sum of integers from 0 on, which no word need hold."""
    if indices.dtype == object:
        return sum(indices.tolist())
    total = 0
    for start in range(0, len(indices), _BLOCK):
        # Halves of 31 bits: the sum of a block of them is below 2**51.
        block = indices[start : start + _BLOCK]
        high, low = block >> _HALF_WORD, block & ((1 << _HALF_WORD) - 1)
        total += (int(np.add.reduce(high)) << _HALF_WORD) + int(np.add.reduce(low))
    return total


TOTAL = "total"


def total_of_units(group: Group, grid: Grid, ends: tuple[int, int]) -> int:
    """Return the sum of the totals of the privacy units in a group, clipped to the ends, in steps. Private.

    Numbers are rounded as by `total_on_grid`. Whole steps are added and clipped in the engine. The
    steps that rows have leave it, and one row for a group. Of a server all rows come to memory first.

    Args:
        group: the group, of a table with a privacy unit. All groups of a question have one grid and the same ends.
        grid: the points to which numbers are rounded.
        ends: the least and the largest total of a unit in a group, in steps.
    """
    source = group.source
    if source.unit_totals is None:
        source.unit_totals = _totals_by_group(source, grid, ends)
    return source.unit_totals[group.index]


def _totals_by_group(source: Source, grid: Grid, ends: tuple[int, int]) -> list[int]:
    """Return the same of all groups."""
    if isinstance(source.data, ServerRows):
        # The places of steps are in a statement, and a server may keep that in its log.
        in_memory, records = source.data.to_memory(), source.table.records
        source = Source(in_memory, source.name, records, source.stand_in)
    table = source.table
    numbers = table.numbers(source.stand_in, with_units=True)
    rows, size = numbers.with_indices(grid)
    if not numbers.has_groups:
        rows = quietly(_in_one_group, table.failure, rows)
    sums = quietly(_sums_of_totals, table.failure, rows, int(grid.lo / grid.step), ends)
    columns = quietly(numbers.native.fetch, table.failure, sums, INTEGER_TYPE)
    parts, totals, counts = ([*map(int, column.tolist())] for column in columns)
    if sum(counts) != size:
        raise UnreadableData("the data changed while they were read")
    of_groups = dict(zip(parts, totals, strict=True))
    return [of_groups.get(place, 0) for place in range(table.groups)]


def _in_one_group(rows: Frame) -> Frame:
    """Return rows with the first group in PART."""
    import narwhals.stable.v2 as nw

    return rows.with_columns(nw.lit(0).alias(PART))


def _sums_of_totals(rows: Frame, low: int, ends: tuple[int, int]) -> Frame:
    """Return PART with the sum of its units' clipped totals, in steps, and its number of rows."""
    import narwhals.stable.v2 as nw

    total = (nw.col(POSITION) + low).sum().alias(TOTAL)
    units = rows.group_by(PERSON, PART).agg(total, nw.len().cast(nw.Int64).alias(COUNT))
    inside = units.with_columns(nw.col(TOTAL).clip(*ends))
    sums = (nw.col(name).sum().cast(nw.Int64).alias(name) for name in (TOTAL, COUNT))
    return inside.group_by(PART).agg(*sums)
