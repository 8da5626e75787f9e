"""The exponential mechanism: its expected error, and a change of one score is a logistic shift."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms import Exponential
from discreet.privacy import BoundedRange
from discreet.privacy.sensitivity import Sensitivity
from discreet.sampling.vectors import read_vector

from .test_mechanisms import MONOTONIC, calibrated, law, pmf


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6))
def test_expected_error_is_entropy_less_log_of_the_normaliser(scores: list[int]) -> None:
    eta, p = 0.5, np.array(pmf(law(Exponential(), scores)))
    gaps = max(scores) - np.array(scores)
    entropy, normaliser = -np.sum(p * np.log(p)), np.sum(np.exp(-eta * gaps))
    assert math.isclose(np.dot(p, gaps), (entropy - math.log(normaliser)) / eta, abs_tol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=2, max_size=6))
def test_the_exponential_mechanism_is_a_logistic_shift(pairs: list[tuple[int, int]]) -> None:
    """For every event, logit P'(E) <= logit P(E) + epsilon."""
    ready = calibrated(Exponential(), 1, MONOTONIC)
    p = pmf(ready.law(read_vector([s for s, _ in pairs])))
    q = pmf(ready.law(read_vector([s + step for s, step in pairs])))
    for event in product((False, True), repeat=len(pairs)):
        if any(event) and not all(event):
            inside = np.array(event)
            before = np.sum(np.array(p)[inside]) / np.sum(np.array(p)[~inside])
            after = np.sum(np.array(q)[inside]) / np.sum(np.array(q)[~inside])
            assert abs(math.log(after / before)) <= 1 + 1e-9


@pytest.mark.parametrize("spread", ["1/2", "1", "2", "3"])
@pytest.mark.parametrize("epsilon", ["1/3", "1"])
def test_weights_fall_by_epsilon_in_a_spread(spread: str, epsilon: str) -> None:
    sensitivity = Sensitivity(Fraction(spread), "add_remove")
    ready = calibrated(Exponential(), Fraction(epsilon), sensitivity)
    p = pmf(ready.law(read_vector([Fraction(spread), 0])))
    assert math.log(p[0] / p[1]) == pytest.approx(float(Fraction(epsilon)))
    assert ready.guarantee == BoundedRange(Fraction(epsilon))


def test_a_base_measure_is_that_of_the_weights_or_of_the_logarithms() -> None:
    plain, weighed = Exponential(), Exponential(base_measure=[3, 0, 1])
    by_logs = Exponential(log_base_measure=[0, -math.inf, 0.5])
    assert (plain.measure, plain.possible) == (None, None)
    for mechanism, ratio in ((weighed, 3.0), (by_logs, math.exp(-0.5))):
        assert mechanism.possible == [True, False, True]
        p = pmf(calibrated(mechanism).law(read_vector([5, 5, 5])))
        assert p[1] == 0
        assert p[0] / p[2] == pytest.approx(ratio)


def test_its_parameters_are_those_that_were_given() -> None:
    assert Exponential().parameters == {}
    assert Exponential(base_measure=[3, 0, 1]).parameters == {"base_measure": (3, 0, 1)}
    by_logs = Exponential(log_base_measure=[0, -math.inf, 0.5])
    assert by_logs.parameters == {"log_base_measure": (0, None, Fraction(1, 2))}
