"""Cells of several columns and of bins about a described dataset: each column as it is declared."""

import itertools
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import Bins, Dataset
from discreet.errors import DiscreetError

from .test_calls import Untouched

SURE = 10**4

COLUMNS: dict[str, Any] = {
    "city": {"type": "string", "enum": ["York", "Leeds"], "missing": ["NA"]},
    "member": {"type": "boolean"},
    "age": {"type": "integer", "minimum": 0, "maximum": 120, "missing": ["-9"]},
    "paid": {"type": "number", "enum": [1.5, 2], "decimal": ","},
    "day": {
        "type": "date",
        "minimum": "2020-02-01",
        "maximum": "2020-02-02",
        "date": "%d.%m.%Y",
    },
    "free": {"type": "string"},
    "time": {"type": "datetime"},
}

ROWS = ["York;true;30;1,5;01.02.2020;x"] * 5 + ["Leeds;false;-9;2;02.02.2020;y"] * 3
ROWS += ["NA;true;60;2;01.02.2020;x", "Genf;true;60;2;01.02.2020;x"]

AGES = Bins("age", 0, 120, 60)


@pytest.fixture
def people(tmp_path: Path) -> Dataset:
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["city;member;age;paid;day;free", *ROWS, ""]), encoding="utf-8")
    return Dataset(discreet.scan_csv(path, delimiter=";"), COLUMNS, name="people")


def untouched() -> Dataset:
    forms = ("missing", "decimal", "date")
    columns = {
        name: {word: one for word, one in column.items() if word not in forms}
        for name, column in COLUMNS.items()
    }
    return Dataset(Untouched(), columns, name="people")


def test_a_product_is_of_all_declared_values(people: Dataset) -> None:
    counts = discreet.counts(people, ["city", "member"], epsilon=SURE).value
    assert counts == {
        ("York", False): 0, ("York", True): 5, ("Leeds", False): 3, ("Leeds", True): 0,
    }  # fmt: skip
    assert discreet.mode(people, ["city", "member"], epsilon=SURE).value == ("York", True)
    tops = discreet.top_k(people, ["city", "member"], k=2, epsilon=SURE).value
    assert tops == [("York", True), ("Leeds", False)]


def test_cells_are_read_in_the_declared_form_of_each_column(people: Dataset) -> None:
    def cells(*columns: Any) -> dict[Any, int]:
        counts = discreet.counts(people, columns, epsilon=SURE).value
        return {cell: n for cell, n in counts.items() if n}

    days = Bins("day", "2020-02-01", "2020-02-03", "1 day")
    assert cells("city", "paid") == {("York", Decimal("1.5")): 5, ("Leeds", 2): 3}
    assert cells("city", Bins("paid", 1, 3, 1)) == {("York", "[1, 2)"): 5, ("Leeds", "[2, 3)"): 3}
    assert cells("city", days) == {
        ("York", "[2020-02-01, 2020-02-02)"): 5, ("Leeds", "[2020-02-02, 2020-02-03)"): 3,
    }  # fmt: skip
    assert cells(Bins("age", 0, 120, 60, missing=True)) == {
        "[0, 60)": 5, "[60, 120)": 2, "missing": 3,
    }  # fmt: skip
    assert cells("member", Bins("age", -10, 50, 60)) == {(True, "[-10, 50)"): 5}  # -9 is no number


def test_listed_cells_mean_what_declared_values_mean(people: Dataset) -> None:
    def cells(*listed: tuple[Any, ...]) -> Any:
        terms: dict[str, Any] = {"candidates": listed, "epsilon": SURE}
        return discreet.counts(people, ["city", "paid"], **terms).value

    assert cells(("York", 1.5), ("Leeds", 1.5)) == {("York", 1.5): 5, ("Leeds", 1.5): 0}
    some = {"city": ["York"], "paid": [1.5]}
    assert discreet.counts(people, ["city", "paid"], candidates=some, epsilon=SURE).value == {
        ("York", Decimal("1.5")): 5
    }


def test_groups_are_cells_of_declared_values(people: Dataset) -> None:
    counts = discreet.count(people, by=["city", AGES], epsilon=SURE).value
    assert counts == {
        ("York", "[0, 60)"): 5, ("York", "[60, 120)"): 0, ("Leeds", "[0, 60)"): 0, ("Leeds", "[60, 120)"): 0,
    }  # fmt: skip
    medians = discreet.median(
        people, "age", by=["city", "member"], groups=[("York", True)], epsilon=SURE
    )
    assert medians.value == {("York", True): 30}
    older = discreet.count(people, by=["city", AGES], where="age > 50", epsilon=SURE)
    assert set(older.value.values()) == {0}


def test_drawn_cells_need_no_declared_values(people: Dataset) -> None:
    terms: dict[str, Any] = {"epsilon": SURE, "delta": "1e-9"}
    assert discreet.keys(people, ["free", "city"], **terms).value == [("x", "York"), ("y", "Leeds")]
    assert discreet.counts(people, ["free", "city"], **terms).value == {
        ("x", "York"): 5, ("y", "Leeds"): 3,
    }  # fmt: skip
    groups = discreet.count(people, by=["free", "city"], groups="private", **terms).value
    assert groups == {("x", "York"): 5, ("y", "Leeds"): 3}
    mode = discreet.mode(people, ["free", "city"], candidates="private", **terms).value
    assert mode == ("x", "York")


