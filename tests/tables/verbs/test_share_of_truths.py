"""The mean and the sum of truths: those of the column as 0 and 1, in every engine, and no neighbour farther."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.errors import DiscreetError, InvalidArgument, UnreadableData

from ...engines import ENGINES, crossed
from ...noisy import Numbers, numbers_behind

CELLS = [True, False, None, True, True, None, False, True, True, False, None, False, True]
PERSONS = [f"p{i % 5}" for i in range(len(CELLS))]
PARTS = ["x" if i % 3 else "y" for i in range(len(CELLS))]
PLANS: dict[str, dict[str, Any]] = {
    "rows": {},
    "replaced": {"neighbors": "replace_one"},
    "units": {"privacy_unit": "u", "max_contributions": 2},
    "replaced units": {"privacy_unit": "u", "max_contributions": 2, "neighbors": "replace_one"},
    "groups": {"by": "g", "groups": ["x", "y"]},
    "units in groups": {"by": "g", "groups": ["x", "y"], "privacy_unit": "u", "max_groups": 2},
    "filtered": {"where": "g = 'x'"},
}
TRUTHS = {"minimum": False, "maximum": True}
BITS = {"minimum": 0, "maximum": 1, "step": 1}
PEOPLE = pa.table(
    {
        "u": PERSONS,
        "g": PARTS,
        "smokes": pa.array(CELLS, pa.bool_()),
        "bit": pa.array([None if one is None else int(one) for one in CELLS], pa.int64()),
    }
)


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, PLANS, "units"))
@pytest.mark.one_in(9)
@pytest.mark.proof_in("spark")
def test_truths_are_added_up_as_their_bits(engine: str, plan: str, tmp_path: Path) -> None:
    data = ENGINES[engine](PEOPLE, tmp_path)
    for verb in (discreet.sum, discreet.mean):
        truths = numbers_behind(verb, data, "smokes", epsilon=1, **TRUTHS, **PLANS[plan])
        assert truths == numbers_behind(verb, data, "bit", epsilon=1, **BITS, **PLANS[plan])
    if plan in ("rows", "replaced"):
        (number,), (from_middle,) = (one.numbers for one in truths)
        assert (number, from_middle) == (10, 6)  # of 13 cells three are missing
    if plan == "filtered":
        kept = [a for a, g in zip(CELLS, PARTS, strict=True) if g == "x" and a is not None]
        assert [one.numbers for one in truths] == [(len(kept),), (sum(kept),)]


@pytest.mark.parametrize(
    "engine", [name for name in ENGINES if name not in ("csv", "postgresql", "spark")]
)
def test_the_type_of_a_column_says_its_bounds(engine: str, tmp_path: Path) -> None:
    data = ENGINES[engine](PEOPLE, tmp_path)
    for verb in (discreet.sum, discreet.mean):
        given = numbers_behind(verb, data, "smokes", epsilon=1, **TRUTHS)
        assert numbers_behind(verb, data, "smokes", epsilon=1) == given


def test_the_share_is_a_number() -> None:
    data = pl.DataFrame({"smokes": [True, False, False, None] * 500})
    share = discreet.mean(data, "smokes", epsilon=10)
    assert abs(float(share.value) - 1 / 3) < 0.01
    assert abs(share.counts - 1500) < 20
    assert abs(discreet.sum(data, "smokes", epsilon=10).value - 500) < 20


@pytest.mark.parametrize(
    "data",
    [
        [True, None, False, True, 1, "true"],
        pd.Series([True, None, False, np.True_], dtype=object),
        np.array([True, False, True]),
        {True: 2, False: 1, None: 9, 1.5: 4},
    ],
    ids=["list", "series", "array", "histogram"],
)
def test_numbers_and_texts_among_objects_are_no_truths(data: Any) -> None:
    size, total = numbers_behind(discreet.mean, data, epsilon=1, **TRUTHS)
    assert (size.numbers, total.numbers) == ((3,), (2,))


def test_text_files_have_the_words_of_table_schema(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    words = ["true", "True", "TRUE", "1", "false", "False", "FALSE", "0", "", "yes", "tRUE", "2"]
    path.write_text("smokes,age\n" + "".join(f"{word},1\n" for word in words), encoding="utf-8")
    size, total = numbers_behind(discreet.mean, path, "smokes", epsilon=1, **TRUTHS)
    assert (size.numbers, total.numbers) == ((8,), (4,))
    declared = discreet.Dataset(path, columns={"smokes": {"type": "boolean"}})
    assert numbers_behind(discreet.mean, declared, "smokes", epsilon=1) == [size, total]
    told = discreet.check(declared, "smokes", epsilon=50).value
    assert (told.fits, told.missing, told.out_of_range + told.other_type) == (8, 1, 3)


def tables() -> Iterator[pl.DataFrame]:
    """All tables of up to two rows of one person, in two groups."""
    rows = [("u", g, cell) for g in ("x", "y") for cell in (True, False, None)]
    schema = {"u": pl.String, "g": pl.String, "smokes": pl.Boolean}
    for size in range(3):
        for some in itertools.combinations_with_replacement(rows, size):
            yield pl.DataFrame(some, schema, orient="row")


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [{"max_contributions": 2}, {**PLANS["groups"], "max_groups": 2}])
@pytest.mark.parametrize("verb", [discreet.sum, discreet.mean])
def test_no_neighbour_costs_more_than_epsilon(neighbors: str, most: Any, verb: Any) -> None:
    terms = {"privacy_unit": "u", "neighbors": neighbors, **most}
    behind = [numbers_behind(verb, one, "smokes", epsilon=1, **terms) for one in tables()]
    before = behind if neighbors == "replace_one" else behind[:1]
    assert max(loss(a, b) for a, b in itertools.product(before, behind)) == 1


def loss(one: list[Numbers], other: list[Numbers]) -> Fraction:
    """The loss of privacy of all lists together."""
    return sum(
        (
            a.eta * abs(n - m)
            for a, b in zip(one, other, strict=True)
            for n, m in zip(a.numbers, b.numbers, strict=True)
        ),
        Fraction(0),
    )


def test_a_described_column_is_asked_in_sql() -> None:
    columns: Any = {"smokes": {"type": "boolean"}, "g": {"type": "string", "enum": ["x", "y"]}}
    data = discreet.Dataset(pl.from_arrow(PEOPLE), columns=columns)
    statement = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) g, {} FROM data GROUP BY g"
    for verb, call in ((discreet.mean, "AVG(smokes)"), (discreet.sum, "SUM(smokes)")):
        in_sql = numbers_behind(discreet.sql, data, statement.format(call))
        assert in_sql == numbers_behind(verb, data, "smokes", by="g", epsilon=1)
    bounded = "AVG(smokes, contribution_bounds_per_row => (0, {}))"
    discreet.sql(data, statement.format(bounded.format(1)))
    with pytest.raises(InvalidArgument, match=r"has the bounds \(0, 1\)"):
        discreet.sql(data, statement.format(bounded.format(2)))


def test_a_quote_shows_the_price_and_opens_nothing() -> None:
    data = pl.from_arrow(PEOPLE)
    price = discreet.quote(discreet.mean, data, "smokes", epsilon=1)
    assert price.guarantee.pure == 1
    lazy = ENGINES["duckdb"](PEOPLE, Path())
    with pytest.raises(InvalidArgument, match="bounds false and true"):
        discreet.quote(discreet.mean, lazy, "smokes", epsilon=1)
    assert discreet.quote(discreet.mean, lazy, "smokes", epsilon=1, **TRUTHS) == price


@pytest.mark.parametrize(
    ("column", "terms", "error", "words"),
    [
        ("smokes", BITS, UnreadableData, "for the share of True ask mean without bounds"),
        ("bit", TRUTHS, UnreadableData, "is not a column of truths"),
        ("g", TRUTHS, UnreadableData, "is not a column of truths"),
        ("bit", {}, InvalidArgument, "minimum and maximum are missing"),
        ("smokes", {"step": "1/2"}, InvalidArgument, "truths are 0 and 1, in steps of 1"),
        ("smokes", {"minimum": True, "maximum": False}, DiscreetError, "minimum must be"),
        ("smokes", {"minimum": False, "maximum": 1}, DiscreetError, "minimum must be"),
    ],
)
def test_other_columns_and_bounds_are_refused(
    column: str, terms: Any, error: type[DiscreetError], words: str
) -> None:
    with pytest.raises(error, match=words):
        discreet.mean(pl.from_arrow(PEOPLE), column, epsilon=1, **terms)


@pytest.mark.parametrize("name", ["minimum", "maximum", "step", "bounds_share"])
def test_a_declared_column_of_truths_has_its_bounds(name: str) -> None:
    half: Any = {name: "1/2"}
    data = discreet.Dataset(pl.from_arrow(PEOPLE), columns={"smokes": {"type": "boolean"}})
    with pytest.raises(InvalidArgument, match=f"leave out {name}"):
        discreet.mean(data, "smokes", epsilon=1, **half)
    assert discreet.mean(data, "smokes", epsilon=1, minimum=0, maximum=1).counts is not None


def test_truths_and_numbers_are_two_questions() -> None:
    data = pl.from_arrow(PEOPLE)
    digests = {
        discreet.quote(discreet.mean, data, "smokes", epsilon=1, **bounds).digest
        for bounds in (TRUTHS, BITS)
    }
    assert len(digests) == 2
