"""Gaussian, discrete Gaussian and replaced-sums guarantees: known values, brute force, and what composes."""

import math
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet import compose, compose_parallel
from discreet.base.numbers import root_above
from discreet.errors import InvalidArgument, InvalidNumber
from discreet.mechanisms.contract import PrivacyParameter, calibrate
from discreet.mechanisms.count_noise import choose_noise
from discreet.mechanisms.gaussian_counts import GaussianCounts
from discreet.privacy import (
    ZCDP,
    DiscreteGaussianDP,
    GaussianDP,
    LossDistribution,
    PureDP,
    ReplacedSumsDP,
)
from discreet.privacy.bounds import Bounds
from discreet.privacy.gaussian_cells import Cells, cases_of_sums, delta_of_cases, delta_of_moves
from discreet.privacy.sensitivity import ReplacedGroups, Sensitivity
from discreet.sampling.enclosures import ball, lower, precision
from discreet.sampling.gaussian import GaussianNoise

from .test_gaussian_cells import added, exact_delta, law


def normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


@given(
    st.fractions(Fraction(1, 50), 8, max_denominator=50), st.fractions(0, 12, max_denominator=20)
)
def test_the_curve_of_gaussian_noise(mu: Fraction, target: Fraction) -> None:
    """P(E) - e**s Q(E) for the event beyond where the log-ratio is s."""
    found, m, s = GaussianDP(mu).delta_at(target), float(mu), float(target)
    exact = normal(m / 2 - s / m) - math.exp(s) * normal(-m / 2 - s / m)
    assert math.isclose(found, max(exact, 0), rel_tol=1e-6, abs_tol=1e-12)
    rough = ZCDP(mu**2 / 2).delta_at(target)
    assert found <= rough


@given(st.fractions(Fraction(1, 20), 5, max_denominator=20), st.integers(1, 60))
def test_gaussian_epsilon_and_delta_are_inverse(mu: Fraction, k: int) -> None:
    delta = Fraction(1, 2**k)
    found = GaussianDP(mu).approx(delta).epsilon
    assert GaussianDP(mu).delta_at(found) <= delta
    if found:
        assert GaussianDP(mu).delta_at(found * (1 - Fraction(1, 2**20))) > delta


def test_gaussian_noise_composes_into_one() -> None:
    both = compose(GaussianDP(Fraction(3)), GaussianDP(Fraction(4)).repeated(1))
    assert both.rho == GaussianDP(Fraction(5)).rho == Fraction(25, 2)
    assert both.bounds("1e-6").winner == "single"
    assert both.approx("1e-6") == GaussianDP(Fraction(5)).approx("1e-6")
    four: Any = GaussianDP(Fraction(1, 3)).repeated(4)
    assert four.delta_at(1) == GaussianDP(Fraction(2, 3)).delta_at(1)
    two: Any = GaussianDP(Fraction(1)).repeated(2)
    exact = normal(math.sqrt(0.5) - math.sqrt(0.5)) - math.e * normal(-math.sqrt(2))
    assert math.isclose(two.delta_at(1), exact, rel_tol=1e-9)
    one = GaussianDP(Fraction(1, 2))
    assert (one.group(3).mu, one.under("replace_one").mu) == (Fraction(3, 2), Fraction(1))
    with precision(128):
        assert one.ceiling(one.ceiling(arb(0.1))).overlaps(one.group(2).ceiling(arb(0.1)))
    with pytest.raises(InvalidNumber, match="not epsilon-DP"):
        one.approx(0)


