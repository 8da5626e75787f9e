"""Arrow's C stream interface, by ctypes: no further package is needed, and no row becomes an object of Python.

A column of a relation of DuckDB is read in batches of rows at addresses, which are not copied. Columns of text are
handed over. Nothing is raised through C: a stream that fails ends without a text, and the engine raises.
An interrupt within one of these calls may keep its batch in memory until the process ends.
"""

import ctypes
import errno
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation


Pointer = ctypes.c_void_p

ARROW_FORMATS = {"DOUBLE": "g", "FLOAT": "f", "BIGINT": "l", "INTEGER": "i"}
"""Arrow's names of the types that are counted, by DuckDB's."""


class ArrowSchema(ctypes.Structure):
    """The type of a column of Arrow: its names are those of the C interface."""

    _fields_ = [
        ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(Pointer)),
        ("dictionary", Pointer), ("release", Pointer), ("private_data", Pointer),
    ]  # fmt: skip


class ArrowArray(ctypes.Structure):
    """The cells of a column of Arrow."""

    _fields_ = [
        ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(Pointer)),
        ("children", ctypes.POINTER(Pointer)), ("dictionary", Pointer), ("release", Pointer),
        ("private_data", Pointer),
    ]  # fmt: skip


_Call = ctypes.CFUNCTYPE(ctypes.c_int, Pointer, Pointer)
_Release = ctypes.CFUNCTYPE(None, Pointer)
_LastError = ctypes.CFUNCTYPE(Pointer, Pointer)
_CAPSULE = b"arrow_array_stream"

_pointer_in = ctypes.PYFUNCTYPE(Pointer, Pointer, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, Pointer, ctypes.c_char_p, Pointer)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class ArrowStream(ctypes.Structure):
    """Batches of Arrow, one after the other."""

    _fields_ = [
        ("get_schema", _Call), ("get_next", _Call), ("get_last_error", Pointer), ("release", Pointer),
        ("private_data", Pointer),
    ]  # fmt: skip


class RowBatch(NamedTuple):
    """Some rows of a column, until the next batch is asked for.

    Attributes:
        rows: the address of the first number of the buffer.
        valid: the address of the bitmap of rows that are not null, or None.
        offset: the number of the first row in both.
        length: how many rows there are.
        nulls: how many of them are null, below zero if that was not counted.
    """

    rows: int
    valid: int | None
    offset: int
    length: int
    nulls: int


def batches(relation: "DuckDBPyRelation", name: str) -> Iterator[RowBatch]:
    """Yield the rows of the only column of a relation, of a type in Arrow's format of this name."""
    capsule = relation.__arrow_c_stream__()
    address = _pointer_in(id(capsule), _CAPSULE)
    stream = ArrowStream.from_address(address)
    if _format(stream, address) != name:
        raise TypeError("the column came in another type than it was said to have")
    while True:
        array = ArrowArray()
        if stream.get_next(address, ctypes.addressof(array)):
            raise RuntimeError("the engine failed")
        if not array.release:
            return
        try:
            column = ArrowArray.from_address(array.children[0])
            yield RowBatch(
                column.buffers[1] or 0,
                column.buffers[0],
                column.offset + array.offset,
                array.length,
                column.null_count,
            )
        finally:
            _Release(array.release)(ctypes.addressof(array))


def _format(stream: ArrowStream, address: int) -> str:
    """Return Arrow's format of the only column; an empty text if it is kept as a dictionary."""
    schema = ArrowSchema()
    if stream.get_schema(address, ctypes.addressof(schema)):
        raise RuntimeError("the engine failed")
    try:
        column = ArrowSchema.from_address(schema.children[0])
        return "" if column.dictionary else (column.format or b"").decode("ascii")
    finally:
        _Release(schema.release)(ctypes.addressof(schema))


class Batches(Protocol):
    """Batches of records, one after the other."""

    def next_into(self, address: int) -> bool:
        """Put the next batch into an empty array of Arrow at an address; return whether there was one."""

    def close(self) -> None:
        """Close the batches and the connection."""


class _Open:
    """A stream with a reader; no data are opened before the first batch."""

    def __init__(self, columns: int, begin: Callable[[], Batches]) -> None:
        self.columns, self._begin = columns, begin
        self._batches: Batches | None = None

    def next_into(self, address: int) -> bool:
        if self._batches is None:
            self._batches = self._begin()
        return self._batches.next_into(address)

    def close(self) -> None:
        if self._batches is not None:
            self._batches.close()


_stream_numbers = itertools.count(1)
_streams: dict[int, _Open] = {}
"""The streams that are open, by the number in their private data."""
_exported: dict[int, Any] = {}
"""What lies behind arrays that were handed over, by the number in their private data."""
_structures: dict[int, ArrowStream] = {}
"""The structures in capsules, by their addresses."""


