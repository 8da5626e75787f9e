"""Certified intervals: real numbers between two fractions."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from math import isfinite

from flint import arb

from ...base.numbers import decimal, exact, float_up
from ...sampling.enclosures import lower, upper


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A real number that certainly lies between `lower` and `upper`. `float()` returns the middle.

    Attributes:
        lower: a fraction that is no larger.
        upper: a fraction that is no smaller.
    """

    lower: Fraction
    upper: Fraction

    @classmethod
    def of(cls, ball: arb, least: int | None = None, most: int | None = None) -> "Enclosure":
        """Return the bounds of a ball around a number that is known to be from `least` to `most`."""
        low, high = lower(ball), upper(ball)
        return cls(
            low if least is None else max(low, Fraction(least)),
            high if most is None else min(high, Fraction(most)),
        )

    def as_dict(self) -> dict[str, str]:
        """Return both bounds as decimals of 20 digits, rounded outwards."""
        return {
            "lower": decimal(self.lower, 20, ROUND_FLOOR),
            "upper": decimal(self.upper, 20, ROUND_CEILING),
        }

    def __contains__(self, value: object) -> bool:
        if type(value) is float and isfinite(value):
            return self.lower <= Fraction(value) <= self.upper
        return self.lower <= exact(value, "value") <= self.upper

    def __float__(self) -> float:
        return float((self.lower + self.upper) / 2)

    def __str__(self) -> str:
        return f"{float(self):.10g}"

    def __repr__(self) -> str:
        return f"Enclosure({self} ± {float_up((self.upper - self.lower) / 2):.1g})"
