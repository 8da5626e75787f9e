"""Text files: dialects, long rows, empty fields, and what is compared as text."""

import codecs
import datetime as dt
import gzip
import sys
import warnings
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import pytest

import discreet
from discreet.errors import (
    InvalidArgument,
    InvalidCandidates,
    MissingColumn,
    UnreadableFile,
)
from discreet.tables.conditions.condition_readers import read_condition
from discreet.tables.engines import count, distinct, numbers, parse_candidates
from discreet.tables.engines.column import RecordCounts
from discreet.tables.engines.column import sizes_of as sizes
from discreet.tables.engines.csv_files import read_head
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.fits import DeclaredCells
from discreet.tables.engines.records import Records
from discreet.tables.formats.text_form import TextForm
from discreet.tables.formats.text_records import LONGEST_CELL

from ..formats.test_text_records import KINDS
from .test_tables import D


def test_distinct_texts_of_csv(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('c,d\nb,1\n,2\n"",3\na,4\nb,5\n')
    assert distinct(tmp_path / "t.csv", "c") == ["a", "b"]


def test_parse_candidates_of_csv(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("c\n1\n")
    assert parse_candidates(tmp_path / "t.csv", "c", ["1", "x"]) == ["1", "x"]


COMMAS: Mapping[str, Any] = {"decimal": ",", "thousands": "."}
DAYS: Mapping[str, Any] = {"date": "%d.%m.%Y"}


@pytest.mark.parametrize(
    ("form", "texts", "values"),
    [
        ({"decimal": ","}, ["12", "3"], [12, 3]),
        ({"decimal": ","}, ["12.50", "-3"], [Decimal("12.5"), -3]),
        ({"decimal": ","}, ["12,50", "3"], [Decimal("12.5"), 3]),
        (COMMAS, ["1.234,5", "1234"], [Decimal("1234.5"), 1234]),
        ({"percent": True}, ["45%"], [Decimal("0.45")]),
        ({"units": ["CHF"]}, ["CHF 5", "6"], [5, 6]),
        (DAYS, ["31.12.2024", "2024-01-01"], [dt.date(2024, 12, 31), dt.date(2024, 1, 1)]),
        ({**DAYS, "decimal": ","}, ["31.12.2024"], [dt.date(2024, 12, 31)]),
        ({**DAYS, "decimal": ","}, ["12,0"], [12]),
        ({"date": "%d.%m.%Y %H:%M"}, ["31.12.2024 12:00"], ["31.12.2024 12:00"]),
        ({"decimal": ","}, ["Bern", "1/3"], ["Bern", "1/3"]),
        ({"missing": ["-"]}, ["12", "3"], ["12", "3"]),
        ({}, ["12,0"], ["12,0"]),
    ],
)
def test_texts_are_numbers_and_dates_where_a_form_says_so(
    form: Any, texts: list[str], values: list[Any], tmp_path: Path
) -> None:
    """As texts they would count the cells alone that are written just so."""
    (tmp_path / "t.csv").write_text("c;d\n1;1\n")
    data: Any = discreet.scan_csv(tmp_path / "t.csv", **form)
    found = parse_candidates(data, "c", texts)
    assert (found, [*map(type, found)]) == (values, [*map(type, values)])


def test_texts_of_two_meanings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("c;d\n1.234;1\n")
    data: Any = discreet.scan_csv(tmp_path / "t.csv", missing=["12,0"], **COMMAS)
    with pytest.raises(
        InvalidCandidates, match=r"'1.234' is 1.234, and in the form of the file 1234: "
    ):
        parse_candidates(data, "c", ["1.234"])
    with pytest.raises(InvalidCandidates, match="'12,0' stands for a missing cell"):
        parse_candidates(data, "c", ["12,0"])
    days: Any = discreet.scan_csv(tmp_path / "t.csv", date="%Y-%d-%m")
    with pytest.raises(InvalidCandidates, match=r"'2024-02-01' is 2024-02-01, .* 2024-01-02: "):
        parse_candidates(days, "c", ["2024-02-01"])


def test_some_numbers_among_texts_are_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("c;d\n1.234;1\n")
    data: Any = discreet.scan_csv(tmp_path / "t.csv", decimal=",")
    with pytest.warns(UserWarning, match="'A' is no number, so .* 'c' are compared as texts"):
        assert parse_candidates(data, "c", ["12", "A"]) == ["12", "A"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"c,d\na,1\nb,2\na,3\n", [2, 1]),
        (b"\xef\xbb\xbfc,d\r\na,1\r\nb,2\r\n", [1, 1]),
        (b"c;d\na;1,5\nb;2\n", [1, 1]),
        (b"d\tc\n1\ta\n2\tb", [1, 1]),
        (b"d|c\n1|a\n", [1, 0]),
        (b"c\na\n\nb\n", [1, 1]),
        (b'"c","x,d"\n"a","1\n2"\nb,"""q"""\n', [1, 1]),
        (b"c,d", [0, 0]),
        (b"c,d\n", [0, 0]),
        (b"d,c\n1\n2,a\n3,b,9\n", [1, 1]),
        (b"c,d\n\xff\xfe,1\na,\xff\nb,2\n", [1, 1]),
        (b"c,d\na,1\r\nb,2\na,3\r\n", [2, 1]),
        (b"c,d\ra,1\rb,2\r", [1, 1]),
        (b"c,d\na\0,1\nb,2\n", [0, 1]),
        (b'c,d\nx"y,1\n"a" ,2\n"a"b,2\n"b",3\n', [0, 1]),
        ("c,d\na,1\nb,2\n".encode("utf-16"), [1, 1]),
        (b"\n\nc,d\na,1\n", [1, 0]),
        (b'"d\ne",c\n1,a\n', [1, 0]),
        (b"c,d\n#a,1\nb,2\n", [0, 1]),
        (b"c,d\n" + b"x" * (20 << 20) + b",1\na,2\n", [1, 0]),
        (b'c,d\na,1\n"b,2\na,3\n', [1, 0]),
        (b"c,d,d\na,1,2\n", [1, 0]),
    ],
)
def test_csv_dialects(tmp_path: Path, content: bytes, expected: list[int]) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    assert count(tmp_path / "t.csv", "c", ["a", "b"]) == expected
    with gzip.open(tmp_path / "t.csv.gz", "wb", compresslevel=1) as stream:
        stream.write(content)
    assert count(tmp_path / "t.csv.gz", "c", ["a", "b"]) == expected


