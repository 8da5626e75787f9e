"""Base 2: its law in integers, rounding at random, and the best eta."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidScores
from discreet.mechanisms import Base2, Base2Eta, base2, best_eta
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.testing import bit_tree, check_mechanism, counted_work, log_ratios
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling.bits import Bits, SystemBits
from discreet.sampling.enclosures import ball, lower, precision, upper
from discreet.sampling.vectors import Vector, read_vector

from .test_mechanisms import GENERAL, calibrated, pmf


@pytest.mark.parametrize(
    "mechanism", [Base2(Base2Eta(3, 2, 1)), Base2(Base2Eta(1, 1), granularity="1/2")], ids=str
)
@pytest.mark.one_in(2)
def test_base2_with_its_own_eta_is_checked_too(mechanism: Base2) -> None:
    check_mechanism(mechanism, epsilon=None)


def exact_base2(scores: list[int], eta: Base2Eta) -> list[Fraction]:
    """Return Ilvento's law in integers only: weights x**(z k) * 2**(y z (K - k))."""
    gaps = [max(scores) - s for s in scores]
    widest = max(gaps)
    weights = [eta.x ** (eta.z * k) << (eta.y * eta.z * (widest - k)) for k in gaps]
    return [Fraction(w, sum(weights)) for w in weights]


@pytest.mark.parametrize(
    "eta", [Base2Eta(1, 1), Base2Eta(3, 2), Base2Eta(5, 3, 2), Base2Eta(1, 4, 3)]
)
@pytest.mark.parametrize(
    "scores", [[0, 1, 2], [0, 0, 0], [0, -15], [-1, -14], [7, 3, 7, 1], [0, 1000]]
)
def test_base2_is_its_integers(eta: Base2Eta, scores: list[int]) -> None:
    exact = exact_base2(scores, eta)
    ready = Base2(eta).calibrate(GENERAL, None).law(read_vector(scores))
    tree = bit_tree(ready.draw, 45)
    for i, chance in enumerate(exact):
        mass = tree.masses.get(i, Fraction(0))
        assert mass <= chance <= mass + tree.undecided
    with precision(6000):
        for probability, chance in zip(ready.probabilities(), exact, strict=True):
            assert lower(probability) <= chance <= upper(probability)


def test_base2_golden() -> None:
    assert exact_base2([0, 1, 2], Base2Eta(1, 1)) == [
        Fraction(1, 7),
        Fraction(2, 7),
        Fraction(4, 7),
    ]
    assert exact_base2([0, -15], Base2Eta(1, 1))[1] == Fraction(1, 32769)
    assert math.isclose(float(Base2Eta(1, 1).epsilon(2)), 1.3862943611198906, rel_tol=1e-15)


@pytest.mark.parametrize("scores", [[0.5, 1.25], [Fraction(1, 3), 0], [0.1, 2.0, 1.0]])
@pytest.mark.parametrize("granularity", [1, "1/2", "1/3", 2])
@pytest.mark.one_in(5)
def test_base2_rounds_at_random_without_bias(scores: list[Any], granularity: Any) -> None:
    ready = Base2(Base2Eta(1, 1), granularity).calibrate(GENERAL, None).law(read_vector(scores))
    tree = bit_tree(ready.draw, 14)
    with precision(300):
        probabilities = ready.probabilities()
    assert all(tree.admits(i, p) for i, p in enumerate(probabilities))
    # By hand: every way to round, weighted.
    unit = Fraction(granularity)
    quotients = [Fraction(s) / unit for s in scores]
    by_hand = [Fraction(0)] * len(scores)
    for ups in product((0, 1), repeat=len(scores)):
        chance = math.prod(q % 1 if up else 1 - q % 1 for q, up in zip(quotients, ups, strict=True))
        rounded = [math.floor(q) + up for q, up in zip(quotients, ups, strict=True)]
        for i, p in enumerate(exact_base2(rounded, Base2Eta(1, 1))):
            by_hand[i] += chance * p
    assert all(
        lower(p) <= exact <= upper(p) for p, exact in zip(probabilities, by_hand, strict=True)
    )


def test_rounding_keeps_its_promise_for_fractional_neighbours() -> None:
    ready = Base2(Base2Eta(1, 1)).calibrate(sensitivity_of("3/4", "add_remove"), None)
    assert float(ready.guarantee.epsilon) == pytest.approx(2 * math.log(2))  # type: ignore[attr-defined]
    shifts = [Fraction(k, 4) for k in range(-3, 4)]
    with precision(200):
        base = [Fraction(0), Fraction(3, 8), Fraction(-5, 8)]
        before = ready.law(read_vector(base))
        for change in product(shifts[::3], repeat=3):
            after = ready.law(read_vector([s + c for s, c in zip(base, change, strict=True)]))
            for ratio in log_ratios(before, after):
                assert not abs(ratio) > ball(ready.guarantee.epsilon)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "values", [[0.1, 2.0**60, -3.75], [0.1, 1e-300, -1e-300], [5.5, 1e308, -2.25], [-0.0]]
)
@pytest.mark.parametrize("granularity", [Fraction(1), Fraction(1, 4), Fraction(2), Fraction(1, 3)])
def test_splitting_is_exact(values: list[float], granularity: Fraction) -> None:
    from discreet.mechanisms.base2 import _split

    floors, parts = _split(read_vector(values), granularity)
    for value, floor, part in zip(values, floors, parts, strict=True):
        quotient = Fraction(value) / granularity
        assert Fraction(floor) == math.floor(quotient)
        assert abs(Fraction(float(part)) - quotient % 1) <= Fraction(1, 2**50)


