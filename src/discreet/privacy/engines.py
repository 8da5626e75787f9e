"""The ways to bound a composition without slack. Proofs: docs/composition.md."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from flint import arb

from ..enclosures import ball, precision
from ..numbers import short_up
from .contract import Guarantee
from .conversions import delta_of_curve, epsilon_of_curve, gaussian_delta, least_epsilon


class Engine(Protocol):
    """One way to bound a composition without slack.

    `known` is the least bound that other engines found: an engine that takes long and cannot do better declines.
    """

    def delta(self, epsilon: Fraction, known: Fraction | None) -> Fraction | None:
        """Return a delta at that epsilon, or None if this engine declines."""
        ...

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction | None:
        """Return an epsilon at that delta, or None if this engine declines."""
        ...


@dataclass(frozen=True, slots=True)
class Basic:
    """Epsilons add up."""

    sum: Fraction

    def delta(self, epsilon: Fraction, known: Fraction | None) -> Fraction:
        """Return 0 from the sum on, else 1."""
        return Fraction(0) if epsilon >= self.sum else Fraction(1)

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction:
        """Return the sum."""
        return self.sum


@dataclass(frozen=True, slots=True)
class Single:
    """What is known of one answer."""

    part: Guarantee

    def delta(self, epsilon: Fraction, known: Fraction | None) -> Fraction:
        """Return its delta."""
        return self.part.delta_at(epsilon)

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction | None:
        """Return its epsilon, if it has one at that delta."""
        if delta == 0 and self.part.pure is None:
            return None
        return self.part.approx(delta).epsilon


@dataclass(frozen=True, slots=True)
class ByCurve:
    """A Rényi curve, converted at the best order."""

    curve: Callable[[arb], arb]

    def delta(self, epsilon: Fraction, known: Fraction | None) -> Fraction:
        """Return the delta of the best order."""
        return delta_of_curve(self.curve, epsilon)

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction | None:
        """Return the epsilon of the best order."""
        return epsilon_of_curve(self.curve, delta) if delta else None


@dataclass(frozen=True, slots=True)
class ByDelta:
    """A function from epsilon to delta, turned around by bisection below what is known."""

    function: Callable[[Fraction], Fraction | None]
    sum: Fraction
    steps: int = 40

    def delta(self, epsilon: Fraction, known: Fraction | None) -> Fraction | None:
        """Return the function's value."""
        return self.function(epsilon)

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction | None:
        """Return the least epsilon that the bisection finds, or None if that is not below what is known."""
        most = self.sum if known is None else min(known, self.sum)
        found = least_epsilon(self._or_one, delta, most, self.steps)
        return found if found < most else None

    def _or_one(self, epsilon: Fraction) -> Fraction:
        delta = self.function(epsilon)
        return Fraction(1) if delta is None else delta


@dataclass(frozen=True, slots=True)
class ByLosses:
    """A distribution of privacy losses, which is made when it is needed."""

    make: Callable[[], Any]  # a LossDistribution, which is imported when it is used; or None

    def delta(self, epsilon: Fraction, known: Fraction | None) -> Fraction | None:
        """Return its delta."""
        losses = self.make()
        return None if losses is None else short_up(losses.delta(epsilon))

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction | None:
        """Return its epsilon."""
        losses = self.make()
        found: Fraction | None = None if losses is None else losses.epsilon(delta)
        return found


@dataclass(frozen=True, slots=True)
class Recursion:
    """What an adaptive analyst may make of exponential mechanisms, by recursion over the answers."""

    epsilons: tuple[Fraction, ...]

    def delta(self, epsilon: Fraction, known: Fraction | None) -> Fraction | None:
        """Return its delta, or None where no grid is fine enough."""
        from .adaptive import delta_adaptive

        return _short(delta_adaptive(self.epsilons, epsilon))

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction | None:
        """Return its epsilon, or None where no grid is fine enough."""
        from .adaptive import epsilon_adaptive

        return _short(epsilon_adaptive(self.epsilons, delta))


@dataclass(frozen=True, slots=True)
class Promising:
    """An engine that takes long, asked only where an estimate says that it may win.

    Attributes:
        engine: the engine.
        mu: with many answers its privacy losses are about those of Gaussian noise of this mu; None to ask always.
    """

    engine: Engine
    mu: float | None

    def delta(self, epsilon: Fraction, known: Fraction | None) -> Fraction | None:
        """Return the engine's delta, or None where it is about twice what is known."""
        if known is not None and self._far(epsilon, known):
            return None
        return self.engine.delta(epsilon, known)

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction | None:
        """Return the engine's epsilon, or None if at what is known its delta is about twice what is wanted."""
        if known is not None and self._far(known, delta):
            return None
        return self.engine.epsilon(delta, known)

    def _far(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Return whether the estimate at that epsilon is more than twice that delta."""
        return self.mu is not None and _estimate(self.mu, epsilon) > 2 * float(delta)


def _estimate(mu: float, epsilon: Fraction) -> float:
    """Return about the delta of Gaussian noise; nothing of privacy rests on it."""
    with precision(128):
        return float(gaussian_delta(arb(mu), ball(epsilon)))


def _short(bound: Fraction | None) -> Fraction | None:
    return None if bound is None else short_up(bound)
