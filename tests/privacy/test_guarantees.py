"""Guarantees as values: what follows from each, and how they are written down."""

import json
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet import compose
from discreet.errors import DiscreetError, InvalidArgument, InvalidNumber
from discreet.mechanisms.testing import _keeps
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    ApproxRange,
    BoundedRange,
    DiscreteGaussianDP,
    GaussianDP,
    GeometricDP,
    LaplaceDP,
    LogisticDP,
    LossDistribution,
    LossDP,
    MixedRange,
    NoGuarantee,
    PureDP,
    RenyiDP,
    ReplacedSumsDP,
    ResponseDP,
    SeveralDP,
    SummedRange,
)
from discreet.privacy.guarantees import read_guarantee
from discreet.sampling.enclosures import ball, precision

ADD: Any = "add_remove"
CHAIN: list[Any] = [BoundedRange, MixedRange, SummedRange, LogisticDP, LaplaceDP, PureDP]
ALL: list[Any] = [
    *(kind(Fraction(1, 3), ADD) for kind in CHAIN),
    ZCDP(Fraction(1, 7), ADD),
    ApproxDP(Fraction(1, 3), Fraction(1, 10**6), ADD),
    ApproxDP(Fraction(0), Fraction(1, 10), ADD),
    ApproxRange(Fraction(1, 3), Fraction(1), Fraction(1, 10), ADD),
    ApproxRange(Fraction(1, 3), Fraction(4), Fraction(1, 10**6), ADD),
    DiscreteGaussianDP(Fraction(7, 3), 2, 5, ADD),
    ReplacedSumsDP(Fraction(7, 3), 4, 1, 3, 5, ADD),
    GaussianDP(Fraction(2, 3), ADD),
    GeometricDP(Fraction(2, 3), 5, ADD),
    ResponseDP(Fraction(2, 3), 5, ADD),
    SeveralDP((PureDP(Fraction(1), ADD), ZCDP(Fraction(1, 10), ADD))),
    SeveralDP(
        (
            ApproxDP(Fraction(1), Fraction(1, 10**6), ADD),
            ApproxDP(Fraction(1, 2), Fraction(1, 10**7), ADD).repeated(2),
        )
    ),
    RenyiDP({2: "1/10", 8: 0.3, "1.5": 0}, ADD),
    LossDP(LossDistribution.gaussian(1, "1/4"), ADD),
    NoGuarantee("why", ADD),
    compose(PureDP(Fraction(1), ADD), *[ZCDP(Fraction(1, 2), ADD)] * 3),
]
epsilons = st.fractions(Fraction(1, 50), 8, max_denominator=200)
shares = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100)


@pytest.mark.parametrize("guarantee", ALL, ids=str)
def test_what_is_written_down_can_be_read(guarantee: Any) -> None:
    text = json.dumps(guarantee.as_dict())
    assert read_guarantee(json.loads(text)) == guarantee
    assert hash(read_guarantee(json.loads(text))) == hash(guarantee)


@pytest.mark.parametrize(
    "bad",
    [{}, {"kind": "pure_dp"}, {"kind": "sure", "neighbors": "add_remove"}, "pure_dp", None,
     {"kind": "pure_dp", "epsilon": "0", "neighbors": "add_remove"},
     {"kind": "pure_dp", "epsilon": "1", "neighbors": "friends"},
     {"kind": "composition", "parts": [], "neighbors": "add_remove"},
     {"kind": "composition", "parts": [{"count": 0, "guarantee": ALL[0].as_dict()}], "neighbors": "add_remove"},
     {"kind": "approx_dp", "epsilon": "1", "delta": "-1", "neighbors": "add_remove"}],
)  # fmt: skip
def test_what_is_no_guarantee_is_refused(bad: Any) -> None:
    with pytest.raises(DiscreetError):
        read_guarantee(bad)


@pytest.mark.parametrize("guarantee", ALL, ids=str)
def test_once_is_itself_and_nothing_is_less_than_once(guarantee: Any) -> None:
    assert guarantee.repeated(1) == guarantee
    assert guarantee.group(1) == guarantee
    assert guarantee.under(ADD) == guarantee
    for change in (guarantee.repeated, guarantee.group):
        if not isinstance(guarantee, NoGuarantee):
            with pytest.raises(InvalidNumber):
                change(0)


