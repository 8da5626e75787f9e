"""The grid of a released gap: whole steps of a public size.

A gap G, in units of the noise, is released as floor(G / unit), a whole number that certified intervals decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..sampling.enclosures import ball

if TYPE_CHECKING:
    from flint import arb

_LONGEST_SHARE = Fraction(1, 10)
"""A step is no longer than that share of the scale of the noise."""


@dataclass(frozen=True, slots=True)
class GapGrid:
    """The multiples of a step, in units of the score: the largest power of ten up to a tenth of the noise's scale.

    Attributes:
        exponent: a step is ten to that power.
        eta: a score is multiplied by it, in units of the noise.
    """

    exponent: int
    eta: Fraction

    @classmethod
    def of(cls, eta: Fraction) -> GapGrid:
        """Return the grid for noise of scale 1 / eta on the scores."""
        most = _LONGEST_SHARE / eta
        exponent = len(str(most.numerator)) - len(str(most.denominator)) + 1
        while Fraction(10) ** exponent > most:
            exponent -= 1
        return cls(exponent, eta)

    @property
    def step(self) -> Fraction:
        """The distance of two points, in units of the score."""
        return Fraction(10) ** self.exponent

    @property
    def unit(self) -> Fraction:
        """The same distance in units of the noise."""
        return self.eta * self.step

    def gap(self, steps: int) -> int | Decimal:
        """Return a gap in units of the score."""
        if self.exponent >= 0:
            return steps * int(self.step)
        return Decimal((0, tuple(map(int, str(steps))), self.exponent))

    def split(self, pairs: Any) -> tuple[Any, Any]:
        """Return the indices and the gaps of a drawn [index, steps], or of lists of such pairs."""
        if isinstance(pairs[0], int):
            return pairs[0], self.gap(pairs[1])
        indices, gaps = zip(*map(self.split, pairs), strict=True)
        return list(indices), list(gaps)

    def steps(self, low: arb, high: arb) -> int | None:
        """Return the steps of every gap from `low` to `high`, or None if they are not certainly the same.

        Args:
            low: a ball around the least gap, in units of the noise.
            high: a ball around the largest one.
        """
        if not (low.is_finite() and high.is_finite()):
            return None
        unit = ball(self.unit)
        least, most = ((end / unit).floor().unique_fmpz() for end in (low, high))
        return None if least is None or least != most else int(least)
