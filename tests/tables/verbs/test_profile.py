"""profile: a table that nobody described, at one price, and nothing private beside what was drawn."""

import datetime as dt
import json
import tomllib
import warnings
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import discreet
from discreet import Batch, Dataset, DateGrid, Ledger
from discreet.cli import run
from discreet.errors import (
    DiscreetError,
    Exhausted,
    InvalidArgument,
    RequestConflict,
    UnreadableFile,
)
from discreet.mechanisms.accuracy import CELLS
from discreet.privacy.guarantees import ApproxDP, PureDP
from discreet.selection.verb_calls import bill_of, delivery_of
from discreet.tables.datasets.column_profile import ColumnProfile
from discreet.tables.datasets.table_profile import Profile
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.fits import DeclaredCells
from discreet.tables.engines.progress import name_step
from discreet.tables.verbs.profile import OF_THE_SIZE
from discreet.tables.verbs.profile_arguments import TableToProfile
from discreet.tables.verbs.profile_columns import OF_THE_CELLS, OF_THE_ENDS, ColumnPlan, KindCounts

from ...base.test_count_tables import HOSTILE

profile: Any = discreet.profile
"""Without its types: it is called wrongly here too."""

EXACT: dict[str, Any] = {"epsilon": 10**6}
"""As much as this, and there is no noise but with a probability below 10**-9."""
PAID: dict[str, Any] = {"epsilon": "1/2", "delta": "1e-6"}

