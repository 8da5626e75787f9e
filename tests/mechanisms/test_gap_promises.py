"""The promises of winner and gap together: likelihood-ratio tests on fine grids, and bounds that do not hold."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import select, simulate
from discreet.errors import InvalidArgument
from discreet.mechanisms import Base2, Exponential, NoisyMax, PermuteAndFlip
from discreet.mechanisms.contract import PrivacyParameter, calibrate
from discreet.mechanisms.gap import WithGap
from discreet.privacy.guarantees import BoundedRange, LaplaceDP, LogisticDP
from discreet.privacy.rho import laplace_rho, logistic_rho, range_rho
from discreet.privacy.sensitivity import Sensitivity
from discreet.sampling.enclosures import precision

from .gap_laws import KINDS, UNIT_SPREAD, winners

SCORES = [(0.0, 0.0), (0.0, 0.6), (0.0, 0.3, 1.1), (2.0, 2.0, 0.0), (0.0, 3.0, 3.0, 1.0)]
GRID = [Fraction(k, 4) for k in range(25)]


def cells_of(kind: str, scores: Sequence[float]) -> NDArray[np.float64]:
    """Return the probabilities of all pairs of a winner and a cell of its gap."""
    rows = []
    for i in range(len(scores)):
        tails = [_tail(kind, scores, i, float(end)) for end in GRID]
        rows.append(-np.diff([*tails, 0.0]))
    return np.concatenate(rows)


def _tail(kind: str, scores: Sequence[float], i: int, least: float) -> float:
    """Return P(i wins by more than `least`): that it wins with a score that is so much lower."""
    lower = [s - least * (j == i) for j, s in enumerate(scores)]
    if kind == "exponential":
        weights = np.exp(np.array(lower) - max(lower))
        return float(weights[i] / weights.sum())
    with precision(80):
        return float(winners(KINDS[kind], [Fraction(s) for s in lower])[i].mid())


def events(p: NDArray[np.float64], q: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Return the probabilities of all events of a likelihood-ratio test."""
    order = np.argsort(-(np.log(p) - np.log(q)))
    return list(zip(p[order].cumsum()[:-1].tolist(), q[order].cumsum()[:-1].tolist(), strict=True))


def log_odds(chance: float) -> float:
    return math.log(chance / (1 - chance))


def laplace_place(chance: float) -> float:
    return math.log(2 * chance) if chance < 0.5 else -math.log(2 * (1 - chance))


PLACES = {"exponential": log_odds, "permute_and_flip": laplace_place, "laplace": laplace_place}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scores", SCORES[:3])
def test_no_event_moves_further_than_promised(kind: str, scores: tuple[float, ...]) -> None:
    """Over the corners a of [0, epsilon]**n the log-odds (or Laplace quantiles) move by at most epsilon."""
    epsilon, worst = 1.0, 0.0
    before = cells_of(kind, scores)
    for corner in itertools.product((0.0, epsilon), repeat=len(scores)):
        after = cells_of(kind, [s + a for s, a in zip(scores, corner, strict=True)])
        for p, q in (*events(after, before), *events(before, after)):
            worst = max(worst, abs(PLACES[kind](p) - PLACES[kind](q)))
    assert worst <= epsilon + 1e-9
    assert worst > 0.8 * epsilon


def test_the_exponential_mechanism_with_its_gap_has_no_bounded_range() -> None:
    """Log-ratios are 3/2 epsilon apart and more, so `BoundedRange` would be a lie."""
    p, q = cells_of("exponential", (0.0, 0.0)), cells_of("exponential", (1.0, 0.0))
    ratios = np.log(p) - np.log(q)
    assert ratios.max() - ratios.min() > 1.5
    assert np.abs(ratios).max() <= 1 + 1e-12


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0])
def test_the_rho_of_a_bounded_range_is_too_small(epsilon: float) -> None:
    """The Kullback-Leibler divergence is above k - 1 - ln k, and at most that of logistic noise."""
    p, q = cells_of("exponential", (0.0, 0.0)), cells_of("exponential", (epsilon, 0.0))
    divergence = float((p * (np.log(p) - np.log(q))).sum())
    exact = Fraction(str(epsilon))
    assert float(range_rho(exact)) < divergence <= float(logistic_rho(exact))
    for order in (1.5, 2.0, 8.0, 64.0):
        moment = math.log((p**order * q ** (1 - order)).sum()) / (order - 1)
        assert moment <= order * float(logistic_rho(exact))


PROMISES = [
    (Exponential(), LogisticDP, logistic_rho),
    (NoisyMax("gumbel"), LogisticDP, logistic_rho),
    (PermuteAndFlip(), LaplaceDP, laplace_rho),
    (NoisyMax("exponential"), LaplaceDP, laplace_rho),
    (NoisyMax(), LaplaceDP, laplace_rho),
]


@pytest.mark.parametrize(("mechanism", "kind", "rho_of"), PROMISES)
def test_what_is_promised(mechanism: Any, kind: Any, rho_of: Any) -> None:
    gap = WithGap(mechanism)
    one = calibrate(gap, UNIT_SPREAD, PrivacyParameter("epsilon", Fraction(1, 3)))
    assert one.guarantee == kind(Fraction(1, 3), "add_remove")
    by_rho = calibrate(gap, UNIT_SPREAD, PrivacyParameter("rho", Fraction(1, 8)))
    epsilon = by_rho.guarantee.pure
    assert epsilon is not None
    assert rho_of(epsilon) <= Fraction(1, 8) < rho_of(epsilon * (1 + Fraction(1, 2**40)))


def test_balanced_scores_are_calibrated_by_their_spread() -> None:
    """Without a gap a change of 1 is charged; with it the spread of 2, for which alone there is a proof."""
    balanced = Sensitivity(Fraction(2), "add_remove", Fraction(1), balanced=True)
    one = PrivacyParameter("epsilon", Fraction(1))
    with_gap = calibrate(WithGap(Exponential()), balanced, one)
    assert with_gap.guarantee == LogisticDP(Fraction(1), "add_remove")
    assert with_gap.gap_grid is not None
    assert with_gap.gap_grid.eta == Fraction(1, 2)


def test_a_mechanism_without_a_proof_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no proof"):
        select([1, 2], sensitivity=1, epsilon=1, mechanism=Base2(), gap=True)


def test_select_says_how_far_ahead_the_winner_is() -> None:
    release = select({"a": 900, "b": 100}, sensitivity=1, monotonic=True, epsilon=1, gap=True)
    assert release.value == "a"
    assert 700 < release.gap < 900
    assert release.guarantee == LogisticDP(Fraction(1), "add_remove")
    assert select([900, 100], sensitivity=1, epsilon=1).gap is None
    assert select([900, 100], sensitivity=1, monotonic=True, epsilon=1).guarantee == BoundedRange(
        Fraction(1)
    )
    several = select([900, 100], sensitivity=1, epsilon=1, gap=True, size=3)
    assert list(several.value) == [0, 0, 0]
    assert len(several.gap) == 3


@pytest.mark.parametrize("scores", [[1], {"a": 3}])
def test_one_candidate_is_refused_before_a_score_is_read(scores: Any) -> None:
    with pytest.raises(InvalidArgument, match="two candidates"):
        select(scores, sensitivity=1, epsilon=1, gap=True)


def test_a_sample_has_the_winners_of_the_mechanism() -> None:
    draws = simulate(select, [9, 1], sensitivity=1, epsilon=20, gap=True, size=20)
    assert draws.frequencies() == {0: 1.0}
