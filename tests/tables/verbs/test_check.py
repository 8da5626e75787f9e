"""check: exact noise, the promise for every small table, honest intervals, and nothing private beside them."""

import datetime as dt
import itertools
import json
import math
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import polars as pl
import pytest
from flint import arb

import discreet
from discreet import Batch, Dataset, Ledger
from discreet.cli import run
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    InvalidCandidates,
    MissingColumn,
    RequestConflict,
    UnreadableData,
)
from discreet.mechanisms.accuracy import CONFIDENCE, geometric_error
from discreet.mechanisms.testing import SeededBits, bit_tree
from discreet.privacy.guarantees import PureDP
from discreet.sampling.enclosures import ball, precision
from discreet.tables.datasets.cell_fits import described_records, record_fits
from discreet.tables.datasets.noisy_cell_counts import CLASSES, LARGEST, NoisyCellCounts
from discreet.tables.engines.fits import CellCounts
from discreet.tables.engines.records import Records
from discreet.tables.verbs.check import CellNoise

from ...selection.test_payment import Purse

check: Any = discreet.check
"""Without its types: it is called wrongly here too."""

COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "city": {"type": "string", "enum": ["Basel", "Bern"]},
}
ROWS = {
    "age": [3, 500, None, 7],
    "city": ["Bern", "bern", None, "Basel"],
    "who": ["a", "a", "b", None],
}
PEOPLE = pl.DataFrame(ROWS)
EXACT = {"epsilon": 10**6}
"""As much as this, and there is no noise but with probability below 10**-9 for all that is asked here."""


def people(**terms: Any) -> Dataset:
    return Dataset(PEOPLE, COLUMNS, **terms)


def exactly(counts: NoisyCellCounts) -> tuple[int, ...]:
    return tuple(getattr(counts, name) for name in CLASSES)


# --- the noise


def pmf(eta: Fraction, k: int) -> arb:
    """P(X = k) of two-sided geometric noise."""
    a = (-ball(eta)).exp()
    return (1 - a) / (1 + a) * (-ball(eta * abs(k))).exp()


@pytest.mark.parametrize("moved", [1, 2])
@pytest.mark.parametrize("epsilon", [1, 3])
def test_the_noise_of_a_count_is_geometric(epsilon: int, moved: int) -> None:
    """All strings of bits: P(X = k) = (1 - a) / (1 + a) * a**|k|, a = exp(-epsilon / moved)."""
    law = CellNoise(Fraction(epsilon), "add_remove", moved).law()
    tree = bit_tree(law.draw, 12)
    assert tree.undecided < Fraction(1, 2**5)
    with precision(200):
        for k in range(-9, 10):
            assert tree.admits(k, pmf(Fraction(epsilon, moved), k))


@pytest.mark.parametrize("epsilon", ["1e-300", "1e-30", "1/1000", "1", "30", "1e300"])
def test_noise_of_any_size_is_cut_where_no_table_is_as_long(epsilon: str) -> None:
    noise = CellNoise(Fraction(epsilon), "add_remove", 1)
    for seed in range(20):
        drawn = noise.add([CellCounts(2**61, 0, 7, 0, 0)], SeededBits(seed))
        assert all(-LARGEST <= n <= LARGEST for n in drawn[0])
    assert noise.error <= 2 * LARGEST
    assert (noise.error == 0) == (noise.epsilon >= 10)


# --- the promise


KINDS: dict[str, tuple[int | None, int | None]] = {
    f"{i}{j}": (cell, other)
    for (i, cell), (j, other) in itertools.product({"+": 1, "-": 9, "0": None}.items(), repeat=2)
}
"""Rows of two columns, each of whose cells fits, does not, or is missing."""
TWO = {name: {"type": "integer", "minimum": 0, "maximum": 3} for name in ("x", "y")}
SMALL = [c for n in range(4) for c in itertools.combinations_with_replacement(sorted(KINDS), n)]
"""All tables of up to three rows."""

Counts = tuple[tuple[int, ...], ...]


def counts_of(rows: list[Any], columns: Any, names: list[str], **terms: Any) -> Counts:
    """Return the counts of a table, as the library counts them."""
    schema = {**dict.fromkeys(names, pl.Int64), "u": pl.String}
    found = Dataset(pl.DataFrame(rows, schema=schema, orient="row"), columns, **terms)
    counted = [record_fits(found, name) for name in columns]
    return tuple(tuple(getattr(c, name) for name in CLASSES) for c in counted)


