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

    If memory was short, an error of the same class says so. It is raised after the except block, so
    that neither its `__context__` nor its `__cause__` holds the foreign error.
    """
    try:
        return work()
    except (KeyboardInterrupt, SystemExit, DiscreetError):
        raise
    except BaseException as error:  # a panic in Polars is no Exception
        short = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException"
    raise type(failure)(_SHORT) if short else failure


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
