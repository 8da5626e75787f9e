"""What protects all rows of one person does, for every verb and score, or it is refused."""

import inspect
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import exp
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import discreet
from discreet import Grid
from discreet.errors import InvalidArgument
from discreet.mechanisms.testing import BitTree, bit_tree
from discreet.privacy.sensitivity import Sensitivity
from discreet.sampling.bits import Bits, SystemBits
from discreet.sampling.geometric import GeometricNoise
from discreet.selection.candidates import Labels
from discreet.selection.question import Order, Query, release
from discreet.selection.releases import Release
from discreet.selection.scores.contract import Score
from discreet.selection.scores.custom import Custom
from discreet.selection.scores.distance import Distance
from discreet.selection.scores.generalized import Generalized
from discreet.selection.scores.given import Given
from discreet.selection.scores.truth import Truth
from discreet.selection.terms import Terms, takes_terms
from discreet.tables import scores
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.scores import sorted_records
from discreet.tables.scores.per_unit import PerUnit

from ...columns import Counted
from ...public_names import PATHS, public
from ...selection.test_payment import Purse

EPSILON = Fraction(1, 2)
ROWS = 400
"""Rows of the person who comes, goes or is replaced."""

OTHERS = [("ann", "g", "tea", 0), ("bob", "g", "milk", 1), ("cid", "h", "milk", 1)]
ZOE = {
    "many": [("zoe", "g", "tea", 1)] * ROWS,
    "other": [("zoe", "g", "milk", 0)] * ROWS,
    "none": [],
}
PAIRS = {
    "add_remove": [("none", "many"), ("none", "other")],
    "replace_one": [("other", "many")],
}
DRINKS = ["milk", "tea"]
POINTS = Grid(0, 1)
GROUPS: Any = {"by": "group", "groups": ["g", "h"]}


def table(zoe: str) -> pl.DataFrame:
    schema = {"who": pl.String, "group": pl.String, "drink": pl.String, "n": pl.Int64}
    return pl.DataFrame(OTHERS + ZOE[zoe], schema, orient="row")


def drinks(data: pl.DataFrame) -> list[int]:
    return [data.filter(pl.col("drink") == drink).height for drink in DRINKS]


def teas(data: pl.DataFrame) -> int:
    return drinks(data)[1]


Ask = Callable[..., Release]

TABLES: dict[str, Ask] = {
    "mode": lambda data, **terms: discreet.mode(data, "drink", candidates=DRINKS, **terms),
    "mode, groups": lambda data, **terms: discreet.mode(
        data, "drink", candidates=DRINKS, **GROUPS, **terms
    ),
    "top_k": lambda data, **terms: discreet.top_k(data, "drink", k=2, candidates=DRINKS, **terms),
    "top_k, peeling": lambda data, **terms: discreet.top_k(
        data, "drink", k=2, candidates=DRINKS, method="peeling", **terms
    ),
    "top_k, counts": lambda data, **terms: discreet.top_k(
        data, "drink", k=2, candidates=DRINKS, method="counts", **terms
    ),
    "mode, counts": lambda data, **terms: discreet.mode(
        data, "drink", candidates=DRINKS, method="counts", **terms
    ),
    "top_k, joint": lambda data, **terms: discreet.top_k(
        data, "drink", k=2, candidates=DRINKS, method="joint", **terms
    ),
    "quantile": lambda data, **terms: discreet.quantile(
        data, "n", alpha="1/3", candidates=POINTS, **terms
    ),
    "quantile, list": lambda data, **terms: discreet.quantile(
        data, "n", alpha="1/3", candidates=[0, 1], **terms
    ),
    "median": lambda data, **terms: discreet.median(data, "n", candidates=POINTS, **terms),
    "median, groups": lambda data, **terms: discreet.median(
        data, "n", candidates=POINTS, **GROUPS, **terms
    ),
    "median, distance": lambda data, **terms: discreet.median(
        data, "n", candidates=POINTS, score="median_distance", **terms
    ),
    "minimum": lambda data, **terms: discreet.minimum(data, "n", candidates=POINTS, **terms),
    "maximum": lambda data, **terms: discreet.maximum(data, "n", candidates=POINTS, **terms),
    "best_price": lambda data, **terms: discreet.best_price(data, "n", candidates=POINTS, **terms),
    "bounds": lambda data, **terms: discreet.bounds(data, "n", **terms),
} | {
    f"quantiles, {method}": lambda data, method=method, alphas=alphas, **terms: discreet.quantiles(
        data, "n", alphas=alphas, candidates=POINTS, method=method, **terms
    )
    for method, alphas in {
        "recursive": ["1/3", "2/3"],
        "joint": ["2/3"],
        "independent": ["2/3"],
    }.items()
}
"""Verbs that get rows: they bound what one person adds."""

