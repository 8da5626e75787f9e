"""One transaction at a time in a file, whoever forks, closes it, or comes by another name."""

import copy
import errno
import fcntl
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import InvalidArgument, LedgerBusy, LedgerError, LedgerUnwritable
from discreet.ledger import Ledger, ledger_file

from ..ledger_child import COST
from ..ledgers import answering, bill, undrawn, untouched
from .test_crashes import child, children


def opened(where: Path | str) -> Ledger:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    return ledger


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock beside the ledger, as another process in a transaction would."""
    with open(f"{path}-lock", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.mark.proof_in("postgresql")
def test_forks_of_a_busy_process_are_never_blocked(where: str) -> None:
    ledger = opened(where)
    assert child("fork_busy", where, "4") == [0] * 4
    charged = sum(event.kind == "charged" for event in ledger.history())
    assert charged >= 8
    assert ledger.budgets()[0].spent.epsilon == charged * COST
    ledger.verify()


def test_whoever_closes_the_file_lets_nobody_in(tmp_path: Path) -> None:
    """The process loses its locks in SQLite by that, and not the one beside."""
    path = tmp_path / "budget.db"
    ledger = opened(path)
    assert children("close_all_the_while", str(path), "4", at_once=3) == [4] * 3
    assert ledger.verify().events == 1 + 2 * 12


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.proof)])
def test_processes_of_pools_share_a_ledger(tmp_path: Path, method: str) -> None:
    ledger = opened(tmp_path / "budget.db")
    assert child("pooled", str(tmp_path / "budget.db"), method) == [1] * 4
    assert ledger.budgets()[0].spent.epsilon == 5 * COST


def test_a_program_that_is_started_keeps_no_lock(tmp_path: Path) -> None:
    """What a process has open is closed in the program that it starts, even in the middle of a transaction."""
    ledger = opened(tmp_path / "budget.db")

    def starting(_: Any) -> Any:
        return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

    with ledger._store.write(starting) as program:
        assert ledger.session("adult").buy(bill("1/2"), answering(5)) == 5
        program.communicate(b"\n")
    assert program.returncode == 0


def test_a_fork_waits_for_transactions_and_holds_them_up() -> None:
    forks, order, inside = ledger_file.ForkLock(), list[str](), threading.Event()

    def transaction() -> None:
        with forks:
            inside.set()
            proceed.wait()
            order.append("transaction")

    proceed = threading.Event()
    thread = threading.Thread(target=transaction)
    thread.start()
    inside.wait()
    threading.Timer(0.05, proceed.set).start()
    forks.before()
    order.append("fork")
    late = threading.Thread(target=transaction)
    late.start()
    forks.after_in_parent()
    late.join()
    thread.join()
    assert order == ["transaction", "fork", "transaction"]


def test_a_fork_is_told_when_the_last_transaction_has_ended() -> None:
    """Of several, and again: nobody is told where no fork waits."""
    forks, order = ledger_file.ForkLock(), list[str]()

    def wait() -> None:
        forks.before()
        order.append("fork")

    for turn in range(2):
        forks.__enter__()
        forks.__enter__()
        fork = threading.Thread(target=wait)
        fork.start()
        for _ in range(2):
            time.sleep(0.02)
            order.append("transaction")
            forks.__exit__()
        fork.join()
        forks.after_in_parent()
        assert order == ["transaction", "transaction", "fork"] * (turn + 1)


def test_others_are_waited_for_only_so_long(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("discreet.ledger.store.LOCK_TIMEOUT", 0.1)
    ledger = opened(tmp_path / "budget.db")
    session = ledger.session("adult")
    with held(tmp_path / "budget.db"):
        for ask in (ledger.budgets, lambda: session.buy(bill("1/2"), untouched)):
            with pytest.raises(LedgerBusy, match=r"was locked by others for too long. Retry"):
                ask()
    assert session.buy(bill("1/2"), answering(5)) == 5


def test_a_ledger_has_one_lock_under_all_its_names(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("discreet.ledger.store.LOCK_TIMEOUT", 0.1)
    (tmp_path / "deep").mkdir()
    path = tmp_path / "deep" / "budget.db"
    opened(path)
    (tmp_path / "folder").symlink_to(tmp_path / "deep")
    (tmp_path / "link.db").symlink_to(path)
    monkeypatch.chdir(tmp_path / "deep")
    names = [Path("budget.db"), tmp_path / "link.db", tmp_path / "folder" / "budget.db",
             tmp_path / "deep" / ".." / "deep" / "budget.db"]  # fmt: skip
    ledgers = [Ledger(name) for name in names]
    with held(path):
        for ledger in ledgers:
            with pytest.raises(LedgerBusy):
                ledger.budgets()
    assert sorted(each.name for each in (tmp_path / "deep").iterdir()) == [
        "budget.db",
        "budget.db-journal",
        "budget.db-lock",
    ]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_one_thread_at_a_time_attempts_to_lock_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If all did, a ledger under many threads would do little else."""
    path = tmp_path / "budget.db"
    ledger, attempts = opened(path), list[int]()
    attempt, tried = ledger_file.FileLock.acquire, threading.Semaphore(0)

    def counted(*args: Any, **kwargs: Any) -> bool:
        attempts.append(threading.get_ident())
        tried.release()
        return attempt(*args, **kwargs)

    monkeypatch.setattr(ledger_file.FileLock, "acquire", counted)
    waiting = [threading.Thread(target=ledger.budgets) for _ in range(5)]
    with held(path):
        for thread in waiting:
            thread.start()
        for _ in range(20):
            tried.acquire()
        assert len(set(attempts)) == 1
        child_has_turns = forked_child_says(lambda: bool(ledger_file._TURNS))
    for thread in waiting:
        thread.join()
    assert not child_has_turns
    assert len(attempts) >= 25


