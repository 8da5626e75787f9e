"""The records of text files are those of Python's csv over its codecs, by the kernel and without it."""

import codecs
import csv
import gzip
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from encodings import aliases
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidArgument, UnreadableFile
from discreet.tables.formats import byte_blocks, reader_library, text_records
from discreet.tables.formats.archives import DamagedFile
from discreet.tables.formats.first_bytes import byte_table, encoding_name
from discreet.tables.formats.reader_library import open_reader
from discreet.tables.formats.text_form import TextForm
from discreet.tables.formats.text_records import (
    COMMENTS,
    NOWHERE,
    SEVERAL_LINES,
    TextRecords,
    file_state,
    is_strict,
    records_of,
    text_lines,
)

needs_kernel = pytest.mark.skipif(open_reader() is None, reason="the reader is not built")
WAYS = [pytest.param("kernel", marks=needs_kernel), "csv"]

Cells = list[str | None]


def expected(data: bytes, form: TextForm, encoding: str, width: int) -> list[Cells]:
    """Return the records as the rules say, by csv and nothing of the library."""
    return [
        [readable(record[i]) if i < len(record) else "" for i in range(width)]
        for record in decoded(data, form, encoding)
        if record
    ]


def expected_spans(data: bytes, form: TextForm, encoding: str) -> list[str]:
    """Return for each record whether a cell of it holds the end of a line."""
    records = filter(None, decoded(data, form, encoding))
    return ["1" if any({*cell} & {*"\r\n"} for cell in record) else "" for record in records]


def expected_with_comments(
    data: bytes, form: TextForm, encoding: str, place: int, skip: int
) -> list[Cells]:
    """Return a cell of each record below the header and "", and "" and "1" for each comment there."""
    found = decoded(data, form, encoding)
    for _ in range(skip):
        while found and not found.pop(0):
            pass
    return [[readable(one[place]) if place < len(one) else "", "" if one else "1"] for one in found]


def decoded(data: bytes, form: TextForm, encoding: str) -> list[list[str]]:
    """Return all cells of the records; a comment is [], and has no line that csv sees."""
    text = codecs.decode(data, encoding, "replace")
    words: dict[str, Any] = {"quotechar": form.quote} if form.quote else {"quoting": csv.QUOTE_NONE}
    words |= {"delimiter": form.delimiter or ",", "skipinitialspace": form.skip_initial_space}
    words |= {"escapechar": form.escape, "doublequote": not form.escape}
    lines, at = list(io.StringIO(text, newline=""))[form.skip :], 0
    records: list[list[str]] = []
    if not form.multiline:
        lines = [line.rstrip("\r\n") for line in lines]
    while at < len(lines):
        if form.comment and lines[at].startswith(form.comment):
            records.append([])
            at += 1
            continue
        reader = csv.reader(lines[at:] if form.multiline else lines[at : at + 1], **words)
        records += filter(None, [next(reader, [])])
        at += max(1, reader.line_num)
    return records


def readable(cell: str) -> str | None:
    return None if "\ufffd" in cell or len(cell.encode()) > 1 << 24 else cell


def read(
    records: TextRecords, way: str, *, block: int = 1 << 20, batch: int = 1 << 16
) -> list[Cells]:
    """Return what a stream hands over."""
    kernel = reader_library.open_reader() if way == "kernel" else None
    with (
        patch.object(reader_library, "open_reader", lambda: kernel),
        patch.object(byte_blocks, "BLOCK_BYTES", block),
        patch.object(text_records, "_IN_A_BATCH", batch),
        patch.object(text_records, "_BETWEEN_LOOKS", 1 + batch // 2),
    ):
        table = pa.RecordBatchReader.from_stream(records).read_all()
    table.validate(full=True)
    return [list(cells) for cells in zip(*(column.to_pylist() for column in table), strict=True)]


HOSTILE = [
    b",", b";", b"\t", b'"', b"'", b"\n", b"\r", b"\r\n", b"", b"a", b"b", b" ", b"\0", b"#", b"\\", b'""',
    b"\xff", b"\xc3", b"\xa9", "é".encode(), b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82",
    "\ufffd".encode(), "\u2028".encode(), "\U0001f600".encode(), b"\xef\xbb\xbf", b"\xf0\x9f", b"\x80", b"\x81",
    b"\x85", b"\x1c", b"\x0b", b"\x0c",
]  # fmt: skip
ENCODINGS = (
    "utf-8", "utf-8", "cp1252", "iso8859-1", "mac-roman", "ascii", "utf-16-le", "utf-16-be", "utf-32-le",
    "shift_jis", "gb18030", "big5", "cp037", "euc_kr",
)  # fmt: skip


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, TextForm, str]:
    encoding = draw(st.sampled_from(ENCODINGS))
    data = b"".join(draw(st.lists(st.sampled_from(HOSTILE), max_size=40)))
    if encoding.startswith(("utf-16", "utf-32", "cp037")) and draw(st.booleans()):
        data = data.decode("utf-8", "replace").encode(encoding, "replace")
    return data, any_form(lambda choices: draw(st.sampled_from(choices))), encoding


