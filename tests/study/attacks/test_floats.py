"""Floating-point mechanisms as they are usually written."""

import math

import pytest

from discreet.study.attacks import floats, low_bits


def test_a_counted_law_is_the_law() -> None:
    """For few words, where all can be tried: the law by bisection is the law by counting."""
    choose = floats.unsafe_choice([0.1, 0.0, 0.2, 0.7])
    counted = floats.counted_law(choose, 4)
    assert sum(counted) == 1
    assert counted[1] == 0
    for i, end in ((0, 0.1), (2, 0.3)):
        k = int(sum(counted[: i + 1]) * floats.FINE)
        assert choose(k - 1) <= i < choose(k)
        assert k / floats.FINE == pytest.approx(end)


def test_an_unreachable_answer_is_unreachable_by_brute_force() -> None:
    """All uniforms in a wide window around the place where the answer would have to be."""
    answer = low_bits.telling()[0]
    assert answer > 1
    centre = round(math.exp(1 - answer) * floats.FINE)
    window = range(max(0, centre - 20_000), centre + 20_000)
    reached = [low_bits.unsafe_laplace(1.0, 1, k) for k in window]
    assert answer not in reached
    assert min(reached) < answer < max(reached)
