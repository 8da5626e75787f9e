"""How far in rank several quantiles may be off: no small table is worse, and some are nearly as bad."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import Grid
from discreet.mechanisms.accuracy import CONFIDENCE, RANKS_OF_QUANTILES, ErrorBound
from discreet.selection.verb_calls import bill_of
from discreet.tables.scores import sorted_records
from discreet.tables.scores.sorted_records import SortedRecords
from discreet.tables.verbs.quantiles import Levels

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
