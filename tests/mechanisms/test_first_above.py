"""First above: the promise for all small databases and neighbours, and the split."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from flint import arb

from discreet.errors import InvalidArgument
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.first_above import FirstThreshold
from discreet.privacy.guarantees import PureDP
from discreet.sampling.enclosures import ball, precision
from discreet.sampling.first_lead import FirstAbove

Places = tuple[int, ...]
"""For each record how many thresholds are not above it."""

Rates = tuple[Fraction, Fraction]


def databases(thresholds: int, most: int) -> Iterator[Places]:
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(range(thresholds + 1), n)


@cache
def probabilities(places: Places, thresholds: int, alpha: Fraction, rates: Rates) -> list[arb]:
    below = np.array([sum(p <= i for p in places) for i in range(thresholds)])
    part, whole = alpha.as_integer_ratio()
    leads = whole * below - part * len(places)
    with precision(256):
        return FirstAbove(leads, rates[0] / whole, rates[1] / whole).probabilities()


def neighbours(thresholds: int, most: int, relation: str) -> Iterator[tuple[Places, Places]]:
    for one in databases(thresholds, most):
        for new in range(thresholds + 1):
            if relation == "add_remove" and len(one) < most:
                yield one, tuple(sorted((*one, new)))
            if relation == "replace_one":
                for i in range(len(one)):
                    yield one, tuple(sorted((*one[:i], *one[i + 1 :], new)))


def largest_loss(thresholds: int, most: int, relation: str, alpha: Fraction, rates: Rates) -> arb:
    """The largest logarithm of a ratio of probabilities of one answer."""
    worst = arb(0)
    for one, two in set(neighbours(thresholds, most, relation)):
        pairs = zip(
            probabilities(one, thresholds, alpha, rates),
            probabilities(two, thresholds, alpha, rates),
            strict=True,
        )
        with precision(256):
            for p, q in pairs:
                worst = arb.max(worst, abs((p / q).log()))
    return worst


def is_within(loss: arb, cost: Fraction) -> bool:
    """Whether a loss is certainly at most a cost, or equal but for 40 digits."""
    with precision(256):
        return bool(loss <= ball(cost) + arb("1e-40"))


ALPHAS = [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1)]
RATES = [
    (Fraction(1), Fraction(1, 2)),
    (Fraction(6, 5), Fraction(1, 2)),
    (Fraction(1, 2), Fraction(3, 2)),
]


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_no_neighbours_are_told_apart_by_more_than_the_cost(
    alpha: Fraction, rates: Rates, relation: str
) -> None:
    loss = largest_loss(3, 3, relation, alpha, rates)
    cost = FirstThreshold(alpha).cost(*rates, relation)  # type: ignore[arg-type]
    assert is_within(loss, cost)


@pytest.mark.proof
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_nor_of_four_records_and_four_thresholds(
    alpha: Fraction, rates: Rates, relation: str
) -> None:
    loss = largest_loss(4, 4, relation, alpha, rates)
    assert is_within(loss, FirstThreshold(alpha).cost(*rates, relation))  # type: ignore[arg-type]


@pytest.mark.parametrize(("level", "epsilon"), [("1", "9/10"), ("6/5", "27/25")])
def test_the_promise_is_reached(level: str, epsilon: str) -> None:
    alpha, rates = Fraction(1, 10), (Fraction(level), Fraction(1, 2))
    cost = FirstThreshold(alpha).cost(*rates, "add_remove")
    assert cost == Fraction(epsilon)
    loss = largest_loss(3, 3, "add_remove", alpha, rates)
    assert loss > ball(cost) - arb("1e-9")
    # So a cost without the level's own part would promise too much.
    assert loss > ball(rates[0] * alpha + rates[1])


def test_a_level_that_moves_the_other_way_would_promise_too_much() -> None:
    # Records that come lower all leads but for those that they are below: with alpha near 1 the level pays for it.
    alpha, rates = Fraction(9, 10), (Fraction(6, 5), Fraction(1, 2))
    loss = largest_loss(3, 3, "add_remove", alpha, rates)
    assert loss > ball(rates[0] * (1 - alpha) + rates[1])


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("alpha", [*ALPHAS, Fraction(99, 100), Fraction(1, 10**6)])
def test_the_split_costs_all_of_epsilon_and_no_more(
    alpha: Fraction, rows: int, neighbors: str
) -> None:
    for epsilon in (Fraction(1), Fraction(1, 7), Fraction(30)):
        mechanism = FirstThreshold(alpha, rows)
        rates = mechanism.rates(epsilon, neighbors)  # type: ignore[arg-type]
        assert min(rates) > 0
        assert mechanism.cost(*rates, neighbors) == epsilon  # type: ignore[arg-type]
        calibrated = mechanism.calibrate(neighbors, PrivacyParameter("epsilon", epsilon))  # type: ignore[arg-type]
        assert calibrated.guarantee == PureDP(epsilon, neighbors)  # type: ignore[arg-type]


def test_the_split_has_nearly_the_least_variance() -> None:
    for alpha in (Fraction(1, 2), Fraction(9, 10), Fraction(1)):
        level, noise = map(float, FirstThreshold(alpha).rates(Fraction(1), "add_remove"))
        least = 1 / level**2 + 1 / noise**2
        for share in np.linspace(0.05, 0.95, 181):
            other = min((1 - share) / float(alpha), 1 / (1 - float(alpha)) if alpha < 1 else 9e9)
            assert 1 / other**2 + 1 / (1 - other * float(alpha)) ** 2 > least * (1 - 1e-6)


def test_a_unit_of_several_rows_moves_the_answer_no_more_than_one_row_at_its_part() -> None:
    alpha, rows, epsilon = Fraction(9, 10), 2, Fraction(1)
    rates = FirstThreshold(alpha, rows).rates(epsilon, "add_remove")
    for one in databases(3, 2):
        for new in itertools.combinations_with_replacement(range(4), rows):
            two = tuple(sorted((*one, *new)))
            pairs = zip(
                probabilities(one, 3, alpha, rates),
                probabilities(two, 3, alpha, rates),
                strict=True,
            )
            with precision(256):
                assert all(is_within(abs((p / q).log()), epsilon) for p, q in pairs)


def test_the_law_is_that_of_the_counts() -> None:
    mechanism = FirstThreshold(Fraction(3, 4))
    calibrated = mechanism.calibrate("add_remove", PrivacyParameter("epsilon", Fraction(1)))
    below = np.array([0, 1, 3, 4])
    law: Any = calibrated.law  # of two arguments
    of = law(below, 5)
    assert of.leads.tolist() == [-15, -11, -3, 1]
    assert (of.level_rate * 4, of.noise_rate * 4) == mechanism.rates(Fraction(1), "add_remove")
    many = law(below * 10**18, 5 * 10**18)
    assert many.leads.tolist() == [10**18 * lead for lead in (-15, -11, -3, 1)]


@pytest.mark.parametrize("kind", ["rho", "scale"])
def test_epsilon_alone_is_taken(kind: str) -> None:
    with pytest.raises(InvalidArgument, match="takes epsilon"):
        FirstThreshold(Fraction(1)).calibrate("add_remove", PrivacyParameter(kind, Fraction(1)))  # type: ignore[arg-type]


def test_noise_that_costs_more_than_its_epsilon_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with `python -O`, which leaves assertions out."""
    monkeypatch.setattr(FirstThreshold, "cost", lambda *_: Fraction(2))
    with pytest.raises(ArithmeticError):
        FirstThreshold(Fraction(1, 2)).calibrate(
            "add_remove", PrivacyParameter("epsilon", Fraction(1))
        )
