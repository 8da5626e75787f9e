"""Records: one person with many rows, and groups; the same from every engine, and bounded as proved."""

import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from flint import arb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet.privacy.sensitivity import Neighbors
from discreet.sampling.enclosures import lower, precision, upper
from discreet.sampling.runs import Runs
from discreet.selection.candidates import Grid, Labels
from discreet.selection.question import ask
from discreet.selection.scores.contract import Score
from discreet.tables.engines.column import NOTHING, ArrayColumn, Group
from discreet.tables.engines.expressions import _stay
from discreet.tables.engines.native import SIZE, UNIT
from discreet.tables.engines.records import START, Records
from discreet.tables.scores.counts import Counts
from discreet.tables.scores.median_distance import MedianDistance
from discreet.tables.scores.per_unit import PerUnit
from discreet.tables.scores.rank import Rank
from discreet.tables.scores.revenue import Revenue
from discreet.tables.values.ids import start_of_rule
from discreet.tables.values.kinds import CELL
from discreet.tables.verbs.units import UnitQuery, read_unit_query

from ...columns import Counted, numbers_of, on_grid, recorded
from ...engines import ENGINES, crossed

Row = tuple[Any, Any, Any]
"""A person, a group, a value."""

PERSONS = ["ann", "Ann", "bob", "é", "e\u0301", "", None]
GROUPS = ["north", "south", "east", "nowhere", None]


def table(rows: Iterable[Row], value: pa.DataType) -> pa.Table:
    persons, groups, values = zip(*rows, strict=True) if rows else ((), (), ())
    texts = pa.string()
    return pa.table(
        {
            "value": pa.array(values, value),
            "*": pa.array(persons, texts),
            "the group": pa.array(groups, texts),
        }
    )


# --- the rule, written as plainly as possible


def stays(items: list[Any], person: str, most: int) -> list[Any]:
    """The items that stay of one person, given in order."""
    start = int(hashlib.sha256(f"discreet:{person}".encode()).hexdigest()[:8], 16)
    m = len(items)
    return [item for j, item in enumerate(items) if (j * most + start) % m < most]


def bounded(rows: list[Row], records: Records, empty_is_nobody: bool = False) -> list[Row]:
    """The rows that count, by the definition in docs/how-to/user_level_privacy.md and docs/how-to/groups.md."""
    nobody = (None, "") if empty_is_nobody else (None,)
    kept = [row for row in rows if records.unit is None or row[0] not in nobody]
    kept = [row for row in kept if records.by is None or row[1] in records.groups]
    if records.unit is None:
        return kept
    found: list[Row] = []
    for person in dict.fromkeys(row[0] for row in kept):
        own = [row for row in kept if row[0] == person]
        if records.by is not None:
            there = [group for group in records.groups if group in {row[1] for row in own}]
            few = stays(there, person, records.most_groups)
            own = [row for row in own if row[1] in few]
        found += own
    return found


def naive_tally(rows: list[Row], records: Records, candidates: list[Any]) -> list[list[int]]:
    groups = records.groups if records.by else (None,)
    tallied = []
    for group in groups:
        own = [row for row in rows if records.by is None or row[1] == group]
        pairs = [(row[0], row[2]) for row in own]
        counted = distinct_pairs(pairs, records, candidates) if records.unit else pairs
        tallied.append([sum(value == c for _, value in counted) for c in candidates])
    return tallied


def distinct_pairs(
    pairs: list[tuple[Any, Any]], records: Records, candidates: list[Any]
) -> list[tuple[Any, Any]]:
    """The candidates of each person, once each, and not more than may count."""
    if records.most_candidates is None:
        return list(set(pairs))
    own = {person: [c for c in candidates if (person, c) in pairs] for person, _ in pairs}
    most = records.most_candidates
    return [(person, c) for person in own for c in stays(own[person], person, most)]


def naive_parts(rows: list[Row], records: Records) -> list[list[Any]]:
    rows = [row for row in rows if row[2] is not None and row[2] == row[2]]
    parts = []
    for group in records.groups if records.by else (None,):
        own = [row for row in rows if records.by is None or row[1] == group]
        if records.unit and records.rows:
            kept: list[Any] = []
            for person in dict.fromkeys(row[0] for row in own):
                ordered = sorted(row[2] for row in own if row[0] == person)
                kept += stays(ordered, person, records.rows)
            parts.append(sorted(kept))
        else:
            parts.append(sorted(row[2] for row in own))
    return parts


