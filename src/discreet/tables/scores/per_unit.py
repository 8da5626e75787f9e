"""A score of rows where one privacy unit may hold several rows."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ...mechanisms.accuracy import Measure
from ...privacy.sensitivity import Neighbors, Sensitivity
from ...sampling.runs import Runs
from ...sampling.vectors import Vector
from ...selection.scores.contract import Score, measure_of


@dataclass(frozen=True, slots=True)
class PerUnit:
    """A score of rows, where a record is a privacy unit with at most that many rows.

    A unit added brings at most `rows` rows, and a unit replaced changes at most `rows` of them: a change adds,
    removes or replaces one row. So the change of the score is at most `rows` times the largest of these. Under
    `replace_one` the rows of one unit may move the scores different ways, so they are monotonic only where
    there is one row. For the proof, see docs/how-to/user_level_privacy.md.

    Args:
        score: the score of rows; where it is monotonic, every row that comes must move it the same way.
        rows: the contribution bound: the most rows of one unit, enforced before the score reads them.
    """

    score: Score
    rows: int

    @property
    def name(self) -> str:
        """That of the score of rows."""
        return self.score.name

    @property
    def parameters(self) -> dict[str, object]:
        """Those of the score of rows, and the contribution bound."""
        return {**self.score.parameters, "rows": self.rows}

    @property
    def in_runs(self) -> bool | Literal["sloping"]:
        """As the score of rows is."""
        return self.score.in_runs

    @property
    def counts_rows(self) -> bool:
        """Never: a record is a privacy unit of at most `rows` rows."""
        return False

    @property
    def measure(self) -> Measure | None:
        """As of the score of rows."""
        return measure_of(self.score)

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return `rows` times the most that one row changes which comes, goes or is exchanged."""
        # Coq: CountsPerUnit.unit_add_remove, CountsPerUnit.unit_replace_one, CountsPerUnit.unit_is_monotonic
        steps = [self.score.sensitivity(relation) for relation in ("add_remove", neighbors)]
        changes = [step.change for step in steps if step.change is not None]
        return Sensitivity(
            self.rows * max(step.spread for step in steps),
            neighbors,
            self.rows * max(changes) if len(changes) == len(steps) else None,
            all(step.monotonic for step in steps) and (self.rows == 1 or neighbors == "add_remove"),
        )

    def compute(self, cutoff_gap: Fraction) -> Vector | Runs:
        """Return the scores. Private."""
        return self.score.compute(cutoff_gap)
