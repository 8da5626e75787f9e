"""All pairs of neighbouring datasets over a small universe of records."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any, Self

from ...errors import InvalidArgument, preview

DatabaseIndices = tuple[int, ...]
Pair = tuple[DatabaseIndices, DatabaseIndices]
"""Two neighbouring datasets, as ascending indices into the universe."""


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """All pairs of neighbours: of so many different records, of those sizes, in that relation.

    Args:
        records: how many different records there are.
        sizes: how many of them, with repetition, a dataset may have.
        neighbors: the neighbouring relation.
    """

    records: int
    sizes: frozenset[Any]
    neighbors: str

    @classmethod
    def of(cls, universe: Sequence[object], sizes: Iterable[object], neighbors: str) -> Self:
        """Return the pairs over a universe. A size that is no number is rejected by a word for it."""
        words = (size if isinstance(size, int) else preview(size) for size in sizes)
        return cls(len(universe), frozenset(words), neighbors)

    def __post_init__(self) -> None:
        whole = all(isinstance(size, int) and size >= 0 for size in self.sizes)
        if not (self.records and whole and self.bases()):
            raise InvalidArgument(
                "universe must not be empty, and sizes must be whole numbers with neighbours "
                f"among them, such as range(4), got {sorted(map(str, self.sizes))}"
            )

    def bases(self) -> list[int]:
        """Return how many records two neighbours may have in common."""
        if self.neighbors == "replace_one":
            return sorted(size - 1 for size in self.sizes if size >= 1)
        return sorted(size for size in self.sizes if size + 1 in self.sizes)

    def steps(self) -> list[DatabaseIndices]:
        """Return the records in which two neighbours may differ: one, or one on either side."""
        if self.neighbors == "replace_one":
            return list(combinations(range(self.records), 2))
        return [(r,) for r in range(self.records)]

    def pairs(self) -> int:
        """Return how many pairs there are."""
        steps = comb(self.records, 2) if self.neighbors == "replace_one" else self.records
        return steps * sum(comb(self.records + size - 1, size) for size in self.bases())

    def everything(self) -> Iterator[Pair]:
        """Yield all pairs, small ones first."""
        for size in self.bases():
            for base in combinations_with_replacement(range(self.records), size):
                for step in self.steps():
                    yield self.pair(base, step)

    def pair(self, base: DatabaseIndices, step: DatabaseIndices) -> Pair:
        """Return the two datasets that have the base in common."""
        if self.neighbors == "replace_one":
            return tuple(sorted((*base, step[0]))), tuple(sorted((*base, step[1])))
        return tuple(sorted(base)), tuple(sorted((*base, *step)))
