"""Composition: nothing is lost, order does not matter, and every bound is above what is exact."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet import compose
from discreet.errors import InvalidArgument, InvalidNumber
from discreet.mechanisms import MECHANISMS
from discreet.mechanisms.contract import PrivacyParameter
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Composition,
    GaussianDP,
    LaplaceDP,
    LogisticDP,
    MixedRange,
    NoGuarantee,
    PureDP,
    SummedRange,
    contract,
)
from discreet.privacy import bounds as bounds_module
from discreet.privacy import parts as parts_module
from discreet.privacy.bounds import Bounds
from discreet.privacy.parts import total
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling.enclosures import ball, precision

ADD: Any = "add_remove"
CHAIN: list[Any] = [BoundedRange, MixedRange, SummedRange, LogisticDP, LaplaceDP, PureDP]
LOOSE = ["basic", "kov", "zcdp", "renyi", "single"]
small = st.fractions(Fraction(1, 10), 2, max_denominator=10)


@pytest.fixture
def closed_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numerical engines take longer and have tests of their own."""
    forms = {name: make for name, make in bounds_module._ACCOUNTANTS.items() if name in LOOSE}
    monkeypatch.setattr(bounds_module, "_ACCOUNTANTS", forms)


def anything() -> st.SearchStrategy[Any]:
    by_epsilon = st.builds(lambda kind, e: kind(e, ADD), st.sampled_from(CHAIN), small)
    loose = st.builds(lambda e, k: ApproxDP(e, Fraction(1, 2**k), ADD), small, st.integers(10, 30))
    return by_epsilon | st.builds(lambda rho: ZCDP(rho, ADD), small) | loose


@pytest.mark.usefixtures("closed_forms")
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(
    "parameter",
    [PrivacyParameter("epsilon", Fraction(1, 3)), PrivacyParameter("rho", Fraction(1, 10))],
)
def test_n_times_is_once_n_times(mechanism: str, parameter: PrivacyParameter) -> None:
    """What a well-known accountant gets wrong."""
    once: Any = MECHANISMS[mechanism]().calibrate(sensitivity_of(1, ADD), parameter).guarantee
    for n in (2, 7):
        many = compose([once] * n)
        assert many == once.repeated(n) == compose(compose(once), once.repeated(n - 1))
        assert many.parts == ((once, n),)
        assert many.pure == n * once.pure
        assert many.rho == n * once.rho
        with precision(200):
            curve: Any = many.renyi(arb(3))
            assert curve.overlaps(n * once.renyi(arb(3)))
        assert many.delta_at("1/2") > once.delta_at("1/2")
        assert many.approx("1e-6").epsilon > once.approx("1e-6").epsilon