def eta_of(described: Dataset, **terms: Any) -> Fraction:
    """Return the rate of the noise that a check adds: test_the_noise_of_a_count_is_geometric shows it."""
    noises = []

    def seen(noise: CellNoise, counts: list[CellCounts], *_: object) -> list[list[int]]:
        noises.append(noise)
        return [[0] * len(CLASSES)] * len(counts)

    with patch.object(CellNoise, "add", seen):
        release = check(described, epsilon=1, **terms)
    assert release.guarantee.pure == 1
    [noise] = noises
    return noise.epsilon / noise.shift


def loss(one: Counts, other: Counts, eta: Fraction) -> Fraction:
    """Return the largest ln P(y)/Q(y) over all answers y, which is reached where y is one of the two counts.

    ln P(y)/Q(y) = eta * (sum of |y - n'| - |y - n|): at most the sum of |n - n'|, by the triangle inequality.
    """
    moved = sum(
        abs(n - m) for a, b in zip(one, other, strict=True) for n, m in zip(a, b, strict=True)
    )
    reached = max(
        sum(
            abs(y - m) - abs(y - n)
            for a, b, answer in zip(one, other, answers, strict=True)
            for n, m, y in zip(a, b, answer, strict=True)
        )
        for answers in (one, other)
    )
    assert reached == moved
    return eta * moved


@pytest.mark.parametrize("rows", [2, pytest.param(3, marks=pytest.mark.proof)])
def test_every_pair_of_small_tables_keeps_the_promise_and_some_attain_it(rows: int) -> None:
    """All tables of so many rows and two columns, and all their neighbours of both relations."""
    tables = [table for table in SMALL if len(table) <= rows]
    counts = {t: counts_of([(*KINDS[k], None) for k in t], TWO, ["x", "y"]) for t in tables}
    empty = Dataset(pl.DataFrame({"x": [1], "y": [1]}), TWO)
    rate: Any = {r: eta_of(empty, neighbors=r) for r in ("add_remove", "replace_one")}
    worst, pairs = dict.fromkeys(rate, Fraction(0)), 0
    for table in tables:
        for i in range(len(table)):
            without = table[:i] + table[i + 1 :]
            replaced = [tuple(sorted((*without, k))) for k in KINDS]
            for relation, neighbours in (("add_remove", [without]), ("replace_one", replaced)):
                for other in neighbours:
                    pairs += 1
                    lost = loss(counts[table], counts[other], rate[relation])
                    worst[relation] = max(worst[relation], lost)
    assert pairs > 10**rows
    assert worst == {"add_remove": 1, "replace_one": 1}


UNITS = [(cell, unit) for unit in "abc" for cell in (1, 9, None)]
OF_UNITS = [
    c for n in range(4) for c in itertools.combinations_with_replacement(range(len(UNITS)), n)
]


@pytest.mark.parametrize("rows", [2, pytest.param(3, marks=pytest.mark.proof)])
@pytest.mark.parametrize("most", [1, 2])
def test_every_pair_of_small_tables_of_units_keeps_the_promise(most: int, rows: int) -> None:
    """All tables of so many rows of three units: a unit comes or goes with all its rows, or is replaced."""
    column = {"x": TWO["x"]}
    tables = [table for table in OF_UNITS if len(table) <= rows]
    counts = {
        t: counts_of([UNITS[i] for i in t], column, ["x"], privacy_unit="u", max_contributions=most)
        for t in tables
    }

    empty = Dataset(
        pl.DataFrame({"x": [1], "u": ["a"]}), column, privacy_unit="u", max_contributions=most
    )
    goes, comes = eta_of(empty), eta_of(empty, neighbors="replace_one")

    def of(table: tuple[int, ...], unit: str) -> tuple[int, ...]:
        return tuple(i for i in table if UNITS[i][1] == unit)

    gone, replaced = Fraction(0), Fraction(0)
    for table, unit in itertools.product(tables, "abc"):
        rest = tuple(i for i in table if UNITS[i][1] != unit)
        gone = max(gone, loss(counts[table], counts[rest], goes))
        for other in tables:  # the rows of one unit, of this name or another, in place of those
            (named,) = (
                {UNITS[i][1] for i in other} if len({UNITS[i][1] for i in other}) == 1 else ("",)
            )
            union = tuple(sorted((*rest, *other)))
            if of(table, unit) and named and not of(rest, named) and union in counts:
                replaced = max(replaced, loss(counts[table], counts[union], comes))
    assert {gone, replaced} == {Fraction(1)}


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("columns", [None, ["age"], "city"])
def test_the_guarantee_is_pure_and_the_noise_has_its_scale(relation: Any, columns: Any) -> None:
    described = people(privacy_unit="who", max_contributions=3)
    release = check(described, columns, epsilon="1/3", neighbors=relation)
    assert release.guarantee.pure == Fraction(1, 3)
    n = 2 if columns is None else 1
    assert release.guarantee == PureDP(Fraction(1, 3 * n), relation).repeated(n)
    moved = 3 if relation == "add_remove" else 6
    value: Any = release.value
    one = value if columns == "city" else next(iter(value.values()))
    assert one.error == CellNoise(Fraction(1, 3 * n), relation, moved).error
    assert str(release).endswith("one who), geometric mechanism]")


