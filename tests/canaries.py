"""Search what leads from an object, or from an exception, to what must not be there."""

import sys
import types
from collections.abc import Callable, Iterator, Mapping, Set
from functools import partial
from pathlib import Path
from typing import Any

import discreet

LIBRARY = str(Path(discreet.__file__).parent)

_DEEPEST = 12
_LEAVES = (str, bytes, int, float, complex, type(None), type, types.ModuleType, types.CodeType)
_EVERYWHERE = ("__globals__", "__builtins__")
_CODE = ("__self__", "__wrapped__", "__func__", "__defaults__", "__kwdefaults__", "__dict__")


def leads_to(start: Any, found: Callable[[Any], bool]) -> str | None:
    """Return by which way attributes, slots and items lead from an object to what is searched, or None.

    Closures and globals of functions are left out: Python hides them from nobody, and we say so. For globals see
    `globals_lead_to`.
    """
    seen: dict[int, Any] = {}
    waiting = [(start, "it", 0)]
    while waiting:
        thing, way, depth = waiting.pop()
        if found(thing):
            return way
        if id(thing) in seen or depth > _DEEPEST or isinstance(thing, _LEAVES):
            continue
        seen[id(thing)] = thing  # kept, so that no other object takes the id
        waiting += [(each, f"{way}{step}", depth + 1) for step, each in _steps(thing)]
    return None


def globals_lead_to(found: Callable[[Any], bool]) -> str | None:
    """Return by which way a variable of a module of the library leads to what is searched, or None."""
    modules = [name for name in sys.modules if name.partition(".")[0] == "discreet"]
    ways = (leads_to(dict(vars(sys.modules[name])), found) for name in modules)
    return next((way for way in ways if way is not None), None)


def _steps(thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, Mapping):
        yield from ((f"[{key!r}]", thing[key]) for key in list(thing))
        yield from ((" key", key) for key in list(thing))
    elif isinstance(thing, list | tuple | Set):
        yield from ((f"[{i}]", each) for i, each in enumerate(list(thing)))
    if isinstance(thing, partial):
        yield from ((".args", thing.args), (".keywords", thing.keywords), (".func", thing.func))
    if isinstance(thing, types.GeneratorType) and thing.gi_frame is not None:
        yield ".gi_frame", thing.gi_frame.f_locals
    names = [
        n
        for n in dir(type(thing))
        if isinstance(_static(thing, n), types.MemberDescriptorType)
        if n not in _EVERYWHERE
    ]
    for name in (*_CODE, *names):
        try:
            yield f".{name}", object.__getattribute__(thing, name)
        except Exception:  # not there, or not set
            continue


def _static(thing: Any, name: str) -> Any:
    for kind in type(thing).__mro__:
        if name in vars(kind):
            return vars(kind)[name]
    return None


def exception_leads_to(error: BaseException, found: Callable[[Any], bool]) -> str | None:
    """Return by which way an exception leads to what is searched: words, notes, origins, library frames."""
    for each in _origins(error):
        words = [str(each), repr(each), *getattr(each, "__notes__", ())]
        if way := leads_to([words, each.args, vars(each)], found):
            return f"{type(each).__name__}: {way}"
        trace = each.__traceback__
        while trace is not None:
            frame = trace.tb_frame
            name = f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}"
            inside = frame.f_code.co_filename.startswith(LIBRARY)
            if inside and (way := leads_to(dict(frame.f_locals), found)):
                return f"{name}: {way}"
            trace = trace.tb_next
    return None


def _origins(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all it came from."""
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += [e for e in (each.__cause__, each.__context__) if e is not None]
