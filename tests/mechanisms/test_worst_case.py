"""DominatingPair cases: reached, never passed, and inverted."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import epsilon_for, worst_error
from discreet.errors import InvalidArgument, UnknownName
from discreet.mechanisms import Exponential, NoisyMax, PermuteAndFlip
from discreet.mechanisms.worst_case import _loss_chance
from discreet.sampling.enclosures import precision
from discreet.study.planning.distribution import Distribution

BOTH = ["exponential", "permute_and_flip"]

GOLDEN = {  # algorithms.md, sections 0.3 and 2.2
    "exponential": {2: ".278465", 3: ".463056", 10: "1.101003", 100: "2.628650", 1000: "4.420502",
                    10**4: "6.360183", 10**6: "10.467258"},
    "permute_and_flip": {2: ".183940", 3: ".325728", 10: ".893228", 100: "2.427934", 1000: "4.265414",
                         10**6: "10.386736"},
}  # fmt: skip


@pytest.mark.parametrize("mechanism", BOTH)
def test_golden_numbers(mechanism: str) -> None:
    for n, golden in GOLDEN[mechanism].items():
        assert (
            abs(worst_error(n, spread=1, epsilon=1, mechanism=mechanism) - Fraction(golden)) < 1e-6
        )
    assert worst_error(1, spread=1, epsilon=1, mechanism=mechanism) == 0
    assert worst_error(10**30, spread=1, epsilon=1, mechanism=mechanism) < 70


def of_gaps(gaps: Any, mechanism: str) -> Distribution:
    return discreet.distribution([-g for g in gaps], spread=1, epsilon=1, mechanism=mechanism)


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_no_scores_are_worse(mechanism: str, n: int) -> None:
    worst = worst_error(n, spread=1, epsilon=1, mechanism=mechanism)
    for gaps in product([Fraction(k, 2) for k in range(8)], repeat=n - 1):
        assert of_gaps([0, *gaps], mechanism).expected_error().lower <= worst


@given(st.lists(st.fractions(0, 12, max_denominator=100), min_size=1, max_size=9))
def test_no_scores_are_worse_than_the_worst(gaps: list[Fraction]) -> None:
    n = len(gaps) + 1
    for mechanism in BOTH:
        law = of_gaps([0, *gaps], mechanism)
        assert law.expected_error().lower <= worst_error(
            n, spread=1, epsilon=1, mechanism=mechanism
        )
        for confidence in ("1/4", "0.5", "0.9"):
            far = worst_error(n, spread=1, epsilon=1, mechanism=mechanism, confidence=confidence)
            if far > 0:
                assert law.tail(far).lower <= 1 - Fraction(confidence)


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_some_scores_are_as_bad(n: int) -> None:
    """All others tied at a gap of W + 1 for the one, at the top of t * Q(t) for the other."""
    worst = worst_error(n, spread=1, epsilon=1)
    tied = of_gaps([0, *[Fraction(float(worst) + 1)] * (n - 1)], "exponential")
    assert worst - tied.expected_error().upper < Fraction(1, 10**9)
    flips = worst_error(n, spread=1, epsilon=1, mechanism="permute_and_flip")
    near = float(worst) + 0.9
    steps = [Fraction(near + k / 200) for k in range(-200, 60)]
    reached = max(float(k) * float(_loss_chance(n, k).mid()) for k in steps)
    assert 0 <= float(flips) - reached < 1e-4
    for confidence in (Fraction(19, 20), Fraction(999, 1000)):
        for mechanism in BOTH:
            far = worst_error(n, spread=1, epsilon=1, mechanism=mechanism, confidence=confidence)
            less = far * Fraction(999_999, 10**6)
            assert of_gaps([0, *[less] * (n - 1)], mechanism).tail(less).lower > 1 - confidence


@pytest.mark.parametrize("n", [2, 5])
def test_the_loss_of_the_best_is_what_the_law_says(n: int) -> None:
    for t in (Fraction(1, 3), Fraction(2)):
        law = of_gaps([0, *[t] * (n - 1)], "permute_and_flip")
        assert law.tail(t).lower <= Fraction(float(_loss_chance(n, t).mid())) + Fraction(1, 10**14)
        assert law.tail(t).upper >= Fraction(float(_loss_chance(n, t).mid())) - Fraction(1, 10**14)


def averaged(a: float, b: float) -> float:
    return a * (1 - b) * -math.log(a or 1) + b * (1 - a) * -math.log(b or 1)


def test_averaging_two_weights_never_makes_the_error_smaller() -> None:
    """The lemma of docs/how-to/planning.md, on a lattice of weights."""
    for i, j in product(range(201), repeat=2):
        a, b = i / 200, j / 200
        w = (a + b) / 2
        assert averaged(a, b) <= averaged(w, w) + 1e-12


@pytest.mark.parametrize("n", [2, 3, 17, 10**6])
def test_the_logarithm_of_what_is_lost_is_concave(n: int) -> None:
    ts = [k / 8 for k in range(1, 200)]
    with precision(200):
        logs = [math.log(float(_loss_chance(n, Fraction(t)).mid())) for t in ts]
    for left, middle, right in zip(logs, logs[1:], logs[2:], strict=False):
        assert left + right <= 2 * middle + 1e-9


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("confidence", [None, "0.95", "0.6"])
@pytest.mark.parametrize("n", [2, 3, 1000])
def test_epsilon_for_undoes_worst_error(mechanism: str, confidence: Any, n: int) -> None:
    terms: dict[str, Any] = {"spread": "1/3", "mechanism": mechanism, "confidence": confidence}
    for wanted in (Fraction(1, 7), Fraction(5), Fraction(400)):
        epsilon = epsilon_for(wanted, n, **terms)
        assert worst_error(n, epsilon=epsilon * Fraction(10**10 + 1, 10**10), **terms) <= wanted
        assert worst_error(n, epsilon=epsilon * Fraction(10**10 - 1, 10**10), **terms) > wanted


def test_noise_that_is_the_same_is_known() -> None:
    for name, noise in (("exponential", "gumbel"), ("permute_and_flip", "exponential")):
        same = worst_error(9, spread=1, epsilon=1, mechanism=NoisyMax(noise))  # type: ignore[arg-type]
        assert same == worst_error(9, spread=1, epsilon=1, mechanism=name)
    assert worst_error(9, spread=1, epsilon=1, mechanism=PermuteAndFlip()) < 1


def test_rare_failures_are_told_apart_from_none() -> None:
    for mechanism in BOTH:
        far = worst_error(
            5, spread=1, epsilon=1, mechanism=mechanism, confidence=1 - Fraction(1, 10**40)
        )
        assert 90 < far < 95


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: worst_error(0, spread=1, epsilon=1), InvalidArgument, "candidates must be a whole"),
        (lambda: worst_error(2, spread=0, epsilon=1), InvalidArgument, "spread must be"),
        (lambda: worst_error(2, spread=1, epsilon=-1), InvalidArgument, "epsilon must be"),
        (lambda: worst_error(2, spread=1, epsilon=1, confidence=1), InvalidArgument, "below 1"),
        (lambda: worst_error(2, spread=1, epsilon=1, confidence=0), InvalidArgument, "above 0"),
        (lambda: worst_error(2, spread=1, epsilon=1, mechanism="base2"), UnknownName, "compare on sample"),
        (lambda: worst_error(2, spread=1, epsilon=1, mechanism=Exponential([1, 2])), UnknownName, "known for"),
        (lambda: epsilon_for(0, 2, spread=1), InvalidArgument, "error must be"),
        (lambda: epsilon_for(1, 2, spread=1, confidence="0.5"), InvalidArgument, "blind guess"),
        (lambda: epsilon_for(1, 1, spread=1), InvalidArgument, "blind guess"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(ask: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        ask()
