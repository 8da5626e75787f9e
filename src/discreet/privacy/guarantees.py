"""Guarantees as frozen values in exact rationals. Definitions and proofs: docs/privacy.md, docs/composition.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from ..enclosures import ball, precision, upper
from ..errors import InvalidArgument, InvalidNumber, shown
from ..numbers import count, exact, positive, short_up
from .composition import Composition, repeated
from .contract import IN_WORDS, Guarantee, equals, plain, steps
from .conversions import delta_of_curve, epsilon_of_curve, read_delta, read_epsilon
from .sensitivity import Neighbors, read_neighbors
from .worst import LAPLACE, RANGE, RESPONSE, Worst

__all__ = [
    "ZCDP",
    "ApproxDP",
    "BoundedRange",
    "Guarantee",
    "LaplaceDP",
    "MixedRange",
    "NoGuarantee",
    "PureDP",
    "read_guarantee",
]


@dataclass(frozen=True, slots=True)
class ByEpsilon:
    """What the four promises of one epsilon have in common: each is epsilon-DP, and more by its worst case.

    Each implies those after it: `BoundedRange`, `MixedRange`, `LaplaceDP`, `PureDP`.
    """

    epsilon: Fraction
    neighbors: Neighbors
    kind: ClassVar[str]
    worst: ClassVar[Worst]
    words: ClassVar[str]
    slack: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        read_neighbors(self.neighbors)

    @property
    def pure(self) -> Fraction:
        """The epsilon of epsilon-DP that follows."""
        return self.epsilon

    @property
    def core(self) -> Guarantee:
        """Itself: there is no slack."""
        return self

    @property
    def rho(self) -> Fraction:
        """The least rho for which rho-zCDP follows, rounded up to 64 bits."""
        return self.worst.rho(self.epsilon)

    def delta_at(self, epsilon: Any) -> Fraction:
        """Return the least delta for which (epsilon, delta)-DP follows."""
        return self.worst.delta(self.epsilon, read_epsilon(epsilon))

    def approx(self, delta: Any) -> "ApproxDP":
        """Return (epsilon, delta)-DP with the least epsilon that follows."""
        share = read_delta(delta)
        return ApproxDP(self.worst.target(self.epsilon, share), share, self.neighbors)

    def renyi(self, excess: arb) -> arb:
        """Return a ball whose upper end bounds the Rényi divergence of order 1 + excess."""
        return self.worst.divergence(self.epsilon, excess)

    def ceiling(self, chance: arb) -> arb:
        """Return a bound on the probability of an event, given its probability on a neighbour."""
        return self.worst.ceiling(ball(self.epsilon), chance)

    def repeated(self, n: int) -> Guarantee:
        """Return the guarantee of `n` answers, each of which may depend on those before it."""
        return repeated(self, n)

    def group(self, size: int) -> Guarantee:
        """Return the guarantee `size` steps away: size * epsilon."""
        return self._apart(count(size, "size"), self.neighbors)

    def under(self, neighbors: str) -> Guarantee:
        """Return the guarantee that follows under another neighbouring relation."""
        relation = read_neighbors(neighbors)
        return self._apart(steps(self, relation), relation)

    def _apart(self, size: int, neighbors: Neighbors) -> Guarantee:
        return type(self)(size * self.epsilon, neighbors)

    def as_dict(self) -> dict[str, Any]:
        """Return the kind, epsilon as exact text, and the neighbouring relation."""
        return plain(self)

    def __str__(self) -> str:
        return f"{equals('ε', self.epsilon)}{self.words} ({IN_WORDS[self.neighbors]})"


@dataclass(frozen=True, slots=True)
class PureDP(ByEpsilon):
    """epsilon-differential privacy: no probability differs by more than a factor exp(epsilon)."""

    kind: ClassVar[str] = "pure_dp"
    worst: ClassVar[Worst] = RESPONSE
    words: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class BoundedRange(ByEpsilon):
    """epsilon-bounded range: the log-ratios of two answers differ by at most epsilon. So epsilon-DP."""

    kind: ClassVar[str] = "bounded_range"
    worst: ClassVar[Worst] = RANGE
    words: ClassVar[str] = ", bounded range"


@dataclass(frozen=True, slots=True)
class MixedRange(ByEpsilon):
    """epsilon-bounded range given a public random number, drawn the same way whatever the data."""

    kind: ClassVar[str] = "mixed_range"
    worst: ClassVar[Worst] = RANGE
    words: ClassVar[str] = ", mixed range"

    def _apart(self, size: int, neighbors: Neighbors) -> Guarantee:
        # The random number may not have one law along a chain of steps, so only the mixture's curve adds up.
        return (MixedRange if size == 1 else LaplaceDP)(size * self.epsilon, neighbors)


@dataclass(frozen=True, slots=True)
class LaplaceDP(ByEpsilon):
    """No easier to attack than a number with Laplace noise of scale 1 / epsilon. So epsilon-DP."""

    kind: ClassVar[str] = "laplace_dp"
    worst: ClassVar[Worst] = LAPLACE
    words: ClassVar[str] = ", as Laplace noise"


@dataclass(frozen=True, slots=True)
class ZCDP:
    """rho-zCDP: the Rényi divergence of order a is at most rho * a, for every a above 1."""

    rho: Fraction
    neighbors: Neighbors
    kind: ClassVar[str] = "zcdp"
    pure: ClassVar[None] = None
    slack: ClassVar[Fraction] = Fraction(0)

    @property
    def core(self) -> Guarantee:
        """Itself: there is no slack."""
        return self

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", positive(self.rho, "rho"))
        read_neighbors(self.neighbors)

    def delta_at(self, epsilon: Any) -> Fraction:
        """Return the least delta known for which (epsilon, delta)-DP follows."""
        return delta_of_curve(self.renyi, read_epsilon(epsilon))

    def approx(self, delta: Any) -> "ApproxDP":
        """Return (epsilon, delta)-DP with the least epsilon known.

        Raises:
            InvalidNumber: if delta is zero.
        """
        share = read_delta(delta)
        if share == 0:
            raise InvalidNumber("delta must be above zero: zCDP does not imply epsilon-DP")
        return ApproxDP(epsilon_of_curve(self.renyi, share), share, self.neighbors)

    def renyi(self, excess: arb) -> arb:
        """Return a ball whose upper end bounds the Rényi divergence of order 1 + excess."""
        return ball(self.rho) * (1 + excess)

    def ceiling(self, chance: arb) -> None:
        """Return None: probabilities of single events are bounded by no closed form."""

    def repeated(self, n: int) -> Guarantee:
        """Return the guarantee of `n` answers, each of which may depend on those before it."""
        return repeated(self, n)

    def group(self, size: int) -> "ZCDP":
        """Return the guarantee `size` steps away: size**2 * rho."""
        return ZCDP(count(size, "size") ** 2 * self.rho, self.neighbors)

    def under(self, neighbors: str) -> "ZCDP":
        """Return the guarantee that follows under another neighbouring relation."""
        relation = read_neighbors(neighbors)
        return ZCDP(self.group(steps(self, relation)).rho, relation)

    def as_dict(self) -> dict[str, Any]:
        """Return the kind, rho as exact text, and the neighbouring relation."""
        return plain(self)

    def __str__(self) -> str:
        return f"{equals('ρ', self.rho)}, zCDP ({IN_WORDS[self.neighbors]})"


@dataclass(frozen=True, slots=True)
class ApproxDP:
    """(epsilon, delta)-DP: no probability is above exp(epsilon) times the neighbour's, plus delta."""

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors
    kind: ClassVar[str] = "approx_dp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(self.epsilon))
        share = exact(self.delta, "delta")  # up to 1, at which nothing is promised
        object.__setattr__(self, "delta", share if share == 1 else read_delta(share))
        read_neighbors(self.neighbors)

    @property
    def slack(self) -> Fraction:
        """The delta."""
        return self.delta

    @property
    def core(self) -> Guarantee | None:
        """What is promised but for the slack."""
        return PureDP(self.epsilon, self.neighbors) if self.epsilon else None

    @property
    def pure(self) -> Fraction | None:
        """epsilon, if delta is zero."""
        return self.epsilon if self.delta == 0 else None

    @property
    def rho(self) -> Fraction | None:
        """The zero-concentrated privacy that follows, if delta is zero."""
        return RESPONSE.rho(self.epsilon) if self.delta == 0 else None

    def delta_at(self, epsilon: Any) -> Fraction:
        """Return the least delta for which (epsilon, delta)-DP follows at another epsilon."""
        rest = RESPONSE.delta(self.epsilon, read_epsilon(epsilon))
        return self.delta + (1 - self.delta) * rest

    def approx(self, delta: Any) -> "ApproxDP":
        """Return (epsilon, delta)-DP with the least epsilon that follows at another delta.

        Raises:
            InvalidNumber: if there is none, as that delta is smaller.
        """
        share = read_delta(delta)
        if share < self.delta:
            raise InvalidNumber(f"delta must be at least that of {self}, got {shown(delta)}")
        rest = (share - self.delta) / (1 - self.delta)
        return ApproxDP(RESPONSE.target(self.epsilon, rest), share, self.neighbors)

    def renyi(self, excess: arb) -> arb | None:
        """Return a bound on the Rényi divergence of order 1 + excess, if delta is zero."""
        return RESPONSE.divergence(self.epsilon, excess) if self.delta == 0 else None

    def ceiling(self, chance: arb) -> arb:
        """Return min(e**epsilon p + delta, 1 - e**-epsilon (1 - delta - p))."""
        e, share = ball(self.epsilon), ball(self.delta)
        return (chance * e.exp() + share).min(1 - (1 - share - chance) * (-e).exp())

    def repeated(self, n: int) -> Guarantee:
        """Return the guarantee of `n` answers, each of which may depend on those before it."""
        return repeated(self, n)

    def group(self, size: int) -> "ApproxDP":
        """Return the guarantee `size` steps away: size * epsilon, and the sum of e**(i epsilon) delta."""
        steps_, e = count(size, "size"), self.epsilon
        if steps_ == 1:
            return self
        with precision(256):
            sum_ = (ball(steps_ * e)).expm1() / ball(e).expm1() if e else ball(Fraction(steps_))
            share = ball(self.delta) * sum_
            delta = min(short_up(upper(share)), Fraction(1)) if share < 1 else Fraction(1)
        return ApproxDP(steps_ * e, delta, self.neighbors)

    def under(self, neighbors: str) -> "ApproxDP":
        """Return the guarantee that follows under another neighbouring relation."""
        relation = read_neighbors(neighbors)
        moved = self.group(steps(self, relation))
        return ApproxDP(moved.epsilon, moved.delta, relation)

    def as_dict(self) -> dict[str, Any]:
        """Return the kind, epsilon and delta as exact text, and the neighbouring relation."""
        return plain(self)

    def __str__(self) -> str:
        numbers = f"{equals('ε', self.epsilon)}, {equals('δ', self.delta)}"
        return f"{numbers} ({IN_WORDS[self.neighbors]})"


