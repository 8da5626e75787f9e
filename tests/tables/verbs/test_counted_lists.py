"""The most common values by noisy counts: no neighbour tells more than was paid for, in any engine."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidArgument, InvalidCandidates
from discreet.mechanisms.top_counts import TopCounts
from discreet.privacy import DiscreteGaussianDP
from discreet.selection.verb_calls import delivery_of
from discreet.tables.values import meanings as meanings_module

from ...engines import ENGINES
from ...mechanisms.test_top_counts import answers, chance

A = Fraction(1, 2)
"""exp(-eta), if eta were the logarithm of 2: so all probabilities are fractions."""

DRINKS = ["tea", "milk", "soda"]


def counted(data: Any, **terms: Any) -> tuple[list[int], TopCounts]:
    """Return the counts that a question is answered from, and its mechanism."""
    terms = {"k": 2, "candidates": DRINKS, "epsilon": 1, "method": "counts", **terms}
    question = delivery_of(discreet.top_k, data, "drink", **terms).order.question
    assert question is not None
    assert isinstance(question.mechanism, TopCounts)
    scores: Any = question.scores()
    return [int(scores.exact(i)) for i in range(len(scores))], question.mechanism


def worst_ratio(pairs: set[tuple[tuple[int, ...], tuple[int, ...]]], k: int) -> Fraction:
    """Return the largest ratio of probabilities of one answer on neighbouring counts."""
    worst = Fraction(0)
    for one, other in pairs:
        for listed, noisy in answers(len(one), k, 0, 3):
            worst = max(worst, chance(one, listed, noisy, A) / chance(other, listed, noisy, A))
    return worst


def both_ways(
    pairs: Iterator[tuple[Sequence[int], Sequence[int]]],
) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    once = {(tuple(one), tuple(other)) for one, other in pairs}
    return once | {(other, one) for one, other in once}


# Rows as records.

CELLS = ["tea", "milk", "water", None]


def of_rows(rows: Sequence[str | None], **terms: Any) -> tuple[list[int], TopCounts]:
    table = pa.table({"drink": pa.array(rows, pa.string())})
    return counted(table, candidates=["tea", "milk"], **terms)


def rows_and_neighbours(neighbors: str) -> Iterator[tuple[list[int], list[int]]]:
    counts = {
        rows: of_rows(rows)[0]
        for size in range(4)
        for rows in product(CELLS, repeat=size)
        if sorted(map(str, rows)) == list(map(str, rows))  # their order does not matter
    }

    def of(rows: Sequence[str | None]) -> list[int]:
        return counts[tuple(sorted(rows, key=str))]

    for rows in counts:
        for i, cell in product(range(len(rows)), CELLS):
            without = [*rows[:i], *rows[i + 1 :]]
            yield of(rows), of(without if neighbors == "add_remove" else [*without, cell])


@pytest.mark.parametrize(("neighbors", "moved"), [("add_remove", 1), ("replace_one", 2)])
def test_no_row_tells_more_than_was_paid_for(neighbors: str, moved: int) -> None:
    pairs = both_ways(rows_and_neighbours(neighbors))
    assert of_rows([], neighbors=neighbors)[1].moved == moved
    for k in (1, 2):
        assert worst_ratio(pairs, k) == 1 / A**moved  # reached, and not passed
    if moved == 2:  # what is seen if eta is not halved
        assert worst_ratio(pairs, 2) > 1 / A


# Units.

HOLDINGS = [some for size in range(4) for some in combinations(DRINKS, size)]
"""The candidates that a unit may hold."""


def of_units(holdings: Sequence[Sequence[str]], **terms: Any) -> tuple[list[int], TopCounts]:
    rows = [(f"user {i}", drink) for i, held in enumerate(holdings) for drink in (*held, *held)]
    table = pa.table(
        {
            "user": pa.array([user for user, _ in rows], pa.string()),
            "drink": pa.array([drink for _, drink in rows], pa.string()),
        }
    )
    return counted(table, privacy_unit="user", **terms)


def units_and_neighbours(neighbors: str, **terms: Any) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the counts of units and of neighbours: the first goes, or holds something else."""
    for second in ((), DRINKS[:1]):
        counts = {first: of_units((first, second), **terms)[0] for first in HOLDINGS}
        others = [()] if neighbors == "add_remove" else HOLDINGS
        for first, other in product(HOLDINGS, others):
            yield counts[first], counts[other]