# --- what is said of it


@pytest.mark.parametrize("eta", ["1/1000", "1/10", "1", "3", "40", "1e-20"])
@pytest.mark.parametrize("size", [1, 3])
def test_the_error_is_the_least_that_the_sum_of_tails_allows(eta: str, size: int) -> None:
    rate = Fraction(eta)
    t = geometric_error(rate, size, CONFIDENCE)

    def beyond(t: int) -> arb:
        return size * 2 * (-ball(rate * (t + 1))).exp() / (1 + (-ball(rate)).exp())

    with precision(400):
        assert beyond(t) <= ball(1 - CONFIDENCE)
        assert t == 0 or beyond(t - 1) > ball(1 - CONFIDENCE)


def test_it_is_a_release_like_others() -> None:
    release = check(people(), **EXACT)
    assert {name: exactly(counts) for name, counts in release.value.items()} == {
        "age": (2, 1, 0, 1, 0), "city": (2, 1, 0, 1, 0),
    }  # fmt: skip
    plain = json.loads(json.dumps(release.as_dict()))
    assert plain["value"]["age"] == {
        "fits": 2, "out_of_range": 1, "other_type": 0, "missing": 1, "unreadable": 0, "error": 0,
        "probability": "19/20", "percentages": {
            "fits": ["50", "50"], "out_of_range": ["25", "25"], "other_type": ["0", "0"],
            "missing": ["25", "25"], "unreadable": ["0", "0"],
        },
    }  # fmt: skip
    assert "50 % fit" in str(release)
    assert "50 % fit" in release._repr_html_()
    assert "25 %" in release.value["age"]._repr_html_()
    one = check(people(), "age", **EXACT)
    assert exactly(one.value) == (2, 1, 0, 1, 0)
    assert repr(one.value).startswith("NoisyCellCounts(fits=2")


# --- what is counted


