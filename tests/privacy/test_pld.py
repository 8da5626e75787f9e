"""Distributions of losses are above every curve they stand for, alone and composed."""

import math
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InvalidArgument, InvalidNumber, MissingPackage
from discreet.privacy import pld as losses
from discreet.privacy.pld import UNIT, LossDistribution, common_step
from discreet.sampling.enclosures import ball, lower, precision, upper

F = Fraction
sizes = st.fractions(F(1, 8), 3, max_denominator=24)
steps = st.sampled_from([F(1, 64), F(1, 20), F(1, 7), F(1), F(5)])
SMALL = F(1, 2**100)


def logistic_curve(epsilon: Fraction, s: Fraction) -> arb:
    """Return sup over thresholds c of P(X > c) - exp(s) Q(X > c), P and Q logistic around epsilon and 0.

    The derivative in a = Q(X > c) is E / (1 + a (E - 1))**2 - exp(s), with E = exp(epsilon).
    """
    e, gamma = ball(epsilon).exp(), ball(s).exp()
    a = ((e / gamma).sqrt() - 1) / (e - 1)
    if not (abs(s) < epsilon and a > 0 and a < 1):
        return arb(0) if s >= 0 else 1 - gamma
    return a * e / (1 + a * (e - 1)) - gamma * a


def laplace_curve(epsilon: Fraction, s: Fraction) -> arb:
    """Return the integral of (P - exp(s) Q)+ for Laplace noise of scale 1 around epsilon and 0.

    The loss is |x| - |x - epsilon|: above s from (s + epsilon) / 2 on.
    """
    if abs(s) >= epsilon:
        return arb(0) if s >= 0 else 1 - ball(s).exp()
    cut = (s + epsilon) / 2
    p_above = 1 - ball(cut - epsilon).exp() / 2
    q_above = ball(-cut).exp() / 2
    return p_above - ball(s).exp() * q_above


def pure_curve(epsilon: Fraction, s: Fraction) -> arb:
    """Return the sum of (P - exp(s) Q)+ for randomised response."""
    p = ball(epsilon).exp() / (1 + ball(epsilon).exp())
    gamma = ball(s).exp()
    terms = [p - gamma * (1 - p), 1 - p - gamma * p]
    return sum((term for term in terms if term > 0), arb(0))


KINDS: list[tuple[Callable[[Any, Any], LossDistribution], Callable[[Fraction, Fraction], arb]]] = [
    (LossDistribution.logistic, logistic_curve),
    (LossDistribution.laplace, laplace_curve),
    (LossDistribution.pure, pure_curve),
]
kinds = st.sampled_from(KINDS)


def plain_delta(
    masses: dict[int, Fraction], infinite: Fraction, step: Fraction, at: Fraction
) -> arb:
    """Return the definition: the infinite mass plus sum mass * (1 - exp(at - loss))+."""
    finite = (ball(m) * (1 - ball(at - j * step).exp()) for j, m in masses.items() if j * step > at)
    return sum(finite, ball(infinite))


def as_fractions(losses: LossDistribution) -> tuple[dict[int, Fraction], Fraction]:
    masses = {losses.lowest + i: F(m, UNIT) for i, m in enumerate(losses.masses)}
    return masses, F(losses.infinite, UNIT)


@given(kinds, sizes, steps, st.integers(0, 40))
def test_each_kind_is_above_its_curve(
    kind: Any, epsilon: Fraction, step: Fraction, share: int
) -> None:
    make, curve = kind
    at = epsilon * F(share, 32)
    with precision(200):
        assert lower(curve(epsilon, at)) <= make(epsilon, step).delta(at)


@given(kinds, sizes, st.integers(1, 60))
def test_the_curves_are_met_at_the_points(kind: Any, epsilon: Fraction, parts: int) -> None:
    """Also below 0, where the masses are not used by delta: the definition, at every point."""
    make, curve = kind
    step = epsilon / parts
    made = make(epsilon, step)
    masses, infinite = as_fractions(made)
    assert min(masses) == -parts
    assert max(masses) == parts
    assert infinite == 0
    with precision(300):
        for j in range(-parts - 2, parts + 2):
            found, exact = plain_delta(masses, infinite, step, j * step), curve(epsilon, j * step)
            assert lower(exact) <= upper(found) <= upper(exact) + SMALL
            if j >= 0:
                assert lower(exact) <= made.delta(j * step) <= upper(exact) + SMALL