PLANS = {
    "persons": Records("*", rows=1),
    "two rows": Records("*", rows=2),
    "groups": Records(by="the group", groups=("north", "south", "west")),
    "both": Records("*", 1, "the group", ("north", "east", "south"), 1),
    "two groups": Records("*", 2, "the group", ("south", "west", "east", "north"), 2),
    "all groups": Records("*", 1, "the group", ("south", "north"), 2),
    "one candidate": Records("*", 1, most_candidates=1),
    "two candidates": Records(
        "*", 2, "the group", ("south", "west", "east", "north"), 2, most_candidates=2
    ),
    "many groups": Records("*", 3, "the group", ("south", "north", *map(str, range(40))), 1),
}
TEXTS = st.lists(
    st.tuples(
        st.sampled_from(PERSONS),
        st.sampled_from(GROUPS),
        st.sampled_from(["tea", "Tea", "milk", None, ""]),
    ),
    max_size=24,
)
FLOATS = st.lists(
    st.tuples(
        st.sampled_from(PERSONS),
        st.sampled_from(GROUPS),
        st.none() | st.sampled_from([0.0, -0.0, 1.5, -2.0, 1e300, float("nan"), float("inf")]),
    ),
    max_size=24,
)


FETCHED = 4
"""So many groups are looked at, where there are many."""


def examples(engine: str) -> int:
    return {"spark": 3, "polars": 30, "duckdb": 12}.get(engine, 6)


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, PLANS, "both"))
@pytest.mark.one_in(13)
@pytest.mark.proof_in("spark")
def test_counts_are_those_of_the_definition(engine: str, plan: str, tmp_path: Path) -> None:
    records, candidates = PLANS[plan], ["tea", "milk", "absent", ""]

    @settings(max_examples=examples(engine), suppress_health_check=list(HealthCheck))
    @given(TEXTS)
    def check(rows: list[Row]) -> None:
        data = ENGINES[engine](table(rows, pa.string()), tmp_path)
        if engine == "csv":
            rows = [(person, group, value or "") for person, group, value in rows]
        kept = bounded(rows, records, empty_is_nobody=engine == "csv")
        expected = naive_tally(kept, records, candidates)
        assert recorded(data, "value", records).tally(candidates) == expected
        longer = candidates + [f"v{i}" for i in range(40)]
        longest = recorded(data, "value", records).tally(longer)
        assert longest == [counts + [0] * 40 for counts in expected]

    check()


def fetched(part: Group) -> list[Any]:
    return sorted(numbers_of(part).tolist())


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, PLANS, "both"))
@pytest.mark.one_in(13)
@pytest.mark.proof_in("spark")
def test_numbers_are_those_of_the_definition(engine: str, plan: str, tmp_path: Path) -> None:
    records = PLANS[plan]

    @settings(max_examples=examples(engine), suppress_health_check=list(HealthCheck))
    @given(FLOATS)
    def check(rows: list[Row]) -> None:
        data = ENGINES[engine](table(rows, pa.float64()), tmp_path)
        kept = bounded(rows, records, empty_is_nobody=engine == "csv")
        held = recorded(data, "value", records)
        parts = held.groups[:FETCHED]
        assert [fetched(part) for part in parts] == naive_parts(kept, records)[:FETCHED]

    check()


@pytest.mark.parametrize("by_duckdb", [False, True])
def test_statistics_of_parquet_do_not_let_nan_in(tmp_path: Path, by_duckdb: bool) -> None:
    """The statistics say [0, 0]; believing them, DuckDB would not evaluate a filter on NaN."""
    rows: list[Row] = [("ann", "north", 0.0), ("ann", "north", float("nan"))]
    path = ENGINES["parquet"](table(rows, pa.float64()), tmp_path)
    data = duckdb.connect().read_parquet(str(path)) if by_duckdb else path
    for records in (PLANS["persons"], PLANS["groups"]):
        held = recorded(data, "value", records)
        assert fetched(held.groups[0]) == [0.0]


@pytest.mark.parametrize(("engine", "plan"), [("parquet", "persons"), ("csv", "groups")])
def test_what_is_chosen_or_parsed_is_kept(engine: str, plan: str, tmp_path: Path) -> None:
    """Else each pass over each group would choose or parse again, and perhaps from other rows."""
    rows: list[Row] = [("ann", "north", 1.0), ("bob", "south", 2.0)]
    file = ENGINES[engine](table(rows, pa.float64()), tmp_path)
    held = recorded(file, "value", PLANS[plan])
    assert held.bounded is not None
    parts = held.groups
    Path(file).unlink()
    assert sorted(x for part in parts for x in fetched(part)) == [1.0, 2.0]


