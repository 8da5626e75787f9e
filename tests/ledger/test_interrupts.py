"""Interrupted anywhere: what was drawn and not stored is nowhere, and the account stays what it was."""

import ctypes
import gc
import os
import random
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from discreet.base.signal_handlers import only_ctrl_c_interrupts
from discreet.errors import LedgerBusy
from discreet.ledger import Ledger, Session, interrupts
from discreet.ledger.interrupts import StopRequest, run_uninterrupted
from discreet.ledger.purchase import without_frames
from discreet.ledger.store import Store
from discreet.selection.payment import Indices

from ..ledgers import answering, bill
from ..reachable_numbers import numbers_in


@pytest.fixture(autouse=True)
def _no_garbage() -> None:
    """Close the ledgers of earlier tests, which would else be closed, and interrupted there, in one of these."""
    gc.collect()


DRAWN: list[int] = []
"""What was drawn. No closure holds it, so that a number in a frame has come there from a draw."""


def drawing() -> Callable[[], Indices]:
    """A `prepare` whose draws are long numbers that nothing else holds."""
    return _draw


def _draw() -> Indices:
    DRAWN.append(random.SystemRandom().randrange(2**100, 2**101))
    return [DRAWN[-1]]


@contextmanager
def at_step(kind: str, after: int, act: Callable[[], object]) -> Iterator[None]:
    """Act before a line or an instruction ("opcode") when so many were run in this thread, wherever that is."""
    left = [after]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        frame.f_trace_opcodes = kind == "opcode"
        if event == kind:
            left[0] -= 1
            if left[0] == 0:
                act()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def interrupted(
    after: int, error: type[BaseException] = KeyboardInterrupt
) -> AbstractContextManager[None]:
    """Raise an interrupt when so many lines were run."""

    def stop() -> None:
        sys.settrace(None)
        raise error

    return at_step("line", after, stop)


def pressed(after: int) -> AbstractContextManager[None]:
    """Press Ctrl-C when so many instructions were run: a signal that Python's handler takes."""
    return at_step("opcode", after, partial(signal.raise_signal, signal.SIGINT))


def forget_handled() -> None:
    """Let no error be the one that this thread handles, for use where it handles none.

    At the first instructions of some handlers, an error raised by a trace leaves the one before behind, as the
    context of all later ones. Python calls handlers of signals before none of them.
    """
    set_handled = ctypes.pythonapi.PyErr_SetExcInfo
    set_handled.restype, set_handled.argtypes = None, [ctypes.c_void_p] * 3
    set_handled(None, None, None)
    assert sys.exc_info() == (None, None, None)


def stored(ledger: Ledger) -> dict[str | None, Any]:
    return {e.request: e.body["answer"] for e in ledger.history() if e.kind == "answered"}


def check(ledger: Ledger, session: Session, request: str, error: BaseException | None) -> None:
    """The account is whole; the same request has one answer, and no frame holds another one."""
    answers = stored(ledger)
    shown = set() if error is None else numbers_in(error, below=sys._getframe())
    ours = [hex(number) for number in DRAWN if number in shown]
    assert all([one] == answers.get(request) for one in ours), "an answer that nobody was given"
    assert session.buy(bill("1/1000", request), drawing) == session.buy(
        bill("1/1000", request), drawing
    )
    charged = sum(event.kind == "charged" for event in ledger.history())
    assert ledger.budgets()[0].spent.epsilon == Fraction(charged, 1000)
    assert request not in answers or answers[request] == stored(ledger)[request]


