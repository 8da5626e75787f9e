"""Errors for an engine that fails, a missing column and a missing package."""

import importlib
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from types import ModuleType
from typing import ParamSpec, TypeVar

from ..error_boundary import replacing
from ..errors import DiscreetError, MissingColumn, MissingPackage, preview

_P = ParamSpec("_P")
_T = TypeVar("_T")

ARGUMENTS = {"cell": "column", "part": "by"}
"""The argument that named a column, for what it is called once it is open; others are the unit's."""

_SHORT = (
    "the engine had not enough memory. Free some, or give it more: a relation of a DuckDB connection "
    "of yours has the memory_limit and the temp_directory that you set there"
)


def quietly(
    work: Callable[_P, _T], failure: DiscreetError, *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """Return the result of `work(*args, **kwargs)`; an error in it is replaced by `failure`.

    If memory was short, an error of the same class says so. Errors of this library and interrupts are not
    replaced: see `error_boundary.replacing`.
    """

    def replacement(error: BaseException) -> DiscreetError:
        return type(failure)(_SHORT) if _was_short(error) else failure

    return replacing(partial(work, *args, **kwargs), replacement, passing=(DiscreetError,))


def _was_short(error: BaseException) -> bool:
    """Return whether an engine failed because it had not enough memory."""
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException"


def missing_column(
    column: str, columns: Sequence[object], where: str, alias: str = "cell"
) -> MissingColumn:
    """Return the error for a column that is not among `columns`, with the argument that named it."""
    texts = [name for name in columns if isinstance(name, str)]
    close = get_close_matches(str(column), texts, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    other_names = f"; its columns are {', '.join(map(repr, columns))}" if columns else ""
    argument = "where" if alias.startswith("where") else ARGUMENTS.get(alias, "privacy_unit")
    return MissingColumn(
        "{argument}: there is no column {column} in {where}{hint}{other_names}",
        argument=argument,
        column=preview(column),
        where=where,
        hint=hint,
        other_names=other_names,
    )


def needing(module: str, extra: str) -> ModuleType:
    """Return a module of an optional package, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        pass
    package = module.partition(".")[0]
    raise MissingPackage(
        "this needs {package}, which is not installed: pip install 'discreet[{extra}]'",
        package=package,
        extra=extra,
    )
