"""Records on a grid of fewer than 2**31 points, sorted by the kernel, and quantiles drawn from them in one call.

The kernel sorts by exchanges and merges of a fixed length, so that neither equal records nor their order show in
the time. Tied records are not counted first: a record that is not the first at its point has a run of size zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...sampling import kernel
from ...sampling.bits import Bits, RestOfWords
from ...sampling.enclosures import NaturalRate, has_fast_pass
from ...sampling.vectors import ExactArray
from ...selection.candidates import nearest_doubles
from .sorted_records import SortedRecords

_FEWER_POINTS = 2**31
"""Grids of fewer points have places of 32 bits, one of which is left for the end."""

_EXACT_SCORES = 2**52
"""Whole numbers below it, and half of them, are doubles."""

_WIDTH = 64

_TARGET = np.dtype([("p", "i8"), ("q", "i8"), ("width", "u8"), ("rate", "f8")])


@dataclass(frozen=True, slots=True)
class RankDraws:
    """How the ranks of some shares of the records are drawn, as the kernel takes it. Public.

    Attributes:
        targets: a `Wanted` of `kernel.c` for every share.
        parts: into how many parts a point is divided where it cuts the records in two, the middle rank first;
            0 if all ranks are those of all records.
        most: a bound on the numbers of records that doubles serve.
    """

    targets: NDArray[np.void]
    parts: int
    most: int

    @classmethod
    def of(
        cls, shares: Sequence[Fraction], rates: Sequence[NaturalRate], size: int, parts: int
    ) -> "RankDraws | None":
        """Return how ranks are drawn among so many points, at rates of weights; None if not in doubles."""
        if not all(map(has_fast_pass, rates)) or size >= _FEWER_POINTS:
            return None
        # As many nats as in `sorted_records`, and no fewer ranks than one.
        nats = Fraction(7 * ((size * max(parts, 1)).bit_length() + 40), 10)
        targets = np.array(
            [
                (
                    p,
                    q,
                    min(ceil(nats / (rate.eta * q)) + 1, _FEWER_POINTS),
                    rate.double / kernel.LN2,
                )
                for (p, q), rate in zip(map(Fraction.as_integer_ratio, shares), rates, strict=True)
            ],
            dtype=_TARGET,
        )
        return cls(targets, parts, _EXACT_SCORES // int(targets["q"].max()) - 1)


class SortedPlaces(SortedRecords):
    """The points of all records, ascending, with those that are equal. Private."""

    __slots__ = ("ascending", "size")
    ascending: NDArray[np.uint32]
    size: int

    def __init__(self, ascending: NDArray[np.uint32], size: int) -> None:
        object.__setattr__(self, "ascending", ascending)
        object.__setattr__(self, "size", size)

    def __getattr__(self, name: str) -> Any:
        if name not in SortedRecords.__slots__:
            raise AttributeError(name)
        ascending: Any = self.ascending
        distinct = SortedRecords.of_ascending(ascending, np.dtype(np.int64))
        for field in SortedRecords.__slots__:
            object.__setattr__(self, field, getattr(distinct, field))
        return getattr(distinct, name)

    @classmethod
    def on(cls, grid: Any, values: ExactArray) -> "SortedPlaces | None":
        """Return the records on a grid; None where the kernel cannot sort them, by public numbers alone."""
        fast = kernel.active()
        if fast is None or grid.size >= _FEWER_POINTS or not len(values):
            return None

        def write(places: NDArray[np.uint32]) -> None:
            doubles = nearest_doubles(grid)
            if doubles is None or not kernel.are_doubles(values):
                places[:] = grid.nearest(values)
            else:
                fast.nearest_places(values, doubles, places)

        ascending = fast.sorted_words(len(values), write)
        return None if ascending is None else cls(ascending, grid.size)

    def draw(self, draws: RankDraws, bits: Bits) -> tuple[list[int] | None, Bits]:
        """Return an index for every share, or None where that is open, and the source of bits from there.

        Three words of the source are read for one.
        """
        fast, n = kernel.active(), len(self.ascending)
        if fast is None or n >= draws.most or bits.width != _WIDTH:
            return None, bits
        words = bits.words(3 * len(draws.targets))
        answers = fast.quantiles(self.ascending, self.size, draws.parts, draws.targets, words)
        # The answers are a function of the words, so that all of them may be drawn again in another way.
        return (None, RestOfWords(words, bits)) if answers is None else (answers.tolist(), bits)
