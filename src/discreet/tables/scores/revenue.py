"""The revenue at a price: the score of pricing."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...base.doors import fix
from ...base.float_environment import run_in_default_environment
from ...base.numbers import count, flag
from ...errors import InvalidCandidates, preview
from ...mechanisms.accuracy import REVENUE, Measure
from ...privacy.sensitivity import Neighbors, Sensitivity, read_neighbors
from ...sampling import kernel
from ...sampling.falling_runs import FallingRuns, Steps, key_bits
from ...sampling.runs import Runs
from ...sampling.vectors import ExactArray, Integers, Vector, by_type
from ...selection.candidates import Grid
from ...selection.date_grid import DateGrid
from ...selection.scores.contract import BaseScore
from .rank_search import distinct_indices

if TYPE_CHECKING:
    from ..engines.column import Numeric

_EXACT_QUOTIENTS = 2**48
"""Below it, one rounding of a quotient of integers is the double nearest to a price."""

_BIDS_AT_ONCE = 2**14

_LARGE = 2**62
"""From here on, Python's integers are used."""

_SMALLEST = -10_000
"""Decimals below ten to this power count as zero: written out, they would fill the memory."""


@dataclass(frozen=True, slots=True, repr=False)
class Revenue(BaseScore):
    """price * min(supply, number of bids at or above it), for the prices of a grid, in units of `unit`.

    One bidder changes no score by more than the highest price times the units he may buy, and no
    difference of two scores either: the spread is that, not twice that, under `add_remove` and
    `replace_one`. For the proof, see docs/reference/scores/of_tables.md#revenue.

    Args:
        column: one bid for each unit wanted, read when everything public has been checked.
        prices: the prices that may be answered; none below zero.
        supply: how many units there are to sell; None for no limit.
        units: the most units one bidder may bid for: his rows must be bounded to that beforehand.
        continuous: let index i stand for all prices from point i to the next, with the integral of
            exp(eta * score) over them as its weight; the last point then stands for nothing.
        per_person: whether a bidder is a record, whose rows have been bounded to `units`.
    """

    column: "Numeric"
    prices: Grid
    supply: int | None = None
    units: int = 1
    continuous: bool = False
    per_person: bool = False
    name: ClassVar[str] = "revenue"
    public_fields: ClassVar[tuple[str, ...]] = ("prices", "supply", "units")
    in_runs: ClassVar[Literal["sloping"]] = "sloping"

    def __post_init__(self) -> None:
        prices: object = self.prices
        if not isinstance(prices, Grid):
            kind = "dates" if isinstance(prices, DateGrid) else preview(prices)
            raise InvalidCandidates(
                f"prices must be numbers in even steps, got {kind}. Give {fix('a grid', lo=0, hi=120)}"
            )
        if self.prices.lo < 0 or self.prices.hi <= 0:
            raise InvalidCandidates(f"prices must not be below zero, nor all zero: {self.prices}")
        if flag(self.continuous, "continuous") and self.prices.size == 1:
            raise InvalidCandidates("a continuous price needs a grid of at least two points")
        object.__setattr__(self, "units", count(self.units, "units"))
        if self.supply is not None:
            object.__setattr__(self, "supply", count(self.supply, "supply"))

    @property
    def parameters(self) -> dict[str, object]:
        """How many units there are, how many one bidder may buy, and whether prices are real numbers."""
        return {"supply": self.supply, "units": self.units, "continuous": self.continuous}

    @property
    def measure(self) -> Measure:
        """The revenue, in units of the prices."""
        return Measure(REVENUE, self.unit)

    @property
    def counts_rows(self) -> bool:
        """Unless the rows of a bidder were bounded to his units."""
        return not self.per_person

    @property
    def unit(self) -> Fraction:
        """The revenue that a score of 1 stands for: the largest number that all prices are multiples of."""
        lo, step = self.prices.lo, self.prices.step
        below = math.lcm(lo.denominator, step.denominator)
        return Fraction(math.gcd(int(lo * below), int(step * below)), below)

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return a change and a spread of the highest price times the units of one bidder."""
        units = self.units if self.supply is None else min(self.units, self.supply)
        # Coq: Price.revenue_add_remove, Price.revenue_replace_one, Price.revenue_of_one_unit_is_monotonic
        change = units * self.prices.hi / self.unit
        one_way = neighbors == "add_remove" or units == 1
        return Sensitivity(change, read_neighbors(neighbors), change, monotonic=one_way)

    def compute(self, cutoff_gap: Fraction) -> Runs:
        """Return one run per stretch between neighbouring bids. Private."""
        source = self.column.on_grid(borders(self.prices))
        if source is None:
            bids, counts = self.column.numbers()
            if counts is not None:
                return self._between(*_paying(places(self.prices, bids), counts))
        elif (rows := source.numbers()) is not None:
            bids = rows
        else:
            return self._between(*_paying(*source.occupancy(partial(places, self.prices))))
        falling = self._falling(bids)
        if falling is not None:  # whose length is only known when it is listed
            return falling
        return self._between(*distinct_indices(highest_paid(self.prices, bids)))

    def _falling(self, bids: ExactArray) -> FallingRuns | None:
        """Return a run per bid, where doubles hold all prices: a choice by the prices alone."""
        prices = self.prices
        below = _denominator(prices)
        if len(bids) == 0 or max(prices.hi, Fraction(1)) * below >= _EXACT_QUOTIENTS:
            return None
        unit = self.unit
        low, step = int(prices.lo / unit), int(prices.step / unit)
        limit = len(bids) if self.supply is None else self.supply
        steps = Steps(low, step, prices.size - 1, limit, self.continuous)
        return FallingRuns(
            *_sorted_keys(prices, bids),
            steps,
            lambda ends: self._between(*distinct_indices(ends[ends >= 0])),
        )

    def _between(self, highest: Integers, counts: NDArray[np.int64]) -> Runs:
        """Return the runs between prices that are the highest of so many bids each."""
        ends = np.append(highest, np.array([self.prices.size - 1], dtype=highest.dtype))
        sales = np.append(np.cumsum(counts[::-1])[::-1], 0)
        if self.supply is not None:
            # More than there can be is no limit, and may be no word.
            most = self.supply if sales.dtype == object else min(self.supply, _LARGE)
            sales = np.minimum(sales, most)
        return self._runs(ends, sales)

    def _runs(self, ends: Integers, sales: NDArray[np.int64]) -> Runs:
        """Return the runs that end with these indices and sell that many units; only the last two may be equal."""
        offset = 0 if self.continuous else 1
        before = np.append(np.array([-offset], dtype=ends.dtype), ends[:-1])
        sizes = ends - before
        # Runs without a price are at the ends: a bid pays the highest price, or the lowest if prices are real.
        there = slice(int(sizes[0] == 0), len(sizes) - int(sizes[-1] == 0))
        ends, before, sizes, sales = ends[there], before[there], sizes[there], sales[there]
        lo, step = int(self.prices.lo / self.unit), int(self.prices.step / self.unit)
        # What is not sold has a score too, so the product counts one unit at least.
        if max(int(self.prices.hi / self.unit), step) * max(int(sales.max()), 1) >= _LARGE:
            points, sales = ends.astype(object), sales.astype(object)
        else:
            points = ends
        return Runs(
            before + offset,
            sizes.tolist() if sizes.dtype == object else sizes,
            Vector((lo + points * step) * sales),
            Vector(sales * step),
            np.zeros(len(ends), dtype=np.bool_),
            dense=self.continuous,
        )


def _paying(indices: Integers, counts: NDArray[np.int64]) -> tuple[Integers, NDArray[np.int64]]:
    """Return the indices that are a price, in order, and how many pay them."""
    paying = np.asarray(indices >= 0, dtype=np.bool_)
    return distinct_indices(indices[paying], counts[paying])


def _denominator(prices: Grid) -> int:
    """Return the least denominator that all prices have in common."""
    return math.lcm(prices.lo.denominator, prices.step.denominator)


def borders(prices: Grid) -> Grid:
    """Return a grid of points nearest to the bids from one price up to the next, the first for bids below all.

    So those are in a cell of their own, and no pass is made to tell them from others.
    """
    half = prices.step / 2
    return Grid(prices.lo - half, prices.hi + half, prices.step)


def _sorted_keys(prices: Grid, bids: ExactArray) -> tuple[NDArray[Any], int]:
    """Return the keys of the highest prices that the bids pay, in order, and their bits: see `falling_runs`."""
    fast = kernel.active()
    if fast is not None:
        doubles = fast.sorted_keys(len(bids), partial(_write_keys, fast, prices, bids))
        if doubles is not None:
            return doubles, 0
    bits = key_bits(prices.size - 1, len(bids))
    keys = np.empty(len(bids) + 1, dtype=np.int64)
    keys[0] = 0
    length, stride = min(_BIDS_AT_ONCE, len(bids)), 1 if bits else 0
    positions = np.arange(length) * stride + (1 << bits)
    in_doubles = _DoublePlaces(prices, length) if bids.dtype.kind == "f" else None
    for start in range(0, len(bids), _BIDS_AT_ONCE):  # what is worked with stays in the cache
        block: Any = bids[start : start + _BIDS_AT_ONCE]
        part = keys[1 + start : 1 + start + len(block)]
        if in_doubles is None:
            np.left_shift(places(prices, block), bits, out=part)
        else:
            indices = in_doubles.of(block)
            indices *= 2.0**bits  # whole numbers below 2**62, with as many digits as the places
            part[:] = indices
        part += positions[: len(part)]
        positions += stride * _BIDS_AT_ONCE
    run_in_default_environment(keys[1:].view(np.float64).sort)  # numpy is quicker with doubles
    return keys, bits


def _write_keys(
    fast: kernel.Kernel, prices: Grid, bids: ExactArray, keys: NDArray[np.float64]
) -> None:
    """Write the highest price that every bid pays, plus one."""
    if not kernel.are_doubles(bids):
        keys[:] = places(prices, bids)
        keys += 1
        return
    below = _denominator(prices)
    doubles = prices.lo, prices.hi, 1 / prices.step, prices.lo * below, prices.step * below
    fast.grid_keys(bids, np.array([*map(float, doubles), float(below)]), keys)


def highest_paid(prices: Grid, bids: ExactArray) -> Integers:
    """Return the indices of the highest prices that the bids pay; bids that pay none are left out."""
    indices = places(prices, bids)
    return indices[np.asarray(indices >= 0, dtype=np.bool_)]


def places(prices: Grid, bids: ExactArray) -> Integers:
    """Return the indices of the highest prices that the bids pay, below zero for a bid that pays none.

    An index depends on its own bid alone. A bid that is a double pays every price whose nearest
    double is not above it, so 3.01 pays 3.01; all other numbers are compared exactly. NaN pays nothing.
    """
    kind = bids.dtype.kind
    if max(prices.hi, Fraction(1)) * _denominator(prices) >= _EXACT_QUOTIENTS:
        return _one_by_one(prices, bids)
    if kind == "O":
        indices = np.empty(len(bids), dtype=np.int64)
        for where, part in by_type(bids):
            alike = part.dtype.kind != "O"
            indices[where] = places(prices, part) if alike else _one_by_one(prices, part)
        return indices
    length = min(_BIDS_AT_ONCE, len(bids))
    find = _DoublePlaces(prices, length).of if kind == "f" else partial(_whole_places, prices)
    indices = np.empty(len(bids), dtype=np.int64)
    for start in range(0, len(bids), _BIDS_AT_ONCE):  # what is worked with stays in the cache
        indices[start : start + _BIDS_AT_ONCE] = find(bids[start : start + _BIDS_AT_ONCE])
    return indices


class _DoublePlaces:
    """The places of bids in doubles, block by block in memory that is used again. Private."""

    __slots__ = ("_below", "_highest", "_least", "_low", "_lowest", "_room", "_step", "_steps")

    def __init__(self, prices: Grid, length: int) -> None:
        below = _denominator(prices)
        self._lowest, self._highest = float(prices.lo), float(prices.hi)
        self._least = float(prices.lo - prices.step / 4)
        self._steps = float(1 / prices.step)
        # Prices are (low + place * step) / below, all whole numbers below 2**53.
        self._low, self._step = float(prices.lo * below), float(prices.step * below)
        self._below = float(below)
        self._room = np.empty((3, length))

    def of(self, bids: ExactArray) -> NDArray[np.float64]:
        """Return the places of at most `length` bids, until the next call."""
        nearest: NDArray[np.float64]
        nearest, paying, points = self._room[:, : len(bids)]
        np.fmax(bids, self._least, out=paying)  # pays nothing, as NaN does
        np.minimum(paying, self._highest, out=paying)
        # The quotient is off by less than 1/4: this index, from 0 on, or the one below is the answer.
        np.subtract(paying, self._lowest, out=nearest)
        nearest *= self._steps
        np.rint(nearest, out=nearest)
        np.multiply(nearest, self._step, out=points)
        points += self._low
        points /= self._below
        nearest -= points > paying
        return nearest


def _one_by_one(prices: Grid, bids: ExactArray) -> Integers:
    """Return the same for bids of any type, by exact arithmetic."""
    exact = [max(-1, _highest_paid(prices, bid)) for bid in bids.tolist()]
    return np.array(exact, dtype=object if prices.size >= _LARGE else np.int64)


def _whole_places(prices: Grid, bids: ExactArray) -> NDArray[np.int64]:
    """Return the same for integers of one type."""
    below, least = _denominator(prices), math.ceil(prices.lo)
    lo, step = int(prices.lo * below), int(prices.step * below)
    pays = bids >= least
    # Those that pay nothing are placed like a bid of the lowest price, and then taken back.
    most = min(math.ceil(prices.hi), np.iinfo(bids.dtype.name).max)
    whole = np.clip(bids, least, most).astype(np.int64)
    indices: NDArray[np.int64] = np.minimum((whole * below - lo) // step, prices.size - 1)
    return np.where(pays, indices, -1)


def _highest_paid(prices: Grid, bid: Any) -> int:
    """Return the index of the highest price that one bid pays, below zero if there is none."""
    if bid != bid or bid == -math.inf:
        return -1
    if bid == math.inf or (isinstance(bid, Decimal) and bid >= math.ceil(prices.hi)):
        return prices.size - 1
    reach, half_open = _reach(bid)
    steps, rest = divmod(reach - prices.lo, prices.step)
    return min(int(steps) - (half_open and rest == 0), prices.size - 1)


def _reach(bid: Any) -> tuple[Fraction, bool]:
    """Return the highest number that a bid pays, and whether it just fails to pay that one."""
    if isinstance(bid, float):
        # What is nearest to a double reaches half way to the next; half way goes to the even one.
        ulp = Fraction(math.ulp(bid))
        return Fraction(bid) + ulp / 2, Fraction(bid) / ulp % 2 == 1
    if isinstance(bid, Decimal) and bid.adjusted() < _SMALLEST:
        return Fraction(0), bid < 0
    return Fraction(int(bid)) if isinstance(bid, Integral) else Fraction(
        *bid.as_integer_ratio()
    ), False