def test_integers_at_granularity_one_are_not_rounded() -> None:
    with counted_work() as work:
        Base2(Base2Eta(1, 1)).calibrate(GENERAL, None).law(read_vector([1, 2, 3])).draw(
            SystemBits()
        )
    assert work.words == 1
    halves = Base2(Base2Eta(1, 1), "1/2").calibrate(GENERAL, None).law(read_vector([1, 2]))
    assert pmf(halves) == [0.2, 0.8]


def test_the_law_over_many_roundings_is_refused() -> None:
    ready = Base2(Base2Eta(1, 1)).calibrate(GENERAL, None).law(read_vector([0.5] * 13))
    with pytest.raises(InvalidScores, match="at most 12"):
        ready.probabilities()


@given(st.fractions(Fraction(1, 10**6), 200), st.sampled_from([1, 2, Fraction(1, 3)]))
def test_best_eta_is_below_and_close(epsilon: Fraction, spread: Any) -> None:
    eta = best_eta(epsilon, spread)
    reached = eta.epsilon(spread)
    with precision(2 * eta.y + 200):
        true = (
            spread.numerator
            * eta.z
            * (eta.y * arb(2).log() - arb(eta.x).log())
            / spread.denominator
        )
        assert true <= ball(epsilon)
        assert true <= ball(reached)
    assert reached >= epsilon * (1 - Fraction(1, 2**28))


def test_best_eta_is_best() -> None:
    """Against all x, y, z of the same length, by brute force."""
    wanted, spread, bits = Fraction(1), Fraction(1), 6
    found = best_eta(wanted, spread, bits=bits)
    length = bits + 3  # the least that a decay of 1 takes is 36/25 bits, and 1/1 has one bit
    reached = [
        z * (y * math.log(2) - math.log(x))
        for y in range(1, length + 1)
        for z in range(1, length // y + 1)
        for x in range(1, 2**y)
    ]
    best = max(epsilon for epsilon in reached if epsilon <= 1)
    assert math.isclose(found.z * (found.y * math.log(2) - math.log(found.x)), best, rel_tol=1e-12)


def test_base2_refuses_what_has_no_meaning() -> None:
    with pytest.raises(InvalidArgument, match=r"below 2\*\*y"):
        Base2Eta(2, 1)
    with pytest.raises(InvalidArgument, match="x must be a whole number"):
        Base2Eta(0, 1)
    with pytest.raises(
        InvalidArgument, match=r"eta already says how much privacy. Leave out epsilon"
    ):
        calibrated(Base2(Base2Eta(1, 1)))
    with pytest.raises(InvalidArgument, match="how much privacy"):
        Base2().calibrate(GENERAL, None)
    with pytest.raises(InvalidArgument, match="granularity must be greater than zero"):
        calibrated(Base2(granularity=0))


@pytest.mark.parametrize("granularity", [1, "1/4", "1/3", 3])
@pytest.mark.parametrize(
    "scores", [[0, 5, -7], [0.25, 1.5, -3.0], [Fraction(1, 3), 2, Fraction(-5, 7)], [2**70, 1, 0]]
)
def test_base2_gives_its_dyadic_rate_whole_gaps(scores: list[Any], granularity: Any) -> None:
    made: list[Vector] = []

    def note(vector: Vector, _: object) -> Picked:
        made.append(vector)
        return Picked()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base2, "Categorical", note)
        law = Base2(Base2Eta(3, 2), granularity).calibrate(GENERAL, None).law(read_vector(scores))
        for _ in range(20):
            law.draw(SystemBits())
    assert made
    for vector in made:
        assert all(vector.exact(i).denominator == 1 for i in range(len(vector)))


class Picked:
    """A distribution that draws nothing."""

    def draw(self, _: Bits) -> int:
        return 0


def test_an_eta_costs_what_its_weights_say() -> None:
    for eta, exact in [
        (Base2Eta(1, 1), math.log(2)),
        (Base2Eta(3, 2), math.log(4 / 3)),
        (Base2Eta(3, 2, 5), 5 * math.log(4 / 3)),
        (Base2Eta(2**60 - 1, 60), -math.log1p(-(2.0**-60))),
    ]:
        for spread in (1, 3, Fraction(1, 7)):
            found = eta.epsilon(spread)
            assert float(found) == pytest.approx(exact * spread, rel=1e-12)
            assert Fraction(exact * spread) * (1 - Fraction(1, 2**48)) <= found


def test_of_equal_etas_the_one_with_the_least_z_is_taken() -> None:
    assert best_eta("1.3863", 1, bits=1) == Base2Eta(1, 2, 1)
    assert best_eta("2.7726", 1, bits=4) == Base2Eta(1, 4, 1)


@pytest.mark.parametrize("granularity", [1, Fraction(1, 4), 3])
def test_a_scale_is_in_units_of_the_score(granularity: Any) -> None:
    """Whatever the grid: the promise is the spread of the rounded scores, divided by the scale."""
    mechanism = Base2(granularity=granularity)
    scale = PrivacyParameter("scale", Fraction(5))
    found = mechanism.calibrate(GENERAL, scale).guarantee.pure
    assert found is not None
    wanted = mechanism.spread(GENERAL) / 5
    assert wanted * (1 - Fraction(1, 2**28)) <= found <= wanted


@pytest.mark.parametrize(("y", "z"), [(2**13 + 1, 1), (1, 2**13 + 1)])
def test_an_eta_of_too_many_bits_is_refused(y: int, z: int) -> None:
    Base2Eta(1, min(y, 2**13), min(z, 2**13))
    with pytest.raises(InvalidArgument):
        Base2Eta(1, y, z)
