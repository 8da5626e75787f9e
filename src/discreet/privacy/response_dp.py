"""The guarantee of randomised response among several answers.

For proofs, see docs/explanation/composition.md, "Response among several answers".
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
from .conversions import read_delta, read_epsilon, read_whole
from .dominating import divergence
from .epsilon_dp import PureDP
from .rho import response_rho
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
