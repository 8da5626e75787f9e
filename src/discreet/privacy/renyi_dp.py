"""Guarantees that a curve of Rényi divergences states. For proofs, see docs/explanation/composition.md."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Protocol, cast

from flint import arb

from ..base.error_boundary import error_boundary
from ..base.messages import Message
from ..base.numbers import Number, exact, positive, positive_up, short_up, spell
from ..errors import InvalidArgument, InvalidNumber, preview
from ..sampling.enclosures import ball, lower, precision, upper
from .approx_dp import ApproxDP
from .base import SteppedGuarantee
from .contract import Guarantee, equals
from .conversions import delta_of_curve, epsilon_of_curve, read_delta, read_epsilon
from .sensitivity import Neighbors, read_neighbors


class CurveGuarantee(Guarantee, Protocol):
    """A guarantee with a curve, and the reason that no epsilon follows from it at a delta of zero."""

    without_delta: ClassVar[str]

    def renyi(self, excess: arb) -> arb:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""


class ByCurve(SteppedGuarantee):
    """The base of `ZCDP` and `RenyiDP`: epsilon and delta follow from the curve alone.

    Attributes:
        without_delta: why no epsilon follows at a delta of zero.
    """

    __slots__ = ()
    neighbors: Neighbors
    without_delta: ClassVar[str]
    pure: ClassVar[None] = None
    slack: ClassVar[Fraction] = Fraction(0)

    def delta_at(self: CurveGuarantee, epsilon: Number) -> Fraction:
        """Return the least delta known for which (epsilon, delta)-DP follows."""
        return delta_of_curve(self.renyi, read_epsilon(epsilon))

    def approx(self: CurveGuarantee, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon known.

        Raises:
            InvalidNumber: if delta is zero.
        """
        share = read_delta(delta)
        if share == 0:
            raise InvalidNumber(f"delta must be above zero: {self.without_delta}")
        return ApproxDP(epsilon_of_curve(self.renyi, share), share, self.neighbors)

    def ceiling(self, chance: arb) -> None:
        """Return None: probabilities of single events are bounded by no closed form."""


_Curve = tuple[tuple[Fraction, Fraction], ...]
"""Orders above 1, ascending, with their divergences."""

_RENYI_BITS = 256

_NOISE = Fraction(1, 10**9)
"""How much divergences in doubles may seem to fall with the order."""

ORDERS = (
    *(1 + Fraction(k, 16) for k in range(1, 64)),
    *(Fraction(k) for k in range(5, 64)),
    *(Fraction(2**k) for k in range(6, 21)),
)
"""The orders at which a function is asked."""


@dataclass(frozen=True, slots=True)
class RenyiDP(ByCurve):
    """Bounds on the Rényi divergences of some orders, such as those of another library's mechanism.

    Between two orders, (a - 1) times the divergence is convex, so a straight line bounds it. Below the first order
    it starts at 0, and beyond the last order no bound is known.

    Args:
        curve: divergences of at least zero by orders above 1. Pass a mapping, pairs, or a function of an order,
            which is called with some 140 floats from 1.06 to 2**20 and may return infinity.
        neighbors: the neighbouring relation.

    Raises:
        InvalidArgument: if there is no order, an order is not above 1, a divergence is not a number, or divergences
            decrease with the order.
    """

    curve: Any
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "renyi_dp"
    without_delta: ClassVar[str] = "some orders do not imply epsilon-DP"
    rho: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "curve", _read_curve(self.curve))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    def renyi(self, excess: arb) -> arb:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""
        ends, lines = _hull(self.curve)
        first, last = (bisect_left(ends, end(excess)) for end in (lower, upper))
        if last == len(ends):
            return arb.pos_inf()
        products = [ball(slope) * excess + ball(start) for slope, start in lines[first : last + 1]]
        return reduce(arb.max, products) / excess

    def _apart(self, size: int, neighbors: Neighbors) -> "RenyiDP":
        """Return the one for orders up to a `size`-th of the largest."""
        curve = self.curve
        for steps in range(1, size):
            curve = _one_step_more(RenyiDP(curve), self, steps)
        return RenyiDP(curve, neighbors)

    def as_dict(self) -> dict[str, object]:
        """Return the kind, the orders and divergences as exact text, and the neighbouring relation."""
        curve = [[str(order), str(divergence)] for order, divergence in self.curve]
        return {"kind": self.kind, "curve": curve, "neighbors": self.neighbors}

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return Message("Rényi divergences of {orders} orders", orders=len(self.curve))