AGES = [20, 30, 40, 50, 60] * 40
CITIES = ["Bern", "Basel", "Bern", "Zürich", "Bern"] * 40
DAYS = [dt.date(1990, 1, 1) + dt.timedelta(days=day) for day in range(200)]
FRAME = pl.DataFrame(
    {"who": [f"p{n}" for n in range(200)], "age": AGES, "city": CITIES, "born": DAYS}
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    FRAME.write_csv(file)
    return file


def by_name(release: Any) -> dict[str, ColumnProfile]:
    return {column.name: column for column in release.value.columns}


def check_people(release: Any, *, given: bool) -> None:
    columns = by_name(release)
    assert release.value.size == 200
    assert [*columns] == ["age", "city", "born"]
    assert {column.filled for column in columns.values()} == {200}
    assert {column.missing for column in columns.values()} == {0}
    assert {column.is_given for column in columns.values()} == {given}
    age, city, born = columns.values()
    assert (age.kind, city.kind, born.kind) == ("numbers", "texts", "dates")
    assert [*map(int, age.quartiles or ())] == [30, 40, 50]
    assert (age.ends or ())[0] <= 20 < 60 <= (age.ends or ())[1]
    assert city.counts == {"Basel": 40, "Bern": 120, "Zürich": 40}
    assert [*(city.counts or {})] == ["Basel", "Bern", "Zürich"]  # by code points
    assert abs((born.quartiles or ())[1] - DAYS[100]) <= dt.timedelta(days=1)


# --- what it says


def test_a_file_without_types_is_read_by_noisy_counts(people: Path) -> None:
    release = profile(people, privacy_unit="who", delta="1e-6", **EXACT)
    check_people(release, given=False)


@pytest.mark.parametrize(
    "table_of",
    [
        lambda _: FRAME,
        lambda _: FRAME.lazy(),
        lambda _: FRAME.to_arrow(),
        lambda _: duckdb.connect().from_arrow(FRAME.to_arrow()),
        lambda folder: FRAME.write_parquet(folder / "x.parquet") or folder / "x.parquet",
    ],
    ids=["polars", "lazy", "arrow", "duckdb", "parquet"],
)
def test_types_say_the_kinds(table_of: Callable[[Path], Any], tmp_path: Path) -> None:
    release = profile(table_of(tmp_path), privacy_unit="who", delta="1e-6", **EXACT)
    check_people(release, given=True)


def test_a_description_says_the_kinds(people: Path) -> None:
    columns: dict[str, Any] = {
        "who": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"},
        "born": {"type": "date"},
    }  # fmt: skip
    described = Dataset(people, columns, privacy_unit="who", max_contributions=1, name="people")
    check_people(profile(described, delta="1e-6", **EXACT), given=True)
    with pytest.raises(InvalidArgument, match="declares"):
        profile(described, privacy_unit="city", **EXACT)


def test_the_caller_says_the_kinds(people: Path) -> None:
    release = profile(
        people, columns=["age", "born"], texts=["age"], dates=["born"], delta="1e-6", **EXACT
    )
    age, born = by_name(release).values()
    assert (age.kind, age.is_given, born.kind, born.is_given) == ("texts", True, "dates", True)
    assert age.counts == {"20": 40, "30": 40, "40": 40, "50": 40, "60": 40}
    typed = by_name(profile(FRAME, columns=["age"], texts=["age"], delta="1e-6", **EXACT))
    assert typed["age"].counts == {20: 40, 30: 40, 40: 40, 50: 40, 60: 40}


def test_missing_cells_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "few.csv"
    file.write_text("a,b\n1,\n2,x\n,\n4,y\n", encoding="utf-8")
    columns = by_name(profile(file, **EXACT))
    assert [(column.filled, column.missing) for column in columns.values()] == [(3, 1), (2, 2)]
    frame = pl.DataFrame({"a": [1, None, None], "b": ["x", "y", None]})
    columns = by_name(profile(frame, **EXACT))
    assert [(column.filled, column.missing) for column in columns.values()] == [(1, 2), (2, 1)]


def test_values_of_few_are_never_there(people: Path) -> None:
    columns = by_name(profile(people, columns=["who", "city"], delta="1e-6", **EXACT))
    assert columns["who"].counts == {}
    assert columns["city"].counts
    few = by_name(profile(people, columns=["city"], delta="1e-6", minimum_count=41, **EXACT))
    assert few["city"].counts == {"Bern": 120}
    one = by_name(profile(people, columns=["city"], delta="1e-6", most=1, **EXACT))
    assert one["city"].counts == {"Bern": 120}


def test_without_a_delta_there_are_no_values(people: Path) -> None:
    release = profile(people, columns=["city"], **EXACT)
    assert by_name(release)["city"].counts is None
    assert release.guarantee.pure == 10**6
    assert "with a delta alone" in str(release.value)


def test_the_columns_of_the_unit_are_left_out(people: Path) -> None:
    for unit in ("who", ["who", "city"]):
        names = by_name(profile(people, privacy_unit=unit, **EXACT))
        assert not {*names} & {*([unit] if isinstance(unit, str) else unit)}
    with pytest.raises(InvalidArgument, match="without the privacy unit"):
        profile(people, columns=["who"], privacy_unit="who", **EXACT)


def test_a_column_of_another_type_is_left_out_with_its_reason() -> None:
    frame = FRAME.with_columns(pl.Series("tags", [["a"]] * 200))
    release = profile(frame, **EXACT)
    [(name, reason)] = release.value.left_out
    assert name == "tags"
    assert "which cannot be used for" in reason
    assert "tags is left out" in str(release.value)
    with pytest.raises(InvalidArgument, match="no column"):
        profile(frame, columns=["tags"], **EXACT)


# --- what it costs


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("terms", [{}, {"privacy_unit": "who", "max_contributions": 3}])
@pytest.mark.parametrize("delta", [None, "1e-6"])
@pytest.mark.parametrize("table_of", [lambda file: file, lambda _: FRAME], ids=["text", "typed"])
def test_the_price_is_what_was_asked_for(
    people: Path, table_of: Any, delta: Any, terms: Any, neighbors: Any
) -> None:
    bill = bill_of(
        profile, table_of(people), epsilon="1/3", delta=delta, neighbors=neighbors, **terms
    )
    least = bill.guarantee.approx(bill.guarantee.slack)
    assert 0 < least.epsilon <= Fraction(1, 3)
    assert bill.guarantee.core is not None
    assert bill.guarantee.core.pure == Fraction(1, 3)
    assert least.delta == (0 if delta is None else Fraction(1, 10**6))
    assert bill.guarantee.neighbors == neighbors
    assert bill.unit == terms.get("privacy_unit")


@pytest.mark.parametrize("delta", [None, "1e-6"])
@pytest.mark.parametrize("table_of", [lambda file: file, lambda _: FRAME], ids=["text", "typed"])
def test_the_parts_add_up_to_the_price(people: Path, table_of: Any, delta: Any) -> None:
    prepare: Any = delivery_of(profile, table_of(people), epsilon=1, delta=delta).prepare
    plan = prepare.__self__
    costs = []
    for guarantee in [
        plan.size.order.guarantee,
        *(g for one in plan.columns for g in one.guarantees),
    ]:
        least = guarantee.approx(guarantee.slack)
        costs.append((least.epsilon, least.delta))
    assert sum(epsilon for epsilon, _ in costs) == 1
    assert sum(share for _, share in costs) <= Fraction(delta or 0)
    for one in plan.columns:
        one.check()
        for several in one.answers.values():
            together = [each.order.guarantee for each in several]
            assert sum(each.approx(each.slack).epsilon for each in together) <= one.epsilon
    assert plan.size.order.guarantee.pure == OF_THE_SIZE
    assert 0 < OF_THE_CELLS < 1
    assert 0 < OF_THE_ENDS < 1


def test_a_delta_too_large_for_the_units_is_refused(people: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"give 0\.00000001 or less"):
        profile(people, epsilon=1, delta="1e-6", at_most=10**6)
    bill_of(profile, people, epsilon=1, delta="1e-8", at_most=10**6)
    with pytest.raises(InvalidArgument, match="give delta too"):
        profile(people, epsilon=1, at_most=10**6)


# --- one request, one bill


def test_a_request_is_paid_once_and_answered_alike(people: Path, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=2, delta="1e-5", delta_for="questions")
    with ledger.session("people") as private:
        first = private.profile(people, request="first", **PAID)
        again = private.profile(people, request="first", **PAID)
        assert first.value == again.value
        assert (first.charged, again.charged) == (True, False)
        with pytest.raises(RequestConflict):
            private.profile(people, request="first", columns=["age"], **PAID)
        kinds = [event.kind for event in ledger.history("people")]
        assert kinds == ["opened", "charged", "answered"]
        quote = private.quoted([bill_of(profile, people, epsilon=9, delta="1e-6")])
        with pytest.raises(Exhausted):
            quote.check()
    assert ledger.verify()


def test_what_cannot_be_paid_is_not_read(people: Path, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon="1/4")
    header = people.read_text(encoding="utf-8").splitlines()[0]
    people.write_text(f"{header}\n", encoding="utf-8")
    with ledger.session("people") as private, pytest.raises(Exhausted):
        private.profile(people, epsilon=1)


def test_it_goes_into_a_batch(people: Path) -> None:
    batch = Batch().add("all", profile, people, columns=["age"]).split(epsilon=1000)
    assert batch.cost().pure == 1000
    assert isinstance(batch.run()["all"].value, Profile)


def test_progress_is_told_by_columns(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[tuple[int, int]] = []
    monkeypatch.setattr("discreet.tables.verbs.profile.name_step", lambda *step: steps.append(step))
    profile(people, **EXACT)
    assert steps == [(0, 4), (1, 4), (2, 4), (3, 4)]
    name_step(1, 2)  # without a bar there is nothing to show


# --- hostile tables


def test_hostile_cells_are_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hostile.csv"
    cells = [key.replace('"', '""') for key in HOSTILE if len(key) < 1000]
    rows = [f'"{cell}",{n}' for cell in cells for n in range(50)]
    file.write_text("\n".join(["key,n", *rows, f'"{"y" * 300_000}",7', ""]), encoding="utf-8")
    options = ["--epsilon", "1000000", "--delta", "1e-6", "--report", str(tmp_path / "p.html")]
    assert run(["profile", str(file), *options]) == 0
    shown = capsys.readouterr().out
    assert all(line.isprintable() for line in shown.splitlines())
    assert "<script>alert(1)</script>" in shown
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert not set(page) & {"\x1b", "\x07", "\u202e", "\0"}
    assert "yyyy" not in shown + page


@pytest.mark.parametrize(
    "text", ["a,b\n", "a,b\n\n\n", 'a,b\n"x', "a,b\nx,y,z\n" * 30, "a,b\n\0\0,\0\n"]
)
def test_broken_rows_are_no_errors(tmp_path: Path, text: str) -> None:
    file = tmp_path / "broken.csv"
    file.write_bytes(text.encode() + b"\xff\xfe,\xff\n")
    release = profile(file, epsilon=1, delta="1e-6")
    assert [column.name for column in release.value.columns] == ["a", "b"]


def test_errors_say_nothing_private(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    with pytest.raises(UnreadableFile):
        profile(file, **EXACT)
    file.write_text("17,secret\n18,secret\n", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="what are the columns called") as refused:
        profile(file, **EXACT)
    assert "secret" not in str(refused.value)


def test_a_path_that_is_described_is_charged_to_its_budget(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "discreet.toml").write_text(
        f'[datasets.people]\nsource = "{people}"\n[datasets.people.columns.age]\ntype = "integer"\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match="is declared as people") as told:
        profile(people, **EXACT)
    once = [one for one in told if "is declared as" in str(one.message)]
    assert len(once) == 1  # not once more for every question in it


# --- the command


def test_the_command_prints_a_profile_and_a_draft(
    people: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [
        "profile",
        "people.csv",
        "--epsilon",
        "1000000",
        "--delta",
        "1e-6",
        "--privacy-unit",
        "who",
    ]
    assert run(words) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("about 200 units (who), 3 columns\n")
    assert "  Bern    120  ██████████████████████████████\n" in shown.out
    assert "[datasets.people.columns.city]\n" in shown.out
    assert "ε = 1000000, δ = 0.000001 (add/remove one who), composed mechanism" in shown.err
    assert run([*words, "--draft"]) == 0
    draft = capsys.readouterr().out
    assert draft.startswith("# Drafted from a profile")
    assert (
        '[datasets.people.columns.city]\ntype = "string"\nenum = ["Basel", "Bern", "Zürich"]'
        in draft
    )
    filled = draft.replace('"FILL IN: the most that all answers may cost together"', '"3"')
    (tmp_path / "discreet.toml").write_text(filled, encoding="utf-8")
    assert run(["mode", "people", "city", "--epsilon", "1"]) == 2  # its budget is opened first
    assert run(["ledger", "open", "people"]) == 0
    capsys.readouterr()
    assert run(["mode", "people", "city", "--epsilon", "1"]) == 0
    assert capsys.readouterr().out == "Bern\n"
    assert run(["median", "people", "age", "--epsilon", "1"]) == 0


def test_the_command_writes_json_and_quotes(
    people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "profile",
        str(people),
        "--epsilon",
        "1000000",
        "--columns",
        "age,city",
        "--texts",
        "age",
    ]
    assert run([*words, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert [column["kind"] for column in plain["value"]["columns"]] == ["texts", "texts"]
    ledger = str(tmp_path / "budget.db")
    assert run(["ledger", "open", ledger, "--dataset", "people", "--epsilon", "3"]) == 0
    capsys.readouterr()
    paid = ["--ledger", ledger, "--dataset", "people", "--dry-run"]
    assert run(["profile", str(people), "--epsilon", "1", *paid]) == 0
    assert "ε = 1" in capsys.readouterr().out


def test_standard_input_is_a_place_that_no_draft_names(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with people.open("rb") as stream:

        class Stream:
            buffer = stream

            @staticmethod
            def isatty() -> bool:
                return False

        monkeypatch.setattr("sys.stdin", Stream)
        assert run(["profile", "-", "--epsilon", "1000000", "--draft"]) == 0
    assert 'source = "FILL IN: where the data are"' in capsys.readouterr().out


def test_no_warning_is_given_for_each_column(people: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = profile(people, numbers=["age"], epsilon=1)
    assert "too few numbers for quartiles" in str(release.value)  # in words, beside the counts


def test_nothing_but_what_was_drawn_reaches_the_profile(people: Path) -> None:
    """The value is made of drawn numbers alone, as a ledger stores them."""
    delivery = delivery_of(profile, people, delta="1e-6", **EXACT)
    drawn = delivery.prepare()()
    value: Any = delivery.name(drawn).value
    assert value == delivery.name(drawn).value
    others: Any = delivery.name(delivery.prepare()()).value
    assert isinstance(others, Profile)
    with pytest.raises((DiscreetError, ValueError, TypeError, IndexError)):
        delivery.name(drawn[:1])
    assert Decimal(value.size) == drawn[0] if not isinstance(drawn[0], list) else value.size == 200


def test_answers_that_cost_more_than_their_column_pays_are_refused_before_any_is_read(
    monkeypatch: pytest.MonkeyPatch, people: Path
) -> None:
    """Also with `python -O`, which leaves assertions out."""
    check = ColumnPlan.check

    def dearer(plan: Any) -> None:
        check(replace(plan, epsilon=plan.epsilon / 2))

    monkeypatch.setattr(ColumnPlan, "check", dearer)
    with pytest.raises(ArithmeticError, match="more than its part"):
        profile(people, epsilon=1)


def test_whole_numbers_are_drafted_as_their_schema_says(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30, 40] * 500, "mass": [1.5, 2.5] * 500})
    columns = tomllib.loads(discreet.profile(frame, epsilon=8).value.draft)["datasets"]["data"][
        "columns"
    ]
    assert columns["age"]["type"] == "integer"
    assert columns["mass"]["type"] == "number"
    frame.write_csv(tmp_path / "t.csv")
    text = discreet.profile(tmp_path / "t.csv", epsilon=8, numbers=["age", "mass"]).value.draft
    assert {one["type"] for one in tomllib.loads(text)["datasets"]["t"]["columns"].values()} == {
        "number"
    }


UNREADABLE: dict[str, list[str]] = {
    "numbers": [f"50,{n}" for n in range(292)],
    "dates": [f"{1 + n % 28}.03.2022" for n in range(292)],
}
"""Cells that a person reads at once, and that spell no number and no date here."""


def _text_file(tmp_path: Path, cells: list[str], kind: str) -> dict[str, Any]:
    file = tmp_path / "cells.csv"
    file.write_text("x\n" + "".join(f'"{cell}"\n' for cell in cells), encoding="utf-8")
    return {"data": file, kind: ["x"]}


def _described_file(tmp_path: Path, cells: list[str], kind: str) -> dict[str, Any]:
    declared: dict[str, dict[str, Any]] = {
        "numbers": {"type": "number", "minimum": 47, "maximum": 56, "step": "0.001"},
        "dates": {"type": "date", "minimum": "2000-01-01", "maximum": "2030-01-01"},
    }
    file = _text_file(tmp_path, cells, kind)["data"]
    return {"data": Dataset(file, {"x": declared[kind]}, name="x")}


def _objects(tmp_path: Path, cells: list[str], kind: str) -> dict[str, Any]:
    del tmp_path
    pandas = pytest.importorskip("pandas")
    return {"data": pandas.DataFrame({"x": pandas.Series([*cells], dtype=object)}), kind: ["x"]}


@pytest.mark.parametrize("kind", ["numbers", "dates"])
@pytest.mark.parametrize("given", [_text_file, _described_file, _objects])
@pytest.mark.parametrize("privacy", [{}, {"neighbors": "replace_one"}])
@pytest.mark.filterwarnings("ignore:.*objects")
def test_cells_that_cannot_be_read_have_no_quartiles(
    given: Any, kind: str, privacy: dict[str, Any], tmp_path: Path
) -> None:
    """Of decimal commas quartiles of size 10**280 were shown beside "294 cells"."""
    release = profile(**given(tmp_path, UNREADABLE[kind], kind), epsilon=200, **privacy)
    [column] = release.value.columns
    assert (column.kind, column.is_given) == (kind, True)
    assert abs(column.readable) <= column.error < column.needed < 290
    assert (column.quartiles, column.ends, column.box, column.middle) == (None, None, None, "")
    text = str(release.value)
    assert f"of them {kind}" in text
    assert f"too few {kind} for quartiles, which need about {column.needed}" in text
    plain = column.as_dict()
    assert plain["readable"] == column.readable
    assert not {"quartiles", "ends"} & {*plain}
    declared = tomllib.loads(release.value.draft)["datasets"]
    [table] = declared.values()
    assert "FILL IN" in table["columns"]["x"]["minimum"]
    assert column.doubt in release.value._repr_html_()


@pytest.mark.parametrize("kind", ["numbers", "dates"])
def test_some_cells_that_cannot_be_read_are_told(kind: str, tmp_path: Path) -> None:
    good = {"numbers": ["50.1", "51", "52.5"], "dates": ["2022-03-01", "2022-03-02", "2022-04-01"]}
    cells = [*good[kind] * 100, *UNREADABLE[kind][:40], *[""] * 30]
    for several in ({}, {kind: ["x"]}):  # decided by counts, and given
        data = _text_file(tmp_path, cells, kind)["data"]
        [column] = profile(data, **several, **EXACT).value.columns
        assert (column.filled, column.readable, column.missing) == (340, 300, 30)
        assert column.cells_in_words == f"340 cells, 300 of them {kind}, 30 missing"
        assert column.quartiles is not None


def test_a_unit_bounds_the_readable_cells_too(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"who": [n // 5 for n in range(500)], "x": [1.5, None, 2.5, 3.5, 4.5] * 100}
    )
    columns = by_name(profile(frame, privacy_unit="who", max_contributions=2, **EXACT))
    assert columns["x"].filled == columns["x"].readable
    assert columns["x"].readable + columns["x"].missing == 200


def test_one_record_moves_the_counts_of_cells_by_what_is_charged(tmp_path: Path) -> None:
    """Of every kind of cell: it is in one class, and the loss of the counts is that of one count."""
    cells = ["1", "2,5", "2022-01-01", "x", "", "nan", "1e400", "+-1"]
    for kinds, clock in (
        (("numbers",), "naive"),
        (("dates",), "naive"),
        (("numbers", "dates"), "naive"),
        ((), "naive"),
    ):
        counted = [_class_counts(tmp_path, cells, kinds, clock)]
        counted += [
            _class_counts(tmp_path, cells[:n] + cells[n + 1 :], kinds, clock) for n in range(8)
        ]
        for fewer in counted[1:]:
            moved = [abs(a - b) for a, b in zip(counted[0], fewer, strict=True)]
            assert sorted(moved) == [0] * (len(moved) - 1) + [1]


def _class_counts(tmp_path: Path, cells: list[str], kinds: Any, clock: Any) -> list[int]:
    data = _text_file(tmp_path, cells, "numbers")["data"]
    table = TableToProfile.read(data, None, None, is_charged=False)
    noise = KindCounts(table, "x", kinds, clock, Fraction(1), "add_remove")
    counts: list[int] = noise._numbers(DeclaredCells(open_table(data, "x")))
    return counts


def test_a_released_count_below_the_need_hides_what_was_drawn() -> None:
    """The count of readable cells decides alone: the drawn quartiles are the same on both sides of the need."""
    frame = pl.DataFrame({"x": [1.5, 2.5] * 500})
    delivery = delivery_of(profile, frame, **EXACT)
    drawn = delivery.prepare()()
    value: Any = delivery.name(drawn).value
    needed = value.columns[0].needed
    for readable, shown in ((needed, True), (needed - 1, False), (-5, False)):
        size, [numbers, *others] = drawn
        changed: Any = delivery.name([size, [[numbers[0], numbers[1], readable], *others]]).value
        assert (changed.columns[0].quartiles is not None) is shown
        assert (changed.columns[0].quartiles or value.columns[0].quartiles) == value.columns[
            0
        ].quartiles


QUARTERS = ["1/4", "1/2", "3/4"]
ASKED: dict[str, tuple[list[str], DateGrid[Any] | None, Fraction]] = {
    "age": (QUARTERS, None, 1 - OF_THE_ENDS),
    "born": (["1/100", *QUARTERS, "99/100"], DateGrid("1900-01-01", "2099-12-31"), Fraction(1)),
}


@pytest.mark.filterwarnings("ignore:no bounds")
@pytest.mark.parametrize("name", ASKED)
def test_columns_say_how_far_off_they_may_be(name: str, people: Path) -> None:
    release = profile(people, epsilon=400, delta="1e-6", columns=[name, "city"])
    column, city = release.value.columns
    error: Any = release.error
    assert [*error] == [name, "city"]
    assert (error["city"].unit, error["city"].error) == (CELLS, city.error + 1)
    alphas, points, share = ASKED[name]
    epsilon = 200 * (1 - OF_THE_SIZE) * (1 - OF_THE_CELLS) * share
    bill = bill_of(discreet.quantiles, [], alphas=alphas, candidates=points, epsilon=epsilon)
    assert error[name] == column.rank_error == bill.worst_error
    assert "Quartiles are off by less than" in str(release.value)
    assert json.loads(json.dumps(release.as_dict()))["error"][name] == column.rank_error.as_dict()


def test_without_quartiles_none_is_off(people: Path) -> None:
    release = profile(people, epsilon="1/2", columns=["age"], numbers=["age"])
    assert release.value.columns[0].quartiles is None
    assert release.error["age"].unit == CELLS
    assert "in rank" not in str(release.value)


def test_a_quote_says_how_far_off_columns_may_be(people: Path) -> None:
    """Of a column that noisy counts decide the numbers of cells: it may have no quartiles."""
    terms: dict[str, Any] = {"epsilon": 400, "delta": "1e-6", "numbers": ["age"]}
    bill = discreet.quote(profile, people, **terms, columns=["age", "city"])
    age, city = bill.parts
    release = profile(people, **terms, columns=["age", "city"])
    error: Any = release.error
    assert (age.worst_error, city.worst_error) == (error["age"], error["city"])
    assert age.guarantee == PureDP(Fraction(190), "add_remove")
    assert city.guarantee == ApproxDP(Fraction(190), Fraction(1, 10**6), "add_remove")
    assert "in rank at any of the quantiles" in str(bill)
    assert [one["name"] for one in bill.as_dict()["parts"]] == ["age", "city"]  # type: ignore[attr-defined]
