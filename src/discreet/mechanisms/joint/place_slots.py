"""Ends of places in slots, as many for any records: *Slots* in docs/reference/mechanisms/joint_quantiles.md."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...sampling.kernel import Doubles
from .arithmetic import QuantileCuts
from .grid_records import GridRecords

ABSENT, ALONE, BOTTOM, TOP, INSIDE = range(5)
"""Kinds of slots: no end, the cut of a place of one cut, the ends of a tied place, or none, inside of one."""

MOST_SLOTS = 2**23
"""More slots for all quantiles, or more states, are not filled up."""


class Slots(NamedTuple):
    """Slots in order, as the kernel reads them. Private."""

    first: int
    """The number of the first one."""
    cuts: NDArray[np.int64]
    """The cuts of their ends; where there is none, one up to the next end."""
    kinds: NDArray[np.int8]
    sizes: Doubles
    """How many points there are in a place of one cut."""
    is_even: bool = False
    """Whether there is a cut every half record."""


class Window(NamedTuple):
    """The slots of one quantile, among those of others. Private."""

    slots: Slots
    first: int
    """The number of the first one."""
    stop: int

    @property
    def number(self) -> int:
        """How many there are."""
        return self.stop - self.first

    @property
    def start(self) -> int:
        """How many of the others are before them."""
        return self.first - self.slots.first

    @property
    def cuts(self) -> NDArray[np.int64]:
        """Their cuts."""
        return self.slots.cuts[self.start : self.stop - self.slots.first]


def slots_by_quantile(cuts: QuantileCuts, reach: int) -> tuple[list[Window], list[int]]:
    """Return for every quantile the slots within reach and around, and how many states it has at least.

    Their numbers are functions of how many records, points and quantiles there are, up to `MOST_SLOTS`.
    """
    half = cuts.steps // 2
    windows = [
        (
            max(-((reach - target) // half) - 1, 0),
            min((target + reach) // half, 2 * cuts.records.number) + 1,
        )
        for target in cuts.targets[1:-1]
    ]
    widest = max(stop - first for first, stop in windows)
    if 2 * cuts.size <= widest and 2 * cuts.size * len(windows) <= MOST_SLOTS:
        parts = [Window(_by_point(cuts.records, half), 0, 2 * cuts.size)] * len(windows)
    elif sum(stop - first for first, stop in windows) <= MOST_SLOTS:
        parts = list(_by_half_record(cuts.records, half, windows))
    else:
        return list(_by_place(cuts, reach)), [0] * len(windows)
    return parts, _most_states(cuts, reach, [part.number for part in parts])


def _by_half_record(
    records: GridRecords, half: int, windows: list[tuple[int, int]]
) -> Iterator[Window]:
    """Yield slots of half records: a stretch between two records, or none, and then a record."""
    spans = list[tuple[int, int]]()
    for first, stop in windows:
        overlaps = bool(spans) and first <= spans[-1][1]
        spans[-1:] = [(spans[-1][0], stop)] if overlaps else [*spans[-1:], (first, stop)]
    parts = (_half_records(records, half, *span) for span in spans)
    whole = next(parts)
    for first, stop in windows:
        while stop > whole.first + len(whole.cuts):
            whole = next(parts)
        yield Window(whole, first, stop)


def _half_records(records: GridRecords, half: int, first: int, stop: int) -> Slots:
    """Return the slots of half records with numbers from the first up to the last one, or one more."""
    low, high = first // 2, (stop + 1) // 2
    gaps = np.diff(records.between(low - 1, high + 1))
    ties = (gaps == 0).astype(np.int8)
    kinds, sizes = np.empty(2 * (high - low), dtype=np.int8), np.ones(2 * (high - low))
    kinds[0::2] = (gaps[:-1] > 1) * np.int8(ALONE) + ties[:-1] * np.int8(INSIDE)
    # A record may be tied with the one after it, with the one before it, or with both.
    kinds[1::2] = ALONE + ties[1:] * np.int8(BOTTOM - ALONE) + ties[:-1] * np.int8(TOP - ALONE)
    sizes[0::2] = np.maximum(gaps[:-1] - 1, 0)
    cuts = np.arange(2 * low, 2 * high) * half
    return Slots(2 * low, cuts, kinds, sizes, is_even=True)


def _by_point(records: GridRecords, half: int) -> Slots:
    """Return two slots for every point of the grid: a stretch has its end in the last slot of its last point."""
    counts = records.numbers()
    totals, points = counts.cumsum(), np.arange(len(counts))
    there, is_alone = counts > 0, counts == 1
    ends = ~there & np.append(there[1:], True)
    kinds, sizes = np.empty((len(counts), 2), dtype=np.int8), np.ones((len(counts), 2))
    kinds[:, 0] = (counts > 1) * np.int8(BOTTOM)
    kinds[:, 1] = (is_alone | ends) * np.int8(ALONE) + (counts > 1) * np.int8(TOP)
    before = np.maximum.accumulate(np.where(there, points, -1))
    sizes[:, 1] = np.maximum(points - before, is_alone)
    cuts = np.empty((len(counts), 2), dtype=np.int64)
    cuts[:, 0], cuts[:, 1] = 2 * (totals - counts) + there, 2 * totals - there
    return Slots(0, cuts.ravel() * half, kinds.ravel(), sizes.ravel())


def _by_place(cuts: QuantileCuts, reach: int) -> Iterator[Window]:
    """Yield the ends of the places there are, as many as there are."""
    ties = cuts.low < cuts.high
    starts = np.arange(len(ties))
    starts[1:] += ties.cumsum()[:-1]
    ends = np.empty(len(ties) + int(ties.sum()), dtype=np.int64)
    kinds, sizes = np.full(len(ends), TOP, dtype=np.int8), np.ones(len(ends))
    ends[starts + ties], ends[starts] = cuts.high, cuts.low
    kinds[starts], sizes[starts] = np.where(ties, BOTTOM, ALONE), cuts.places.sizes
    whole = Slots(0, ends, kinds, sizes)
    for part in cuts.within(ends, reach)[1:-1]:
        # The end before the others tells whether those after it stay within a place.
        yield Window(whole, max(part.start - 1, 0), max(part.stop, part.start))


def _most_states(cuts: QuantileCuts, reach: int, slots: list[int]) -> list[int]:
    """Return how many states the quantiles have at most, or one a slot where these are more than `MOST_SLOTS`."""
    half, end = cuts.steps // 2, cuts.targets[-1]
    before, parts, most = 1, set[int](), list[int]()
    for number, (last, target) in zip(slots, pairwise(cuts.targets[:-1]), strict=True):
        # A state is at an end, a number of half records, or stays at the offset of one of an earlier quantile.
        parts = {(part + target - last) % half for part in parts} | {0}
        low, high = max(target - reach, 0), min(target + reach, end)
        cuts_there = sum((high - part) // half - (low - part - 1) // half for part in parts)
        before = min(before + number, cuts_there + (target % half not in parts))
        most.append(before)
    return most if sum(most) <= MOST_SLOTS else slots
