"""Every bound that holds for a composition, side by side. Proofs: docs/composition.md."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Literal, Protocol

from flint import arb

from ..enclosures import ball, precision, upper
from ..errors import InvalidArgument
from ..numbers import short_up, spell
from .composition import Composition, Part
from .contract import Guarantee
from .conversions import (
    delta_of_curve,
    epsilon_of_curve,
    least_epsilon,
    read_delta,
    read_epsilon,
)
from .responses import Responses

_MOST_CURVES = 100
"""Different guarantees up to which their Rényi curves are added order by order."""

_MOST_CONVOLVED = 10**6
"""Answers up to which privacy losses are convolved: beyond, what the grid costs is more than what it gains."""

_RANGES = ("bounded_range", "mixed_range")
"""The kinds that the adaptive recursion serves."""

_MOST_ROUNDS = 10_000
"""Answers up to which the adaptive recursion is asked; it may still decline."""

_MOST_FIXED = 1024
"""Answers up to which there is a formula for questions that are fixed beforehand."""

_LEAST, _LARGEST, _MOST_STEPS = Fraction(1, 2**64), Fraction(64), 2**14
"""The least epsilon and step of a grid of losses, the largest epsilon on it, and the most steps in that."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds by name. All of them hold, so the least does.

    Attributes:
        unit: what is bounded, "epsilon" or "delta".
        at: the delta or the epsilon at which it is bounded.
        values: each bound under its name, rounded up.
    """

    unit: Literal["epsilon", "delta"]
    at: Fraction
    values: Mapping[str, Fraction]

    @property
    def winner(self) -> str:
        """The name of the least bound."""
        return min(self.values, key=lambda name: self.values[name])

    @property
    def least(self) -> Fraction:
        """The least bound."""
        return self.values[self.winner]

    def __str__(self) -> str:
        fixed = "delta" if self.unit == "epsilon" else "epsilon"
        lines = [f"{self.unit} at {fixed} = {spell(self.at)}"]
        for name, value in sorted(self.values.items(), key=lambda item: item[1]):
            lines.append(f"  {name:<12}{spell(value)}")
        return "\n".join(lines)


class Engine(Protocol):
    """One way to bound a composition without slack."""

    def delta(self, epsilon: Fraction) -> Fraction | None:
        """Return a delta at that epsilon, or None if this engine declines."""
        ...

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction | None:
        """Return an epsilon at that delta, or None; `known` is one that holds, if any is known yet."""
        ...


@dataclass(frozen=True, slots=True)
class Basic:
    """Epsilons add up."""

    sum: Fraction

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return 0 from the sum on, else 1."""
        return Fraction(0) if epsilon >= self.sum else Fraction(1)

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction:
        """Return the sum."""
        return self.sum


@dataclass(frozen=True, slots=True)
class Single:
    """What is known of one answer."""

    part: Guarantee

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return its delta."""
        return self.part.delta_at(epsilon)

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction:
        """Return its epsilon."""
        return self.part.approx(delta).epsilon


@dataclass(frozen=True, slots=True)
class ByCurve:
    """A Rényi curve, converted at the best order."""

    curve: Callable[[arb], arb]

    def delta(self, epsilon: Fraction) -> Fraction:
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

    def delta(self, epsilon: Fraction) -> Fraction | None:
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
    """A distribution of privacy losses."""

    losses: Any  # a LossDistribution, which is imported when it is used

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return its delta."""
        found: Fraction = self.losses.delta(epsilon)
        return short_up(found)

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction | None:
        """Return its epsilon."""
        found: Fraction | None = self.losses.epsilon(delta)
        return found


@dataclass(frozen=True, slots=True)
class Recursion:
    """What an adaptive analyst may make of exponential mechanisms, by recursion over the answers."""

    epsilons: tuple[Fraction, ...]

    def delta(self, epsilon: Fraction) -> Fraction | None:
        """Return its delta, or None where no grid is fine enough."""
        from .adaptive import delta_adaptive

        return _short(delta_adaptive(self.epsilons, epsilon))

    def epsilon(self, delta: Fraction, known: Fraction | None) -> Fraction | None:
        """Return its epsilon, or None where no grid is fine enough."""
        from .adaptive import epsilon_adaptive

        return _short(epsilon_adaptive(self.epsilons, delta))


def bounds_of(whole: Composition, delta: Any, epsilon: Any, adaptive: bool) -> Bounds:
    """Return the bounds of a composition at a delta or at an epsilon.

    Raises:
        InvalidArgument: unless one of the two is given; or if no epsilon is known at that delta.
    """
    if (delta is None) == (epsilon is None):
        raise InvalidArgument("give either delta or epsilon")
    slack = whole.slack
    if delta is None:
        at = read_epsilon(epsilon)
        inner = {name: e.delta(at) for name, e in _engines(whole, adaptive).items()}
        deltas = {name: _beside(slack, d) for name, d in inner.items() if d is not None}
        return Bounds("delta", at, deltas or {"none": Fraction(1)})
    at = read_delta(delta)
    epsilons: dict[str, Fraction] = {}
    left = (at - slack) / (1 - slack) if slack < 1 else Fraction(-1)
    for name, engine in _engines(whole, adaptive).items() if left >= 0 else ():
        found = engine.epsilon(left, min(epsilons.values(), default=None))
        if found is not None:
            epsilons[name] = found
    if not epsilons:
        raise InvalidArgument(f"no epsilon is known at delta = {spell(at)} for {whole}")
    return Bounds("epsilon", at, epsilons)


