"""Numbers of a declared form: the grammar, the engine's expression of it, and every question that reads them."""

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
from discreet.tables.csv_files import scan_csv
from discreet.tables.engine import open_table
from discreet.tables.files import column_names
from discreet.tables.fits import DeclaredCells
from discreet.tables.in_duckdb import double_in_text
from discreet.tables.number_texts import DECIMALS, THOUSANDS, NumberForm
from discreet.tables.records import Records

FORMS = [
    NumberForm(decimal, thousands)
    for decimal, thousands in itertools.product(DECIMALS, ["", *THOUSANDS])
    if decimal != thousands
]
GROUPS = {
    "": [], ".": ["."], ",": [","], "'": ["'", "\u2019"], " ": [" ", "\u00a0", "\u2009", "\u202f"]
}  # fmt: skip
ALPHABET = "0012345.,.,'\u2019 \u00a0\u2009\u202f-+\u2212eE_%a\n\u0661"


def reference(text: str, form: NumberForm) -> Fraction | None:
    """Return the number that a text spells, by hand: no regular expression, and no code of the library."""
    text = text.strip(" \u00a0\u2009\u202f")
    sign = -1 if text[:1] in ("-", "\u2212") else 1
    text = text[1:] if text[:1] in ("-", "\u2212", "+") else text
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
    return sign * (Fraction(int(digits or "0")) + Fraction(int(fraction or 0), 10 ** len(fraction)))


def random_cell(draw: random.Random, form: NumberForm) -> str:
    """Return a cell that spells a number about every second time."""
    digits = "".join(draw.choices("0123456789", k=draw.choice([1, 2, 3, 4, 7, 12, 18, 25])))
    if form.thousands and draw.random() < 0.6:
        groups = re.findall(".{1,3}", digits[::-1])
        sign = draw.choice(GROUPS[form.thousands])
        digits = sign.join(groups)[::-1]
    text = draw.choice(["", "", "-", "\u2212", "+", " ", "- "]) + digits
    if draw.random() < 0.6:
        text += form.decimal + "".join(draw.choices("0123456789", k=draw.choice([0, 1, 2, 9, 20])))
    for _ in range(draw.choice([0, 0, 0, 1, 2])):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(ALPHABET) + text[at + draw.choice([0, 1]) :]
    return text


def in_engine(cells: list[str], form: NumberForm) -> list[float | None]:
    """Return what the engine reads in cells."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (i BIGINT, c VARCHAR)")
    connection.execute("INSERT INTO t SELECT unnest(range(len($c))), unnest($c)", {"c": cells})
    rows = connection.execute(f"SELECT {double_in_text('c', form)} FROM t ORDER BY i").fetchall()
    return [number for (number,) in rows]


def bits(number: float | None) -> bytes | None:
    return None if number is None else struct.pack("<d", number)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_engine_reads_what_the_grammar_says(form: NumberForm) -> None:
    draw = random.Random(43)
    cells = [random_cell(draw, form) for _ in range(12_500)]
    cells += ["".join(one) for one in itertools.product("01.,' -", repeat=5)]
    numbers = 0
    for cell, found in zip(cells, in_engine(cells, form), strict=True):
        expected, plain = reference(cell, form), form.plain(cell)
        assert (expected is None) == (plain is None) == (found is None), cell
        if expected is None:
            continue
        numbers += 1
        assert plain is not None
        assert Fraction(plain) == expected, cell
        assert re.fullmatch(r"-?(\d+(\.\d+)?|\.\d+)", plain, re.ASCII), cell
        minus = "-" if plain.startswith("-") else ""  # of -0, too
        assert bits(found) == bits(float(f"{minus}{float(abs(expected))!r}")), cell
    assert len(cells) * 0.05 < numbers < len(cells) * 0.95


@pytest.mark.parametrize(
    "cell",
    [
        "1.23,4", "1.2345", "1,234.5", "12 34", "--1", "1.2.3,4", "1_000,5", "1e5", "NaN", "inf", "", " ", "-", ",",
        "5,", ".5", "0.123", "1.234.56", "1.234,5,6", "(5", "5 EUR", "٥", "1,5\n", "1,5\0", "0x10", "1..234",
    ],
)  # fmt: skip
def test_what_is_no_number_in_a_german_file(cell: str) -> None:
    form = NumberForm(",", ".")
    assert form.plain(cell) is None
    assert in_engine([cell], form) == [None]


@pytest.mark.parametrize(
    ("form", "cell", "plain"),
    [
        (NumberForm(",", "."), "-1.234,5", "-1234.5"), (NumberForm(",", "."), "1234567,5", "1234567.5"),
        (NumberForm(",", ""), " 3,5 ", "3.5"), (NumberForm(",", ""), ",5", ".5"),
        (NumberForm(".", "'"), "1\u2019234'567.50", "1234567.50"),
        (NumberForm(",", " "), "\u22121\u202f234,5", "-1234.5"), (NumberForm(".", ","), "+1,234", "1234"),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(form: NumberForm, cell: str, plain: str) -> None:
    assert form.plain(cell) == plain
    assert in_engine([cell], form) == [float(plain)]


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
    from discreet.datasets.cell_fits import check_cells
    from discreet.datasets.configuration import read_configuration

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
    ("form", "message"),
    [
        ({"decimal": ";"}, "decimal must be one of '.' ','"), ({"decimal": ""}, "decimal must be one of"),
        ({"thousands": "_"}, "thousands must be one of"), ({"thousands": 1}, "thousands must be one of"),
        ({"decimal": ".", "thousands": "."}, "two signs"), ({"decimal": ",", "thousands": ","}, "two signs"),
        ({"decimal": ",", "delimiter": ",", "quote": ""}, "no quotes"),
        ({"thousands": ",", "delimiter": ",", "quote": ""}, "no quotes"),
    ],
)  # fmt: skip
def test_forms_of_numbers_that_are_none_are_refused(form: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        scan_csv("t.csv", **form)  # type: ignore[arg-type]


def test_signs_that_are_left_out() -> None:
    assert scan_csv("t.csv").form.numbers is None
    assert scan_csv("t.csv", thousands=".").form.numbers == NumberForm(",", ".")
    assert scan_csv("t.csv", thousands=",").form.numbers == NumberForm(".", ",")
    assert scan_csv("t.csv", decimal=",").form.numbers == NumberForm(",", "")
    assert scan_csv("t.csv", decimal=",", delimiter=",").form.delimiter == ","


def test_quoted_decimal_commas_between_commas(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n"1,5",2\n"2,5","3,5"\n', encoding="utf-8")
    data = scan_csv(tmp_path / "t.csv", decimal=",")
    assert column_names(data) == ["a", "b"]
    assert discreet.count(data, where="a > 1.4 AND b < 3.6", epsilon=1000).value == 2
