"""A base measure multiplies the weights, exactly, and costs nothing."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidArgument, InvalidScores
from discreet.mechanisms.base_measure import (
    MeasuredWeights,
    WeightMeasure,
    read_base_measure,
    read_log_base_measure,
    weigh,
)
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.testing import ScriptedBits, bit_tree, log_ratios
from discreet.privacy.sensitivity import Sensitivity
from discreet.sampling.bits import LazyUniform
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import DyadicRate, NaturalRate, Rate, ball, precision
from discreet.sampling.vectors import read_vector

HALF = NaturalRate(Fraction(1, 2))
ONE_BIT = DyadicRate(1, 1, 1)


def law(scores: Any, measure: Any, rate: Rate = HALF) -> Any:
    return weigh(read_vector(scores), rate, WeightMeasure(read_base_measure(measure)))


def test_golden_weights_are_rational_in_base_2() -> None:
    tree = bit_tree(law([0, 1, 2], [4, 2, 1], ONE_BIT).draw, 30)  # weights 4/4, 2/2, 1/1
    for i in range(3):
        assert tree.masses[i] <= Fraction(1, 3) <= tree.masses[i] + tree.undecided
    assert tree.undecided < Fraction(1, 2**25)


@pytest.mark.parametrize(
    ("scores", "measure"),
    [
        ([0, 1, 2], [1, 1, 1]),
        ([0, 0], ["1/3", 0.1]),
        ([5], [7]),
        ([0, 300], ["1e65", 1]),
        ([0.0, 1e300], [1, "1e-300"]),
        ([Fraction(1, 3), 2, 2], [10**400, 1, Fraction(1, 10**400)]),
        ([0, 10**400], [3, 2]),
    ],
)
@pytest.mark.parametrize(
    "rate", [HALF, NaturalRate(Fraction(1, 10**300)), NaturalRate(Fraction(9))]
)
def test_every_bit_string_is_accounted_for(scores: Any, measure: Any, rate: Rate) -> None:
    drawn_from = law(scores, measure, rate)
    tree = bit_tree(drawn_from.draw, 14)
    with precision(4000):
        for i, probability in enumerate(drawn_from.probabilities()):
            assert tree.admits(i, probability), (i, tree, probability)


@given(
    st.lists(
        st.tuples(st.integers(-50, 50), st.integers(-300, 300), st.integers(1, 10**6)),
        min_size=1,
        max_size=8,
    ),
    st.fractions(Fraction(1, 50), 50),
)
def test_fast_sums_are_as_near_as_they_say(rows: list[tuple[int, int, int]], eta: Fraction) -> None:
    vector = read_vector([score for score, _, _ in rows])
    measure = tuple(Fraction(m) * Fraction(2) ** k for _, k, m in rows)
    weights = MeasuredWeights(vector, NaturalRate(eta), WeightMeasure(measure))
    sums = weights.sums()
    assert sums is not None
    assert sums.error < 2.0**-38
    with precision(1500):
        balls = list(weights.balls())
        total = sum(balls, ball(Fraction(0)))
        for i, end in enumerate(sums.ends.tolist()):
            share = sum(balls[: i + 1], ball(Fraction(0))) / total
            distance = abs(ball(Fraction(end) / Fraction(float(sums.ends[-1]))) - share)
            assert distance < 2 * sums.error


def test_weights_beyond_doubles_go_to_balls() -> None:
    huge = Fraction(2) ** (2**20 + 5)
    weights = MeasuredWeights(read_vector([0, 0]), HALF, WeightMeasure((huge, Fraction(1))))
    assert weights.sums() is None
    large = Fraction(2) ** 13_000  # the longest weights that are read have 4,200 digits
    assert law([0, 0], [large, 1]).draw(ScriptedBits("0110" * 16, width=64)) == 0
    assert (
        law([0, 1], [1, 2], NaturalRate(Fraction(10**290) ** 4)).draw(ScriptedBits("1" * 64)) == 1
    )


def test_words_beside_a_boundary_fall_on_the_right_side() -> None:
    drawn_from = law([0, 3, 1], ["1/3", "1/7", 2])
    with precision(600):
        first = drawn_from.probabilities()[0]
        word = int((first * 2**64).floor().unique_fmpz())
    for k, expected in ((word - 1, 0), (word + 1, 1)):
        assert (
            drawn_from.settle(LazyUniform.of_word(k, ScriptedBits("0" * 640, width=64))) == expected
        )


def test_a_batch_follows_the_same_law() -> None:
    words = [0, 100, 190, 193, 255]  # the boundary is at 192 of 256
    bits = ScriptedBits("".join(f"{word:08b}" for word in words), width=8)
    assert law([0, 0], [3, 1]).draws(5, bits).tolist() == [0, 0, 0, 1, 1]


def test_it_costs_nothing() -> None:
    """The range of the log-ratios is that without a base measure, for all neighbours over 0..2."""
    for scores in product(range(3), repeat=3):
        for step in product((-1, 0, 1), repeat=3):
            other = [s + d for s, d in zip(scores, step, strict=True)]
            with precision(200):
                pair = (law(s, ["1/3", 5, "1e-9"]) for s in (scores, other))
                ratios = log_ratios(*pair)
                assert not max(map(float, ratios)) - min(map(float, ratios)) > 1 + 1e-12


@pytest.mark.parametrize(
    "measure", [[], [0], [-1, 1], [float("nan")], ["x"], 3, "12", {1: 2}, {1, 2}, [True]]
)
def test_what_is_no_measure_is_refused(measure: Any) -> None:
    with pytest.raises(InvalidArgument):
        discreet.mechanisms.Exponential(base_measure=measure)


def test_the_mechanism_takes_a_base_measure() -> None:
    release = discreet.select(
        {"tea": 0, "coffee": 0},
        sensitivity=1,
        epsilon=1,
        mechanism=discreet.mechanisms.Exponential(base_measure=[1, 10**30]),
    )
    assert release.value == "coffee"
    assert release.guarantee == discreet.privacy.BoundedRange(Fraction(1), "add_remove")
    with pytest.raises(InvalidArgument, match="2 weights, but there are 3"):
        discreet.select(
            [0, 1, 2],
            sensitivity=1,
            epsilon=1,
            mechanism=discreet.mechanisms.Exponential(base_measure=[1, 2]),
        )
    with pytest.raises(InvalidScores, match="NaN"):
        law([0.0, float("nan")], [1, 1])
    assert not discreet.mechanisms.Exponential(base_measure=[1]).takes_runs
    assert discreet.mechanisms.Exponential(
        base_measure=[1, "1/2"]
    ) == discreet.mechanisms.Exponential(base_measure=(1, 0.5))


def test_a_base_measure_unbalances_balanced_scores() -> None:
    """Their normaliser is the same for all databases only without it, so the spread is paid for."""
    balanced = Sensitivity(Fraction(2), "replace_one", Fraction(1), balanced=True)
    parameter = PrivacyParameter("epsilon", Fraction(1))
    assert isinstance(
        discreet.mechanisms.Exponential().calibrate(balanced, parameter).guarantee,
        discreet.privacy.PureDP,
    )
    calibrated = discreet.mechanisms.Exponential(base_measure=[1, 3]).calibrate(balanced, parameter)
    assert calibrated.guarantee == discreet.privacy.BoundedRange(Fraction(1), "replace_one")
    with precision(200):
        p, q = calibrated.law(read_vector([0, 1])).probabilities()
        assert (q / p).overlaps(3 * ball(Fraction(1, 2)).exp())


# --- logarithms, and weights of zero

INF = float("inf")


def log_law(scores: Any, logs: Any, rate: Rate = HALF) -> Any:
    return weigh(read_vector(scores), rate, read_log_base_measure(logs))


@pytest.mark.parametrize(
    ("scores", "logs"),
    [
        ([0, 1, 2], [0, 0, 0]),
        ([0, 1, 2], [0.5, -3.25, Fraction(1, 3)]),
        ([0, 1], [-INF, 2]),
        ([0, 300, 7], [150.0, 0.0, -INF]),
        ([0.0, 2e30], [1e30, 0.0]),
        ([0, 0, 3], [10**400, 0, 10**400]),
    ],
)
@pytest.mark.parametrize("rate", [HALF, NaturalRate(Fraction(1, 10**300))])
def test_every_bit_string_is_accounted_for_with_logarithms(
    scores: Any, logs: Any, rate: Any
) -> None:
    """Against the exponential mechanism itself: a logarithm counts as much as a score of log / eta."""
    possible = [i for i, one in enumerate(logs) if one != -INF]
    shifted = [Fraction(scores[i]) + Fraction(logs[i]) / rate.eta for i in possible]
    tree = bit_tree(log_law(scores, logs, rate).draw, 14)
    with precision(8000):
        exact = Categorical(read_vector(shifted), rate).probabilities()
        mine = log_law(scores, logs, rate).probabilities()
        assert len(mine) == len(scores)
        assert set(tree.masses) <= set(possible)
        for i, probability in zip(possible, exact, strict=True):
            assert tree.admits(i, probability), (i, tree, probability)
            assert mine[i].overlaps(probability)
        assert all(mine[i] == 0 for i in range(len(scores)) if i not in possible)


@given(
    st.lists(
        st.tuples(st.integers(-50, 50), st.floats(-3000, 3000, width=32)), min_size=1, max_size=8
    ),
    st.fractions(Fraction(1, 50), 50),
)
@example([(-50, 2500.0), (50, -2500.0), (0, 0.1)], Fraction(50))
def test_fast_sums_of_logarithms_are_as_near_as_they_say(
    rows: list[tuple[int, float]], eta: Fraction
) -> None:
    vector = read_vector([score for score, _ in rows])
    logs = read_log_base_measure([log for _, log in rows])
    weights = MeasuredWeights(vector, NaturalRate(eta), logs)
    sums = weights.sums()
    assert sums is not None
    assert sums.error < 2.0**-35
    with precision(1500):
        balls = list(weights.balls())
        total = sum(balls, ball(Fraction(0)))
        for i, end in enumerate(sums.ends.tolist()):
            share = sum(balls[: i + 1], ball(Fraction(0))) / total
            distance = abs(ball(Fraction(end) / Fraction(float(sums.ends[-1]))) - share)
            assert distance < 2 * sums.error


def test_logarithms_beyond_doubles_go_to_balls() -> None:
    vector, far = read_vector([0, 0]), read_log_base_measure([0.0, 2.0**21])
    assert MeasuredWeights(vector, HALF, far).sums() is None
    assert log_law([0, 0], [0.0, 1e308]).draw(ScriptedBits("0110" * 16, width=64)) == 1


def test_weights_of_zero_are_never_answered() -> None:
    zeros = law([0, 99, 1], [1, 0, 2])
    logged = log_law([0.0, float("nan"), 1.0], [0.0, -INF, 0.0])
    for drawn_from in (zeros, logged):
        tree = bit_tree(drawn_from.draw, 12)
        assert set(tree.masses) == {0, 2}
        words = ScriptedBits("01" * 32, width=8)
        assert set(drawn_from.draws(8, words).tolist()) <= {0, 2}
    pmf = discreet.distribution(
        [0, 0, 0],
        sensitivity=1,
        epsilon=1,
        mechanism=discreet.mechanisms.Exponential(base_measure=[1, 0, 3]),
    ).pmf()
    assert list(pmf.values()) == [0.25, 0, 0.75]


def test_logarithms_are_read_exactly_and_compared_by_value() -> None:
    one = discreet.mechanisms.Exponential(
        log_base_measure=np.array([0.1, -np.inf], dtype=np.float32)
    )
    assert one.parameters == {"log_base_measure": (Fraction(float(np.float32(0.1))), None)}
    same = discreet.mechanisms.Exponential(
        log_base_measure=[Fraction(float(np.float32(0.1))), -INF]
    )
    assert one == same
    assert hash(one) == hash(same)
    assert one != discreet.mechanisms.Exponential(log_base_measure=[0.1, -INF])
    assert discreet.mechanisms.Exponential(log_base_measure=one.log_base_measure) == one
    assert not one.takes_runs
    assert one.worst_case is None
    release = discreet.select([0, 0], sensitivity=1, epsilon=1, mechanism=one)
    assert release.value == 0
    assert release.guarantee == discreet.privacy.BoundedRange(Fraction(1))
    with pytest.raises(InvalidArgument, match="2 numbers, but there are 3"):
        discreet.select([0, 0, 1], sensitivity=1, epsilon=1, mechanism=one)


@pytest.mark.parametrize(
    "logs", [[], [-INF], [float("nan")], [INF, 0], ["x"], 3, "12", {1: 2}, [True], [[0, 1]], [None]]
)
def test_what_are_no_logarithms_is_refused(logs: Any) -> None:
    with pytest.raises(InvalidArgument, match="log_base_measure must be"):
        discreet.mechanisms.Exponential(log_base_measure=logs)
    with pytest.raises(InvalidArgument, match="not both"):
        discreet.mechanisms.Exponential(base_measure=[1], log_base_measure=[0])