@error_boundary
def _read_curve(curve: object) -> _Curve:
    """Return a curve as ascending pairs of fractions, one per order.

    A float has two readings, its binary value and the decimal it prints as: of an order the smaller is
    taken, of a divergence the larger, as divergences do not fall with the order.
    """
    if callable(curve):
        curve = [(order, curve(float(order))) for order in ORDERS]
    divergences: dict[Fraction, Fraction] = {}
    for order, divergence in _pairs(curve):
        above_one = _order(order)
        if divergence != math.inf:
            zero = exact(divergence, "divergence") == 0
            number = Fraction(0) if zero else positive_up(divergence, "divergence")
            divergences[above_one] = min(divergences.get(above_one, number), number)
    if not divergences:
        raise InvalidArgument(
            "curve must have a finite Rényi divergence for one order at least. Those given have "
            "none"
        )
    points = tuple(sorted(divergences.items()))
    for (low, before), (high, after) in pairwise(points):
        if after < before * (1 - _NOISE):
            raise InvalidArgument(
                f"Rényi divergences do not fall with the order, but that of {spell(high)} is given "
                f"as {spell(after)} and that of {spell(low)} as {spell(before)}. Give the "
                "divergences themselves, not the epsilons of some delta that follow from them"
            )
    return points


def _pairs(curve: object) -> list[tuple[object, object]]:
    """Return orders and divergences as they were given."""
    pairs: list[tuple[object, object]] = []
    with suppress(Exception):  # of what is not read in pairs, or of whatever methods the object has
        items = curve.items() if isinstance(curve, Mapping) else curve
        pairs = [(a, d) for a, d in cast(Iterable[tuple[object, object]], items)]
    if not pairs:
        raise InvalidArgument(
            "curve must map orders above 1 to Rényi divergences, for example {2: 0.1, 8: 0.4}, or "
            f"be a function from an order to one, got {preview(curve)}"
        )
    return pairs


def _order(value: object) -> Fraction:
    """Return an order above 1, the smaller of the readings of a float."""
    number = exact(value, "order")
    if isinstance(value, float):
        number = min(number, Fraction(value))
    if number <= 1:
        raise InvalidNumber(f"an order must be above 1, got {preview(value)}")
    return number


@lru_cache(maxsize=256)
def _hull(curve: _Curve) -> tuple[list[Fraction], list[tuple[Fraction, Fraction]]]:
    """Return where the pieces of the lower hull end, with their slopes and values at 0.

    The points are (order - 1, (order - 1) * divergence), and (0, 0). A convex function below the points is
    below their lower hull.
    """
    hull = [(Fraction(0), Fraction(0))]
    for order, divergence in curve:
        point = (order - 1, (order - 1) * divergence)
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], point):
            hull.pop()
        hull.append(point)
    slopes = [_slope(a, b) for a, b in pairwise(hull)]
    lines = [(slope, y - slope * x) for slope, (x, y) in zip(slopes, hull, strict=False)]
    return [x for x, _ in hull[1:]], lines


def _slope(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction]) -> Fraction:
    return (b[1] - a[1]) / (b[0] - a[0])


def _one_step_more(far: RenyiDP, one: RenyiDP, m: int) -> _Curve:
    """Return the curve of m + 1 steps from those of m and of one: Hölder's inequality with p = 1 + (a - 1) / (a m).

    K(a) <= K_m(a p) / p + K_1(a (m + 1)) (1 - 1 / p), with K = (a - 1) R_a. For the proof, see
    docs/explanation/composition.md, "Groups".
    """
    steps_of_curve = []
    for a in sorted({order / (m + 1) for order, _ in one.curve if order > m + 1}):
        p = 1 + (a - 1) / (a * m)
        with precision(_RENYI_BITS):
            before, last = ball(a * p - 1), ball(a * (m + 1) - 1)
            product = far.renyi(before) * before / ball(p) + one.renyi(last) * last * ball(
                1 - 1 / p
            )
            divergence = product / ball(a - 1)
            if divergence.is_finite():
                steps_of_curve.append((a, short_up(max(upper(divergence), Fraction(0)))))
    if not steps_of_curve:
        raise InvalidArgument(
            f"orders up to {m + 1} say nothing about datasets {m + 1} steps apart. Give larger ones"
        )
    least = list(
        accumulate((d for _, d in reversed(steps_of_curve)), min)
    )  # larger orders bound smaller ones
    return tuple(zip((a for a, _ in steps_of_curve), reversed(least), strict=True))


@dataclass(frozen=True, slots=True)
class ZCDP(ByCurve):
    """rho-zCDP: the Rényi divergence of order a is at most rho * a, for every a above 1.

    Attributes:
        rho: ρ, a positive number without a unit. It is read exactly, so 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    rho: Fraction
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "zcdp"
    without_delta: ClassVar[str] = "zCDP does not imply epsilon-DP"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", positive(self.rho, "rho"))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    def renyi(self, excess: arb) -> arb:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""
        return ball(self.rho) * (1 + excess)

    def _apart(self, size: int, neighbors: Neighbors) -> "ZCDP":
        """Return `size` squared times rho."""
        return ZCDP(size**2 * self.rho, neighbors)

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return Message("{rho}, zCDP", rho=equals("ρ", self.rho))