def test_the_error_is_of_second_order() -> None:
    for make, curve in KINDS[:2]:
        at = F(301, 1000)
        with precision(200):
            exact = upper(curve(F(1), at))
        excess = [make(F(1), F(1, parts)).delta(at) - exact for parts in (9, 90, 900)]
        assert excess[0] > 30 * excess[1] > 900 * excess[2] > 0


@given(st.integers(2, 4), sizes, st.integers(0, 2**32))
def test_every_event_of_the_exponential_mechanism(n: int, epsilon: Fraction, seed: int) -> None:
    """Logit P'(E) <= logit P(E) + epsilon for all events, and no event is above the bound."""
    chance = random.Random(seed)
    scores = [F(chance.randrange(-12, 13), 4) for _ in range(n)]
    moved = [F(chance.randrange(5), 4) for _ in range(n)]
    bound = LossDistribution.logistic(epsilon, F(1, 16))
    with precision(160):
        q = [ball(s).exp() for s in scores]
        p = [w * ball(epsilon * d).exp() for w, d in zip(q, moved, strict=True)]
        totals = sum(p, arb(0)), sum(q, arb(0))
        for event in product([0, 1], repeat=n):
            if 0 < sum(event) < n:
                here = [
                    sum((w for w, e in zip(row, event, strict=True) if e), arb(0)) for row in (p, q)
                ]
                odds = [w / (total - w) for w, total in zip(here, totals, strict=True)]
                assert not odds[0].log() > odds[1].log() + ball(epsilon)
                for at in (F(0), epsilon / 3, epsilon * F(7, 8)):
                    gain = here[0] / totals[0] - ball(at).exp() * here[1] / totals[1]
                    assert lower(gain) <= bound.delta(at)


@given(st.lists(st.tuples(kinds, sizes), min_size=2, max_size=3), st.integers(0, 31))
def test_composition_is_the_convolution_rounded_up(parts: list[Any], share: int) -> None:
    """Against the plain double sum over all losses, in fractions."""
    made = [kind[0](epsilon, F(1, 4)) for kind, epsilon in parts]
    together = made[0]
    for one in made[1:]:
        together = together.combined(one)
    masses, infinite = as_fractions(made[0])
    for one in made[1:]:
        more, beyond = as_fractions(one)
        joint: dict[int, Fraction] = {}
        for (i, a), (j, b) in product(masses.items(), more.items()):
            joint[i + j] = joint.get(i + j, F(0)) + a * b
        infinite = infinite * (sum(more.values()) + beyond) + sum(masses.values()) * beyond
        masses = joint
    at = sum(epsilon for _, epsilon in parts) * F(share, 32)
    with precision(400):
        exact = plain_delta(masses, infinite, F(1, 4), at)
        assert lower(exact) <= together.delta(at) <= upper(exact) + F(1, 2**90)


