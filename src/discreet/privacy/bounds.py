"""Every bound that holds for a composition, side by side. Proofs: docs/composition.md."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from flint import arb

from ..enclosures import ball, precision, upper
from ..errors import InvalidArgument
from ..numbers import short_up, spell
from .chain import in_chain
from .combined import adaptive_epsilons, losses_of, mu_of, serves
from .composition import Composition, Part
from .conversions import read_delta, read_epsilon
from .engines import Basic, ByCurve, ByDelta, ByLosses, Engine, Promising, Recursion, Single
from .gathering import gathered
from .guarantees import GaussianDP
from .responses import Responses

_MOST_KINDS = 200
"""Different guarantees beyond which they are rounded up to a common grid."""

_MOST_SIZES = 12
"""Different epsilons up to which all sums of randomised responses are told apart."""

_FEW, _FEW_KINDS = 200, 20
"""Answers, and different guarantees, up to which every engine is asked, however little it may promise."""

_MOST_FIXED = 1024
"""Answers up to which there is a formula for questions that are fixed beforehand."""


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
        deltas = _asked(whole, adaptive, lambda engine, known: engine.delta(at, known))
        beside = {name: _beside(slack, found) for name, found in deltas.items()}
        return Bounds("delta", at, beside or {"none": Fraction(1)})
    at = read_delta(delta)
    epsilons: dict[str, Fraction] = {}
    if slack <= at:
        left = (at - slack) / (1 - slack)
        epsilons = _asked(whole, adaptive, lambda engine, known: engine.epsilon(left, known))
    if not epsilons:
        raise InvalidArgument(f"no epsilon is known at delta = {spell(at)} for {whole}")
    return Bounds("epsilon", at, epsilons)


def _asked(
    whole: Composition,
    adaptive: bool,
    ask: Callable[[Engine, Fraction | None], Fraction | None],
) -> dict[str, Fraction]:
    """Return what each engine answers; those that take long are told what is known by then."""
    found: dict[str, Fraction] = {}
    for name, engine in _engines(whole, adaptive).items():
        bound = ask(engine, min(found.values(), default=None))
        if bound is not None:
            found[name] = bound
    return found


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
    """Return each engine that serves the composition, by name, the quick ones first."""
    core = whole.core
    if core is None:
        return {} if whole.slack == 1 else {"basic": Basic(Fraction(0))}
    few = gathered(core, _MOST_KINDS)
    made = {name: make(core if name == "basic" else few) for name, make in _ENGINES.items()}
    if not adaptive:
        made["nonadaptive"] = _nonadaptive(core)
    return {name: engine for name, engine in made.items() if engine is not None}


def _basic(core: Composition) -> Engine | None:
    return None if core.pure is None else Basic(core.pure)


def _single(core: Composition) -> Engine | None:
    """Return the closed form of a single answer, or of Gaussian noise, of which several are one."""
    (part, n), *others = core.parts
    known = part.pure is not None or isinstance(part, GaussianDP)
    return Single(part) if known and n == 1 and not others else None


def _kov(core: Composition) -> Engine | None:
    """Return the optimum for mechanisms of which nothing but epsilon-DP is known."""
    counts: dict[Fraction, int] = {}
    for part, n in core.parts:
        if part.pure is not None:
            counts[part.pure] = counts.get(part.pure, 0) + n
    if core.pure is None or len(counts) > _MOST_SIZES:
        return None
    responses = Responses.of(list(counts.items()))
    return None if responses is None else ByDelta(responses.delta, core.pure)


def _zcdp(core: Composition) -> Engine | None:
    rho = core.rho
    return None if rho is None else ByCurve(lambda excess: ball(rho) * (1 + excess))


def _renyi(core: Composition) -> Engine | None:
    with precision(64):
        if core.renyi(arb(1)) is None:
            return None

    def curve(excess: arb) -> arb:
        divergence = core.renyi(excess)
        assert divergence is not None  # as there is one of order 2
        return divergence

    return ByCurve(curve)


def _losses(core: Composition) -> Engine | None:
    """Return the convolution of the privacy losses, if all kinds have a distribution on one grid."""
    chained = all(in_chain(part) for part, _ in core.parts)
    return _promising(core) if chained and serves(core) else None


def _combined(core: Composition) -> Engine | None:
    """Return the same for lists with other kinds, whose curves are made into distributions of losses."""
    chained = [in_chain(part) for part, _ in core.parts]
    return None if all(chained) or not serves(core) else _promising(core)


def _promising(core: Composition) -> Engine:
    many = sum(n for _, n in core.parts) > _FEW or len(core.parts) > _FEW_KINDS
    return Promising(ByLosses(lambda: losses_of(core)), mu_of(core) if many else None)


def _adaptive(core: Composition) -> Engine | None:
    """Return the recursion over what an adaptive analyst may ask of exponential mechanisms."""
    epsilons = adaptive_epsilons(core.parts)
    return None if epsilons is None else Recursion(epsilons)


def _nonadaptive(core: Composition) -> Engine | None:
    """Return the optimum for equal bounded ranges whose questions are all fixed beforehand."""
    from .adaptive import delta_nonadaptive

    (part, n), *others = core.parts
    size, sum_ = part.pure, core.pure
    one_kind = not others and part.kind == "bounded_range" and n <= _MOST_FIXED
    if not one_kind or size is None or sum_ is None:
        return None
    return ByDelta(lambda target: short_up(delta_nonadaptive(size, n, target)), sum_, steps=16)


_ENGINES: dict[str, Callable[[Composition], Engine | None]] = {
    "basic": _basic,
    "single": _single,
    "kov": _kov,
    "zcdp": _zcdp,
    "renyi": _renyi,
    "adaptive": _adaptive,
    "logistic": _losses,
    "combined": _combined,
}
