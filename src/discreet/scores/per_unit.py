"""A score over records of persons who have several rows each."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from ..privacy.sensitivity import Neighbors, Sensitivity
from ..sampling.runs import Runs
from ..sampling.vectors import Vector
from .contract import Score


@dataclass(frozen=True, slots=True)
class PerUnit:
    """A score of rows, where a record is a person with at most that many rows.

    A person who comes adds at most `rows` rows, and one who is replaced changes at most `rows` of them,
    each by a row that comes, goes or is exchanged. So every change is at most `rows` times that of the
    worst of these. Under `replace_one` the rows of one person may move the scores different ways, so
    they are monotonic only while there is one. Proof: docs/persons.md.

    Args:
        score: the score of rows; where it is monotonic, every row that comes must move it the same way.
        rows: the most rows of one person; bounded before the score sees them.
    """

    score: Score
    rows: int

    @property
    def name(self) -> str:
        """That of the score of rows."""
        return self.score.name

    @property
    def parameters(self) -> dict[str, Any]:
        """Those of the score of rows, and how many rows a person has at most."""
        return {**self.score.parameters, "rows": self.rows}

    @property
    def in_runs(self) -> bool | Literal["sloping"]:
        """As the score of rows is."""
        return self.score.in_runs

    @property
    def counts_rows(self) -> bool:
        """Never: a person is a record, of at most `rows` rows."""
        return False

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return `rows` times the most that one row changes which comes, goes or is exchanged."""
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