ASK: Mapping[str, Any] = {"epsilon": 1000}


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("size", [LONGEST_CELL, LONGEST_CELL + 1])
def test_a_long_cell_is_unreadable_and_its_record_stays(tmp_path: Path, size: int) -> None:
    file = write(tmp_path / "t.csv", b"c,d\nb,1\na," + b"x" * size + b"\nb,1\n")
    assert count(file, "c", ["a", "b"]) == [1, 2]
    assert count(file, "d", ["1", ""]) == [2, 0]
    assert sizes(open_table(file, "d"), present=True) == [2 + (size == LONGEST_CELL)]


def test_a_return_at_the_end_of_a_record_takes_no_letter_of_the_next(tmp_path: Path) -> None:
    content = b"name,city\r\nAnna,Bern\r\nBen,Bern\rCid,Basel\r\nMei\rer,Basel\r\n"
    file = write(tmp_path / "cr.csv", content)
    assert count(file, "name", ["Anna", "Ben", "Cid", "id", "Mei", "er"]) == [1, 1, 1, 0, 1, 1]


def test_text_behind_a_quote_keeps_its_letters(tmp_path: Path) -> None:
    file = write(tmp_path / "t.csv", b'name,city\n"Mul"ler,Bern\nAnna,Bern\n')
    assert count(file, "name", ["Muller", "Mulle", "Anna"]) == [1, 0, 1]