@given(st.lists(anything(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_order_and_nesting_do_not_matter(guarantees: list[Any], random: Any) -> None:
    whole = compose(guarantees)
    shuffled = guarantees.copy()
    random.shuffle(shuffled)
    cut = random.randrange(len(shuffled) + 1)
    nested = compose([compose(part) for part in (shuffled[:cut], shuffled[cut:]) if part])
    assert nested == whole
    assert hash(nested) == hash(whole)
    assert nested.as_dict() == whole.as_dict()
    assert str(nested) == str(whole)
    assert whole.bounds(epsilon=1).values == nested.bounds(epsilon=1).values


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_sum_is_of_the_first_kind_that_every_part_implies(neighbors: Any) -> None:
    half = Fraction(1, 2)
    for kind in CHAIN:
        one = kind(half, neighbors)
        later = kind if CHAIN.index(kind) > CHAIN.index(SummedRange) else SummedRange
        assert compose(one).summed == one
        assert compose(one, one).summed == later(half * 2, neighbors)
        assert compose(one, LogisticDP(half * 2, neighbors)).summed == max(
            later, LogisticDP, key=CHAIN.index
        )(half * 3, neighbors)
    assert compose(ZCDP(half, neighbors)).summed is None


def test_only_what_is_there_several_times_has_a_number_in_words() -> None:
    whole = compose(PureDP(Fraction(1, 2), ADD), *[PureDP(Fraction(1, 4), ADD)] * 3)
    assert whole.statement == "ε = 1.25 in all, from 3 × (ε = 0.25) + ε = 0.5"


def exact_delta(pairs: list[tuple[list[arb], list[arb]]], target: Fraction) -> arb:
    """Return the hockey-stick divergence of a product of pairs, by enumeration."""
    total_ = arb(0)
    for answers in product(*(range(len(p)) for p, _ in pairs)):
        p, q = arb(1), arb(1)
        for (before, after), i in zip(pairs, answers, strict=True):
            p, q = p * before[i], q * after[i]
        term = p - ball(target).exp() * q
        total_ += term if term > 0 else arb(0)
    return total_


def pair_of(guarantee: Any, share: Fraction) -> tuple[list[arb], list[arb]]:
    """Return two laws that keep the guarantee and, but for zCDP, are on its edge."""
    if isinstance(guarantee, ZCDP):  # randomised response of an epsilon whose rho is that
        e, t = (2 * ball(guarantee.rho)).sqrt() * 2, (2 * ball(guarantee.rho)).sqrt()
    elif isinstance(guarantee, BoundedRange | MixedRange | SummedRange | LogisticDP):
        e, t = ball(guarantee.epsilon), ball(guarantee.epsilon * share)
    else:
        e, t = ball(2 * guarantee.epsilon), ball(guarantee.epsilon)
    q = ((-t).exp() - (-e).exp()) / (1 - (-e).exp())
    p, q_ = [q * t.exp(), (1 - q) * (t - e).exp()], [q, 1 - q]
    if isinstance(guarantee, ApproxDP):  # with probability delta the database is given away
        kept = 1 - ball(guarantee.delta)
        p, q_ = [kept * x for x in p], [kept * x for x in q_]
        return [*p, 1 - kept, arb(0)], [*q_, arb(0), 1 - kept]
    if isinstance(guarantee, LaplaceDP):  # the sign of a number with Laplace noise
        up = 1 - (-ball(guarantee.epsilon)).exp() / 2
        return [up, 1 - up], [arb(0.5), arb(0.5)]
    return p, q_


@given(st.lists(st.tuples(anything(), st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10)),
                min_size=1, max_size=4), st.fractions(0, 3, max_denominator=6))  # fmt: skip
def test_every_bound_is_above_what_is_exact(
    guarantees: list[tuple[Any, Fraction]], target: Fraction
) -> None:
    whole = compose([guarantee for guarantee, _ in guarantees])
    found = whole.bounds(epsilon=target)
    with precision(200):
        exact = exact_delta([pair_of(*one) for one in guarantees], target)
        for name, delta in found.values.items():
            assert not ball(delta) < exact * (1 - arb(2) ** -60), name
    assert found.least == found.values[found.winner] == min(found.values.values())


@given(st.lists(anything(), min_size=1, max_size=3), st.integers(1, 30))
def test_epsilon_and_delta_are_inverse(guarantees: list[Any], k: int) -> None:
    whole, delta = compose(guarantees), Fraction(1, 2**k)
    if whole.slack >= delta:
        with pytest.raises(InvalidArgument, match="no epsilon is known"):
            whole.approx(whole.slack * Fraction(99, 100) if whole.slack else 0)
        with pytest.raises(InvalidArgument, match="no epsilon is known"):
            whole.epsilon_at(whole.slack * Fraction(99, 100) if whole.slack else 0)
        return
    found = whole.approx(delta)
    assert (found.delta, found.epsilon) == (delta, whole.epsilon_at(delta))
    assert whole.delta_at(found.epsilon) <= delta * (1 + Fraction(1, 2**10))
    bounds = whole.bounds(delta)
    assert bounds.least == found.epsilon
    if whole.pure is not None:
        assert bounds.values["renyi"] <= bounds.values["zcdp"] * (1 + Fraction(1, 2**10))
        assert found.epsilon <= whole.pure


@pytest.mark.usefixtures("closed_forms")
@pytest.mark.parametrize(
    ("n", "epsilon", "target", "kov", "zcdp", "renyi"),
    [
        (1, "1", "1/2", 0.287649, 0.104285, 0.0814542),
        (10, "1/10", "3/10", 0.0350971, 0.00524931, 0.004815),
        (50, "1/10", "1/2", 0.124778, 0.0358488, 0.0355653),
    ],
)
def test_golden_table(
    n: int, epsilon: str, target: str, kov: float, zcdp: float, renyi: float
) -> None:
    """The third column is for epsilon**2 / 8; the least rho does better."""
    whole = compose([BoundedRange(Fraction(epsilon), ADD)] * n)
    found = {name: float(value) for name, value in whole.bounds(epsilon=target).values.items()}
    assert math.isclose(found["kov"], kov, rel_tol=1e-5)
    assert math.isclose(found["renyi"], renyi, rel_tol=2e-5)
    assert zcdp * 0.98 < found["zcdp"] <= zcdp * 1.00001
    rough = ZCDP(n * Fraction(epsilon) ** 2 / 8, ADD).delta_at(target)
    assert math.isclose(float(rough), zcdp, rel_tol=1e-5)


def adaptive(epsilons: list[Fraction], ratio: arb, grid: int) -> arb:
    """Return the best delta of an analyst who picks each loss after seeing the answers so far."""
    if not epsilons:
        return 1 - ratio if ratio < 1 else arb(0)
    best, e = arb(0), ball(epsilons[0])
    for k in range(grid + 1):
        t = e * k / grid
        up = (1 - (t - e).exp()) / (1 - (-e).exp())
        value = up * adaptive(epsilons[1:], ratio * (-t).exp(), grid)
        value += (1 - up) * adaptive(epsilons[1:], ratio * (e - t).exp(), grid)
        best = value if value > best else best
    return best


@pytest.mark.usefixtures("closed_forms")
@pytest.mark.parametrize("target", [Fraction(0), Fraction(1, 3), Fraction(3, 4)])
def test_an_adaptive_analyst_stays_below_every_bound(target: Fraction) -> None:
    epsilons = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)]
    found = compose([BoundedRange(e, ADD) for e in epsilons]).bounds(epsilon=target)
    with precision(100):
        worst = adaptive(epsilons, ball(target).exp(), 12)
        assert worst > 0
        assert all(not ball(delta) < worst for delta in found.values.values())