def forked_child_says(says: Callable[[], bool]) -> bool:
    """Return what is true in a forked child."""
    child = os.fork()
    if not child:
        os._exit(bool(says()))
    return bool(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def test_a_lock_that_others_hold_stays_open_unless_its_file_was_removed(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    path.touch()
    ours, theirs = ledger_file.FileLock(str(path)), ledger_file.FileLock(str(path))
    assert theirs.acquire(str(path), writing=True)
    descriptors = set[int | None]()
    for _ in range(3):
        assert not ours.acquire(str(path), writing=True)
        ours.release()
        descriptors.add(ours._descriptor)
    assert len(descriptors) == 1
    assert descriptors != {None}
    (tmp_path / "budget.db-lock").unlink()  # now another file is locked
    assert ours.acquire(str(path), writing=True)
    ours.release()
    theirs.release()
    assert theirs.acquire(str(path), writing=True)
    assert not ours.acquire(str(path), writing=True)


def test_a_lock_whose_file_was_removed_is_not_relied_on(tmp_path: Path) -> None:
    """Whoever comes later would lock another file."""
    path = tmp_path / "budget.db"
    ledger = opened(path)
    beside = tmp_path / "budget.db-lock"
    kept = os.open(beside, os.O_RDWR)
    beside.unlink()
    assert not ledger_file._lock(kept, beside)
    os.close(kept)
    assert ledger.session("adult").buy(bill("1/2"), answering(5)) == 5
    assert beside.exists()


def test_the_lock_file_stays_open_between_transactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links are followed once, and the lock is opened once: both took longer than the statements of a release."""
    calls = list[str]()
    for module, name in ((os.path, "realpath"), (ledger_file, "_open_lock_file")):
        monkeypatch.setattr(module, name, noting(getattr(module, name), name, calls))
    ledger = opened(tmp_path / "budget.db")
    before = len(calls)
    for _ in range(3):
        ledger.session("adult").buy(bill("1/8"), answering(5))
    assert calls[before:] == []
    assert calls.count("_open_lock_file") == 1


def noting(function: Callable[..., Any], name: str, calls: list[str]) -> Callable[..., Any]:
    def noted(*args: Any, **terms: Any) -> Any:
        calls.append(name)
        return function(*args, **terms)

    return noted


def test_a_fork_finds_the_lock_file_closed(tmp_path: Path) -> None:
    """A child that had it open would hold the lock when its parent is killed in a transaction."""
    ledger = opened(tmp_path / "budget.db")
    beside = tmp_path / "budget.db-lock"

    def is_open() -> bool:
        there = [Path(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
        return any(one.exists() and one.samefile(beside) for one in there)

    assert is_open()
    assert not forked_child_says(is_open)
    assert ledger.session("adult").buy(bill("1/2"), answering(5)) == 5
    assert is_open()
    ledger._store._lock.close()  # type: ignore[union-attr]
    assert not is_open()


def locked_now(ledger: Ledger) -> set[str]:
    """Return the lock files that are locked in a transaction of a ledger."""

    def looking(_: Any) -> set[str]:
        inodes = {line.split()[5].split(":")[2] for line in Path("/proc/locks").read_text().splitlines()
                  if line.split()[1] == "FLOCK"}  # fmt: skip
        there = Path(ledger._store.name).parent.parent.glob("*/*-lock")
        return {
            f"{one.parent.name}/{one.name}" for one in there if str(one.stat().st_ino) in inodes
        }

    return ledger._store.write(looking)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="locks are not listed here")
def test_a_file_that_was_moved_is_locked_where_it_is(tmp_path: Path) -> None:
    """The same file under the same path: but whoever comes by its new name locks another file beside it."""
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    path, elsewhere = tmp_path / "a" / "budget.db", tmp_path / "b" / "budget.db"
    ledger = opened(path)
    assert locked_now(ledger) == {"a/budget.db-lock"}
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert ledger.session("adult").buy(bill("1/4"), answering(5)) == 5
    assert locked_now(ledger) == {"b/budget.db-lock"}
    assert (tmp_path / "b" / "budget.db-journal").exists()
    assert Ledger(path).budgets()[0].spent.epsilon == Fraction(1, 4)


def test_a_ledger_with_two_names_is_refused(tmp_path: Path) -> None:
    """Beside each name would lie a lock and a journal of its own. A second name may come later."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    path, elsewhere = tmp_path / "a" / "budget.db", tmp_path / "b" / "budget.db"
    ledger = opened(path)
    os.link(path, elsewhere)
    link = tmp_path / "link.db"
    link.symlink_to(elsewhere)
    for use in (
        ledger.budgets, lambda: ledger.session("adult").buy(bill("1/4"), answering(5)),
        lambda: Ledger(elsewhere), lambda: Ledger(link).budgets(), ledger.verify,
    ):  # fmt: skip
        with pytest.raises(LedgerUnwritable, match="has 2 names"):
            use()
    path.unlink()
    assert Ledger(link).session("adult").buy(bill("1/4"), answering(5)) == 5


def test_a_link_that_leads_to_another_ledger_is_followed(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    opened(tmp_path / "old" / "budget.db")
    (tmp_path / "now").symlink_to(tmp_path / "old")
    ledger = Ledger(tmp_path / "now" / "budget.db")
    ledger.session("adult").buy(bill("1/4", "first"), answering(5))
    (tmp_path / "new").mkdir()
    shutil.copy(tmp_path / "old" / "budget.db", tmp_path / "new" / "budget.db")
    (tmp_path / "now").unlink()
    (tmp_path / "now").symlink_to(tmp_path / "new")
    ledger.session("adult").buy(bill("1/4", "second"), answering(6))
    spent = [Ledger(tmp_path / name / "budget.db").budgets()[0].spent for name in ("old", "new")]
    assert [one.epsilon for one in spent] == [Fraction(1, 4), Fraction(1, 2)]
    assert (tmp_path / "new" / "budget.db-lock").exists()


def test_threads_that_wait_where_a_link_led_unlock_nothing_where_it_leads(tmp_path: Path) -> None:
    """They share one lock, whose open file is that of whoever is in a transaction."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    opened(tmp_path / "old" / "budget.db")
    shutil.copy(tmp_path / "old" / "budget.db", tmp_path / "new" / "budget.db")
    (tmp_path / "now").symlink_to(tmp_path / "old")
    ledger = Ledger(tmp_path / "now" / "budget.db")
    inside, proceed, others = threading.Event(), threading.Event(), list[bool]()

    def wait(_: Any) -> None:
        inside.set()
        proceed.wait()

    def look(_: Any) -> None:
        time.sleep(0.05)
        with open(tmp_path / "new" / "budget.db-lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                others.append(False)
            else:
                others.append(True)

    threads = [
        threading.Thread(target=ledger._store.read, args=(work,)) for work in [wait, *[look] * 4]
    ]
    for thread in threads:
        thread.start()
        inside.wait()
    time.sleep(0.05)  # all wait by now
    (tmp_path / "now").unlink()
    (tmp_path / "now").symlink_to(tmp_path / "new")
    proceed.set()
    for thread in threads:
        thread.join()
    assert others == [False] * 4


def test_a_folder_that_was_moved_keeps_its_lock(tmp_path: Path) -> None:
    """The path leads to the same folder by a link: what lies beside the file is what lay there before."""
    (tmp_path / "folder").mkdir()
    ledger = opened(tmp_path / "folder" / "budget.db")
    (tmp_path / "folder").rename(tmp_path / "moved")
    (tmp_path / "folder").symlink_to(tmp_path / "moved")
    other = Ledger(tmp_path / "moved" / "budget.db")
    assert ledger.session("adult").buy(bill("1/4"), answering(5)) == 5
    assert other.session("adult").buy(bill("1/4"), answering(6)) == 6
    with held(tmp_path / "moved" / "budget.db"):
        pass
    assert ledger.verify().events == 5


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    opened(tmp_path / "budget.db")
    assert mode(tmp_path / "budget.db") == mode(tmp_path / "budget.db-lock") == 0o600


def test_a_lock_is_for_whoever_the_ledger_is_for(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ledger = opened(path)
    (tmp_path / "budget.db-lock").unlink()
    path.chmod(0o664)
    ledger.budgets()
    assert mode(tmp_path / "budget.db-lock") == 0o664


def test_a_lock_is_no_way_to_another_file(tmp_path: Path) -> None:
    """Somebody who may write the folder could have put a link there."""
    (tmp_path / "budget.db-lock").symlink_to(tmp_path / "other")
    with pytest.raises(LedgerUnwritable):
        opened(tmp_path / "budget.db")
    assert not (tmp_path / "other").exists()


def test_where_files_cannot_be_locked_sqlite_does_it_alone(
    tmp_path: Path, monkeypatch: Any
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", refused)
    assert opened(tmp_path / "a.db").session("adult").buy(bill(1), answering(5)) == 5
    monkeypatch.setattr(ledger_file, "_KNOWS_FLOCK", False)
    assert opened(tmp_path / "b.db").session("adult").buy(bill(1), answering(5)) == 5
    assert not (tmp_path / "b.db-lock").exists()


def test_a_lock_that_fails_otherwise_is_no_lock(tmp_path: Path, monkeypatch: Any) -> None:
    ledger = opened(tmp_path / "budget.db")

    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(fcntl, "flock", fails)
    with pytest.raises(LedgerUnwritable):
        ledger.session("adult").buy(bill(1), undrawn)


def test_a_file_that_was_deleted_does_not_come_back_empty(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    session = opened(path).session("adult")
    path.unlink()
    with pytest.raises(LedgerUnwritable):
        session.buy(bill("1/2"), untouched)
    assert not path.exists()


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    for name in ("a\0b", "\ud800"):
        with pytest.raises(InvalidArgument, match="none can be named"):
            Ledger(name)
    with pytest.raises(LedgerUnwritable, match="it is no file"):
        Ledger(tmp_path)


def test_a_password_is_hidden_wherever_it_stands() -> None:
    with pytest.raises(LedgerUnwritable) as failed:
        Ledger("postgresql://me@/db?host=/nowhere&password=secret1&sslpassword=secret2")
    assert "secret" not in str(failed.value)
    assert "password=hidden" in str(failed.value)


def test_other_programs_are_waited_for_too(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("discreet.ledger.store.LOCK_TIMEOUT", 0.1)
    ledger = opened(tmp_path / "budget.db")
    with closing(sqlite3.connect(tmp_path / "budget.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerBusy):
            ledger.budgets()
    assert ledger.budgets()[0].spent.epsilon == Fraction(0)


def test_a_ledger_in_memory_waits_for_its_threads(monkeypatch: Any) -> None:
    monkeypatch.setattr("discreet.ledger.store.LOCK_TIMEOUT", 0.1)
    ledger = Ledger()
    with pytest.raises(LedgerBusy):
        ledger._store.write(lambda _: ledger.budgets())
    with pytest.raises(LedgerError):
        ledger.session("adult")


def test_a_child_past_python_does_not_unlock_what_its_parent_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a copy of the descriptor, which shares the lock; an end of its lock would end that of the parent."""
    file = tmp_path / "budget.db"
    Ledger(file).open("adult", epsilon=1)
    held, other = ledger_file.FileLock(str(file)), ledger_file.FileLock(str(file))
    assert held.acquire(str(file), writing=True)
    in_child = copy.copy(held)
    assert held._descriptor is not None
    in_child._descriptor = os.dup(held._descriptor)
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: 0)
        in_child.close()
    assert not other.acquire(str(file), writing=True)
    held.close()
    assert other.acquire(str(file), writing=True)
    other.close()