@pytest.mark.parametrize("mu", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_gaussian_losses_are_above_the_curve_and_close(mu: Fraction) -> None:
    losses = LossDistribution.gaussian(mu, mu / 64)
    for k in range(9):
        target = mu * k / 2
        exact, bound = GaussianDP(mu).delta_at(target), losses.delta(target)
        assert exact <= bound * (1 + Fraction(1, 2**60)) <= exact * Fraction(1001, 1000)
    elsewhere = losses.on(mu / 50)
    assert losses.on(losses.step) is losses
    for k in range(9):
        here, there = (bound.delta(mu * k / 2) for bound in (losses, elsewhere))
        assert here <= there <= here * Fraction(101, 100)


F = Fraction
ONE = DiscreteGaussianDP(F(573, 32))


@pytest.mark.parametrize("sigma_squared", [F(1, 4), F(1), F(10)])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_rho_is_the_mean_loss_and_holds_at_every_order(sigma_squared: Fraction, steps: int) -> None:
    promise = DiscreteGaussianDP(sigma_squared, 1, steps)
    with precision(400):
        noise = law(sigma_squared)
        losses = {j: ball((2 * j * steps + steps**2) / (2 * sigma_squared)) for j in noise}
        mean = sum((p * losses[j] for j, p in noise.items()), arb(0))
        assert abs(mean - ball(promise.rho)) < arb(10) ** -60
        for excess in ("1e-3", "0.5", "1", "4"):
            over = arb(excess)
            moment = sum((p * (over * losses[j]).exp() for j, p in noise.items()), arb(0))
            assert moment.log() / over <= promise.renyi(over) + arb(10) ** -60


def test_cells_and_steps_add_up_to_rho() -> None:
    assert DiscreteGaussianDP(F(7, 3), 4, 5).rho == F(100) / (2 * F(7, 3))
    assert str(DiscreteGaussianDP(F(4), 2, 3)) == (
        "ρ = 2.25, as discrete Gaussian noise of σ² = 4 on 2 × 3 steps (add/remove one record)"
    )


def test_it_is_neither_gaussian_noise_nor_its_own_rho() -> None:
    found = DiscreteGaussianDP(F(4)).delta_at(1)
    assert found > GaussianDP(F(1, 2)).delta_at(1) * F(105, 100)
    assert found < ZCDP(F(1, 8)).delta_at(1) / 2
    assert DiscreteGaussianDP(F(1)).delta_at("1/2") < GaussianDP(F(1)).delta_at("1/2")


@pytest.mark.parametrize("delta", ["1/10", "1e-6", "1e-12"])
def test_epsilon_and_delta_are_inverse(delta: str) -> None:
    for promise in (ONE, DiscreteGaussianDP(F(2), 3, 2), DiscreteGaussianDP(F(10**9), 5, 10**4)):
        found = promise.approx(delta).epsilon
        assert promise.delta_at(found) <= F(delta)
        assert found == 0 or promise.delta_at(found * (1 - F(1, 2**20))) > F(delta)
    with pytest.raises(InvalidNumber, match="not epsilon-DP"):
        ONE.approx(0)


def test_two_records_move_the_same_cells_twice() -> None:
    ten: Any = DiscreteGaussianDP(F(357, 2), 10)
    assert abs(ten.group(2).delta_at(1) / F("0.00476964643741") - 1) < F(1, 10**11)
    assert ten.group(2) == DiscreteGaussianDP(F(357, 2), 10, 2)
    assert ten.under("replace_one") == DiscreteGaussianDP(F(357, 2), 10, 2, "replace_one")
    assert ten.group(1) == ten.under("add_remove") == ten
    assert ten.group(3) == DiscreteGaussianDP(F(357, 2), 10, 3)
    assert ten.group(3).rho == 9 * ten.rho
    with pytest.raises(InvalidArgument, match="says nothing"):
        DiscreteGaussianDP(F(1), 1, 1, "replace_one").under("add_remove")


@pytest.mark.parametrize("sigma_squared", [F(1, 2), F(2), F(5)])
@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("size", [2, 3])
def test_a_group_covers_all_ways_in_which_its_records_move_cells(
    sigma_squared: Fraction, cells: int, size: int
) -> None:
    group = DiscreteGaussianDP(sigma_squared, cells).group(size)
    vectors = [one for one in product(range(2), repeat=2 * cells) if sum(one) <= cells]
    moved = {
        tuple(sorted(map(sum, zip(*records, strict=True)), reverse=True))
        for records in combinations_with_replacement(vectors, size)
    }
    assert (size, *(size - 1,) * (cells - 1)) in {moves[:cells] for moves in moved} or cells == 1
    reached = False
    for moves in moved:
        for epsilon in (F(0), F(1, 2), F(2), F(6)):
            least = lower(exact_delta(sigma_squared, moves, epsilon))
            assert least <= group.delta_at(epsilon)
            reached |= least > group.delta_at(epsilon) * F(10**9 - 1, 10**9)
    assert reached


@pytest.mark.parametrize("sigma_squared", [F(1, 4), F(2)])
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_the_best_tests_of_a_step_are_thresholds_of_the_sum(
    sigma_squared: Fraction, cells: int
) -> None:
    with precision(400):
        sums = reduce(added, [law(sigma_squared)] * cells)
        ratios = [sums[s] / sums[s + cells] for s in range(-9, 9)]
        assert all(one < two for one, two in pairwise(ratios))


@pytest.mark.parametrize("sigma_squared", [F(1, 2), F(4)])
def test_no_event_is_likelier_than_the_ceiling(sigma_squared: Fraction) -> None:
    promise, noise = DiscreteGaussianDP(sigma_squared, 1, 2), GaussianNoise(sigma_squared)
    with precision(128):
        for least in range(-5, 8):
            here, there = noise.above(least - 3), noise.above(least - 1)
            ceiling = promise.ceiling(there)
            assert here <= ceiling
            assert ceiling <= 1
            assert ceiling < here * 2 or ceiling == 1


@pytest.mark.parametrize(
    "promise", [ONE, DiscreteGaussianDP(F(2), 3), DiscreteGaussianDP(F(10**6), 3, 50)]
)
def test_losses_are_above_the_curve_and_close(promise: DiscreteGaussianDP) -> None:
    mu = root_above(2 * promise.rho)
    losses = promise.losses(mu / 64)
    for epsilon in (F(0), mu, 2 * mu):
        exact, bound = promise.delta_at(epsilon), losses.delta(epsilon)
        assert exact <= bound + F(1, 2**90)
        assert bound <= exact * F(1002, 1000) + F(1, 2**90)


def test_cells_compose_to_the_law_of_all_of_them() -> None:
    ten = compose([DiscreteGaussianDP(F(357, 2))] * 10)
    found: Bounds = ten.bounds(epsilon=1)
    exact = DiscreteGaussianDP(F(357, 2), 10).delta_at(1)
    assert found.winner == "single"
    assert found.least == exact
    assert exact <= found.values["combined"] <= exact * F(102, 100)
    assert ten.rho == 10 * DiscreteGaussianDP(F(357, 2)).rho
    alone = compose(ONE).bounds("1e-6")
    assert {"single", "combined"} <= set(alone.values)
    assert alone.least <= ONE.approx("1e-6").epsilon <= alone.least * F(1 + 10**9, 10**9)
    beside = compose(ONE, PureDP(F(1, 10))).bounds(epsilon=1)
    assert ONE.delta_at(1) < beside.least < ONE.delta_at(F(9, 10))


def test_handed_over_to_dp_accounting() -> None:
    dpa = pytest.importorskip("dp_accounting")
    assert compose(ONE).to_dp_event() == dpa.ZCDpEvent(float(ONE.rho))
    theirs = compose(ONE).to_dp_accounting().get_epsilon_for_delta(1e-6)
    assert theirs == pytest.approx(float(ONE.approx("1e-6").epsilon), rel=1e-3)


def test_beside_another_it_is_its_rho() -> None:
    found = compose_parallel(ONE, DiscreteGaussianDP(F(4)))
    assert found == ZCDP(F(1, 8))
    assert compose_parallel(ONE, ONE) == ONE


def sums_at(sigma_squared: Fraction, common: int = 0) -> ReplacedSumsDP:
    return ReplacedSumsDP(sigma_squared, 2, common, 2, 3)


def test_the_worst_number_of_common_groups_is_neither_none_nor_all() -> None:
    """The referee's numbers: of 0, 1 and 2 common groups the one in the middle has the largest delta."""
    cases = cases_of_sums(F(1), 2, 0, 2, 3)
    found = [delta_of_moves(moves, F(9)) for moves in cases]
    for delta, value in zip(
        found, ("0.329019771981", "0.365181080809", "0.347740179722"), strict=True
    ):
        assert abs(delta / F(value) - 1) < F(1, 10**11)
    assert sums_at(F(1)).delta_at(9) == found[1] == delta_of_cases(cases, F(9))
    ends = [delta_of_moves(moves, F(36)) for moves in cases_of_sums(F(1, 2), 2, 0, 2, 3)]
    assert ends[1] > 3 * max(ends[0], ends[2])
    assert sums_at(F(1), 1).delta_at(9) == found[1]
    assert sums_at(F(1), 2).delta_at(9) == found[2]


def test_rho_of_replaced_sums_is_that_of_the_worse_end() -> None:
    assert sums_at(F(1)).rho == F(18, 2)
    assert ReplacedSumsDP(F(1), 2, 0, 3, 4).rho == F(36, 2)
    assert ReplacedSumsDP(F(1), 2, 1, 3, 4).rho == F(16 + 18, 2)


def test_farther_off_rho_grows_by_the_square_of_the_steps() -> None:
    near = sums_at(F(1))
    assert near.group(1) == near
    assert near.group(2) == ZCDP(F(36), "replace_one")
    assert near.group(3) == ZCDP(F(81), "replace_one")


def test_many_cases_are_taken_together_and_none_is_lost() -> None:
    every = cases_of_sums(F(1), 64 * 3, 0, 2, 3)
    assert len(every) == 49
    assert every[0] == (Cells(F(1), 3, 3), Cells(F(1), 2 * 192, 2))
    exact = [moves for t in range(65) for moves in cases_of_sums(F(400), 64, t, 2, 3)[:1]]
    few = cases_of_sums(F(400), 64, 0, 2, 3)
    assert len(few) == 33
    assert max(delta_of_moves(moves, F(2)) for moves in exact) <= delta_of_cases(few, F(2))


@pytest.mark.parametrize("epsilon", [F(1, 2), F(1), F(20)])
@pytest.mark.parametrize(("steps", "moved"), [(2, 3), (100_000, 140_001)])
def test_the_noise_of_replaced_sums_is_enough_and_hardly_more(
    epsilon: Fraction, steps: int, moved: int
) -> None:
    spread = F(2 * 3 * steps)
    sensitivity = Sensitivity(spread, "replace_one", replacement=ReplacedGroups(3, 0, steps, moved))
    parameter = PrivacyParameter("epsilon", epsilon)
    promise: Any = calibrate(GaussianCounts(delta=F(1, 10**6)), sensitivity, parameter).guarantee
    assert promise == ReplacedSumsDP(promise.sigma_squared, 3, 0, steps, moved)
    assert promise.delta_at(epsilon) <= F(1, 10**6)
    less = ReplacedSumsDP(promise.sigma_squared * F(2047, 2048), 3, 0, steps, moved)
    assert less.delta_at(epsilon) > F(1, 10**6)
    assert "replacement" in sensitivity.as_dict()
    with_rho = choose_noise(sensitivity, PrivacyParameter("rho", F(1, 50)), None, 9)
    assert with_rho == GaussianCounts()
