"""Noisy counts of the cells of a column by their kind, before anything else is asked of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from ...mechanisms.accuracy import CONFIDENCE, geometric_error
from ...mechanisms.contract import PrivacyParameter, calibrate
from ...mechanisms.noisy_counts import NoisyCounts, counts_sensitivity
from ...privacy.contract import Guarantee
from ...privacy.sensitivity import Neighbors
from ...sampling.bits import SystemBits
from ...sampling.vectors import Vector, integers
from ...selection.date_grid import ClockKind
from ..datasets.column_profile import ProfileKind
from ..engines.engine import open_table
from ..engines.fits import DeclaredCells
from ..engines.records import Records
from .profile_arguments import TableToProfile

ColumnDraw = Callable[[], list[Any]]


@dataclass(frozen=True, slots=True)
class KindCounts:
    """The noisy counts of the cells of a column: of other ones, of missing ones, and of each kind that is read.

    Attributes:
        table: the table.
        name: the name of the column.
        kinds: the kinds that are counted: that of the column, or those that it may have. Texts are the other ones.
        clock: the clock of its dates.
        epsilon: the epsilon of the counts.
        neighbors: the neighbouring relation.
    """

    table: TableToProfile
    name: str
    kinds: Sequence[ProfileKind]
    clock: ClockKind | None
    epsilon: Fraction
    neighbors: Neighbors

    @property
    def _calibrated(self) -> Any:
        sensitivity = counts_sensitivity(
            1 if self.neighbors == "add_remove" else 2, self.neighbors, change=self.table.rows
        )
        return calibrate(NoisyCounts(), sensitivity, PrivacyParameter("epsilon", self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the counts."""
        guarantee: Guarantee = self._calibrated.guarantee
        return guarantee

    @property
    def error(self) -> int:
        """By how much the numbers of filled and of missing cells are off at most, with probability CONFIDENCE."""
        moved = self.table.rows * (1 if self.neighbors == "add_remove" else 2)
        classes = 2 + len(self.kinds)
        each = geometric_error(self.epsilon / moved, classes, CONFIDENCE)
        return each * (classes - 1)  # those that are filled are added up

    def prepare(self) -> ColumnDraw:
        """Count the cells, and return the function that adds noise to the counts."""
        unit = self.table.unit
        records = Records(unit, None if unit is None else self.table.rows)
        cells = DeclaredCells(open_table(self.table.data, self.name, records))
        numbers = self._numbers(cells)
        return partial(
            self._calibrated.law(Vector(integers(numbers), integral=True)).draw, SystemBits()
        )

    def _numbers(self, cells: DeclaredCells) -> list[int]:
        """Return how many cells are of no kind that is read, how many are missing, and how many of each kind."""
        if len(self.kinds) > 1:
            several = cells.kinds()
            return [several.texts, several.missing, several.numbers, several.dates]
        if not self.kinds:
            every = cells.every_one()
            return [every.fits, every.missing + every.unreadable]
        one = cells.of_kind(self.clock if self.kinds == ("dates",) else None)
        return [one.misfits, one.missing + one.unreadable, one.fits]

    def readable(self, kind: ProfileKind, drawn: Sequence[int]) -> int | None:
        """Return the noisy count of the cells of a kind; None for texts."""
        return drawn[2 + self.kinds.index(kind)] if kind in self.kinds else None


def decided_kind(numbers: Sequence[int]) -> ProfileKind:
    """Return the kind of a column of a text file, by the noisy counts of its cells: that of more than half."""
    texts, _, of_numbers, of_dates = numbers
    half = Fraction(texts + of_numbers + of_dates, 2)
    if of_numbers > half:
        return "numbers"
    return "dates" if of_dates > half else "texts"
