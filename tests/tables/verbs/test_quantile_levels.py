"""How far in rank several quantiles may be off: no small table is worse, and some are nearly as bad."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations_with_replacement
from math import log
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import Grid
from discreet.mechanisms.accuracy import CONFIDENCE, RANKS_OF_QUANTILES, ErrorBound
from discreet.selection.verb_calls import bill_of
from discreet.tables.scores import sorted_records
from discreet.tables.scores.sorted_records import SortedRecords
from discreet.tables.verbs.quantile_levels import (
    Levels,
    error_at_once,
    error_by_parts,
    error_one_by_one,
)

from ...mechanisms.joint.test_joint_quantiles import RELATIONS, by_enumeration
from ...mechanisms.joint.test_joint_quantiles import quantiles as joint_of

METHODS = ["recursive", "independent", "joint"]
ALPHAS = [["1/2"], ["1/4", "1/2", "3/4"], ["1/10", "9/10"], ["0", "1/3"]]
PARTS = 128

Records = tuple[int, ...]


@pytest.fixture
def few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut a point in few parts, still more than there are records: of 2**32 the bound is larger."""
    monkeypatch.setattr(sorted_records, "PARTS", PARTS)


def bound_of(alphas: list[str], size: int, **terms: Any) -> ErrorBound:
    worst: Any = bill_of(
        discreet.quantiles, [], alphas=alphas, candidates=Grid(0, size - 1), **terms
    ).worst_error
    return worst  # type: ignore[no-any-return]


def off_by(data: Records, values: Any, alphas: list[str]) -> Fraction:
    """How far the wanted ranks are from those of the values."""
    values = values if isinstance(values, tuple) else (values,)
    errors = [Fraction(0)]
    for value, alpha in zip(values, map(Fraction, alphas), strict=True):
        rank = alpha * len(data)
        below, up_to = sum(x < value for x in data), sum(x <= value for x in data)
        errors += [below - rank, rank - up_to]
    return max(errors)


def law_of(data: Records, alphas: list[str], size: int, **terms: Any) -> Mapping[Any, float]:
    """The probability of each list."""
    if terms["method"] == "joint":  # by the definition of its scores
        joint = joint_of(alphas, size)
        spread = joint.sensitivity(terms["neighbors"]).spread
        laws = by_enumeration(data, joint, Fraction(terms["epsilon"]) / spread)
        return {values: float(chance) for values, chance in laws.items()}
    law = discreet.distribution(
        discreet.quantiles, list(data), alphas=alphas, candidates=Grid(0, size - 1), **terms
    )
    return {values: float(chance) for values, chance in law.pmf().items()}


def chance_of(error: Fraction, data: Records, alphas: list[str], size: int, **terms: Any) -> float:
    laws = law_of(data, alphas, size, **terms)
    return sum(p for values, p in laws.items() if off_by(data, values, alphas) >= error)


