"""The database of this process that reads files and counts tables in memory: DuckDB, opened once.

A query in it can be ended by a signal.
"""

import atexit
import ctypes
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from contextvars import copy_context
from threading import Lock, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from ...base.signal_handlers import may_be_interrupted
from .progress import BAR

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_P = ParamSpec("_P")
_T = TypeVar("_T")

_TICK, _TICKS = 0.05, 100
"""Seconds from one request to stop to the next, and how many of them a caller waits for."""

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_file_cache": False,
}


def connect_memory() -> "DuckDBPyConnection":
    """Return a connection to the in-memory database of this process, which is opened once.

    It fetches nothing from a network, and keeps nothing of files. Opening it takes as long as
    counting a million rows.

    Side channels: data beyond its memory are written to a temporary directory, in clear.
    """
    if not _databases:
        import duckdb

        _directories[:] = [_private_directory()]
        config = {**CONFIG, "temp_directory": _directories[0]}
        _databases.append(duckdb.connect(config=config))
    return _with_bar(_databases[0].cursor())


def connect_file(path: str) -> "DuckDBPyConnection":
    """Return a connection to a file of DuckDB, which it may only read; it sees no other files, and no databases."""
    import duckdb

    connect_memory()  # makes the directory
    # One of its own: its query may read it, and there others would keep their rows for a while.
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:16]
    directory = _directories[0] and os.path.join(_directories[0], name)
    config = {**CONFIG, "temp_directory": directory}
    connection = duckdb.connect(path, read_only=True, config=config)
    connection.execute("SET enable_external_access = false")
    return _with_bar(connection)


def _with_bar(connection: "DuckDBPyConnection") -> "DuckDBPyConnection":
    """Return a connection, which a bar asks from now on, if there is one."""
    bar = BAR.get()
    if bar is not None:
        bar.watch(connection)
    return connection


def close_databases() -> None:
    """Close the databases of this process, also DuckDB's own, with their threads; others open when needed."""
    import duckdb

    for database in _databases:
        database.close()
    _databases.clear()
    duckdb.close()
    for directory in filter(None, _directories):
        shutil.rmtree(directory, ignore_errors=True)


def _private_directory() -> str:
    """Return a new directory that only this user can read, gone when this process ends.

    DuckDB would take one that all can read, `.tmp` where the process stands. Where no directory can be made,
    '' is returned, with which DuckDB writes nothing.
    """
    from multiprocessing.util import Finalize

    try:
        path = tempfile.mkdtemp(prefix="discreet-")
    except OSError:
        return ""
    # Unlike atexit it also runs in the workers of a pool, and it leaves what is its parent's to the parent.
    Finalize(None, shutil.rmtree, (path, True), exitpriority=0)
    return path


def _leave_to_the_parent() -> None:
    """Forget the databases after a fork, but never close them: their threads are not in this process."""
    for database in _databases:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(database))
    _databases.clear()


_databases: list["DuckDBPyConnection"] = []
_directories: list[str] = []
os.register_at_fork(after_in_child=_leave_to_the_parent)
atexit.register(
    _databases.clear
)  # what is left when modules go is reported by DuckDB as leaked, on stderr


def run_query(
    connection: "DuckDBPyConnection", work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """Return the result of `work(*args, **kwargs)`, a query on the connection; a signal can end it.

    Under load a query of DuckDB looks at no signal, and Python runs handlers in the main thread alone. So that one
    waits here while another runs the query. A handler that returns changes nothing; where it raises, the query is
    interrupted, and its own error is lost with its thread.
    """
    if current_thread() is not main_thread() or not may_be_interrupted():
        return work(*args, **kwargs)
    results, errors, context = list[_T](), list[BaseException](), copy_context()
    end = Lock()  # not the thread's own, which an interrupted `join` takes for its end
    end.acquire()

    def run() -> None:
        try:
            results.append(context.run(work, *args, **kwargs))
        except BaseException as error:  # the caller raises it
            errors.append(error)
        finally:
            end.release()

    try:
        _start(run)
        end.acquire()
    except BaseException:
        for _ in range(_TICKS):  # one that comes before the query has begun is lost
            connection.interrupt()
            if end.acquire(timeout=_TICK):
                break
        raise
    if errors:
        raise errors.pop()
    return results.pop()


def _start(run: Callable[[], None]) -> None:
    """Run it in a new thread, or in this one if no thread can be started."""
    try:
        Thread(target=run, daemon=True).start()
    except RuntimeError:
        run()