@pytest.mark.parametrize(
    ("cells", "column", "expected"),
    [
        ([], {"type": "integer", "minimum": 0, "maximum": 9}, (0, 0, 0, 0, 0)),
        ([None, None], {"type": "number", "minimum": 0, "maximum": 9}, (0, 0, 0, 2, 0)),
        ([0.5, math.nan, math.inf, -0.0, None], {"type": "number", "minimum": 0, "maximum": 1}, (2, 1, 0, 2, 0)),
        ([dt.date(2024, 1, 1), dt.date(1999, 1, 1), None],
         {"type": "date", "minimum": "2000-01-01", "maximum": "2030-01-01"}, (1, 1, 0, 1, 0)),
        ([True, None, False], {"type": "boolean"}, (2, 0, 0, 1, 0)),
        (["a", "", None], {"type": "string"}, (2, 0, 0, 1, 0)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("table", [pl.DataFrame, pd.DataFrame])
def test_every_cell_is_in_one_of_the_five_counts(
    cells: list[Any], column: Any, expected: tuple[int, ...], table: Any
) -> None:
    kind = {"integer": pl.Int64, "number": pl.Float64, "date": pl.Date}.get(column["type"])
    data = pl.DataFrame({"c": pl.Series(cells, dtype=kind)})
    if table is pd.DataFrame:
        if kind == pl.Date:
            pytest.skip("pandas has no type of dates")
        data = data.to_pandas()
    release = check(Dataset(data, {"c": column}), "c", **EXACT)
    assert exactly(release.value) == expected
    assert sum(expected) == len(cells)


def test_a_unit_adds_no_more_than_its_bound() -> None:
    rows = {"x": [1] * 50 + [9] * 50, "u": ["a"] * 100}
    columns = {"x": TWO["x"]}
    for most in (1, 3, 99, 100, 10**6):
        described = Dataset(pl.DataFrame(rows), columns, privacy_unit="u", max_contributions=most)
        counts = check(described, "x", epsilon=10**9).value
        assert sum(exactly(counts)) == min(most, 100)
    given_most = Dataset(pl.DataFrame(rows), columns, privacy_unit="u")
    assert sum(exactly(check(given_most, "x", max_contributions=7, **EXACT).value)) == 7


# --- public before private


def closed(**terms: Any) -> Dataset:
    """Return a description of what is not there: whoever opens it fails."""
    return Dataset("nowhere.parquet", COLUMNS, **terms)


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda: check(PEOPLE, epsilon=1), InvalidArgument, "describe them once"),
        (lambda: check("people.csv", epsilon=1), InvalidArgument, "describe them once"),
        (lambda: check(closed(), "agee", epsilon=1), MissingColumn, "did you mean 'age'"),
        (lambda: check(closed(), ["age", "who"], epsilon=1), MissingColumn, "who"),
        (lambda: check(closed(), ["age", "age"], epsilon=1), InvalidArgument, "twice"),
        (lambda: check(closed(), [], epsilon=1), InvalidArgument, "at least one"),
        (lambda: check(closed(), 5, epsilon=1), InvalidArgument, "columns"),
        (lambda: check(closed()), InvalidArgument, "how much privacy"),
        (lambda: check(closed(), epsilon=0), InvalidArgument, "greater than zero"),
        (lambda: check(closed(), epsilon="1e-301"), InvalidArgument, "1e-300"),
        (lambda: check(closed(), epsilon=1, neighbors="both"), InvalidArgument, "neighbors"),
        (lambda: check(closed(), epsilon=1, request="x"), InvalidArgument, "ledger"),
        (lambda: check(closed(), epsilon=1, max_contributions=2), InvalidArgument, "declares none"),
        (lambda: check(closed(privacy_unit="who"), epsilon=1), InvalidArgument, "max_contributions"),
        (lambda: check(closed(privacy_unit="who"), epsilon=1, max_contributions=0), InvalidArgument,
         "max_contributions"),
        (lambda: check(closed(privacy_unit="who", max_contributions=3), epsilon=1, max_contributions=2),
         InvalidArgument, "declared as 3"),
        (lambda: check(closed(), epsilon=1, privacy_unit="who"), InvalidArgument, "privacy_unit"),
    ],
)  # fmt: skip
def test_what_is_public_is_refused_before_the_data_are_looked_at(
    ask: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        ask()


def test_times_in_text_files_are_refused_before_anything_is_paid() -> None:
    purse = Purse()
    moment = {"type": "datetime", "enum": ["2024-01-01T00:00:00"]}
    described = Dataset("nowhere.csv", {"t": moment})
    with pytest.raises(InvalidCandidates, match="declare it as string"):
        check(described, "t", epsilon=1, ledger=purse)
    assert not purse.bills


def worlds() -> Iterator[tuple[str, Any]]:
    """Tables of one schema, as unlike as can be."""
    schema = {"age": pl.Int64, "city": pl.String}
    yield "empty", pl.DataFrame(schema=schema)
    yield "nulls", pl.DataFrame({"age": [None] * 9, "city": [None] * 9}, schema=schema)
    yield "misfits", pl.DataFrame({"age": [-(2**63), 2**63 - 1], "city": ["\0", "Z" * 10**5]})
    yield "ordinary", PEOPLE.select(*schema)


def test_errors_warnings_quotes_and_bills_are_the_same_in_all_worlds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen = set()
    for _, data in worlds():
        described, purse = Dataset(data, COLUMNS), Purse()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            release = check(described, epsilon=1, ledger=purse, request="r")
        said = [str(one.message) for one in told]
        errors = []
        for bad in (
            {"columns": ["x"]},
            {"epsilon": -1},
            {"neighbors": "x"},
            {"max_contributions": 3},
        ):
            with pytest.raises(DiscreetError) as caught:
                check(described, **{"epsilon": 1, **bad})
            errors.append(str(caught.value))
        bill = purse.bills[0]
        public = bill.digest, bill.query, str(bill.guarantee), release.guarantee
        seen.add(
            repr((said, errors, public, release.mechanism, release.candidates, capsys.readouterr()))
        )
    assert len(seen) == 1


@pytest.mark.parametrize("cells", [["x"], ["7"], [dt.date(2024, 1, 1)], [[1]]])
def test_a_column_of_another_type_is_refused_by_its_schema(cells: list[Any]) -> None:
    errors = set()
    for rows in (cells, cells * 3, cells[:0]):
        data = pl.DataFrame({"age": pl.Series(rows, dtype=pl.Series(cells).dtype)})
        purse = Purse()
        with pytest.raises((UnreadableData, InvalidCandidates)) as caught:
            check(Dataset(data, {"age": COLUMNS["age"]}), epsilon=1, ledger=purse)
        errors.add(str(caught.value))
        assert purse.left == 10
    assert len(errors) == 1


# --- the account


def test_it_is_quoted_without_reading_and_paid_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=2)
    session: Any = ledger.session("people")
    quote = session.quote(discreet.check, closed(), ["age", "city"], epsilon="1/2")
    assert quote.cost.epsilon == Fraction(1, 2)
    assert quote.worst_error is not None
    assert str(quote.worst_error) == (
        "in 95 of 100 answers the answer is off by less than 19 cells in each count"
    )
    described = people()
    first = session.check(described, epsilon="1/2", request="m")
    again = session.check(described, epsilon="1/2", request="m")
    assert again.value == first.value
    assert (first.charged, again.charged) == (True, False)
    reopened = Ledger(tmp_path / "budget.db")
    reopened.verify()
    assert (
        reopened.session("people").check(described, epsilon="1/2", request="m").value == first.value
    )
    answered = [event for event in reopened.history("people") if event.kind == "answered"]
    assert [event.body["answer"] for event in answered] == [
        [list(exactly(first.value[name])) for name in COLUMNS]
    ]
    for other in (
        {"columns": ["age"]}, {"epsilon": "1/4"}, {"neighbors": "replace_one"}, {"columns": ["city", "age"]},
    ):  # fmt: skip
        with pytest.raises(RequestConflict):
            session.check(described, **{"epsilon": "1/2", "request": "m", **other})
    edited = {**COLUMNS, "age": {**COLUMNS["age"], "maximum": 130}}
    with pytest.raises(RequestConflict):
        session.check(Dataset(PEOPLE, edited), epsilon="1/2", request="m")
    assert ledger.budgets()[0].spent.epsilon == Fraction(1, 2)


