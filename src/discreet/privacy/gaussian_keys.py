"""The exact delta of keys that are shown where their counts with discrete Gaussian noise reach a threshold.

A unit may add the more, the fewer keys it has. For proofs, see #gaussian_keys and #weighted_keys of
docs/reference/mechanisms/private_keys.md.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from flint import arb

from ..sampling.enclosures import ball, lower, precision, probability_above
from ..sampling.gaussian_tails import tail
from .approx_dp import ApproxDP
from .gaussian_cells import delta_of_cells
from .gaussian_dp import DiscreteGaussianDP, GaussianDP, together
from .renyi_dp import ZCDP
from .sensitivity import Neighbors

_BITS = 512

_MOST_BOUNDS = 256


class _OwnKeys(NamedTuple):
    """How many keys of one unit are held by no other: from `here` to `most_here` of those of the first table.

    And from `there` to `most_there` of those of its neighbour.
    """

    here: int
    most_here: int
    there: int
    most_there: int

    @property
    def is_single(self) -> bool:
        """Whether it is one number for each table."""
        return (self.here, self.there) == (self.most_here, self.most_there)

    def halves(self) -> Iterator["_OwnKeys"]:
        """Yield both halves of the longer side."""
        if self.most_here - self.here >= self.most_there - self.there:
            middle = (self.here + self.most_here) // 2
            yield self._replace(most_here=middle)
            yield self._replace(here=middle + 1)
        else:
            middle = (self.there + self.most_there) // 2
            yield self._replace(most_there=middle)
            yield self._replace(there=middle + 1)


@dataclass(frozen=True)
class GaussianThreshold:
    """Keys that are shown with y = n + X where y >= `least`; a key of count 0 is not shown.

    Attributes:
        sigma_squared: the parameter of the noise X, fresh for every key.
        least: the least noisy count that is shown.
        keys: the most keys in which one unit counts.
        neighbors: the neighbouring relation; a unit that is replaced moves twice as many counts.
        step: by how much a unit moves the counts of its keys.
    """

    sigma_squared: Fraction
    least: int
    keys: int
    neighbors: Neighbors
    step: int = 1

    @property
    def even(self) -> int:
        """The least number of units that show their key with one half or more."""
        return -(-self.least // self.step)

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return the least delta at an epsilon of zero or more, rounded up: the largest over all own keys."""
        for most, own in self._falling_bounds(epsilon):
            if own.is_single:
                return most
        raise AssertionError("halves end in single numbers")

    def keeps(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Return whether it is (epsilon, delta)-DP for certain, as far as a few hundred bounds tell."""
        for most, own in islice(self._falling_bounds(epsilon), _MOST_BOUNDS):
            if most <= delta or own.is_single:
                return most <= delta
        return False

    @property
    def parts(self) -> tuple[ApproxDP, DiscreteGaussianDP]:
        """Both promises of the parts: a delta for own keys that are shown, and the counts of all keys."""
        # *Many releases*: both pairs together tell no less.
        counts = DiscreteGaussianDP(self.sigma_squared, self._moved, self.step, self.neighbors)
        return ApproxDP(Fraction(0), self.chance_of_own, self.neighbors), counts

    @property
    def chance_of_own(self) -> Fraction:
        """The probability that any key of a unit is shown if all of them are its own, rounded up."""
        with precision(_BITS):
            return probability_above(-(-self.keys * self._log).expm1())

    def _falling_bounds(self, epsilon: Fraction) -> Iterator[tuple[Fraction, _OwnKeys]]:
        """Yield bounds on the delta of all own keys that are left, the largest first; then its halves follow."""
        if self.neighbors == "add_remove":
            ranges = [_OwnKeys(0, self.keys, 0, 0), _OwnKeys(0, 0, 1, self.keys)]
        else:
            ranges = [_OwnKeys(0, self.keys, 0, self.keys)]
        heap = [(-self._bound(own, epsilon), own) for own in ranges]
        heapq.heapify(heap)
        while True:
            negative, own = heapq.heappop(heap)
            yield -negative, own
            for half in own.halves():
                heapq.heappush(heap, (-self._bound(half, epsilon), half))

    def _bound(self, own: _OwnKeys, epsilon: Fraction) -> Fraction:
        """Return a delta that is enough for all these own keys; for single numbers their own, rounded up."""
        # *The largest, in few steps*: 1 - (1 - p)**a (1 - delta of the others at epsilon + (a - b) L).
        shared = self._moved - own.here - own.there
        with precision(_BITS):
            at = lower(ball(epsilon) + (own.here - own.most_there) * self._log)
            others = _delta_of_others(self.sigma_squared, shared, at, self.step)
            none_shown = (-own.most_here * self._log).exp()
            return probability_above(1 - none_shown * (1 - ball(others)))

    @property
    def _moved(self) -> int:
        """How many counts neighbours may have apart."""
        return self.keys if self.neighbors == "add_remove" else 2 * self.keys

    @cached_property
    def _log(self) -> arb:
        """A ball around -ln(1 - p), where p is the probability that a key of one unit is shown."""
        with precision(_BITS):
            return -(-tail(self.least - self.step, self.sigma_squared)).log1p()


@lru_cache(maxsize=2**12)
def _delta_of_others(
    sigma_squared: Fraction, cells: int, epsilon: Fraction, step: int = 1
) -> Fraction:
    """Return the delta of so many counts that move by a step, at an epsilon of any sign, rounded up."""
    if cells and epsilon >= 0:
        return delta_of_cells(sigma_squared, cells, step, epsilon)
    if epsilon >= 0:
        return Fraction(0)
    # The pair is symmetric: delta at -x is 1 - e**-x + e**-x times delta at x.
    with precision(_BITS):
        back = ball(_delta_of_others(sigma_squared, cells, -epsilon, step))
        return probability_above(-ball(epsilon).expm1() + ball(epsilon).exp() * back)


_CHANCE_BITS = 256

_GRAIN = Fraction(2)
"""The parameter of the noise by which continuous noise is rounded, in the proof of the parts."""

_LEAST_SMOOTH = 50 * _GRAIN
"""Below this parameter of the noise rho tells more of many releases than rounded noise does."""


@dataclass(frozen=True)
class WeightedThreshold:
    """Keys that are shown where y = s + X reaches `least`, for the sum s of the weights of its units.

    A key without units is not shown. The relation is "add_remove".

    Attributes:
        sigma_squared: the parameter of the noise X, fresh for every key.
        least: the least noisy sum that is shown.
        weights: those of units of 1, 2, ... keys, as many as one may have. They do not rise.
    """

    sigma_squared: Fraction
    least: int
    weights: tuple[int, ...]

    @property
    def even(self) -> int:
        """The least number of units that show their key with one half or more, however many keys they have."""
        return -(-self.least // self.weights[-1])

    @property
    def even_of_single(self) -> int:
        """The same of units that have that key alone."""
        return -(-self.least // self.weights[0])

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return the least delta at an epsilon of zero or more, rounded up: the largest of all numbers of keys."""
        return max(one.delta_at(epsilon) for one in self._cases())

    def keeps(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Return whether it is (epsilon, delta)-DP for certain, as far as a few hundred bounds tell."""
        return all(one.keeps(epsilon, delta) for one in self._cases())

    @property
    def parts(self) -> tuple[ApproxDP, GaussianDP | ZCDP]:
        """Both promises of the parts: a delta for own keys that are shown, and the sums of all keys."""
        # *Many releases*: for either part the worst number of keys.
        both = [one.parts for one in self._cases()]
        own, rho = max(own.delta for own, _ in both), max(sums.rho for _, sums in both)
        if self.sigma_squared < _LEAST_SMOOTH:
            return ApproxDP(Fraction(0), own), ZCDP(rho)
        # *Rounded noise*: sums with continuous noise of a parameter less by _GRAIN, but for a small chance.
        wider = self.sigma_squared / (self.sigma_squared - _GRAIN)
        sums = together(2 * rho * wider, "add_remove")
        return ApproxDP(Fraction(0), own + len(self.weights) * chance_of_uneven(_GRAIN)), sums

    def _cases(self) -> Iterator[GaussianThreshold]:
        """Yield the moves of a unit of every weight, with the most keys. Units of fewer keys are covered."""
        keys = len(self.weights)
        for keys, weight in enumerate(self.weights, 1):
            if keys == len(self.weights) or self.weights[keys] < weight:
                yield GaussianThreshold(self.sigma_squared, self.least, keys, "add_remove", weight)


def chance_of_uneven(spread: Fraction) -> Fraction:
    """Return a bound on the probability that a number tells more than continuous noise that is rounded."""
    # *Rounded noise*: 1 - (1 - r) / (1 + r), r = 2 exp(-2 pi**2 v) / (1 - exp(-6 pi**2 v)).
    with precision(_CHANCE_BITS):
        v = 2 * arb.pi() ** 2 * ball(spread)
        r = 2 * (-v).exp() / -(-3 * v).expm1()
        return probability_above(2 * r / (1 + r))
