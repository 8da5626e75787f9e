"""(epsilon, delta)-differential privacy as a frozen value. Proofs: docs/composition.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from ..enclosures import ball, precision, upper
from ..errors import InvalidNumber, shown
from ..numbers import count, exact, short_up
from .contract import IN_WORDS, Guarantee, equals, plain, steps
from .conversions import divergence_at, read_delta, read_epsilon
from .sensitivity import Neighbors, read_neighbors
from .worst import RESPONSE


@dataclass(frozen=True, slots=True)
class ApproxDP:
    """(epsilon, delta)-DP: no probability is above exp(epsilon) times the neighbour's, plus delta."""

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors = "add_remove"
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
        from .guarantees import PureDP

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

    def renyi_divergence(self, order: Any) -> float:
        """Return the Rényi divergence of an order above 1 that is not exceeded, rounded up to a float."""
        return divergence_at(self.renyi, order)

    def ceiling(self, chance: arb) -> arb:
        """Return min(e**epsilon p + delta, 1 - e**-epsilon (1 - delta - p))."""
        e, share = ball(self.epsilon), ball(self.delta)
        return (chance * e.exp() + share).min(1 - (1 - share - chance) * (-e).exp())

    def repeated(self, n: int) -> Guarantee:
        """Return the guarantee of `n` answers, each of which may depend on those before it."""
        from .composition import repeated

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
