"""Errors for an engine that fails, a missing column and a missing package."""

import errno
import importlib
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from types import ModuleType
from typing import ParamSpec, TypeVar

from ...base.doors import fix
from ...base.error_boundary import replacing
from ...errors import DataUnavailable, DiscreetError, MissingColumn, MissingPackage, preview

_P = ParamSpec("_P")
_T = TypeVar("_T")

ARGUMENTS = {"cell": "column", "part": "by"}
"""The argument that named a column, for what it is called once it is open, before a number where it is one of
several; others are the unit's."""

_SHORT = (
    "the engine had not enough memory. Free some, or give it more: a relation of a DuckDB connection "
    "of yours has the memory_limit and the temp_directory that you set there"
)


_UNAVAILABLE = (
    "the data cannot be read now: they are locked, a limit of their server stopped it, the server is gone, "
    "or a disk is full"
)

_UNREACHED = (
    "the server of the database cannot be reached, or refuses the connection. Check the host, the role, its "
    "password (PGPASSWORD or ~/.pgpass) and the certificate (sslmode and sslrootcert): psql with the same URL "
    "shows the reason"
)

_STATE_CLASSES, _STATES = ("08", "40", "53", "57", "58"), ("55P03", "25P03", "25P04")
"""SQLSTATE: connections, conflicts of transactions, resources, what an operator or a timeout stops, the system. And
locks, and transactions that were idle, or lasted, for too long."""

_SQLITE_CODES = (5, 6, 10, 13)
"""SQLITE_BUSY, SQLITE_LOCKED, SQLITE_IOERR and SQLITE_FULL."""

_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ESTALE)

_SIGNS = ("No space left", "lock on file", "out of disk", "Too many open files")
"""Words of DuckDB, whose errors have no numbers."""


def quietly(
    work: Callable[_P, _T], failure: DiscreetError, *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """Return the result of `work(*args, **kwargs)`; an error in it is replaced by `failure`.

    If memory was short, an error of the same class says so. Errors of this library and interrupts are not
    replaced: see `error_boundary.replacing`.
    """

    def replacement(error: BaseException) -> DiscreetError:
        if _is_unavailable(error):
            return DataUnavailable(_UNREACHED if _is_unreached(error) else _UNAVAILABLE)
        return type(failure)(_SHORT) if _was_short(error) else failure

    return replacing(partial(work, *args, **kwargs), replacement, passing=(DiscreetError,))


def _was_short(error: BaseException) -> bool:
    """Return whether an engine failed because it had not enough memory."""
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException"


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether data were not read for want of memory."""
    return isinstance(error, MemoryError) or str(error) == _SHORT


def _is_unavailable(error: BaseException) -> bool:
    """Return whether a lock, a clock, a lost server or a full disk stopped an engine, by the words of drivers."""
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, OSError):
        return isinstance(cause, ConnectionError | TimeoutError) or cause.errno in _ERRNOS
    state = getattr(cause, "sqlstate", None)
    if isinstance(state, str):
        return state[:2] in _STATE_CLASSES or state in _STATES
    name = type(cause).__name__
    if type(cause).__module__ == "sqlalchemy.exc" and name == "TimeoutError":
        return True  # all connections of the pool are taken
    if type(cause).__module__.startswith("psycopg") and name == "OperationalError":
        return True  # it has no state where there is no server any more
    code = getattr(cause, "sqlite_errorcode", None)
    if isinstance(code, int):
        return code & 0xFF in _SQLITE_CODES
    return name in ("IOException", "ConnectionException") and any(w in str(cause) for w in _SIGNS)


def _is_unreached(error: BaseException) -> bool:
    """Return whether psycopg made no connection, which its error then holds."""
    return getattr(getattr(error, "orig", None) or error, "pgconn", None) is not None


def missing_column(
    column: str, columns: Sequence[object], where: str, alias: str = "cell"
) -> MissingColumn:
    """Return the error for a column that is not among `columns`, with the argument that named it."""
    texts = [name for name in columns if isinstance(name, str)]
    close = get_close_matches(str(column), texts, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    if {one.strip() for one in str(column).split(",")} <= {*texts}:
        hint = f" ({fix('several columns')})"
    other_names = f". Its columns are {', '.join(map(repr, columns))}" if columns else ""
    argument = (
        "where"
        if alias.startswith("where")
        else ARGUMENTS.get(alias.rstrip("0123456789"), "privacy_unit")
    )
    return MissingColumn(
        f"{argument}: there is no column {preview(column)} in {where}{hint}{other_names}"
    )


def needing(module: str, extra: str) -> ModuleType:
    """Return a module of an optional package, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        pass
    package = module.partition(".")[0]
    raise MissingPackage(
        f"this needs {package}, which is not installed: pip install 'discreet[{extra}]'"
    )
