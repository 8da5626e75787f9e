"""How often to try before the best is answered: a random number (Papernot and Steinke 2022)."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from flint import arb

from ..arguments import choice
from ..errors import InvalidNumber, preview
from ..numbers import Number, positive
from ..sampling.bits import Bits, LazyUniform
from ..sampling.enclosures import ball, precision

RepetitionKind = Literal["logarithmic", "geometric"]

_LEAST = Fraction(1, 10**6)


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
            InvalidArgument: if an argument cannot be accepted.
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
