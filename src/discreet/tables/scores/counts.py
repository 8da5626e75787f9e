"""Rows per candidate: the score of the most common value."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...mechanisms.accuracy import RECORDS, Measure
from ...privacy.sensitivity import Neighbors, Sensitivity, sensitivity_of
from ...sampling.runs import Runs
from ...sampling.vectors import Vector, integers
from ...selection.scores.contract import BaseScore

if TYPE_CHECKING:
    from ..engines.candidate_table import Ranking
    from ..engines.column import Countable


@dataclass(frozen=True, slots=True, repr=False)
class Counts(BaseScore):
    """The numbers of rows that hold the candidates. One row is one record, and holds one value.

    A row more raises one count by 1 and lowers none: monotonic, spread 1 under `add_remove`. A row
    replaced can lower one count and raise another: spread 2 under `replace_one`. For the proof, see
    docs/reference/scores/of_tables.md#counts.

    Args:
        column: the records, counted when everything public has been checked.
        candidates: the values that are counted.
        per_person: whether it counts privacy units instead, a unit counting once per candidate that it holds. A
            unit added raises any count by 1 at most and lowers none, so the same numbers hold:
            docs/how-to/user_level_privacy.md.
    """

    column: "Countable"
    candidates: Sequence[object]
    per_person: bool = False
    name: ClassVar[str] = "counts"
    measure: ClassVar[Measure] = Measure(RECORDS)

    @property
    def counts_rows(self) -> bool:
        """Unless privacy units are counted."""
        return not self.per_person

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return a change of 1 for every count, monotonic when records are added or removed."""
        # Coq: CountsPerUnit.counts_add_remove, CountsPerUnit.counts_replace_one
        return sensitivity_of(1, neighbors, monotonic=neighbors == "add_remove")

    def compute(self, cutoff_gap: Fraction) -> Vector:
        """Return the counts. Private."""
        return Vector(integers(self.column.count(self.candidates)), integral=True)


@dataclass(frozen=True, slots=True, repr=False)
class ClassCounts(BaseScore):
    """The same counts, as numbers of candidates that share a count: for candidates too many to list.

    A class of m candidates of equal count is a flat run, and a candidate in it is looked up when it has been
    drawn. The distribution is that of `Counts`, and so is the sensitivity. For the proof, see
    docs/explanation/out_of_core.md.

    Args:
        column: the records, counted when everything public has been checked.
        ranking: the candidates of a public table, in its engine.
        per_person: as for `Counts`.
    """

    column: "Countable"
    ranking: "Ranking"
    per_person: bool = False
    name: ClassVar[str] = "counts"
    in_runs: ClassVar[bool] = True
    measure: ClassVar[Measure] = Measure(RECORDS)

    @property
    def counts_rows(self) -> bool:
        """Unless privacy units are counted."""
        return not self.per_person

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return a change of 1 for every count, monotonic when records are added or removed."""
        return Counts(self.column, ()).sensitivity(neighbors)

    def compute(self, cutoff_gap: Fraction) -> Runs:
        """Return the classes, the most common candidates first. Private."""
        classes = self.column.classes(self.ranking)
        counts, sizes = classes.counts_and_sizes()

        def locate(places: Sequence[tuple[int, int]]) -> list[int]:
            ranks: list[int] = classes.ranks([(int(counts[c]), nth) for c, nth in places])
            return ranks

        return Runs(np.cumsum(sizes) - sizes, sizes, Vector(counts), locate=locate)