@pytest.mark.usefixtures("few_parts")
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("alphas", ALPHAS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.one_in(3)
def test_no_small_table_is_worse(method: str, alphas: list[str], neighbors: Any) -> None:
    terms = {"method": method, "epsilon": 6, "neighbors": neighbors}
    bound = bound_of(alphas, 3, **terms)
    assert (bound.probability, bound.unit) == (CONFIDENCE, RANKS_OF_QUANTILES)
    for number in range(4):
        for data in combinations_with_replacement(range(3), number):
            missed = chance_of(bound.error, data, alphas, 3, **terms)
            assert missed <= 1 - CONFIDENCE


FACTORS = {"recursive": 3, "independent": 3, "joint": 2}
"""So many times as far off as on the worst of some tables the bounds are, at most."""


@pytest.mark.usefixtures("few_parts")
@pytest.mark.parametrize("alphas", ALPHAS[1:])
@pytest.mark.parametrize("method", METHODS)
def test_some_tables_are_nearly_as_bad(method: str, alphas: list[str]) -> None:
    """All records are at one point or at the two ends, as many as make the errors matter."""
    terms = {"method": method, "epsilon": 1, "neighbors": "add_remove"}
    bound = bound_of(alphas, 4, **terms)
    nearly = bound.error / FACTORS[method]
    tables = [
        table
        for number in (8, 16, 32)
        for table in (
            (0,) * number,
            (3,) * number,
            (0,) * (number // 2) + (3,) * (number // 2),
            (0,) * (number // 4) + (3,) * (3 * number // 4),
        )
    ]
    missed = [chance_of(nearly, data, alphas, 4, **terms) for data in tables]
    assert max(missed) > 1 - CONFIDENCE


FORTY: list[tuple[str, list[str], str, Records, str]] = [
    ("recursive", ["1/100"], "2", (0,) * 6, "9/10"),
    ("independent", ["1/100"], "2", (0,) * 6, "9/10"),
    ("independent", ["9/20", "1/2"], "4", (0, 0, 0, 1, 1, 1), "7/10"),
    ("joint", ["1/100"], "8", (0, 0), "9/10"),
    ("joint", ["1/2"], "8", (0, 1), "3/4"),
    ("joint", ["9/20", "1/2"], "4", (0,) * 8, "3/4"),
]
"""Methods, alphas and epsilons, and tables on forty points that are off by that share of the bound."""


@pytest.mark.usefixtures("few_parts")
@pytest.mark.parametrize(("method", "alphas", "epsilon", "data", "share"), FORTY)
def test_on_forty_points_bounds_are_nearly_reached(
    method: str, alphas: list[str], epsilon: str, data: Records, share: str
) -> None:
    terms = {"method": method, "epsilon": epsilon, "neighbors": "add_remove"}
    error = bound_of(alphas, 40, **terms).error
    assert chance_of(error, data, alphas, 40, **terms) <= 1 - CONFIDENCE
    assert chance_of(error * Fraction(share), data, alphas, 40, **terms) > 1 - CONFIDENCE


def test_with_many_ties_a_cut_is_as_far_off_as_its_bound() -> None:
    """Of thousands of millions of ties each has a small part of a point, and an empty point all of its parts."""
    levels = Levels.read(["1/4", "1/2", "3/4"], Grid(0, 3), {"epsilon": 1})
    bound: Any = levels.error_below(4, "recursive", 1)
    assert chance_between(levels, int(bound.error * Fraction(8, 10))) > 1 - CONFIDENCE
    assert chance_between(levels, int(bound.error) + 1) < 1 - CONFIDENCE


def chance_between(levels: Levels, off: int, ties: int = 2**31) -> float:
    """The probability that the median of ties at the ends is between them, so many ranks off."""
    middle = levels.branches[1]
    part = SortedRecords.of(np.array([0, 3]), np.array([ties, ties + 2 * off])).whole(4)
    runs = part.cut_scores(middle.share, middle.calibrated.cutoff_gap)
    rate = float(levels.epsilon) / 2  # of a score in halves of a rank
    weights = np.exp(rate * np.array(runs.tops.values, dtype=float)) * runs.sizes
    weights[np.array(runs.summaries)] = 0.0  # of exp(-160) and less
    is_empty = np.array(runs.sizes) >= 2 * sorted_records.PARTS
    return float(weights[is_empty].sum() / weights.sum())


def nats(points: int, misses: float) -> float:
    """How far all points but one are behind it in nats if they weigh so much together."""
    return log((points - 1) * (1 - misses) / misses)


def shares(*texts: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, texts))


MANY = 10**6
MISSED = Fraction(1, 20)
HALF = Fraction(1, 2)


def test_values_drawn_one_by_one_are_as_far_off_as_the_worst_of_them() -> None:
    """A record moves a score by 9/10 or 1/2 of a rank, and another as far down; at an end one moves it by 1."""
    far = nats(MANY, 1 / 20 / 2) / (1 / 2)  # two values miss
    for texts, moved in [
        (("1/10", "1/2"), 9 / 5),
        (("1/2", "9/10"), 9 / 5),
        (("0", "1/2"), 1),
        (("0", "1"), 1),
    ]:
        error = error_one_by_one(shares(*texts), MANY, (HALF, "add_remove"), MISSED)
        assert float(error or 0) == pytest.approx(moved * far)
    error = error_one_by_one(shares("1/10", "1/2"), MANY, (HALF, "replace_one"), MISSED)
    assert float(error or 0) == pytest.approx(2 * far)


def test_values_drawn_at_once_are_off_by_half_of_the_way() -> None:
    """Four points have 20 lists of three. A record moves the way of quartiles by 3/2, and another as far back."""
    error = error_at_once(shares("1/4", "1/2", "3/4"), 4, (HALF, "add_remove"), MISSED)
    assert float(error) == pytest.approx((3 + 3 * nats(20, 1 / 20) / (1 / 2)) / 2)


def offs(number: int, size: int) -> tuple[float, float]:
    """How far a median is off in its part at an epsilon of 1/2, if it cuts that, and if it is the last."""
    misses = 1 / 20 / number
    return nats(size * 2**32, misses) * 2 + 1 / 2, nats(size, misses) * 2


def test_errors_of_the_ends_are_added_to_those_of_a_part() -> None:
    """Eighths are halves of their parts, three deep: 1/2 first, then 1/4 and 3/4, and between them the others."""
    eighths = tuple(Fraction(k, 8) for k in range(1, 8))
    for size in (4, MANY):
        cut, last = offs(7, size)
        quarter = cut / 2 + cut  # between 0, which is not off, and the half
        eighth = (cut + quarter) / 2 + last  # between the half and a quarter
        error = error_by_parts(eighths, size, HALF, MISSED)
        assert float(error or 0) == pytest.approx(max(quarter, eighth))
    assert eighth > quarter  # among many points


@pytest.mark.parametrize("texts", [("1/4", "1/2", "5/8"), ("3/8", "1/2", "3/4")])
def test_the_nearer_end_of_a_part_counts_more(texts: tuple[str, ...]) -> None:
    """5/8 is a quarter of the way from the median to 1, and 3/8 from the median to 0: its score moves by 3/4."""
    cut, last = offs(3, MANY)
    nearer = 3 / 4 * cut + 3 / 4 * 2 * last
    assert nearer > max(cut, cut / 2 + last)
    error = error_by_parts(shares(*texts), MANY, HALF, MISSED)
    assert float(error or 0) == pytest.approx(nearer)


@pytest.mark.parametrize("method", METHODS)
def test_lists_of_groups_share_the_chance(method: str) -> None:
    """Ten lists at 1/200 each miss a bound as often as one at 1/20."""
    levels = Levels.read(["1/4", "1/2"], Grid(0, MANY - 1), {"epsilon": 1})
    bound: Any = levels.error_below(MANY, method, 10)
    chance = (1 - CONFIDENCE) / 10
    errors = {
        "recursive": error_by_parts(levels.alphas, MANY, HALF, chance),
        "independent": error_one_by_one(levels.alphas, MANY, (HALF, "add_remove"), chance),
        "joint": error_at_once(levels.alphas, MANY, (Fraction(1), "add_remove"), chance),
    }
    assert errors[method] is not None
    assert float(errors[method] or 0) == pytest.approx(float(bound.error), rel=0.01)