# --- one person more or less


def own_rows(values: list[Any]) -> st.SearchStrategy[list[tuple[Any, Any]]]:
    return st.lists(st.tuples(st.sampled_from(GROUPS), st.sampled_from(values)), max_size=6)


def check_one_more(
    engine: str, folder: Path, records: Records, pair: tuple[list[Row], list[Row]]
) -> None:
    """A person who comes adds to few groups, few rows to each, and changes nothing else."""

    def counted(rows: list[Row]) -> list[Counter[float]]:
        held = recorded(ENGINES[engine](table(rows, pa.float64()), folder), "value", records)
        return [Counter(fetched(part)) for part in held.groups]

    without, more = map(counted, pair)
    added = [after - before for before, after in zip(without, more, strict=True)]
    assert all(not before - after for before, after in zip(without, more, strict=True))
    assert sum(map(bool, added)) <= records.most_groups
    assert records.rows is not None
    assert max(sum(rows.values()) for rows in added) <= records.rows


@pytest.mark.parametrize(
    ("engine", "plan"),
    crossed(
        ["polars", "pandas", "duckdb", "parquet", "spark"],
        ["persons", "two rows", "both", "two groups"],
        "both",
    ),
)
@pytest.mark.one_in(5)
@pytest.mark.proof_in("spark", "both-duckdb")
def test_one_person_more_adds_few_rows(engine: str, plan: str, tmp_path: Path) -> None:
    values = [0.0, 1.0, 2.0, None]

    @settings(max_examples=examples(engine), suppress_health_check=list(HealthCheck))
    @given(FLOATS, own_rows(values), st.randoms(use_true_random=False))
    def check(others: list[Row], own: list[tuple[Any, Any]], shuffle: Any) -> None:
        more = [*others, *(("new", *row) for row in own)]
        shuffle.shuffle(more)
        check_one_more(engine, tmp_path, PLANS[plan], (others, more))

    check()


@pytest.mark.parametrize(
    ("engine", "plan"),
    crossed(["polars", "pyarrow", "duckdb", "spark"], ["persons", "both", "two groups"], "both"),
)
@pytest.mark.one_in(5)
@pytest.mark.proof_in("spark", "both-duckdb")
def test_one_person_more_counts_once(engine: str, plan: str, tmp_path: Path) -> None:
    records, texts = PLANS[plan], ["tea", "milk", "Tea", None]

    @settings(max_examples=examples(engine), suppress_health_check=list(HealthCheck))
    @given(TEXTS, own_rows(texts))
    def check(others: list[Row], own: list[tuple[Any, Any]]) -> None:
        before, after = (
            np.array(recorded(data, "value", records).tally(["tea", "milk", "Tea"]))
            for data in (
                ENGINES[engine](table(rows, pa.string()), tmp_path)
                for rows in (others, [*others, *(("new", *row) for row in own)])
            )
        )
        assert set((after - before).ravel()) <= {0, 1}
        assert (after != before).any(axis=1).sum() <= records.most_groups

    check()


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_rule_keeps_as_many_as_it_may(most: int) -> None:
    """For every size and every place to begin: `most` rows, or all; each row as often as any other."""
    import narwhals.stable.v2 as nw

    for m in range(1, 12):
        units = [start for start in range(m) for _ in range(m)]
        rows = pl.LazyFrame({UNIT: units, START: units, SIZE: [m] * m**2, CELL: list(range(m)) * m})
        kept = _stay(nw.from_native(rows), CELL, [UNIT], most).collect().to_native()
        for column in (UNIT, CELL):
            assert kept[column].value_counts()["count"].to_list() == [min(m, most)] * m


def test_offsets_are_those_of_a_hash_with_a_public_key() -> None:
    assert start_of_rule("1") == 2816291145
    assert [start_of_rule("é"), start_of_rule("e\u0301")] == [
        int(hashlib.sha256(f"discreet:{p}".encode()).hexdigest()[:8], 16) for p in ("é", "e\u0301")
    ]


# --- the sensitivity that is accounted with, by brute force


def tables_of_persons(values: list[Any], most: int) -> list[list[Any]]:
    """Every multiset of up to `most` rows of one person."""
    sizes = range(most + 1)
    return [
        list(rows) for n in sizes for rows in itertools.combinations_with_replacement(values, n)
    ]


