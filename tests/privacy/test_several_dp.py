"""Several promises of one answer: each bound is the least of theirs, and what is charged is what was asked for."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from discreet import Ledger, compose
from discreet.errors import InvalidArgument, InvalidNumber
from discreet.mechanisms import private_keys
from discreet.mechanisms.key_shares import share_at
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Composition,
    Odometer,
    PureDP,
    SeveralDP,
)
from discreet.privacy.composition import with_parts
from discreet.privacy.guarantees import read_guarantee
from discreet.sampling.enclosures import precision

from ..mechanisms.test_private_keys import law_of, neighbours

ADD: Any = "add_remove"
EPSILONS = [Fraction(n, 4) for n in range(17)]
TOLERANCE = 1e-12


def test_each_bound_is_the_least() -> None:
    first, second = PureDP(Fraction(1)), ZCDP(Fraction(1, 10))
    both = SeveralDP((first, second))
    numbers: list[Any] = [both.pure, both.rho, both.slack]
    assert numbers == [1, Fraction(1, 10), 0]
    assert both.core is both
    assert str(both) == str(first)
    for epsilon in ("0", "1/2", "9/10", "1"):
        assert both.delta_at(epsilon) == min(first.delta_at(epsilon), second.delta_at(epsilon))
    assert Fraction(99, 100) < both.approx("1e-6").epsilon <= 1
    assert both.approx("1/10").epsilon == second.approx("1/10").epsilon < 1
    with precision(128):
        assert not both.renyi(arb(1)) > second.renyi(arb(1))  # type: ignore[operator]
        assert not both.renyi(arb(99)) > first.renyi(arb(99))  # type: ignore[operator]
        assert not both.ceiling(arb(0.1)) > first.ceiling(arb(0.1))  # type: ignore[operator]
    assert both.group(2) == SeveralDP((PureDP(Fraction(2)), ZCDP(Fraction(4, 10))))
    assert both.under("replace_one").neighbors == "replace_one"
    assert both.repeated(3) == Composition(((both, 3),))
    assert read_guarantee(both.as_dict()) == both


def test_what_none_of_them_says_is_not_said() -> None:
    loose = with_parts(
        ApproxDP(Fraction(1), Fraction(1, 10)), ApproxDP(Fraction(1, 2), Fraction(1, 20))
    )
    assert (loose.pure, loose.rho, loose.renyi(arb(1))) == (None, None, None)
    assert (loose.slack, loose.core) == (Fraction(1, 10), PureDP(Fraction(1)))
    assert loose.approx("1/20").epsilon == Fraction(1, 2)
    with pytest.raises(InvalidNumber):
        loose.approx("1/100")
    for bad in ((), (PureDP(Fraction(1)), PureDP(Fraction(1), "replace_one")), (3,)):
        with pytest.raises(InvalidArgument):
            SeveralDP(bad)  # type: ignore[arg-type]


def test_a_composition_takes_all_of_one_reading() -> None:
    """Its bounds are the least of those of the pairs as they were asked for, and of the parts."""
    whole = ApproxDP(Fraction(1), Fraction(1, 10**6))
    parts = [BoundedRange(Fraction(1, 10))] * 10
    several = with_parts(whole, *parts, ApproxDP(Fraction(0), Fraction(1, 10**7)))
    twice = compose(several, several)
    fine, coarse = compose(several.promises[1], several.promises[1]), compose(whole, whole)
    for delta in ("3e-6", "1e-3"):
        assert twice.approx(delta).epsilon <= min(
            fine.approx(delta).epsilon, coarse.approx(delta).epsilon
        )
    assert twice.approx("3e-6").epsilon < Fraction(7, 4) < coarse.approx("3e-6").epsilon
    with pytest.raises(InvalidArgument):
        twice.approx("1e-8")
    with pytest.raises(InvalidArgument):
        coarse.approx("1e-6")
    assert twice.approx("1e-6").epsilon > 0  # of the parts 2e-7 may fail


def optimal(keys: int, delta: Fraction) -> PrivateKeys:
    """Return keys by the optimal rule, also where Gaussian thresholds show more."""
    mechanism = PrivateKeys(Fraction(1), delta, keys)
    mechanism.__dict__["threshold"] = None
    return mechanism


def test_a_ledger_charges_what_was_asked_for(tmp_path: Any) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("data", epsilon=3, delta="1e-5", delta_for="questions")
    promise = optimal(50, Fraction(1, 10**6)).guarantee
    ledger.session("data").charge(promise, description="keys", request="a")
    spent = ledger.budgets()[0].spent
    assert (spent.epsilon, spent.delta) == (Fraction(1), Fraction(1, 10**6))
    assert ledger.spent("data").parts == ((promise, 1),)


# --- keys of several a unit: the parts are what neighbours differ by, for one release and for two


def settings() -> Iterator[tuple[int, Any, bool]]:
    """Yield keys, relation, and whether each key has a larger epsilon than the split."""
    for is_larger in (False, True):
        yield from ((2, ADD, is_larger), (3, ADD, is_larger), (1, "replace_one", is_larger))


def mechanism_of(keys: int, relation: Any, is_larger: bool) -> PrivateKeys:
    mechanism = PrivateKeys(Fraction(2), Fraction(1, 5), keys, relation)
    mechanism.__dict__["threshold"] = None
    own = Fraction(2, mechanism.changes) * (Fraction(9, 8) if is_larger else 1)
    share: Any = share_at
    with patch.object(private_keys, "best_share", lambda *public: share(*public, own)):
        assert mechanism.share.epsilon == own
    return mechanism


def laws(mechanism: PrivateKeys, counts: Any) -> NDArray[np.float64]:
    """Return the probabilities of all answers about the keys of a table."""
    total = np.ones(1)
    for count in counts:
        with precision(64):
            # The law is not taken from the cache, where equal settings of other shares are one.
            law = [float(p) for p in law_of.__wrapped__(mechanism, count, True)]
        total = np.outer(total, law).ravel()
    return total


def excesses(mechanism: PrivateKeys, keys: int, relation: Any, releases: int) -> list[float]:
    """Return by epsilon the largest P(S) - e**epsilon Q(S) of all small neighbours."""
    worst = [0.0] * len(EPSILONS)
    pairs = [zip(p, q, strict=True) for p, q in neighbours(keys, relation)]
    for moved in {tuple((a, b) for a, b in pair if a != b) for pair in pairs}:
        one, other = (laws(mechanism, counts) for counts in zip(*moved, strict=True))
        if releases == 2:
            one, other = np.outer(one, one).ravel(), np.outer(other, other).ravel()
        for i, epsilon in enumerate(EPSILONS):
            worst[i] = max(
                worst[i], float(np.maximum(one - np.exp(float(epsilon)) * other, 0).sum())
            )
    return worst


@pytest.mark.parametrize("releases", [1, 2])
@pytest.mark.parametrize(("keys", "relation", "is_larger"), [*settings()])
def test_keys_of_several_by_enumeration(
    keys: int, relation: Any, is_larger: bool, releases: int
) -> None:
    """No neighbours are told apart better than the parts say, some nearly as well, and fewer parts would not do."""
    mechanism = mechanism_of(keys, relation, is_larger)
    each = ApproxDP(*mechanism.share, relation)
    found = excesses(mechanism, keys, relation, releases)
    promise = compose([mechanism.guarantee] * releases)
    said = [float(promise.delta_at(epsilon)) for epsilon in EPSILONS]
    assert all(a <= b + TOLERANCE for a, b in zip(found, said, strict=True))
    assert max(a / b for a, b in zip(found, said, strict=True)) > 0.7
    fewer = each.repeated((mechanism.changes - 1) * releases)
    assert any(
        a > float(fewer.delta_at(e)) + TOLERANCE for a, e in zip(found, EPSILONS, strict=True)
    )


@pytest.mark.parametrize(("keys", "least"), [(5, "6.93017377"), (10, "4.78772376")])
def test_ten_releases_of_keys_of_several(keys: int, least: str) -> None:
    """V1 of an independent computation: the least epsilon at a delta of 1e-6 in all."""
    promise = optimal(keys, Fraction(1, 10**8)).guarantee
    bounds = compose([promise] * 10).bounds("1e-6")
    assert f"{float(bounds.values['kov']):.8f}" == least
    assert bounds.least <= bounds.values["kov"]
    assert compose([promise.promises[0]] * 10).approx("1e-6").epsilon > Fraction(99, 10)  # type: ignore[union-attr]


def test_an_odometer_settles_what_it_counts_before_the_answer() -> None:
    """It takes the parts if their sums are no more than what was asked for, and never the better one afterwards."""
    split = optimal(10, Fraction(1, 10**8)).guarantee
    exact = optimal(50, Fraction(1, 10**8)).guarantee
    of_split, of_exact = (Odometer(ADD, ((one, 10),)) for one in (split, exact))
    assert of_split.delta == of_exact.delta == Fraction(10, 10**8)
    assert of_split.approx("1e-6").epsilon < Fraction(11, 2)
    coarse = Odometer(ADD, ((exact.promises[0], 10),))  # type: ignore[union-attr]
    assert of_exact.approx("1e-6") == coarse.approx("1e-6")
    whole = ApproxDP(Fraction(2), Fraction(1, 10**8))
    nested = Odometer(ADD, ((with_parts(whole, split, PureDP(Fraction(1))), 10),))
    assert nested.approx("1e-6").epsilon < 16


def _chance_of_own_keys(rule: PrivateKeys, units: int) -> Fraction:
    """Return the probability that a key is shown which so many units have, all with the same keys, alone."""
    threshold: Any = rule.threshold
    variance, last = (
        float(threshold.sigma_squared),
        threshold.least + 60 * rule.weight_of(rule.keys),
    )
    reached = units * rule.weight_of(rule.keys)
    masses = {j: math.exp(-j * j / (2 * variance)) for j in range(-last, last + 1)}
    above = sum(mass for j, mass in masses.items() if j >= threshold.least - reached)
    return 1 - (1 - Fraction(above / sum(masses.values()))) ** rule.keys


@pytest.mark.parametrize(
    ("epsilon", "delta", "keys", "units"),
    [(3, "1e-6", 4, 2), (1, "1e-6", 10, 10), (1, "1e-8", 5, 5)],
)
def test_a_group_with_the_same_keys_is_within_what_is_promised_of_groups(
    epsilon: int, delta: str, keys: int, units: int
) -> None:
    """One event has this chance on one side and none on the other, whatever epsilon is."""
    rule = PrivateKeys(Fraction(epsilon), Fraction(delta), keys, ADD)
    needed, many = _chance_of_own_keys(rule, units), rule.guarantee.repeated(3)
    parts: Any = rule.guarantee.promises[1]  # type: ignore[union-attr]
    assert any(parts.group(units).delta_at(e) < needed for e in range(4, 40))
    for e in (*range(4, 40), 200):
        assert rule.guarantee.group(units).delta_at(e) >= needed
        assert many.group(units).delta_at(e) >= needed


def test_of_parts_a_group_has_their_epsilon_and_rho_alone() -> None:
    parts = Composition(((PureDP(Fraction(1)), 2), (BoundedRange(Fraction(1, 2)), 1)))
    several = SeveralDP((parts, ZCDP(Fraction(1))))
    assert several.group(1) is several
    assert parts.rho is not None
    by_rho = ZCDP(9 * parts.rho)
    assert several.group(3) == SeveralDP((PureDP(Fraction(15, 2)), by_rho, ZCDP(Fraction(9))))
    pair = ApproxDP(Fraction("1"), Fraction("1e-6"))
    assert SeveralDP((pair, parts.repeated(2))).group(2) == SeveralDP(
        (pair.group(2), PureDP(Fraction(10)), ZCDP(8 * parts.rho))
    )
    with pytest.raises(InvalidArgument, match="no promise about groups"):
        SeveralDP((compose(ApproxDP(Fraction("1"), Fraction("1e-6")), ZCDP(Fraction(1))),)).group(2)
