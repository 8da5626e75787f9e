"""Sums of bounded ranges and logistic noise: what is proved of them, attacked."""

import math
import random
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest
from flint import arb

import discreet
from discreet import compose, compose_parallel
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.testing import _keeps
from discreet.privacy import (
    ApproxDP,
    BoundedRange,
    LaplaceDP,
    LogisticDP,
    MixedRange,
    PureDP,
    SummedRange,
)
from discreet.privacy.dominating import LAPLACE, LOGISTIC, RANGE, RESPONSE, of_logistic
from discreet.privacy.epsilon_dp import CHAIN
from discreet.privacy.pld import LossDistribution
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling.enclosures import ball, precision, upper
from discreet.sampling.vectors import read_vector

ADD: Any = "add_remove"
Pair = list[tuple[arb, arb]]


@pytest.mark.parametrize(
    ("epsilon", "rho"),
    [(".01", 4.99997e-5), (".1", 0.00499722), (".5", 0.123302), ("1", 0.474475)],
)
def test_two_parts_under_replacement_cost_what_a_range_of_twice_epsilon_does(
    epsilon: str, rho: float
) -> None:
    part = BoundedRange(Fraction(epsilon))
    found: Any = compose_parallel(part, part).under("replace_one")
    assert found == SummedRange(2 * Fraction(epsilon), "replace_one")
    assert found.rho == BoundedRange(2 * Fraction(epsilon)).rho
    assert math.isclose(found.rho, rho, rel_tol=5e-6)
    assert found.rho < LaplaceDP(2 * Fraction(epsilon)).rho / 2.3


def test_peeling_and_base2_under_replacement() -> None:
    scores = dict.fromkeys("abcdefgh", 3)
    five = discreet.select_top_k(scores, k=5, sensitivity=1, monotonic=True, epsilon=1).guarantee
    assert math.isclose(five.under("replace_one").rho or 0, 0.0997786, rel_tol=1e-6)
    quarter = discreet.select([1, 2], sensitivity=1, epsilon="1/4", mechanism="base2").guarantee
    assert math.isclose(quarter.under("replace_one").rho or 0, 0.0311421, rel_tol=1e-6)
    ledger = discreet.Ledger()
    ledger.open("d", rho=1, neighbors="replace_one")
    session = ledger.session("d")
    session.select([1, 2], sensitivity=1, epsilon="1/4", mechanism="base2")
    (budget,) = ledger.budgets()
    assert math.isclose(budget.spent.rho or 0, 0.0311421, rel_tol=1e-6)


def range_pair(epsilon: Fraction, rng: random.Random) -> Pair:
    """Return the probabilities of up to three answers whose log-ratios lie within epsilon of one another."""
    places = [Fraction(0), Fraction(1), Fraction(rng.randint(0, 8), 8)][: rng.choice([2, 2, 3])]
    q = [arb(rng.randint(1, 9) ** rng.choice([1, 3])) for _ in places]
    p = [w * ball(place * epsilon).exp() for w, place in zip(q, places, strict=True)]
    return [(x / sum(p, arb(0)), y / sum(q, arb(0))) for x, y in zip(p, q, strict=True)]


def sequence(epsilon: Fraction, depth: int, rng: random.Random) -> Pair:
    """Return adaptive answers whose ranges add up to epsilon, shared out anew after each answer."""
    share = epsilon if depth == 1 else epsilon * Fraction(rng.randint(1, 7), 8)
    rest = epsilon - share
    found: Pair = []
    for p, q in range_pair(share, rng):
        later = sequence(rest, rng.randint(1, depth - 1), rng) if rest else [(arb(1), arb(1))]
        found += [(p * x, q * y) for x, y in later]
    return found


def hockey(pair: Pair, target: Fraction) -> arb:
    terms = [p - ball(target).exp() * q for p, q in pair]
    return sum((term for term in terms if term > 0), arb(0))


def renyi(pair: Pair, a: arb) -> arb:
    return sum((p**a * q ** (1 - a) for p, q in pair), arb(0)).log() / (a - 1)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4), Fraction(12)])
def test_no_sequence_of_ranges_is_beyond_their_sum(epsilon: Fraction) -> None:
    """The best of 60 random analysts comes close to the range, and stays below it."""
    rng, nearest = random.Random(5), 0.0
    promise = SummedRange(epsilon)
    with precision(128):
        for _ in range(60):
            pair = sequence(epsilon, rng.randint(1, 3), rng)
            pair.sort(key=lambda pq: float(pq[0] / pq[1]))
            for k in range(1, len(pair)):  # the best events are those of the largest ratios
                p, q = (sum((one[side] for one in pair[k:]), arb(0)) for side in (0, 1))
                assert not p > promise.ceiling(q) + arb(2) ** -100
                assert not 1 - q > promise.ceiling(1 - p) + arb(2) ** -100
            for order in (1.01, 2, 30):
                assert not renyi(pair, arb(order)) > promise.renyi(arb(order) - 1) + arb(2) ** -80
            for target in (Fraction(0), epsilon / 3):
                assert not hockey(pair, target) > ball(promise.delta_at(target))
            nearest = max(nearest, float(renyi(pair, arb(2)) / promise.renyi(arb(1))))
    assert nearest > 0.6


