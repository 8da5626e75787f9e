"""What can be reached from the frames that an error went through."""

import gc
from collections.abc import Iterable
from traceback import walk_tb
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

_CLOSED = (str, bytes, type, ModuleType)
_FOREIGN = ("sqlalchemy", "_pytest", "pytest", "weakref")
"""Whose objects are not looked into: they lead everywhere, and hold no answers but in rows of the ledger."""


def numbers_in(error: BaseException, *, below: FrameType) -> set[int]:
    """Return all integers that are held by an error, its causes and contexts, and the frames of each.

    The frames of whoever asks, from `below` up, are left out.
    """
    seen: dict[int, Any] = {}
    frame: FrameType | None = below
    while frame is not None:
        seen[id(frame)] = frame
        frame = frame.f_back
    found: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        one = waiting.pop()
        if id(one) not in seen and not isinstance(one, _CLOSED):
            seen[id(one)] = one  # kept, so that no other object gets its id
            waiting.extend(_parts(one))
            found.update([one] if isinstance(one, int) else [])
    return found


def _parts(one: Any) -> Iterable[Any]:
    """Return what a tool could show of a value that it found in a frame."""
    if isinstance(one, BaseException):
        return [one.args, one.__cause__, one.__context__, one.__traceback__, *gc.get_referents(one)]
    if isinstance(one, TracebackType):
        return [frame for frame, _ in walk_tb(one)]
    if isinstance(one, FrameType):
        return list(one.f_locals.values())
    if isinstance(one, FunctionType):
        return [one.__closure__, one.__defaults__]
    if type(one).__module__.startswith(_FOREIGN):
        return []
    return gc.get_referents(one)
