"""Arrays of numbers, none of which is rounded: those of any library (NumPy, PyTorch, JAX, ...), and of Python's.

No library is imported for its arrays. Of Python's numbers those of one type go into one array: the exact type of a
number decides, never how large it is compared with the others, so an integer among floats does not pass through a
float. Subclasses may do anything, so they stay as they are.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidScores, preview


def as_array(values: Any) -> NDArray[Any]:
    """Return an array in the memory of this computer as NumPy's, not copied where that can be avoided.

    DLPack is tried first, then `__array__`. Neither has a type for bfloat16.

    Raises:
        InvalidScores: if it offers neither, or refuses: it is on a graphics card, or tracks gradients.
    """
    if isinstance(values, np.ndarray):
        return values
    ways: list[tuple[str, Callable[[Any], NDArray[Any]]]] = [
        ("__dlpack__", np.from_dlpack),
        ("__array__", np.asarray),
    ]
    for name, convert in ways:
        if hasattr(type(values), name):
            with suppress(Exception):  # of the object's own methods, which may quote it
                return convert(values)
    raise InvalidScores(
        f"an array that NumPy can read is needed, got {preview(values)}. For a tensor give "
        "tensor.detach().cpu(), and of bfloat16 tensor.float(), which is exact"
    )


FLOATS = frozenset({float, np.float64})
"""The types whose numbers are doubles."""

INTEGERS = frozenset({int, np.int64, np.int32, np.int16, np.int8})
"""The types whose numbers are integers, of Python or of at most 63 bits and a sign."""

_FLOAT, _INTEGER, _OTHER = range(3)

Alike = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]


def types_of(values: Sequence[object]) -> set[type]:
    """Return the exact types in a list, in one pass that calls none of their methods."""
    return set(map(type, values))


def in_one_array(values: Sequence[Any], types: set[type]) -> Alike | None:
    """Return floats alone as float64, integers alone as int64, or None for other types and longer integers."""
    if types <= FLOATS:
        return np.array(values, dtype=np.float64)
    return _words(values) if types <= INTEGERS else None


def _words(values: Sequence[Any]) -> NDArray[np.int64] | None:
    """Return integers as 64-bit ones, None if one is longer."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return None


def objects(values: Sequence[object]) -> NDArray[np.object_]:
    """Return a list as an array of its objects, whatever they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def by_type(values: NDArray[Any]) -> Iterator[tuple[NDArray[np.intp], Alike]]:
    """Return the floats, the integers of at most 64 bits, and all other numbers, with their places."""
    numbers = values.tolist()
    kinds = {one: _kind(one) for one in types_of(numbers)}
    # One byte a number, which `bytes` reads in one loop in C.
    codes = np.frombuffer(bytes(map(kinds.__getitem__, map(type, numbers))), dtype=np.uint8)
    for kind in sorted(set(kinds.values())):
        places = np.flatnonzero(codes == kind)
        part = values[places]
        if kind == _FLOAT:
            yield places, part.astype(np.float64)
        elif kind == _INTEGER:
            yield from _by_length(places, part)
        else:
            yield places, part


def _kind(one: type) -> int:
    return _FLOAT if one in FLOATS else _INTEGER if one in INTEGERS else _OTHER


def _by_length(
    places: NDArray[np.intp], part: NDArray[np.object_]
) -> Iterator[tuple[NDArray[np.intp], Alike]]:
    """Return the integers of at most 64 bits, and the longer ones."""
    short = np.asarray((part >= -(2**63)) & (part < 2**63), dtype=np.bool_)
    yield places[short], part[short].astype(np.int64)
    if not short.all():
        yield places[~short], part[~short]