@pytest.fixture
def handler_of_ours() -> Iterator[None]:
    """Have a handler of a signal, which may raise anything, so that transactions are in another thread."""
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("handler_of_ours")
@pytest.mark.parametrize(
    ("kind", "step"),
    [
        (KeyboardInterrupt, 5),
        (SystemExit, 13),
        pytest.param(KeyboardInterrupt, 1, marks=pytest.mark.proof),
    ],
)
def test_interrupted_at_every_line(kind: type[BaseException], step: int) -> None:
    """In memory the account would be gone with the connection."""
    ledger = Ledger()
    ledger.open("adult", epsilon=1000)
    session = ledger.session("adult")
    session.buy(bill("1/1000"), drawing)  # whatever is done once is done
    for after in range(1, 10_000, step):
        error: BaseException | None = None
        try:
            with interrupted(after, kind):
                session.buy(bill("1/1000", f"r{after}"), drawing)
                break
        except kind as raised:
            error = raised
        check(ledger, session, f"r{after}", error)
        forget_handled()
    else:
        pytest.fail("a release has so many lines?")
    assert after > 100
    ledger.verify()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Have Python's own handler of Ctrl-C and no other, as a program that has set none."""
    before = {one: signal.getsignal(one) for one in signal.valid_signals()}
    handlers = {one: handler for one, handler in before.items() if callable(handler)}
    for one in handlers:
        signal.signal(one, signal.SIG_IGN)
    of_ctrl_c = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert only_ctrl_c_interrupts()
        yield
    finally:
        signal.signal(signal.SIGINT, of_ctrl_c)
        for one, handler in handlers.items():
            signal.signal(one, handler)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    ("in_memory", "step"),
    [
        (True, 311),
        (False, 397),
        pytest.param(True, 7, marks=pytest.mark.proof),
        pytest.param(False, 7, marks=pytest.mark.proof),
    ],
)
def test_ctrl_c_at_any_instruction(tmp_path: Path, in_memory: bool, step: int) -> None:
    """No transaction is in another thread, and none is left half done."""
    ledger = Ledger(None if in_memory else tmp_path / "budget.db")
    ledger.open("adult", epsilon=1000)
    session = ledger.session("adult")
    session.buy(bill("1/1000"), drawing)
    for after in range(1, 100_000, step):
        try:
            with pressed(after):
                session.buy(bill("1/1000", f"r{after}"), drawing)
                break
        except KeyboardInterrupt as raised:
            assert only_ctrl_c_interrupts()
            check(ledger, session, f"r{after}", raised)
        forget_handled()
    else:
        pytest.fail("a release has so many instructions?")
    assert after > 5000
    ledger.verify()


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("in_memory", [True, False])
def test_ctrl_c_at_any_time(
    tmp_path: Path, in_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's calls of the database's driver are hit as well, and no transaction is."""
    run, hit, raised_at = Store._transaction, list[str](), list[int]()

    def transaction(*args: Any) -> Any:
        try:
            return run(*args)
        except BaseException as error:
            hit.append(type(error).__name__)
            raise

    monkeypatch.setattr(Store, "_transaction", transaction)
    ledger, dice = Ledger(None if in_memory else tmp_path / "budget.db"), random.Random(4)
    ledger.open("adult", epsilon=1000)
    session = ledger.session("adult")
    session.buy(bill("1/1000"), drawing)
    for turn in range(40):
        after = dice.uniform(0, 0.001 if in_memory else 0.005)
        presses = threading.Timer(
            after, signal.pthread_kill, (threading.get_ident(), signal.SIGINT)
        )
        try:
            presses.start()
            session.buy(bill("1/1000", f"r{turn}"), drawing)
            presses.join()
            time.sleep(1)
        except KeyboardInterrupt as raised:
            raised_at.append(turn)
            check(ledger, session, f"r{turn}", raised)
        presses.join()
    assert (len(raised_at), hit) == (40, [])
    ledger.verify()


@pytest.mark.usefixtures("ctrl_c")
def test_short_work_that_ctrl_c_meets_has_not_begun_or_has_ended() -> None:
    for after in range(1, 1000):
        steps: list[int] = []

        def work(_: StopRequest, steps: list[int] = steps) -> int:
            steps.append(0)
            steps.append(1)
            steps.append(2)
            return threading.get_ident()

        try:
            with pressed(after):
                assert run_uninterrupted(work, is_short=True) == threading.get_ident()
                break
        except KeyboardInterrupt:
            assert steps in ([], [0, 1, 2]), after
        assert only_ctrl_c_interrupts(), after
    assert after > 50


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_is_raised_after_short_work_even_if_that_fails() -> None:
    def work(stop: StopRequest) -> None:
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set
        raise ValueError

    with pytest.raises(KeyboardInterrupt):
        run_uninterrupted(work, is_short=True)
    assert only_ctrl_c_interrupts()


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_reaches_a_child_that_is_forked_in_the_middle_of_work() -> None:
    def work(_: StopRequest) -> int:
        child = os.fork()
        if not child:
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                os._exit(7)
            os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert run_uninterrupted(work, is_short=True) == 7


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("held", ["BEGIN EXCLUSIVE", "BEGIN; SELECT count(*) FROM discreet_events"])
def test_ctrl_c_ends_waiting_for_other_programs(tmp_path: Path, held: str) -> None:
    """One holds the file, or reads it, so that nothing can be committed."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    other = sqlite3.connect(tmp_path / "budget.db", isolation_level=None)
    for statement in held.split("; "):
        other.execute(statement)
    presses = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    presses.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        session.buy(bill(1, "monday"), drawing)
    assert time.monotonic() - begun < 10
    presses.join()
    other.close()
    assert [event.kind for event in ledger.history()] == ["opened"]
    assert session.buy(bill(1, "monday"), answering(5)) == 5


@contextmanager
def struck(after: float) -> Iterator[None]:
    """Raise an interrupt in this thread after that time, if the block is still running then."""
    armed = [True]

    def strike(*_: object) -> None:
        if armed[0]:
            armed[0] = False
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        yield
        armed[0] = False
    finally:
        armed[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("in_memory", [True, False])
def test_interrupted_by_signals_at_any_time(tmp_path: Path, in_memory: bool) -> None:
    """The driver of the database is hit as well, and no transaction is left open."""
    ledger, dice = Ledger(None if in_memory else tmp_path / "budget.db"), random.Random(4)
    ledger.open("adult", epsilon=1000)
    session, kept = ledger.session("adult"), []
    times = [time.perf_counter()]
    for turn in range(9):
        session.buy(bill("1/1000", f"before {turn}"), drawing)
        times.append(time.perf_counter())
    usual = min(later - earlier for earlier, later in pairwise(times))
    for turn in range(20):
        error = None
        try:
            with struck(max(0.0001, dice.uniform(0, usual))):
                session.buy(bill("1/1000", f"r{turn}"), drawing)
        except KeyboardInterrupt as raised:
            error = raised
            kept.append(error)  # with all that its frames would keep open
        check(ledger, session, f"r{turn}", error)
    assert kept
    ledger.verify()


def test_an_interrupted_draw_says_how_to_ask_again() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")

    def draw() -> Any:
        half = [_draw()]
        raise KeyboardInterrupt(len(half))

    with pytest.raises(KeyboardInterrupt) as stopped:
        session.buy(bill(1, "monday"), lambda: draw)
    assert stopped.value.__notes__ == ["this is paid: retry with request='monday' at no cost"]
    assert not numbers_in(stopped.value, below=sys._getframe()) & set(DRAWN)
    assert session.buy(bill(1, "monday"), answering(5)) == 5


def test_an_interrupted_payment_may_be_made() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")

    def prepare() -> Any:
        ledger._store.write = interrupting  # type: ignore[assignment, method-assign]
        return drawing()

    def interrupting(work: Any) -> Any:
        del ledger._store.write
        ledger._store.write(work)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        session.buy(bill(1, "monday"), prepare)
    assert stopped.value.__notes__ == ["if this was paid: retry with request='monday' at no cost"]
    assert session.buy(bill(1, "monday"), answering(5)) == 5
    assert [event.kind for event in ledger.history()] == ["opened", "charged", "answered"]


def test_errors_of_a_draw_say_where_they_are_from() -> None:
    """Frames would be better for whoever looks for a mistake, but they hold draws."""
    ledger = Ledger()
    ledger.open("people", epsilon=10)

    def fails() -> Any:
        drawn = [_draw()]
        raise ExceptionGroup("two", [ValueError("one"), KeyError(len(drawn))])

    with pytest.raises(ExceptionGroup) as failed:
        ledger.session("people").buy(bill(1), lambda: fails)
    assert failed.value.__notes__[0].startswith("it came from test_interrupts.py:")
    assert "in fails." in failed.value.__notes__[0]
    assert not numbers_in(failed.value, below=sys._getframe()) & set(DRAWN)


def test_two_interrupts_leave_no_frame() -> None:
    """The second one comes while the frames of the first are taken away."""

    def draw() -> None:
        drawn = [_draw()]
        raise KeyboardInterrupt(len(drawn))

    for after in range(1, 60):
        with pytest.raises(KeyboardInterrupt) as stopped, interrupted(after):
            without_frames(draw)
        # The last lines are those of this test and of the outermost frame, which hold nothing.
        assert not numbers_in(stopped.value, below=sys._getframe()) & set(DRAWN), after
        forget_handled()


def test_work_that_nobody_waits_for_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Callable[[], None]] = []

    def start(run: Callable[[], None]) -> None:
        begun.append(run)
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.ledger.interrupts._start", start)
    with pytest.raises(KeyboardInterrupt):
        run_uninterrupted(lambda _: pytest.fail("this was begun"))
    begun[0]()


@pytest.mark.parametrize("work", [lambda _: None, lambda _: 1 / 0])
def test_an_interrupt_that_comes_with_the_end_of_work_is_raised_at_once(
    work: Callable[[StopRequest], object],
) -> None:
    """The caller has the lock then that tells of the end, and would wait for itself."""
    job = interrupts._Job(work)
    job.run()
    job._end.acquire()
    before = time.monotonic()
    job.stop()
    assert time.monotonic() - before < interrupts._GRACE / 2


@pytest.mark.usefixtures("ctrl_c")
def test_work_that_has_begun_ends_before_the_interrupt_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told, ended = threading.Event(), []

    def work(stop: StopRequest) -> None:
        assert told.wait(60)
        ended.append(stop.is_set)

    def start(run: Callable[[], None]) -> None:
        threading.Thread(target=run).start()
        told.set()
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.ledger.interrupts._start", start)
    for _ in range(20):
        told.clear()
        ended.clear()
        with pytest.raises(KeyboardInterrupt):
            run_uninterrupted(work)
        told.set()
        assert len(ended) <= 1


def test_where_there_can_be_no_thread_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("discreet.ledger.interrupts.start_new_thread", none)
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    assert ledger.session("adult").buy(bill(1), answering(5)) == 5


def test_waiting_for_others_ends_with_an_interrupt(tmp_path: Path) -> None:
    """Whoever is told that the ledger is busy need not wait for all of its patience."""
    path = tmp_path / "budget.db"
    ledger, other = Ledger(path), Ledger(path)
    ledger.open("adult", epsilon=1)

    def while_held(_: Any) -> None:
        waits = threading.Thread(target=ask)
        waits.start()
        waits.join()

    def ask() -> None:
        try:
            with interrupted(25):
                other.budgets()
        except (KeyboardInterrupt, LedgerBusy) as error:
            ended.append(type(error))

    ended: list[Any] = []
    ledger._store.write(while_held)
    assert ended == [KeyboardInterrupt]
