"""Declared sensitivities are proved on small universes, and a false one is caught with a counterexample."""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from discreet import audit, per_candidate
from discreet.errors import InvalidArgument, InvalidNumber
from discreet.study.audit.neighborhood import Neighborhood

LETTERS = ["a", "b", "c"]
count_of = per_candidate(lambda data, candidate: data.count(candidate))
total = per_candidate(lambda data, factor: factor * sum(data))


def distance(data: list[int], candidates: list[int]) -> list[int]:
    """Return the score of a median: minus the difference of how many are below and above."""
    return [-abs(sum(x < c for x in data) - sum(x > c for x in data)) for c in candidates]


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_all_pairs_are_all_pairs(neighbors: Any) -> None:
    """The number of pairs, and the largest moves, by brute force over ordered databases."""
    found = audit.sensitivity(
        count_of, ["a", "b"], LETTERS, range(4), sensitivity=1, neighbors=neighbors
    )
    databases = [Counter(d) for size in range(4) for d in product(LETTERS, repeat=size)]
    seen = {tuple(sorted(d.elements())) for d in databases}
    pairs = {
        (d, e)
        for d, e in product(seen, seen)
        if _are_neighbours(Counter(d), Counter(e), neighbors) and (len(d), d) < (len(e), e)
    }
    assert found.exhaustive
    assert found.holds
    assert {tuple(p) for p in _seen_pairs(neighbors)} == pairs
    moves = [[e.count(c) - d.count(c) for c in "ab"] for d, e in pairs]
    assert found.change == max(max(map(abs, m)) for m in moves) == 1
    assert found.spread == max(max(m) - min(m) for m in moves)
    assert found.spread == (1 if neighbors == "add_remove" else 2)
    assert found.monotonic == (neighbors == "add_remove")


def _are_neighbours(d: Counter[str], e: Counter[str], neighbors: str) -> bool:
    gone, come = sum((d - e).values()), sum((e - d).values())
    return sorted((gone, come)) == ([0, 1] if neighbors == "add_remove" else [1, 1])


def _seen_pairs(neighbors: Any) -> set[tuple[tuple[str, ...], ...]]:
    """Return every pair of databases of at most three records that a score function is judged on."""
    room = Neighborhood(3, frozenset(range(4)), neighbors)
    named = [tuple(tuple(LETTERS[i] for i in side) for side in pair) for pair in room.everything()]
    assert len(named) == room.pairs()
    return {tuple(sorted(pair, key=lambda d: (len(d), d))) for pair in named}


def test_a_true_declaration_is_proved() -> None:
    found = audit.sensitivity(
        count_of, ["a", "b"], LETTERS, range(5), sensitivity=1, monotonic=True
    )
    assert found.holds
    assert str(found) == (
        "no counterexample among all 60 pairs: a proof for this universe. Sensitivity 1, spread 1, monotonic"
    )


def test_an_understated_sensitivity_is_caught_with_the_smallest_witness() -> None:
    found = audit.sensitivity(count_of, ["a", "b"], LETTERS, range(4), sensitivity="0.9")
    assert not found.holds
    counterexample = found.counterexample
    assert counterexample is not None
    assert (counterexample.data, counterexample.neighbor) == ([], ["a"])
    assert (counterexample.problem, counterexample.candidates) == ("sensitivity", ("a",))
    assert [counterexample.declared, counterexample.found] == [Fraction(9, 10), Fraction(1)]
    assert str(found) == "FALSE: sensitivity: declared 0.9, found 1 for 'a' on [] and ['a']"


def test_an_understated_spread_is_caught() -> None:
    declared: dict[str, Any] = {"spread": 1, "neighbors": "replace_one"}
    counterexample = audit.sensitivity(
        count_of, ["a", "b"], LETTERS, range(4), **declared
    ).counterexample
    assert counterexample is not None
    assert counterexample.problem == "spread"
    assert counterexample.found == 2
    assert set(counterexample.candidates) == {"a", "b"}
    assert (counterexample.data, counterexample.neighbor) == (["a"], ["b"])


