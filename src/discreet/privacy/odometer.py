"""A privacy odometer: fully adaptive composition, with adaptive stopping. Proof: docs/how-to/ledger.md."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from flint import arb

from ..base.arguments import read_sequence
from ..base.error_boundary import error_boundaries
from ..base.messages import AND, OR, Message, join, plural
from ..base.numbers import Number, short_up
from ..base.text_tables import fact_table
from ..errors import InvalidArgument
from ..sampling.enclosures import ball, precision, upper
from .approx_dp import ApproxDP
from .composition import Composition, count_atoms
from .contract import Guarantee, Part, Parts, equals, read_part
from .conversions import least_epsilon, log_factor, read_delta
from .parts import total
from .sensitivity import Neighbors, Unit, plain_unit, read_neighbors, read_unit
from .several_dp import SeveralDP
from .wording import with_relation

_ODOMETER_BITS = 192

_QUARTERS = range(-32, 65)
"""The orders tried, in quarters of an octave: their excess over 1 goes from 2**-8 to 2**16."""

_CENTRE, _WIDTH = 12, 8
"""Where the weights of the orders are largest (an excess of 8), and how far from there they are half of that."""

_MOST_CURVES = 64
"""Different guarantees, the first that were charged, whose Rényi curves are added; of others the rho is.

