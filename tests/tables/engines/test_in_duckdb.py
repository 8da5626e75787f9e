"""Queries of DuckDB that a signal can end: the main thread waits for them, and runs the handlers."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Timer, current_thread, main_thread
from types import FrameType

import duckdb
import pytest

from discreet.tables.engines.in_duckdb import interruptible


@contextmanager
def signal_soon(handler: object) -> Iterator[None]:
    """Send this process SIGUSR1 while the block runs, which the handler takes."""
    before = signal.signal(signal.SIGUSR1, handler)  # type: ignore[arg-type]
    timer = Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)


def one_row() -> duckdb.DuckDBPyRelation:
    """Return a relation on a connection of its own."""
    return duckdb.connect().sql("SELECT 1 AS c")


def endless() -> duckdb.DuckDBPyRelation:
    """Return a query that takes days, on a connection of its own."""
    many = "range(10_000_000)"
    return duckdb.connect().sql(f"SELECT sum(a.range % (b.range + 1)) FROM {many} a, {many} b")


def test_a_handler_that_raises_ends_the_query_and_not_the_connection() -> None:
    class Stopped(Exception):
        """What the handler of a program raises."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped

    relation = endless()
    with signal_soon(stop), pytest.raises(Stopped) as caught:
        interruptible(relation, relation.fetchall)
    assert caught.value.__context__ is caught.value.__cause__ is None
    rows = relation.query("rows", "SELECT 7 AS c")
    assert rows is not None
    assert interruptible(rows, rows.fetchall) == [(7,)]


def test_a_handler_that_returns_changes_nothing() -> None:
    signals = list[int]()

    def note(number: int, _frame: FrameType | None) -> None:
        signals.append(number)

    def work() -> str:
        time.sleep(0.5)
        return "done"

    with signal_soon(note):
        assert interruptible(one_row(), work) == "done"
    assert signals == [signal.SIGUSR1]


def test_the_work_has_the_context_of_its_caller_and_its_error_is_raised() -> None:
    variable: ContextVar[str] = ContextVar("variable")
    variable.set("the caller's")
    assert interruptible(one_row(), variable.get) == "the caller's"
    assert interruptible(one_row(), current_thread) is not main_thread()
    with pytest.raises(LookupError):
        interruptible(one_row(), dict[str, int]().__getitem__, "c")