def any_form(choose: Callable[[list[Any]], Any]) -> TextForm:
    """Return a form, of which no two signs are one."""
    delimiter = choose([",", ";", "\t", " "])
    return TextForm(
        delimiter=delimiter,
        quote=choose(['"', '"', "'", ""]),
        multiline=choose([True, False]),
        escape=choose([None, None, "\\", "b"]),
        skip=choose([0, 0, 0, 1, 3]),
        comment=choose([None, None, "#", "a"]),
        skip_initial_space=delimiter != " " and choose([False, False, True]),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("records")


@pytest.mark.parametrize("way", WAYS)
@given(files(), st.integers(3, 64), st.integers(1, 4), st.integers(0, 2))
def test_records_are_those_of_csv(
    folder: Path, way: str, file: tuple[bytes, TextForm, str], block: int, batch: int, skip: int
) -> None:
    data, form, encoding = file
    path = folder / f"{way}.csv"
    path.write_bytes(data)
    want = expected(data, form, encoding, 4)[skip:]
    records = TextRecords(path, form, encoding, 0, (0, 1, 2, 3), skip)
    assert read(records, way, block=block, batch=batch) == want
    # The number of records and each cell do not depend on what else is asked for.
    for places in ((2,), (NOWHERE,), (1, 3, NOWHERE)):
        some = read(
            TextRecords(path, form, encoding, 0, places, skip), way, block=block, batch=batch
        )
        assert some == [["" if at == NOWHERE else row[at] for at in places] for row in want]
    spans = expected_spans(data, form, encoding)[skip:]
    assert any(spans) <= form.may_span
    for wanted in ((), (1, 3)):
        places = (*wanted, SEVERAL_LINES)
        some = read(
            TextRecords(path, form, encoding, 0, places, skip), way, block=block, batch=batch
        )
        rows = zip(want, spans, strict=True)
        assert some == [[*(row[at] for at in wanted), one] for row, one in rows]
    # With the comments among them the others are the same.
    marked = read(
        TextRecords(path, form, encoding, 0, (1, COMMENTS), skip), way, block=block, batch=batch
    )
    assert marked == expected_with_comments(data, form, encoding, 1, skip)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "words", [{}, {"escape": "\\", "comment": "#", "skip_initial_space": True}]
)
@given(
    st.lists(st.lists(st.sampled_from(HOSTILE), max_size=6), max_size=6),
    st.integers(0, 5),
    st.integers(3, 64),
)
def test_a_line_more_is_a_record_more_where_a_line_is_a_record(
    folder: Path, way: str, words: Any, parts: list[list[bytes]], which: int, block: int
) -> None:
    """Whatever its bytes are: docs/how-to/files.md#the-form-of-a-file."""
    lines = [b"".join(part).replace(b"\r", b"").replace(b"\n", b"") for part in parts] or [b""]
    which %= len(lines)
    form = TextForm(",", multiline=False, **words)

    def multiset(some: list[bytes]) -> Counter[tuple[str | None, ...]]:
        path = folder / f"lines_{way}.csv"
        path.write_bytes(b"".join(line + b"\n" for line in some))
        return Counter(
            map(tuple, read(TextRecords(path, form, "utf-8", 0, (0, 1, 2), 0), way, block=block))
        )

    more, fewer = multiset(lines), multiset(lines[:which] + lines[which + 1 :])
    assert not fewer - more
    is_comment = lines[which].startswith(b"#") and "comment" in words
    assert (more - fewer).total() == (1 if lines[which] and not is_comment else 0)


