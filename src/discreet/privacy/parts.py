"""The sums of which every bound on a composition is made, in exact numbers, and which kinds they imply.

For proofs, see docs/explanation/composition.md.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from flint import arb

from ..base.numbers import count
from ..sampling.enclosures import ball, precision, probability_above
from .contract import Guarantee, Parts, extra_delta_of, order
from .epsilon_dp import CHAIN, ByEpsilon, SummedRange

_DENOMINATOR_BITS = 4096
"""Bits of a common denominator beyond which a sum is rounded up."""


def merge(parts: Parts) -> Parts:
    """Return the parts sorted, equal guarantees as one part."""
    counts: dict[Guarantee, int] = {}
    for part, n in parts:
        counts[part] = counts.get(part, 0) + count(n, "count")
    return tuple(sorted(counts.items(), key=lambda pair: order(pair[0])))


def pure_of(parts: Parts) -> Fraction | None:
    """Return the sum of all epsilons, or None if a guarantee has none."""
    # Coq: Rounds.private_composes
    return total((part.pure, n) for part, n in parts)


def rho_of(parts: Parts) -> Fraction | None:
    """Return the sum of all rhos, or None if a guarantee has none."""
    # Coq: Rho.concentrated_composes
    return total((part.rho, n) for part, n in parts)


def renyi_of(parts: Parts, excess: arb) -> arb | None:
    """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess, or None."""
    sum_ = arb(0)
    for part, n in parts:
        divergence = part.renyi(excess)
        if divergence is None:
            return None
        sum_ += n * divergence
    return sum_


def curve_of(parts: Parts) -> Callable[[arb], arb]:
    """Return `renyi_of` of parts that all have a divergence of order 2, and so of all orders."""

    def curve(excess: arb) -> arb:
        divergence = renyi_of(parts, excess)
        assert divergence is not None
        return divergence

    return curve


def slack_of(parts: Parts) -> Fraction:
    """Return 1 - prod (1 - slack)**n, rounded up, without deltas that are added."""
    loose = [(part.slack, n) for part, n in parts if part.slack > extra_delta_of(part)]
    if len(loose) == 1 and loose[0][1] == 1:
        return loose[0][0]
    if not loose or any(slack == 1 for slack, _ in loose):
        return Fraction(1) if loose else Fraction(0)
    with precision(256):
        log = sum((n * (-ball(slack)).log1p() for slack, n in loose), arb(0))
        return probability_above(-log.expm1())


def extra_delta_of_parts(parts: Parts) -> Fraction:
    """Return the sum of the deltas that are added to the guarantee of the cores, at most 1."""
    extra = total((extra_delta_of(part), n) for part, n in parts)
    return Fraction(0) if extra is None else min(extra, Fraction(1))


def total(terms: Iterable[tuple[Fraction | None, int]]) -> Fraction | None:
    """Return the sum of value * n, or None if a value is missing.

    Numerators are added denominator by denominator. If the common denominator is long, the terms are
    rounded up to a unit that is small beside the largest, so that 10**5 odd fractions stay quick.
    """
    sums: dict[int, int] = {}
    for value, n in terms:
        if value is None:
            return None
        sums[value.denominator] = sums.get(value.denominator, 0) + value.numerator * n
    common = _common_denominator(sums)
    if common is not None:
        return Fraction(sum(top * (common // bottom) for bottom, top in sums.items()), common)
    unit = _unit(sums)
    return unit * sum(math.ceil(Fraction(top, bottom) / unit) for bottom, top in sums.items())


def _common_denominator(denominators: Iterable[int]) -> int | None:
    """Return the least common multiple, or None if it is too long."""
    common = 1
    for denominator in denominators:
        common = math.lcm(common, denominator)
        if common.bit_length() > _DENOMINATOR_BITS:
            return None
    return common


def _unit(sums: dict[int, int]) -> Fraction:
    """Return a power of two, 128 bits below the largest of the terms."""
    longest = max(top.bit_length() - bottom.bit_length() for bottom, top in sums.items())
    return Fraction(2) ** (longest - 128)


RANGES = ("bounded_range", "mixed_range")
"""The kinds that the adaptive recursion serves."""

_PLACES = {kind.kind: place for place, kind in enumerate(CHAIN)}


def place(guarantee: Guarantee) -> int:
    """Return the place of the strongest kind in the chain that a guarantee implies."""
    return _PLACES.get(guarantee.kind, len(CHAIN) - 1)


def in_chain(guarantee: Guarantee) -> bool:
    """Return whether a guarantee is of a kind of one epsilon."""
    return guarantee.kind in _PLACES


def summed(parts: Parts) -> Guarantee | None:
    """Return a guarantee with the sum of all epsilons that the parts together imply, or None without a sum.

    It is of the first kind that every part implies, but of several parts at best a `SummedRange`, as
    questions may depend on the answers before it. For the proof, see docs/explanation/composition.md, "Sums".
    """
    epsilon = pure_of(parts)
    if not epsilon:
        return None
    alone = len(parts) == 1 and parts[0][1] == 1
    first = 0 if alone else CHAIN.index(SummedRange)
    # Coq: Rounds.summed_range_is_logistic, Rounds.summed_range_is_private, Outcomes.outcome_of_summed_range
    kind = CHAIN[max(first, *(place(part) for part, _ in parts))]
    return kind(epsilon, parts[0][0].neighbors)


def weaker(a: Guarantee, b: Guarantee) -> ByEpsilon | None:
    """Return the strongest kind of one epsilon that both guarantees imply, if both are in the chain."""
    if a.kind not in _PLACES or b.kind not in _PLACES or a.pure is None or b.pure is None:
        return None
    return CHAIN[max(place(a), place(b))](max(a.pure, b.pure), a.neighbors)
