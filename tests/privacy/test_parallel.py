"""Parallel composition, against products of exact laws over small partitions."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet import compose, compose_parallel
from discreet.errors import InvalidArgument
from discreet.mechanisms import Exponential
from discreet.mechanisms.contract import PrivacyParameter
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    LaplaceDP,
    LogisticDP,
    MixedRange,
    NoGuarantee,
    PureDP,
    SeveralDP,
    SummedRange,
)
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling.enclosures import ball, precision
from discreet.sampling.vectors import read_vector

ADD: Any = "add_remove"
CHAIN: list[Any] = [BoundedRange, MixedRange, SummedRange, LogisticDP, LaplaceDP, PureDP]
small = st.fractions(Fraction(1, 10), 2, max_denominator=10)
atoms = st.builds(lambda kind, e: kind(e, ADD), st.sampled_from([*CHAIN, ZCDP]), small)


def test_the_weakest_holds() -> None:
    for kind in [*CHAIN[1:], ZCDP]:
        parts = [kind(Fraction(k, 3), ADD) for k in (1, 5, 2)]
        assert compose_parallel(*parts) == kind(Fraction(5, 3), ADD)
    for i, strong in enumerate(CHAIN):
        for weak in CHAIN[max(i, 1) :]:
            for pair in ((1, 2), (2, 1)):
                found = compose_parallel(
                    strong(Fraction(pair[0]), ADD), weak(Fraction(pair[1]), ADD)
                )
                assert found == weak(Fraction(2), ADD)
    pure, rho = PureDP(Fraction(1), ADD), ZCDP(Fraction(1, 4), ADD)
    assert compose_parallel(pure, rho) == ZCDP(pure.rho, ADD)
    loose = ApproxDP(Fraction(1, 2), Fraction(1, 10), ADD)
    assert compose_parallel(pure, loose) == ApproxDP(Fraction(1), Fraction(1, 10), ADD)
    assert compose_parallel(pure, NoGuarantee("why", ADD)) == NoGuarantee("why", ADD)
    with pytest.raises(InvalidArgument, match="no common measure"):
        compose_parallel(rho, loose)


@given(st.lists(st.lists(atoms, min_size=1, max_size=3), min_size=1, max_size=3))
def test_it_is_at_least_as_weak_as_every_part(branches: list[list[Any]]) -> None:
    whole = compose_parallel(*[compose(branch) for branch in branches])
    assert compose_parallel(*[compose(branch) for branch in reversed(branches)]) == whole
    for branch in branches:
        part = compose(branch)
        assert whole.rho is not None
        assert part.rho is not None
        assert whole.rho >= part.rho
        assert whole.pure is None or (part.pure is not None and whole.pure >= part.pure)
        with precision(128):
            for excess in (arb(0.1), arb(5)):
                ours, theirs = whole.renyi(excess), part.renyi(excess)
                assert ours is not None
                assert theirs is not None
                assert not ours < theirs * (1 - arb(2) ** -50)


def test_what_is_asked_of_one_part_may_depend_on_another() -> None:
    """A coin that one part tosses decides what the other is asked: no bounded range, but a mixture of two."""
    epsilon = Fraction(1)
    bounded = BoundedRange(epsilon, ADD)
    with precision(200):
        ratios = []
        for scores in ([0, 0, -50], [0, -50, -50]):  # one record more moves the first of them
            base, other = read_vector(scores), read_vector([scores[0] + 1, *scores[1:]])
            calibrated = Exponential().calibrate(
                sensitivity_of(1, ADD, monotonic=True), PrivacyParameter("epsilon", epsilon)
            )
            before, after = (calibrated.law(x).probabilities() for x in (base, other))
            logs = [(p / q).log() for p, q in zip(after, before, strict=True)]
            assert all(not a - b > ball(epsilon) + arb(2) ** -100 for a in logs for b in logs)
            ratios += logs
        assert any(a - b > ball(epsilon) * 1.3 for a in ratios for b in ratios)
    assert compose_parallel(bounded, bounded) == MixedRange(epsilon, ADD)
    assert compose_parallel(bounded) == bounded
    twice = compose_parallel(bounded.repeated(2), BoundedRange(epsilon / 2, ADD))
    assert "nonadaptive" not in compose(twice).bounds("1e-6", adaptive=False).values


def test_a_guarantee_under_replacement_does_not_cover_a_part_that_grows() -> None:
    """How many records a part has is perfectly private under replace_one, and tells where a record went."""
    with pytest.raises(InvalidArgument, match="may leave one part and enter another"):
        compose_parallel(PureDP(Fraction(1), "replace_one"))
    with pytest.raises(InvalidArgument, match="nothing to compose"):
        compose_parallel()


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_counts_in_two_parts(neighbors: Any) -> None:
    """Two exponential mechanisms over counts, each on a part of its own: all small tables."""
    calibrated = Exponential().calibrate(
        sensitivity_of(1, ADD, monotonic=True), PrivacyParameter("epsilon", Fraction(1))
    )
    promised: Any = compose_parallel(calibrated.guarantee, calibrated.guarantee).under(neighbors)
    assert promised.epsilon == (1 if neighbors == "add_remove" else 2)
    kinds = list(product((0, 1), repeat=2))  # the part and the value of a record

    def law(rows: Any) -> list[arb]:
        parts = [
            calibrated.law(
                read_vector([rows.count((part, 0)), rows.count((part, 1))])
            ).probabilities()
            for part in (0, 1)
        ]
        return [p * q for p in parts[0] for q in parts[1]]

    worst = 0.0
    with precision(100):
        for rows in product(kinds, repeat=2):
            others = [rows[:1]] if neighbors == "add_remove" else [(rows[0], k) for k in kinds]
            for other in others:
                ratios = [(p / q).log() for p, q in zip(law(rows), law(other), strict=True)]
                widest = max(float(a - b) for a in ratios for b in ratios)
                worst = max(worst, widest)
                assert all(
                    not a - b > ball(promised.epsilon) + arb(2) ** -60
                    for a in ratios
                    for b in ratios
                )
    assert worst > 0.999 * float(promised.epsilon)


def test_bounded_ranges_of_several_promises_are_mixed_too() -> None:
    """What several parts promise is no more than what each of their promises gives for several parts."""
    parts = compose(ApproxDP(Fraction("1/2"), Fraction("1e-8")), BoundedRange(Fraction(1, 2)))
    one = SeveralDP((ApproxDP(Fraction("1"), Fraction("1e-8")), parts))
    both = compose_parallel(one, one)
    assert both == SeveralDP(
        (ApproxDP(Fraction("1"), Fraction("1e-8")), compose_parallel(parts, parts))
    )
    assert "bounded_range" not in str(both.as_dict())
    assert "mixed_range" in str(both.as_dict())