KINDS: dict[str, bytes] = {
    "bad_first": b"\xff,b,c\n", "bad_middle": b"a,\xff,c\n", "bad_last": b"a,b,\xff\n",
    "truncated": b"a,\xe2\x82,c\n", "truncated_at_end": b"a,b,\xe2\x82", "overlong": b"\xc0\xaf,b,c\n",
    "surrogate": b"\xed\xa0\x80,b,c\n", "beyond": b"\xf4\x90\x80\x80,b,c\n", "bad_in_quotes": b'"\xff",b,c\n',
    "seam": b'"\xc3"\xa9,b,c\n', "seam_doubled": b'"\xc3""\xa9",b,c\n', "cr": b"a,b,c\rd,e,f\r",
    "crlf": b"a,b,c\r\nd,e,f\r\n", "mixed": b"a,b\r\nc,d\re,f\n", "cr_in_cell": b"Mei\rer,b\nx,y\n",
    "lf_in_quotes": b'"a\nb",c\n', "crlf_in_quotes": b'"a\r\nb",c\n', "cr_in_quotes": b'"a\rb",c\n',
    "doubled": b'"a""b",c\n', "behind_quote": b'"Mul"ler,c\n', "space_quote": b' "a,b",c\n',
    "quote_inside": b'x"y,c\n', "backslash": b'"Mu\\"ller",Bern\nAnna,Bern\n', "open": b'a,b\n"c,d\ne,f\n',
    "open_at_end": b'a,"', "short": b"a\nb,c\n", "long": b"a,b,c,d,e\n", "empty_lines": b"\n\na,b\n\r\n\rc,d\n\n",
    "empty_quotes": b'""\n"",""\n', "no_end": b"a,b", "delimiter_at_end": b"a,b,\n,", "blank": b" \n\t\n",
    "nul": b"a\0b,c\n", "separator": "a\u2028b,c\x85\n".encode(), "form_feed": b"a\x0cb,\x1c,\x0b\n",
    "mark_inside": b"a,\xef\xbb\xbfb\n", "replaced": "a,\ufffd,c\n".encode(), "nothing": b"",
    "quotes_only": b'"""\n""""\n', "comment": b"#a,b\n",
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("multiline", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_malformed_records(tmp_path: Path, way: str, kind: str, multiline: bool) -> None:
    form = TextForm(delimiter=",", multiline=multiline)
    data = b"first,second\n" + KINDS[kind] + b"x,y,z\n"
    (tmp_path / "t.csv").write_bytes(data)
    records = TextRecords(tmp_path / "t.csv", form, "utf-8", 0, (0, 1, 2), 1)
    for block in (1, 2, 3, 5, 1 << 20):
        assert read(records, way, block=block) == expected(data, form, "utf-8", 3)[1:]
        spans = TextRecords(tmp_path / "t.csv", form, "utf-8", 0, (SEVERAL_LINES,), 1)
        assert [one for [one] in read(spans, way, block=block)] == expected_spans(
            data, form, "utf-8"
        )[1:]


@pytest.mark.parametrize("way", WAYS)
def test_cells_of_more_than_16_mib_are_unreadable(tmp_path: Path, way: str) -> None:
    most = 1 << 24
    lines = [
        b"a" * most + b",b",
        b"a" * (most + 1) + b",b",
        b"c,d",
        b'"' + b"e\n" * (most // 2 + 1) + b'",f',
    ]
    (tmp_path / "t.csv").write_bytes(b"\n".join(lines))
    records = TextRecords(tmp_path / "t.csv", TextForm(delimiter=","), "utf-8", 0, (0, 1), 0)
    cells = read(records, way)
    assert [(len(one or ""), other) for one, other in cells] == [
        (most, "b"),
        (0, "b"),
        (1, "d"),
        (0, "f"),
    ]
    assert [one is None for one, _ in cells] == [False, True, False, True]


@pytest.mark.parametrize("way", WAYS)
def test_cells_grow_when_they_are_decoded(tmp_path: Path, way: str) -> None:
    """The length that counts is that of the text: é is two bytes in UTF-8, and one here."""
    (tmp_path / "t.csv").write_bytes(b"\xe9" * (1 << 23) + b"\n" + b"\xe9" * (1 + (1 << 23)))
    records = TextRecords(tmp_path / "t.csv", TextForm(delimiter=","), "cp1252", 0, (0,), 0)
    assert [cell is None for [cell] in read(records, way)] == [False, True]


def readable_encodings() -> Iterator[str]:
    for name in sorted({*aliases.aliases.values()}):
        try:
            yield encoding_name(name)
        except InvalidArgument:
            continue


@pytest.mark.parametrize(
    "encoding", sorted({*readable_encodings()} - {"utf-16", "utf-32", "utf-8-sig"})
)
@given(st.binary(max_size=60), st.integers(1, 9))
def test_encodings_never_raise_and_do_not_depend_on_blocks(
    folder: Path, encoding: str, data: bytes, block: int
) -> None:
    path, form = folder / "encodings.csv", TextForm(delimiter=",")
    path.write_bytes(data)
    want = expected(data, form, encoding, 2)
    records = TextRecords(path, form, encoding, 0, (0, 1), 0)
    for way in ("csv", "kernel")[: 1 + (open_reader() is not None)]:
        assert read(records, way, block=block) == want


def test_tables_are_of_single_bytes() -> None:
    """Every pair of bytes is decoded byte by byte, and no byte above 127 is a sign of ASCII."""
    pairs = [bytes([one, other]) for one in range(0, 256, 3) for other in range(128, 256, 5)]
    tables = {name: byte_table(name) for name in readable_encodings()}
    assert sum(table is not None for table in tables.values()) > 45
    for name, table in tables.items():
        if table is None:
            continue
        texts = [
            table[4 * i + 1 : 4 * i + 1 + table[4 * i]].decode() or "\ufffd" for i in range(256)
        ]
        assert texts[:128] == [chr(i) for i in range(128)]
        assert not any(text.isascii() for text in texts[128:])
        for pair in pairs:
            assert pair.decode(name, "replace") == texts[pair[0]] + texts[pair[1]], name


@pytest.mark.parametrize("way", WAYS)
def test_streams_leave_nothing_behind(tmp_path: Path, way: str) -> None:
    from discreet.tables.formats import arrow_streams

    (tmp_path / "t.csv").write_text("a,b\n" * 1000)
    records = TextRecords(tmp_path / "t.csv", TextForm(delimiter=","), "utf-8", 0, (0, 1), 0)
    kernel = reader_library.open_reader() if way == "kernel" else None
    with patch.object(reader_library, "open_reader", lambda: kernel):
        connection = duckdb.connect()
        connection.register("r", records)
        assert connection.sql("SELECT count(*), min(c1) FROM r").fetchall() == [(1000, "b")]
        assert connection.sql("SELECT c0 FROM r LIMIT 1").fetchall() == [("a",)]
        records.__arrow_c_stream__()
        connection.close()
    assert not arrow_streams._streams
    assert not arrow_streams._structures
    assert not arrow_streams._exported


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_fails_midway_ends_the_query(tmp_path: Path, way: str) -> None:
    packed = gzip.compress(b"canary,b\n" * 100_000)
    (tmp_path / "t.csv.gz").write_bytes(packed[: len(packed) // 2])
    records = TextRecords(tmp_path / "t.csv.gz", TextForm(delimiter=","), "utf-8", 0, (0,), 0)
    kernel = reader_library.open_reader() if way == "kernel" else None
    with patch.object(reader_library, "open_reader", lambda: kernel):
        connection = duckdb.connect()
        connection.register("r", records)
        with pytest.raises(duckdb.Error) as caught:
            connection.sql("SELECT count(*) FROM r").fetchall()
    assert "canary" not in str(caught.value)


def test_the_longest_cell_of_csv_is_the_programs_own() -> None:
    before = csv.field_size_limit()
    assert list(text_records.records_of(["a" * 2 * before], TextForm(delimiter=","))) == [
        ["a" * 2 * before]
    ]
    assert csv.field_size_limit() == before
    with pytest.raises(csv.Error):
        list(csv.reader(["a" * 2 * before]))


@pytest.mark.proof
@needs_kernel
@pytest.mark.parametrize("start", range(10))
def test_records_are_those_of_csv_in_many_files(folder: Path, start: int) -> None:
    """2,000 files each, twice as long as those above."""
    random, path = Random(start), folder / "many.csv"
    for _ in range(2_000):
        data = b"".join(random.choices(HOSTILE, k=random.randrange(80)))
        encoding = random.choice(ENCODINGS)
        form = any_form(random.choice)
        path.write_bytes(data)
        records = TextRecords(path, form, encoding, 0, (0, 1, 2, 3, SEVERAL_LINES), 0)
        block, batch = random.randrange(3, 65), random.randrange(1, 5)
        cells, spans = expected(data, form, encoding, 4), expected_spans(data, form, encoding)
        assert read(records, "kernel", block=block, batch=batch) == [
            [*row, one] for row, one in zip(cells, spans, strict=True)
        ]


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


def test_a_file_that_is_cut_while_it_is_read_is_refused(tmp_path: Path) -> None:
    """The records that are left would be counted as all of them. Those that are added count with the next pass."""
    file = tmp_path / "t.csv"
    file.write_bytes(b"a\n" + b"1\n" * 100)
    form, state = TextForm(delimiter=","), file_state(file)
    records = TextRecords(file, form, "utf-8", 0, (0,), 1, state=state)
    with text_records._opened(records), file.open("ab") as end:
        end.write(b"1\n")
    records = replace(records, state=file_state(file))
    with pytest.raises(DamagedFile), text_records._opened(records):
        os.truncate(file, 20)


@needs_kernel
def test_a_question_about_a_file_that_is_cut_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, blocks_of = tmp_path / "t.csv", byte_blocks.blocks_of
    file.write_bytes(b"a\n" + b"1\n" * byte_blocks.BLOCK_BYTES)

    def cut(stream: Any) -> Iterator[bytes]:
        for block in blocks_of(stream):
            yield block
            os.truncate(file, 20)

    monkeypatch.setattr(byte_blocks, "blocks_of", cut)
    with pytest.raises(UnreadableFile, match="another program changed it while it was read"):
        discreet.count(file, epsilon=1)
