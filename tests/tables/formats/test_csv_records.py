"""The records of lines, by Python's csv: each rule by itself."""

import csv
import io

import pytest

from discreet.tables.formats.csv_records import is_strict, records_of, text_lines
from discreet.tables.formats.text_form import TextForm


def records(data: bytes, form: TextForm) -> list[list[str]]:
    return list(records_of(text_lines(io.BytesIO(data), "utf-8"), form))


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_any_end_of_a_line_ends_a_record_and_empty_lines_are_none(end: bytes) -> None:
    data = end.join([b"a,b", b"", b'"x', b'y",1', b"", b""])
    middle = end.decode()
    assert records(data, TextForm(",")) == [["a", "b"], [f"x{middle}y", "1"]]
    assert records(data, TextForm(",", multiline=False)) == [["a", "b"], ["x"], ['y"', "1"]]
    assert records(data, TextForm(",", quote="")) == [["a", "b"], ['"x'], ['y"', "1"]]


def test_without_a_delimiter_a_line_is_a_cell() -> None:
    assert records(b'a;b\n\n"c\nd', TextForm(None)) == [["a;b"], ['"c'], ["d"]]


def test_bytes_that_are_no_text_end_nothing() -> None:
    assert records(b"a,\xff\n1,2\n", TextForm(",")) == [["a", "\ufffd"], ["1", "2"]]


@pytest.mark.parametrize(
    ("line", "strict"),
    [('"a","b"', True), ("a,b", True), ('"a"x,b', False), ('"a,b', False), ("", True)],
)
def test_quotes_are_closed_in_front_of_a_delimiter(line: str, strict: bool) -> None:
    assert is_strict([line], TextForm(",")) == strict


def test_a_program_may_refuse_long_cells_of_its_own() -> None:
    before = csv.field_size_limit(10)
    try:
        assert records(b"x" * 99, TextForm(",")) == [["x" * 99]]
        assert csv.field_size_limit() == 10
    finally:
        csv.field_size_limit(before)
