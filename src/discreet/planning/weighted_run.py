"""The distribution within a run of candidates with geometrically falling weights."""

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ..sampling.enclosures import Rate, ball, sharp, upper

_SEEN = 24
"""The points of a sloping run that a picture shows."""

_FAR = 6
"""A picture shows an infinite run up to that many times its mean."""


@dataclass(frozen=True, slots=True, repr=False)
class WeightedRun:
    """A run of candidates, of which the one `k` steps from the best end weighs exp(-rate * slope * k).

    All probabilities are conditional on the run. Proofs: docs/explanation/distribution.md.

    Attributes:
        start: the index of the lowest candidate; of the best one if there is no end.
        size: how many candidates; 0 stands for no end.
        top: the score at the best end.
        slope: how much the score falls a step, at least 0.
        upward: whether the best end is the lowest.
        dense: whether a candidate stands for all real numbers up to the next.
        rate: how fast weights fall; needed where the slope is above 0.
    """

    start: int
    size: int
    top: Fraction
    slope: Fraction = Fraction(0)
    upward: bool = True
    dense: bool = False
    rate: Rate | None = None

    @property
    def best(self) -> int:
        """The index of the best candidate."""
        return self.start if self.upward or self.size == 0 else self.start + self.size - 1

    @property
    def lowest(self) -> int | float:
        """The least index."""
        return self.start if self.upward or self.size else -math.inf

    @property
    def highest(self) -> int | float:
        """The largest index."""
        if self.size:
            return self.start + self.size - 1
        return math.inf if self.upward else self.start

    def index(self, steps: int) -> int:
        """Return the index that many steps from the best end."""
        return self.best + steps if self.upward else self.best - steps

    def steps(self, index: int) -> int:
        """Return how many steps from the best end an index is."""
        return index - self.best if self.upward else self.best - index

    def within(self, steps: int | Fraction) -> arb:
        """Return the share that lies fewer than so many steps from the best end."""
        if steps <= 0:
            return arb(0)
        if self.size and steps >= self.size:
            return arb(1)
        if self.slope == 0:
            return ball(Fraction(steps) / self.size)
        return sharp(self._before, steps)

    def at(self, steps: int) -> arb:
        """Return the share of the candidate that many steps from the best end."""
        if steps < 0 or (self.size and steps >= self.size):
            return arb(0)
        if self.slope == 0:
            return ball(Fraction(1, self.size))
        return sharp(self._at, steps)

    def of(self, index: int) -> arb:
        """Return the share of the candidate with an index."""
        return self.at(self.steps(index))

    def up_to(self, index: int) -> arb:
        """Return the share of the candidates up to an index."""
        if self.upward:
            return self.within(self.steps(index) + 1)
        return 1 - self.within(self.steps(index))

    def behind(self, loss: Fraction) -> arb:
        """Return the share that scores at least so much less than the best end."""
        if loss <= 0:
            return arb(1)
        if self.slope == 0:
            return arb(0)
        steps = loss / self.slope
        return 1 - self.within(steps if self.dense else math.ceil(steps))

    def scoring_at_most(self, score: Fraction) -> arb:
        """Return the share with a score of at most so much."""
        return self.behind(self.top - score)

    def mean_steps(self) -> arb:
        """Return the mean number of steps from the best end: 1 / (e**a - 1) - m / (e**(a m) - 1)."""
        if self.slope == 0:
            return ball(Fraction(self.size - 1, 2))
        return sharp(self._mean)

    def mean_loss(self) -> arb:
        """Return by how much the score is less than at the best end, on average."""
        if self.slope == 0:
            return arb(0)
        if not self.dense:
            return ball(self.slope) * self.mean_steps()
        return ball(self.slope) * sharp(self._dense_mean)

    def entropy(self) -> arb:
        """Return the entropy within the run: ln of the sum of weights, and a times the mean of k."""
        if self.slope == 0:
            return ball(Fraction(self.size)).log()
        return sharp(self._entropy)

    def _before(self, steps: int | Fraction) -> arb:
        return self._fall(steps) / self._fall(self.size)

    def _at(self, steps: int) -> arb:
        return self._decay(steps) * self._fall(1) / self._fall(self.size)

    def _mean(self) -> arb:
        return self._decay(1) / self._fall(1) - self._cut()

    def _dense_mean(self) -> arb:
        return 1 / self._exponent(1) - self._cut()

    def _entropy(self) -> arb:
        return (self._fall(self.size) / self._fall(1)).log() + self._exponent(1) * self._mean()

    def _exponent(self, steps: int | Fraction) -> arb:
        assert self.rate is not None
        return self.rate.exponent(self.slope * steps)

    def _decay(self, steps: int | Fraction) -> arb:
        assert self.rate is not None
        return self.rate.decay(self.slope * steps)

    def _fall(self, steps: int | Fraction) -> arb:
        """Return 1 - exp(-rate * slope * steps), 1 for no end."""
        return arb(1) if steps == 0 else -(-self._exponent(steps)).expm1()

    def _cut(self) -> arb:
        """Return how much the end of the run takes off the mean number of steps."""
        return (
            arb(0) if self.size == 0 else self.size * self._decay(self.size) / self._fall(self.size)
        )


def some_steps(run: WeightedRun, *, every: bool) -> list[int]:
    """Return from the best end how far the points are that a picture shows of a run."""
    if every or 0 < run.size <= _SEEN:
        return list(range(run.size))
    if run.slope == 0:
        return [0, run.size - 1]
    far = _FAR * (int(upper(run.mean_steps())) + 1)
    last = min(far, run.size - 1) if run.size else far
    near = {last * i // _SEEN for i in range(_SEEN + 1)}
    return sorted(near if run.size == 0 else near | {run.size - 1})
