"""The records of a file of text as an Arrow stream: the wanted cells alone, as text.

By `reader.c`, or by `csv` where that is not in use: the same records. What Python's `csv` makes of the decoded text
is their definition. An empty line is no record, nor is a comment: a line that begins with its sign where a record
would begin. A cell that cannot be read is null, and no other one is: it has bytes that are no text, or U+FFFD in
their place, or is longer than `LONGEST_CELL`.

Side channels: time depends on the bytes, as for any read. Memory depends on the longest cell up to that length, and
in `csv` on the longest record.
"""

import codecs
import io
import os
import re
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from ctypes import c_char_p, c_void_p, cast
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import find_spec, module_from_spec
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..engines.progress import FileReading
from . import byte_blocks, reader_library
from .archives import DamagedFile
from .arrow_streams import put_batch, stream_capsule
from .first_bytes import byte_table
from .json_arrays import array_lines
from .text_form import CellReading, TextForm

LONGEST_CELL = 1 << 24
"""In bytes of UTF-8."""

NOWHERE = 2**64 - 1
"""The place of a cell that every record lacks, and that is empty so."""

SEVERAL_LINES = 2**64 - 2
"""The place of what no cell says: "1" if any cell of the record holds the end of a line, else empty."""

COMMENTS = 2**64 - 3
"""The place of what no cell says: "1" if the record is a comment, else empty.

Where it is asked for, each comment below the header is a record without cells.
"""

_LACKING = "\ufffd"
_LINE_END = re.compile(rb"\r\n?|\n")
_IN_A_BATCH = 1 << 14
_DECODED_BYTES = 1 << 18
"""Bytes that a codec decodes at once: with its text and what that becomes they stay in a processor's cache."""
_BETWEEN_LOOKS = 64
"""How many records of `csv` are read before their wanted cells are taken: they stay in a processor's cache.

So many cells of the greatest length, and those of one look before, keep the ends of a batch below 2**31.
"""


FileState = tuple[int, int, int, int]
"""The device, the number, the size and the last change of a file."""


