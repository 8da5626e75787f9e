"""The optimal composition of epsilon-DP mechanisms: many independent randomised responses.

Kairouz, Oh and Viswanath 2015. For the proof, see docs/explanation/composition.md.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from flint import arb

from ..base.numbers import nearest_double
from ..sampling.enclosures import ball, precision, probability_above

_COMPOSITION_BITS = 320
_NEGLIGIBLE = arb(2) ** -220
_MOST_LOSSES = 2**15
"""Privacy losses that are told apart; several kinds may have more, then no bound is given."""

Losses = dict[Fraction, arb]
"""From possible privacy losses to their probabilities."""


@dataclass(frozen=True, slots=True)
class Responses:
    """The privacy loss of independent randomised responses.

    Attributes:
        losses: its possible values, ascending, but for those of a total probability of `rest`.
        chances: the probability of at least that loss, by loss.
        other: the same on the neighbouring dataset.
        rest: the probability of losses that are not listed.
    """

    losses: list[Fraction]
    chances: list[arb]
    other: list[arb]
    rest: arb

    @classmethod
    def of(cls, kinds: Sequence[tuple[Fraction, int]]) -> "Responses | None":
        """Return the total loss of n responses per (epsilon, n), or None if it has too many values.

        A response of epsilon zero says nothing and has no loss.
        """
        with precision(_COMPOSITION_BITS):
            losses: Losses = {Fraction(0): arb(1)}
            rest = arb(0)
            for epsilon, n in kinds:
                if epsilon == 0:
                    continue
                window, outside = _window(epsilon, n, _MOST_LOSSES // len(losses))
                if outside is None:
                    return None
                losses = _sum(losses, window)
                rest += outside
            places = sorted(losses)
            chances = [losses[loss] for loss in places]
            other = [
                chance * (-ball(loss)).exp() for loss, chance in zip(places, chances, strict=True)
            ]
            return cls(places, _from_above(chances), _from_above(other), rest)

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return P(loss > epsilon) - e**epsilon Q(loss > epsilon), rounded up."""
        first = bisect_left(self.losses, epsilon)
        with precision(_COMPOSITION_BITS):
            total = self.rest
            if first < len(self.losses):
                total += self.chances[first] - ball(epsilon).exp() * self.other[first]
            return probability_above(total)


def _window(epsilon: Fraction, n: int, most: int) -> tuple[Losses, arb | None]:
    """Return the likely losses of n responses of that epsilon, and the probability of all others.

    That is None if more than `most` are likely, which is found out without listing them all. Of n
    responses l lie with probability C(n, l) q**l p**(n - l), q = 1 - p = 1 / (1 + e**epsilon); the loss
    then is (n - 2 l) epsilon.
    """
    e = ball(epsilon)
    odds = (-e).exp()  # q / p
    share = Fraction(1 / (1 + math.exp(min(nearest_double(epsilon), 700.0))))
    likeliest = math.floor(n * share)  # about: any start is as right
    start = _log_binomial(n, likeliest) - likeliest * e - n * odds.log1p()
    window, rest = {(n - 2 * likeliest) * epsilon: start.exp()}, arb(0)
    for step in (1, -1):
        for lies, chance, ratio in _walk(n, likeliest, step, odds, start.exp()):
            if ratio < 1 and chance < _NEGLIGIBLE:
                rest += chance / (1 - ratio)
                break
            window[(n - 2 * lies) * epsilon] = chance
            if len(window) > most:
                return window, None
    return window, rest


def _walk(n: int, start: int, step: int, odds: arb, chance: arb) -> Iterator[tuple[int, arb, arb]]:
    """Yield the numbers of lies beyond `start` with their probabilities and the ratios to those before.

    The ratios fall on the way, so beyond a number there is at most chance / (1 - ratio).
    """
    lies = start
    while 0 <= lies + step <= n:
        ratio = odds * (n - lies) / (lies + 1) if step == 1 else lies / (odds * (n - lies + 1))
        lies += step
        chance *= ratio
        yield lies, chance, ratio


def _log_binomial(n: int, k: int) -> arb:
    """Return ln C(n, k)."""
    return arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()


def _sum(some: Losses, more: Losses) -> Losses:
    """Return the distribution of the sum of two independent losses."""
    total: Losses = {}
    for loss, chance in some.items():
        for other, share in more.items():
            total[loss + other] = total.get(loss + other, arb(0)) + chance * share
    return total


def _from_above(chances: list[arb]) -> list[arb]:
    """Return the sums from every place to the end."""
    return list(accumulate(reversed(chances)))[::-1]