def test_in_words() -> None:
    assert [str(kind(Fraction(1), ADD)) for kind in CHAIN] == [
        "ε = 1, bounded range (add/remove one record)",
        "ε = 1, mixed range (add/remove one record)",
        "ε = 1, summed range (add/remove one record)",
        "ε = 1, as logistic noise (add/remove one record)",
        "ε = 1, as Laplace noise (add/remove one record)",
        "ε = 1 (add/remove one record)",
    ]
    assert str(ApproxDP(1, "1e-6", "replace_one")) == (  # type: ignore[arg-type]
        "ε = 1, δ = 0.000001 (replace one record)"
    )
    whole = compose(BoundedRange(Fraction(1, 3), ADD).repeated(3), ZCDP(Fraction(1), ADD))
    assert str(whole) == (
        "ρ ≤ 1.04161 in all, from 3 × (ε = 1/3, bounded range) + ρ = 1, zCDP (add/remove one record)"
    )
    many = compose([PureDP(Fraction(n), ADD) for n in range(1, 6)])
    assert str(many) == "ε = 15 in all, from ε = 1 + ε = 2 + ε = 3 + 2 more (add/remove one record)"
    assert str(compose(ALL[0])) == str(ALL[0])
    nothing = compose(ALL[-2], NoGuarantee("because", ADD), PureDP(Fraction(1), ADD))
    assert str(nothing) == "no privacy guarantee: because; no privacy guarantee: why"


def test_each_of_the_chain_implies_the_next() -> None:
    """Smaller rho, smaller curve, smaller delta, lower ceiling: in the order of the chain."""
    with precision(200):
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(7)):
            chain = [kind(epsilon, ADD) for kind in CHAIN]
            for strong, weak in pairwise(chain):
                assert strong.rho <= weak.rho <= epsilon
                for excess in (arb(0.01), arb(1), arb(30)):
                    assert not strong.renyi(excess) > weak.renyi(excess)
                for target in (Fraction(0), epsilon / 3, epsilon, 2 * epsilon):
                    assert strong.delta_at(target) <= weak.delta_at(target)
                for chance in (arb(0.01), arb(0.3), arb(0.5), arb(0.9)):
                    assert not strong.ceiling(chance) > weak.ceiling(chance)


@given(epsilons, shares, st.sampled_from(CHAIN))
def test_delta_and_epsilon_are_inverse(epsilon: Fraction, delta: Fraction, kind: Any) -> None:
    guarantee = kind(epsilon, ADD)
    found = guarantee.approx(delta)
    assert guarantee.epsilon_at(delta) == found.epsilon <= epsilon
    assert guarantee.delta_at(found.epsilon) <= delta * (1 + Fraction(1, 2**62))
    if found.epsilon > 0:
        assert guarantee.delta_at(found.epsilon) > delta * (1 - Fraction(1, 2**40))
    assert guarantee.approx(0).epsilon == epsilon


@pytest.mark.parametrize("kind", CHAIN)
def test_deltas_too_close_to_one_to_tell(kind: Any) -> None:
    """Either an epsilon that is right or no improvement, never a wrong zero."""
    close = 1 - Fraction(1, 10**200)
    huge = kind(Fraction(10**300), ADD)
    assert huge.approx(close).epsilon > Fraction(10**300) - 10**3
    assert kind(Fraction(1, 10**30), ADD).approx(Fraction(1, 2)).epsilon == 0
    tiny = Fraction(1, 10**300)
    assert kind(tiny, ADD).approx(Fraction(1, 2)).epsilon in (0, tiny)


def binary(epsilon: Fraction, share: Fraction) -> tuple[list[arb], list[arb]]:
    """Return P and Q on two answers whose log-ratios are share * epsilon and that less epsilon."""
    e, t = ball(epsilon), ball(epsilon * share)
    q = ((-t).exp() - (-e).exp()) / (1 - (-e).exp())
    return [q * t.exp(), (1 - q) * (t - e).exp()], [q, 1 - q]


def hockey_stick(p: list[arb], q: list[arb], target: Fraction) -> arb:
    """Return the sum of (p - e**target q) where it is positive."""
    terms = [a - ball(target).exp() * b for a, b in zip(p, q, strict=True)]
    return sum((term for term in terms if term > 0), arb(0))


@given(epsilons, st.fractions(0, 1, max_denominator=50))
def test_no_binary_pair_is_beyond_the_closed_form(epsilon: Fraction, part: Fraction) -> None:
    """And the best of 64 pairs comes close to it."""
    target = part * epsilon
    with precision(200):
        worst = [hockey_stick(*binary(epsilon, Fraction(k, 64)), target) for k in range(1, 64)]
        said = BoundedRange(epsilon, ADD).delta_at(target)
        assert not any(delta > ball(said) for delta in worst)
        best = max(float(delta) for delta in worst)
        assert best >= float(said) * 0.99 - 1e-3
        response = [*binary(2 * epsilon, Fraction(1, 2))]
        exact = hockey_stick(response[0], response[1], target)
        assert abs(float(exact) - float(PureDP(epsilon, ADD).delta_at(target))) < 1e-15


def test_golden_deltas() -> None:
    one = Fraction(1)
    assert f"{float(BoundedRange(one, ADD).delta_at('1/2')):.6f}" == "0.077405"
    assert f"{float(BoundedRange(one, ADD).delta_at(0)):.9f}" == "0.244918662"  # tanh(1/4)
    assert f"{float(PureDP(one, ADD).delta_at('1/2')):.6f}" == "0.287649"