def file_state(file: Path) -> FileState | None:
    """Return the state of a file: a program that writes it, or puts another in its place, changes it."""
    try:
        status = os.stat(file)
    except OSError:  # it is named when it is opened
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@dataclass(frozen=True, slots=True)
class TextRecords:
    """The records of a file; every stream reads it from its beginning.

    Attributes:
        file: the file.
        form: its form, in which all is told but the names; without a delimiter a record is one cell.
        encoding: its character code.
        mark: how many bytes its mark has.
        places: those of the wanted cells, ascending.
        skip: how many records the header is, below the lines that the form skips.
        is_array: whether the file is an array of JSON, whose elements are the records.
        readings: what is read in the cells of each place; None for their texts. Left out, for texts alone. A cell
            that spells nothing is `NO_TEXT`, and an empty one stays empty.
        state: the state that the file must have when a pass begins: passes over two states would be about neither.
            None for any.
        shown: what a bar asks meanwhile how far the file has been read, if there is one.
    """

    file: Path
    form: TextForm
    encoding: str
    mark: int
    places: tuple[int, ...]
    skip: int
    is_array: bool = False
    readings: tuple[CellReading | None, ...] = ()
    state: FileState | None = field(default=None, repr=False)
    shown: FileReading | None = field(default=None, repr=False, compare=False)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a stream of the wanted cells, called c0, c1, ... in the order of their places."""
        begin = _ByCsv if reader_library.open_reader() is None else _ByKernel
        return stream_capsule(len(self.places), lambda: begin(self))


class _ByKernel:
    """Batches of the kernel."""

    def __init__(self, records: TextRecords) -> None:
        functions = reader_library.open_reader()
        assert functions is not None, "it was there before"
        self._functions, form = functions, records.form
        table = byte_table(records.encoding)
        characters = form.delimiter, form.quote, form.escape, form.comment
        signs = [ord(sign) if sign else -1 for sign in characters]
        words = array("i", [*signs, form.multiline, form.skip_initial_space]).tobytes()
        places = (array("Q", records.places)).tobytes()
        self._reader = functions["open"](
            words, table, places, len(records.places), records.skip, _IN_A_BATCH
        )
        if not self._reader:
            raise MemoryError
        is_raw = table is not None or records.encoding == "utf-8"
        self._blocks = _without_lines(_blocks(records, is_raw=is_raw), form.skip)
        for column, reading in enumerate(records.readings):
            program = b"" if reading is None else reading.program
            _need(not program or functions["form"](self._reader, column, program, len(program)))
        self._block, self._at = b"", 0

    def next_into(self, address: int) -> bool:
        """Put the next batch at an address."""
        is_last = False
        while not (self._functions["records"](self._reader) or is_last):
            is_last = not self._read_some()
        if not self._functions["records"](self._reader):
            return False
        _need(self._functions["take"](self._reader, address))
        return True

    def _read_some(self) -> bool:
        """Read from the block or from the next one; return whether there was one."""
        if self._at == len(self._block):
            self._block, self._at = next(self._blocks, b""), 0
        if not self._block:
            _need(self._functions["end"](self._reader))
            return False
        begin = (cast(c_char_p(self._block), c_void_p).value or 0) + self._at
        size = self._functions["read"](self._reader, begin, len(self._block) - self._at)
        _need(size >= 0)
        self._at += size
        return True

    def close(self) -> None:
        """Close the file and the reader."""
        self._blocks.close()
        self._functions["close"](self._reader)


def _need(memory: object) -> None:
    if not memory:
        raise MemoryError


@contextmanager
def _opened(records: TextRecords) -> Iterator[BinaryIO]:
    """Yield the bytes behind the mark; of an array of JSON those of lines."""
    with byte_blocks.open_bytes(records.file, records.form, records.shown) as stream:
        if records.state not in (None, file_state(records.file)):
            raise DamagedFile
        stream.read(records.mark)
        if records.is_array:
            blocks = iter(partial(stream.read, byte_blocks.BLOCK_BYTES), b"")
            yield byte_blocks.stream_of(array_lines(blocks))
        else:
            yield stream
        if records.state is not None and _is_shorter(records.file, records.state):
            raise DamagedFile


def _is_shorter(file: Path, before: FileState) -> bool:
    """Return whether a file lost bytes since then, and perhaps records before they were read."""
    after = file_state(file)
    return after is not None and after[:2] == before[:2] and after[2] < before[2]


def _blocks(records: TextRecords, *, is_raw: bool) -> Any:
    """Yield the bytes of a file behind its mark, as they are, or else in UTF-8."""
    with _opened(records) as stream:
        if is_raw:
            yield from byte_blocks.blocks_of(stream)
            return
        decoder = codecs.getincrementaldecoder(records.encoding)("replace")
        while block := stream.read(min(byte_blocks.BLOCK_BYTES, _DECODED_BYTES)):
            if text := decoder.decode(block):
                yield text.encode()
        if text := decoder.decode(b"", True):
            yield text.encode()


def _without_lines(blocks: Any, lines: int) -> Any:
    """Yield blocks of ASCII, or of a code that extends it, without their first lines: LF, CR or both end one."""
    with closing(blocks):
        is_cut = False  # between a return and its feed
        for block in blocks:
            at = int(is_cut and lines > 0 and block[:1] == b"\n")
            while lines and (end := _LINE_END.search(block, at)):
                lines, at = lines - 1, end.end()
            is_cut = block[-1:] == b"\r"
            if not lines and at < len(block):
                yield block[at:]


class _ByCsv:
    """Batches of `csv`."""

    def __init__(self, records: TextRecords) -> None:
        self._places, self._opened = records.places, ExitStack()
        self._readings = records.readings or (None,) * len(records.places)
        self._stream = self._opened.enter_context(_opened(records))
        self._lines = text_lines(self._stream, records.encoding)  # without it the stream is closed
        lines = islice(self._lines, records.form.skip, None)
        self._records = _below_header(records_of(lines, records.form, comments=True), records)

    def next_into(self, address: int) -> bool:
        """Put the next batch at an address: of many records, or of long ones."""
        columns, size = [list[str]() for _ in self._places], 0
        begin, is_last = self._stream.tell(), False
        while not is_last and size < _IN_A_BATCH and self._stream.tell() - begin < LONGEST_CELL:
            records = [*islice(self._records, _BETWEEN_LOOKS)]
            for cells, place in zip(columns, self._places, strict=True):
                cells += _cells_at(records, place)
            size += len(records)
            is_last = len(records) < _BETWEEN_LOOKS
        if size:
            put_batch([*map(_arrow_column, columns, self._readings)], size, address)
        return size > 0

    def close(self) -> None:
        """Close the file."""
        self._opened.close()


def _below_header(rows: Iterator[list[str]], records: TextRecords) -> Iterator[list[str]]:
    """Return the records below the header, the comments among them where they are asked for."""
    deque(islice(filter(None, rows), records.skip), maxlen=0)
    return rows if COMMENTS in records.places else filter(None, rows)


def _cells_at(records: Sequence[list[str]], place: int) -> list[str]:
    """Return the cells of records at a place; one that a record lacks is empty."""
    if place == COMMENTS:
        return ["" if record else "1" for record in records]
    if place == SEVERAL_LINES:
        return ["1" if _spans("".join(record)) else "" for record in records]
    try:
        return [*map(itemgetter(place), records)]
    except IndexError:
        return [record[place] if place < len(record) else "" for record in records]


def _spans(text: str) -> bool:
    return "\n" in text or "\r" in text


def _arrow_column(cells: list[str], reading: CellReading | None) -> tuple[Any, Any, int, Any]:
    """Return a column of an Arrow batch: its text, the ends of its cells, the number of nulls, the others."""
    words, valid, bad = [*map(str.encode, cells)], np.empty(0, np.uint8), 0
    if _LACKING in "".join(cells) or max(map(len, words)) > LONGEST_CELL:
        pairs = zip(cells, words, strict=True)
        is_bad = [_LACKING in cell or len(word) > LONGEST_CELL for cell, word in pairs]
        words = [b"" if one else word for word, one in zip(words, is_bad, strict=True)]
        bad, valid = sum(is_bad), np.packbits(~np.array(is_bad), bitorder="little")
    if reading is not None:
        words = [reading.plain(word.decode()).encode() for word in words]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    ends = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    return np.frombuffer(b"".join(words) or b"\0", np.uint8), ends, bad, valid


_LONGEST_FIELD = 2**31 - 1
"""Characters of a cell, for `csv`: what it refuses would depend on the rows."""


@cache
def _csv() -> Any:
    """Return `_csv` as a module of our own, with a longest cell that the program cannot change."""
    spec = find_spec("_csv")
    assert spec is not None, "Python comes with it"
    assert spec.loader is not None, "and loads it"
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.field_size_limit(_LONGEST_FIELD)
    return module


def text_lines(stream: BinaryIO, encoding: str) -> Iterable[str]:
    """Return the lines of decoded bytes with their ends, which are LF, CR or both."""
    return io.TextIOWrapper(stream, encoding, errors="replace", newline="")


def records_of(
    lines: Iterable[str], form: TextForm, *, comments: bool = False
) -> Iterator[list[str]]:
    """Return the records of lines.

    Args:
        lines: lines with their ends.
        form: the form; without a delimiter a record is one cell.
        comments: whether a comment is a record, without cells.
    """
    if form.delimiter is None:
        return ([line] for line in _without_ends(lines))
    if not form.multiline and (form.quote or form.escape):
        records = _records_of_lines(_without_ends(lines), form)
    elif form.comment:
        records = _records_and_comments(lines, form)
    else:
        return filter(None, _reader(lines, form))
    return records if comments else filter(None, records)


def is_strict(lines: Iterable[str], form: TextForm) -> bool:
    """Return whether the quotes of the first record are closed, and only a delimiter is behind them."""
    try:
        next(filter(None, _records_and_comments(lines, form, strict=True)), None)
    except _csv().Error:
        return False
    return True


def _reader(lines: Iterable[str], form: TextForm, *, strict: bool = False) -> Iterator[list[str]]:
    own = _csv()
    quotes = {"quotechar": form.quote} if form.quote else {"quoting": own.QUOTE_NONE}
    records: Iterator[list[str]] = own.reader(
        lines,
        delimiter=form.delimiter,
        strict=strict,
        escapechar=form.escape,
        doublequote=form.escape is None,
        skipinitialspace=form.skip_initial_space,
        **quotes,
    )
    return records


def _without_ends(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that are not empty, without their ends."""
    return filter(None, (line.rstrip("\r\n") for line in lines))


def _records_of_lines(lines: Iterable[str], form: TextForm) -> Iterator[list[str]]:
    """Yield the records of lines without their ends, where a quote ends with its line; a comment is []."""
    signs = [sign for sign in (form.quote, form.escape) if sign]
    signs += [" "] if form.skip_initial_space else []
    for line in lines:
        if form.comment and line.startswith(form.comment):
            yield []
        elif any(sign in line for sign in signs):
            yield next(_reader([line], form))
        else:
            yield line.split(form.delimiter)


def _records_and_comments(
    lines: Iterable[str], form: TextForm, *, strict: bool = False
) -> Iterator[list[str]]:
    """Yield the records of lines; a comment is []."""
    rest = iter(lines)
    for line in rest:
        if form.comment and line.startswith(form.comment):
            yield []
        else:  # `csv` takes no more lines than the record has
            record = next(_reader(chain([line], rest), form, strict=strict), None)
            yield from filter(None, [record])