def stream_capsule(columns: int, begin: Callable[[], Batches]) -> object:
    """Return the capsule of a stream of columns of text, called c0, c1, ..., as `__arrow_c_stream__` does.

    Args:
        columns: how many there are.
        begin: opens the batches, when the first is asked for.
    """
    number = next(_stream_numbers)
    _streams[number] = _Open(columns, begin)
    structure = ArrowStream(
        _GET_SCHEMA, _GET_NEXT, _address(_LAST_ERROR), _address(_RELEASE_STREAM), number
    )
    address = ctypes.addressof(structure)
    _structures[address] = structure
    return _new_capsule(address, _CAPSULE, _address(_DESTROY))


def put_batch(columns: Sequence[tuple[Any, Any, int, Any]], records: int, address: int) -> None:
    """Put a batch of columns of text into an array of Arrow.

    Args:
        columns: for each the text of its cells, their ends as 32-bit integers from 0, the number of nulls, and the
            bitmap of other cells.
        records: how many there are.
        address: where the array is.
    """
    children = list[ArrowArray]()
    for text, ends, nulls, valid in columns:
        addresses = valid.ctypes.data if nulls else None, ends.ctypes.data, text.ctypes.data
        buffers = (Pointer * 3)(*addresses)
        child = _keep(ArrowArray(), buffers, text, ends, valid)
        child.length, child.null_count, child.n_buffers, child.buffers = records, nulls, 3, buffers
        children.append(child)
    whole, none = ArrowArray.from_address(address), (Pointer * 1)()
    whole.length, whole.n_buffers, whole.buffers = records, 1, none
    _adopt(whole, children, none)


def _keep(structure: Any, *behind: object) -> Any:
    """Return an empty structure of Arrow, behind which things are kept until it is released."""
    structure.private_data = next(_stream_numbers)
    structure.release = _address(
        _RELEASE_ARRAY if type(structure) is ArrowArray else _RELEASE_SCHEMA
    )
    _exported[structure.private_data] = behind
    return structure


def _adopt(whole: Any, children: Sequence[Any], *behind: object) -> None:
    """Put children into a structure of Arrow."""
    places = (Pointer * len(children))(*map(ctypes.addressof, children))
    _keep(whole, children, places, *behind)
    whole.n_children, whole.children = len(children), places


def _address(function: Any) -> int:
    return ctypes.cast(function, Pointer).value or 0


def _get_schema(stream: int, out: int) -> int:
    """Put the schema of a stream."""
    columns = _streams[ArrowStream.from_address(stream).private_data].columns
    ctypes.memset(out, 0, ctypes.sizeof(ArrowSchema))
    children = [_keep(ArrowSchema(format=b"u", name=b"c%d" % i, flags=2)) for i in range(columns)]
    whole = ArrowSchema.from_address(out)
    whole.format, whole.name = b"+s", b""
    _adopt(whole, children)
    return 0


def _get_next(stream: int, out: int) -> int:
    """Put the next batch, or an array that is released already where there is none."""
    try:
        ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))
        _streams[ArrowStream.from_address(stream).private_data].next_into(out)
    except BaseException:  # its text may quote data
        ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))
        return errno.EIO
    return 0


def _last_error(_: int) -> None:
    """Return no text."""


def _release_stream(stream: int) -> None:
    structure = ArrowStream.from_address(stream)
    _streams.pop(structure.private_data).close()
    structure.release = None


def _release_export(structure: Any) -> None:
    """Release a structure with those of its children that were not moved elsewhere."""
    for i in range(structure.n_children):
        child = type(structure).from_address(structure.children[i])
        if child.release:
            _release_export(child)
    _exported.pop(structure.private_data)
    structure.release = None


def _release_schema(schema: int) -> None:
    _release_export(ArrowSchema.from_address(schema))


def _release_array(array: int) -> None:
    _release_export(ArrowArray.from_address(array))


def _destroy(capsule: int) -> None:
    """Release a stream that was not taken out of its capsule."""
    address = _pointer_in(capsule, _CAPSULE)
    structure = _structures.pop(address)
    if structure.release:
        _release_stream(address)


_GET_SCHEMA, _GET_NEXT, _LAST_ERROR = _Call(_get_schema), _Call(_get_next), _LastError(_last_error)
_RELEASE_STREAM, _RELEASE_SCHEMA, _RELEASE_ARRAY, _DESTROY = map(
    _Release, (_release_stream, _release_schema, _release_array, _destroy)
)
"""What C calls: they last as long as the process."""