Those in a composition count one by one, so that no release makes the odometer slow.
"""

_SHOWN = Fraction(1, 10**6)
"""The delta at which an odometer shows itself: one in a million."""

_LESS = Fraction(99, 100)
"""It does so if that is worth it: if the epsilon is so much less than the sum."""


@error_boundaries
@dataclass(frozen=True, slots=True, repr=False)
class Odometer:
    """The privacy guarantee of answers chosen adaptively, valid whenever the analyst stops.

    `Ledger.spent` returns one. An analyst who sees answers decides on the next question, its epsilon, and whether
    to continue. `compose` is for a list of guarantees that is fixed before the first answer. An odometer holds for
    the list that results.

    Args:
        neighbors: the neighbouring relation.
        parts: guarantees with the number of answers that have them, in the order they were charged.
        unit: the column of the privacy unit, if all rows of one unit are one record, or None if each
            row is one.

    Raises:
        InvalidArgument: if a part is not a guarantee with a number of answers, or holds under another relation.
    """

    neighbors: Neighbors
    parts: Parts = ()
    unit: Unit | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))
        object.__setattr__(self, "unit", read_unit(self.unit))
        counts: dict[Guarantee, int] = {}
        for part, n in map(read_part, read_sequence(self.parts, "parts")):
            counts[part] = counts.get(part, 0) + n
            if part.neighbors != self.neighbors:
                raise InvalidArgument(
                    f"an odometer under {self.neighbors} cannot count a guarantee under "
                    f"{part.neighbors}. Take .under({self.neighbors!r}) of it"
                )
        object.__setattr__(self, "parts", tuple(counts.items()))

    def after(self, guarantee: Guarantee) -> "Odometer":
        """Return the odometer after one more answer with this guarantee."""
        return replace(self, parts=(*self.parts, (guarantee, 1)))

    @property
    def answers(self) -> int:
        """The number of answers."""
        return sum(n for _, n in self.parts)

    @property
    def epsilon(self) -> Fraction | None:
        """The exact sum of all epsilons. Epsilon-DP holds at any stopping time. None if an answer has none."""
        return total((part.pure, n) for part, n in self.parts)

    @property
    def rho(self) -> Fraction | None:
        """The sum of all rhos, a running total. None if an answer has none.

        It is a guarantee only against a cap that was fixed before the first answer, such as a budget in rho. If you
        convert it to (epsilon, delta) at an adaptive stopping time, you understate the privacy loss.
        """
        return total((part.rho, n) for part, n in self.parts)

    @property
    def delta(self) -> Fraction:
        """The sum of the deltas of single answers, at most 1."""
        own = total((part.slack, n) for part, n in self.parts)
        return Fraction(1) if own is None else min(own, Fraction(1))

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP that holds at any stopping time.

        Take any analyst, neighbouring datasets, and any set E of final answers. The probability that the answers
        are in E, and that this method then returned at most (epsilon, delta), is at most exp(epsilon) times that on
        the other dataset, plus delta.

        Args:
            delta: from 0 to below 1, chosen before you see any answers. The deltas of single answers are added to
                it.

        Returns:
            The guarantee. Its epsilon never exceeds the sum of epsilons, and further answers do not lower it,
            except for rounding in the twelfth digit.

        Raises:
            InvalidArgument: if no epsilon is known, because an answer has no guarantee, or only a rho and delta is
                0.
        """
        share = read_delta(delta)
        # *The odometer*: it stays true with the smaller of U and the sum of the epsilons.
        bounds = [each for each in (self._sum(), self._mixture(share)) if each is not None]
        if not bounds:
            raise InvalidArgument(
                f"no epsilon is known at delta = {share} for {self._answers_in_words()}"
            )
        # *delta of single answers*: they come on top of the delta of the odometer.
        return ApproxDP(min(bounds), min(self.delta + share, Fraction(1)), self.neighbors)

    def if_fixed_beforehand(self) -> Composition | None:
        """Return the composition for guarantees that were all fixed before the first answer, as was their number.

        Use it only then. It does not hold if only a budget was fixed, or if the analyst could have stopped earlier
        or later. None if there were no answers.
        """
        return Composition(self.parts) if self.parts else None

    def as_dict(self) -> dict[str, object]:
        """Return the sums in plain values, exact numbers as text, ready for JSON, or null where there is none."""
        sums = {"epsilon": self.epsilon, "rho_running_total": self.rho, "delta": self.delta}
        plain = {name: None if each is None else str(each) for name, each in sums.items()}
        whom = {"neighbors": self.neighbors, "privacy_unit": plain_unit(self.unit)}
        return {"answers": self.answers, **plain, **whom}

    def in_words(self, delta: Number) -> str:
        """Return `approx(delta)` in words, with the numbers, the stopping rule and the protected people."""
        return self._whenever(_epsilon_and_delta(self.approx(delta)))

    def __str__(self) -> str:
        bounds: list[str] = []
        if self.epsilon is not None:
            bounds.append(Message("{whole} in all", whole=equals("ε", self.epsilon)))
        try:
            least = self.approx(_SHOWN)
        except InvalidArgument:
            least = None
        if least is not None and (self.epsilon is None or least.epsilon < _LESS * self.epsilon):
            bounds.append(_epsilon_and_delta(least))
        promise = self._whenever(join(OR, bounds)) if bounds else Message("no privacy guarantee")
        return Message("{answers}: {promise}", answers=self._answers_in_words(), promise=promise)

    def _repr_html_(self) -> str:
        return fact_table(
            "What was spent", {"answers": self._answers_in_words(), "guarantee": str(self)}
        ).html()

    def __repr__(self) -> str:
        return f"Odometer({self})"

    def _whenever(self, numbers: str) -> Message:
        """Return numbers with when they hold, and for which neighbours."""
        promise = Message("{numbers}, whenever one stops", numbers=numbers)
        return with_relation(promise, self.neighbors, self.unit)

    def _answers_in_words(self) -> Message:
        return plural("1 answer", "{count:,} answers", self.answers)

    def _sum(self) -> Fraction | None:
        """Return the sum of the epsilons of the cores, which hold but for the deltas of single answers."""
        return total((_pure(part), n) for part, n in self.parts)

    def _mixture(self, share: Fraction) -> Fraction | None:
        """Return the least epsilon at which the weighted sum over all orders comes to 1 / delta.

        The sum is a certified interval, so the result is no less than the number in the proof.
        """
        if share == 0 or any(part.slack == 1 for part, _ in self.parts):
            return None
        with precision(_ODOMETER_BITS):
            log_share = ball(share).log()
            orders = zip(_orders(), self._divergences(), strict=True)
            terms = [(excess, log + log_share, divergence)
                     for (excess, log), divergence in orders if divergence.is_finite()]  # fmt: skip
            if not terms:
                return None
            # *The odometer* in ledger.md: where one term alone comes to 1 / delta, so that the sum does too.
            high = min(upper(divergence - log / excess) for excess, log, divergence in terms)

        def indicator(epsilon: Fraction) -> Fraction:
            with precision(_ODOMETER_BITS):
                e = ball(epsilon)
                # *The odometer*: the sum over k of (w_k / C_k) exp(x_k (U - A_k)), times delta.
                sum_ = sum(((log + x * (e - d)).exp() for x, log, d in terms), arb(0))
                return Fraction(0) if sum_ >= 1 else Fraction(1)

        return least_epsilon(indicator, Fraction(0), max(short_up(high), Fraction(0)))

    def _divergences(self) -> list[arb]:
        """Return the sums of Rényi divergences by order, those of rare kinds bounded by rho."""
        cores = ((_in_sums(part).core, n) for part, n in self.parts)
        kinds: list[tuple[Any, int]] = list(
            count_atoms((c, n) for c, n in cores if c is not None).items()
        )
        exact, rest = kinds[:_MOST_CURVES], kinds[_MOST_CURVES:]
        exact += [(core, n) for core, n in rest if core.rho is None]
        # rho-zCDP bounds the Renyi divergence of order a by a rho, here with a = 1 + excess.
        rho = ball(_rhos(rest))
        sums = [rho * (1 + excess) for excess, _ in _orders()]
        for core, n in exact:
            sums = [sum_ + n * each for sum_, each in zip(sums, _curve(core), strict=True)]
        return sums


