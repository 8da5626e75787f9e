"""Groups that a replaced record leaves, enters or keeps: all changes of one record, against what is promised."""

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import Grid
from discreet.errors import InvalidArgument
from discreet.privacy import ApproxDP, BoundedRange, Composition, PureDP
from discreet.privacy.composition import of_any_parts
from discreet.selection.question import question_of
from discreet.selection.verb_calls import bill_of
from discreet.tables.engines.column import Histogram
from discreet.tables.scores.rank import Rank
from discreet.tables.verbs.group_moves import GroupMoves
from discreet.tables.verbs.units import UnitQuery, per_person, read_unit_query

from ...selection.test_payment import Unread

TOP = 9999
GRID = Grid(0, TOP)
SIZES = (1, TOP - 1, 1)
"""Records are at the two ends of the grid, so that all points between are alike."""

MOST_OTHERS = 16
"""The most records of others in a group, at each end."""

CONTRIBUTIONS = (None, 0, TOP)
"""A record's value in a group, or None where it is not there."""

SETTINGS = [(1, 1), (2, 1), (2, 2), (3, 2), (4, 3), (5, 2)]
"""How many groups are listed, and in how many of them a record is at most."""

ALPHAS = [Fraction(1, 2), Fraction(3, 5), Fraction(3, 4), Fraction(4, 5), Fraction(1)]


def query_of(listed: int, groups: int, neighbors: str, **parameter: Any) -> UnitQuery:
    names = [f"group {i}" for i in range(listed)]
    terms: Any = {"by": "group", "groups": names, "neighbors": neighbors, **parameter}
    return read_unit_query({**terms, "privacy_unit": "who", "max_groups": groups}, bounded=True)


def shared(query: UnitQuery, alpha: Fraction) -> tuple[Any, Any]:
    """Return the terms of one group's answer, and the guarantee of all."""
    [score] = per_person(query, [Rank(Histogram({}), GRID, alpha)])
    terms, together = query._shares_of_groups(score, GRID)
    question = question_of(score, terms, query.relation, query.records.unit, GRID)
    return terms, query.together(question.guarantee) if together is None else together


@cache
def laws(alpha: Fraction, kind: str, share: Fraction) -> dict[tuple[int, int], list[float]]:
    """Return the distribution of one group's answer, by how many records are at 0 and at 1."""
    found = {}
    for low, high in itertools.product(range(MOST_OTHERS + 2), repeat=2):
        score = Rank(Histogram({0: low, TOP: high}), GRID, alpha)
        terms: Any = {kind: share}
        law: Any = question_of(score, terms, "add_remove", None, None).law()
        runs: Any = score.compute(Fraction(10**6))
        ends = [int(start + size) for start, size in zip(runs.starts, runs.sizes, strict=True)]
        masses = [
            float(mass) / int(size)
            for mass, size in zip(law.probabilities(), runs.sizes, strict=True)
        ]
        found[low, high] = [masses[bisect_right(ends, point)] for point in (0, 1, TOP)]
    return found


def pairs(table: dict[tuple[int, int], list[float]], before: Any, after: Any) -> Iterator[Any]:
    """Yield the distributions of a group's answer before and after, for all records of others."""
    for low, high in itertools.product(range(MOST_OTHERS + 1), repeat=2):
        yield tuple(table[low + (own == 0), high + (own == TOP)] for own in (before, after))


def loss(p: list[float], q: list[float]) -> float:
    return max(math.log(a / b) for a, b in zip(p, q, strict=True))


def divergence(order: float, p: list[float], q: list[float]) -> float:
    total = sum(n * a**order * b ** (1 - order) for n, a, b in zip(SIZES, p, q, strict=True))
    return math.log(total) / (order - 1)


def worst(listed: int, groups: int, neighbors: str, of_a_group: dict[Any, float]) -> float:
    """Return the largest sum over groups, for all places of a record before and after."""
    own = [
        one
        for one in itertools.product(CONTRIBUTIONS, repeat=listed)
        if sum(value is not None for value in one) <= groups
    ]
    gone = (None,) * listed
    changes = (
        itertools.permutations(own, 2)
        if neighbors == "replace_one"
        else [*((gone, one) for one in own), *((one, gone) for one in own)]
    )
    return max(
        sum(of_a_group[a, b] for a, b in zip(*change, strict=True) if a != b) for change in changes
    )