def score_of(score: Callable[[Any], Score], rows: list[Any], k: int) -> list[Fraction]:
    data = pl.DataFrame(rows, {"p": pl.String, "v": pl.Float64}, orient="row")
    [group] = recorded(data, "v", Records("p", rows=k)).groups
    vector: Any = score(numbers_of(group)).compute(Fraction(10**6))
    if isinstance(vector, Runs):
        return each_point(vector)
    return [vector.exact(i) for i in range(len(vector))]


def each_point(runs: Runs) -> list[Fraction]:
    """The score of every point of a small grid."""
    slopes: Any = runs.slopes
    found = {
        runs.index(run, steps): runs.tops.exact(run) - (steps * slopes.exact(run) if slopes else 0)
        for run in range(len(runs))
        for steps in range(int(runs.sizes[run]))
    }
    return [found[i] for i in sorted(found)]


SCORES: dict[str, Callable[[Any], Score]] = {
    f"rank {alpha}": lambda numbers, alpha=alpha: Rank(  # type: ignore[misc]
        ArrayColumn(numbers), Labels([0, 1, 2, 3]), Fraction(alpha)
    )
    for alpha in ("0", "1/2", "2/3", "1")
}
SCORES["median distance"] = lambda numbers: MedianDistance(ArrayColumn(numbers), Grid(0, 3))


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.one_in(7)
def test_scores_of_persons_by_brute_force(name: str, k: int, neighbors: Neighbors) -> None:
    """Every person against every other, beside others of every kind: within the spread, and as far."""
    make, own = SCORES[name], tables_of_persons([0.0, 1.5, 3.0], k + 1)
    promised = PerUnit(make(np.zeros(0)), k).sensitivity(neighbors)
    spread = change = Fraction(0)
    one_way = True
    crowd = [(person, 1.5) for person in "bcde" for _ in range(k)]
    for others in ([], [("b", 0.0), ("b", 3.0)], crowd):
        scores = [score_of(make, [*others, *(("a", v) for v in rows)], k) for rows in own]
        pairs = (
            itertools.combinations(scores, 2)
            if neighbors == "replace_one"
            else ((scores[0], score) for score in scores)
        )
        for before, after in pairs:
            moves = [y - x for x, y in zip(before, after, strict=True)]
            spread = max(spread, max(moves) - min(moves))
            change = max(change, *map(abs, moves))
            one_way = one_way and (min(moves) >= 0 or max(moves) <= 0)
    assert spread == promised.spread
    assert promised.change is not None
    assert change <= promised.change
    assert one_way or not promised.monotonic


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.one_in(3)
def test_revenue_of_persons_by_brute_force(k: int, neighbors: Neighbors) -> None:
    prices, bids = [0, 1, 2, 3], tables_of_persons([1.0, 2.0, 3.0], k + 1)
    promised = Revenue(NOTHING, Grid(0, 3), units=k).sensitivity(neighbors)

    def revenue(rows: list[Any]) -> list[int]:
        data = pl.DataFrame(rows, {"p": pl.String, "v": pl.Float64}, orient="row")
        [group] = recorded(data, "v", Records("p", rows=k)).groups
        return [price * sum(bid >= price for bid in numbers_of(group)) for price in prices]

    spread = 0
    for others in ([], [("b", 2.0)], [("b", 1.0), ("c", 3.0)]):
        scores = [revenue([*others, *(("a", bid) for bid in rows)]) for rows in bids]
        for before, after in itertools.product(scores, repeat=2):
            if neighbors == "replace_one" or before == scores[0]:
                moves = [y - x for x, y in zip(before, after, strict=True)]
                spread = max(spread, max(moves) - min(moves))
    assert spread == promised.spread


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_counts_of_persons_by_brute_force(neighbors: Neighbors) -> None:
    own = [list(s) for n in range(4) for s in itertools.combinations("xyz", n)] + [list("xxyy")]
    promised = Counts(Counted(), ()).sensitivity(neighbors)

    def tallied(rows: list[Any]) -> list[int]:
        data = pl.DataFrame(rows, {"p": pl.String, "v": pl.String}, orient="row")
        return recorded(data, "v", Records("p")).tally(list("xyz"))[0]

    spread = 0
    for others in ([], [("b", "x"), ("b", "y"), ("b", "x")], [("b", "z"), ("c", "z")]):
        scores = [tallied([*others, *(("a", v) for v in rows)]) for rows in own]
        for before, after in itertools.product(scores, repeat=2):
            if neighbors == "replace_one" or before == scores[0]:
                moves = [y - x for x, y in zip(before, after, strict=True)]
                spread = max(spread, max(moves) - min(moves))
    assert spread == promised.spread