SEVERAL = ("counts", "mean", "variance", "standard_deviation", "mode, counts", "top_k, counts")
"""Several noisy numbers, which only many bits tell: it is told without the noise what a person moves."""

TABLES |= {
    "count": lambda data, **terms: discreet.count(data, **terms),
    "counts": lambda data, **terms: discreet.counts(data, "drink", candidates=DRINKS, **terms),
    "sum": lambda data, **terms: discreet.sum(data, "n", minimum=0, maximum=1, step=1, **terms),
    "mean": lambda data, **terms: discreet.mean(data, "n", minimum=0, maximum=1, step=1, **terms),
    "variance": lambda data, **terms: discreet.variance(
        data, "n", minimum=0, maximum=1, step=1, **terms
    ),
    "standard_deviation": lambda data, **terms: discreet.standard_deviation(
        data, "n", minimum=0, maximum=1, step=1, **terms
    ),
}

DECLARED: dict[str, Callable[..., Release]] = {
    "select": lambda data, most, **terms: discreet.select(drinks(data), sensitivity=most, **terms),
    "select_by": lambda data, most, **terms: discreet.select_by(
        lambda given, _: drinks(given), data, DRINKS, sensitivity=most, **terms
    ),
    "selector": lambda data, most, **terms: discreet.selector(sensitivity=most, **terms)(
        drinks(data),
        ledger=Purse(),  # without one there is no order
    ),
    "select_rows": lambda data, most, **terms: discreet.select_rows(
        [drinks(data), [0, teas(data)]], sensitivity=most, **terms
    ),
    "select_rows, disjoint": lambda data, most, **terms: discreet.select_rows(
        [drinks(data), [0, 5]], sensitivity=most, disjoint=True, **terms
    ),
    "select_generalized": lambda data, most, **terms: discreet.select_generalized(
        drinks(data), [most, most], **terms
    ),
    "select_top_k": lambda data, most, **terms: discreet.select_top_k(
        drinks(data), k=2, sensitivity=most, **terms
    ),
    "laplace": lambda data, most, **terms: discreet.laplace(
        teas(data), sensitivity=most, lo=0, hi=500, **terms
    ),
    "geometric": lambda data, most, **terms: discreet.geometric(
        teas(data), sensitivity=most, **terms
    ),
}
"""Verbs that get numbers: whoever asks declares what one person can change."""

ELSEWHERE = {
    "randomized_response",  # one value is all there is of a person: tests/selection/scores/test_truth.py
    "private_candidates",  # each try is private by declaration: tests/tables/verbs/test_private_candidates.py
    "check",  # what is declared bounds its units: test_every_pair_of_small_tables_of_units_keeps_the_promise
    "profile",  # it asks counts, keys, quantiles and bounds, and counts cells: test_fits.py
    "count_distinct",  # all neighbours: tests/tables/verbs/test_count_distinct.py
    "keys",  # has a delta: test_all_rows_of_one_unit_are_protected of tests/tables/verbs/test_keys.py
    "AboveThreshold",  # test_a_session_protects_what_was_declared
    "Dataset",  # declares it for verbs: tests/tables/datasets/test_calls.py
}


def law(ask: Ask, data: Any, depth: int, **terms: Any) -> tuple[BitTree, Fraction]:
    """Return the distribution of what a verb draws, by every string of bits, and the epsilon it promises."""
    caught: list[Any] = []

    def deliver(order: Order, prepare: Any, _: Any) -> Any:
        caught[:] = [prepare(), order.guarantee]

    with patch.object(Order, "deliver", deliver):
        ask(data, **terms)
    draw, guarantee = caught

    def drawn(bits: Bits) -> Any:
        with (
            patch.object(SystemBits, "word", lambda _: bits.word()),
            patch.object(SystemBits, "words", lambda _, n: bits.words(n)),
            patch.object(SystemBits, "width", 1),
            patch.object(sorted_records, "PARTS", 2),  # fewer bits decide
        ):
            return str(draw())

    return bit_tree(drawn, depth), guarantee.pure