def test_an_interrupted_purchase_is_asked_again_at_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger()
    ledger.open("people", epsilon=1)
    session, add = ledger.session("people"), CellNoise.add

    def stop(*_: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(CellNoise, "add", stop)
    with pytest.raises(KeyboardInterrupt) as caught:
        session.check(people(), epsilon=1, request="m")
    assert "at no cost" in str(caught.value.__notes__)
    monkeypatch.setattr(CellNoise, "add", add)
    assert session.check(people(), epsilon=1, request="m").charged is False
    with pytest.raises(discreet.errors.Exhausted):
        session.check(people(), epsilon=1, request="n")


def test_it_goes_into_a_batch() -> None:
    batch = (
        Batch().add("fit", discreet.check, people()).add("age", discreet.median, people(), "age")
    )
    answers = batch.split(epsilon=3, weights={"fit": 2}).run()
    assert answers["fit"].guarantee.pure == 2
    assert set(answers["fit"].value) == {"age", "city"}


def test_what_studies_single_answers_says_so() -> None:
    with pytest.raises(InvalidArgument):
        discreet.distribution(discreet.check, people(), "age", epsilon=1)
    assert len(discreet.simulate(discreet.check, people(), "age", epsilon=1, size=3).values) == 3


# --- the command


@pytest.fixture
def described_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "discreet.toml").write_text(
        'ledger = "budget.db"\n[datasets.people]\nsource = "rows.csv"\nbudget = { epsilon = "2000000" }\n'
        'columns.age = { type = "integer", minimum = 0, maximum = 120 }\n'
        'columns.city = { type = "string", enum = ["Basel", "Bern"] }\n'
        'questions.fit = { verb = "check", column = "age", epsilon = 10000 }\n'
        '[analysts.ann]\ndatasets = ["people"]\nshare = { epsilon = "1000000" }\nverbs = ["check"]\n'
        'min_epsilon = "1/10"\n'
        '[analysts.bob]\ndatasets = ["people"]\nshare = { epsilon = "1" }\nverbs = ["median"]\n'
    )
    (tmp_path / "rows.csv").write_text("age,city\n30,Bern\nold,Genf\n500,\n,Basel\n")
    monkeypatch.chdir(tmp_path)
    for variable in ("DISCREET_CONFIG", "DISCREET_LEDGER", "DISCREET_DATASET"):
        monkeypatch.delenv(variable, raising=False)
    assert run(["ledger", "open", "people"]) == 0
    for analyst in ("ann", "bob"):
        assert run(["ledger", "open", "people", "--analyst", analyst]) == 0
    return tmp_path


