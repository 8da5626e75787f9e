"""Numbers of a declared form: the grammar, the kernel, the engine, and every question that reads them."""

import itertools
import random
import re
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet
from discreet.errors import InvalidArgument, UnreadableFile
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.files import column_names
from discreet.tables.engines.fits import DeclaredCells
from discreet.tables.engines.in_duckdb import double_in_text
from discreet.tables.engines.records import Records
from discreet.tables.formats.number_texts import NumberForm, read_units
from discreet.tables.formats.reader_library import open_reader
from discreet.tables.formats.text_form import scan_csv
from discreet.tables.values.kinds import ColumnType

from ..engines.cell_texts import FORMS, random_cells, read_cells, write_cells

needs_kernel = pytest.mark.skipif(open_reader() is None, reason="the reader is not built")

BLANKS = " \u00a0\u2009\u202f"
GROUPS = {
    "": [], ".": ["."], ",": [","], "'": ["'", "\u2019"], " ": [*BLANKS]
}  # fmt: skip


def taken(text: str, front: list[str], *, end: bool = False) -> tuple[str, str]:
    """Return the first of some texts that is at an end of a text, with the rest without blanks."""
    for one in front:
        if one and (text.endswith(one) if end else text.startswith(one)):
            return one, (text[: -len(one)] if end else text[len(one) :]).strip(BLANKS)
    return "", text


def reference(text: str, form: NumberForm) -> Fraction | None:
    """Return the number that a text spells, by hand: no regular expression, and no code of the library.

    From both ends to the digits, where the library reads from the front.
    """
    signs = ["-", "\u2212", "+", *("(" * form.parentheses)]
    first, text = taken(text.strip(BLANKS), signs)
    unit, text = taken(text, [*form.units])
    if not first:
        first, text = taken(text, signs)
    close, text = taken(text, [")"] if first == "(" else [], end=True)
    if not unit:
        unit, text = taken(text, [*form.units], end=True)
    if not close:
        close, text = taken(text, [")"] if first == "(" else [], end=True)
    percent, text = taken(text, ["%"] if form.percent else [], end=True)
    number = None if (first == "(") != bool(close) else magnitude(text, form)
    if number is None or bool(percent) != form.percent:
        return None
    return number * (1 if first in ("", "+") else -1) * (Fraction(1, 100) if percent else 1)


def magnitude(text: str, form: NumberForm) -> Fraction | None:
    """Return the number that digits with signs between them spell."""
    whole, comma, fraction = text.partition(form.decimal)
    if comma and not (fraction and set(fraction) <= set("0123456789")):
        return None
    if not whole and not comma:
        return None
    for sign_of_group in GROUPS[form.thousands]:
        whole = whole.replace(sign_of_group, "|")
    first, *others = whole.split("|")
    if others and (not 1 <= len(first) <= 3 or first[0] == "0" or {*map(len, others)} != {3}):
        return None
    digits = "".join([first, *others])
    if not set(digits) <= set("0123456789"):
        return None
    return Fraction(int(digits or "0")) + Fraction(int(fraction or 0), 10 ** len(fraction))


