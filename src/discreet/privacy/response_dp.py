"""The guarantees of randomised response among several answers, and of geometric noise on several steps.

For proofs, see docs/explanation/composition.md, of the former "Response among several answers".
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from ..base.messages import Message
from ..base.numbers import Number, positive, short_up
from ..errors import InvalidNumber
from ..sampling.enclosures import ball, precision, probability_above, upper
from .approx_dp import ApproxDP
from .base import SteppedGuarantee
from .contract import Guarantee, equals
from .conversions import least_epsilon, read_delta, read_epsilon, read_whole
from .dominating import RESPONSE, divergence
from .epsilon_dp import PureDP
from .rho import geometric_rho, response_rho
from .sensitivity import Neighbors, read_neighbors

_MOST_ANSWERS = 10**300
_DELTA_BITS = 512


@dataclass(frozen=True, slots=True)
class ResponseDP(SteppedGuarantee):
    """No easier to attack than randomised response with the given number of answers.

    The truth has probability e**epsilon / (e**epsilon + answers - 1), and each other answer 1 / (e**epsilon +
    answers - 1). So epsilon-DP. With two answers it promises exactly that, and with more answers more, because most
    answers reveal little.

    Args:
        epsilon: ε, a positive number without a unit. It is read exactly, so 0.1 is one tenth.
        answers: the number of answers, 2 or more.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    epsilon: Fraction
    answers: int
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "response_dp"
    slack: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "answers", _read_answers(self.answers))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    @property
    def pure(self) -> Fraction:
        """The epsilon of epsilon-DP that follows."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """The least rho for which rho-zCDP follows, rounded up to 64 bits."""
        return response_rho(self.epsilon, self.answers)

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta for which (epsilon, delta)-DP follows, rounded up."""
        target = read_epsilon(epsilon)
        if target >= self.epsilon:
            return Fraction(0)
        with precision(_DELTA_BITS):
            gap = -(-ball(self.epsilon - target)).expm1()
            return probability_above(gap / self._relative_sum(ball(self.epsilon)))

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon that follows."""
        share = read_delta(delta)
        with precision(_DELTA_BITS):
            left = 1 - ball(share) * self._relative_sum(ball(self.epsilon))
            if left <= 0:
                return ApproxDP(Fraction(0), share, self.neighbors)
            target = self.epsilon
            if left > 0:  # else too close to tell
                target = short_up(upper(ball(self.epsilon) + left.log()))
        return ApproxDP(min(self.epsilon, max(target, Fraction(0))), share, self.neighbors)

    def renyi(self, excess: arb) -> arb:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""
        return divergence(self._curve, self.epsilon, self.rho, excess)

    def ceiling(self, chance: arb) -> arb:
        """Return a bound on the probability of an event, given its probability on a neighbour."""
        e = ball(self.epsilon)
        # The best events take the neighbour's answers in the order of their losses: epsilon, 0, -epsilon.
        middle = chance - (-e).expm1() / self._relative_sum(e)
        return (chance * e.exp()).min(middle).min(1 - (1 - chance) * (-e).exp())

    def _apart(self, size: int, neighbors: Neighbors) -> Guarantee:
        """Return the same promise one step away; farther off, the one that follows from so many times epsilon."""
        if size == 1:
            return ResponseDP(self.epsilon, self.answers, neighbors)
        return PureDP(size * self.epsilon, neighbors)

    def _relative_sum(self, epsilon: arb) -> arb:
        """Return the sum of the weights, over that of the truth: 1 + (answers - 1) / e**epsilon."""
        return 1 + (self.answers - 1) * (-epsilon).exp()

    def _curve(self, epsilon: arb, excess: arb) -> arb:
        """Return the Rényi divergence of the pair."""
        order = 1 + excess
        same = (self.answers - 2) * (-order * epsilon).exp()
        moment = 1 + (-(1 + 2 * excess) * epsilon).exp() + same
        return epsilon + (moment / self._relative_sum(epsilon)).log() / excess

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return Message(
            "{epsilon}, as a response among {answers} answers",
            epsilon=equals("ε", self.epsilon), answers=f"{self.answers:,}",
        )  # fmt: skip


def _read_answers(answers: object) -> int:
    """Return a number of answers, 2 or more."""
    number = read_whole(answers, "answers", _MOST_ANSWERS)
    if number == 1:
        raise InvalidNumber("answers must be 2 or more: one answer says nothing")
    return number


_MOST_STEPS = 10**300


@dataclass(frozen=True, slots=True)
class GeometricDP(SteppedGuarantee):
    """No easier to attack than an integer that moves by `steps`, with two-sided geometric noise.

    The noise has P(X = k) proportional to exp(-(epsilon / steps) * |k|). So epsilon-DP. With one step it promises
    exactly that, and with more steps slightly more.

    Args:
        epsilon: ε, a positive number without a unit. It is read exactly, so 0.1 is one tenth.
        steps: the number of whole steps by which the integer moves, 1 or more.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    epsilon: Fraction
    steps: int
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "geometric_dp"
    slack: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "steps", read_whole(self.steps, "steps", _MOST_STEPS))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    @property
    def pure(self) -> Fraction:
        """The epsilon of epsilon-DP that follows."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """The least rho for which rho-zCDP follows, rounded up to 64 bits."""
        return geometric_rho(self.epsilon, self.steps)

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta for which (epsilon, delta)-DP follows, rounded up."""
        target = read_epsilon(epsilon)
        if target >= self.epsilon:
            return Fraction(0)
        eta = self.epsilon / self.steps
        # The losses are eta * (steps - 2 j); the last j at which the loss is above the target.
        last = -(-(self.steps - target / eta) // 2) - 1
        with precision(_DELTA_BITS):
            a = (-ball(eta)).exp()
            near = 1 - (-ball(eta * (last + 1))).exp() / (1 + a)
            far = (-ball(eta * (self.steps - last))).exp() / (1 + a)
            return probability_above(near - ball(target).exp() * far)

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon that follows, up to a relative error of 2**-40."""
        share = read_delta(delta)
        target = least_epsilon(self.delta_at, share, self.epsilon) if share else self.epsilon
        return ApproxDP(target, share, self.neighbors)

    def renyi(self, excess: arb) -> arb:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""
        return divergence(self._curve, self.epsilon, self.rho, excess)

    def ceiling(self, chance: arb) -> arb:
        """Return a bound on the probability of an event, given its probability on a neighbour."""
        return RESPONSE.ceiling(ball(self.epsilon), chance)

    def _apart(self, size: int, neighbors: Neighbors) -> "GeometricDP":
        """Return so many times epsilon, and steps."""
        return GeometricDP(size * self.epsilon, size * self.steps, neighbors)

    def _curve(self, epsilon: arb, excess: arb) -> arb:
        """Return the Rényi divergence of the worst pair."""
        eta = epsilon / self.steps
        moment = self._moment(eta, eta * (excess + arb(0.5))) / self._moment(eta, eta / 2)
        return epsilon + moment.log() / excess

    def _moment(self, eta: arb, x: arb) -> arb:
        """Return W(x) * exp(-steps * x) of docs/explanation/composition.md."""
        inner = (-2 * (self.steps + 1) * x).expm1() / (-2 * x).expm1()
        return inner + (1 + (-2 * self.steps * x).exp()) / eta.expm1()

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return Message(
            "{epsilon}, as geometric noise on {steps} steps",
            epsilon=equals("ε", self.epsilon), steps=f"{self.steps:,}",
        )  # fmt: skip