def test_the_command_prints_a_narrow_table_and_json(
    described_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["check", "people", "--epsilon", "100000"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[:3] == [
        "column  fit   out of range  other type  missing  unreadable",
        "age     25 %  25 %          25 %        25 %     0 %",
        "city    50 %  25 %          0 %         25 %     0 %",
    ]  # fmt: skip
    assert "with probability 95 %" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "geometric mechanism" in err
    for _ in range(2):
        assert (
            run(["check", "people", "age", "--epsilon", "100000", "--request", "m", "--json"]) == 0
        )
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["value"] == second["value"]
    assert (first["charged"], second["charged"]) == (True, False)
    assert first["value"]["age"]["other_type"] == 1
    assert run(["check", "people", "--epsilon", "1", "--dry-run"]) == 0
    assert "less than 15 cells in each count" in capsys.readouterr().out
    assert run(["ask", "fit"]) == 0
    assert (
        capsys.readouterr().out.splitlines()[0]
        == "fit   out of range  other type  missing  unreadable"
    )


def test_the_command_refuses_what_contradicts(
    described_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, said in (
        (["people"], "--not-private"), (["people", "--epsilon", "1", "--not-private"], "--epsilon"),
        (["people", "age", "--not-private"], "COLUMN"), (["people", "--not-private", "--json"], "--json"),
        (["people", "agee", "--epsilon", "1"], "did you mean 'age'"), (["nobody", "--epsilon", "1"], "describe"),
    ):  # fmt: skip
        assert run(["check", *arguments]) in (2, 3)
        _, err = capsys.readouterr()
        assert said in err
        assert "NOT PRIVATE" not in err
    assert run(["check", "people", "--not-private"]) == 1


# --- the service


def test_an_analyst_needs_the_verb(described_file: Path) -> None:
    toml = described_file / "discreet.toml"
    ann, bob = (discreet.connect(toml, analyst=name) for name in ("ann", "bob"))
    quote = ann.quote_free("check", "people", "age", epsilon="1/2")
    assert quote.cost.epsilon == Fraction(1, 2)
    assert quote.worst_error is not None
    answer = ann.check("people", "age", epsilon=10000, request="m")
    assert exactly(answer.value) == (1, 1, 1, 1, 0)
    assert ann.ask_free("check", "people", "age", epsilon=10000, request="m").value == answer.value
    assert [past.query for past in ann.releases()] == ["check of age"]
    with pytest.raises(InvalidArgument, match="check is not allowed"):
        bob.check("people", "age", epsilon="1/2")
    with pytest.raises(InvalidArgument, match="a check here takes no 'size'"):
        ann.quote_free("check", "people", "age", size=2, epsilon="1/2")
    with pytest.raises(InvalidArgument, match="takes no 'rho'"):
        ann.quote_free("check", "people", "age", rho="1/2")
    with pytest.raises(MissingColumn):
        ann.check("people", "who", epsilon=1)
    assert exactly(ann.ask("fit").value) == (1, 1, 1, 1, 0)


def test_records_are_those_of_the_description() -> None:
    assert described_records(people()) == Records()
    found = described_records(people(privacy_unit="who", max_contributions=3))
    assert found == Records("who", 3)


@pytest.mark.parametrize("most", [pd.Series([1, 2]), pl.LazyFrame(), 2.5, True, "x", 10**7])
@pytest.mark.parametrize("declared", [None, 3])
def test_a_bound_that_is_no_count_is_refused_by_its_name(most: Any, declared: Any) -> None:
    described = closed(privacy_unit="who", max_contributions=declared)
    with pytest.raises(InvalidArgument, match="max_contributions"):
        check(described, epsilon=1, max_contributions=most)
    with pytest.raises(InvalidArgument, match="max_contributions"):
        discreet.median(described, "age", epsilon=1, max_contributions=most)


def test_columns_without_end_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="columns must be at most 2 values"):
        check(closed(), range(10**12), epsilon=1)
