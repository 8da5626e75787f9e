"""Binomial bounds are right in every case of few trials, by exact enumeration."""

from fractions import Fraction
from math import comb

import pytest

from discreet.study.audit.binomial import at_least, at_most, fair_tail

RISK = Fraction(1, 20)


def chance(k: int, n: int, p: Fraction) -> Fraction:
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def tail(k: int, n: int, p: Fraction) -> Fraction:
    return sum((chance(j, n, p) for j in range(k, n + 1)), Fraction(0))


@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_a_bound_is_the_largest_of_its_kind(n: int) -> None:
    for k in range(1, n + 1):
        p = at_least(k, n, RISK)
        assert tail(k, n, p) <= RISK < tail(k, n, p + Fraction(1, 2**39))
        q = at_most(n - k, n, RISK)
        assert tail(k, n, 1 - q) <= RISK < tail(k, n, 1 - q + Fraction(1, 2**39))
    assert at_least(0, n, RISK) == 0
    assert at_most(n, n, RISK) == 1


@pytest.mark.parametrize("n", [1, 3, 10])
def test_bounds_fail_as_rarely_as_they_say(n: int) -> None:
    for step in range(41):
        p = Fraction(step, 40)
        too_high = sum(chance(k, n, p) for k in range(n + 1) if at_least(k, n, RISK) > p)
        too_low = sum(chance(k, n, p) for k in range(n + 1) if at_most(k, n, RISK) < p)
        assert too_high <= RISK
        assert too_low <= RISK


def test_a_fair_coin() -> None:
    for n in (0, 1, 5):
        for k in range(n + 1):
            assert fair_tail(k, n) == tail(k, n, Fraction(1, 2))
    assert fair_tail(100, 100) == Fraction(1, 2**100)
