"""The methods by which a composition without slack is bounded. Proofs: docs/explanation/composition.md."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from flint import arb

from ..numbers import short_up
from ..sampling.enclosures import ball, precision
from .adaptive import delta_adaptive, epsilon_adaptive
from .contract import Guarantee
from .conversions import delta_of_curve, epsilon_of_curve, gaussian_delta, least_epsilon
from .pld import LossDistribution

Bound = Callable[[Fraction, Fraction | None], Fraction | None]
"""From an epsilon or a delta, and the least bound found so far, to a bound on the other; None for none."""


@dataclass(frozen=True, slots=True)
class Accountant:
    """One method of accounting.

    Attributes:
        delta: a bound on delta at an epsilon.
        epsilon: a bound on epsilon at a delta.
    """

    delta: Bound
    epsilon: Bound


def _alone(bound: Callable[[Fraction], Fraction | None]) -> Bound:
    """Return a bound that is the same whatever the least found so far is."""

    def bound_at(at: Fraction, _known: Fraction | None) -> Fraction | None:
        return bound(at)

    return bound_at


def basic(sum_: Fraction) -> Accountant:
    """Return the sum of epsilons: delta is 0 from there on, and 1 below."""

    def delta(epsilon: Fraction) -> Fraction:
        return Fraction(0) if epsilon >= sum_ else Fraction(1)

    def epsilon(_delta: Fraction) -> Fraction:
        return sum_

    return Accountant(_alone(delta), _alone(epsilon))


def closed_form(part: Guarantee) -> Accountant:
    """Return the closed form for one answer."""

    def epsilon(delta: Fraction) -> Fraction | None:
        return None if delta == 0 and part.pure is None else part.approx(delta).epsilon

    return Accountant(_alone(part.delta_at), _alone(epsilon))


def by_curve(curve: Callable[[arb], arb]) -> Accountant:
    """Return the conversion of a Rényi curve at the best order."""

    def epsilon(delta: Fraction) -> Fraction | None:
        return epsilon_of_curve(curve, delta) if delta else None

    return Accountant(_alone(partial(delta_of_curve, curve)), _alone(epsilon))


def by_delta(
    function: Callable[[Fraction], Fraction], sum_: Fraction, steps: int = 40
) -> Accountant:
    """Return a function from epsilon to delta, inverted by bisection below the least bound so far."""

    def epsilon(delta: Fraction, bound: Fraction | None) -> Fraction | None:
        most = sum_ if bound is None else min(bound, sum_)
        least = least_epsilon(function, delta, most, steps)
        return least if least < most else None

    return Accountant(_alone(function), epsilon)


def by_losses(make: Callable[[], LossDistribution]) -> Accountant:
    """Return a distribution of privacy losses, made at every call."""

    def delta(epsilon: Fraction) -> Fraction:
        return short_up(make().delta(epsilon))

    def epsilon(delta: Fraction) -> Fraction | None:
        return make().epsilon(delta)

    return Accountant(_alone(delta), _alone(epsilon))


def recursion(epsilons: Sequence[Fraction]) -> Accountant:
    """Return the recursion over adaptive exponential mechanisms; no bound where no grid is fine enough."""

    def delta(epsilon: Fraction) -> Fraction | None:
        return _round_up(delta_adaptive(epsilons, epsilon))

    def epsilon(delta: Fraction) -> Fraction | None:
        return _round_up(epsilon_adaptive(epsilons, delta))

    return Accountant(_alone(delta), _alone(epsilon))


def where_promising(accountant: Accountant, mu: float) -> Accountant:
    """Return a slow accountant that is asked only where an estimate says that it may be the least.

    With many answers the privacy losses are close to those of Gaussian noise of this mu. Where that delta is
    more than twice the wanted one at the least bound so far, there is no bound.
    """

    def far(epsilon: Fraction, delta: Fraction) -> bool:
        return _estimate(mu, epsilon) > 2 * float(delta)

    def delta_at(epsilon: Fraction, bound: Fraction | None) -> Fraction | None:
        is_far = bound is not None and far(epsilon, bound)
        return None if is_far else accountant.delta(epsilon, bound)

    def epsilon_at(delta: Fraction, bound: Fraction | None) -> Fraction | None:
        is_far = bound is not None and far(bound, delta)
        return None if is_far else accountant.epsilon(delta, bound)

    return Accountant(delta_at, epsilon_at)


def _estimate(mu: float, epsilon: Fraction) -> float:
    """Return about the delta of Gaussian noise; no bound depends on it."""
    with precision(128):
        return float(gaussian_delta(arb(mu), ball(epsilon)))


def _round_up(bound: Fraction | None) -> Fraction | None:
    return None if bound is None else short_up(bound)