def test_what_is_not_monotonic_is_caught() -> None:
    found = audit.sensitivity(distance, [1, 3], range(5), range(3), sensitivity=1, monotonic=True)
    assert found.counterexample is not None
    assert found.counterexample.problem == "monotonic"
    here, there = (
        distance(d, [1, 3]) for d in (found.counterexample.data, found.counterexample.neighbor)
    )
    moves = [b - a for a, b in zip(here, there, strict=True)]
    assert min(moves) < 0 < max(moves)
    assert audit.sensitivity(distance, [1, 3], range(5), range(3), sensitivity=1).holds


def test_a_function_that_fails_on_some_data_is_a_witness() -> None:
    mean = per_candidate(lambda data, c: Fraction(sum(data), len(data)) - c)
    found = audit.sensitivity(mean, [0, 1], [0, 1], range(3), sensitivity=1)
    assert found.counterexample is not None
    assert found.counterexample.problem == "fails"
    assert found.counterexample.data == []
    assert "failed with ZeroDivisionError" in str(found)
    assert audit.sensitivity(mean, [0, 1], [0, 1], range(1, 3), sensitivity=1).holds


def test_floats_need_an_error_or_a_granularity() -> None:
    half = per_candidate(lambda data, c: 0.5 * data.count(c))
    bare = audit.sensitivity(half, ["a"], LETTERS, range(3), sensitivity="1/2")
    assert "u returns floats" in str(bare)
    for vouched in ({"error": 0}, {"granularity": "1/2"}):
        assert audit.sensitivity(half, ["a"], LETTERS, range(3), sensitivity="1/2", **vouched).holds


def test_rounding_that_the_error_does_not_cover_is_caught() -> None:
    large = per_candidate(lambda data, c: 2.0**53 * (c == 1) + float(sum(data)))
    declared: dict[str, Any] = {"sensitivity": 1, "error": 0}
    found = audit.sensitivity(large, [0, 1], [1], range(4), **declared)
    assert found.counterexample is not None
    assert found.counterexample.found == 2
    assert audit.sensitivity(large, [0, 1], [1], range(4), sensitivity=1, error=1).holds


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_rare_violation_is_found_by_climbing_and_made_small(neighbors: Any) -> None:
    """Each record moves the score by up to 1000; only those above 990 by more than was declared."""
    found = audit.sensitivity(
        total, [1], range(1001), range(30), sensitivity=990, neighbors=neighbors, budget=5000
    )
    assert not found.exhaustive
    assert found.pairs <= 5000 + 30
    assert found.counterexample is not None
    counterexample = found.counterexample
    assert len(counterexample.data) == (0 if neighbors == "add_remove" else 1)
    assert (
        abs(sum(counterexample.neighbor) - sum(counterexample.data)) == counterexample.found > 990
    )


def test_a_violation_among_many_records_is_found() -> None:
    """The score jumps where five records are alike: no single record does it."""

    def jumping(data: list[int], candidates: list[int]) -> list[int]:
        most = max(Counter(data).values(), default=0)
        return [most * c + 10 * c * (most >= 5) for c in candidates]

    found = audit.sensitivity(jumping, [0, 1], range(20), range(12), sensitivity=1, budget=20_000)
    assert found.counterexample is not None
    assert found.counterexample.found == 11
    assert len(found.counterexample.data) == 4


def test_the_search_climbs() -> None:
    """Only where 11 of 15 records are sevens does one more move the score by more than 22."""
    squares = per_candidate(lambda data, c: c * data.count(7) ** 2)
    found = audit.sensitivity(squares, [0, 1], range(10), range(16), sensitivity=22, budget=5000)
    assert found.counterexample is not None
    assert found.counterexample.data == [7] * 11
    assert found.counterexample.found == 23


