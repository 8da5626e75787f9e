"""Scores computed by the caller, with a declared sensitivity."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ...base.numbers import Number
from ...errors import InvalidScores
from ...privacy.sensitivity import Neighbors, Sensitivity, read_sensitivity
from ...sampling.rows import read_rows
from ...sampling.vectors import Vector, read_vector
from .contract import BaseScore


@dataclass(frozen=True, slots=True, repr=False)
class Given(BaseScore):
    """The numbers in `scores`, exactly; a float means its binary value.

    The caller declares the sensitivity, under the neighbouring relation that the release names. If the
    scores were computed in floats, it must cover the rounding errors of that computation too.

    Args:
        scores: an array, series or list of finite numbers, one per candidate; higher is better.
        change: the most one score can change between neighbours ("sensitivity").
        spread: the most a difference of two scores can change; instead of `change`.
        monotonic: whether all scores move the same way whenever one record comes or goes.
        possible: which candidates can be answered, public; None where all can. Scores of the others in a list are
            not looked at.
    """

    scores: object
    change: Number | None = None
    spread: Number | None = None
    monotonic: bool = False
    possible: Sequence[bool] | None = None
    name: ClassVar[str] = "given"
    public_fields: ClassVar[tuple[str, ...]] = ("change", "spread", "monotonic")
    counts_rows: ClassVar[bool] = False

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return the declared sensitivity: spread 2 * change, or change if monotonic, or `spread`."""
        return read_sensitivity(self.change, self.spread, self.monotonic, neighbors)

    def compute(self, cutoff_gap: Fraction) -> Vector:
        """Return the numbers. Private."""
        possible, scores = self.possible, self.scores
        if possible is None:
            return read_vector(scores)
        is_list = isinstance(scores, list | tuple)
        if is_list and len(scores) == len(possible):  # type: ignore[arg-type]
            [numbers] = read_rows([scores]).read([possible])
        else:
            numbers = read_vector(scores)
        if len(numbers) != len(possible):
            raise InvalidScores(
                f"the mask or the base measure is for {len(possible)} candidates, but there are "
                f"{len(numbers)} scores. Give one for each"
            )
        return numbers
