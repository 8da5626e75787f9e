"""Groups that nobody lists: drawn from the bounded table that answers too, charged for both, and read alone."""

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import Grid
from discreet.errors import InvalidArgument, UnreadableData
from discreet.mechanisms.private_keys import DrawnKeys, PrivateKeys
from discreet.privacy import ApproxDP
from discreet.selection.released_values import ReleasedValue
from discreet.selection.verb_calls import bill_of
from discreet.tables.engines.column import Group, Source
from discreet.tables.engines.expressions import OpenedTable
from discreet.tables.engines.key_counts import KeyClasses
from discreet.tables.engines.records import Records
from discreet.tables.verbs.private_groups import MOST_DRAWN
from discreet.tables.verbs.units import read_unit_query

from ...engines import ENGINES, crossed
from ...selection.test_payment import Purse, Unread
from ..engines.test_key_counts import pairs

Row = tuple[Any, Any, Any]
"""A person, a group, a number."""

PRIVATE: Any = {"by": "the group", "groups": "private", "epsilon": 40, "delta": "1e-2"}
"""So much epsilon that a group of two records is as good as sure, and answers are the best."""

GRID = Grid(0, 9)
NAMES = ["north", "North", "é", "south ", None]
PERSONS = ["ann", "bob", "cid", "dora", None]


def table(rows: Sequence[Row]) -> pa.Table:
    persons, groups, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "value": pa.array(numbers, pa.int64()),
            "*": pa.array(persons, pa.string()),
            "the group": pa.array(groups, pa.string()),
        }
    )


