"""Text files: dialects, long rows, empty fields, and what is compared as text."""

import datetime as dt
import gzip
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import (
    InvalidCandidates,
)
from discreet.tables import count, distinct, numbers, parse_candidates
from discreet.tables.csv_files import LONGEST_LINE

from .test_tables import D


def test_distinct_texts_of_csv(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('c,d\nb,1\n,2\n"",3\na,4\nb,5\n')
    assert distinct(tmp_path / "t.csv", "c") == ["a", "b"]


def test_parse_candidates_of_csv(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("c\n1\n")
    assert parse_candidates(tmp_path / "t.csv", "c", ["1", "x"]) == ["1", "x"]


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
        (b'c,d\nx"y,1\n"a" ,2\nb,3\n', [1, 1]),
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


@pytest.mark.parametrize(("size", "counts"), [(LONGEST_LINE - 1, 1), (LONGEST_LINE + 1, 0)])
@pytest.mark.parametrize("before", [0, 1, 5, 2**23])
@pytest.mark.proof_in("[8388608-")
def test_long_rows_of_csv_count_wherever_they_are(
    tmp_path: Path, size: int, counts: int, before: int
) -> None:
    long = "a," + "x" * (size - 2)
    (tmp_path / "t.csv").write_text("c,d\n" + "b,1\n" * before + long + "\nb,1\nb,1\n")
    assert count(tmp_path / "t.csv", "c", ["a", "b"]) == [counts, before + 2]


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