@pytest.mark.parametrize(
    ("neighbors", "most", "moved"),
    [
        ("add_remove", 1, 1),
        ("add_remove", 2, 2),
        ("add_remove", None, 3),
        ("replace_one", 1, 2),
        ("replace_one", 2, 3),
    ],
)
def test_no_unit_tells_more_than_was_paid_for(neighbors: str, most: int | None, moved: int) -> None:
    pairs = both_ways(units_and_neighbours(neighbors, max_candidates=most))
    mechanism = of_units([()], max_candidates=most, neighbors=neighbors)[1]
    assert mechanism.moved == moved
    assert worst_ratio(pairs, 1) <= worst_ratio(pairs, 2) <= 1 / A**moved
    assert max(sum(map(abs, map(int.__sub__, *pair))) for pair in pairs) <= moved


def test_without_a_bound_a_unit_would_tell_more() -> None:
    """The mutant: noise for one candidate of a unit, and a unit that is not bounded."""
    unbounded = both_ways(units_and_neighbours("add_remove"))
    assert worst_ratio(unbounded, 2) > 1 / A


def test_a_user_counts_once_for_a_candidate_however_many_rows() -> None:
    assert of_units([("tea",), ("tea", "milk")])[0] == [2, 1, 0]
    assert sum(of_units([DRINKS], max_candidates=2)[0]) == 2


# Disjoint candidates.


def test_a_cell_that_equals_two_candidates_is_refused_from_the_type_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("drink\n1\n", encoding="utf-8")
    for same in ([1, "1"], [True, "true"], [True, 1]):
        with pytest.raises(InvalidCandidates, match=r"one value of column|True"):
            counted(path, candidates=same, k=1)
    assert counted(path, candidates=[1, "2"], k=1)[0] == [1, 0]


def test_the_mutant_that_does_not_check_counts_a_row_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, empty = tmp_path / "t.csv", tmp_path / "empty.csv"
    path.write_text("drink\n1\n", encoding="utf-8")
    empty.write_text("drink\n", encoding="utf-8")
    monkeypatch.setattr(meanings_module, "check_disjoint", lambda *_: None)
    pair = [counted(one, candidates=[1, "1"])[0] for one in (path, empty)]
    assert pair == [[1, 1], [0, 0]]
    assert counted(path, candidates=[1, "1"])[1].moved == 1
    assert worst_ratio(both_ways(iter([(pair[0], pair[1])])), 2) > 1 / A


# Every engine, groups, sizes, arguments.

TABLE = pa.table(
    {
        "user": ["u", "u", "u", "v", "v", "w", None, "x"],
        "city": ["Bern", "Bern", "Basel", "Bern", "Bern", "Basel", "Bern", "Chur"],
        "drink": ["tea", "milk", "soda", "tea", "water", "milk", "tea", "tea"],
    }
)


@pytest.mark.parametrize("engine", ENGINES)
def test_all_engines_count_the_same(engine: str, tmp_path: Path) -> None:
    data = ENGINES[engine](TABLE, tmp_path)
    assert counted(data)[0] == [4, 2, 1]
    unit: dict[str, Any] = {"privacy_unit": "user", "max_candidates": 2}
    bounded = counted(data, **unit)[0]
    assert sum(bounded) == 2 + 1 + 1 + 1
    assert bounded == counted(TABLE, **unit)[0]
    release = discreet.top_k(
        data, "drink", k=2, candidates=DRINKS, method="counts", by="city", groups=["Bern", "Chur"],
        neighbors="replace_one", scale="1/900",
    )  # fmt: skip
    assert release.value == {"Bern": ["tea", "milk"], "Chur": ["tea", "milk"]}
    assert release.counts == {"Bern": [3, 1], "Chur": [1, 0]}