def some_rows(n: int = 120) -> list[Row]:
    """Rows in which every person has some in every group."""
    numbers = random.Random(3)
    return [(PERSONS[i % 5], NAMES[i // 5 % 5], numbers.randrange(10)) for i in range(n)]


def every_group(source: Source) -> list[str]:
    """All groups of a source: the draw is left to other tests."""
    held = source.group_keys.classes(1)
    every = DrawnKeys(np.full(held.sizes[0], 1), np.arange(held.sizes[0]), None)
    return [str(key) for key, _ in held.fetch(every)]


PLANS: dict[str, Records] = {
    "rows": Records(by="the group", draws_groups=True),
    "one group": Records("*", 2, "the group", most_groups=1, draws_groups=True),
    "two groups": Records("*", 1, "the group", most_groups=2, draws_groups=True),
}


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, PLANS, "two groups"))
@pytest.mark.one_in(7)
@pytest.mark.proof_in("spark")
def test_the_table_that_draws_groups_is_the_one_that_answers(
    engine: str, plan: str, tmp_path: Path
) -> None:
    """A person's rows in a group for which the person was not counted enter no answer, in any engine."""
    records, rows = PLANS[plan], some_rows()
    source = Source(ENGINES[engine](table(rows), tmp_path), "value", records)
    if engine == "csv":
        rows = [(person, group or "", number) for person, group, number in rows]
    expected = pairs(
        [(person, group) for person, group, _ in rows],
        None if records.unit is None else records.most_groups,
    )
    names = sorted({group for _, group in expected})
    assert every_group(source) == names
    for i, group in enumerate(source.drawn_groups(names)):
        there = {person for person, name in expected if name == names[i]}
        own = [row for row in rows if row[1] == names[i] and row[0] in there]
        values, counts = group.numbers()
        assert counts is not None
        found = Counter(dict(zip(map(int, values), map(int, counts), strict=True)))
        if records.unit is None:
            assert found == Counter(number for _, _, number in own)
        else:
            assert records.rows is not None
            few = sum(min(records.rows, Counter(p for p, _, _ in own)[p]) for p in there)
            assert found.total() == few
            assert not found - Counter(number for _, _, number in own)
        candidates = [str(digit) if engine == "csv" else digit for digit in range(10)]
        tallied = group.count(candidates)
        numbers = [{p for p, _, n in own if n == digit} for digit in range(10)]
        of_rows = [sum(n == digit for _, _, n in own) for digit in range(10)]
        assert tallied == (of_rows if records.unit is None else [len(one) for one in numbers])


def test_rows_of_dropped_groups_would_be_found() -> None:
    """The test above can fail: without the bound of the groups a person counts in all of them."""
    records, rows = PLANS["one group"], some_rows()
    source = Source(pl.from_arrow(table(rows)), "value", records)
    names = every_group(source)
    loose: OpenedTable = source.group_keys.groups_of(names)
    assert loose.drawn_groups is not None
    assert loose.drawn_groups.pairs is not None
    object.__setattr__(loose.drawn_groups, "pairs", None)
    unbounded = Source(None, "value", loose.records, table=loose).groups
    kept, all_rows = (
        sum(sum(group.count([*range(10)])) for group in groups)
        for groups in (source.drawn_groups(names), unbounded)
    )
    assert kept < all_rows


# --- the promise: all tables of few rows, all groups that may be drawn


def kept_answers(rows: list[Row], most: int) -> dict[str, tuple[int, ...]]:
    """Of each group the numbers that its answer is drawn from."""
    records = Records("*", 1, "the group", most_groups=most, draws_groups=True)
    source = Source(pl.from_arrow(table(rows)), "value", records)
    names = every_group(source)
    counted = [group.count([0, 1]) for group in source.drawn_groups(names)] if names else []
    return dict(zip(names, map(tuple, counted), strict=True))


@pytest.mark.parametrize("most", [1, 2])
def test_a_person_touches_few_groups_and_their_answers_alone(most: int) -> None:
    """Whatever groups are drawn: the groups whose count or whose answer a person moves are at most so many."""
    others: list[Row] = [("ann", "a", 0), ("ann", "b", 1), ("bob", "a", 1)]
    cells = list(itertools.product("abc", [0, 1]))
    for own in itertools.combinations(cells, 3):
        more = [*others, *(("zoe", group, number) for group, number in own)]
        before, after = kept_answers(others, most), kept_answers(more, most)
        moved = [name for name in "abc" if before.get(name) != after.get(name)]
        assert len(moved) <= most


def asked_for(paid: Any) -> Any:
    """What was asked for, of the promises of a release or a bill; the second one is what it is made of."""
    return paid.guarantee.promises[0]


def answered(rows: list[Row], most: int, names: Sequence[str]) -> list[tuple[int, ...]]:
    """Of each group of a list the numbers that its answer is drawn from, whether the table has it or not."""
    records = Records("*", 1, "the group", most_groups=most, draws_groups=True)
    source = Source(pl.from_arrow(table(rows)), "value", records)
    return [tuple(group.count([0, 1])) for group in source.drawn_groups(list(names))]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("drawn", [1, 2, 3])
def test_given_the_list_a_person_moves_few_answers(most: int, drawn: int, neighbors: Any) -> None:
    """Of all lists of so many groups, each answered, be it empty or not: all changes of one person."""
    terms: Any = {
        "privacy_unit": "*",
        "max_groups": most,
        "most_drawn": drawn,
        "neighbors": neighbors,
    }
    query = read_unit_query({**PRIVATE, **terms}, bounded=True)
    others: list[Row] = [("ann", "a", 0), ("ann", "b", 1), ("bob", "a", 1)]
    cells = list(itertools.product("abc", [0, 1]))
    own = [some for n in range(4) for some in itertools.combinations(cells, n)]
    found = 0
    for names in itertools.combinations("abc", drawn):
        held = {
            some: answered([*others, *(("zoe", *cell) for cell in some)], most, names)
            for some in own
        }
        assert {len(one) for one in held.values()} == {drawn}
        starts = [()] if neighbors == "add_remove" else own
        for before, after in itertools.product(starts, own):
            both = zip(held[before], held[after], strict=True)
            moved = sum(one != other for one, other in both)
            found = max(found, moved)
    assert (
        found == query.moved_groups() == min(drawn, most if neighbors == "add_remove" else 2 * most)
    )
    steps = 1 if neighbors == "add_remove" else 2
    assert query.parts == min(most, drawn)
    assert query.terms["epsilon"] == Fraction(20, query.parts * steps)


def test_groups_without_a_number_are_answered() -> None:
    """Their rows are there, and their values are null: for a neighbour the group may be empty as well."""
    rows = [(f"p{i}", name, None) for i in range(400) for name in ("north", "south")]
    data = pl.DataFrame(
        rows, {"*": pl.String, "the group": pl.String, "value": pl.Int64}, orient="row"
    )
    for verb in VERBS:
        if verb not in ("bounds", "best_price"):
            release = VERBS[verb](data, **{**PRIVATE, "epsilon": 400})
            assert list(release.value) == ["north", "south"], verb


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_answers_are_divided_by_those_that_there_may_be(neighbors: Any) -> None:
    """Ten groups a person, and one of them is answered: noise of one answer, and not of ten."""
    terms: Any = {**PRIVATE, "privacy_unit": "*", "max_groups": 10, "neighbors": neighbors}
    steps = 1 if neighbors == "add_remove" else 2
    for drawn, parts in ((None, 10), (20, 10), (3, 3), (1, 1)):
        query = read_unit_query({**terms, "most_drawn": drawn}, bounded=True)
        assert query.terms["epsilon"] == Fraction(20, parts * steps)
        assert query.drawing is not None
        assert query.drawing.mechanism.keys == 10
    bill = bill_of(VERBS["sum"], Unread(), **terms, most_drawn=1)
    assert bill.worst_error is not None
    wide = bill_of(VERBS["sum"], Unread(), **terms)
    assert wide.worst_error is not None
    assert wide.worst_error.error > 9 * bill.worst_error.error
    assert asked_for(bill) == ApproxDP(Fraction(40), Fraction(1, 100), neighbors)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("unit", [None, "*"])
def test_the_guarantee_is_that_of_both_parts(neighbors: Any, unit: str | None) -> None:
    """The groups have a half of epsilon and all of delta; of the rest each answer has what it may."""
    most = 1 if unit is None else 3
    terms: Any = {"privacy_unit": unit, "max_groups": most, "neighbors": neighbors}
    steps = 1 if neighbors == "add_remove" else 2
    query = read_unit_query({**PRIVATE, **terms})
    assert query.drawing is not None
    assert query.drawing.mechanism == PrivateKeys(Fraction(20), Fraction(1, 100), most, neighbors)
    assert query.drawing.mechanism.changes == most * steps
    assert query.terms["epsilon"] == Fraction(20, most * steps)
    data = pl.from_arrow(table(some_rows()))
    release = discreet.median(data, "value", candidates=GRID, **{**PRIVATE, **terms})
    assert asked_for(release) == ApproxDP(Fraction(40), Fraction(1, 100), neighbors)


def test_shares_are_stated() -> None:
    data = pl.from_arrow(table(some_rows()))
    release = discreet.mode(data, "value", candidates=[1, 2], groups_share="1/4", **PRIVATE)
    assert asked_for(release) == ApproxDP(Fraction(40), Fraction(1, 100))
    query = read_unit_query({**PRIVATE, "groups_share": "1/4"})
    assert query.drawing is not None
    assert query.drawing.mechanism.epsilon == 10
    assert query.terms["epsilon"] == Fraction(30)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_least_count_is_that_of_the_draw(neighbors: Any) -> None:
    """A group of fewer records is never named, at the same price, and others as if they had fewer."""
    terms: Any = {"privacy_unit": "*", "max_groups": 2, "neighbors": neighbors}
    query = read_unit_query({**PRIVATE, **terms})
    fewer = query.with_least(350)
    assert query.drawing is not None
    assert fewer.drawing is not None
    mechanism = fewer.drawing.mechanism
    assert mechanism == PrivateKeys(Fraction(20), Fraction(1, 100), 2, neighbors, minimum_count=350)
    assert mechanism.guarantee == query.drawing.mechanism.guarantee
    assert mechanism.chance(349) == 0
    assert mechanism.chance(360) == PrivateKeys(
        Fraction(20), Fraction(1, 100), 2, neighbors, shows_counts=True
    ).chance(11)
    data = pl.DataFrame({"the group": ["x"] * 400 + ["y"] * 349})
    asked: Any = {**PRIVATE, "neighbors": neighbors}
    assert [*discreet.count(data, minimum_count=350, **asked).value] == ["x"]
    bills = [bill_of(discreet.count, data, minimum_count=n, **asked) for n in (None, 2, 350)]
    assert len({bill.digest for bill in bills}) == 3
    assert len({str(bill.guarantee) for bill in bills}) == 1


# --- the verbs


VERBS: dict[str, Any] = {
    "mode": lambda data, **terms: discreet.mode(data, "value", candidates=[0, 7], **terms),
    "top_k": lambda data, **terms: discreet.top_k(
        data, "value", k=2, candidates=[0, 7, 4], **terms
    ),
    "median": lambda data, **terms: discreet.median(data, "value", candidates=GRID, **terms),
    "median_distance": lambda data, **terms: discreet.median(
        data, "value", candidates=GRID, score="median_distance", **terms
    ),
    "quantile": lambda data, **terms: discreet.quantile(
        data, "value", alpha="0.9", candidates=GRID, **terms
    ),
    "quantiles": lambda data, **terms: discreet.quantiles(
        data, "value", alphas=["1/4", "3/4"], candidates=GRID, **terms
    ),
    "minimum": lambda data, **terms: discreet.minimum(data, "value", candidates=GRID, **terms),
    "maximum": lambda data, **terms: discreet.maximum(data, "value", candidates=GRID, **terms),
    "count": discreet.count,
    "count of a column": lambda data, **terms: discreet.count(data, "value", **terms),
    "counts": lambda data, **terms: discreet.counts(data, "value", candidates=[0, 7], **terms),
    "sum": lambda data, **terms: discreet.sum(data, "value", minimum=0, maximum=9, **terms),
    "mean": lambda data, **terms: discreet.mean(data, "value", minimum=0, maximum=9, **terms),
    "top_k by counts": lambda data, **terms: discreet.top_k(
        data, "value", k=2, candidates=[0, 7, 4], method="counts", **terms
    ),
    "bounds": lambda data, **terms: discreet.bounds(data, "value", **terms),
    "best_price": lambda data, **terms: discreet.best_price(
        data, "value", candidates=GRID, **terms
    ),
}


SURE = ("minimum", "maximum", "best_price", "count", "count of a column", "counts")
"""Verbs with one best answer in these data, which so much epsilon answers."""


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("unit", [{}, {"privacy_unit": "*", "max_groups": 4}])
@pytest.mark.one_in(2)
def test_verbs_answer_for_the_groups_that_were_drawn(verb: str, unit: Any) -> None:
    """As they answer where the same groups are listed, in the order of their names; and again from an account."""
    data, ask = pl.from_arrow(table(some_rows(400))), VERBS[verb]
    release = ask(data, **{**PRIVATE, **unit, "epsilon": 4000})
    assert list(release.value) == sorted(name for name in NAMES if name)
    if verb in SURE and not unit:
        listed = ask(data, **unit, by="the group", groups=list(release.value), epsilon=4000)
        assert release.value == listed.value
    purse = Purse(left=1)
    paid, again = (ask(data, **{**PRIVATE, **unit}, ledger=purse, request="once") for _ in range(2))
    assert paid.value == again.value
    stored: Any = purse.stored["once"]
    keys, answers = stored
    assert [key.value for key in keys] == list(paid.value)
    assert all(isinstance(key, ReleasedValue) for key in keys)
    assert len(answers) == len(keys)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize(
    "unit", [{}, {"privacy_unit": "*", "max_groups": 4}], ids=["rows", "units"]
)
def test_groups_and_answers_together_cost_what_was_asked_for(
    verb: str, neighbors: Any, unit: dict[str, Any]
) -> None:
    """All of it and no more: what the groups take is not left for the answers."""
    terms: Any = {**PRIVATE, **unit, "neighbors": neighbors, "groups_share": "1/4"}
    bill = bill_of(VERBS[verb], Unread(), **terms)
    assert asked_for(bill) == ApproxDP(Fraction(40), Fraction(1, 100), neighbors)
    whole, parts = bill.guarantee.promises  # type: ignore[attr-defined]
    assert parts.delta_at(40) <= whole.delta * (1 + Fraction(1, 2**60))


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_is_read_before_it_is_paid_for(verb: str) -> None:
    purse = Purse(left=0)
    with pytest.raises(discreet.DiscreetError):
        VERBS[verb](Unread(), **PRIVATE, ledger=purse)
    bill = purse.bills[0]
    words = "of the group that is drawn: one of fewer than 2 records is named with a probability below one half"
    assert words in bill.query


def test_groups_of_few_records_are_not_named() -> None:
    """And no group is an answer."""
    few = pl.from_arrow(table([("ann", "north", 1), ("bob", "south", 2)]))
    terms = {
        **PRIVATE,
        "epsilon": 1,
        "delta": "1e-15",
    }  # at one in a hundred a group of one would be named now and then
    assert discreet.median(few, "value", candidates=GRID, **terms).value == {}
    nobody = discreet.median(few.clear(), "value", candidates=GRID, **PRIVATE)
    assert nobody.value == {}
    assert str(nobody).startswith("{} [")


def test_groups_that_were_not_drawn_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other in the order of their names, and none before the draw."""
    rows = [*some_rows(400), ("zoe", "alone", 3)]
    read: list[Any] = []

    def numbers(group: Group) -> Any:
        read.append(group.source.records.groups[group.index])
        return original(group)

    def fetch(*arguments: Any) -> Any:
        read.append("drawn")
        return original_fetch(*arguments)

    original, original_fetch = Group.numbers, KeyClasses.fetch
    monkeypatch.setattr(Group, "numbers", numbers)
    monkeypatch.setattr(KeyClasses, "fetch", fetch)
    data = pl.from_arrow(table(rows))
    fine = Grid(0, 9, "1e-30")  # too fine to be counted, so numbers are fetched
    release = discreet.median(data, "value", candidates=fine, **PRIVATE)
    names = sorted(release.value)
    assert read == [None, "drawn", *names]
    assert {"North", "north"} <= set(
        names
    )  # of many records; that of one record is named now and then


def test_more_groups_than_are_answered_are_cut_by_their_noisy_counts() -> None:
    rows = [(None, f"g{i:04}", 1) for i in range(MOST_DRAWN + 5) for _ in range(3 + 9 * (i > 4))]
    data = pl.from_arrow(table(rows))
    release = discreet.mode(data, "value", candidates=[1], **{**PRIVATE, "epsilon": 400})
    assert list(release.value) == [f"g{i:04}" for i in range(5, MOST_DRAWN + 5)]


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"delta": None}, "needs delta"),
        ({"delta": 1}, "delta must be below 1"),
        ({"epsilon": None}, "needs epsilon"),
        ({"rho": 1, "epsilon": None}, "divides epsilon"),
        ({"scale": 1, "epsilon": None}, "divides epsilon"),
        ({"groups_share": 1}, "groups_share must be above 0 and below 1"),
        ({"by": None}, "by goes with groups"),
        ({"max_groups": 2}, "name the column of users"),
        ({"epsilon": "1e-9", "delta": "1e-15"}, "take a larger epsilon"),
    ],
)
def test_public_arguments_are_refused_before_anything_is_read(terms: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        discreet.mode(Unread(), "value", candidates=[1], **{**PRIVATE, **terms})


def test_types_without_keys_are_refused_before_anything_is_paid() -> None:
    data = pl.DataFrame({"the group": [1.5], "value": [1]})
    purse = Purse()
    with pytest.raises(UnreadableData, match="has no keys"):
        discreet.mode(data, "value", candidates=[1], **PRIVATE, ledger=purse)
    words = data.with_columns(pl.col("the group").cast(pl.String), pl.lit("x").alias("value"))
    with pytest.raises(UnreadableData, match="not a column of numbers"):
        discreet.median(words, "value", candidates=GRID, **PRIVATE, ledger=purse)
    assert purse.left == 10


def test_a_template_of_groups_has_no_rows() -> None:
    """A verb that does not wait for the draw is refused."""
    source = Source(pl.from_arrow(table(some_rows())), "value", PLANS["rows"])
    with pytest.raises(InvalidArgument, match="have no rows before"):
        source.groups[0].count([1])


def test_delta_alone_is_refused() -> None:
    data = pl.from_arrow(table(some_rows()))
    with pytest.raises(TypeError, match="delta"):
        discreet.mode(data, "value", candidates=[1], epsilon=1, delta="1e-6")


def test_no_more_groups_are_answered_than_are_asked_for() -> None:
    rows = [(f"g{at}", value) for at in range(6) for value in range(100 * (at + 1))]
    data = pl.DataFrame(rows, schema=["place", "value"], orient="row")
    terms: Any = {"by": "place", "groups": "private", "epsilon": 200, "delta": "1e-8"}
    few = discreet.mode(data, "value", candidates=[1, 2], most_drawn=2, **terms)
    assert list(few.value) == ["g4", "g5"]
    assert len(discreet.mode(data, "value", candidates=[1, 2], **terms).value) == 6
    wrongs: list[Any] = [0, 1001, "x"]
    for wrong in wrongs:
        with pytest.raises(InvalidArgument, match="most_drawn"):
            discreet.mode(data, "value", candidates=[1, 2], most_drawn=wrong, **terms)
