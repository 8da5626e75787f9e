"""Guarantees as frozen values in exact rationals. Definitions and proofs: docs/privacy.md, docs/composition.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from ..enclosures import ball
from ..errors import InvalidArgument, shown
from ..numbers import count, positive
from .approx import ApproxDP
from .composition import Composition, repeated
from .contract import IN_WORDS, Guarantee, equals, plain, steps
from .conversions import divergence_at, read_delta, read_epsilon
from .curves import RenyiDP
from .gaussian import GaussianDP
from .loss_dp import LossDP
from .sensitivity import Neighbors, read_neighbors
from .worst import LAPLACE, LOGISTIC, RANGE, RESPONSE, Worst
from .zcdp import ZCDP

__all__ = [
    "ZCDP",
    "ApproxDP",
    "BoundedRange",
    "GaussianDP",
    "Guarantee",
    "LaplaceDP",
    "LogisticDP",
    "LossDP",
    "MixedRange",
    "NoGuarantee",
    "PureDP",
    "RenyiDP",
    "SummedRange",
    "read_guarantee",
]


@dataclass(frozen=True, slots=True)
class ByEpsilon:
    """What the promises of one epsilon have in common: each is epsilon-DP, and more by its worst case.

    Each implies those after it: `BoundedRange`, `MixedRange`, `SummedRange`, `LogisticDP`, `LaplaceDP`, `PureDP`.
    """

    epsilon: Fraction
    neighbors: Neighbors = "add_remove"
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

    def approx(self, delta: Any) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon that follows."""
        share = read_delta(delta)
        return ApproxDP(self.worst.target(self.epsilon, share), share, self.neighbors)

    def renyi(self, excess: arb) -> arb:
        """Return a ball whose upper end bounds the Rényi divergence of order 1 + excess."""
        return self.worst.divergence(self.epsilon, excess)

    def renyi_divergence(self, order: Any) -> float:
        """Return the Rényi divergence of an order above 1 that is not exceeded, rounded up to a float."""
        return divergence_at(self.renyi, order)

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
    """epsilon-bounded range given public random numbers, earlier answers, or answers about other records.

    Between databases that are k steps apart it promises `SummedRange(k * epsilon)`, as the steps may fall on
    several of the answers that are put together in it.
    """

    kind: ClassVar[str] = "mixed_range"
    worst: ClassVar[Worst] = RANGE
    words: ClassVar[str] = ", mixed range"

    def _apart(self, size: int, neighbors: Neighbors) -> Guarantee:
        return (MixedRange if size == 1 else SummedRange)(size * self.epsilon, neighbors)


@dataclass(frozen=True, slots=True)
class SummedRange(ByEpsilon):
    """Bounded ranges, one answer after the other, that add up to epsilon. So epsilon-DP.

    How many there are, and how they share epsilon, may depend on the answers before. What two steps of
    a `MixedRange` promise, and what several mixed ranges compose into.
    """

    kind: ClassVar[str] = "summed_range"
    worst: ClassVar[Worst] = RANGE
    words: ClassVar[str] = ", summed range"


@dataclass(frozen=True, slots=True)
class LogisticDP(ByEpsilon):
    """No easier to attack than a number with logistic noise of scale 1 / epsilon. So epsilon-DP.

    No event's log-odds differ by more than epsilon between neighbours.
    """

    kind: ClassVar[str] = "logistic_dp"
    worst: ClassVar[Worst] = LOGISTIC
    words: ClassVar[str] = ", as logistic noise"


@dataclass(frozen=True, slots=True)
class LaplaceDP(ByEpsilon):
    """No easier to attack than a number with Laplace noise of scale 1 / epsilon. So epsilon-DP."""

    kind: ClassVar[str] = "laplace_dp"
    worst: ClassVar[Worst] = LAPLACE
    words: ClassVar[str] = ", as Laplace noise"


@dataclass(frozen=True, slots=True)
class NoGuarantee:
    """Nothing is promised, and `reason` says why."""

    reason: str
    neighbors: Neighbors = "add_remove"
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

    def renyi_divergence(self, order: Any) -> float:
        """Return infinity."""
        return divergence_at(self.renyi, order)

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
        guarantee: Guarantee = make(*(plain_values[n] for n in make.__match_args__[:-1]), neighbors)
    except (KeyError, TypeError) as error:
        raise InvalidArgument(
            f"a guarantee must be what as_dict() returns, got {shown(plain_values)}"
        ) from error
    return guarantee


CHAIN = (BoundedRange, MixedRange, SummedRange, LogisticDP, LaplaceDP, PureDP)
"""Promises of one epsilon, each of which implies those after it."""

_KINDS: dict[str, Any] = {
    make.kind: make for make in (*CHAIN, ZCDP, ApproxDP, GaussianDP, RenyiDP, LossDP, NoGuarantee)
}
