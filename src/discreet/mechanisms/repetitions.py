"""How often to try before the best is answered: a random number (Papernot and Steinke 2022)."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal, get_args

from flint import arb

from ..base.arguments import choice
from ..base.numbers import Number, positive, short_up
from ..errors import InvalidArgument, InvalidNumber, preview
from ..privacy.contract import Guarantee, check_guarantee
from ..privacy.guarantees import PureDP, RenyiDP
from ..privacy.renyi_dp import ORDERS
from ..sampling.bits import Bits, LazyUniform
from ..sampling.enclosures import ball, precision, upper

RepetitionKind = Literal["logarithmic", "geometric"]

_LEAST = Fraction(1, 10**6)

_RENYI_BITS = 256

_PARTS_OF_OCTAVE = 16

_FINE_ORDERS = sorted(
    {
        *ORDERS,
        *(
            Fraction(2**k) * (1 + Fraction(part, _PARTS_OF_OCTAVE))
            for k in range(6, 20)
            for part in range(_PARTS_OF_OCTAVE)
        ),
    }
)
"""Orders so close that a straight line between two of them is at most a thousandth above a divergence ρ · order."""


@dataclass(frozen=True, slots=True)
class Repetitions:
    """A number K of tries, at least 1, that does not depend on the data.

    With q = 1 - gamma: P(K = k) = gamma * q**(k-1) if geometric, q**k / (k * ln(1/gamma)) if logarithmic.

    Args:
        kind: "logarithmic" or "geometric".
        gamma: between 1e-6 and 1: the smaller, the more tries.

    Source: Papernot and Steinke, ICLR 2022. Proof: docs/reference/mechanisms/private_candidates.md.
    """

    kind: RepetitionKind
    gamma: Number

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            InvalidArgument: if an argument is invalid.
        """
        object.__setattr__(self, "kind", choice(self.kind, "repetitions", get_args(RepetitionKind)))
        gamma = positive(self.gamma, "gamma")
        if not _LEAST <= gamma < 1:
            raise InvalidNumber(
                f"gamma must be at least 1e-6 and below 1, got {preview(self.gamma)}"
            )
        object.__setattr__(self, "gamma", gamma)

    @property
    def price(self) -> int:
        """How many times the epsilon of one try the best of all tries costs."""
        return 3 if self.kind == "geometric" else 2

    def best_of(self, attempt: Guarantee) -> Guarantee:
        """Return the guarantee of the best of K tries of that guarantee.

        Of tries that are epsilon-DP it is `PureDP` of `price` times as much; of others Rényi divergences.

        Raises:
            InvalidArgument: if neither an epsilon nor a Rényi divergence follows from the guarantee of a try.
        """
        single = check_guarantee(attempt)
        if single.pure is not None:
            return PureDP(self.price * single.pure, single.neighbors)
        with precision(_RENYI_BITS):
            curve = self._curve(single)
        if not curve:
            raise InvalidArgument(
                "an attempt must promise epsilon-DP or Rényi divergences, such as ZCDP or "
                f"GaussianDP, not {single}"
            )
        return RenyiDP(curve, single.neighbors)

    def _curve(self, attempt: Guarantee) -> dict[Fraction, Fraction]:
        """Return the Rényi divergences of the best by order, where the divergences of an attempt are finite."""
        divergences = {
            order: divergence
            for order in _FINE_ORDERS
            if (divergence := attempt.renyi(ball(order - 1))) is not None and divergence.is_finite()
        }
        if not divergences:
            return {}
        # *Rényi divergences* in private_candidates.md: any second order gives a bound.
        far = -ball(Fraction(self.gamma)).log()
        ratios = [
            (1 - 1 / ball(order)) * divergence + far / ball(order)
            for order, divergence in divergences.items()
        ]
        ratio = (self.price - 1) * min(map(upper, ratios))
        log_mean = self._mean().log()
        bounds = [
            short_up(max(upper(divergence + log_mean / ball(order - 1)) + ratio, Fraction(0)))
            for order, divergence in divergences.items()
        ]
        # A divergence of a larger order bounds those of smaller ones.
        least = list(accumulate(reversed(bounds), min))
        return dict(zip(divergences, reversed(least), strict=True))

    def _mean(self) -> arb:
        """Return a ball around E[K], at the precision in force."""
        gamma = ball(Fraction(self.gamma))
        return 1 / gamma if self.kind == "geometric" else (1 - gamma) / (-gamma * gamma.log())

    def probabilities(self) -> Iterator[arb]:
        """Yield balls around P(K = 1), P(K = 2), ..., at the precision in force, without end."""
        gamma = Fraction(self.gamma)
        power, q, k = ball(gamma), ball(1 - gamma), 1
        if self.kind == "logarithmic":
            power = -q / ball(gamma).log()
        while True:
            yield power if self.kind == "geometric" else power / k
            power, k = power * q, k + 1

    def draw(self, bits: Bits) -> int:
        """Return k with probability P(K = k): exact, one lazy uniform against the cumulative distribution."""
        u = LazyUniform(bits)
        while True:
            with precision(128 + 2 * u.length):
                k = self._locate(u)
            if k is not None:
                return k
            u.extend()

    def _locate(self, u: LazyUniform) -> int | None:
        """Return the k with F(k-1) <= u < F(k), F the cumulative distribution; None while it is open."""
        total = arb(0)
        for k, probability in enumerate(self.probabilities(), start=1):
            total += probability
            share = total * arb(2) ** u.length
            if u.prefix + 1 <= share:
                return k
            if not u.prefix >= share:
                break
        return None