def by_group(table: Any, measure: Any) -> dict[Any, float]:
    """Return the largest measure of one group's answers, by the record's place before and after."""
    return {
        (before, after): max(measure(p, q) for p, q in pairs(table, before, after))
        for before, after in itertools.permutations(CONTRIBUTIONS, 2)
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_no_change_of_a_record_costs_more_than_epsilon(neighbors: str, alpha: Fraction) -> None:
    """Of quantiles in groups; and some change costs nearly all of it, so that no larger share would do."""
    for listed, groups in SETTINGS:
        terms, guarantee = shared(query_of(listed, groups, neighbors, epsilon=8), alpha)
        of_a_group = by_group(laws(alpha, "epsilon", terms["epsilon"]), loss)
        found = worst(listed, groups, neighbors, of_a_group)
        assert guarantee.pure == 8
        assert guarantee.neighbors == neighbors
        assert 7.2 < found <= 8 + 1e-9, (listed, groups)


@pytest.mark.one_in(7)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("listed", "groups"), SETTINGS)
def test_no_change_of_a_record_costs_more_than_rho(
    listed: int, groups: int, alpha: Fraction
) -> None:
    """At any order; and near order 1 some change costs most of it."""
    terms, guarantee = shared(query_of(listed, groups, "replace_one", rho=1), alpha)
    table = laws(alpha, "rho", terms["rho"])
    assert Fraction(9, 10) < guarantee.rho <= 1
    for order in (1.001, 2, 9):
        of_a_group = by_group(table, lambda p, q: divergence(order, p, q))  # noqa: B023
        worst_divergence = worst(listed, groups, "replace_one", of_a_group) / order
        assert worst_divergence <= float(guarantee.rho) + 1e-9, order
        assert order > 2 or worst_divergence > 0.4 * float(guarantee.rho)


@pytest.mark.parametrize(
    ("listed", "groups", "common"),
    [(5, 2, 0), (4, 2, 0), (3, 2, 1), (2, 2, 2), (1, 1, 1), (1, 3, 1)],
)
def test_the_fewest_groups_in_common(listed: int, groups: int, common: int) -> None:
    assert GroupMoves.among(listed, groups) == GroupMoves(min(groups, listed), common)


def test_all_groups_taken_as_kept_would_not_do() -> None:
    """A mutant: of five groups a record may leave two and enter two others."""
    alpha, kept = Fraction(1), GroupMoves(2, 2)
    assert GroupMoves.among(5, 2) != kept
    parameter = discreet.mechanisms.contract.PrivacyParameter("epsilon", Fraction(2))
    share = kept.share(parameter, Fraction(1)).value
    of_a_group = by_group(laws(alpha, "epsilon", share), loss)
    assert worst(5, 2, "replace_one", of_a_group) > 3.6


def test_promises_together() -> None:
    moves, relation = GroupMoves(3, 1), "replace_one"
    one, replaced = BoundedRange(Fraction(1, 2)), BoundedRange(Fraction(2, 3), "replace_one")
    whole: Any = moves.together(one, replaced)
    assert whole.pure == Fraction(2, 3) + 2
    assert whole.rho == max(3 * replaced.rho, replaced.rho + 4 * one.rho)
    assert whole.neighbors == relation
    wide = BoundedRange(Fraction(9, 10), "replace_one")
    assert GroupMoves(3, 0).together(one, wide).rho == 3 * wide.rho > 6 * one.rho
    same = GroupMoves(2, 2).together(PureDP(Fraction(1)), PureDP(Fraction(1), "replace_one"))
    assert same.pure == 2
    assert GroupMoves(1, 1).together(one, replaced) == replaced


THREE_GROUPS = list(itertools.combinations(range(3), 2))
"""The groups of a person who is in two of three."""


def most_between(ratios: list[list[float]], epsilon: float) -> float:
    """The least delta of answers of two candidates each, told by the chances of the first before and after."""
    total = 0.0
    for outcome in itertools.product((0, 1), repeat=len(ratios)):
        before, after = (
            math.prod(
                p[side] if first else 1 - p[side] for p, first in zip(ratios, outcome, strict=True)
            )
            for side in (0, 1)
        )
        total += max(0.0, before - math.exp(epsilon) * after)
    return total


