"""A file is what its first bytes say, whatever it is called, and no hint leads to counting compressed bytes."""

import bz2
import gzip
import lzma
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import discreet
from discreet.datasets.draft import draft
from discreet.errors import UnreadableFile
from discreet.tables.first_bytes import SIGNATURES, told_format

ROWS = b"person,city\n" + b"p1,Bern\n" * 500


def zipped(path: Path, name: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, ROWS)


def lite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE people (person TEXT, city TEXT)")


def duck(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (person TEXT, city TEXT)")


FRAME = pl.DataFrame({"person": ["p1"] * 500, "city": ["Bern"] * 500})
MADE: dict[str, tuple[Callable[[Path], object], str]] = {
    "bz2": (lambda p: p.write_bytes(bz2.compress(ROWS)), "bzip2 -dk"),
    "xz": (lambda p: p.write_bytes(lzma.compress(ROWS)), "xz -dk"),
    "zst": (lambda p: p.write_bytes(b"\x28\xb5\x2f\xfd" + ROWS), "zstd -d"),
    "lz4": (lambda p: p.write_bytes(b"\x04\x22\x4d\x18" + ROWS), "lz4 -d"),
    "sz": (lambda p: p.write_bytes(b"\xff\x06\0\0sNaPpY" + ROWS), "snzip"),
    "zip": (lambda p: zipped(p, "people.csv"), "unzip"),
    "xlsx": (lambda p: zipped(p, "[Content_Types].xml"), "read_excel.*save that as CSV"),
    "ods": (lambda p: p.write_bytes(
        b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"), "save that"),
    "xls": (lambda p: p.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + ROWS), "save that as CSV"),
    "avro": (lambda p: p.write_bytes(b"Obj\x01" + ROWS), "read_avro"),
    "orc": (lambda p: p.write_bytes(b"ORC\x01" + ROWS), "pyarrow.orc"),
    "gz": (lambda p: p.write_bytes(gzip.compress(ROWS)), "name it .csv.gz"),
    "parquet": (FRAME.write_parquet, "name it .parquet"),
    "arrow": (FRAME.write_ipc, "name it .arrow"),
    "sqlite": (lite, "sqlite:///"),
    "duckdb": (duck, "duckdb:///"),
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
READ = {
    ("parquet", "called pq"), ("parquet", "its own ending"), ("arrow", "called ipc"), ("arrow", "its own ending"),
    ("gz", "its own ending"),
}  # fmt: skip


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
        if (kind, way) in READ:
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


def test_every_signature_has_a_byte_that_no_text_has() -> None:
    signs = (rb"\0", rb"\x0", rb"\x1", rb"\xf", rb"\xd", rb"\xb", rb"\x8", rb"1AY&SY")
    for one in SIGNATURES:
        assert any(sign in one.pattern for sign in signs), one.words


def test_a_database_is_told_by_its_bytes(tmp_path: Path) -> None:
    duck(tmp_path / "people.db")
    lite(tmp_path / "lite.duckdb")
    assert 'connection = "duckdb:///' in draft(str(tmp_path / "people.db"), table="people")
    assert 'connection = "sqlite:///' in draft(str(tmp_path / "lite.duckdb"), table="people")


def test_json_that_is_no_lines_is_told_how_to_become_so(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('[{"a": 1}]')
    with pytest.raises(UnreadableFile, match="jq -c"):
        discreet.count(tmp_path / "x.json", epsilon=1)
