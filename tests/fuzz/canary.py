"""The canary: what the private data are made of, and how it is looked for in all that an error holds."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import FrameType, FunctionType, MethodType
from typing import Any

TEXT, NUMBER = "Xylophagous", 918273645546
"""In every private argument. No error, warning or frame of the library may hold either."""

_DEEPEST, _MOST = 7, 4000


def in_text(text: str) -> bool:
    """Return whether a text tells the canary."""
    return TEXT in text or str(NUMBER) in text


def in_object(value: Any) -> bool:
    """Return whether the canary can be reached from an object, without calling anything of the object."""
    queue, seen = [(value, 0)], set[int]()
    while queue and len(seen) < _MOST:
        one, depth = queue.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if _is_canary(one):
            return True
        if depth < _DEEPEST:
            queue += [(part, depth + 1) for part in _parts(one)]
    return False


def _is_canary(one: Any) -> bool:
    if type(one) in (str, bytes):
        return TEXT in one if type(one) is str else TEXT.encode() in one
    if type(one) in (int, float):
        return abs(one) < 1e15 and str(NUMBER) in str(one)
    return False


def _parts(one: Any) -> Iterator[Any]:
    """Yield what an object holds."""
    kind = type(one)
    if kind.__module__.startswith("tests.fuzz"):
        return  # the caller's own
    if kind in (list, tuple, set, frozenset):
        yield from list(one)[:_MOST]
    elif kind is dict or (isinstance(one, Mapping) and kind.__module__ == "builtins"):
        yield from [*one.keys(), *one.values()][:_MOST]
    elif kind is FunctionType:
        yield from _cells(one)
        yield from [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
    elif kind is MethodType:
        yield from (one.__self__, one.__func__)
    elif kind is partial:
        yield from (one.func, *one.args, *one.keywords.values())
    elif kind is FrameType:
        yield dict(one.f_locals)
    else:
        yield from _attributes(one)
        yield from _listed(one)


def _cells(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it is empty
            continue


def _attributes(one: Any) -> Iterator[Any]:
    if isinstance(one, type) or type(one).__name__ == "module":
        return
    with suppress(AttributeError):
        yield from list(object.__getattribute__(one, "__dict__").values())
    for kind in type(one).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            try:
                yield object.__getattribute__(one, slot)
            except AttributeError:
                continue


def _listed(one: Any) -> Iterator[Any]:
    """Yield the cells of arrays, series and tables of the libraries that hold data."""
    package = type(one).__module__.partition(".")[0]
    name = type(one).__name__
    if package == "numpy" and name == "ndarray" and one.size <= _MOST:
        yield one.tolist()
    elif package == "pandas" and name in ("DataFrame", "Series"):
        yield one.to_dict()
    elif package == "polars" and name in ("DataFrame", "Series"):
        yield one.to_dicts() if name == "DataFrame" else one.to_list()
    elif package == "pyarrow" and name == "Table":
        yield one.to_pydict()
