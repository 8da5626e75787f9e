"""The guarantee of discrete Gaussian noise: its rho, groups of records, compositions, and what it is not."""

from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import pytest
from flint import arb

from discreet import compose, compose_parallel
from discreet.base.numbers import root_above
from discreet.errors import InvalidArgument, InvalidNumber
from discreet.privacy import ZCDP, DiscreteGaussianDP, GaussianDP, PureDP
from discreet.privacy.bounds import Bounds
from discreet.sampling.enclosures import ball, lower, precision
from discreet.sampling.gaussian import GaussianNoise

from .test_gaussian_cells import added, exact_delta, law

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
