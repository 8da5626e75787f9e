"""Arrow streams: what pyarrow reads of text is what was put, and DuckDB's batches hold the rows of a column."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet.tables.engines.index_counts import batch_numbers
from discreet.tables.formats import arrow_streams
from discreet.tables.formats.arrow_streams import ARROW_FORMATS, batches, put_batch, stream_capsule

CELLS: list[list[list[str | None]]] = [
    [["a", None, ""], ["é", "x", None]],
    [["b"], ["y"]],
]


class Put:
    """The batches of CELLS; then none, or an error."""

    def __init__(self, fails: bool) -> None:
        self._left, self._fails, self.is_closed = [*CELLS], fails, False

    def next_into(self, address: int) -> bool:
        if not self._left:
            if self._fails:
                raise ValueError("a private cell")
            return False
        columns = self._left.pop(0)
        put_batch([_column(cells) for cells in columns], len(columns[0]), address)
        return True

    def close(self) -> None:
        self.is_closed = True


class Stream:
    """What pyarrow takes a capsule from."""

    def __init__(self, batches: Put, columns: int) -> None:
        self._batches, self._columns = batches, columns

    def __arrow_c_stream__(self, _: object = None) -> object:
        return stream_capsule(self._columns, lambda: self._batches)


def _column(cells: list[str | None]) -> tuple[object, object, int, object]:
    texts = [(cell or "").encode() for cell in cells]
    text = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    valid = np.packbits([cell is not None for cell in cells], bitorder="little")
    return text, ends, cells.count(None), valid


@pytest.fixture(autouse=True)
def nothing_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start with nothing open: an interrupt of an earlier test may have left a batch, as the module says."""
    for name in ("_streams", "_exported", "_structures"):
        monkeypatch.setattr(arrow_streams, name, {})


def is_empty() -> bool:
    return not (arrow_streams._streams or arrow_streams._exported or arrow_streams._structures)


def test_what_is_read_is_what_was_put() -> None:
    assert is_empty()
    batches = Put(fails=False)
    reader = pa.RecordBatchReader.from_stream(Stream(batches, 2))
    assert reader.schema == pa.schema([("c0", pa.string()), ("c1", pa.string())])
    table = reader.read_all()
    table.validate(full=True)
    for i in range(2):
        wanted = [cell for columns in CELLS for cell in columns[i]]
        assert table.column(i).to_pylist() == wanted
    del reader, table
    assert batches.is_closed
    assert is_empty()


def test_an_error_ends_the_stream_without_its_text() -> None:
    batches = Put(fails=True)
    reader = pa.RecordBatchReader.from_stream(Stream(batches, 2))
    with pytest.raises(OSError) as raised:  # noqa: PT011  # pyarrow's words are its own
        reader.read_all()
    assert "private" not in str(raised.value)
    del reader
    assert batches.is_closed
    assert is_empty()


@pytest.mark.parametrize("is_begun", [False, True])
def test_a_stream_that_is_left_is_closed(is_begun: bool) -> None:
    batches = Put(fails=False)
    reader = pa.RecordBatchReader.from_stream(Stream(batches, 2))
    if is_begun:
        kept = reader.read_next_batch().column(1)
        reader.close()
        assert batches.is_closed
        assert kept.to_pylist() == CELLS[0][1], "a column outlives its stream"
        del kept
    del reader
    assert is_empty()


def test_a_capsule_that_nothing_takes_is_destroyed() -> None:
    capsule = stream_capsule(1, lambda: Put(fails=False))
    assert not is_empty()
    del capsule
    assert is_empty()


def column(name: str, rows: list[float | None]) -> "duckdb.DuckDBPyRelation":
    """Return a column of a type in Arrow's format."""
    types = {"g": pa.float64(), "f": pa.float32(), "l": pa.int64(), "i": pa.int32()}
    return duckdb.from_arrow(pa.table({"x": pa.array(rows, types[name])}))


@pytest.mark.parametrize("name", ARROW_FORMATS.values())
def test_batches_have_all_rows_in_order(name: str) -> None:
    rows = [None if i % 7 == 2 else i % 100 for i in range(300_000)]
    lengths, there = [], []
    dtype = {"g": np.float64, "f": np.float32, "l": np.int64, "i": np.int32}[name]
    for batch in batches(column(name, list(rows)), name):
        lengths.append(batch.length)
        there += batch_numbers(batch, dtype).tolist()
    assert sum(lengths) == len(rows)
    assert len(lengths) > 1
    assert there == [n for n in rows if n is not None]


def test_numbers_of_batches_are_those_of_the_rows() -> None:
    """From any row on: a bitmap's first bit need not be that of the first row."""
    rows = [None if i % 3 == 0 else float(i) for i in range(5000)]
    whole = duckdb.from_arrow(pa.table({"x": pa.array(rows)}).slice(13, 4001))
    seen = [n for one in batches(whole, "g") for n in batch_numbers(one, np.float64).tolist()]
    assert seen == [n for n in rows[13:4014] if n is not None]


def test_another_type_than_was_said_is_no_column() -> None:
    with pytest.raises(TypeError):
        list(batches(column("l", [1]), "g"))