def test_a_quote_behind_a_backslash_swallows_no_rows(tmp_path: Path) -> None:
    rows = b"Anna,Bern\n" * 5
    file = write(tmp_path / "t.csv", b"name,city\n" + rows + b'"Mu\\"ller",Bern\n' + rows)
    assert discreet.count(file, **ASK).value == 11
    assert discreet.count(file, "name", **ASK).value == 11


def test_no_record_is_lost_by_its_character_code(tmp_path: Path) -> None:
    rows = [
        ("José" if i % 4 == 0 else "Anna", "Zürich" if i % 2 else "Bern", i) for i in range(1000)
    ]
    lines = ["name,city,age", *(f"{name},{city},{age}" for name, city, age in rows)]
    file = write(tmp_path / "people.csv", "\r\n".join(lines).encode("cp1252"))
    assert discreet.count(file, **ASK).value == 1000
    ask: Any = {"candidates": ["Bern", "Zürich"], **ASK}
    assert discreet.counts(file, "city", **ask).value == {"Bern": 500, "Zürich": 0}
    for column in ("name", "city", "age"):
        assert len(read_cells(file, column)) == 1000
    western = discreet.scan_csv(file, encoding="cp1252")
    assert discreet.counts(western, "city", **ask).value == {"Bern": 500, "Zürich": 500}
    assert discreet.count(western, privacy_unit="name", **ASK).value == 2


def read_cells(data: Any, column: str) -> list[object]:
    table = open_table(data, column)
    return [cell for [cell] in table.native.cells(table.native.rows())]


@pytest.mark.parametrize("content", [b"c,d\n1,\xff\n,2\n\n\xff\n", b"\xff,1\n"])
def test_the_number_of_records_depends_on_no_column(tmp_path: Path, content: bytes) -> None:
    named = discreet.scan_csv(write(tmp_path / "t.csv", content), names=["c", "d"])
    lines = sum(bool(line) for line in content.split(b"\n"))
    assert discreet.count(named, **ASK).value == lines
    for column in ("c", "d"):
        assert len(read_cells(named, column)) == lines
        kinds = DeclaredCells(open_table(named, column)).kinds()
        assert kinds.numbers + kinds.dates + kinds.texts + kinds.missing == lines


@pytest.mark.one_in(3)
@pytest.mark.filterwarnings("ignore:multiline is false")
@pytest.mark.parametrize("multiline", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_malformed_records_depends_on_no_question(
    tmp_path: Path, kind: str, multiline: bool
) -> None:
    file = write(tmp_path / "t.csv", b"c,d\n" + KINDS[kind] + b"x,y,z\n")
    data = discreet.scan_csv(file, multiline=multiline)
    [records] = RecordCounts(data, None, Records()).by_group()
    for column in ("c", "d"):
        assert len(read_cells(data, column)) == records
        kinds = DeclaredCells(open_table(data, column)).kinds()
        assert kinds.numbers + kinds.dates + kinds.texts + kinds.missing == records
    x = nw.col("c") == "x"
    [some] = RecordCounts(data, None, Records(where=read_condition(x))).by_group()
    assert some == read_cells(data, "c").count(b"x")


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("a,b;c", ["a", "b;c"]), ("a;b,c;d", ["a", "b,c", "d"]), ('"a,b";c', ["a,b", "c"]), ("a", ["a"]),
        ('id;"Name, first"', ["id", "Name, first"]), ('5" wide,b', ['5" wide', "b"]), ("a\tb|c", ["a", "b|c"]),
    ],
)  # fmt: skip
def test_the_delimiter_is_told_by_the_header_whatever_is_asked(
    tmp_path: Path, header: str, names: list[str]
) -> None:
    file = write(tmp_path / "t.csv", header.encode() + b"\n")
    assert list(read_head(file, TextForm()).names) == names


