"""A column of a relation of DuckDB as Arrow hands it over: batches of rows at addresses, which are not copied.

Arrow's C stream interface, read by ctypes: no further package is needed, and no row becomes an object of Python.
"""

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

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


_Next = ctypes.CFUNCTYPE(ctypes.c_int, Pointer, Pointer)
_Release = ctypes.CFUNCTYPE(None, Pointer)


class ArrowStream(ctypes.Structure):
    """Batches of Arrow, one after the other."""

    _fields_ = [
        ("get_schema", _Next), ("get_next", _Next), ("get_last_error", Pointer), ("release", Pointer),
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
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = Pointer, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(capsule, b"arrow_array_stream")
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