def test_slack_is_set_aside() -> None:
    loose = ApproxDP(Fraction(1), Fraction(1, 1000), ADD)
    whole = compose([loose] * 3, ApproxDP(Fraction(0), Fraction(1, 2), ADD))
    exact = 1 - Fraction(999, 1000) ** 3 / 2
    assert exact <= whole.slack <= exact * (1 + Fraction(1, 2**60))
    assert whole.core == PureDP(Fraction(1), ADD).repeated(3)
    assert (whole.pure, whole.rho) == (None, None)
    only = compose([ApproxDP(Fraction(0), Fraction(1, 4), ADD)] * 2)
    assert only.core is None
    assert Fraction(7, 16) <= only.slack <= only.delta_at(0) < Fraction(7, 16) + Fraction(1, 2**60)
    assert only.approx("1/2").epsilon == 0
    plain = compose(PureDP(Fraction(1), ADD))
    assert plain.core is plain


def test_nothing_swallows_all() -> None:
    nothing: Any = compose(
        NoGuarantee("why", ADD), PureDP(Fraction(1), ADD), ZCDP(Fraction(1), ADD)
    )
    assert nothing == compose(NoGuarantee("why", ADD))
    assert (nothing.pure, nothing.rho, nothing.delta_at(99), nothing.slack) == (None, None, 1, 1)
    with precision(64):
        assert nothing.renyi(arb(1)) is None
    with pytest.raises(InvalidArgument, match="no epsilon is known"):
        nothing.approx("1/2")


@pytest.mark.parametrize(
    "bad", [(), ([],), (1,), ("pure",), (None,), ([PureDP(Fraction(1), ADD), 2],)]
)
def test_what_does_not_compose_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidArgument):
        compose(*bad)


def test_relations_do_not_mix() -> None:
    one, other = PureDP(Fraction(1), ADD), PureDP(Fraction(1), "replace_one")
    with pytest.raises(InvalidArgument, match=r"under\('replace_one'\)"):
        compose(one, other)
    assert compose(one.under("replace_one"), other).pure == 3
    for bad in (0, -1, True, 1.5):
        with pytest.raises(InvalidNumber):
            Composition(((one, bad),))  # type: ignore[arg-type]