def _beside(slack: Fraction, delta: Fraction) -> Fraction:
    """Return the delta of what promises `delta` but for the slack."""
    return short_up(slack + (1 - slack) * delta) if slack else delta


def common_slack(parts: Sequence[Part]) -> Fraction:
    """Return 1 - prod (1 - slack)**n, rounded up."""
    loose = [(part.slack, n) for part, n in parts if part.slack > 0]
    if not loose or any(slack == 1 for slack, _ in loose):
        return Fraction(1) if loose else Fraction(0)
    with precision(256):
        log = sum((n * (-ball(slack)).log1p() for slack, n in loose), arb(0))
        return min(short_up(upper(-log.expm1())), Fraction(1))


def _engines(whole: Composition, adaptive: bool) -> dict[str, Engine]:
    """Return each engine that serves the composition, by name."""
    core = whole.core
    if core is None:
        return {} if whole.slack == 1 else {"basic": Basic(Fraction(0))}
    made = {name: make(core) for name, make in _ENGINES.items()}
    if not adaptive:
        made["nonadaptive"] = _nonadaptive(core)
    return {name: engine for name, engine in made.items() if engine is not None}


def _basic(core: Composition) -> Engine | None:
    return None if core.pure is None else Basic(core.pure)


def _single(core: Composition) -> Engine | None:
    """Return the closed form of a single answer."""
    (part, n), *others = core.parts
    return None if n > 1 or others or part.pure is None else Single(part)


def _kov(core: Composition) -> Engine | None:
    """Return the optimum for mechanisms of which nothing but epsilon-DP is known."""
    if core.pure is None:
        return None
    counts: dict[Fraction, int] = {}
    for part, n in core.parts:
        if part.pure is not None:
            counts[part.pure] = counts.get(part.pure, 0) + n
    responses = Responses.of(list(counts.items()))
    return None if responses is None else ByDelta(responses.delta, core.pure)


def _zcdp(core: Composition) -> Engine | None:
    rho = core.rho
    return None if rho is None else ByCurve(lambda excess: ball(rho) * (1 + excess))


def _renyi(core: Composition) -> Engine | None:
    if len(core.parts) > _MOST_CURVES:
        return None

    def curve(excess: arb) -> arb:
        divergence = core.renyi(excess)
        assert divergence is not None  # a core has a curve
        return divergence

    return ByCurve(curve)


def _losses(core: Composition) -> Engine | None:
    """Return the convolution of the privacy losses, if all kinds have a distribution on one grid."""
    from .losses import LossDistribution, common_step

    laws: dict[str, Callable[[Fraction, Fraction], LossDistribution]] = {
        "bounded_range": LossDistribution.logistic,
        "mixed_range": LossDistribution.logistic,
        "laplace_dp": LossDistribution.laplace,
        "pure_dp": LossDistribution.pure,
    }
    parts = [(part.kind, part.pure, n) for part, n in core.parts if part.pure is not None]
    known = len(parts) == len(core.parts) and all(kind in laws for kind, _, _ in parts)
    if not known or sum(n for _, _, n in parts) > _MOST_CONVOLVED:
        return None
    sizes = [epsilon for _, epsilon, _ in parts]
    step = common_step((epsilon, n) for _, epsilon, n in parts)
    largest: Fraction = min(Fraction(_LARGEST), _MOST_STEPS * step)
    if step < _LEAST or any(not _LEAST <= size <= largest for size in sizes):
        return None
    made = [laws[kind](epsilon, step).composed(n) for kind, epsilon, n in parts]
    return ByLosses(reduce(lambda a, b: a.combined(b), made))


def _adaptive(core: Composition) -> Engine | None:
    """Return the recursion over what an adaptive analyst may ask of exponential mechanisms."""
    ranges = all(part.kind in _RANGES for part, _ in core.parts)
    if not ranges or sum(n for _, n in core.parts) > _MOST_ROUNDS:
        return None
    spent = [(part.pure, n) for part, n in core.parts]
    return Recursion(tuple(e for epsilon, n in spent if epsilon for e in [epsilon] * n))


def _nonadaptive(core: Composition) -> Engine | None:
    """Return the optimum for equal bounded ranges whose questions are all fixed beforehand."""
    from .adaptive import delta_nonadaptive

    (part, n), *others = core.parts
    size = part.pure
    if (
        others
        or part.kind != "bounded_range"
        or size is None
        or core.pure is None
        or n > _MOST_FIXED
    ):
        return None
    return ByDelta(lambda target: short_up(delta_nonadaptive(size, n, target)), core.pure, steps=16)


def _short(bound: Fraction | None) -> Fraction | None:
    return None if bound is None else short_up(bound)


_ENGINES: dict[str, Callable[[Composition], Engine | None]] = {
    "basic": _basic,
    "single": _single,
    "kov": _kov,
    "zcdp": _zcdp,
    "renyi": _renyi,
    "logistic": _losses,
    "adaptive": _adaptive,
}