@given(epsilons, st.fractions(0, 9, max_denominator=30))
def test_the_laplace_delta_is_that_of_the_noise(epsilon: Fraction, target: Fraction) -> None:
    """P(X > x) - e**g Q(X > x) at the place where the log-ratio is g."""
    with precision(200):
        place = ball((epsilon - min(target, epsilon)) / 2)
        left = 1 - (-place).exp() / 2  # P below the place, place >= 0
        right = (place - ball(epsilon)).exp() / 2  # Q below it
        exact = left - ball(target).exp() * right
        if target < epsilon:
            assert abs(exact - ball(LaplaceDP(epsilon, ADD).delta_at(target))) < arb(2) ** -60
        else:
            assert LaplaceDP(epsilon, ADD).delta_at(target) == 0


def test_randomised_response_is_no_laplace_noise() -> None:
    with precision(200):
        p, q = binary(Fraction(2), Fraction(1, 2))  # randomised response at epsilon 1
        assert _keeps(PureDP(Fraction(1), ADD), p, q)
        assert not _keeps(LaplaceDP(Fraction(1), ADD), p, q)
        assert not _keeps(MixedRange(Fraction(1), ADD), p, q)
        assert _keeps(MixedRange(Fraction(2), ADD), p, q)
        assert _keeps(ApproxDP(Fraction(1, 2), PureDP(Fraction(1), ADD).delta_at("1/2"), ADD), p, q)
        assert not _keeps(ApproxDP(Fraction(1, 2), Fraction(28, 100), ADD), p, q)
        assert not _keeps(ZCDP(Fraction(1), ADD), p, q)


def test_groups() -> None:
    for kind in CHAIN:
        further: Any = SummedRange if kind is MixedRange else kind
        third = kind(Fraction(1, 3), ADD)
        assert third.group(1) == third
        assert third.group(6) == further(Fraction(2), ADD)
        assert third.under("replace_one") == further(Fraction(2, 3), "replace_one")
    assert ZCDP(Fraction(1, 3), ADD).group(3) == ZCDP(Fraction(3), ADD)
    assert ZCDP(Fraction(1), ADD).under("replace_one") == ZCDP(Fraction(4), "replace_one")
    loose: Any = ApproxDP(Fraction(1), Fraction(1, 100), ADD).group(3)
    assert (loose.epsilon, f"{float(loose.delta):.9f}") == (
        3,
        "0.111073379",
    )  # (1 + e + e**2) / 100
    assert ApproxDP(Fraction(0), Fraction(1, 8), ADD).group(3).delta == Fraction(3, 8)
    void = ApproxDP(Fraction(1), Fraction(1, 2), ADD).group(10**6)
    assert void.delta == 1
    assert read_guarantee(void.as_dict()) == void
    assert compose(*ALL[:2]).under("replace_one") == compose(
        [g.under("replace_one") for g in ALL[:2]]
    )


@pytest.mark.parametrize("kind", [*CHAIN, ZCDP])
def test_replacing_says_nothing_about_adding(kind: Any) -> None:
    with pytest.raises(InvalidArgument, match="says nothing when one record is added"):
        kind(Fraction(1), "replace_one").under(ADD)
    assert NoGuarantee("why", "replace_one").under(ADD) == NoGuarantee("why", ADD)


def test_the_triangle_of_laplace_noise_is_tight() -> None:
    """Two ceilings of epsilon are one of 2 epsilon; those of the log-odds and of pure DP compose so too."""
    with precision(200):
        for kind, k in product(CHAIN, range(1, 20)):
            chance = arb(k) / 20
            one, two = kind(Fraction(1, 2), ADD), kind(Fraction(1, 2), ADD).group(2)
            assert not one.ceiling(one.ceiling(chance)) > two.ceiling(chance) + arb(2) ** -150


def test_a_looser_promise() -> None:
    loose = ApproxDP(Fraction(1), Fraction(1, 10), ADD)
    assert (loose.pure, loose.rho, loose.renyi(arb(1))) == (None, None, None)
    assert loose.delta_at(1) == loose.delta_at(9) == Fraction(1, 10)
    assert loose.approx("1/10").epsilon == 1
    tighter = loose.approx("1/5")
    assert tighter.epsilon < 1
    assert loose.delta_at(tighter.epsilon) <= Fraction(1, 5)
    with pytest.raises(InvalidNumber, match="at least that of"):
        loose.approx("1/11")
    exact: Any = ApproxDP(Fraction(1), Fraction(0), ADD)
    assert (exact.pure, exact.rho) == (1, PureDP(Fraction(1), ADD).rho)
    with pytest.raises(InvalidArgument, match="no epsilon holds"):
        NoGuarantee("why", ADD).approx("1/2")
    assert NoGuarantee("why", ADD).delta_at(5) == 1
    with pytest.raises(InvalidNumber, match="above zero"):
        ZCDP(Fraction(1), ADD).approx(0)
    for bad in (-1, 1, "x"):
        with pytest.raises(InvalidNumber):
            PureDP(Fraction(1), ADD).approx(bad)