def test_two_steps_are_more_than_one_range() -> None:
    """Two answers, the second chosen by the first, have log-ratios further apart: no bounded range of the sum."""
    with precision(128):
        e, half = Fraction(1), ball(Fraction(1, 2))
        low = half.exp() / (1 + half.exp())
        up, down = [(low, 1 - low), (1 - low, low)], [(1 - low, low), (low, 1 - low)]
        skew = [(arb(0.9), arb(0.9) * (1 / (arb(0.9) + arb(0.1) * (-ball(e)).exp())))]
        skew = [*skew, (arb(0.1), 1 - skew[0][1])]
        pair = [
            (p * x, q * y) for (p, q), later in zip(up, (skew, down), strict=True) for x, y in later
        ]
        ratios = [float((p / q).log()) for p, q in pair]
        assert max(ratios) - min(ratios) > 2.05  # two ranges of 1
        assert _keeps(SummedRange(2 * e), *map(list, zip(*pair, strict=True)))


def test_parts_that_ask_each_other() -> None:
    """A table in two parts, the question about the second chosen by the answer about the first: all neighbours."""
    epsilon = Fraction(1)
    sensitivity = sensitivity_of(1, ADD, monotonic=True)
    calibrated = Exponential().calibrate(sensitivity, PrivacyParameter("epsilon", epsilon))
    promise: Any = compose_parallel(calibrated.guarantee, calibrated.guarantee).under("replace_one")
    kinds = list(product((0, 1), repeat=2))  # the part and the value of a record

    def law(rows: Any) -> list[arb]:
        counts = [[rows.count((part, value)) for value in (0, 1)] for part in (0, 1)]
        first = calibrated.law(read_vector(counts[0])).probabilities()
        asked = [counts[1], [counts[1][0], 40, counts[1][1]]]  # the other candidate is never near
        return [
            p * q
            for p, scores in zip(first, asked, strict=True)
            for q in calibrated.law(read_vector(scores)).probabilities()
        ]

    widest = 0.0
    with precision(128):
        laws = {rows: law(rows) for rows in product(kinds, repeat=2)}
        for rows, other in product(laws, repeat=2):
            if sum(a != b for a, b in zip(rows, other, strict=True)) == 1:
                assert _keeps(promise, laws[rows], laws[other])
                ratios = [
                    float((p / q).log()) for p, q in zip(laws[rows], laws[other], strict=True)
                ]
                widest = max(widest, max(ratios) - min(ratios))
    assert widest > 1.5


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(2), Fraction(4)])
def test_logistic_noise_is_on_the_edge_of_its_promise(epsilon: Fraction) -> None:
    """The law of the noise cut into 400 cells: below every bound, and close to it."""
    promise, n = LogisticDP(epsilon), 400
    with precision(128):
        shifted = [promise.ceiling(arb(k) / n) for k in range(n + 1)]
        pair = [(b - a, arb(1) / n) for a, b in pairwise(shifted)]
        for target in (Fraction(0), epsilon / 2):
            near = hockey(pair, target)
            assert not near > ball(promise.delta_at(target))
            assert near > ball(promise.delta_at(target)) * arb(0.99)
        for order in (1.1, 2, 5):
            near, bound = renyi(pair, arb(order)), promise.renyi(arb(order) - 1)
            assert not near > bound
            assert near > bound * arb(0.97)
        assert not sum((p * (p / q).log() for p, q in pair), arb(0)) > ball(promise.rho)
        twice: Any = promise.group(2)
        assert promise.ceiling(promise.ceiling(arb(0.1))).overlaps(twice.ceiling(arb(0.1)))
        # Its rho is not that of a range: noise does not keep to a bounded range of epsilon.
        assert promise.rho > MixedRange(epsilon).rho
        assert upper(of_logistic(ball(epsilon), arb(2) ** -20)) <= promise.rho * (
            1 + Fraction(1, 2**19)
        )


def test_what_mixed_ranges_compose_into() -> None:
    three: Any = MixedRange("1/3").repeated(3)  # type: ignore[arg-type]
    assert three.summed == SummedRange(Fraction(1))
    assert compose(three, LogisticDP(Fraction(1))).summed == LogisticDP(Fraction(2))
    assert compose(three, LaplaceDP(Fraction(1))).summed == LaplaceDP(Fraction(2))
    assert compose(three, PureDP(Fraction(1))).summed == PureDP(Fraction(2))
    assert compose(discreet.privacy.ZCDP(Fraction(1))).summed is None
    assert compose(BoundedRange(Fraction(1))).summed == BoundedRange(Fraction(1))
    with precision(64):
        assert three.ceiling(arb(0.3)) < PureDP(Fraction(1)).ceiling(arb(0.3))
    for target in ("0", "1/2"):
        assert three.delta_at(target) <= three.summed.delta_at(target)


@pytest.mark.parametrize("kind", [SummedRange, LogisticDP])
def test_their_losses_are_convolved(kind: Any) -> None:
    many: Any = kind(Fraction(1, 10)).repeated(50)
    found = many.bounds(epsilon="1/2").values
    assert set(found) == {"basic", "kov", "zcdp", "renyi", "logistic"}
    losses = LossDistribution.logistic("1/10", Fraction(1, 2**10)).composed(50)
    assert math.isclose(found["logistic"], losses.delta("1/2"), rel_tol=1e-3)
    assert found["renyi"] < found["kov"]


@pytest.mark.parametrize("kind", CHAIN)
def test_every_kind_has_the_dominating_pair_that_it_names(kind: Any) -> None:
    guarantee = kind(Fraction(1))
    pair = {PureDP: RESPONSE, LaplaceDP: LAPLACE, LogisticDP: LOGISTIC}.get(kind, RANGE)
    assert guarantee.worst is pair
    assert guarantee.rho == pair.rho(Fraction(1))
    approximate = guarantee.approx("1e-6")
    assert type(approximate) is ApproxDP
    assert approximate.epsilon == pair.target(Fraction(1), Fraction(1, 10**6)) < 1
    assert guarantee.delta_at(approximate.epsilon) <= Fraction(1, 10**6)
