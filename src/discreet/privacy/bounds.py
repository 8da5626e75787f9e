"""Every bound that holds for a composition, and the methods of accounting that state them.

For proofs, see docs/explanation/composition.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import Literal, NamedTuple

from flint import arb

from ..base.numbers import Number, flag, short_up, spell
from ..errors import InvalidArgument
from ..sampling.enclosures import ball, precision
from .adaptive import delta_adaptive, delta_nonadaptive, epsilon_adaptive
from .coarsening import coarsen
from .contract import Parts, equals
from .conversions import (
    delta_of_curve,
    epsilon_of_curve,
    epsilon_of_gaussian,
    gaussian_delta,
    least_epsilon,
    read_delta,
    read_epsilon,
)
from .convolution import adaptive_epsilons, convolve, mu_of, serves
from .gaussian_cells import Cells, delta_of_moves
from .gaussian_dp import DiscreteGaussianDP, GaussianDP, ReplacedSumsDP
from .kov import Responses
from .parts import curve_of, in_chain, pure_of, renyi_of, rho_of

Bound = Callable[[Fraction, Fraction | None], Fraction | None]
"""From an epsilon or a delta, and the least bound found so far, to a bound on the other. None for none."""


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

    def bound_at(at: Fraction, _bound: Fraction | None) -> Fraction | None:
        return bound(at)

    return bound_at


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


_MOST_KINDS = 200
"""Different guarantees beyond which they are rounded up to a common grid."""

_MOST_SIZES = 12
"""Different epsilons up to which all sums of randomised responses are listed."""

_FEW, _FEW_KINDS = 200, 20
"""Answers, and different guarantees, up to which every accountant is asked, however unlikely to be the least."""

_MOST_FIXED = 1024
"""Answers up to which the formula for questions fixed beforehand is evaluated."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds by name. All of them hold, so the least does.

    Attributes:
        unit: the bounded quantity, "epsilon" or "delta".
        at: the delta or the epsilon at which it is bounded.
        values: the bounds by name, rounded up.
    """

    unit: Literal["epsilon", "delta"]
    at: Fraction
    values: Mapping[str, Fraction]

    @property
    def winner(self) -> str:
        """The name of the least bound."""
        return min(self.values, key=self.values.__getitem__)

    @property
    def least(self) -> Fraction:
        """The least bound."""
        return self.values[self.winner]

    def __str__(self) -> str:
        other_unit = "delta" if self.unit == "epsilon" else "epsilon"
        lines = [f"{self.unit} at {equals(other_unit, self.at)}"]
        for name, value in sorted(self.values.items(), key=itemgetter(1)):
            lines.append(f"  {name:<12}{spell(value)}")
        return "\n".join(lines)


class Looseness(NamedTuple):
    """By how much a composition may miss its core.

    Attributes:
        slack: the probability that the core does not hold.
        extra: a delta that is added besides.
    """

    slack: Fraction
    extra: Fraction = Fraction(0)

    def delta(self, bound: Fraction) -> Fraction:
        """Return the delta of the composition, of that of its core."""
        if not (self.slack or self.extra):
            return bound
        return min(short_up(self.extra + self.slack + (1 - self.slack) * bound), Fraction(1))

    def delta_of_core(self, at: Fraction) -> Fraction | None:
        """Return the delta that is left for the core, or None if none is."""
        rest = at - self.extra
        return None if self.slack > rest else (rest - self.slack) / (1 - self.slack)


def bounds_of(
    core: Parts, loose: Looseness, delta: Number | None, epsilon: Number | None, *, adaptive: bool
) -> Bounds:
    """Return the bounds on several answers together, at a delta or at an epsilon.

    Args:
        core: the guarantees that hold but for the slack; none if nothing is left of any of them.
        loose: by how much the composition may miss its core.
        delta: the delta at which epsilon is bounded, or else
        epsilon: the epsilon at which delta is bounded.
        adaptive: whether a question may depend on earlier answers.

    Returns:
        The bounds by name: no epsilon, if none is known at that delta.

    Raises:
        InvalidArgument: unless one of delta and epsilon is given.
    """
    adaptive = flag(adaptive, "adaptive")
    if (delta is None) == (epsilon is None):
        raise InvalidArgument("give either delta or epsilon")
    accountants = _accountants(core, loose.slack, adaptive)
    if delta is None:
        target = read_epsilon(epsilon)
        deltas = _bounds_by_name(accountants, "delta", target)
        bounds = {name: loose.delta(bound) for name, bound in deltas.items()}
        return Bounds("delta", target, bounds or {"none": Fraction(1)})
    at = read_delta(delta)
    delta_of_core = loose.delta_of_core(at)
    if delta_of_core is None:
        return Bounds("epsilon", at, {})
    return Bounds("epsilon", at, _bounds_by_name(accountants, "epsilon", delta_of_core))


def least_of(several: Sequence[Bounds]) -> Bounds:
    """Return the least of several bounds on the same, by name."""
    first, least = several[0], dict[str, Fraction]()
    for bounds in several:
        for name, bound in bounds.values.items():
            least[name] = min(bound, least.get(name, bound))
    return Bounds(first.unit, first.at, least)


def _bounds_by_name(
    accountants: Mapping[str, Accountant], unit: Literal["epsilon", "delta"], at: Fraction
) -> dict[str, Fraction]:
    """Return the bound of every accountant that finds one; the slow ones, last, know the least so far."""
    values: dict[str, Fraction] = {}
    for name, accountant in accountants.items():
        ask = accountant.delta if unit == "delta" else accountant.epsilon
        bound = ask(at, min(values.values(), default=None))
        if bound is not None:
            values[name] = bound
    return values


def _accountants(core: Parts, slack: Fraction, adaptive: bool) -> dict[str, Accountant]:
    """Return the accountants that serve the composition, by name, the quick ones first."""
    if slack == 1 and not core:
        return {}
    accountants = {"basic": _basic(core)}
    if core:
        few = coarsen(core, _MOST_KINDS)
        accountants |= {name: make(few) for name, make in _ACCOUNTANTS.items()}
    if core and not adaptive:
        accountants["nonadaptive"] = _nonadaptive(core)
    return {name: accountant for name, accountant in accountants.items() if accountant is not None}


def _basic(core: Parts) -> Accountant | None:
    """Return the sum of epsilons: delta is 0 from there on, and 1 below."""
    sum_ = pure_of(core)
    if sum_ is None:
        return None

    def delta(epsilon: Fraction) -> Fraction:
        return Fraction(int(epsilon < sum_))

    def epsilon(_delta: Fraction) -> Fraction:
        return sum_

    return Accountant(_alone(delta), _alone(epsilon))


def _single(core: Parts) -> Accountant | None:
    """Return the closed form for a single answer; several with discrete Gaussian noise count as one."""
    (part, n), *others = core
    if all(isinstance(one, DiscreteGaussianDP) for one, _ in core):
        return _exact_gaussian(core)
    has_form = part.pure is not None or isinstance(part, GaussianDP | ReplacedSumsDP)
    if others or n > 1 or not has_form:
        return None

    def epsilon(delta: Fraction) -> Fraction | None:
        return None if delta == 0 and part.pure is None else part.approx(delta).epsilon

    return Accountant(_alone(part.delta_at), _alone(epsilon))


def _exact_gaussian(core: Parts) -> Accountant | None:
    """Return the exact delta of numbers with discrete Gaussian noise, which move together."""
    if len(core) > _FEW_KINDS:
        return None
    moves = tuple(Cells(one.sigma_squared, n * one.cells, one.steps) for one, n in core)  # type: ignore[attr-defined]
    delta_of = partial(delta_of_moves, moves)

    def epsilon(delta: Fraction) -> Fraction | None:
        return None if delta == 0 else epsilon_of_gaussian(delta_of, curve_of(core), delta)

    return Accountant(_alone(delta_of), _alone(epsilon))


def _kov(core: Parts) -> Accountant | None:
    """Return the optimum for mechanisms of which only epsilon-DP is known."""
    epsilon, counts = pure_of(core), dict[Fraction, int]()
    for part, n in core:
        if part.pure is not None:
            counts[part.pure] = counts.get(part.pure, 0) + n
    if epsilon is None or len(counts) > _MOST_SIZES:
        return None
    responses = Responses.of(list(counts.items()))
    return None if responses is None else by_delta(responses.delta, epsilon)


def _zcdp(core: Parts) -> Accountant | None:
    rho = rho_of(core)
    if rho is None:
        return None

    def curve(excess: arb) -> arb:
        return ball(rho) * (1 + excess)

    return by_curve(curve)


def _renyi(core: Parts) -> Accountant | None:
    with precision(64):
        if renyi_of(core, arb(1)) is None:
            return None

    return by_curve(curve_of(core))


def _losses(core: Parts) -> Accountant | None:
    """Return the convolution of the privacy losses, if all kinds have a distribution on one grid."""
    has_pairs = all(in_chain(part) for part, _ in core)
    return _convolution(core) if has_pairs and serves(core) else None


def _convolution_of_all(core: Parts) -> Accountant | None:
    """Return the convolution for lists with other kinds, with curves as loss distributions."""
    with_pairs = [in_chain(part) for part, _ in core]
    return None if all(with_pairs) or not serves(core) else _convolution(core)


def _convolution(core: Parts) -> Accountant:
    """Return the convolution, computed at every call; of many answers only where it may be the least."""

    def delta(epsilon: Fraction) -> Fraction:
        return short_up(convolve(core).delta(epsilon))

    def epsilon(delta: Fraction) -> Fraction | None:
        return convolve(core).epsilon(delta)

    losses = Accountant(_alone(delta), _alone(epsilon))
    many = sum(n for _, n in core) > _FEW or len(core) > _FEW_KINDS
    mu = mu_of(core) if many else None
    return losses if mu is None else where_promising(losses, mu)


def _adaptive(core: Parts) -> Accountant | None:
    """Return the recursion over the questions an adaptive analyst may ask of exponential mechanisms.

    There is no bound where no grid is fine enough.
    """
    epsilons = adaptive_epsilons(core)
    if epsilons is None:
        return None

    def delta(epsilon: Fraction) -> Fraction | None:
        bound = delta_adaptive(epsilons, epsilon)
        return None if bound is None else short_up(bound)

    def epsilon(delta: Fraction) -> Fraction | None:
        bound = epsilon_adaptive(epsilons, delta)
        return None if bound is None else short_up(bound)

    return Accountant(_alone(delta), _alone(epsilon))


def _nonadaptive(core: Parts) -> Accountant | None:
    """Return the optimum for equal bounded ranges with all questions fixed beforehand."""
    (part, n), *others = core
    size, sum_ = part.pure, pure_of(core)
    one_kind = not others and part.kind == "bounded_range" and n <= _MOST_FIXED
    if not one_kind or size is None or sum_ is None:
        return None

    def delta(epsilon: Fraction) -> Fraction:
        return short_up(delta_nonadaptive(size, n, epsilon))

    return by_delta(delta, sum_, steps=16)


_ACCOUNTANTS: dict[str, Callable[[Parts], Accountant | None]] = {
    "single": _single,
    "kov": _kov,
    "zcdp": _zcdp,
    "renyi": _renyi,
    "adaptive": _adaptive,
    "logistic": _losses,
    "combined": _convolution_of_all,
}
