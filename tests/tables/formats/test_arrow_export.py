"""Columns of text as an Arrow stream: what pyarrow reads is what was put, and nothing stays behind."""

import numpy as np
import pyarrow as pa
import pytest

from discreet.tables.formats import arrow_export
from discreet.tables.formats.arrow_export import put_batch, stream_capsule

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
        monkeypatch.setattr(arrow_export, name, {})


def is_empty() -> bool:
    return not (arrow_export._streams or arrow_export._exported or arrow_export._structures)


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