def kept(trees: Sequence[BitTree], epsilon: Fraction) -> bool:
    """Return whether what was counted can be true of distributions within e**epsilon of each other.

    For every event S, mass(S) <= P(S) <= e**epsilon * Q(S) <= e**epsilon * (other mass(S) + undecided); the
    worst S has all answers that gain.
    """
    factor = exp(epsilon) * (1 + 1e-12)
    return all(
        sum(max(0, mass - factor * other.masses.get(o, 0)) for o, mass in some.masses.items())
        <= factor * other.undecided
        for some, other in (trees, trees[::-1])
    )


def keeps(ask: Ask, neighbors: str, depth: int = 8, **terms: Any) -> bool:
    """Return whether the promise is kept between all tables that differ in the rows of one person."""
    for pair in PAIRS[neighbors]:
        found = [law(ask, table(rows), depth, neighbors=neighbors, **terms) for rows in pair]
        (epsilon,) = {epsilon for _, epsilon in found}
        assert 0 < epsilon <= EPSILON
        if not kept([tree for tree, _ in found], epsilon):
            return False
    return True


def shifts(ask: Ask, neighbors: str) -> list[int]:
    """Return by how much the numbers before the noise differ where a row is a record, but a person has many."""

    def numbers(rows: str) -> list[int]:
        caught: list[Any] = []

        def deliver(_: Order, prepare: Any, __: Any) -> Any:
            caught[:] = np.concatenate([np.ravel(one) for one in prepare()()]).tolist()

        with (
            patch.object(Order, "deliver", deliver),
            patch.object(GeometricNoise, "draws", lambda _, n, __: np.zeros(n, dtype=np.int64)),
        ):
            ask(table(rows), neighbors=neighbors, epsilon=EPSILON)
        return caught

    both = [zip(numbers(one), numbers(other), strict=True) for one, other in PAIRS[neighbors]]
    return [abs(a - b) for pair in both for a, b in pair]


def parameters(value: Any) -> set[str]:
    try:
        return set(inspect.signature(value).parameters)
    except (TypeError, ValueError):  # no function, or one written in C
        return set()


def test_every_verb_is_here() -> None:
    verbs = {name for name in PATHS if "privacy_unit" in parameters(public(name))}
    asked = {name.partition(",")[0] for name in TABLES | DECLARED}
    assert verbs == asked | ELSEWHERE


@pytest.mark.parametrize("neighbors", PAIRS)
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.one_in(7)
def test_all_rows_of_one_person_are_protected(name: str, neighbors: str) -> None:
    """The promise to a person holds for all his rows; the promise to a row, of the same tables, does not."""
    ask = TABLES[name]
    assert keeps(ask, neighbors, epsilon=EPSILON, privacy_unit="who")
    longer = "groups" in name or "recursive" in name  # several draws
    seen = (name, neighbors) != ("count", "replace_one")  # he has as many rows before and after
    if name in SEVERAL:
        # Of the most common value another is named, with as large a count.
        assert max(shifts(ask, neighbors)) >= (1 if "," in name else ROWS - 3)
    else:
        assert keeps(ask, neighbors, 10 if longer else 8, epsilon=EPSILON) != seen


@pytest.mark.parametrize("neighbors", PAIRS)
@pytest.mark.parametrize("name", DECLARED)
@pytest.mark.one_in(3)
def test_what_is_declared_is_about_the_person(name: str, neighbors: str) -> None:
    terms: Any = {"epsilon": EPSILON, "privacy_unit": "who"}
    assert keeps(DECLARED[name], neighbors, most=ROWS, **terms)
    assert not keeps(DECLARED[name], neighbors, most=1, **terms)


def test_a_session_protects_what_was_declared() -> None:
    def answer(zoe: str, most: int) -> BitTree:
        def session(bits: Bits) -> bool:
            declared: Any = {"sensitivity": most, "epsilon": 2, "privacy_unit": "who"}
            return discreet.AboveThreshold(200, **declared, bits=bits).ask(teas(table(zoe)))

        return bit_tree(session, 9)

    assert kept([answer("none", ROWS), answer("many", ROWS)], Fraction(2))
    assert not kept([answer("none", 1), answer("many", 1)], Fraction(2))


# --- a verb that is written the short way, with a score of rows, cannot be had


class L1:
    """The sum of distances of rows from each point: a score whose author never thought of persons."""

    in_runs = False

    def __init__(self, rows: Callable[[], Any]) -> None:
        self.rows = rows

    def sensitivity(self, neighbors: Any) -> Any:
        return Sensitivity(Fraction(3), neighbors)

    def compute(self, cutoff_gap: Fraction) -> Any:
        far = [-sum(abs(n - point) for n in self.rows()) for point in range(2)]
        return Given(far).compute(cutoff_gap)