CELLS_BY_GROUP = list(product(["Bern", "Basel"], ["tea", "milk"]))

HELD = [
    held for size in range(len(CELLS_BY_GROUP) + 1) for held in combinations(CELLS_BY_GROUP, size)
]
"""The cells in which a unit may have rows."""


def by_group(held: Sequence[tuple[str, str]], **terms: Any) -> tuple[list[int], Any, Any]:
    """Return the counts of all groups, their noise, and the promise."""
    rows = [("u", *cell) for cell in held] + [("v", "Bern", "milk")]
    data = pl.DataFrame(rows, schema=["user", "city", "drink"], orient="row")
    delivery = delivery_of(
        discreet.top_k, data, "drink", k=1, candidates=["tea", "milk"], method="counts", by="city",
        groups=["Bern", "Basel"], privacy_unit="user", epsilon="1/10", delta="1e-4", **terms
    )  # fmt: skip
    draw: Any = delivery.prepare()
    laws = [one.args[0]._noise for one in draw.args[0]]
    return [n for law in laws for n in law.counts], laws[0].noise, delivery.order.guarantee


@cache
def counts_of(held: Sequence[tuple[str, str]], groups: int, most: int) -> list[int]:
    return by_group(held, max_groups=groups, max_candidates=most)[0]


def delta_by_sums(noise: Any, moved: int, epsilon: float) -> float:
    """The exact δ of so many counts that move by one, from sums over all noise."""
    reach = 12 * math.isqrt(int(noise.sigma_squared)) + 12
    one = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * float(noise.sigma_squared)))
    law = reduce(np.convolve, [one / one.sum()] * moved, np.ones(1))
    loss = (2 * np.arange(-moved * reach, moved * reach + 1) + moved) / (
        2 * float(noise.sigma_squared)
    )
    return float(np.sum(law * np.maximum(0, -np.expm1(epsilon - loss))))


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("groups", "most"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_lists_of_all_groups_have_one_delta(groups: int, most: int, neighbors: str) -> None:
    """All holdings of a unit in two groups, and all neighbours: the counts of all groups are one list."""
    terms: Any = {"max_groups": groups, "max_candidates": most, "neighbors": neighbors}
    moved = min(4, groups * most * (1 if neighbors == "add_remove" else 2))
    counts = {held: counts_of(held, groups, most) for held in HELD}
    others = HELD if neighbors == "replace_one" else [()]
    apart = [
        [abs(a - b) for a, b in zip(counts[one], counts[other], strict=True)]
        for one, other in product(HELD, others)
    ]
    assert max(map(max, apart)) == 1
    assert max(map(sum, apart)) == moved
    _, noise, promise = by_group((), **terms)
    if moved < 4:  # geometric noise is smaller, and costs no delta
        assert noise.eta == Fraction(1, 10 * moved)
        assert promise.pure == Fraction(1, 10)
        return
    assert promise == DiscreteGaussianDP(noise.sigma_squared, moved, 1, neighbors)  # type: ignore[arg-type]
    assert promise.delta_at("1/10") <= Fraction(1, 10**4)
    deltas = [delta_by_sums(noise, several, 0.1) for several in range(moved + 1)]
    assert deltas == sorted(deltas)
    assert 0.99e-4 < deltas[-1] <= 1e-4


def test_groups_divide_the_cost_among_all_counts_of_a_unit() -> None:
    terms: dict[str, Any] = {"k": 1, "candidates": DRINKS, "epsilon": 1, "method": "counts"}
    groups: dict[str, Any] = {"by": "city", "groups": ["Bern", "Basel"]}
    for extra, parts in (
        ({}, 1),
        ({"privacy_unit": "user"}, 3),
        ({"privacy_unit": "user", "max_groups": 2, "max_candidates": 2}, 4),
    ):
        for neighbors in ("add_remove", "replace_one"):
            release = discreet.top_k(
                TABLE, "drink", **terms, **groups, **extra, neighbors=neighbors
            )
            assert release.guarantee.pure == 1
            assert release.guarantee.neighbors == neighbors
            one = delivery_of(
                discreet.top_k, TABLE, "drink", **terms, **groups, **extra, neighbors=neighbors
            )
            draw: Any = one.prepare()
            law = draw.args[0][0].args[0]
            steps = 1 if neighbors == "add_remove" else 2
            assert law._noise.noise.eta == Fraction(1, min(parts * steps, 2 * len(DRINKS)))


def test_an_answer_has_its_counts() -> None:
    release = discreet.top_k(TABLE, "drink", k=2, candidates=DRINKS, method="counts", scale="1/900")
    assert release.value == ["tea", "milk"]
    assert release.counts == [4, 2]
    assert release.guarantee.pure == 900


def test_the_most_common_value_has_its_count() -> None:
    terms: dict[str, Any] = {"candidates": DRINKS, "method": "counts", "scale": "1/900"}
    release = discreet.mode(TABLE, "drink", **terms)
    assert (release.value, release.counts, release.mechanism) == ("tea", 4, "geometric")
    groups = discreet.mode(TABLE, "drink", by="city", groups=["Basel", "Chur"], **terms)
    assert groups.value == {"Basel": "milk", "Chur": "tea"}
    assert groups.counts == {"Basel": 1, "Chur": 1}
    assert discreet.mode(TABLE, "drink", candidates=DRINKS, epsilon=1).counts is None


def test_a_stored_request_gives_the_counts_again() -> None:
    ledger = discreet.Ledger()
    ledger.open("d", epsilon=3)
    session = ledger.session("d")
    terms: dict[str, Any] = {"k": 2, "candidates": DRINKS, "epsilon": 1}
    first = session.top_k(TABLE, "drink", **terms, request="r")
    again = session.top_k(TABLE, "drink", **terms, request="r")
    assert first.counts is not None
    assert (again.value, again.counts, again.charged) == (first.value, first.counts, False)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"mechanism": "exponential"}, "leave out mechanism"),
        ({"delta": 1}, "below 1"),
        ({"max_candidates": 1}, "privacy_unit"),
        ({"max_candidates": 4, "privacy_unit": "user"}, "3 candidates"),
        ({"max_candidates": 1, "privacy_unit": "user", "method": "peeling"}, "method='counts'"),
        ({"max_candidates": 1, "privacy_unit": "user", "method": "joint"}, "method='counts'"),
        ({"method": "sorted"}, "peeling, joint, counts"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(terms: dict[str, Any], words: str) -> None:
    arguments = {"k": 1, "candidates": DRINKS, "epsilon": 1, "method": "counts", **terms}
    with pytest.raises(InvalidArgument, match=words):
        discreet.top_k(TABLE, "drink", **arguments)


def test_candidates_in_a_table_or_from_the_data_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "drinks.csv"
    path.write_text("drink\ntea\nmilk\n", encoding="utf-8")
    choices = discreet.CandidateTable(path, "drink")
    terms: dict[str, Any] = {"epsilon": 1, "method": "counts"}
    asks: list[Any] = [
        lambda: discreet.top_k(str(path), "drink", k=1, candidates=choices, **terms),
        lambda: discreet.mode(str(path), "drink", candidates=choices, **terms),
        lambda: discreet.mode(TABLE, "drink", unsafe_candidates_from_data=True, **terms),
    ]
    for ask in asks:
        with pytest.raises(InvalidCandidates, match="in a list"):
            ask()
    assert discreet.top_k(str(path), "drink", k=1, candidates=choices, epsilon=1).counts is None


def test_a_cell_of_several_values_counts_for_none() -> None:
    lists = pa.table({"drink": pa.array([["tea", "milk"], ["tea"]])})
    with pytest.raises(discreet.DiscreetError):
        counted(lists)
    assert counted({"drink": [["tea", "milk"], "tea"]})[0] == [1, 0, 0]


def test_a_mechanism_is_what_its_parameters_say() -> None:
    assert TopCounts(3, 2).parameters == {"k": 3, "moved": 2}
    assert replace(TopCounts(3, 2), moved=1) == TopCounts(3)
