"""Several promises about one answer, all of which hold: the asked-for pair, and the parts behind it.

For the proof, see docs/explanation/charges.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from ..base.arguments import read_sequence
from ..base.numbers import Number, count
from ..errors import InvalidArgument
from .approx_dp import ApproxDP
from .base import BaseGuarantee
from .contract import Guarantee, check_guarantee
from .epsilon_dp import PureDP
from .renyi_dp import ZCDP
from .sensitivity import Neighbors
from .wording import statement_of

if TYPE_CHECKING:
    from flint import arb


_ROUNDING = Fraction(1, 2**40)


@dataclass(frozen=True, slots=True)
class SeveralDP(BaseGuarantee):
    """Several promises about the same answer. All of them hold, so each bound is the smallest of theirs.

    Args:
        promises: the promises, all under one neighbouring relation. The first one is charged to an account of
            epsilon and delta, and is the one shown in words.
    """

    promises: tuple[Guarantee, ...]
    kind: ClassVar[str] = "several_dp"

    def __post_init__(self) -> None:
        promises = tuple(map(check_guarantee, read_sequence(self.promises, "promises")))
        if not promises or len({one.neighbors for one in promises}) > 1:
            raise InvalidArgument(
                "promises are one or more guarantees, all under one neighbouring relation"
            )
        object.__setattr__(self, "promises", promises)

    @property
    def neighbors(self) -> Neighbors:
        """The neighbouring relation."""
        return self.promises[0].neighbors

    @property
    def pure(self) -> Fraction | None:
        """The least epsilon of epsilon-DP that follows."""
        return min((one.pure for one in self.promises if one.pure is not None), default=None)

    @property
    def rho(self) -> Fraction | None:
        """The least rho that follows."""
        return min((one.rho for one in self.promises if one.rho is not None), default=None)

    @property
    def slack(self) -> Fraction:
        """That of the first promise."""
        return self.promises[0].slack

    @property
    def core(self) -> Guarantee | None:
        """All promises if none needs a delta, otherwise the core of the first."""
        return self.promises[0].core if self.slack else self

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta that follows at an epsilon."""
        return min(one.delta_at(epsilon) for one in self.promises)

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon that follows at a delta, but for a part in 2**40.

        Raises:
            InvalidArgument: if there is none.
        """
        found, refusals = list[ApproxDP](), list[InvalidArgument]()
        for one in self.promises:
            try:
                pair = one.approx(delta)
            except InvalidArgument as refusal:
                refusals.append(refusal)
            else:
                found.append(ApproxDP(pair.epsilon, pair.delta, self.neighbors))
        if not found:
            raise refusals[0]
        least = min(pair.epsilon for pair in found)
        # The asked-for number is told as it was, and not as one that is less by a rounding.
        return next(pair for pair in found if pair.epsilon * (1 - _ROUNDING) <= least)

    def renyi(self, excess: arb) -> arb | None:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess, or None."""
        return least_ball([one.renyi(excess) for one in self.promises])

    def ceiling(self, chance: arb) -> arb | None:
        """Return a bound on the probability of an event, given its probability on a neighbour."""
        return least_ball([one.ceiling(chance) for one in self.promises])

    def group(self, size: int) -> Guarantee:
        """Return the promises about the whole answer, `size` steps away. Parts keep only epsilon and rho.

        The parts of a composition bound one step, and may be other parts at the next step. See *Groups of records*
        in docs/explanation/charges.md.
        """
        if count(size, "size") == 1:
            return self
        wholes = chain.from_iterable(map(_of_whole, self.promises))
        far = tuple(whole.group(size) for whole in wholes)
        if not far:
            raise InvalidArgument("no promise about groups follows from these parts")
        return far[0] if len(far) == 1 else SeveralDP(far)

    def under(self, neighbors: str) -> SeveralDP:
        """Return the promises that follow under another neighbouring relation."""
        return SeveralDP(tuple(one.under(neighbors) for one in self.promises))

    def as_dict(self) -> dict[str, object]:
        """Return the kind, the promises and the neighbouring relation."""
        promises = [one.as_dict() for one in self.promises]
        return {"kind": self.kind, "promises": promises, "neighbors": self.neighbors}

    @property
    def statement(self) -> str:
        """That of the first promise."""
        return statement_of(self.promises[0]) or str(self.promises[0])


def reading_of(guarantee: Guarantee, place: int) -> Guarantee:
    """Return the promise at a place, from 0, of several, or the last one; of one promise itself."""
    if not isinstance(guarantee, SeveralDP):
        return guarantee
    return guarantee.promises[min(place, len(guarantee.promises) - 1)]


def _of_whole(promise: Guarantee) -> list[Guarantee]:
    """Return promises about an answer as a whole; of parts the sums of their epsilon and rho, if all have one."""
    if not hasattr(promise, "parts"):  # a composition, whose module imports this one
        return [promise]
    by_epsilon = [] if promise.pure is None else [PureDP(promise.pure, promise.neighbors)]
    return by_epsilon + ([] if promise.rho is None else [ZCDP(promise.rho, promise.neighbors)])


def least_ball(bounds: list[arb | None]) -> arb | None:
    """Return the least of the bounds that there are."""
    least: arb | None = None
    for bound in bounds:
        if bound is not None:
            least = bound if least is None else least.min(bound)
    return least
