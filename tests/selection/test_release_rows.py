"""A release as a pandas frame and as a picture."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet.errors import InvalidArgument
from discreet.privacy import PureDP
from discreet.selection.question_sentences import facts_of, read_sentence
from discreet.selection.release_rows import rows_of

PROMISE = PureDP(Fraction(1), "add_remove")

COUNTS = discreet.counts(["tea"], candidates=["tea"], epsilon=1).query


CITIES: dict[str, Any] = {"by": "city", "groups": ["north", "south"]}
TABLE = [{"city": "north", "drink": "tea", "age": 40}] * 9 + [
    {"city": "south", "drink": "milk", "age": 50}
] * 7
DRINKS = ["tea", "milk"]
CALLS: dict[str, tuple[discreet.Release[Any], list[str], int]] = {
    "a number": (discreet.count(TABLE, epsilon=1), ["count"], 1),
    "a value": (discreet.mode(TABLE, "drink", candidates=DRINKS, epsilon=1), ["answer"], 1),
    "several": (discreet.select([1, 2], sensitivity=1, epsilon=1, size=3), ["answer"], 3),
    "counts": (
        discreet.counts(TABLE, "drink", candidates=DRINKS, epsilon=1),
        ["value", "count"],
        2,
    ),
    "a counted list": (
        discreet.top_k(TABLE, "drink", candidates=DRINKS, k=2, epsilon=1, method="counts"),
        ["answer", "count"],
        2,
    ),
    "counts by group": (
        discreet.counts(TABLE, "drink", candidates=DRINKS, epsilon=1, **CITIES),
        ["group", "value", "count"],
        4,
    ),
    "numbers by group": (discreet.count(TABLE, epsilon=1, **CITIES), ["group", "count"], 2),
    "sums by group": (
        discreet.sum(TABLE, "age", minimum=0, maximum=99, epsilon=1, **CITIES),
        ["group", "answer"],
        2,
    ),
    "means by group": (
        discreet.mean(TABLE, "age", minimum=0, maximum=99, epsilon=9, **CITIES),
        ["group", "answer", "count"],
        2,
    ),
    "values by group": (
        discreet.mode(TABLE, "drink", candidates=DRINKS, epsilon=1, **CITIES),
        ["group", "answer"],
        2,
    ),
    "rows of SQL": (
        discreet.Release([{"city": "Bern", "n": 3}], PROMISE, "geometric"),
        ["city", "n"],
        1,
    ),
    "none": (discreet.Release({}, PROMISE, "private_keys"), ["answer"], 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_answer_is_a_frame_with_its_promise(name: str) -> None:
    pytest.importorskip("pandas")
    release, columns, number = CALLS[name]
    frame = release.to_pandas()
    assert (list(frame.columns), len(frame)) == (columns, number)
    assert frame.attrs == {"promise": str(release.promise)}
    assert len(rows_of(release)) == number


BY_CELL: dict[str, Any] = {"by": ["city", "drink"], "groups": {"city": ["north"], "drink": DRINKS}}
OF_DRINKS: dict[str, Any] = {"candidates": {"city": ["north"], "drink": DRINKS}, "epsilon": 1000}
ALIKE = {"count": ["x"] * 9, "city × [0, 1)": ["y"] * 9}
CELL_CALLS: dict[str, tuple[discreet.Release[Any], list[dict[str, Any]]]] = {
    "counts": (
        discreet.counts(TABLE, ["city", "drink"], **OF_DRINKS),
        [
            {"city": "north", "drink": "tea", "count": 9},
            {"city": "north", "drink": "milk", "count": 0},
        ],
    ),
    "a cell": (
        discreet.mode(TABLE, ["drink", "city"], **OF_DRINKS),
        [{"drink": "tea", "city": "north"}],
    ),
    "a counted list": (
        discreet.top_k(TABLE, ["city", "drink"], k=1, method="counts", **OF_DRINKS),
        [{"city": "north", "drink": "tea", "count": 9}],
    ),
    "keys": (
        discreet.keys(TABLE, ["city", "drink"], epsilon=1000, delta="1e-9"),
        [{"city": "north", "drink": "tea"}, {"city": "south", "drink": "milk"}],
    ),
    "numbers by cell": (
        discreet.count(TABLE, epsilon=1000, **BY_CELL),
        [
            {"city": "north", "drink": "tea", "count": 9},
            {"city": "north", "drink": "milk", "count": 0},
        ],
    ),
    "cells by cell": (
        discreet.mode(TABLE, ["city", "drink"], **OF_DRINKS, by=["drink", discreet.Bins("age", 30, 50, 20)],
                      groups={"drink": ["tea"]}),
        [{"group drink": "tea", "age": "[30, 50)", "city": "north", "answer drink": "tea"}],
    ),
    "names alike": (
        discreet.counts(ALIKE, ["count", "city × [0, 1)"], epsilon=1000,
                        candidates={"count": ["x"], "city × [0, 1)": ["y"]}),
        [{"value count": "x", "city × [0, 1)": "y", "count": 9}],
    ),
    "bins": (
        discreet.counts(TABLE, discreet.Bins("age", 30, 70, 40), epsilon=1000),
        [{"value": "[30, 70)", "count": 16}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CELL_CALLS)
def test_cells_have_a_column_for_each_of_theirs(name: str) -> None:
    release, rows = CELL_CALLS[name]
    assert rows_of(release) == rows


def test_cells_of_a_stored_question_have_their_columns() -> None:
    release = CELL_CALLS["counts"][0]
    stored = read_sentence(json.loads(json.dumps(facts_of(release.query))))
    assert rows_of(replace(release, query=stored)) == rows_of(release)
    unknown = replace(release, query="a question of somebody else")
    assert [*rows_of(unknown)[0]] == ["group 1", "group 2", "answer"]


def test_numbers_stay_as_they_were_drawn() -> None:
    release = discreet.Release({"tea": 3, "milk": -1}, PROMISE, "geometric", query=COUNTS)
    assert rows_of(release) == [{"value": "tea", "count": 3}, {"value": "milk", "count": -1}]


@pytest.mark.parametrize("name", ["counts", "a counted list", "counts by group"])
def test_counts_have_a_picture(name: str) -> None:
    pytest.importorskip("matplotlib")
    release, _, number = CALLS[name]
    [axes] = release.plot(label="drink").axes
    assert len(axes.patches) == number


TOWNS, DRINKS = ["York", "Leeds"], ["tea", "milk"]
LISTED = {"city": TOWNS, "drink": DRINKS}
GUESTS = {"city": TOWNS * 40, "drink": DRINKS * 20 + ["milk", "tea"] * 20, "age": [*range(80)]}
AGES = discreet.Bins("age", 0, 120, 20)


@pytest.mark.parametrize(
    ("column", "terms", "names"),
    [
        (["city", "drink"], {"candidates": LISTED}, ("city", "drink")),
        (["city", AGES], {"candidates": {"city": TOWNS}}, ("city", "age")),
        ("drink", {"candidates": DRINKS, "by": "city", "groups": TOWNS}, ("city", "drink")),
    ],
)
def test_counts_of_two_columns_have_a_heat_map(
    column: Any, terms: dict[str, Any], names: tuple[str, str]
) -> None:
    pytest.importorskip("matplotlib")
    release = discreet.counts(GUESTS, column, epsilon=1000, **terms)
    [axes] = release.plot().axes
    assert (axes.get_ylabel(), axes.get_xlabel()) == names
    counts: Any = [row["count"] for row in rows_of(release)]
    assert [patch.get_alpha() for patch in axes.patches] == [
        pytest.approx(0.55 * count / max(counts)) for count in counts
    ]
    assert [text.get_text() for text in axes.texts] == list(map(str, counts))
    assert [label.get_text() for label in axes.get_yticklabels()] == TOWNS


@pytest.mark.parametrize(
    ("column", "terms"),
    [
        (["city", "drink", AGES], {"candidates": LISTED}),
        (AGES, {"by": ["city", "drink"], "groups": LISTED}),
    ],
)
def test_counts_of_three_columns_have_bars_for_each_pair(column: Any, terms: Any) -> None:
    pytest.importorskip("matplotlib")
    release = discreet.counts(GUESTS, column, epsilon=1000, **terms)
    figure = release.plot()
    assert [axes.get_title() for axes in figure.axes] == [
        f"{city}, {drink}" for city in TOWNS for drink in DRINKS
    ]
    assert figure.get_suptitle() == "count by city, drink, age"
    heights = [bar.get_height() for axes in figure.axes for bar in axes.patches]
    assert heights == [row["count"] for row in rows_of(release)]


@pytest.mark.parametrize("name", ["a number", "a value", "rows of SQL", "none", "means by group"])
def test_what_has_no_counts_has_no_picture(name: str) -> None:
    with pytest.raises(InvalidArgument, match="draws counts by value"):
        CALLS[name][0].plot()


LEAST: dict[str, Any] = {"epsilon": 1, "minimum_count": 10**6}
EMPTY: dict[str, tuple[discreet.Release[Any], list[str]]] = {
    "groups": (discreet.count(TABLE, **LEAST, **CITIES), ["group", "count"]),
    "values": (discreet.counts(TABLE, "drink", candidates=DRINKS, **LEAST), ["value", "count"]),
    "values by group": (
        discreet.counts(TABLE, "drink", candidates=DRINKS, **LEAST, **CITIES),
        ["group", "value", "count"],
    ),
    "cells": (
        discreet.counts(TABLE, ["city", "drink"], candidates={"city": ["north"], "drink": DRINKS}, **LEAST),
        ["city", "drink", "count"],
    ),
    "groups that are drawn": (
        discreet.mode(TABLE, "drink", candidates=DRINKS, by="city", groups="private", epsilon=1, delta="1e-30"),
        ["group", "answer"],
    ),
    "keys": (discreet.keys(TABLE, "city", epsilon=1, delta="1e-30"), ["answer"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", EMPTY)
def test_an_answer_without_rows_has_columns(kind: str) -> None:
    release, columns = EMPTY[kind]
    assert not release.value or not any(release.value.values())
    frame = release.to_pandas()
    assert [*frame.columns] == columns
    assert len(frame) == 0


def test_a_statement_without_rows_has_its_columns() -> None:
    pytest.importorskip("sqlglot", reason="the extra sql is not installed")
    names = {"city": {"type": "string", "enum": ["north", "south"]}}
    data = discreet.Dataset({"city": ["north"]}, names, name="people")
    clause = "OPTIONS (epsilon = 1, min_privacy_units_per_group = 1000000)"
    text = f"SELECT WITH DIFFERENTIAL_PRIVACY {clause} city, COUNT(*) FROM people GROUP BY city"
    assert [*discreet.sql(data, text).to_pandas().columns] == ["city", "COUNT(*)"]
