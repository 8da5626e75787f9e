"""Killed, full, locked and read-only: budget may be lost, privacy may not."""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import event

from discreet.errors import LedgerBusy, LedgerError, LedgerUnwritable
from discreet.ledger import Ledger
from discreet.ledger.schema import LEDGER
from discreet.selection.payment import Indices

from .. import postgres
from ..ledger_child import COST
from ..ledgers import answering, bill, undrawn, untouched

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "tests.ledger_child"]
AT_ONCE = 8


def child(*arguments: str) -> Any:
    """Return what a process of its own says at the end."""
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def children(*arguments: str, at_once: int = AT_ONCE) -> list[Any]:
    """Return what processes say that all begin at the same moment."""
    said: list[Any] = child("together", str(at_once), *arguments)
    return said


@pytest.mark.proof_in("postgresql")
def test_eight_processes_spend_a_budget_to_the_last_bit_and_no_further(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    answers = children("spend", where, "1/24")
    assert sum(map(len, answers)) == 24
    assert sum(map(bool, answers)) > 1, "only one of them got anything: they did not race"
    assert ledger.budgets()[0].spent.epsilon == 1
    assert ledger.verify().events == 1 + 2 * 24


def test_processes_with_one_request_have_one_answer(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    assert len(set(children("race", where, "r", at_once=4))) == 1
    assert ledger.budgets()[0].spent.epsilon == Fraction(1, 4)
    assert ledger.verify().events == 1 + 2


def test_forks_spend_one_budget(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    assert child("fork", where) == [0, 0, 3, 3]
    assert ledger.budgets()[0].spent.epsilon == 1
    assert ledger.verify().events == 5


def test_a_ledger_in_memory_cannot_be_in_two_processes() -> None:
    assert child("fork_memory", "") == 7


def check(ledger: Ledger, told: list[dict[str, Any]]) -> None:
    """Every answer that was given is paid and stored; asking again draws only what was not stored."""
    ledger.verify()
    history = ledger.history()
    kinds = [(event.kind, event.request) for event in history[1:]]
    assert len(kinds) == len(set(kinds)), "charged or answered twice"
    stored = {event.request: event.body["answer"] for event in history if event.kind == "answered"}
    assert ledger.budgets()[0].spent.epsilon == COST * sum(kind == "charged" for kind, _ in kinds)
    for one in told:
        again = one["again"]
        assert again["answer"] == stored[one["request"]]
        assert one["given"] in ([], [again["answer"]]), "two answers to one request"
        assert len(one["drawn"]) <= 1
        assert again["drawn"] in ([], [again["answer"]])
        assert again["answer"] in one["drawn"] + again["drawn"]
        assert not (one["given"] and again["drawn"]), "an answer was given that was not stored"


def crashed(where: str, *arguments: str) -> list[dict[str, Any]]:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    told: list[dict[str, Any]] = child(*arguments[:1], where, *arguments[1:])
    check(ledger, told)
    return told


@pytest.mark.proof_in("postgresql")
def test_killed_at_every_step(where: str) -> None:
    told = crashed(where, "crash_at_steps", "1")
    assert [one["code"] for one in told[:-1]] == [-9] * (len(told) - 1)
    assert len(told) > 25
    ends = {(bool(one["drawn"]), bool(one["given"]), bool(one["again"]["drawn"])) for one in told}
    # Before the draw; drawn and lost; drawn and stored, not given; given.
    assert ends == {
        (False, False, True),
        (True, False, True),
        (True, False, False),
        (True, True, False),
    }


def check_failures(ledger: Ledger, told: list[dict[str, Any]]) -> None:
    """A failure that was told is paid and stored; whatever was stored is said again, and reads nothing."""
    ledger.verify()
    history = ledger.history()
    kinds = [(event.kind, event.request) for event in history[1:]]
    assert len(kinds) == len(set(kinds)), "charged, answered or failed twice"
    assert {kind for kind, _ in kinds} <= {"charged", "answered", "failed"}
    failures = {request for kind, request in kinds if kind == "failed"}
    answers = {e.request: e.body["answer"] for e in history if e.kind == "answered"}
    assert not failures & {*answers}
    assert ledger.budgets()[0].spent.epsilon == COST * sum(kind == "charged" for kind, _ in kinds)
    for one in told:
        again, is_stored = one["again"], one["request"] in failures
        assert (again["answer"], again["drawn"]) == (
            (None, []) if is_stored else (answers[one["request"]], [answers[one["request"]]])
        )
        assert is_stored or not one["given"], "a failure was told that was not stored"
        assert len(one["drawn"]) <= 1


@pytest.mark.proof_in("postgresql")
def test_a_question_that_fails_is_killed_at_every_step(where: str) -> None:
    """Between the charge and the failure, and between the failure and the reply."""
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    told: list[dict[str, Any]] = child("fail_at_steps", where, "1")
    check_failures(ledger, told)
    assert [one["code"] for one in told[:-1]] == [-9] * (len(told) - 1)
    assert len(told) > 25
    ends = {(bool(one["drawn"]), bool(one["given"]), bool(one["again"]["drawn"])) for one in told}
    # Before the draw; failed and lost, so drawn again; failed and stored, not told; told.
    assert ends == {
        (False, False, True),
        (True, False, True),
        (True, False, False),
        (True, True, False),
    }


@pytest.mark.proof
def test_questions_that_fail_are_killed_hundreds_of_times(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    check_failures(ledger, child("fail_at_steps", where, "15"))


def test_killed_at_any_time(tmp_path: Path) -> None:
    told = crashed(str(tmp_path / "budget.db"), "crash_at_times", "25", "0.025")
    assert {one["code"] for one in told} >= {-9}


@pytest.mark.proof
def test_killed_hundreds_of_times(where: str) -> None:
    crashed(where, "crash_at_steps", "15")


@pytest.mark.proof
def test_killed_at_a_thousand_times(where: str) -> None:
    crashed(where, "crash_at_times", "1000", "0.03")


@contextmanager
def pages(ledger: Ledger, most: int) -> Iterator[None]:
    """Let the file grow to so many pages: a full disk, as SQLite sees it."""

    def limit(connection: sqlite3.Connection, _: Any) -> None:
        connection.execute(f"PRAGMA max_page_count = {most}")

    file = ledger._store._file
    assert file is not None
    event.listen(ledger._store._engine, "connect", limit)
    file.close()  # it is opened again by the next transaction
    yield
    event.remove(ledger._store._engine, "connect", limit)
    file.close()


@contextmanager
def disk(path: Path, _: int) -> Iterator[None]:
    """Let no file of this process grow beyond the size the ledger has."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("limit", ["pages", "disk"])
def test_a_full_disk_draws_nothing(tmp_path: Path, limit: str) -> None:
    path = tmp_path / "budget.db"
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    session, before = ledger.session("adult"), ledger.verify()
    large = bill("1/2", digest="f" * 100_000)  # needs more pages than are free
    full = pages(ledger, 1) if limit == "pages" else disk(path, 0)
    with full, pytest.raises(LedgerUnwritable, match="is the disk full") as refused:
        session.buy(large, undrawn)
    assert "ffff" not in str(refused.value)
    assert ledger.verify(before.head) == before
    assert session.buy(large, answering(3)) == 3


def test_an_answer_that_cannot_be_stored_is_not_given(tmp_path: Path) -> None:
    """The disk is full between the payment and the answer; the answer is in no error."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    secret = [271828182] * 10_000
    with pages(ledger, 12):
        with pytest.raises(LedgerUnwritable) as failed:
            session.buy(bill(1, "r"), answering(secret))
        error: BaseException | None = failed.value
        while error is not None:
            told = str(error) + repr(vars(error)) + repr(error.args)
            assert "271828182" not in told
            error = error.__cause__ or error.__context__
    assert failed.value.__notes__ == ["this is paid: retry with request='r' at no cost"]
    assert ledger.budgets()[0].remaining.epsilon == 0
    assert session.buy(bill(1, "r"), answering(4)) == 4
    assert ledger.verify().events == 3


def test_a_ledger_that_others_hold_is_busy(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)

    monkeypatch.setattr("discreet.ledger.store.LOCK_TIMEOUT", 0.1)
    session = Ledger(where).session("adult")

    def while_held(_: Any) -> None:
        with pytest.raises(LedgerBusy, match="was locked by others for too long"):
            session.buy(bill("1/2"), undrawn)

    ledger._store.write(while_held)
    assert ledger.verify().events == 1
    assert ledger.session("adult").buy(bill("1/2"), answering(5)) == 5


@contextmanager
def reader() -> Iterator[None]:
    """Be somebody who may read what others may read, and write nothing: root may write anything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_ledger_that_can_only_be_read_is_read() -> None:
    """An auditor needs no more; whoever asks for an answer gets none."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "budget.db"
        ledger = Ledger(path)
        ledger.open("adult", epsilon=1)
        head = ledger.verify().head
        path.chmod(0o444)
        path.with_name("budget.db-journal").chmod(0o444)
        Path(folder).chmod(0o555)
        with reader():
            session = Ledger(path).session("adult")
            assert Ledger(path).verify().head == head
            with pytest.raises(LedgerUnwritable, match="or the file read-only"):
                session.buy(bill("1/2"), undrawn)
            with pytest.raises(LedgerUnwritable):
                Ledger(path.with_name("other.db"))
        Path(folder).chmod(0o755)
        assert ledger.verify().events == 1


def test_a_server_that_can_only_be_read_draws_nothing(postgresql: str) -> None:
    url = postgres.schema(postgresql, "reading")
    Ledger(url).open("adult", epsilon=1)
    reading = Ledger(f"{url}%20-cdefault_transaction_read_only%3Don")
    with pytest.raises(LedgerUnwritable):
        reading.session("adult").buy(bill("1/2"), undrawn)
    assert reading.verify().events == 1


def test_a_server_that_is_gone() -> None:
    with postgres.server() as url:
        ledger = Ledger(postgres.schema(url, "gone"))
        ledger.open("adult", epsilon=1)
        session = ledger.session("adult")
    with pytest.raises(LedgerUnwritable, match=r"cannot be reached.* does the server run"):
        session.buy(bill("1/2"), untouched)


@pytest.mark.parametrize(
    ("moment", "charged", "note"),
    [
        ("read", None, ["if this was paid: retry with request='r' at no cost"]),
        ("drawn", True, ["this is paid: retry with request='r' at no cost"]),
        ("kept", False, []),
    ],
)
def test_a_server_that_stops_at_once_keeps_what_was_paid(
    moment: str, charged: bool | None, note: list[str]
) -> None:
    """Before the charge, between the charge and the answer, and after both."""
    with postgres.server() as url:
        ledger = Ledger(postgres.schema(url, "stops"))
        ledger.open("adult", epsilon=1)
        session, drawn = ledger.session("adult"), list[int]()

        def prepare() -> Callable[[], Indices]:
            if moment == "read":
                server.enter_context(postgres.stopped(url))
            return draw

        def draw() -> Indices:
            drawn.append(len(drawn))
            if moment == "drawn":
                server.enter_context(postgres.stopped(url))
            return [drawn[-1]]

        with ExitStack() as server:
            if moment == "kept":
                assert session.buy(bill("1/2", "r"), prepare) == [0]
                server.enter_context(postgres.stopped(url))
            with pytest.raises(LedgerUnwritable) as failed:
                session.buy(bill("1/2", "r"), prepare)
        assert failed.value.charged is charged
        assert getattr(failed.value, "__notes__", []) == note
        draws, moment = 2 if moment == "drawn" else 1, "over"
        assert session.buy(bill("1/2", "r"), prepare) == [draws - 1]
        assert len(drawn) == draws
        assert ledger.budgets()[0].spent.epsilon == Fraction(1, 2)
        assert ledger.verify().events == 3


@pytest.mark.parametrize(
    "text", [b"no database", b"SQLite format 3\0 and nothing else", b"\0" * 4096]
)
def test_a_file_that_is_no_ledger(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "budget.db"
    path.write_bytes(text)
    with pytest.raises(LedgerError, match=r"cannot be read as one: see that the name is right"):
        Ledger(path)
    assert path.read_bytes() == text


def test_a_file_that_was_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    expected, whole = ledger.verify(), path.read_bytes()
    for length in range(1, len(whole), 997):
        path.write_bytes(whole[:length])
        try:
            found = Ledger(path).verify()
        except LedgerError:
            pass
        else:  # of the last page, which holds nothing yet, the beginning is enough
            assert length > len(whole) - 4096
            assert found == expected
        assert path.read_bytes() == whole[:length]


def test_a_journal_that_was_left_is_played_back(tmp_path: Path) -> None:
    """A process that dies in the middle of a commit leaves a journal; the next one undoes the half."""
    path = tmp_path / "budget.db"
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    head = ledger.verify().head
    with closing(sqlite3.connect(path, isolation_level=None)) as dying:
        dying.execute("PRAGMA cache_size = 1")  # so that pages reach the file before the commit
        dying.execute("BEGIN IMMEDIATE")
        dying.execute("CREATE TABLE junk (text TEXT)")
        dying.executemany("INSERT INTO junk VALUES (?)", [("x" * 3000,)] * 50)
        for name in ("budget.db", "budget.db-journal"):
            shutil.copy(tmp_path / name, tmp_path / name.replace("budget", "copy"))
        dying.execute("ROLLBACK")
    assert (tmp_path / "copy.db-journal").stat().st_size > 0
    assert Ledger(tmp_path / "copy.db").verify(head).events == 1
    assert not (
        tmp_path / "copy.db-journal"
    ).exists()  # that of the next commit stays, and says nothing


def test_commits_are_as_durable_as_sqlite_can_make_them(tmp_path: Path) -> None:
    def settings(held: Any) -> list[Any]:
        names = ("journal_mode", "synchronous", "fullfsync", "trusted_schema")
        return [held.connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    assert Ledger(tmp_path / "budget.db")._store.write(settings) == ["persist", 3, 1, 0]


def test_a_writer_who_stalls_loses_the_lock(
    postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its transaction is undone, and nothing it wanted to write is there."""
    monkeypatch.setattr("discreet.ledger.store.LOCK_TIMEOUT", 0.2)
    ledger = Ledger(postgres.schema(postgresql, "stalled"))
    ledger.open("adult", epsilon=1)
    asleep = LEDGER.update().values(events=99)

    def stall(held: Any) -> None:
        held.connection.execute(asleep)
        time.sleep(1)
        held.connection.execute(asleep)

    with pytest.raises(LedgerError, match=r"[Rr]etry|cannot be reached"):
        ledger._store.write(stall)
    assert ledger.session("adult").buy(bill("1/2"), answering(5)) == 5
    assert ledger.verify().events == 3


def test_commits_are_durable_whatever_the_server_prefers(postgresql: str) -> None:
    url = postgres.schema(postgresql, "hasty")
    hasty = Ledger(f"{url}%20-csynchronous_commit%3Doff")
    asked = "SHOW synchronous_commit"
    assert hasty._store.read(lambda held: held.connection.exec_driver_sql(asked).scalar()) == "off"
    assert hasty._store.write(lambda held: held.connection.exec_driver_sql(asked).scalar()) == "on"