def test_what_is_infinite_stays_infinite() -> None:
    one = LossDistribution(F(1), -1, (UNIT // 4, 0, UNIT // 4), UNIT // 2)
    other = LossDistribution(F(1), 0, (UNIT // 4, UNIT // 2), UNIT // 4)
    for together in (one.combined(other), other.combined(one)):
        assert F(together.infinite, UNIT) == F(1, 2) + F(1, 4) - F(1, 8)
        masses = as_fractions(together)[0]
        assert masses == {-1: F(1, 16), 0: F(1, 8), 1: F(1, 16), 2: F(1, 8)}
    assert one.composed(3).infinite == UNIT * 7 // 8


@given(
    st.lists(st.tuples(st.booleans(), sizes), min_size=2, max_size=3),
    st.integers(0, 15),
    st.integers(0, 2**32),
)
def test_adaptive_answers_in_any_order_lose_no_more(
    parts: list[tuple[bool, Fraction]], share: int, seed: int
) -> None:
    """After each answer another mechanism is chosen of those left, and how it is used: all enumerated."""
    chance = random.Random(seed)
    step = F(1, 16)
    bound = None
    for exponential, epsilon in parts:
        one = (LossDistribution.logistic if exponential else LossDistribution.pure)(epsilon, step)
        bound = one if bound is None else bound.combined(one)
    assert bound is not None

    def laws(exponential: bool, epsilon: Fraction) -> list[tuple[arb, arb]]:
        if not exponential:
            p = 1 / (1 + ball(epsilon).exp())
            return [(p, 1 - p), (1 - p, p)][:: chance.choice([1, -1])]
        scores = [F(chance.randrange(-8, 9), 4) for _ in range(3)]
        moved = [chance.choice([0, 1]) for _ in range(3)]
        rows = [
            [ball(s + epsilon * d * b).exp() for s, d in zip(scores, moved, strict=True)]
            for b in (1, 0)
        ]
        return list(zip(*([w / sum(row, arb(0)) for w in row] for row in rows), strict=True))

    def outcomes(rest: list[tuple[bool, Fraction]]) -> list[tuple[arb, arb]]:
        if not rest:
            return [(arb(1), arb(1))]
        taken = chance.randrange(len(rest))
        others = rest[:taken] + rest[taken + 1 :]
        return [(p * p2, q * q2) for p, q in laws(*rest[taken]) for p2, q2 in outcomes(others)]

    at = sum(epsilon for _, epsilon in parts) * F(share, 16)
    with precision(128):
        pairs = outcomes(parts)
        for sign in (1, -1):
            rows = (pair[::sign] for pair in pairs)
            gains = (lower(p - ball(at).exp() * q) for p, q in rows)
            assert sum(max(F(0), gain) for gain in gains) <= bound.delta(at)


@pytest.mark.parametrize(
    ("n", "epsilon", "target", "limit"),
    [
        (1, F(1), F(1, 2), 0.287649),
        (10, F(1, 10), F(3, 10), 0.0350971),
        (50, F(1, 10), F(1, 2), 0.124778),
    ],
)
def test_randomised_response_has_a_closed_form(
    n: int, epsilon: Fraction, target: Fraction, limit: float
) -> None:
    """Kairouz, Oh and Viswanath: with the step epsilon nothing is lost but rounding."""
    found = LossDistribution.pure(epsilon, epsilon).composed(n).delta(target)
    with precision(200):
        e = ball(epsilon)
        exact = arb(0)
        for low in range(n + 1):
            gain = (e * (n - low)).exp() - (ball(target) + e * low).exp()
            exact += math.comb(n, low) * gain if gain > 0 else 0
        exact /= (1 + e.exp()) ** n
        assert lower(exact) <= found <= upper(exact) + SMALL
    assert float(found) == pytest.approx(limit, rel=1e-5)


@pytest.mark.parametrize(
    ("n", "epsilon", "target", "limit"),
    [
        (1, F(1), F(1, 2), 0.0774047),
        (10, F(1, 10), F(3, 10), 0.0042416),
        (50, F(1, 10), F(1, 2), 0.0275044),
    ],
)
def test_the_logistic_column_of_the_table(
    n: int, epsilon: Fraction, target: Fraction, limit: float
) -> None:
    """The limits are those of finer and finer steps; coarser programs give .0774728, .00425541, .0276613."""
    step = common_step([(epsilon, n)])
    found = LossDistribution.logistic(epsilon, step).composed(n).delta(target)
    finer = LossDistribution.logistic(epsilon, step / 8).composed(n).delta(target)
    assert finer - SMALL <= found <= finer * F(1001, 1000)
    assert float(finer) == pytest.approx(limit, rel=1e-4)


def test_tails_are_moved_up(monkeypatch: pytest.MonkeyPatch) -> None:
    one = LossDistribution.logistic(F(1), F(1, 8))
    kept = one.combined(one)
    monkeypatch.setattr(losses, "_TAIL", UNIT // 5)
    cut = one.combined(one)
    assert len(cut.masses) < len(kept.masses) - 4
    assert cut.lowest > kept.lowest
    assert cut.infinite > kept.infinite
    assert sum(cut.masses) + cut.infinite == sum(kept.masses) + kept.infinite
    for j in range(20):
        assert cut.delta(F(j, 9)) >= kept.delta(F(j, 9))
    monkeypatch.setattr(losses, "_TAIL", 2 * UNIT)
    assert len(one.combined(one).masses) == 1


@given(st.integers(1, 12))
def test_n_answers_are_one_and_one_and_one(n: int) -> None:
    one = LossDistribution.logistic(F(1, 2), F(1, 16))
    each = one
    for _ in range(n - 1):
        each = each.combined(one)
    for at in (F(0), F(1), F(3)):
        assert abs(one.composed(n).delta(at) - each.delta(at)) < F(1, 2**80)


@given(kinds, sizes, st.sampled_from([1, 3, 20]), st.integers(1, 40))
def test_epsilon_is_the_inverse_of_delta(kind: Any, size: Fraction, n: int, power: int) -> None:
    made, delta = kind[0](size, F(1, 8)).composed(n), F(1, 2**power)
    found = made.epsilon(delta)
    assert found is not None
    assert made.delta(found) <= delta
    if found > 0:
        assert made.delta(max(F(0), found - F(1, 2**60))) > delta * (1 - F(1, 2**40))


def test_the_ends() -> None:
    one = LossDistribution.laplace(F(1), F(1, 8))
    assert one.epsilon(F(0)) == 1
    assert one.epsilon(F(1)) == 0
    assert one.delta(F(1)) == one.delta(F(50)) == 0
    hopeless = LossDistribution(F(1), 0, (UNIT // 2,), UNIT // 2)
    assert hopeless.epsilon(F(1, 3)) is None
    assert hopeless.delta(F(9)) == F(1, 2)
    low = LossDistribution(F(1), -5, (UNIT,), 0)
    assert low.delta(0) == 0
    assert low.epsilon(0) == 0
    assert one.composed(1) is one


def test_values() -> None:
    one = LossDistribution.pure("0.5", "1/4")
    assert one == LossDistribution.pure(F(1, 2), 0.25)
    assert hash(one) == hash(LossDistribution.pure(F(1, 2), 0.25))
    assert repr(one) == "LossDistribution(5 losses, step 1/4)"


def test_the_common_step() -> None:
    assert common_step([(1, 1)]) == F(1, 128)
    assert common_step([("0.1", 10)]) == common_step([("0.1", 7), (F(1, 10), 3)]) == F(1, 1024)
    for answers in (
        [(F(1, 3), 1)], [(F(1, 10), 5000)], [(1, 9)], [(F(1), 1), (F(1, 1000), 1)],
        [(F(1, 10**6), 10**5)], [(300, 1)],
    ):  # fmt: skip
        step = common_step(answers)
        assert step.numerator == 1 or step.denominator == 1
        assert (step.numerator * step.denominator).bit_count() == 1  # a power of two, either way
        squares = sum(n * F(e) ** 2 for e, n in answers)
        assert (
            sum(n for _, n in answers) * step**2 <= squares / 50
        )  # it adds little to the variance
        assert 300 * squares <= (2 * losses._LONGEST * step) ** 2  # and is no longer than planned


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LossDistribution.pure(0, 1), "epsilon must be greater than zero"),
        (lambda: LossDistribution.pure(1, 0), "step must be greater than zero"),
        (lambda: LossDistribution.pure(2**21, 1), "epsilon must be at most 1,048,576"),
        (lambda: LossDistribution.pure(1, 2**21), "step must be at most 1,048,576"),
        (lambda: LossDistribution.laplace(1, F(1, 2**21)), "step must be at least epsilon / 1,048,576"),
        (lambda: LossDistribution.pure(1, 1).delta(-1), "epsilon must be zero or more"),
        (lambda: LossDistribution.pure(1, 1).epsilon(-1), "delta must be zero or more"),
        (lambda: LossDistribution.pure(1, 1).composed(0), "n must be a whole number from 1"),
        (lambda: common_step([]), "answers must not be empty"),
        (lambda: common_step([(1, 1), (0, 1)]), "epsilon must be greater than zero"),
    ],
)  # fmt: skip
def test_arguments_are_checked(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidNumber, match=message):
        call()


def test_grids_must_be_the_same() -> None:
    with pytest.raises(InvalidArgument, match=r"the same step, got 1 and 0\.5. common_step"):
        LossDistribution.pure(1, 1).combined(LossDistribution.pure(1, F(1, 2)))


def test_without_dp_accounting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    with pytest.raises(MissingPackage, match=r"pip install 'discreet\[accounting\]'"):
        LossDistribution.pure(1, 1).to_dp_accounting()
    assert issubclass(MissingPackage, ImportError)
    assert issubclass(MissingPackage, DiscreetError)


class TestDpAccounting:
    """Google's library computes the same from what we hand over, and more than us on its own."""

    @pytest.fixture(autouse=True)
    def pld(self) -> Any:
        """Their module, which takes seconds to import."""
        return pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

    @pytest.mark.parametrize("make", [kind[0] for kind in KINDS])
    @pytest.mark.parametrize("n", [1, 4, 60])
    def test_the_same_delta(self, make: Callable[[Any, Any], LossDistribution], n: int) -> None:
        one = make(F(1, 4), F(1, 256))
        ours, theirs = one.composed(n), one.composed(n).to_dp_accounting()
        apart = one.to_dp_accounting().self_compose(n) if n > 1 else theirs
        for at in (0.0, 0.125, 0.2, 1.0, 2.0):
            delta = float(ours.delta(F(at)))
            assert theirs.get_delta_for_epsilon(at) == pytest.approx(delta, rel=1e-9, abs=1e-14)
            assert apart.get_delta_for_epsilon(at) == pytest.approx(delta, rel=1e-6, abs=1e-12)

    def test_what_is_handed_over_is_rounded_up(self) -> None:
        one = LossDistribution.logistic(F(1, 3), F(1, 64)).composed(40)
        theirs = one.to_dp_accounting()._pmf_remove.to_dense_pmf()
        assert theirs._lower_loss == one.lowest
        assert F(theirs._discretization) == one.step
        assert F(theirs._infinity_mass) >= F(one.infinite, UNIT)
        for double, mass in zip(theirs._probs.tolist(), one.masses, strict=True):
            assert F(mass, UNIT) <= F(double) <= F(mass, UNIT) * (1 + F(1, 2**52))

    @pytest.mark.parametrize("n", [1, 5, 30])
    def test_our_laplace_is_theirs(self, pld: Any, n: int) -> None:
        theirs = pld.from_laplace_mechanism(parameter=4, value_discretization_interval=1 / 1024)
        ours = LossDistribution.laplace(F(1, 4), F(1, 1024)).composed(n)
        composed = theirs.self_compose(n) if n > 1 else theirs
        for at in (0.0, 0.1, 0.2, 0.7):
            assert float(ours.delta(F(at))) == pytest.approx(
                composed.get_delta_for_epsilon(at), rel=1e-4, abs=1e-12
            )

    @pytest.mark.parametrize(
        ("n", "epsilon", "target", "ratio"),
        [(1, F(1), F(1, 2), 3.7), (10, F(1, 10), F(3, 10), 8.2), (50, F(1, 10), F(1, 2), 4.5)],
    )
    def test_they_charge_the_exponential_mechanism_as_randomised_response(
        self, pld: Any, n: int, epsilon: Fraction, target: Fraction, ratio: float
    ) -> None:
        """Newer versions have an event for it, which their accountant of losses reads as plain epsilon-DP."""
        import dp_accounting
        from dp_accounting.pld import PLDAccountant, common

        parameters = common.DifferentialPrivacyParameters(float(epsilon))
        plain = pld.from_privacy_parameters(parameters)
        theirs = [plain.self_compose(n).get_delta_for_epsilon(float(target))]
        if hasattr(dp_accounting, "ExponentialMechanismDpEvent"):
            event = dp_accounting.ExponentialMechanismDpEvent(float(epsilon))
            composed = dp_accounting.SelfComposedDpEvent(event, n)
            theirs.append(PLDAccountant().compose(composed).get_delta(float(target)))
        ours = LossDistribution.logistic(epsilon, common_step([(epsilon, n)])).composed(n)
        assert min(theirs) / float(ours.delta(target)) > ratio

    def test_they_know_no_step_that_is_no_double(self) -> None:
        with pytest.raises(InvalidNumber, match="step must be a double for dp-accounting, got 1/3"):
            LossDistribution.pure(1, F(1, 3)).to_dp_accounting()


@pytest.mark.parametrize("step", ["1/24", "1/10", "3/8", "1"])
@pytest.mark.parametrize("make", [LossDistribution.gaussian, LossDistribution.laplace])
def test_another_grid_bounds_the_same_losses(make: Any, step: str) -> None:
    """The curve is raised, and little; the mass and the mean of exp(-loss) stay; nothing is added at the ends."""
    one = make(1, "1/16")
    other = one.on(step)
    assert sum(other.masses) + other.infinite >= sum(one.masses) + one.infinite
    assert sum(other.masses) - sum(one.masses) <= 2 * len(one.masses)  # each is rounded up twice
    means = [
        sum(m * math.exp(-float(j * d.step)) for j, m in enumerate(d.masses, d.lowest)) / UNIT
        for d in (one, other)
    ]
    assert means[0] == pytest.approx(means[1])
    for epsilon in ("0", "1/3", "1/2", "1"):
        assert one.delta(epsilon) <= other.delta(epsilon) <= one.delta(epsilon) + F(step) / 4
    assert other.lowest * other.step > one.lowest * one.step - other.step
    ends = [(d.lowest + len(d.masses)) * d.step for d in (one, other)]
    assert ends[1] <= ends[0] + 3 * other.step


@pytest.mark.parametrize("step", ["1/8", "1", "2", "4"])
def test_every_delta_above_the_infinite_mass_has_an_epsilon(step: str) -> None:
    one = LossDistribution.pure(4, step)
    for delta in ("1e-30", "1e-9", "1/3"):
        epsilon = one.epsilon(delta)
        assert epsilon is not None
        assert one.delta(epsilon) <= F(delta)
        assert epsilon <= 4
    never = replace(one, infinite=UNIT // 4)
    assert never.epsilon("1/5") is None
    assert never.epsilon("1/3") is not None