def in_engine(plain_texts: list[Any], form: NumberForm) -> list[float | None]:
    """Return what the engine reads in plain texts of numbers."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (i BIGINT, c VARCHAR)")
    connection.execute(
        "INSERT INTO t SELECT unnest(range(len($c))), unnest($c)", {"c": plain_texts}
    )
    cells = discreet.scan_csv("t.csv", decimal=form.decimal).form.cells
    number = double_in_text("c", ColumnType("c", "text", "CSV", cells=cells))
    return [one for (one,) in connection.execute(f"SELECT {number} FROM t ORDER BY i").fetchall()]


def bits(number: float | None) -> bytes | None:
    return None if number is None else struct.pack("<d", number)


def check_cells(form: NumberForm, cells: list[str], folder: Path) -> None:
    """Compare what cells spell by hand, by the grammar, by the kernel, and in the engine."""
    path = write_cells(folder, cells)
    [plain_texts, texts] = read_cells(path, (form, None), kernel=open_reader() is not None)
    assert texts == cells
    numbers = 0
    for cell, text, found in zip(cells, plain_texts, in_engine(plain_texts, form), strict=True):
        expected = reference(cell, form)
        assert (form.plain(cell) or "?") == text, cell
        assert (expected is None) == (text == "?") == (found is None), cell
        if expected is None:
            continue
        numbers += 1
        assert Fraction(text) == expected, cell
        assert re.fullmatch(r"0|-?([1-9][0-9]*|0(?=\.))(\.[0-9]*[1-9])?", text), cell
        assert bits(found) == bits(float(expected)), cell
    assert len(cells) * 0.05 < numbers < len(cells) * 0.95


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_all_readings_of_a_number_agree(form: NumberForm, tmp_path: Path) -> None:
    check_cells(form, random_cells(random.Random(43), form, 4_000), tmp_path)


@pytest.mark.proof
@needs_kernel
@pytest.mark.parametrize("seed", range(8))
def test_all_readings_of_a_number_agree_in_a_million_cells(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    form = [*FORMS, NumberForm("."), NumberForm(",", "'"), NumberForm(".", " ", ("$",))][seed]
    check_cells(form, random_cells(draw, form, 125_000), tmp_path)


def test_short_texts_of_all_signs(tmp_path: Path) -> None:
    form = NumberForm(",", ".", ("Fr.", "Fr"), percent=False, parentheses=True)
    signs = ["0", "12", "345", ",", ".", " ", "-", "(", ")", "Fr", "Fr."]
    cells = ["".join(one) for n in range(1, 5) for one in itertools.product(signs, repeat=n)]
    path = write_cells(tmp_path, cells)
    [plain_texts] = read_cells(path, (form,), kernel=open_reader() is not None)
    for cell, text in zip(cells, plain_texts, strict=True):
        expected = reference(cell, form)
        assert (form.plain(cell) or "?") == text, cell
        assert expected == (None if text == "?" else Fraction(text)), cell


@pytest.mark.parametrize(
    "cell",
    [
        "1.23,4", "1.2345", "1,234.5", "12 34", "--1", "1.2.3,4", "1_000,5", "1e5", "NaN", "inf", "", " ", "-", ",",
        "5,", ".5", "0.123", "1.234.56", "1.234,5,6", "(5", "5 EUR", "٥", "1,5\n", "1,5\0", "5 %", "CHF5",
        "0x10", "1..234",
    ],
)  # fmt: skip
def test_what_is_no_number_in_a_german_file(cell: str) -> None:
    form = NumberForm(",", ".")
    assert form.plain(cell) is None


@pytest.mark.parametrize(
    ("form", "cell", "plain"),
    [
        (NumberForm(",", "."), "-1.234,5", "-1234.5"), (NumberForm(",", "."), "1234567,5", "1234567.5"),
        (NumberForm(",", ""), " 3,5 ", "3.5"), (NumberForm(",", ""), ",5", "0.5"),
        (NumberForm(".", "'"), "1\u2019234'567.50", "1234567.5"),
        (NumberForm(",", " "), "\u22121\u202f234,5", "-1234.5"), (NumberForm(".", ","), "+1,234", "1234"),
        (NumberForm(",", ".", ("\u20ac",)), "\u20ac - 1.234,50", "-1234.5"), (NumberForm(".",
        "", ("Fr.",)), "Fr.5", "5"),
        (NumberForm(".", "", ("kg",)), "007.50 kg", "7.5"), (NumberForm(",", "", percent=True), "12,5 %", "0.125"),
        (NumberForm(".", percent=True), "100%", "1"), (NumberForm(".", percent=True), "-0.05%", "-0.0005"),
        (NumberForm(".", ",", ("$",), parentheses=True), "($1,234.50)", "-1234.5"),
        (NumberForm(".", ",", ("$",), parentheses=True), "$ (5)", "-5"), (NumberForm("."), "-0.0", "0"),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(form: NumberForm, cell: str, plain: str) -> None:
    assert form.plain(cell) == plain
    assert in_engine([plain], form) == [float(plain)]


ROWS = 'who;city;rent\na;Bern;"1.234,5"\nb;Bern;983,68\nc;Basel;2.000\nd;Basel;12.5\ne;Basel;\n'


@pytest.fixture
def rents(tmp_path: Path) -> Path:
    (tmp_path / "rents.csv").write_text(ROWS, encoding="utf-8")
    return tmp_path / "rents.csv"


def test_every_question_reads_numbers_in_the_form_of_the_file(rents: Path) -> None:
    data = scan_csv(rents, decimal=",", thousands=".")
    sums: dict[str, Any] = {"epsilon": 10**6, "minimum": 0, "maximum": 3000}
    assert float(discreet.sum(data, "rent", **sums).value) == pytest.approx(4218.18, abs=0.011)
    grid = [500, Fraction("1234.5"), 2500]
    assert discreet.median(data, "rent", candidates=grid, epsilon=1000).value == grid[1]
    bern = discreet.sum(data, "rent", **sums, by="city", groups=["Bern", "Basel"]).value
    assert [round(float(one)) for one in bern.values()] == [2218, 2000]
    where = "rent > 1000 AND rent < 2000.5"
    assert discreet.count(data, where=where, epsilon=1000).value == 2
    assert float(discreet.sum(data, "rent", where=where, **sums).value) == pytest.approx(
        3234.5, abs=0.011
    )
    # Candidates are texts, as they stand in the file.
    shown = discreet.counts(data, "rent", candidates=["2.000", "2000"], epsilon=1000).value
    assert [*shown.values()] == [1, 0]


def test_check_reads_numbers_in_the_form_of_the_file(rents: Path, tmp_path: Path) -> None:
    toml = tmp_path / "discreet.toml"
    toml.write_text(
        '[datasets.rents]\nsource = "rents.csv"\ncsv = {decimal = ",", thousands = "."}\nprivacy_unit = "who"\n'
        'max_contributions = 1\ncolumns.rent = {type = "number", minimum = 0, maximum = 1500}\n'
        'columns.who = {type = "string"}\n'
        '[datasets.whole]\nsource = "rents.csv"\ncsv = {decimal = ",", thousands = "."}\n'
        'columns.rent = {type = "integer", minimum = 0}\n'
    )
    from discreet.tables.datasets.cell_fits import check_cells
    from discreet.tables.datasets.configuration import read_configuration

    datasets = read_configuration(toml).datasets
    counts = check_cells(datasets["rents"])["rent"]
    assert (counts.fits, counts.out_of_range, counts.other_type, counts.missing) == (2, 1, 1, 1)
    counts = check_cells(datasets["whole"])["rent"]
    assert (counts.fits, counts.out_of_range, counts.other_type, counts.missing) == (1, 0, 3, 1)


def test_profiles_see_numbers_in_the_form_of_the_file(rents: Path) -> None:
    data = scan_csv(rents, decimal=",", thousands=".")
    kinds = DeclaredCells(open_table(data, "rent", Records())).kinds()
    assert (kinds.numbers, kinds.dates, kinds.texts, kinds.missing) == (3, 0, 1, 1)
    kinds = DeclaredCells(open_table(rents, "rent", Records())).kinds()
    assert (kinds.numbers, kinds.texts) == (2, 2)


def test_files_of_one_table_have_one_form_of_numbers(rents: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(ROWS, encoding="utf-8")
    both = [scan_csv(rents, decimal=","), scan_csv(other, decimal=",")]
    assert discreet.count(both, where="rent > 983", epsilon=1000).value == 2
    answer = discreet.sum(both, "rent", epsilon=10**6, minimum=0, maximum=3000).value
    assert float(answer) == pytest.approx(2 * 983.68, abs=0.011)
    with pytest.raises(UnreadableFile, match="another form of numbers"):
        discreet.count([both[0], other], where="rent > 983", epsilon=1000)


@pytest.mark.parametrize(
    ("form", "cell"),
    [
        (NumberForm(",", "", ("CHF",)), "CHF 2 CHF"), (NumberForm(",", "", ("CHF",)), "5 EUR"),
        (NumberForm(".", "", ("Fr.",)), "Fr. 5.-"), (NumberForm(".", percent=True), "45"), (NumberForm("."), "45%"),
        (NumberForm(".", parentheses=True), "(5"), (NumberForm(".", parentheses=True), "5)"),
        (NumberForm(".", parentheses=True), "-(5)"), (NumberForm(".", parentheses=True), "(-5)"),
        (NumberForm(".", parentheses=True), "((5))"), (NumberForm("."), "(5)"), (NumberForm(".",
        "", ("kg",)), "kg"),
        (NumberForm(".", "", ("kg",)), "5KG"), (NumberForm(".", percent=True), "5%%"),
    ],
)  # fmt: skip
def test_what_is_no_number(form: NumberForm, cell: str) -> None:
    assert form.plain(cell) is None


def test_a_hostile_cell_takes_no_time(tmp_path: Path) -> None:
    form = NumberForm(",", " ", ("EUR",), percent=True, parentheses=True)
    cells = [
        " " * 10**5 + "x",
        "1" * 10**5 + "x",
        "1" + " 234" * 10**5 + "x",
        "(" * 10**5,
        "EUR" * 10**5,
    ]
    path = write_cells(tmp_path, [*cells, "9" * 10**5 + "%"])
    for kernel in (True, False):
        [texts] = read_cells(path, (form,), kernel=kernel)
        assert texts == ["?"] * len(cells) + ["9" * (10**5 - 2) + ".99"]


@pytest.mark.parametrize("units", ["CHF", [""], [" kg"], ["kg\u00a0"], ["5"], ["m2"], ["-"], ["%"], ["(a"],
["."], [1],
                                   ["a", "a"], ["\u0661"], ["a\nb"], ["x" * 65], ["u"] * 65])  # fmt: skip
def test_units_that_are_none(units: Any) -> None:
    with pytest.raises(InvalidArgument, match="unit"):
        read_units(units)


def test_longer_units_are_tried_first() -> None:
    assert read_units(["Fr", "Franken", "Fr."]) == ("Franken", "Fr.", "Fr")
    assert NumberForm(",", "", read_units(["Fr", "Fr."])).plain("5 Fr.") == "5"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"decimal": ";"}, "decimal must be one of '.' ','"), ({"decimal": ""}, "decimal must be one of"),
        ({"thousands": "_"}, "thousands must be one of"), ({"thousands": 1}, "thousands must be one of"),
        ({"percent": "yes"}, "percent must be True or False"), ({"negative": "-"}, "negative must be one of"),
        ({"decimal": ".", "thousands": "."}, "two signs"), ({"decimal": ",", "thousands": ","}, "two signs"),
        ({"decimal": ",", "delimiter": ",", "quote": ""}, "no quotes"),
        ({"thousands": ",", "delimiter": ",", "quote": ""}, "no quotes"),
    ],
)  # fmt: skip
def test_forms_of_numbers_that_are_none_are_refused(form: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        scan_csv("t.csv", **form)


def test_signs_that_are_left_out() -> None:
    assert scan_csv("t.csv").form.cells.numbers is None
    assert scan_csv("t.csv", thousands=".").form.cells.numbers == NumberForm(",", ".")
    assert scan_csv("t.csv", thousands=",").form.cells.numbers == NumberForm(".", ",")
    assert scan_csv("t.csv", decimal=",").form.cells.numbers == NumberForm(",", "")
    assert scan_csv("t.csv", thousands="").form.cells.numbers == NumberForm(".")
    assert scan_csv("t.csv", decimal=",", delimiter=",").form.delimiter == ","


def test_quoted_decimal_commas_between_commas(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n"1,5",2\n"2,5","3,5"\n', encoding="utf-8")
    data = scan_csv(tmp_path / "t.csv", decimal=",")
    assert column_names(data) == ["a", "b"]
    assert discreet.count(data, where="a > 1.4 AND b < 3.6", epsilon=1000).value == 2
