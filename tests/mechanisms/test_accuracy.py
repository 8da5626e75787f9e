"""The error that a quote tells from public numbers: no small dataset is worse, and some reach it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import pytest

import discreet
from discreet import Grid, Ledger
from discreet.mechanisms.accuracy import (
    CONFIDENCE,
    COUNTED,
    RECORDS,
    SUMMED,
    ErrorBound,
    read_error_bound,
)
from discreet.selection.verb_calls import bill_of

VERBS: dict[str, tuple[Callable[..., Any], dict[str, Any], int, Sequence[Any]]] = {
    "mode": (discreet.mode, {"candidates": ["a", "b", "c"]}, 1, "abc"),
    "median": (discreet.median, {"candidates": Grid(0, 2)}, 2, range(3)),
    "median, list": (discreet.median, {"candidates": [0, 1, 2]}, 2, range(3)),
    "quantile": (discreet.quantile, {"alpha": "1/3", "candidates": Grid(0, 2)}, 3, range(3)),
    "minimum": (discreet.minimum, {"candidates": Grid(0, 2)}, 1, range(3)),
    "maximum": (discreet.maximum, {"candidates": Grid(0, 2)}, 1, range(3)),
    "median by distance": (
        discreet.median,
        {"candidates": Grid(0, 2), "score": "median_distance"},
        1,
        range(3),
    ),
    "price": (discreet.best_price, {"candidates": Grid(0, 3, "1.5")}, 1, [0, 2, 3]),
}
"""Verbs, their arguments, how much of the score one unit of the error is, and the values of the data."""

MECHANISMS = ["exponential", "permute_and_flip"]


def bound_of(verb: Callable[..., Any], data: Any, **terms: Any) -> ErrorBound | None:
    return bill_of(verb, data, **terms).worst_error


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.one_in(5)
def test_no_small_dataset_is_worse(name: str, mechanism: str, neighbors: str) -> None:
    verb, arguments, scale, values = VERBS[name]
    if name == "price" and mechanism == "permute_and_flip":
        return  # it takes no sloping scores
    terms = {**arguments, "epsilon": 3, "mechanism": mechanism, "neighbors": neighbors}
    bound = bound_of(verb, [], **terms)
    assert bound is not None
    assert bound.probability == CONFIDENCE
    for size in range(1, 6):
        for data in combinations_with_replacement(values, size):
            law = discreet.distribution(verb, list(data), **terms)
            assert law.tail(bound.error * scale).lower <= 1 - CONFIDENCE


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", VERBS)
def test_some_data_reach_it(name: str, mechanism: str) -> None:
    """All records agree, and there are just so many that every other candidate is that far behind."""
    verb, arguments, scale, values = VERBS[name]
    if name == "price" and mechanism == "permute_and_flip":
        return
    terms = {**arguments, "epsilon": "1/100", "mechanism": mechanism}
    if "list" not in name and name != "mode":
        terms["candidates"] = Grid(0, 1)
        values = [1 if name in ("price", "maximum") else 0]
    bound = bound_of(verb, [], **terms)
    assert bound is not None
    nearly = bound.error * Fraction(96, 100)
    reached = [
        discreet.distribution(verb, [values[0]] * int(nearly * rows + 1), **terms)
        .tail(nearly * scale)
        .lower
        > 1 - CONFIDENCE
        for rows in (Fraction(1), Fraction(3, 2), Fraction(2))  # of one unit of the error
    ]
    assert any(reached)


def test_where_no_bound_is_known_none_is_told() -> None:
    listed = {"candidates": ["a", "b"], "epsilon": 1}
    assert bound_of(discreet.mode, ["a"], mechanism="base2", **listed) is None
    assert bound_of(discreet.mode, ["a"], mechanism="noisy_max", **listed) is None
    weighed = discreet.mechanisms.Exponential(base_measure=[1, 2])
    assert bound_of(discreet.mode, ["a"], mechanism=weighed, **listed) is None
    assert bound_of(discreet.select, [1, 2], sensitivity=1, epsilon=1) is None
    rows: dict[str, Any] = {"candidates": ["a", "b"], "sensitivity": 1, "epsilon": 1}
    assert bound_of(discreet.select_rows, [[1, 2]], **rows) is not None
    assert bound_of(discreet.select_rows, [[1, 2]], **rows, base_measure=[1, "1e-9"]) is None
    assert bound_of(discreet.select_rows, [[1, 2]], **rows, mask=[True, False]) is None
    assert (
        bound_of(discreet.best_price, [1], candidates=Grid(0, 3), continuous=True, epsilon=1)
        is None
    )


def test_a_bound_for_groups_holds_for_all_together_and_of_units_in_rows() -> None:
    table = {"who": ["x"], "drink": ["a"], "age": [1]}
    given: dict[str, Any] = {"column": "drink", "candidates": ["a", "b"]}
    by = {"by": "age", "groups": [1, 2]}
    alone = bound_of(discreet.mode, table, epsilon="1/2", **given, **by)
    assert alone is not None
    assert alone.probability == CONFIDENCE
    each = 1 - (1 - CONFIDENCE) / 2
    one = discreet.worst_error(2, spread=1, epsilon="1/2", confidence=each)
    assert alone.error == one
    assert bound_of(discreet.mode, table, epsilon="1/2", **given, by="age", groups=[1]) != alone
    of_two = {**by, "privacy_unit": "who", "max_groups": 2}
    assert bound_of(discreet.mode, table, epsilon=1, **given, **of_two) == alone
    asked: dict[str, Any] = {"column": "age", "candidates": Grid(0, 9), "epsilon": 1}
    row = bound_of(discreet.median, table, **asked)
    unit = bound_of(discreet.median, table, **asked, privacy_unit="who", max_contributions=3)
    assert row is not None
    assert unit is not None
    assert unit.error == pytest.approx(3 * row.error)
    assert unit.unit == row.unit


def test_a_bound_of_rows_and_draws_holds_for_all_together() -> None:
    given: dict[str, Any] = {"sensitivity": 1, "epsilon": 3}
    each = 1 - (1 - CONFIDENCE) / 3
    one = discreet.worst_error(2, spread=2, epsilon=1, confidence=each)
    rows = bound_of(discreet.select_rows, [[1, 2]] * 3, candidates=["a", "b"], **given)
    assert rows is not None
    assert rows.error == one
    draws = bound_of(discreet.select, {"a": 1, "b": 2}, sensitivity=1, epsilon=1, size=3)
    assert draws == rows


def test_a_quote_tells_it() -> None:
    ledger = Ledger("budget.db")
    ledger.open("votes", epsilon=3)
    quote = ledger.session("votes").quote(
        discreet.mode, ["a"], candidates=["a", "b"], epsilon="1/2"
    )
    bound = quote.worst_error
    assert bound is not None
    assert bound.unit == RECORDS
    assert float(bound.error) == pytest.approx(5.888878)
    assert str(quote).endswith(
        "worst error: in 95 of 100 answers the answer has at most 5 records fewer than the most common one"
    )
    assert "at most 5 records fewer" in quote._repr_html_()
    assert read_error_bound(quote.as_dict()["worst_error"]) == bound  # type: ignore[arg-type]
    certain = ledger.session("votes").quote(discreet.mode, ["a"], candidates=["a"], epsilon=1)
    assert str(certain.worst_error) == "in 95 of 100 answers the answer is as good as the best one"


def test_a_count_is_off_by_the_whole_numbers_below_the_bound() -> None:
    bounds = {unit: ErrorBound(Fraction(11, 2), CONFIDENCE, unit) for unit in (COUNTED, SUMMED)}
    assert str(bounds[COUNTED].in_brief()) == "within 5, with probability 95 %"
    assert str(bounds[SUMMED].in_brief()) == "within 5.5, with probability 95 %"
    assert str(replace(bounds[COUNTED], error=Fraction(5)).in_brief()).startswith("within 4,")