@cache
def chance_of_first(mechanism: str, share: Fraction, first: int, second: int) -> float:
    """The chance of the first of two candidates with so many records."""
    votes = ["a"] * first + ["b"] * second
    law: Any = discreet.distribution(
        discreet.mode, votes, candidates=["a", "b"], epsilon=share, mechanism=mechanism
    )
    return float(law.probability("a"))


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize(
    ("neighbors", "share"), [("add_remove", Fraction(1)), ("replace_one", Fraction(1, 2))]
)
def test_three_persons_in_all_places(neighbors: str, share: Fraction, mechanism: str) -> None:
    """Each is in two of three groups and comes with votes for `a`, or replaces votes for `b` by them."""
    terms: Any = {"candidates": ["a", "b"], "by": "g", "groups": [0, 1, 2], "max_groups": 2}
    terms |= {"privacy_unit": "u", "neighbors": neighbors, "mechanism": mechanism, "epsilon": 2}
    promise = bill_of(discreet.mode, Unread(), "v", **terms).guarantee.group(3)
    taken = 0 if neighbors == "add_remove" else 1
    for places in itertools.combinations_with_replacement(THREE_GROUPS, 3):
        moved = [sum(group in place for place in places) for group in range(3)]
        for a, b in itertools.product(range(3), repeat=2):
            chances = [
                [
                    chance_of_first(mechanism, share, a + after, b + taken * (n - after))
                    for after in (0, n)
                ]
                for n in moved
            ]
            back = [list(reversed(one)) for one in chances]
            for epsilon in range(4):
                worst = max(most_between(chances, epsilon), most_between(back, epsilon))
                assert worst <= float(promise.delta_at(epsilon)), (places, epsilon)


def test_answers_of_other_groups_are_not_parts_that_go_farther() -> None:
    """The kind alone: of three records in two of three groups each moves every one twice."""
    both: Any = Composition(((PureDP(Fraction(1)), 2),))
    thrice: Any = PureDP(Fraction(2)).repeated(3)
    assert both.group(3).delta_at(0) < Fraction(91, 100) < Fraction(92, 100) < thrice.delta_at(0)
    assert of_any_parts(both, None).group(3).delta_at(0) >= thrice.delta_at(0)
    fixed = GroupMoves(2, 2).together(PureDP(Fraction(1)), PureDP(Fraction(1), "replace_one"))
    assert fixed == Composition(((PureDP(Fraction(1), "replace_one"), 2),))
    assert of_any_parts(PureDP(Fraction(1)), None) == PureDP(Fraction(1))
    without = of_any_parts(Composition(((ApproxDP(Fraction(1), Fraction(1, 9)), 2),)), None)
    with pytest.raises(InvalidArgument, match="groups"):
        without.group(3)


VERBS: dict[str, Any] = {
    "median": lambda data, **terms: discreet.median(data, "v", candidates=Grid(0, 9), **terms),
    "quantile": lambda data, **terms: discreet.quantile(
        data, "v", alpha="3/4", candidates=Grid(0, 9), **terms
    ),
    "maximum": lambda data, **terms: discreet.maximum(data, "v", candidates=Grid(0, 9), **terms),
    "mode": lambda data, **terms: discreet.mode(data, "v", candidates=[1, 2], **terms),
    "best_price": lambda data, **terms: discreet.best_price(
        data, "v", candidates=Grid(0, 9), **terms
    ),
    "top_k": lambda data, **terms: discreet.top_k(data, "v", k=2, candidates=[1, 2, 3], **terms),
}


@pytest.mark.parametrize(
    "mechanism", [None, "exponential", "permute_and_flip", "noisy_max(gumbel)"]
)
@pytest.mark.parametrize("parameter", [{"epsilon": 1}, {"rho": 1}, {"scale": 5}])
@pytest.mark.parametrize("verb", VERBS)
def test_verbs_promise_no_more_than_was_asked(verb: str, parameter: Any, mechanism: Any) -> None:
    if mechanism == "noisy_max(gumbel)":
        mechanism = discreet.mechanisms.NoisyMax("gumbel") if verb == "mode" else None
    if verb in ("best_price", "top_k") and mechanism == "permute_and_flip":
        mechanism = None  # its scores slope, or it is a list
    terms = {} if mechanism is None else {"mechanism": mechanism}
    listed: Any = {"by": "g", "groups": ["a", "b", "c"], "neighbors": "replace_one"}
    listed |= {"privacy_unit": "u", "max_groups": 2}
    guarantee = bill_of(VERBS[verb], Unread(), **listed, **parameter, **terms).guarantee
    assert guarantee.neighbors == "replace_one"
    for kind, value in parameter.items():
        if kind != "scale":
            said = getattr(guarantee, "pure" if kind == "epsilon" else "rho")
            assert Fraction(3, 4) * value < said <= value


def test_a_mechanism_without_a_rate_has_the_shares_of_two_steps() -> None:
    data = pl.DataFrame({"g": ["a"], "v": [1]})
    terms: Any = {"by": "g", "groups": ["a"], "neighbors": "replace_one", "epsilon": 1}
    terms["mechanism"] = discreet.mechanisms.NoisyMax("laplace")
    quantile = discreet.maximum(data, "v", candidates=[0, 1], **terms)
    assert quantile.guarantee.pure == 1