def test_a_row_in_place_of_a_header_is_not_shown(tmp_path: Path) -> None:
    for content in (b'd,"c\ncanary",x\n', b'"d",c"\ncanary,"1\n"\n', b"canary,1\n"):
        with pytest.raises((MissingColumn, UnreadableFile)) as caught:
            count(write(tmp_path / "t.csv", content), "none", ["a"])
        assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "content", "counts"),
    [
        ({"encoding": "cp1252"}, "c;d\nZürich;1\n".encode("cp1252"), 1),
        ({"encoding": "utf-16"}, "c,d\nZürich,1\n".encode("utf-16"), 1),
        ({}, codecs.BOM_UTF16_BE + "c,d\nZürich,1\n".encode("utf-16-be"), 1),
        ({"encoding": "utf_16_le"}, "c,d\nZürich,1\n".encode("utf-16-le"), 1),
        ({}, "c,d\nZürich,1\n".encode("utf-32"), 1),
        ({"encoding": "utf-8-sig", "names": ["c", "d"]}, "\ufeffZürich,1\n".encode(), 1),
        # Without a header the first bytes are those of a row.
        ({"names": ["c", "d"]}, "\ufeffZürich,1\nZürich,2\n".encode(), 1),
        ({"encoding": "shift_jis"}, "c,d\n表,\\|\nZ,表\n".encode("shift_jis"), 0),
        ({"quote": ""}, 'c,d\n"Zürich,1\nZürich,2\n'.encode(), 1),
        ({"quote": "'"}, "c,d\n'Zürich',1\n'Z''rich',2\n".encode(), 1),
        ({"multiline": False}, 'c,d\n"Zürich,1\nZürich,2\n'.encode(), 1),
        ({"multiline": False}, 'c,d\n1,"\nZürich,2\nZürich,"\n'.encode(), 2),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:multiline is false")
def test_forms(tmp_path: Path, words: dict[str, Any], content: bytes, counts: int) -> None:
    data = discreet.scan_csv(write(tmp_path / "t.csv", content), **words)
    assert count(data, "c", ["Zürich"]) == [counts]
    with gzip.open(tmp_path / "t.csv.gz", "wb") as stream:
        stream.write(content)
    assert count(discreet.scan_csv(tmp_path / "t.csv.gz", **words), "c", ["Zürich"]) == [counts]


def test_a_promise_about_lines_is_said_to_be_one(tmp_path: Path) -> None:
    file = write(tmp_path / "t.csv", b"who,c\nA,1\nB,1\n")
    lines = discreet.scan_csv(file, multiline=False)
    columns: Any = {"c": {"type": "string", "enum": ["1"]}, "who": {"type": "string"}}
    described = discreet.Dataset([lines], columns)
    for data in (lines, [lines], described):
        with pytest.warns(UserWarning, match="the promise is about one line"):
            discreet.count(data, epsilon=1)
        with pytest.warns(UserWarning, match="the promise is about one line"):
            discreet.counts(data, "c", candidates=["1"], epsilon=1)
    with pytest.warns(UserWarning, match="the promise is about one line"):
        discreet.check(described, epsilon=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        discreet.count(lines, privacy_unit="who", epsilon=1)
        discreet.count(file, epsilon=1)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_code_with_a_mark_needs_it(tmp_path: Path, encoding: str) -> None:
    data = discreet.scan_csv(write(tmp_path / "t.csv", b"c,d\n1,2\n"), encoding=encoding)
    with pytest.raises(UnreadableFile, match="does not begin with the mark"):
        count(data, "c", ["1"])


@pytest.mark.parametrize(
    "words",
    [
        {"encoding": "rot13"}, {"encoding": "iso2022_jp_2"}, {"encoding": "utf-7"}, {"encoding": "none"},
        {"encoding": 1}, {"encoding": "base64"}, {"encoding": "a\0"}, {"quote": "ab"}, {"quote": "é"},
        {"quote": "\n"}, {"quote": None}, {"quote": ",", "delimiter": ","}, {"multiline": "no"},
        {"multiline": 0}, {"delimiter": "\0"}, {"delimiter": '"', "quote": ""},
    ],
)  # fmt: skip
def test_forms_that_are_none(words: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        discreet.scan_csv("t.csv", **words)


def test_lines_that_are_no_json_are_records(tmp_path: Path) -> None:
    content = b'{"c": "a"}\n\xff{"c": "a"}\n{"c": "\xff"}\n\n{"c"\n{"c": "a", "c": "b"}\r\n[1]\n"'
    file = write(tmp_path / "t.jsonl", content)
    assert discreet.count(file, **ASK).value == 7
    assert count(file, "c", ["a", "b"]) == [2, 0]
    assert count(write(tmp_path / "m.jsonl", codecs.BOM_UTF8 + content), "c", ["a"]) == [2]


def test_csv_is_compared_as_text(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("c\td\n1\tx\n01\tx\n1.0\tx\n1/3\tx\n0.10\tx\n")
    wanted = [1, "01", D("1.0"), Fraction(1, 3), D("0.10"), D("0.1")]
    assert count(tmp_path / "t.tsv", "c", wanted) == [1, 1, 1, 1, 1, 0]
    for candidate in (1.5, b"1", dt.time(1)):
        with pytest.raises(InvalidCandidates, match="text"):
            count(tmp_path / "t.tsv", "c", [candidate])


def test_csv_empty_fields_equal_the_empty_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('d,c,e\n1,,x\n2,"",x\n3\n4,NULL,x\n')
    assert count(tmp_path / "t.csv", "c", ["", "NULL"]) == [3, 1]


def test_underscores_make_no_number_of_a_field(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("c,p\n1_000,a\n7,b\n1e3,c\n")
    assert sorted(numbers(tmp_path / "t.csv", "c").tolist()) == [7.0, 1000.0]


@pytest.mark.parametrize("name", ["_get_schema", "_release_schema", "_destroy"])
def test_no_signal_reaches_what_c_calls(name: str, tmp_path: Path) -> None:
    """Python runs handlers in the main thread alone, and an interrupt raised in there would be lost."""
    threads = list[bool]()

    def look(frame: Any, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name == name:
            threads.append(True)

    data = discreet.scan_csv(write(tmp_path / "t.csv", b"c\nx\n"))
    sys.setprofile(look)  # of this thread
    try:
        assert count(data, "c", ["x"]) == [1]
    finally:
        sys.setprofile(None)
    assert not threads


WORDS: list[tuple[str, dict[str, Any], list[str]]] = [
    ('sep=;\r\nc;d\r\n1,5;2\r\n', {}, ["1,5"]),
    ('"sep=|"\nc,x|d\n1|2\n', {"names": None}, []),
    ("sep=\t\nc\td\n1\t2\n", {}, ["1"]),
    ("sep=;\nc,d\n1,2\n", {"delimiter": ","}, ["1"]),
    ("sep=;\n1;2\n", {"names": ["c", "d"], "delimiter": ";"}, ["sep=", "1"]),
    ("sep=;\n1;2\n", {"names": ["c", "d"], "delimiter": ";", "skip": 1}, ["1"]),
    ("title\r\n\r\n\"made\non\nc,d\n1,2\n", {"skip": 4}, ["1"]),
    ("title\rc,d\r1,2\r", {"skip": 1}, ["1"]),
    ("title\r\nsep=;\r\nc;d\r\n1;2\r\n", {"skip": 1}, ["1"]),
    ("#one\n\n#\"two\nc,d\n1,2\n#3,4\n 5,6\n", {"comment": "#"}, ["1", " 5"]),
    ('c,d\n"a\n#b",1\n#c\n', {"comment": "#"}, ["a\n#b"]),
    ('c,d\n"a\n#b",1\n#c\n', {"comment": "#", "multiline": False}, ["a"]),
    ('"a \\"c\\"",c\n1,"\\"2\\", 3"\n', {"escape": "\\"}, ['"2", 3']),
    ("d,c\n1,a\\,b\n2,a\\\nb\n", {"escape": "\\"}, ["a,b", "a\nb"]),
    ('c, d\n1, "2,3"\n', {"skip_initial_space": True}, ["1"]),
    ('d, c\n1, "2,3"\n2,  x\n', {"skip_initial_space": True}, ["2,3", "x"]),
    ("c,d\nNA,1\n NA,1\n-,1\n,1\n--,1\n", {"missing": ["NA", "-", "n/a"]}, ["", " NA", "", "", "--"]),
    ("c,d\nit's,1\n", {"missing": ["it's"]}, [""]),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:multiline is false")
@pytest.mark.parametrize(("text", "words", "cells"), WORDS)
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16-le"])
def test_words_of_a_form(
    text: str, words: dict[str, Any], cells: list[str], encoding: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    data = discreet.scan_csv(tmp_path / "t.csv", encoding=encoding, **words)
    if not cells:
        with pytest.raises(MissingColumn):
            count(data, "c", ["1"])
        return
    found = discreet.count(data, epsilon=10**6).value
    assert found == len(cells)
    assert count(data, "c", sorted({*cells})) == [cells.count(one) for one in sorted({*cells})]


def test_a_marker_is_a_missing_cell_of_any_question(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("u,n,t\na,-99,x\n-99,7,-99\nb,-99,\nb,8, -99\n")
    data = discreet.scan_csv(tmp_path / "t.csv", missing=["-99"])
    columns: Mapping[str, Any] = {
        "n": {"type": "integer", "minimum": -100},
        "t": {"type": "string"},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = discreet.check(discreet.Dataset(data, columns), epsilon=10**7).value
        people = discreet.count(data, privacy_unit="u", epsilon=10**6).value
    assert [(one.fits, one.missing) for one in found.values()] == [(2, 2), (2, 2)]
    assert people == 2
    assert sorted(numbers(data, "n")) == [7, 8]


MARKED: Mapping[str, Any] = {
    "a candidate": {"candidates": ["NA", "Bern"]},
    "a group": {"candidates": ["Bern"], "by": "t", "groups": ["x", "NA"]},
    "a constant": {"candidates": ["Bern"], "where": "t <> 'NA'"},
    "constants": {"candidates": ["Bern"], "where": "t IN ('x', 'NA')"},
}


@pytest.mark.parametrize("case", MARKED)
def test_a_marker_is_no_value_and_costs_nothing(case: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("c,t\nNA,x\nBern,NA\n")
    data = discreet.scan_csv(tmp_path / "t.csv", missing=["NA", ""])
    ledger = discreet.Ledger(tmp_path / "b.db")
    ledger.open("people", epsilon=1)
    with pytest.raises(InvalidArgument, match=r"'NA' stands for a missing cell .*empty text"):
        ledger.session("people").counts(data, "c", epsilon=1, **MARKED[case])
    assert ledger.budgets()[0].spent.epsilon == 0
    found = discreet.counts(data, "c", candidates=["", "Bern"], where="t = ''", epsilon=1000).value
    assert found == {"": 0, "Bern": 1}


@pytest.mark.parametrize("verb", ["mode", "top_k"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_marker_in_a_table_of_candidates_costs_nothing(
    verb: str, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("c\nNA\nBern\n")
    (tmp_path / "known.csv").write_text("c\nBasel\nBern\nNA\n")
    if kind == "parquet":
        duckdb.read_csv(str(tmp_path / "known.csv")).write_parquet(str(tmp_path / "known.parquet"))
    table = discreet.CandidateTable(tmp_path / f"known.{kind}", "c")
    ledger = discreet.Ledger(tmp_path / "b.db")
    ledger.open("people", epsilon=1)
    ask, terms = getattr(ledger.session("people"), verb), {"k": 2} if verb == "top_k" else {}
    data = discreet.scan_csv(tmp_path / "t.csv", missing=["NA", ""])
    with pytest.raises(InvalidCandidates, match=r"'NA' stands for a missing cell"):
        ask(data, "c", **terms, candidates=table, epsilon=1)
    assert ledger.budgets()[0].spent.epsilon == 0
    other = discreet.scan_csv(tmp_path / "t.csv", missing=["-"])
    assert discreet.mode(other, "c", candidates=table, epsilon=1000).value in ("Bern", "NA")


@pytest.mark.parametrize("terms", [{"candidates": [-9]}, {"candidates": [5], "where": "c = -9"}])
def test_a_number_may_be_a_marker_too(terms: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("c\n-9\n5\n")
    forms: list[dict[str, Any]] = [{}, {"decimal": "."}]
    for form in forms:
        data = discreet.scan_csv(tmp_path / "t.csv", missing=["-9"], **form)
        with pytest.raises(InvalidArgument, match=r"-9.* stands for a missing cell"):
            discreet.counts(data, "c", epsilon=1, **terms)


@pytest.mark.parametrize("other", ["5", "n/a", "", True])
def test_one_form_reads_one_kind_of_values(other: Any, tmp_path: Path) -> None:
    """Else one text among them would turn the form off, and all numbers be compared as texts."""
    (tmp_path / "t.csv").write_text("c,d\n1'000,x\n1000,x\n1000.0,x\n5,x\n")
    data = discreet.scan_csv(tmp_path / "t.csv", decimal=".", thousands="'")
    assert discreet.counts(data, "c", candidates=[1000, 5], epsilon=999).value == {1000: 3, 5: 1}
    with pytest.raises(InvalidCandidates, match="all numbers, all dates or all texts"):
        discreet.counts(data, "c", candidates=[1000, other], epsilon=999)
    with pytest.raises(InvalidCandidates, match="all numbers, all dates or all texts"):
        discreet.count(data, by="c", groups=[1000, other], epsilon=999)


def test_a_declared_value_is_no_marker(tmp_path: Path) -> None:
    column: Mapping[str, Any] = {"c": {"type": "string", "enum": ["NA", "Bern"]}}
    with pytest.raises(
        InvalidArgument, match=r"columns\.c\.enum: the value 'NA' stands for a miss"
    ):
        discreet.Dataset(discreet.scan_csv(tmp_path / "t.csv", missing=["NA"]), column)
    own = {"c": {**column["c"], "missing": ["-"]}}
    discreet.Dataset(discreet.scan_csv(tmp_path / "t.csv", missing=["NA"]), own)


FORMS = "n;d;g\n1.000;1.2.2024;1,0\n1000;01.02.2024;1\n2,5;02.02.2024;2\nx;;3,00\n,;\n"
FIRST, SECOND = dt.date(2024, 2, 1), dt.date(2024, 2, 2)


def test_numbers_and_dates_are_values_in_the_form_and_texts_are_texts(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(FORMS)
    data = discreet.scan_csv(
        tmp_path / "t.csv", delimiter=";", decimal=",", thousands=".", date="%d.%m.%Y"
    )
    half = Fraction(5, 2)
    assert count(data, "n", [1000, half, 3]) == [2, 1, 0]
    assert count(data, "n", ["1.000", "2,5", "2.5"]) == [1, 1, 0]
    assert count(data, "d", [FIRST, SECOND]) == [2, 1]
    assert count(data, "d", ["1.2.2024", "2024-02-01"]) == [1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ask: Any = {"by": "g", "groups": [1, 2, 3], "epsilon": 10**6}
        found = discreet.counts(data, "n", candidates=[1000, half], **ask).value
        medians = discreet.median(data, "n", candidates=[half, 1000, 2000], **ask).value
        by_day = discreet.count(data, by="d", groups=[FIRST], epsilon=10**6).value
    assert found == {1: {1000: 2, half: 0}, 2: {1000: 0, half: 1}, 3: {1000: 0, half: 0}}
    assert (medians[1], medians[2]) == (1000, half)
    assert by_day == {FIRST: 2}
    assert count(tmp_path / "t.csv", "n", [1000]) == [1], "without a form they are texts"
