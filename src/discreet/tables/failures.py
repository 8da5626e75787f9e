"""Running foreign code so that none of its errors, which may quote the data, gets out."""

import importlib
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from ..errors import DiscreetError, MissingColumn, MissingPackage, shown

T = TypeVar("T")

ARGUMENTS = {"cell": "column", "person": "privacy_unit", "part": "by"}
"""The argument that named a column, for what the column is called once it has been opened."""

_SHORT = (
    "the engine had not enough memory. Free some, or give it more: a relation of a DuckDB connection "
    "of yours has the memory_limit and the temp_directory that you set there"
)


def quietly(work: Callable[[], T], failure: DiscreetError) -> T:
    """Return what `work` returns; whatever goes wrong in it is replaced by `failure`.

    If memory was short, an error of the same class says so, and an engine that was stopped by Ctrl-C raises
    KeyboardInterrupt, whatever it called that. It is raised after the except block, so that neither its
    `__context__` nor its `__cause__` holds the foreign error.
    """
    raised: BaseException
    try:
        return work()
    except (KeyboardInterrupt, SystemExit, DiscreetError):
        raise
    except BaseException as error:  # a panic in Polars is no Exception
        short = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException"
        raised = type(failure)(_SHORT) if short else failure
        if _was_interrupted(error):
            raised = KeyboardInterrupt()
    raise raised


def _was_interrupted(error: BaseException) -> bool:
    """Return whether an engine failed because somebody pressed Ctrl-C.

    DuckDB says so by a RuntimeError with this text, which is constant. PySpark cancels its jobs and fails while
    the interrupt is on its way.
    """
    if isinstance(error, RuntimeError) and str(error) == "Query interrupted":
        return True
    seen = list[BaseException]()
    while error not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.append(error)
        error = error.__cause__ or error.__context__ or error
    return False


def missing_column(
    column: str, columns: Sequence[object], where: str, alias: str = "cell"
) -> MissingColumn:
    """Return the error for a column that is not among `columns`, with the argument that named it."""
    texts = [name for name in columns if isinstance(name, str)]
    close = get_close_matches(str(column), texts, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    listed = f"; its columns are {', '.join(map(repr, columns))}" if columns else ""
    return MissingColumn(
        f"{ARGUMENTS[alias]}: there is no column {shown(column)} in {where}{hint}{listed}"
    )


def needing(module: str, extra: str) -> Any:
    """Return a module of an optional package, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        pass
    package = module.partition(".")[0]
    raise MissingPackage(
        f"this needs {package}, which is not installed: pip install 'discreet[{extra}]'"
    )