def rows(data: pl.DataFrame) -> Any:
    return data["n"].to_numpy()


SHORT: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "counts": (lambda data: scores.Counts(Counted(drinks(data)), DRINKS), Labels(DRINKS)),
    "class_counts": (
        lambda data: scores.ClassCounts(Counted(drinks(data)), None),  # type: ignore[arg-type]
        Labels(DRINKS),
    ),
    "rank": (lambda data: scores.Rank(ArrayColumn(rows(data)), POINTS, Fraction(1, 2)), POINTS),
    "median_distance": (lambda data: scores.MedianDistance(ArrayColumn(rows(data)), POINTS), POINTS),
    "revenue": (lambda data: scores.Revenue(ArrayColumn(rows(data)), POINTS), POINTS),
    "l1": (lambda data: L1(lambda: rows(data)), POINTS),
    "given": (lambda data: Given(drinks(data), ROWS), Labels(DRINKS)),
    "custom": (lambda data: Custom(lambda d, _: drinks(d), data, DRINKS, ROWS), Labels(DRINKS)),
    "generalized": (lambda data: Generalized(drinks(data), (Fraction(ROWS),) * 2, Fraction(0)),
                    Labels(DRINKS)),
    "distance": (lambda data: Distance(teas(data), ROWS, Grid(0, 500)), Grid(0, 500)),
    "truth": (lambda data: Truth(DRINKS[teas(data) > 1], Labels(DRINKS)), Labels(DRINKS)),
}  # fmt: skip
"""Every score on all rows of a table, with nothing bounded, and what may be answered."""

REFUSED = {"counts", "class_counts", "rank", "median_distance", "revenue", "l1"}


@takes_terms
def nearest(data: Any, name: str, **terms: Any) -> Release:
    """A verb as its neighbours suggest it: a score, and `release`."""
    make, answers = SHORT[name]
    given: Any = terms
    return release(make(data), answers, Query("nearest", {"by": name}), given)


def test_every_score_is_here() -> None:
    assert set(SHORT) == {*scores.SCORES, "class_counts", "l1"}
    of_columns = {
        kind.__name__
        for kind in scores.SCORES.values()
        if kind.__module__.startswith("discreet.tables")
    }
    assert set(scores.__all__) - {"SCORES"} == {*of_columns, "ClassCounts"}


@pytest.mark.parametrize("neighbors", PAIRS)
@pytest.mark.parametrize("name", SHORT)
@pytest.mark.one_in(4)
def test_a_short_verb_keeps_its_promise_or_is_refused(name: str, neighbors: str) -> None:
    if name == "truth" and neighbors == "add_remove":
        return  # one value is replaced, and nothing else can be
    terms: Any = {"epsilon": EPSILON, "privacy_unit": "who"}
    if name in REFUSED:
        with pytest.raises(
            InvalidArgument, match=r"counts rows.*read_unit_query.*columns.*per_person"
        ):
            nearest(table("many"), name, neighbors=neighbors, **terms)
        with pytest.raises(InvalidArgument, match="counts rows"):
            discreet.simulate(nearest, table("many"), name, neighbors=neighbors, **terms)
        return
    assert keeps(nearest, neighbors, name=name, **terms)


@pytest.mark.parametrize("name", sorted(REFUSED - {"class_counts"}))
def test_scores_of_rows_serve_rows(name: str) -> None:
    assert nearest(table("many"), name, epsilon=1).unit is None


@pytest.mark.parametrize("name", sorted(REFUSED - {"counts", "class_counts"}))
def test_scores_of_bounded_rows_serve_persons(name: str) -> None:
    make: Callable[[Any], Score] = SHORT[name][0]
    terms: Terms = {"epsilon": 1, "privacy_unit": "who"}
    bounded = PerUnit(make(table("none")), 1)
    assert release(bounded, SHORT[name][1], Query("bounded"), terms).unit == "who"


@pytest.mark.parametrize("says", [None, 0, "", np.False_])
def test_a_score_says_it_in_so_many_words(says: Any) -> None:
    """Only False is a promise: what is missing or nearly false is taken as silence."""
    score: Any = L1(lambda: [1])
    score.counts_rows = says
    with pytest.raises(InvalidArgument, match="L1 counts rows"):
        release(score, POINTS, Query("q"), {"epsilon": 1, "privacy_unit": "who"})