@pytest.mark.usefixtures("closed_forms")
def test_bounds_are_asked_one_way() -> None:
    whole = compose(PureDP(Fraction(1), ADD))
    both: list[dict[str, Any]] = [{}, {"delta": "1/2", "epsilon": 1}]
    for arguments in both:
        with pytest.raises(InvalidArgument, match="either delta or epsilon"):
            whole.bounds(**arguments)
    assert whole.bounds(0).values == {"basic": 1, "single": 1}
    zcdp = compose(ZCDP(Fraction(1), ADD))
    assert set(zcdp.bounds("1/2").values) == {"zcdp", "renyi"}
    with pytest.raises(InvalidArgument, match="no epsilon is known"):
        zcdp.bounds(0)
    assert str(Bounds("delta", Fraction(1), {"basic": Fraction(1), "kov": Fraction(1, 4)})) == (
        "delta at epsilon = 1\n  kov         0.25\n  basic       1"
    )


# Many parts.


@given(
    st.lists(st.tuples(st.fractions(Fraction(1, 10**6), 10**6), st.integers(1, 10**9)), max_size=8)
)
def test_sums_are_exact_or_rounded_up(terms: list[tuple[Fraction, int]]) -> None:
    exact = sum((value * n for value, n in terms), Fraction(0))
    assert total(terms) == exact
    assert total([*terms, (None, 1)]) is None


def test_a_long_sum_is_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "_DENOMINATOR_BITS", 8)
    terms = [(Fraction(1, p), p % 5 + 1) for p in (3, 7, 101, 103, 10007)]
    exact = sum(value * n for value, n in terms)
    rounded: Any = total(terms)
    assert exact < rounded < exact * (1 + Fraction(1, 2**100))
    assert rounded.denominator & (rounded.denominator - 1) == 0
    assert total(reversed(terms)) == rounded


@pytest.mark.usefixtures("closed_forms")
def test_many_parts_take_few_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """10**5 parts of three kinds: three keys to sort by, three curves at each order."""
    seen = {"order": 0, "renyi": 0}
    order, renyi = contract.order, BoundedRange.renyi

    def counted(name: str, plain: Any) -> Any:
        def call(*args: Any) -> Any:
            seen[name] += 1
            return plain(*args)

        return call

    monkeypatch.setattr(parts_module, "order", counted("order", order))
    monkeypatch.setattr(BoundedRange, "renyi", counted("renyi", renyi))
    whole = compose([BoundedRange(Fraction(1, 1000 + k % 3), ADD) for k in range(10**5)])
    assert seen["order"] == 3
    assert len(whole.parts) == 3
    assert whole.bounds("1e-9").winner == "renyi"
    assert seen["renyi"] <= 3 * 45


def test_as_many_kinds_as_parts() -> None:
    parts: list[Any] = [PureDP(Fraction(1, k), ADD) for k in range(1, 20_001)]
    whole = compose(parts)
    harmonic = sum(1 / k for k in range(1, 20_001))
    assert whole.pure is not None
    assert math.isclose(float(whole.pure), harmonic, rel_tol=1e-12)
    assert whole.pure.denominator.bit_length() < 200


@pytest.mark.usefixtures("closed_forms")
@pytest.mark.parametrize("n", [1, 10, 1000, 10**6])
def test_a_million_answers_have_a_bound(n: int) -> None:
    whole = compose(
        BoundedRange(Fraction(1, 1000), ADD).repeated(n),
        LaplaceDP(Fraction(1, 500), ADD).repeated(n),
    )
    found = whole.bounds("1e-9")
    assert found.values["basic"] == n * Fraction(3, 1000)
    assert found.least == min(found.values.values())
    assert n < 1000 or found.winner == "renyi"


