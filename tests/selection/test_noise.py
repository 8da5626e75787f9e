"""Verbs that add noise."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb

import discreet
from discreet.errors import InvalidArgument, InvalidCandidates, InvalidNumber, InvalidScores
from discreet.mechanisms import Base2
from discreet.mechanisms.base2 import Base2Eta
from discreet.privacy.guarantees import BoundedRange, MixedRange, PureDP
from discreet.sampling.enclosures import ball, precision
from discreet.selection.noise import geometric, laplace
from tests.selection.scores.test_distance import SECRET


def test_the_verbs() -> None:
    release = geometric(42, sensitivity=1, epsilon=99)
    assert (release.value, release.guarantee) == (42, PureDP(Fraction(99), "add_remove"))
    assert geometric(Fraction(83, 2), sensitivity="1/2", epsilon=99).value == 42
    noisy = laplace(np.float64(1.234), sensitivity=1, step="0.01", epsilon=9999, size=2)
    assert noisy.value == [Decimal("1.23")] * 2
    assert noisy.guarantee == PureDP(Fraction(9999), "add_remove").repeated(2)
    cut = laplace(7, sensitivity=1, lo=0, hi=5, scale="1/99", neighbors="replace_one")
    assert (cut.value, cut.guarantee) == (5, BoundedRange(Fraction(198), "replace_one"))
    four = PureDP(Fraction(4), "add_remove")
    assert laplace(3, sensitivity=2, rho=four.rho, epsilon=None).guarantee == four
    assert laplace(1, sensitivity=1, scale=2).guarantee == PureDP(Fraction(1, 2), "add_remove")
    assert laplace(1, sensitivity=1, step="1/2", scale=2).guarantee.as_dict()["epsilon"] == "1/2"


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "271828", None, [SECRET], True, Decimal("NaN"), 1j]
)
def test_what_is_no_number_is_refused_unseen(value: Any) -> None:
    for lo, hi in ((None, None), (0, 5)):
        with pytest.raises(InvalidScores, match="one finite number") as caught:
            laplace(value, sensitivity=1, lo=lo, hi=hi, epsilon=1)
        assert str(SECRET) not in str(caught.value)
        assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (InvalidNumber, {"sensitivity": 0}),
        (InvalidNumber, {"step": 0}),
        (InvalidNumber, {"epsilon": -1}),
        (InvalidArgument, {"lo": 0}),
        (InvalidArgument, {"hi": 0}),
        (InvalidArgument, {"mechanism": "noisy_max"}),
        (InvalidCandidates, {"lo": 0, "hi": 1, "step": "0.3"}),
    ],
)
def test_what_is_public_is_checked_first(error: type[Exception], arguments: dict[str, Any]) -> None:
    with pytest.raises(error):
        laplace(object(), **{"sensitivity": 1, "epsilon": 1, **arguments})


ONE_ETA = Base2(Base2Eta(1, 1))


@pytest.mark.parametrize("value", [-3, 0, 2])
def test_laplace_in_base_two_on_a_grid(value: int) -> None:
    """Ilvento's example: weights 2**-|r - value| on [-3, 3], as fractions."""
    law = discreet.distribution(laplace, value, sensitivity=1, lo=-3, hi=3, mechanism=ONE_ETA)
    weights = {r: Fraction(1, 2 ** abs(r - value)) for r in range(-3, 4)}
    total = sum(weights.values())
    for r, weight in weights.items():
        assert law.probability(r).lower <= weight / total <= law.probability(r).upper
    guarantee: Any = law.guarantee
    assert guarantee == MixedRange(guarantee.epsilon)
    assert 2 * math.log(2) <= guarantee.epsilon < 2 * math.log(2) + 1e-9


@pytest.mark.parametrize("granularity", [1, "1/2", "1/4"])
@pytest.mark.parametrize("step", ["1/2", "1/4"])
def test_steps_and_granularity_of_base_two(step: str, granularity: Any) -> None:
    """Where a step is no multiple of the granularity, scores are rounded at random, each by itself."""
    law = discreet.distribution(
        laplace, 0, sensitivity=1, lo=-1, hi=1, step=step, mechanism=Base2(Base2Eta(1, 1), granularity)
    )  # fmt: skip
    unit, each = Fraction(granularity), Fraction(step)
    places = [k * each for k in range(-int(1 / each), int(1 / each) + 1)]
    chances = dict.fromkeys(places, Fraction(0))
    for ups in product((0, 1), repeat=len(places)):
        lows = [math.floor(-abs(r) / unit) for r in places]
        parts = [-abs(r) / unit - low for r, low in zip(places, lows, strict=True)]
        way = math.prod((part if up else 1 - part for part, up in zip(parts, ups, strict=True)))
        if way:
            weights = [Fraction(2) ** (low + up) for low, up in zip(lows, ups, strict=True)]
            for r, weight in zip(places, weights, strict=True):
                chances[r] += way * weight / sum(weights)
    for r, chance in chances.items():
        found = law.probability(r)
        assert found.lower <= chance <= found.upper


@pytest.mark.parametrize(
    ("mechanism", "epsilon"), [("base2", 1), ("permute_and_flip", 1), ("noisy_max", 1)]
)
@pytest.mark.parametrize(("sensitivity", "step"), [(1, 1), (2, 1), (1, 2), ("1/2", "1/2")])
def test_neighbours_keep_the_promise_of_listed_points(
    mechanism: Any, epsilon: int, sensitivity: Any, step: Any
) -> None:
    """Every pair of values that far apart, rounded to points, and every answer."""
    terms: dict[str, Any] = {"sensitivity": sensitivity, "step": step, "lo": 0, "hi": 2,
                             "epsilon": epsilon, "mechanism": mechanism}  # fmt: skip
    values = [Fraction(k, 4) for k in range(-2, 11)]
    laws = {v: discreet.distribution(laplace, v, **terms) for v in values}
    with precision(200):
        limit = (ball(Fraction(epsilon)) + arb(2) ** -60).exp()
        for a, b in product(values, repeat=2):
            if abs(a - b) <= Fraction(sensitivity):
                for r in laws[a].pmf():
                    assert ball(laws[a].probability(r).lower) < limit * ball(
                        laws[b].probability(r).upper
                    )


def test_what_cannot_be_listed_is_refused_with_a_way_out() -> None:
    for ends, words in (
        ({}, "infinitely many points"),
        ({"lo": 0, "hi": 10**6}, "1,000,001 points"),
    ):
        refused: Any = ends
        with pytest.raises(InvalidArgument, match=words):
            laplace(object(), sensitivity=1, mechanism=ONE_ETA, **refused)
    with pytest.raises(InvalidScores, match="one finite number"):
        laplace("7", sensitivity=1, lo=0, hi=9, mechanism=ONE_ETA)
    assert laplace(7, sensitivity=1, lo=0, hi=9, epsilon=900, mechanism="base2").value == 7