@cache
def _orders() -> tuple[tuple[arb, arb], ...]:
    """Return the excesses of the orders over 1, with ln(weight / C): the weights add up to 1.

    C is the largest value of (1 - exp(-y)) exp(-excess * y), which turns a loss into a delta.
    """
    shares = [Fraction(1, _WIDTH**2 + (j - _CENTRE) ** 2) for j in _QUARTERS]
    whole = sum(shares)
    orders = [(Fraction(4 + j % 4, 4) * Fraction(2) ** (j // 4), w / whole)
              for j, w in zip(_QUARTERS, shares, strict=True)]  # fmt: skip
    with precision(_ODOMETER_BITS):
        # *The odometer*: orders and weights are fixed before anything is asked.
        return tuple((ball(x), ball(w).log() - log_factor(ball(x))) for x, w in orders)


def _epsilon_and_delta(holds: ApproxDP) -> str:
    return join(AND, (equals("ε", holds.epsilon), equals("δ", holds.delta)))


def _pure(part: Guarantee) -> Fraction | None:
    """Return the epsilon of the core; 0 if there is none."""
    if part.slack == 1:
        return None
    return Fraction(0) if part.core is None else part.core.pure


def _in_sums(part: Guarantee) -> Guarantee:
    """Return a part with the counted one of several promises with a delta, which is settled before the answer.

    That is the last one if it adds up to no more than the first, so that both have the same sums; else the first.
    """
    # *Several promises* in docs/explanation/charges.md: to take the better one afterwards would use delta twice.
    if isinstance(part, Composition):
        return Composition(tuple((_in_sums(inner), n) for inner, n in part.parts))
    if not isinstance(part, SeveralDP) or not part.slack:
        return part
    first, last = _in_sums(part.promises[0]), _in_sums(part.promises[-1])
    sums = _pure(last), _pure(first)
    is_no_more = sums[0] is not None and sums[1] is not None and sums[0] <= sums[1]
    return last if is_no_more and last.slack <= first.slack else first


@lru_cache(maxsize=1024)
def _curve(core: Guarantee) -> tuple[arb, ...]:
    """Return balls with upper ends that bound the Rényi divergences by order; without a curve, epsilon.

    Where neither is known the ball is infinite, and that order says nothing.
    """
    with precision(_ODOMETER_BITS):
        rest = arb.pos_inf() if core.pure is None else ball(core.pure)
        divergences = [core.renyi(excess) for excess, _ in _orders()]
    return tuple(rest if each is None or not each.is_finite() else each for each in divergences)


def _rhos(parts: Iterable[Part]) -> Fraction:
    """Return the sum of those rhos that there are."""
    return total((core.rho, n) for core, n in parts if core.rho is not None) or Fraction(0)