@pytest.mark.parametrize(
    ("n", "epsilon", "target", "logistic", "adaptive", "fixed"),
    [
        (1, "1", "1/2", 0.0774728, 0.0781, 0.0774047),
        (10, "1/10", "3/10", 0.00425541, 0.0024042, 0.00218517),
        (50, "1/10", "1/2", 0.0277, 0.0176232, 0.0162063),
    ],
)
def test_the_other_columns(
    n: int, epsilon: str, target: str, logistic: float, adaptive: float, fixed: float
) -> None:
    whole = compose([BoundedRange(Fraction(epsilon), ADD)] * n)
    found = whole.bounds(epsilon=target, adaptive=False)
    assert logistic * 0.97 < found.values["logistic"] <= logistic
    assert fixed * 0.9999 < found.values["adaptive"] <= adaptive
    assert math.isclose(float(found.values["nonadaptive"]), fixed, rel_tol=1e-5)
    assert found.least == min(found.values.values())


def test_fixed_questions_must_be_promised() -> None:
    """The non-adaptive bound is for equal bounded ranges, and only if the caller says so."""
    three: Any = BoundedRange(Fraction(1), ADD).repeated(3)
    assert "nonadaptive" in three.bounds(epsilon=1, adaptive=False).values
    assert "nonadaptive" not in three.bounds(epsilon=1).values
    others: list[Any] = [
        MixedRange(Fraction(1), ADD).repeated(3),
        compose(three, BoundedRange(Fraction(1, 2), ADD)),
        compose(three, PureDP(Fraction(1), ADD)),
    ]
    for whole in others:
        assert "nonadaptive" not in whole.bounds(epsilon=1, adaptive=False).values


def test_which_engines_serve_which_kinds() -> None:
    def names(*parts: Any) -> set[str]:
        return set(compose(parts).bounds(epsilon="1/2").values)

    one = Fraction(1)
    sums = {"basic", "kov", "zcdp", "renyi", "logistic"}
    assert names(BoundedRange(one, ADD), MixedRange(one, ADD)) == {*sums, "adaptive"}
    assert names(BoundedRange(one, ADD), LaplaceDP(one, ADD)) == sums
    assert names(PureDP(one, ADD), ApproxDP(one, Fraction(1, 9), ADD)) == sums
    assert names(BoundedRange(one, ADD), ZCDP(one, ADD)) == {"zcdp", "renyi", "combined"}
    assert names(BoundedRange(one, ADD), GaussianDP(one, ADD)) == {"zcdp", "renyi", "combined"}
    tiny, huge = Fraction(1, 10**300), Fraction(10**300)
    assert names(PureDP(tiny, ADD), PureDP(one, ADD)) == sums - {"logistic"}
    assert names(PureDP(huge, ADD), PureDP(one, ADD)) == sums - {"logistic"}


def test_laplace_noise_composes_to_less_than_pure_dp() -> None:
    laplace: Any = LaplaceDP(Fraction(1, 10), ADD).repeated(20)
    pure: Any = PureDP(Fraction(1, 10), ADD).repeated(20)
    ranges: Any = MixedRange(Fraction(1, 10), ADD).repeated(20)
    one = [float(whole.approx("1e-6").epsilon) for whole in (ranges, laplace, pure)]
    assert one == sorted(one)
    assert one[0] < one[1] * 0.8


def test_what_promises_everything_does_not_weaken_the_rest() -> None:
    """Ten answers that say nothing at all, beside randomised response of epsilon 1."""
    silent, answer = ApproxDP(Fraction(0), Fraction(0), ADD), PureDP(Fraction(1), ADD)
    exact = answer.delta_at("1/2")
    for name, delta in compose(silent.repeated(10), answer).bounds(epsilon="1/2").values.items():
        assert delta >= exact, name


def test_odd_numbers_have_bounds() -> None:
    """Beyond all doubles, just above a point of the grid, and more answers than could be listed."""
    for epsilon in (Fraction(10**200), 1 + Fraction(1, 10**4000)):
        whole: Any = BoundedRange(epsilon, ADD).repeated(2)
        assert whole.bounds("1e-6").least <= 2 * epsilon
        assert whole.bounds(epsilon=epsilon).least <= 1
    for n in (10**12, 10**400):
        many: Any = LaplaceDP(Fraction(1, 1000), ADD).repeated(n)
        assert set(many.bounds("1e-6").values) == {"basic", "zcdp", "renyi"}