@dataclass(frozen=True, slots=True)
class NoGuarantee:
    """Nothing is promised, and `reason` says why."""

    reason: str
    neighbors: Neighbors
    kind: ClassVar[str] = "none"
    slack: ClassVar[Fraction] = Fraction(1)
    core: ClassVar[None] = None
    pure: ClassVar[None] = None
    rho: ClassVar[None] = None

    def delta_at(self, epsilon: Any) -> Fraction:
        """Return 1, which promises nothing."""
        read_epsilon(epsilon)
        return Fraction(1)

    def approx(self, delta: Any) -> ApproxDP:
        """Raise: there is no epsilon.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument(f"no epsilon holds at any delta: {self}")

    def renyi(self, excess: arb) -> None:
        """Return None."""

    def ceiling(self, chance: arb) -> None:
        """Return None."""

    def repeated(self, n: int) -> "NoGuarantee":
        """Return itself: nothing, n times."""
        return self

    def group(self, size: int) -> "NoGuarantee":
        """Return itself."""
        return self

    def under(self, neighbors: str) -> "NoGuarantee":
        """Return nothing under that relation."""
        return NoGuarantee(self.reason, read_neighbors(neighbors))

    def as_dict(self) -> dict[str, Any]:
        """Return the kind and the reason."""
        return plain(self)

    def __str__(self) -> str:
        return f"no privacy guarantee: {self.reason}"


def read_guarantee(plain_values: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee that `as_dict` wrote down.

    Raises:
        InvalidArgument: if it is none.
    """
    try:
        kind, neighbors = plain_values["kind"], read_neighbors(plain_values["neighbors"])
        if kind == Composition.kind:
            parts = [(read_guarantee(p["guarantee"]), p["count"]) for p in plain_values["parts"]]
            return Composition(tuple(parts))
        make = _KINDS[kind]
        fields = [plain_values[name] for name in make.__match_args__[:-1]]
    except (KeyError, TypeError) as error:
        raise InvalidArgument(
            f"a guarantee must be what as_dict() returns, got {shown(plain_values)}"
        ) from error
    guarantee: Guarantee = make(*fields, neighbors)
    return guarantee


_KINDS: dict[str, Any] = {
    make.kind: make
    for make in (PureDP, BoundedRange, MixedRange, LaplaceDP, ZCDP, ApproxDP, NoGuarantee)
}
