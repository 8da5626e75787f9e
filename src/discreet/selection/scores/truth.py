"""Whether an answer is the truth: the score of randomised response."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ...errors import InvalidArgument
from ...privacy.sensitivity import Neighbors, Sensitivity
from ...sampling.vectors import Vector
from ..candidates import Labels
from .contract import BaseScore


@dataclass(frozen=True, slots=True, repr=False)
class Truth(BaseScore):
    """1 for the candidate that equals the value, 0 for all others.

    One person's value is the whole dataset, so the neighbours are `replace_one`. The probabilities of
    an answer differ by a factor of at most exp(eta) between any two values, not exp(2 eta). For the proof, see
    docs/reference/scores/your_own.md#truth.

    Args:
        value: one person's own value, compared as Python does; if it is no candidate, all score 0.
        candidates: the possible answers.
    """

    value: object
    candidates: Labels
    name: ClassVar[str] = "truth"
    public_fields: ClassVar[tuple[str, ...]] = ("candidates",)
    counts_rows: ClassVar[bool] = False
    measure: ClassVar[None] = None

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return a change of 1, balanced, with the number of candidates.

        Raises:
            InvalidArgument: unless the relation is "replace_one".
        """
        if neighbors != "replace_one":
            raise InvalidArgument(
                "randomized response is about one person's value, which can be replaced but not "
                f"added or removed: neighbors must be replace_one, got {neighbors!r}"
            )
        k = len(self.candidates)
        answers = k if k > 2 else None  # the law of two is the worst that epsilon allows
        return Sensitivity(Fraction(2), neighbors, Fraction(1), balanced=True, answers=answers)

    def compute(self, cutoff_gap: Fraction) -> Vector:
        """Return the scores. Private."""
        scores = np.zeros(len(self.candidates), dtype=np.int64)
        places = {label: i for i, label in enumerate(self.candidates)}
        try:
            place = places.get(self.value)
        except Exception:  # a value that cannot be hashed or compared is no candidate
            place = None
        if place is not None:
            scores[place] = 1
        return Vector(scores)