def test_a_search_that_finds_nothing_is_no_proof() -> None:
    found = audit.sensitivity(total, [1], range(1001), range(30), sensitivity=1000, budget=500)
    assert found.holds
    assert not found.exhaustive
    assert found.pairs == 500
    assert "among 500 pairs: no proof" in str(found)
    again = audit.sensitivity(total, [1], range(1001), range(30), sensitivity=1000, budget=500)
    assert again == found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"universe": []}, "universe must not be empty"),
        ({"sizes": [0]}, "sizes must be whole numbers with neighbours among them"),
        ({"sizes": [0, 2]}, "sizes must be whole numbers"),
        ({"sizes": [-1, 0]}, "sizes must be whole numbers"),
        ({"sizes": [0, 0.5, 1]}, "sizes must be whole numbers"),
        ({"sizes": [[0], [1]]}, "sizes must be whole numbers"),
        ({"candidates": []}, "candidates must not be empty"),
        ({"neighbors": "twins"}, "neighbors must be one of"),
        ({"budget": 0}, "budget must be a whole number"),
        ({"sensitivity": None}, "give either sensitivity"),
        ({"monotonic": True, "neighbors": "replace_one"}, "monotonic speaks of records"),
        ({"u": 3}, "u must be a function"),
    ],
)
def test_arguments_are_checked_before_the_function_is_called(arguments: Any, message: str) -> None:
    def never(data: Any, candidates: Any) -> Any:
        raise AssertionError("was called")

    given = {"u": never, "candidates": [1], "universe": [1], "sizes": [0, 1], "sensitivity": 1}
    with pytest.raises((InvalidArgument, InvalidNumber), match=message):
        audit.sensitivity(**{**given, **arguments})


def test_an_unknown_declaration_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected argument 'sensitive'; declare sensitivity"):
        audit.sensitivity(total, [1], [1], [0, 1], sensitive=1)  # type: ignore[call-arg]


# --- the claim `monotonic` by itself


def test_that_scores_move_together_is_a_claim_of_its_own() -> None:
    found = audit.monotonic(count_of, ["a", "b"], LETTERS, range(5))
    assert found.holds
    assert (
        str(found) == "monotonic: no counterexample among all 60 pairs: a proof for this universe"
    )
    # However far they move: a sum of records without a bound is monotonic, a difference is not.
    assert audit.monotonic(total, [1, 2], [0, 10**30], range(4)).holds
    both = audit.monotonic(total, [1, -1], [0, 10**30], range(4))
    assert both.counterexample is not None
    assert both.counterexample.found == 10**30
    assert "rises and that of -1 falls" in str(both)


def test_two_pairs_of_neighbours_may_move_either_way() -> None:
    """Monotonic speaks of one pair at a time: a record may raise all scores, and another lower them."""
    assert audit.monotonic(total, [1, 2], [-1, 1], range(3)).holds


def test_the_error_of_marginals_is_not_monotonic() -> None:
    estimates = {"a": [9, 5], "b": [1, 5]}

    def errors(data: list[Any], names: list[str]) -> list[int]:
        tables = {name: [0, 0] for name in names}
        for record in data:
            for name in names:
                tables[name][record["ab".index(name)]] += 1
        return [
            sum(abs(x - y) for x, y in zip(tables[n], estimates[n], strict=True)) for n in names
        ]

    found = audit.monotonic(errors, ["a", "b"], [(0, 0), (0, 1), (1, 0), (1, 1)], range(5))
    assert not found.holds
    assert found.exhaustive
    assert found.counterexample is not None
    assert found.counterexample.problem == "monotonic"
    assert len(found.counterexample.neighbor) == 2  # no smaller dataset shows it
    assert audit.sensitivity(
        errors, ["a", "b"], [(0, 0), (0, 1), (1, 0), (1, 1)], range(5), sensitivity=1
    ).holds


def test_a_function_that_fails_is_not_monotonic() -> None:
    found = audit.monotonic(lambda data, _: [1 / len(data)], ["a"], [1], range(3))
    assert found.counterexample is not None
    assert found.counterexample.problem == "fails"