def test_questions_of_other_bins_are_other_questions(people: Dataset) -> None:
    shapes: list[Any] = [
        AGES, Bins("age", 0, 120, 40), Bins("age", 0, 120, 60, closed=True), Bins("age", 0, 120, 60, below=True),
        Bins("age", 0, 120, 60, missing=True), ["city", AGES], [AGES, "city"], ["city", "member"],
    ]  # fmt: skip
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=len(shapes))
    session = ledger.session("people")
    for number, shape in enumerate(shapes):
        first = session.counts(people, shape, epsilon=1, request=str(number))
        again = session.counts(people, shape, epsilon=1, request=str(number))
        assert (first.charged, again.charged, again.value) == (True, False, first.value)
    for place, shape in itertools.product(range(len(shapes)), shapes):
        if shape is not shapes[place]:
            with pytest.raises(DiscreetError, match="another question"):
                session.counts(people, shape, epsilon=1, request=str(place))


@pytest.mark.parametrize("verb", ["keys", "count"])
def test_drawn_cells_of_other_bins_are_other_questions(people: Dataset, verb: str) -> None:
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=1, delta="1e-6", delta_for="questions")
    ask = getattr(ledger.session("people"), verb)
    terms: dict[str, Any] = {"epsilon": 1, "delta": "1e-6", "request": "one"}
    name, groups = ("column", {}) if verb == "keys" else ("by", {"groups": "private"})
    assert ask(people, **{name: ["city", AGES]}, **groups, **terms).charged
    for shape in (AGES, ["city", Bins("age", 0, 120, 40)], [AGES, "city"], "city"):
        with pytest.raises(DiscreetError, match="another question"):
            ask(people, **{name: shape}, **groups, **terms)


REFUSED: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (discreet.counts, {"column": ["city", "town"]}, "no column 'town'. It has 'city'"),
    (discreet.keys, {"column": ["town", "city"], "delta": "1e-9"}, "no column 'town'"),
    (discreet.counts, {"column": Bins("aged", 0, 9, 1)}, "did you mean 'age'?"),
    (discreet.count, {"by": ["city", "town"]}, "by: the description of people has no column 'town'"),
    (discreet.counts, {"column": ["city", "city"]}, "columns that differ"),
    (discreet.counts, {"column": ["age", AGES]}, "columns that differ"),
    (discreet.counts, {"column": ["city", "free"]}, "does not declare the values of column 'free'"),
    (discreet.count, {"by": ["city", "free"]}, "groups are missing"),
    (
        discreet.counts,
        {"column": ["city", "member"], "candidates": {"city": ["Genf"], "member": [True]}},
        "'Genf' is not among the declared values of column 'city'. They are 'York', 'Leeds'",
    ),
    (
        discreet.counts,
        {"column": ["member", "city"], "candidates": [(True, "York"), (True, "Genf")]},
        "'Genf' is not among the declared values of column 'city'",
    ),
    (discreet.counts, {"column": ["city", "age"], "candidates": [("York", 121)]}, "beyond the maximum"),
    (discreet.counts, {"column": ["city", "age"], "candidates": [("York", "1")]}, "declared as integer"),
    (
        discreet.count,
        {"by": ["city", "member"], "groups": [("York", "yes")]},
        "not a value of column 'member', which is declared as boolean",
    ),
    (
        discreet.counts,
        {"column": ["city", "member"], "candidates": {"city": ["York"]}},
        "must have the values of 'city', 'member', and of no other",
    ),
    (
        discreet.counts,
        {"column": ["city", AGES], "candidates": [("York", "[0, 61)")]},
        "'[0, 61)' is none of the cells of age",
    ),
    (
        discreet.counts,
        {"column": Bins("city", 0, 2, 1)},
        "city [0, 1, 2) has a number as an edge, and column 'city' is declared as string",
    ),
    (
        discreet.keys,
        {"column": ["city", Bins("day", 0, 2, 1)], "delta": "1e-9"},
        "column 'day' is declared as date",
    ),
    (
        discreet.count,
        {"by": Bins("age", "2020-01-01", "2020-01-03", "1 day"), "groups": "private", "delta": "1e-9"},
        "has a time as an edge, and column 'age' is declared as integer",
    ),
    (discreet.counts, {"column": Bins("member", 0, 2, 1)}, "column 'member' is declared as boolean"),
    (
        discreet.mode,
        {"column": ["city", "member"], "unsafe_candidates_from_data": True},
        "unsafe_candidates_from_data is for one column",
    ),
    (
        discreet.counts,
        {"column": ["city", "member"], "where": "town = 'York'"},
        "no column 'town'",
    ),
    (discreet.median, {"column": ["age", "city"]}, "Several are for counts, keys, mode, top_k and by"),
    (discreet.median, {"column": AGES}, "one column is asked for here, got a discreet.Bins"),
    (discreet.sum, {"column": ["age", "paid"]}, "one column is asked for here, got a list"),
    (discreet.count, {"column": ["city", "member"]}, "one column is asked for here, got a list"),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "terms", "message"), REFUSED)
def test_what_a_description_contradicts_is_refused_before_data_are_read(
    verb: Callable[..., Any], terms: dict[str, Any], message: str
) -> None:
    with pytest.raises(DiscreetError) as refused:
        verb(untouched(), **terms, epsilon=1)
    assert message in str(refused.value)
    assert len(str(refused.value).split(". ")) <= 4


def test_two_ways_to_write_a_declared_number_are_one_cell(tmp_path: Path) -> None:
    """A row that equals two listed cells would count twice, against the proof."""
    columns: dict[str, Any] = {"a": {"type": "number"}, "b": {"type": "string", "enum": ["x"]}}
    (tmp_path / "t.csv").write_text("a,b\n0.1,x\n")
    both = [(0.1, "x"), (Decimal("0.1"), "x")]
    with pytest.raises(DiscreetError, match=r"distinct|twice|equal"):
        discreet.counts(
            Dataset(tmp_path / "t.csv", columns), ["a", "b"], candidates=both, epsilon=1
        )
