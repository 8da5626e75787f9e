"""The grid of a released gap: whole steps of a public size.

A gap G, in units of the noise, is released as floor(G / unit), a whole number that certified intervals decide.
"""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ..sampling.enclosures import ball

_FINEST_SHARE = Fraction(1, 10)
"""A step is no longer than that share of the scale of the noise."""


@dataclass(frozen=True, slots=True)
class GapGrid:
    """The multiples of a step, in units of the score.

    Attributes:
        step: the distance of two points: the largest power of ten that is at most a tenth of the noise's scale.
        unit: the step in units of the noise: eta * step.
    """

    step: Fraction
    unit: Fraction

    @classmethod
    def of(cls, eta: Fraction) -> "GapGrid":
        """Return the grid for noise of scale 1 / eta on the scores."""
        most = _FINEST_SHARE / eta
        digits = len(str(most.numerator)) - len(str(most.denominator))
        step = Fraction(10) ** (digits + 1)
        while step > most:
            step /= 10
        return cls(step, eta * step)

    def steps(self, low: arb, high: arb) -> int | None:
        """Return the steps of every gap from `low` to `high`, or None where they are not certainly the same.

        Args:
            low: a ball around the least gap, in units of the noise.
            high: a ball around the largest one.
        """
        if not (low.is_finite() and high.is_finite()):
            return None
        unit = ball(self.unit)
        least, most = ((end / unit).floor().unique_fmpz() for end in (low, high))
        return None if least is None or least != most else int(least)
