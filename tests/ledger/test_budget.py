"""Budgets: what they count, and that no adaptive analyst gets past a filter."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import Exhausted, InvalidArgument
from discreet.ledger.budget import (
    Amount,
    Budget,
    DeltaFor,
    new_budget,
    read_amount,
    read_total,
    rounded_fraction,
)
from discreet.privacy import ZCDP, BoundedRange, PureDP
from discreet.privacy.guarantees import ApproxDP, Guarantee

TENTH = Fraction(1, 10)
epsilons = st.fractions(Fraction(1, 60), 1, max_denominator=60)


def budget(delta_for: DeltaFor | None = None, **terms: object) -> Budget:
    named = {"epsilon": None, "rho": None, "delta": None, **terms}
    return new_budget("adult", None, "add_remove", read_total(**named), delta_for=delta_for)


USES: tuple[DeltaFor, ...] = ("questions", "composition")


def pure(epsilon: Fraction) -> PureDP:
    return PureDP(epsilon, "add_remove")


@given(st.lists(epsilons, max_size=12))
def test_the_pure_filter_admits_exactly_what_fits(charges: list[Fraction]) -> None:
    """Greedily, in exact fractions; whatever was refused would have gone beyond the total."""
    held, total = budget(epsilon=1), Fraction(0)
    for epsilon in charges:
        if total + epsilon <= 1:
            held, total = held.charged(held.cost(pure(epsilon))), total + epsilon
        else:
            with pytest.raises(Exhausted):
                held.charged(held.cost(pure(epsilon)))
    assert (held.spent.epsilon, held.remaining.epsilon) == (total, 1 - total)


@given(st.lists(epsilons, max_size=5))
def test_the_order_of_charges_does_not_matter(charges: list[Fraction]) -> None:
    """Of those that all fit: an order that changed what is spent lost a data node its users."""
    if sum(charges) <= 1:
        ends = set()
        for order in permutations(charges[:4]):
            held = budget(epsilon=1)
            for epsilon in order:
                held = held.charged(held.cost(pure(epsilon)))
            ends.add(held.spent.epsilon)
        assert len(ends) == 1


@given(st.fractions(Fraction(1, 100), 6, max_denominator=100), st.integers(1, 100))
def test_a_cheaper_release_costs_less(epsilon: Fraction, share: int) -> None:
    of_delta = (budget(use, epsilon=1, delta=TENTH) for use in USES)
    for held in (budget(epsilon=1), budget(rho=1), *of_delta):
        for kind in (PureDP, BoundedRange):
            less = held.cost(kind(epsilon * share / 101, "add_remove"))
            more = held.cost(kind(epsilon, "add_remove"))
            pairs = [(less.epsilon, more.epsilon), (less.rho, more.rho)]
            assert all(a is None or b is None or a < b for a, b in pairs)


def test_rho_counts_what_follows() -> None:
    held = budget(rho="1/8")
    half = BoundedRange(Fraction(1, 2), "add_remove")
    held = held.charged(held.cost(half))
    held = held.charged(held.cost(ZCDP(Fraction(1, 8) - half.rho, "add_remove")))
    assert held.spent == Amount(rho=Fraction(1, 8))
    assert not held.fits(held.cost(pure(Fraction(1, 10**9))))


def test_a_delta_for_composition_bounds_rho_alone() -> None:
    held = budget("composition", epsilon=1, delta="1e-6")
    limit = held.total.rho
    assert limit is not None
    for _ in range(5):
        held = held.charged(held.cost(ZCDP(limit / 5, "add_remove")))
    assert held.spent.epsilon is None
    assert held.remaining == Amount(rho=Fraction(0), delta=held.total.delta)
    assert not held.fits(held.cost(pure(Fraction(1, 10**9))))
    held = budget("composition", epsilon=1, delta="1e-6")
    for _ in range(40):  # many small ones go further by rho than by epsilon
        held = held.charged(held.cost(BoundedRange(Fraction(1, 20), "add_remove")))
    with pytest.raises(InvalidArgument, match="counts rho, as its delta is for composition"):
        held.cost(ApproxDP(TENTH, Fraction(1, 10**9), "add_remove"))


def test_a_delta_for_questions_is_added_up() -> None:
    part = ApproxDP(TENTH, Fraction(1, 4 * 10**6), "add_remove")
    held = budget("questions", epsilon=1, delta="1e-6")
    for _ in range(4):
        held = held.charged(held.cost(part))
    assert held.remaining == Amount(Fraction(6, 10), None, Fraction(0))
    with pytest.raises(Exhausted):
        held.charged(held.cost(part))
    held = held.charged(held.cost(pure(Fraction(6, 10))))
    with pytest.raises(Exhausted):
        held.charged(held.cost(pure(Fraction(1, 10**9))))
    for other in (budget(epsilon=1), budget(rho=1), budget(epsilon=1, delta="1e-6")):
        with pytest.raises(InvalidArgument, match="this release"):
            other.cost(part)


# The best that any adaptive analyst can do, computed exactly over all her strategies. Each release is
# randomised response: its privacy loss is +epsilon with probability e^epsilon / (1 + e^epsilon), and -epsilon
# else. An ApproxDP one tells everything with probability delta. `charge` says what a release is charged as.

Release = tuple[Fraction, Fraction, Guarantee]


def the_worst(
    held: Budget,
    releases: list[Release],
    rounds: int,
    fits: Callable[[Budget, Amount], bool] = Budget.fits,
    cost_of: Callable[[Budget, Guarantee], Amount] = Budget.cost,
) -> float:
    """Return the largest delta such that the answers of some analyst are no better than (epsilon, delta)-DP."""
    assert held.total.epsilon is not None
    target = held.total.epsilon

    @cache
    def value(state: Budget, loss: Fraction, left: int) -> float:
        best = max(0.0, 1 - exp(target - loss))
        if left:
            for epsilon, delta, charge in releases:
                cost = cost_of(state, charge)
                if fits(state, cost):
                    after = replace(state, spent=state.spent + cost)
                    up = exp(epsilon) / (1 + exp(epsilon))
                    kept = up * value(after, loss + epsilon, left - 1)
                    kept += (1 - up) * value(after, loss - epsilon, left - 1)
                    best = max(best, float(delta) + (1 - float(delta)) * kept)
        return best

    return value(held, Fraction(0), rounds)


def releases_of(*sizes: Fraction, delta: Fraction | None = None) -> list[Release]:
    found: list[Release] = []
    for size in sizes:
        found.append((size, Fraction(0), pure(size)))
        if delta is None:
            found.append((size, Fraction(0), ZCDP(size**2 / 2, "add_remove")))
        else:
            found.append((size, delta, ApproxDP(size, delta, "add_remove")))
    return found


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1/2", "1/10"), ("1", "1/10"), ("1", "1/100"), ("2", "1/5")]
)
def test_no_adaptive_analyst_gets_past_the_filter(epsilon: str, delta: str) -> None:
    for use in USES:
        held = budget(use, epsilon=epsilon, delta=delta)
        whole, failure = Fraction(epsilon), held.total.delta / 2
        sizes = [whole * share for share in (Fraction(1, 4), Fraction(1, 2), Fraction(1))]
        releases = releases_of(*sizes, delta=failure if use == "questions" else None)
        assert the_worst(held, releases, 5) <= held.total.delta + 1e-12


def test_deltas_that_come_late_would_break_the_promise() -> None:
    """The obvious rule, add deltas to whatever was charged before, is not a filter: so a delta has one use."""

    def obvious(state: Budget, cost: Amount) -> bool:
        after = replace(state, spent=state.spent + cost).remaining
        return after.delta >= 0 and (after.epsilon is not None or after.rho is not None)

    def in_both(_: Budget, charge: Guarantee) -> Amount:
        if isinstance(charge, ApproxDP):
            return Amount(charge.epsilon, None, charge.delta)
        return Amount(charge.pure, charge.rho)

    half, strong, delta = Fraction(1, 2), Fraction(27, 10), Fraction(77, 100)
    among: list[Release] = [
        (half, Fraction(0), pure(half)),
        (strong, Fraction(0), ZCDP(strong**2 / 2, "add_remove")),
        (half, delta, ApproxDP(half, delta, "add_remove")),
    ]
    # A bound on rho that is right for these releases: without deltas, nobody gets past it.
    total = Amount(Fraction(1), half**2 / 2 + strong**2 / 2, delta)
    held = new_budget("adult", None, "add_remove", total)
    assert the_worst(held, among[:2], 3, obvious, in_both) <= delta
    assert the_worst(held, among, 3, obvious, in_both) > delta
    for use, some in zip(USES, ([among[0], among[2]], among[:2]), strict=True):
        with_use = new_budget("adult", None, "add_remove", total, delta_for=use)
        assert the_worst(with_use, some, 3) <= delta + 1e-12


@given(st.fractions(0, 2), st.integers(0, 5000))
def test_what_is_too_fine_is_rounded_up(value: Fraction, bits: int) -> None:
    fine = value + Fraction(1, 3 * 2**bits)
    rounded = rounded_fraction(fine)
    assert rounded >= fine
    assert rounded - fine < Fraction(1, 2**4096)
    assert rounded.denominator.bit_length() <= 4097
    if fine.denominator.bit_length() <= 4097:
        assert rounded == fine


def test_sums_stay_short_whatever_is_charged() -> None:
    """Epsilons of 1/p for ever new primes p would make exact sums grow without end."""
    held, exact = budget(epsilon=100), Fraction(0)
    for p in range(10**40 + 1, 10**40 + 160, 2):
        held = held.charged(held.cost(pure(Fraction(1, p))))
        exact += Fraction(1, p)
    assert held.spent.epsilon is not None
    assert held.spent.epsilon.denominator.bit_length() <= 4097
    assert exact <= held.spent.epsilon < exact + Fraction(1, 2**4000)


@given(st.builds(Amount, st.none() | epsilons, st.none() | epsilons, epsilons))
def test_amounts_survive_as_text(amount: Amount) -> None:
    assert read_amount(amount.as_dict()) == amount


def test_amounts_in_words() -> None:
    assert str(Amount()) == "nothing"
    assert str(Amount(Fraction(1, 3), Fraction(1, 8), TENTH)) == "ε = 1/3 or ρ = 0.125, δ = 0.1"


@pytest.mark.parametrize(
    "text", ["-1", "1e999999999", "1/-2", "0.5", "", " 1", "1/0", "nan", "\u0661"]
)
def test_amounts_are_read_as_they_were_written(text: str) -> None:
    """Less than nothing would make room in a budget, and an exponent fill the memory."""
    with pytest.raises((ValueError, ZeroDivisionError)):
        read_amount({"epsilon": text})


def test_what_is_left_is_rounded_down_in_words() -> None:
    """A quarter and an odd sliver are left: never more than there is."""
    budget = new_budget("d", None, "add_remove", Amount(Fraction(1)))
    for epsilon in (Fraction(1, 4), Fraction(1, 4), Fraction(1, 4) - Fraction(1, 7 * 10**10)):
        budget = budget.charged(Amount(epsilon))
    assert budget.remaining.epsilon == Fraction(1, 4) + Fraction(1, 7 * 10**10)
    assert "≤ 0.750000 of 1 spent, ≥ 0.250000 left" in str(budget)
    assert str(budget.remaining) == "ε ≥ 0.250000"
    assert budget.remaining == Amount(budget.remaining.epsilon)
    assert str(Amount(Fraction(1, 3001))) == "ε ≤ 0.000333223"
    assert str(Amount(Fraction(1, 2)) - Amount(Fraction(1, 4))) == "ε = 0.25"


def test_a_charge_changes_nothing_but_what_is_spent() -> None:
    budget = Budget(
        "adult", "a", "replace_one", Amount(Fraction(3), None, Fraction(1, 9)), Amount(Fraction(1)),
        "user_id", "2027", False, "oversubscribed", "questions", "closed",
    )  # fmt: skip
    after = budget.charged(Amount(Fraction(1, 2)))
    assert after == replace(budget, spent=Amount(Fraction(3, 2)))
    assert after.closed == "closed"
