"""The share of each of several answers: certified, near the largest, and never less than an equal share."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidNumber
from discreet.privacy import BoundedRange, LaplaceDP, MixedRange, NoGuarantee, PureDP
from discreet.privacy.calibration import largest_share, read_share
from discreet.privacy.guarantees import Guarantee

SMALL = Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("kind", "k", "least"),
    [
        (MixedRange, 10, "0.1532"),
        pytest.param(MixedRange, 50, "0.067", marks=pytest.mark.proof),
        pytest.param(LaplaceDP, 50, "0.034", marks=pytest.mark.proof),
    ],
)
def test_known_shares(kind: Callable[[Fraction], Guarantee], k: int, least: str) -> None:
    """The shares that were found by hand, where an equal share is 0.1 and 0.02."""
    share = largest_share(kind, k, Fraction(1), SMALL, adaptive=True)
    assert share > Fraction(least)
    assert kind(share).repeated(k).delta_at(1) <= SMALL
    assert kind(share * Fraction(101, 100)).repeated(k).delta_at(1) > SMALL


def test_fixed_questions_allow_more_than_adaptive_ones() -> None:
    fixed, adaptive = (
        largest_share(BoundedRange, 10, Fraction(1), SMALL, adaptive=way) for way in (False, True)
    )
    assert fixed > adaptive
    together: Any = BoundedRange(fixed).repeated(10)
    assert together.bounds(epsilon=1, adaptive=False).least <= SMALL


@settings(max_examples=5, deadline=None)
@given(
    st.sampled_from([MixedRange, PureDP]),
    st.integers(1, 5),
    st.fractions(Fraction(1, 50), 8, max_denominator=100),
    st.sampled_from([Fraction(1, 10), SMALL, Fraction(1, 10**12)]),
)
def test_what_is_found_is_certified(kind: Any, k: int, epsilon: Fraction, delta: Fraction) -> None:
    share = largest_share(kind, k, epsilon, delta, adaptive=True)
    assert share >= epsilon / k
    assert kind(share).repeated(k).delta_at(epsilon) <= delta


def test_a_bound_that_never_allows_more_leaves_an_equal_share() -> None:
    def none(share: Fraction) -> Guarantee:
        return NoGuarantee(f"of {share}", "add_remove")

    assert largest_share(none, 4, Fraction(1), SMALL, adaptive=True) == Fraction(1, 4)


@pytest.mark.parametrize("delta", [0, 1, -1, 2, "x", None])
def test_what_is_no_delta_is_refused(delta: Any) -> None:
    with pytest.raises(InvalidNumber, match="delta must be"):
        read_share(delta)
    assert read_share("1e-6") == SMALL
