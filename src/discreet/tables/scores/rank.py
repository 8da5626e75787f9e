"""How deep the wanted rank is among the records of a candidate: the score of quantiles.

Near a rank the records in memory are found without sorting all of them. Where the kernel does not count them (see
`array_counts`), a sample says between which two numbers the wanted records are, one pass takes out the numbers
between, and only these records are put on the grid. Those taken out are counted, so the answer is exact whatever
the sample was: should it mislead, all records are put on the grid.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, isqrt
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.accuracy import ROWS_IN_RANK, Measure
from ...privacy.sensitivity import Neighbors, Sensitivity, sensitivity_of
from ...sampling.order_statistics import sort_places
from ...sampling.quotients import Quotients
from ...sampling.runs import Runs
from ...sampling.vectors import ExactArray, Integers, Vector
from ...selection.candidates import Labels
from ...selection.date_grid import AnyGrid, NumberCells, number_grid
from ...selection.decimals import Decimals
from ...selection.scores.contract import BaseScore
from ..engines.array_counts import array_counts
from .list_counts import cells_around, count_around, count_beside
from .rank_search import bracket, distinct_indices, everything

if TYPE_CHECKING:
    from ..engines.cells import CellSource
    from ..engines.column import Numeric
    from ..values.meanings import Rungs

_FEW_POINTS = 2**12
"""On larger grids only the records near the rank are sorted."""

DENSE = 16
"""In one array are counted all points that are up to so many times as many as the records."""

_LARGE = 2**62
"""Indices of grids up to this size are words."""

WIDER = 16
"""How much wider the bracket becomes if a draw should come near its end."""


@dataclass(frozen=True, slots=True, repr=False)
class Rank(BaseScore):
    """min(p * n - q * #{x < c}, q * #{x <= c} - p * n) for the quantile alpha = p / q of n records.

    It is at least 0 where c is a quantile, more if it stays one when records come or go, and falls with the
    number of records between (a weighted Tukey depth). For alpha of 0 or 1 all scores move the same way
    whenever a record comes, goes or is replaced, so the spread is half of what
    it would be. For the proof, see docs/reference/scores/of_tables.md#rank.

    Args:
        column: the records, read when everything public has been checked.
        candidates: a grid, of numbers or of dates, decimals, or numbers in a list.
        alpha: between 0 (the minimum) and 1 (the maximum).
    """

    column: "Numeric"
    candidates: AnyGrid | Labels
    alpha: Fraction
    name: ClassVar[str] = "rank"
    public_fields: ClassVar[tuple[str, ...]] = ("alpha", "candidates")

    @property
    def parameters(self) -> dict[str, object]:
        """The quantile."""
        return {"alpha": self.alpha}

    @property
    def measure(self) -> Measure:
        """One rank is q of the score."""
        return Measure(ROWS_IN_RANK, Fraction(1, self.alpha.denominator))

    @property
    def in_runs(self) -> bool:
        """Whether the candidates are never listed."""
        return not isinstance(self.candidates, Labels)

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return max(p, q - p) for a record more or less, q for one replaced; 1, monotonic, at the ends."""
        p, q = self.alpha.as_integer_ratio()
        if self.alpha in (0, 1):
            # Coq: Rank.rank_at_the_ends, Rank.rank_at_the_ends_is_monotonic
            return sensitivity_of(1, neighbors, monotonic=True)
        # Coq: Rank.rank_add_remove, Rank.rank_replace_one
        return sensitivity_of(max(p, q - p) if neighbors == "add_remove" else q, neighbors)

    def compute(self, cutoff_gap: Fraction) -> Vector | Runs:
        """Return the scores. Private.

        On a large grid only the records near the quantile are sorted. Points worse by more than
        `cutoff_gap` are summarised in two runs, which `Runs.whole` expands if a draw should come near them.
        """
        if isinstance(self.candidates, Labels):
            return self._of_list(self.candidates)
        grid = number_grid(self.candidates, self.column)
        source = self.column.on_grid(grid)
        if source is not None:
            return self._in_bracket(source, grid.size, cutoff_gap)
        values, counts = self.column.numbers()
        if counts is None and grid.size > _FEW_POINTS:
            many = array_counts(values, grid)
            if many is not None:
                return self._in_bracket(many, grid.size, cutoff_gap)
            return self._near_the_quantile(values, grid, cutoff_gap)
        indices = grid.nearest(values)
        if counts is None and grid.size <= DENSE * len(values):
            return self._whole(count_points(indices, grid.size), grid.size)
        return self._whole(distinct_indices(indices, counts), grid.size)

    def _in_bracket(self, source: "CellSource", size: int, cutoff_gap: Fraction) -> Runs:
        """Return runs in full near the quantile, and one on either side for points worse by `cutoff_gap`."""

        def rank(n: int) -> int:
            return min(ceil(n * self.alpha), n - 1)

        window = bracket(source, size, rank, ceil(cutoff_gap / self.alpha.denominator) + 2)
        n, outside = window.total, window.outside
        runs = self._runs(window.points, window.counts, window.below, n, window.bounds)
        return add_outside(
            runs,
            self._scores(outside, n - outside, n),
            size,
            partial(self._everything, source, size),
            partial(self._in_bracket, source, size, WIDER * cutoff_gap),
        )

    def _everything(self, source: "CellSource", size: int) -> Runs:
        return self._whole(everything(source, size), size)

    def _near_the_quantile(
        self, values: ExactArray, grid: NumberCells, cutoff_gap: Fraction
    ) -> Runs:
        """Return runs in full near the quantile, and one run for all points far below and one for all far above."""
        size = grid.size

        def whole() -> Runs:
            return self._whole(distinct_indices(grid.nearest(values)), size)

        n, width = len(values), 2 * (ceil(cutoff_gap) + 1)
        if n < 8 * width or size >= _LARGE:
            return whole()
        rank = min(ceil(n * self.alpha), n - 1)
        near, start, stop = records_around(values, grid.nearest, rank, width)
        points, counts = distinct_indices(near)
        # Of the outermost values there may be more records than were found; they go to the summaries.
        head, tail = int(start > 0), int(stop < n)
        if len(points) <= head + tail:
            return whole()
        below, above = start + int(counts[0]) * head, n - stop + int(counts[-1]) * tail
        bounds = int(points[0]) + 1 if head else 0, int(points[-1]) if tail else size
        inside = slice(head, len(points) - tail)
        middle = self._runs(points[inside], counts[inside], below, n, bounds)
        # Far below, at most `start` records are lower and at least n - below higher; far above likewise.
        outside = self._scores(np.array([start, n - above]), np.array([n - below, n - stop]), n)
        runs = add_summaries(middle, outside, size, whole)
        return runs if runs.lead() >= cutoff_gap else whole()

    def _whole(self, tally: tuple[Integers, NDArray[np.int64]], size: int) -> Runs:
        """Return the runs for all records, given as distinct indices in order with their counts."""
        points, counts = tally
        return self._runs(points, counts, 0, int(counts.sum()), (0, size))

    def _runs(
        self,
        points: Integers,
        counts: NDArray[np.int64],
        below: int,
        n: int,
        bounds: tuple[int, int],
    ) -> Runs:
        """Return the runs from one index up to another, `below` of n records being lower still."""
        starts, sizes, less, not_more = stretches(points, counts, below, bounds)
        scores = Vector(self._scores(less, n - not_more, n), integral=True)
        return Runs(starts, sizes, scores)

    def _scores(self, less: Integers, more: Integers, n: int) -> Integers:
        """Return the scores of candidates with that many records below and above, exactly."""
        p, q = self.alpha.as_integer_ratio()
        if (n + 1) * q >= 2**62:
            less, more = less.astype(object), more.astype(object)
        # q * (wanted rank - L) and q * (L + E - wanted rank); one is negative where the rank is missed.
        scores: Integers = np.minimum(p * n - q * less, (q - p) * n - q * more)
        return scores

    def _beside(self, ladder: "Rungs") -> tuple[Integers, Integers, int]:
        """Return how many records are below and above the numbers of a list, and how many there are."""
        if self.column.on_grid(Decimals(1).cells) is None:  # in memory, or not to be compared there
            counts = self.column.beside(ladder.exact)
            return count_beside(*self.column.numbers(), ladder) if counts is None else counts
        numbers = ladder.exact
        numbers = numbers.fractions() if isinstance(numbers, Quotients) else numbers
        cells = cells_around(numbers)
        source = None if cells is None else self.column.on_grid(cells)
        if source is not None:
            return count_around(source, numbers)
        counts = self.column.beside(numbers)
        assert counts is not None  # what counts on a grid compares too
        return counts

    def _of_list(self, candidates: Labels) -> Vector:
        """Return the scores of a list of candidates."""
        ladder = self.column.rungs(candidates)
        less, more, total = self._beside(ladder)
        return Vector(self._scores(less, more, total), integral=True)


def count_points(indices: Integers, size: int) -> tuple[Integers, NDArray[np.int64]]:
    """Return the points with records and how many these are, from the records' indices on a grid of so many points.

    All points are counted, so that the largest index does not show in the time.
    """
    counts = np.bincount(indices.astype(np.int64, copy=False), minlength=size)
    points = np.flatnonzero(counts)
    return points, counts[points]


def stretches(
    points: Integers, counts: NDArray[np.int64], below: int, bounds: tuple[int, int]
) -> tuple[Integers, Integers, Integers, Integers]:
    """Return the points and the stretches between them, from one index up to another, as four arrays.

    They are where it starts, how many indices it has, how many records are lower, and how many are not
    higher. `below` records are lower than the first point.
    """
    up_to = np.concatenate(([below], below + np.cumsum(counts)))
    less, not_more = _weave(up_to, up_to[:-1]), _weave(up_to, up_to[1:])
    first, end = (np.array([bound], dtype=points.dtype) for bound in bounds)
    starts = _weave(np.concatenate((first, points + 1)), points)
    sizes = np.concatenate((starts[1:], end)) - starts
    there = sizes > 0
    return starts[there], sizes[there], less[there], not_more[there]


def add_summaries(runs: Runs, outside: Integers, size: int, whole: Callable[[], Runs]) -> Runs:
    """Return the runs with a summary of everything before them and of everything after them."""
    first, end = int(runs.starts[0]), int(runs.starts[-1]) + int(runs.sizes[-1])
    there = np.concatenate(([first > 0], np.ones(len(runs), dtype=bool), [end < size]))
    summary = np.concatenate(([True], np.zeros(len(runs), dtype=bool), [True]))
    return replace(
        runs,
        starts=np.concatenate(([0], runs.starts, [end]))[there],
        sizes=np.concatenate(([first], runs.sizes, [size - end]))[there],
        tops=Vector(
            cast(ExactArray, np.concatenate((outside[:1], runs.tops.values, outside[1:])))[there],
            integral=True,
        ),
        summaries=summary[there],
        whole=whole,
    )


def add_outside(
    runs: Runs,
    outside: Integers,
    size: int,
    whole: Callable[[], Runs],
    wider: Callable[[], Runs],
) -> Runs:
    """Return the runs of a bracket, with summaries of the points outside if there are any."""
    if int(runs.starts[0]) == 0 and int(runs.starts[-1]) + int(runs.sizes[-1]) == size:
        return runs
    return replace(add_summaries(runs, outside, size, whole), wider=wider)


def _weave(outer: Integers, inner: Integers) -> Integers:
    """Return outer[0], inner[0], outer[1], inner[1], ..., outer[-1]."""
    array = np.empty_like(outer, shape=len(outer) + len(inner))
    array[::2], array[1::2] = outer, inner
    return array


ToIndices = Callable[[Any], Integers]
"""Returns the indices of the grid that are nearest to numbers; it does not fall where the numbers rise."""

MANY = 2**17
"""From so many records on, a sample is taken."""

_SAMPLE = 2**16
"""The largest sample."""

_PART = 64
"""Of fewer records, the sample is one in so many."""

_VALUES_AT_ONCE = 2**15

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio: the fractions of its multiples fill the unit interval evenly."""


def records_around(
    values: ExactArray, place: ToIndices, rank: int, width: int
) -> tuple[Integers, int, int]:
    """Return the records at most `width` ranks from the one at `rank` and its ties, as indices, and their ranks.

    Ranks are those of the indices, and ties have one index. The values are not altered.
    """
    total = len(values)
    if total >= MANY:
        below, between = _between(values, *_ends(values, place, rank, width))
        if below <= rank < below + len(between):
            near, start, stop = _around(place(between), rank - below, width)
            beyond = total - below - len(between)
            # Neighbours that were not taken out may belong to the records that are wanted.
            if (start > 0 or below == 0) and (stop < len(between) or beyond == 0):
                return near, start + below, stop + below
    return _around(place(values), rank, width)


def _ends(values: ExactArray, place: ToIndices, rank: int, width: int) -> tuple[Any, Any]:
    """Return two numbers between which the wanted records are, as far as a sample can say.

    Of m random positions, more than a margin of 4 sqrt(m) too many or too few lie below a rank with probability
    at most 2 exp(-32) (Hoeffding). One margin finds the index of the wanted rank, a second one its neighbours
    beyond the ties. The positions are fixed, so records in an order made for it can mislead: that takes time only.
    """
    total = len(values)
    size = min(_SAMPLE, total // _PART)
    margin = 4 * isqrt(size) + ceil(size * width / total) + 1
    sample = np.sort(values[_positions(size, total)])
    indices, middle = place(sample), rank * size // total
    first = int(indices.searchsorted(indices[max(middle - margin, 0)])) - margin
    last = int(indices.searchsorted(indices[min(middle + margin, size - 1)], side="right")) + margin
    return sample[first] if first >= 0 else None, sample[last] if last < size else None


def _positions(size: int, total: int) -> NDArray[np.int64]:
    """Return positions that are spread evenly, in no order that rows are likely to have."""
    words = np.arange(size, dtype=np.uint64) * _GOLDEN  # modulo 2**64
    shares = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.minimum((shares * total).astype(np.int64), total - 1)


def _between(values: ExactArray, low: Any, high: Any) -> tuple[int, ExactArray]:
    """Return how many values are below one number, and those from it up to another; None is no bound."""
    below, parts = 0, []
    for start in range(
        0, len(values), _VALUES_AT_ONCE
    ):  # temporary arrays of a block stay in the cache
        block: Any = values[start : start + _VALUES_AT_ONCE]
        outside = np.zeros(len(block), dtype=np.bool_) if low is None else block < low
        below += int(np.count_nonzero(outside))
        if high is not None:
            outside |= block > high
        parts.append(block[~outside])
    return below, np.concatenate(parts)


def _around(indices: Integers, rank: int, width: int) -> tuple[Integers, int, int]:
    """Return the same of indices.

    Quickselect is quicker where all are distinct, but takes up to fifteen times as long where most are equal and
    a few are not: one record more could show in the time.
    """
    indices = sort_places(indices)
    first, end = (int(indices.searchsorted(indices[rank], side)) for side in ("left", "right"))
    start, stop = max(0, first - width), min(len(indices), end + width)
    return indices[start:stop], start, stop
