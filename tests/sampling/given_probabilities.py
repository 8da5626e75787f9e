"""Probabilities by count that a test chooses."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet.sampling.enclosures import ball


@dataclass(frozen=True)
class GivenProbabilities:
    """Probabilities in fractions, for counts 0, 1, 2, ...; the last is 1."""

    values: Sequence[Fraction]

    @property
    def size(self) -> int:
        """The least count of which the probability is 1."""
        return len(self.values) - 1

    lowest = 0

    @property
    def likeliest_step(self) -> int:
        """The count at which the probability rises most, the least of several."""
        return max(
            range(1, len(self.values)), key=lambda n: (self.values[n] - self.values[n - 1], -n)
        )

    def probability(self, count: int) -> arb:
        """Return a ball around the probability at a count."""
        return ball(self.values[min(count, self.size)])

    def complement(self, count: int) -> arb:
        """Return a ball around one minus it."""
        return ball(1 - self.values[min(count, self.size)])

    def border(self, step: int) -> arb:
        """Return a ball around P(M <= step)."""
        return self.probability(max(0, step))

    def rise(self, step: int) -> arb:
        """Return a ball around P(M = step)."""
        return self.border(step) - self.border(step - 1)