# --- what all groups promise together, from the joint law


def joint_law(rows: list[Any], unit_query: UnitQuery, labels: Labels) -> dict[tuple[int, ...], arb]:
    """The probability of every tuple of answers, one for each group."""
    data = pl.DataFrame(
        rows, {"*": pl.String, "the group": pl.String, "v": pl.String}, orient="row"
    )
    tallied = recorded(data, "v", unit_query.records).tally(labels)
    laws = [
        ask(Counts(Counted(counts), labels, unit_query.per_person), unit_query.terms, labels)
        .law()
        .probabilities()
        for counts in tallied
    ]
    outcomes = itertools.product(range(labels.size), repeat=len(laws))
    return {
        outcome: math.prod((law[i] for law, i in zip(laws, outcome, strict=True)), start=arb(1))
        for outcome in outcomes
    }


def neighbours(others: list[Row], kinds: list[list[Row]], neighbors: str) -> Iterable[Any]:
    if neighbors == "add_remove":
        return [(others, others + kind) for kind in kinds]
    return [(others + a, others + b) for a, b in itertools.permutations(kinds, 2)]


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize("persons", [None, 1, 2])
@pytest.mark.one_in(3)
@pytest.mark.proof_in("[1-permute_and_flip-replace_one", "[2-")
def test_groups_together_by_enumeration(
    neighbors: str, mechanism: str, persons: int | None
) -> None:
    """No joint probability changes by more than the release says, and some change by nearly that."""
    labels, unit = Labels(["x", "y"]), None if persons is None else "*"
    terms: Any = {"epsilon": 1, "mechanism": mechanism, "neighbors": neighbors}
    terms |= {"privacy_unit": unit, "by": "the group", "groups": ["g", "h"]}
    unit_query = read_unit_query({**terms, "max_groups": persons or 1})
    cells = list(itertools.product(("g", "h"), ("x", "y")))
    kinds: list[list[Row]] = [[("new", *cell)] for cell in cells]
    if unit:
        pairs = itertools.combinations(cells, 2)
        kinds = [[], *kinds, *([("new", *a), ("new", *b)] for a, b in pairs)]
    crowd: list[Row] = [(f"p{i}", *cell) for i in range(24) for cell in (("g", "x"), ("h", "x"))]
    with precision(128):
        worst = arb(0)
        for others in ([], crowd, [("b", "g", "y")]):
            for before, after in neighbours(others, kinds, neighbors):
                laws = [joint_law(rows, unit_query, labels) for rows in (before, after)]
                ratios = [laws[1][o] / laws[0][o] for o in laws[0]]
                worst = max([worst, *ratios, *(1 / ratio for ratio in ratios)], key=float)
        assert lower(worst) <= upper(arb(1).exp())
        assert lower(worst) > upper(arb("0.9").exp())


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("few", [1, 2])
@pytest.mark.parametrize("parameter", ["epsilon", "rho"])
def test_what_groups_promise_is_what_was_asked(neighbors: str, few: int, parameter: str) -> None:
    data = pl.DataFrame({"*": ["a"], "the group": ["g"], "v": ["x"]})
    people: Any = {"privacy_unit": "*", "by": "the group", "groups": ["g", "h"]}
    terms: Any = {parameter: 1, "neighbors": neighbors, "max_groups": few, **people}
    answer = discreet.mode(data, "v", candidates=["x", "y"], **terms)
    promised: Any = getattr(answer.guarantee, "pure" if parameter == "epsilon" else "rho")
    assert answer.guarantee.neighbors == neighbors
    assert promised <= 1
    assert promised > Fraction(3, 4)


def test_counts_on_a_grid_leave_nan_out_whatever_the_statistics_say(tmp_path: Path) -> None:
    values = pa.array([0.0, 1.0, float("nan"), float("nan")])
    path = ENGINES["parquet"](pa.table({"value": values}), tmp_path)
    for data in (path, duckdb.connect().read_parquet(str(path))):
        cells = on_grid(data, "value", Grid(0, 10))
        assert cells is not None
        [counts] = cells.histogram([range(0, 11)])
        assert counts.tolist() == [1, 1] + [0] * 9
