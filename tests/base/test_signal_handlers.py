"""Work is kept from interrupts by a thread of its own only where one could come."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread, get_ident

import duckdb
import pytest

import discreet
from discreet.base.signal_handlers import may_be_interrupted
from discreet.ledger import Ledger
from discreet.ledger.interrupts import run_uninterrupted
from discreet.selection.payment import Indices
from discreet.tables.engines.database import run_query

from ..ledgers import bill


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


@pytest.mark.usefixtures("unhandled")
def test_a_ctrl_c_that_is_ignored_changes_no_release_and_no_error(tmp_path: Path) -> None:
    """As in the background of a shell's script, or after nohup: no handler is put in its place."""

    def draw() -> Indices:
        signal.raise_signal(signal.SIGINT)
        return [5]

    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=1)
    assert ledger.session("people").buy(bill(1), lambda: draw) == [5]
    table = duckdb.sql("SELECT 1 AS a")
    with pytest.raises(discreet.DiscreetError, match="no column 'b'") as failed:
        discreet.mode(table, "b", candidates=[1, 2], epsilon=1)
    assert failed.value.__context__ is None
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_command_that_ignores_ctrl_c_answers() -> None:
    terms = ["mode", "-", "drink", "--candidates", "tea,coffee", "--epsilon", "9"]
    with subprocess.Popen(
        [sys.executable, "-m", "discreet", *terms],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_IGN),
    ) as command:
        assert command.stdin is not None
        command.stdin.write(b"drink\n" + b"tea\n" * 99_999)  # more than a pipe holds: it reads
        command.stdin.flush()
        command.send_signal(signal.SIGINT)
        answer, _ = command.communicate(b"tea\n", timeout=60)
    assert (command.returncode, answer) == (0, b"tea\n")
