"""Work is kept from interrupts by a thread of its own only where one could come."""

import signal
from collections.abc import Iterator
from threading import Thread, get_ident

import duckdb
import pytest

from discreet.ledger.interrupts import run_uninterrupted
from discreet.signal_handlers import may_be_interrupted
from discreet.tables.in_duckdb import run_query


@pytest.fixture
def unhandled() -> Iterator[None]:
    """Take the handlers of all signals away, as a reader of a service does, for one test."""
    before = {one: signal.getsignal(one) for one in signal.valid_signals()}
    handlers = {one: handler for one, handler in before.items() if callable(handler)}
    for one in handlers:
        signal.signal(one, signal.SIG_IGN)
    yield
    for one, handler in handlers.items():
        signal.signal(one, handler)


def threads() -> tuple[int, int]:
    """Return the threads in which a transaction and a query run."""
    with duckdb.connect() as connection:
        return run_uninterrupted(lambda _: get_ident()), run_query(connection, get_ident)


@pytest.mark.usefixtures("unhandled")
def test_where_no_signal_can_raise_work_runs_in_its_thread() -> None:
    assert not may_be_interrupted()
    assert threads() == (get_ident(), get_ident())


@pytest.mark.usefixtures("unhandled")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGALRM])
def test_where_any_signal_has_a_handler_it_does_not(number: signal.Signals) -> None:
    before = signal.signal(number, lambda *_: None)
    try:
        assert may_be_interrupted()
        assert get_ident() not in threads()
    finally:
        signal.signal(number, before)


@pytest.mark.usefixtures("unhandled")
def test_of_other_threads_nothing_is_known() -> None:
    answers: list[bool] = []
    thread = Thread(target=lambda: answers.append(may_be_interrupted()))
    thread.start()
    thread.join()
    assert answers == [True]
