"""A file is what its first bytes say, whatever it is called, and no hint leads to counting compressed bytes.

Which character codes are read, what marks tell, and the tables of single bytes.
"""

import codecs
import encodings
import gzip
import pkgutil
import re
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import pytest

import discreet
from discreet.errors import InvalidArgument, UnreadableFile
from discreet.tables.datasets.draft import draft
from discreet.tables.formats.first_bytes import (
    BY_MARK,
    MARKS,
    SIGNATURES,
    byte_table,
    encoding_name,
    told_encoding,
    told_format,
)

ROWS = b"person,city\n" + b"p1,Bern\n" * 500


def zipped(path: Path, name: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, ROWS)


def tarred(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("people.csv"))


def lite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE people (person TEXT, city TEXT)")


def duck(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (person TEXT, city TEXT)")


FRAME = pl.DataFrame({"person": ["p1"] * 500, "city": ["Bern"] * 500})
MADE: dict[str, tuple[Callable[[Path], object], str]] = {
    "lz4": (lambda p: p.write_bytes(b"\x04\x22\x4d\x18" + ROWS), "lz4 -d"),
    "sz": (lambda p: p.write_bytes(b"\xff\x06\0\0sNaPpY" + ROWS), "snzip"),
    "xlsx": (lambda p: zipped(p, "[Content_Types].xml"), "workbook that is damaged"),
    "xls": (lambda p: p.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + ROWS), "save it as .xlsx"),
    "avro": (lambda p: p.write_bytes(b"Obj\x01" + ROWS), "read_avro"),
    "orc": (lambda p: p.write_bytes(b"ORC\x01" + ROWS), "pyarrow.orc"),
    "parquet": (FRAME.write_parquet, "leave out its form"),
    "arrow": (FRAME.write_ipc, "leave out its form"),
    "sqlite": (lite, "sqlite:///"),
    "duckdb": (duck, "duckdb:///"),
    "7z": (lambda p: p.write_bytes(b"7z\xbc\xaf\x27\x1c" + ROWS), "7z x"),
    "rar": (lambda p: p.write_bytes(b"Rar!\x1a\x07\0" + ROWS), "unrar x"),
    "Z": (lambda p: p.write_bytes(b"\x1f\x9d\x90" + ROWS), "uncompress"),
    "tar": (lambda p: tarred(p), "tar xf"),
    "pare": (lambda p: p.write_bytes(b"PARE\x15\x04\0" + ROWS), "encrypted Parquet"),
    "feather1": (lambda p: p.write_bytes(b"FEA1\0\0\0" + ROWS), "Feather of version 1"),
    "mdb": (lambda p: p.write_bytes(b"\0\1\0\0Standard Jet DB\0" + ROWS), "mdb-export"),
    "sav": (lambda p: p.write_bytes(b"$FL2@(#)" + b" SPSS".ljust(56) + b"\2\0\0\0" + ROWS), "read_spss"),
    "dta": (FRAME.head(5).to_pandas().to_stata, "read_stata"),
    "dta115": (lambda p: p.write_bytes(b"\x73\2\1\0" + ROWS), "read_stata"),
    "sas7bdat": (lambda p: p.write_bytes(bytes(12) + b"\xc2\xea\x81\x60" + ROWS), "read_sas"),
    "rds": (lambda p: p.write_bytes(gzip.compress(b"X\n\0\0\0\3" + ROWS)), "write.csv"),
    "rda": (lambda p: p.write_bytes(gzip.compress(b"RDX3\nX\n\0\0\0\3" + ROWS)), "write.csv"),
    "pdf": (lambda p: p.write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + ROWS), "a PDF"),
    "h5": (lambda p: p.write_bytes(b"\x89HDF\r\n" + ROWS), "read_hdf"),
}  # fmt: skip
NAMES = ["person", "city"]
WAYS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "names given": ("people.bin", lambda p: discreet.scan_csv(p, names=NAMES)),
    "delimiter given": ("people.csv", lambda p: discreet.scan_csv(p, delimiter=",")),
    "called csv": ("people.csv", lambda p: p),
    "called jsonl": ("people.jsonl", lambda p: p),
    "called pq": ("people.pq", lambda p: p),
    "called ipc": ("people.ipc", lambda p: p),
    "of no ending": ("people.bin", lambda p: p),
    "its own ending": ("people.csv.{kind}", lambda p: p),
    "a list": ("people.csv", lambda p: [discreet.scan_csv(p, names=NAMES)]),
}
READ = ("parquet", "arrow")
"""They are read under any name, but not as text of a form."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", MADE)
def test_the_first_bytes_say_what_a_file_is(kind: str, way: str, tmp_path: Path) -> None:
    make, fix = MADE[kind]
    name, spelled = WAYS[way]
    path = tmp_path / name.format(kind=kind)
    make(path)
    asks: list[Callable[[], object]] = [
        lambda: discreet.count(spelled(path), epsilon=1),
        lambda: discreet.count(spelled(path), "city", epsilon=1),
        lambda: discreet.counts(spelled(path), "city", candidates=["Bern"], epsilon=1),
    ]
    for ask in asks:
        if kind in READ and not way.endswith("given") and way != "a list":
            ask()
            continue
        with pytest.raises(UnreadableFile, match=fix):
            ask()


def test_a_mark_of_utf_16_needs_its_word_where_names_are_given(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("p1,Bern\n".encode("utf-16") * 3)
    with pytest.raises(UnreadableFile, match="utf-16"):
        discreet.count(discreet.scan_csv(tmp_path / "t.csv", names=NAMES), epsilon=1)


@pytest.mark.parametrize(
    "row",
    [
        "PK,1", "PK\x0b,1", "BZh91,x", "PAR1,Zürich", "PARE,Zürich", "ORC,é", "Obj,1", "ARROW1,2",
        "SQLite format 3,1", "12345678DUCK,1", "\x1f,1", "[1,2", "MATRIXé,1", '"PK",1',
    ],
)  # fmt: skip
def test_no_row_of_text_is_taken_for_another_format(row: str, tmp_path: Path) -> None:
    assert told_format(f"{row}\n{row}\n".encode()) is None
    (tmp_path / "t.csv").write_text(f"{row}\n" * 9, encoding="utf-8")
    data = discreet.scan_csv(tmp_path / "t.csv", names=["a", "b"])
    assert discreet.count(data, epsilon=10).value > 0


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ('[{"a": 1}', "JSON"), (' [ ["a", 1', "JSON"), ('["a", 1', "JSON"), ('\ufeff{"a": 1', "JSON"),
        ('{ "a": 1', "JSON"),
        ("<!DOCTYPE html>", "HTML"), ("\n<html><body>", "HTML"), ('<?xml version="1.0"?>', "HTML"),
        ("<TABLE>", "HTML"),
    ],
)  # fmt: skip
def test_other_text_is_told_before_its_first_line_is_a_header(
    start: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(f"{start}, zq7\n1,2\n", encoding="utf-8")
    for data in (tmp_path / "t.csv", discreet.scan_csv(tmp_path / "t.csv", delimiter=",")):
        with pytest.raises(UnreadableFile, match=words) as told:
            discreet.count(data, "a", epsilon=1)
        assert "zq7" not in str(told.value)
    rows = discreet.scan_csv(tmp_path / "t.csv", names=["a", "b"])
    assert discreet.count(rows, epsilon=10).value is not None  # a row decides nothing


@pytest.mark.parametrize("header", ["[a],[b]", "{a},b", "<a,b", "[1],2", 'a{"b,c'])
def test_a_header_may_have_brackets(header: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{header}\n1,2\n", encoding="utf-8")
    assert discreet.count(tmp_path / "t.csv", epsilon=100).value == 1


def test_every_signature_has_a_byte_that_no_text_has() -> None:
    signs = (rb"\0", rb"\x0", rb"\x1", rb"\xf", rb"\xd", rb"\xb", rb"\x8", rb"1AY&SY")
    for one in SIGNATURES:
        assert any(sign in one.pattern for sign in signs), one.words


def test_a_database_is_told_by_its_bytes(tmp_path: Path) -> None:
    duck(tmp_path / "people.db")
    lite(tmp_path / "lite.duckdb")
    assert 'connection = "duckdb:///' in draft(str(tmp_path / "people.db"), table="people")
    assert 'connection = "sqlite:///' in draft(str(tmp_path / "lite.duckdb"), table="people")


@pytest.mark.parametrize("given", ["UTF8", "latin-1", "cp1252", "Shift_JIS", "gb18030", "utf-16"])
def test_a_code_has_the_name_of_python(given: str) -> None:
    assert encoding_name(given) == codecs.lookup(given).name


@pytest.mark.parametrize(
    "given",
    [
        "iso2022_jp",
        "hz",
        "utf-7",
        "unicode_escape",
        "raw_unicode_escape",
        "charmap",
        "idna",
        "punycode",
        "base64",
        "rot13",
        "none",
        "a\0",
        "",
        5,
        None,
    ],
)
def test_codes_that_are_refused(given: object) -> None:
    with pytest.raises(InvalidArgument, match=r"^encoding must be a character code such as"):
        encoding_name(given)


@pytest.mark.parametrize(("mark", "told"), MARKS)
def test_a_mark_tells_the_code_of_a_header_alone(mark: bytes, told: str) -> None:
    start = mark + b"ab"
    assert told_encoding(None, start, has_header=True) == (told, len(mark))
    assert told_encoding(None, start, has_header=False) == ("utf-8", 0)
    assert told_encoding(told, start, has_header=True) == (told, len(mark))
    assert told_encoding(told, start, has_header=False) == (told, 0)
    assert told_encoding("cp1252", start, has_header=True) == ("cp1252", 0)


@pytest.mark.parametrize("declared", BY_MARK)
def test_a_code_with_a_mark_is_none_without_it(declared: str) -> None:
    assert told_encoding(declared, b"ab\0\0", has_header=True) is None
    for mark, told in MARKS:
        fits = told.startswith(BY_MARK[declared])
        found = told_encoding(declared, mark + b"ab", has_header=False)
        assert found == ((told, len(mark)) if fits else None)


@pytest.mark.parametrize("encoding", ["cp1252", "iso8859-1", "koi8-r", "ascii", "mac-roman"])
def test_a_table_says_the_text_of_each_byte(encoding: str) -> None:
    table = byte_table(encoding)
    assert table is not None
    for byte in range(256):
        entry = table[4 * byte : 4 * byte + 4]
        text = bytes([byte]).decode(encoding, "replace")
        wanted = b"" if text == "\ufffd" else text.encode()
        assert (entry[0], entry[1 : 1 + entry[0]]) == (len(wanted), wanted), byte


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "shift_jis", "gb18030", "cp037"])
def test_codes_that_have_no_table(encoding: str) -> None:
    assert byte_table(encoding) is None


DOCS = Path(__file__).parents[3] / "docs"
CODE_NAMES = sorted({one.name for one in pkgutil.iter_modules(encodings.__path__)} - {"aliases"})
SIGNS = [
    b"a",
    b",",
    b'"',
    b"\n",
    b"\r",
    b"\\",
    b"|",
    b"\x1b",
    b"$",
    b"B",
    b"\x0e",
    b"0",
    b"9",
    b"~",
    b"{",
]


def codes() -> tuple[set[str], set[str]]:
    """Return the codes that are read, and those that are refused: all that Python comes with."""
    read, refused = set(), set()
    for name in CODE_NAMES:
        try:
            read.add(encoding_name(name))
        except InvalidArgument:
            refused.add(name)
    return read, refused


def test_the_page_lists_all_codes() -> None:
    text = (DOCS / "how-to" / "files.md").read_text(encoding="utf-8")
    lists = re.findall(r"^> (.*)$", text, re.MULTILINE)
    read, refused = ({*re.findall(r"`([^`]+)`", one)} for one in lists[:2])
    assert (read, refused) == codes()


def test_codes_never_raise_and_do_not_depend_on_blocks() -> None:
    """93 codes on 400 texts each; those of a mark are read by the code that it tells."""
    read = codes()[0] - {"utf-16", "utf-32"}
    assert len(read) == 93
    for code in sorted(read):
        decoder, random = codecs.getincrementaldecoder(code), Random(code)
        for i in range(400):
            pieces = [
                random.choice(SIGNS) if random.random() < i / 400 else random.randbytes(1)
                for _ in range(40)
            ]
            data = b"".join(pieces)
            whole = decoder("replace").decode(data, True)
            for size in (1, 3):
                one = decoder("replace")
                parts = [one.decode(data[at : at + size]) for at in range(0, len(data), size)]
                assert "".join(parts) + one.decode(b"", True) == whole, code
